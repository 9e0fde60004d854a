"""Transposition of an equation that also computes what does not depend on its linear operands."""

from __future__ import annotations

from collections.abc import Sequence

from s2s.control.bodies import chosen, inverted, transpose_of
from s2s.passes.partial_eval import partial_eval
from s2s.primitive import Linear, Primitive, Value, Zero
from s2s.trace import aval, bind, inline, make


def transpose_by_splitting(
    primitive: Primitive, cts: Sequence[Value], args: Sequence[Value]
) -> Sequence[Value]:
    """The cotangents of an equation's linear operands, by way of partial evaluation.

    The part that does not depend on them is computed now; what it leaves is linear throughout.
    """
    unknown = [isinstance(arg, Linear) for arg in args]
    whole = make(lambda *xs: bind(primitive, *xs), [aval(arg) for arg in args])
    split = partial_eval(whole, unknown)
    rest = split.unknown
    if any(
        type(eqn.primitive) is type(primitive) and eqn.primitive == primitive for eqn in rest.eqns
    ):
        raise TypeError(
            f"{primitive.name} is not linear in what is to be transposed: whether and how often it "
            "runs its body depends on it"
        )
    known = inline(split.known, *chosen(args, inverted(unknown)))
    residuals = known[len(known) - split.num_residuals :]
    ct_on = tuple(not isinstance(ct, Zero) for ct in chosen(cts, split.out_unknown))
    num_linear = sum(unknown)
    linear = (*[False] * split.num_residuals, *[True] * num_linear)
    backward, found = transpose_of(rest, linear, ct_on)
    given = chosen(chosen(cts, split.out_unknown), ct_on)
    bars = iter(inline(backward, *residuals, *given))
    depends = iter(found[split.num_residuals :])
    return [
        None if not on else next(bars) if next(depends) else Zero(arg.aval)
        for arg, on in zip(args, unknown, strict=True)
    ]
