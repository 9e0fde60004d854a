"""What calls of jaxprs have in common: jit, checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

from s2s.control.batched_loops import body_if_live
from s2s.control.bodies import (
    Flags,
    chosen,
    dce_of,
    inverted,
    jvp_of,
    rearranged,
    transpose_of,
    used_inputs,
    vmap_of,
)
from s2s.control.branch_split import CalleeSplit
from s2s.control.higher_order import HigherOrder, per_jaxpr
from s2s.ir.dims import Size, require_same
from s2s.ir.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, ShapedArray, Var
from s2s.passes.dce import dce
from s2s.primitive import BatchAxis, Linear, PartialEval, Producer, Value, Zero
from s2s.primitives.core import move_batch_axis
from s2s.trace import aval, bind, evaluate


@dataclass(frozen=True, eq=False)
class Call(HigherOrder):
    """`jaxpr` applied to the operands. A subclass says how its rules call what they make of it."""

    jaxpr: ClosedJaxpr

    def made(self, what: str, jaxpr: ClosedJaxpr) -> Self:
        """A call of what is made from the callee: `what` is jvp, forward (the known part, with what
        it keeps), linear (the unknown part), backward or vmap; or nothing if it computes the
        same."""
        raise NotImplementedError

    def split(self, unknown: Flags) -> tuple[CalleeSplit, Flags]:
        """The callee in two, and which results are unknown."""
        raise NotImplementedError

    def abstract(self, *avals: ShapedArray) -> list[ShapedArray]:
        inside = self.jaxpr.in_avals
        fits = len(inside) == len(avals) and all(
            a.dtype == b.dtype and a.ndim == b.ndim and all(map(require_same, a.shape, b.shape))
            for a, b in zip(inside, avals, strict=True)
        )
        if not fits:
            raise TypeError(f"{self.name} of a function of {inside} on {list(avals)}")
        return self.jaxpr.out_avals

    def evaluate(self, *arrays: Any) -> list[Any]:
        return evaluate(self.jaxpr, *arrays)

    # -- derivatives ----------------------------------------------------------------------------

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        active = tuple(not isinstance(t, Zero) for t in tangents)
        both, out_on = jvp_of(self.jaxpr, active, (False,) * len(self.jaxpr.out_avals))
        results = bind(self.made("jvp", both), *primals, *chosen(tangents, active))
        values = results[: len(out_on)]
        moved = iter(results[len(out_on) :])
        return values, [
            next(moved) if on else Zero(aval(y)) for y, on in zip(values, out_on, strict=True)
        ]

    def partial_eval(self, eqn: JaxprEqn, unknown: Sequence[bool]) -> PartialEval | None:
        flags = tuple(unknown)
        split, out_unknown = self.split(flags)
        known, rest = _halves(self.jaxpr, split)
        operands = chosen(eqn.invars, inverted(flags))
        results = chosen(eqn.outvars, inverted(out_unknown))
        kept = [Var(var.aval.strong(), var.name) for var in split.stored]
        read = [
            *[operands[i] for i in split.operands],
            *[results[i] for i in split.results],
            *kept,
        ]
        known_eqn = JaxprEqn(
            self.made("forward" if kept else "", known),
            operands,
            [*results, *kept],
            eqn.source,
            eqn.phase,
        )
        unknown_vars = chosen(eqn.outvars, out_unknown)
        rest_eqn = JaxprEqn(
            self.made("linear", rest),
            [*read, *chosen(eqn.invars, flags)],
            unknown_vars,
            eqn.source,
            "tangent",
        )
        is_needed = bool(known_eqn.outvars) or known_eqn.primitive.has_effect
        return PartialEval([known_eqn] if is_needed else [], [rest_eqn], unknown_vars)

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        linear = tuple(isinstance(arg, Linear) for arg in args)
        ct_on = tuple(not isinstance(ct, Zero) for ct in cts)
        backward, found = transpose_of(self.jaxpr, linear, ct_on)
        given = [*chosen(args, inverted(linear)), *chosen(cts, ct_on)]
        bars = iter(bind(self.made("backward", backward), *given))
        return [
            next(bars) if on else Zero(arg.aval) if is_linear else None
            for arg, is_linear, on in zip(args, linear, found, strict=True)
        ]

    # -- batching -------------------------------------------------------------------------------

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, Any]:
        in_front = [
            value if dim is None else move_batch_axis(value, dim, 0)
            for value, dim in zip(args, dims, strict=True)
        ]
        batched = tuple(dim is not None for dim in dims)
        body, out_on = vmap_of(self.jaxpr, size, batched, (False,) * len(self.jaxpr.out_avals))
        return bind(self.made("vmap", body), *in_front), [0 if on else None for on in out_on]

    def bind_if_live(
        self, live: Value, operands: Sequence[Value], batched: Flags
    ) -> Sequence[Value] | None:
        body = body_if_live(self.jaxpr, batched)
        return None if body is None else bind(self.made("", body), live, *operands)

    # -- tidying --------------------------------------------------------------------------------

    def dce(self, eqn: JaxprEqn, used: Sequence[bool]) -> JaxprEqn:
        flags = tuple(used)
        body = dce_of(self.jaxpr, flags)
        read = used_inputs(body)
        if all(flags) and all(read) and len(body.eqns) == len(self.jaxpr.eqns):
            return eqn
        return JaxprEqn(
            self.made("", _with_inputs(body, read)),
            chosen(eqn.invars, read),
            chosen(eqn.outvars, flags),
            eqn.source,
            eqn.phase,
        )

    def tidied(
        self,
        args: Sequence[Value],
        producer: Producer,
        tidy: Callable[[ClosedJaxpr], ClosedJaxpr],
    ) -> Sequence[Value] | None:
        body = tidy(self.jaxpr)
        return None if body is self.jaxpr else bind(self.made("", body), *args)


@per_jaxpr
def _with_inputs(closed: ClosedJaxpr, wanted: Flags) -> ClosedJaxpr:
    return rearranged(closed, [i for i, on in enumerate(wanted) if on])


@per_jaxpr
def _halves(closed: ClosedJaxpr, split: CalleeSplit) -> tuple[ClosedJaxpr, ClosedJaxpr]:
    """A callee in two: known inputs -> known outputs, kept; and what is read of these, unknown
    inputs -> unknown outputs."""
    del closed  # The same callee split in the same way gives the same two functions.
    known = split.known.jaxpr
    body = Jaxpr(known.constvars, known.invars, known.eqns, [*known.outvars, *split.stored])
    read = [*split.operands.values(), *split.results.values(), *split.stored]
    return dce(ClosedJaxpr(body, split.known.consts)), split.unknown_of(read)
