"""Reverse mode and its parts, from jaxpr to jaxpr: linearize, then transpose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from s2s.ir.check import check
from s2s.ir.jaxpr import ClosedJaxpr, ShapedArray
from s2s.passes.cse import cse
from s2s.passes.dce import dce
from s2s.passes.jvp import jvp
from s2s.passes.names import cotangent_name
from s2s.passes.partial_eval import partial_eval
from s2s.passes.transpose import transpose
from s2s.primitive import Value
from s2s.trace import inline, make


@dataclass(frozen=True, eq=False)
class Linearized:
    """`known`: xs -> ys, residuals. `linear`: residuals, x_dots -> y_dots.

    There is an x_dot for each active input, and a y_dot for each output that is `out_active`.
    """

    known: ClosedJaxpr
    linear: ClosedJaxpr
    out_active: list[bool]
    num_residuals: int


def linearize(closed: ClosedJaxpr, active: Sequence[bool]) -> Linearized:
    """(xs -> ys)  ->  (xs -> ys, residuals), (residuals, x_dots -> y_dots)

    before:  { lambda ; x:f64[]. let y:f64[] = sin x in (y,) }
    after:   { lambda ; x:f64[]. let y:f64[] = sin x; c:f64[] = cos x in (y, c) }
             { lambda ; c:f64[] x_dot:f64[]. let y_dot:f64[] = mul x_dot c in (y_dot,) }
    """
    both, out_active = jvp(closed, active)
    num_primals = len(closed.in_avals)
    unknown = [False] * num_primals + [True] * (len(both.in_avals) - num_primals)
    split = partial_eval(cse(both), unknown)
    # A tangent that does not depend on any x_dot is zero, whatever computes it.
    tangents_unknown = iter(split.out_unknown[len(out_active) :])
    depends = [on and next(tangents_unknown) for on in out_active]
    num_outs = len(closed.out_avals)
    num_known = len(split.known.out_avals) - split.num_residuals
    used = [i < num_outs or i >= num_known for i in range(len(split.known.out_avals))]
    return Linearized(dce(split.known, used), split.unknown, depends, split.num_residuals)


def vjp(
    closed: ClosedJaxpr, active: Sequence[bool], with_cotangent: Sequence[bool]
) -> tuple[ClosedJaxpr, list[bool]]:
    """(xs -> ys)  ->  (xs, y_bars -> ys, x_bars)

    before:  { lambda ; x:f64[]. let y:f64[] = sin x in (y,) }
    after:   { lambda ; x:f64[] y_bar:f64[]. let
                 y:f64[] = sin x; c:f64[] = cos x; x_bar:f64[] = mul y_bar c in (y, x_bar) }

    There is a y_bar for each output that is in `with_cotangent` (the others count as constant),
    used or not, and an x_bar for each active input. The list returned says which outputs depend on
    an active input at all.
    """
    lin = linearize(closed, active)
    dependent = iter(range(len(lin.linear.out_avals)))
    position = [next(dependent) if on else None for on in lin.out_active]
    taken = [
        p for p, wanted in zip(position, with_cotangent, strict=True) if wanted and p is not None
    ]
    linear = dce(lin.linear, [i in taken for i in range(len(lin.linear.out_avals))])
    is_linear = [False] * lin.num_residuals + [True] * sum(active)
    backward = transpose(linear, is_linear)
    num_inputs = len(closed.in_avals)
    num_outs = len(closed.out_avals)

    def fun(*args: Value) -> list[Value]:
        results = inline(lin.known, *args[:num_inputs])
        wanted = zip(
            [p for p, on in zip(position, with_cotangent, strict=True) if on],
            args[num_inputs:],
            strict=True,
        )
        cts = [ct for p, ct in wanted if p is not None]
        return [*results[:num_outs], *inline(backward, *results[num_outs:], *cts)]

    bars = [
        (cotangent_name(getattr(atom, "name", None)), atom.aval)
        for atom, on in zip(closed.jaxpr.outvars, with_cotangent, strict=True)
        if on
    ]
    made = make(
        fun,
        [*closed.in_avals, *[aval for _, aval in bars]],
        [*[var.name for var in closed.jaxpr.invars], *[name for name, _ in bars]],
    )
    check(made.jaxpr)
    return made, lin.out_active


def fix_inputs(closed: ClosedJaxpr, values: Sequence[Value]) -> ClosedJaxpr:
    """(xs, ks -> ys)  ->  (xs -> ys), with the last inputs given"""
    free = closed.jaxpr.invars[: len(closed.jaxpr.invars) - len(values)]
    avals: list[ShapedArray] = [var.aval for var in free]
    made = make(lambda *xs: inline(closed, *xs, *values), avals, [var.name for var in free])
    check(made.jaxpr)
    return made
