"""custom_vjp_call: a function of which the user says how it is differentiated in reverse mode.

Its jvp gives the results by the user's forward rule, and their tangents by `custom_lin`, whose
transpose is the user's backward rule. Where the tangents themselves are wanted, `custom_lin` is
the user's jvp rule if there is one too, else the transpose of the backward rule, which is linear.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from s2s.control.bodies import Flags, chosen, inverted, jvp_of, split_at, transpose_of
from s2s.control.custom_jvp import apply_jvp_rule, batched_jvp_rule, batched_whole, inexact
from s2s.control.higher_order import HigherOrder
from s2s.control.rules import CustomRule, Rule
from s2s.ir.dims import Size
from s2s.ir.dtypes import is_inexact
from s2s.ir.jaxpr import ClosedJaxpr, ShapedArray
from s2s.ir.reading import field_types
from s2s.primitive import BatchAxis, Linear, Primitive, Value, Zero, substitute_in
from s2s.primitives.core import instantiate, move_batch_axis, reduce_sum
from s2s.trace import aval, bind, evaluate, inline, inline_call, make


@dataclass(frozen=True, eq=False)
class CustomVjpCall(CustomRule):
    """The rule `fwd` has the operands and gives the results, then residuals.

    The rule `bwd` has the constants, the residuals, and the cotangents of the results that have
    one; it gives the cotangents of the operands that have one and are no constants.
    """

    fwd_rule: Rule
    bwd_rule: Rule
    jvp_rule: Rule | None = None

    name = "custom_vjp_call"

    @property
    def main_rule(self) -> Rule:
        return self.fwd_rule

    @property
    def operand_avals(self) -> list[ShapedArray]:
        """The types of the operands that are no constants."""
        return self.call_jaxpr.in_avals[self.num_consts :]

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        self.refuse_constants(tangents)
        moving = chosen(tangents[self.num_consts :], inexact(self.operand_avals))
        active = self.fwd_rule.flags(moving)
        results = inline_call(self.fwd_rule.jaxpr(active), *primals)
        out_avals = self.call_jaxpr.out_avals
        values, residuals = split_at(results, len(out_avals))
        linear = CustomLin(self, active, tuple(aval(r) for r in residuals))
        given = [instantiate(t) for t in chosen(moving, active)]
        dots = iter(bind(linear, *primals, *residuals, *given))
        return values, [next(dots) if is_inexact(a.dtype) else Zero(a) for a in out_avals]

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, Any]:
        in_front = [
            value if dim is None else move_batch_axis(value, dim, 0)
            for value, dim in zip(args, dims, strict=True)
        ]
        batched = tuple(dim is not None for dim in dims)
        return bind(self.batched(size, batched), *in_front), [0] * len(self.call_jaxpr.out_avals)

    def batched(self, size: Size, batched: Flags) -> CustomVjpCall:
        """The function for a batch, whose results and residuals all have the batch axis."""
        consts_on = batched[: self.num_consts]
        alike = inverted(chosen(batched[self.num_consts :], inexact(self.operand_avals)))

        def backward(jaxpr: ClosedJaxpr, flags: Flags) -> ClosedJaxpr:
            num_rest = len(jaxpr.in_avals) - self.num_consts
            each = batched_whole(jaxpr, size, (*consts_on, *[True] * num_rest))

            def fun(*args: Value) -> list[Value]:
                bars = inline(each, *args)
                return [
                    reduce_sum(bar, [0]) if is_alike else bar
                    for bar, is_alike in zip(bars, alike, strict=True)
                ]

            return make(fun, each.in_avals) if any(alike) else each

        return CustomVjpCall(
            self.callee,
            batched_whole(self.call_jaxpr, size, batched),
            self.num_consts,
            self.fwd_rule.mapped(lambda jaxpr, _: batched_whole(jaxpr, size, batched)),
            self.bwd_rule.mapped(backward),
            self.jvp_rule and batched_jvp_rule(self, self.jvp_rule, size, batched),
        )


@dataclass(frozen=True, eq=False)
class CustomLin(HigherOrder):
    """The tangents of a `custom_vjp_call`.

    The operands are those of the call, the residuals of its forward rule, and the tangents of the
    operands that are `active`, of those that have one; the results the tangents of the results.
    """

    call: CustomVjpCall
    active: Flags
    residuals: tuple[ShapedArray, ...]

    name = "custom_lin"

    def printed_parameters(self) -> Mapping[str, Any]:
        call = dict(self.call.printed_parameters())
        name = call.pop("name")
        own = {"active": self.active, "residuals": self.residuals}
        return {"name": name, **dict(sorted((call | own).items()))}

    @classmethod
    def printed_types(cls) -> dict[str, Any]:
        own = field_types(cls)
        return {**CustomVjpCall.printed_types(), **{k: own[k] for k in ("active", "residuals")}}

    @classmethod
    def from_printed(
        cls, printed: Mapping[str, Any], out_avals: Sequence[ShapedArray]
    ) -> Primitive:
        call = dict(printed)
        active, residuals = call.pop("active"), call.pop("residuals")
        made = CustomVjpCall.from_printed(call, out_avals)
        assert isinstance(made, CustomVjpCall)
        return cls(made, active, residuals)

    @property
    def jaxprs(self) -> list[ClosedJaxpr]:
        return self.call.jaxprs

    def with_jaxprs(self, transform: Callable[[ClosedJaxpr], ClosedJaxpr]) -> CustomLin:
        return self

    def with_sizes(self, sizes: Mapping[str, Size]) -> Primitive:
        call = self.call.with_sizes(sizes)
        if call is self.call:
            return self
        residuals = tuple(
            ShapedArray(substitute_in(a.shape, sizes), a.dtype, a.weak_type) for a in self.residuals
        )
        return dataclasses.replace(self, call=call, residuals=residuals)

    def parts(self, values: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """The operands of the call, the residuals and the tangents."""
        primals, residuals, dots = split_at(
            values, len(self.call.call_jaxpr.in_avals), len(self.residuals)
        )
        return primals, residuals, dots

    def per_operand(self, dots: Sequence[Any]) -> list[Any]:
        """What belongs to the tangents, for each operand of the call; None for those without."""
        given = iter(dots)
        active = iter(self.active)
        return [
            next(given)
            if i >= self.call.num_consts and is_inexact(a.dtype) and next(active)
            else None
            for i, a in enumerate(self.call.call_jaxpr.in_avals)
        ]

    def abstract(self, *avals: ShapedArray) -> list[ShapedArray]:
        return [a for a in self.call.call_jaxpr.out_avals if is_inexact(a.dtype)]

    # -- the tangents themselves ----------------------------------------------------------------

    def expanded(self, args: Sequence[Value]) -> list[Value]:
        """The results by the user's jvp rule, or by the transpose of the backward rule."""
        primals, residuals, dots = self.parts(args)
        call = self.call
        if call.jvp_rule is not None:
            tangents = [
                Zero(aval(p)) if t is None else t
                for p, t in zip(primals, self.per_operand(dots), strict=True)
            ]
            _, found = apply_jvp_rule(call, call.jvp_rule, primals, tangents)
            return [t for t in found if not isinstance(t, Zero)]
        fixed = [*primals[: call.num_consts], *residuals]
        out_avals = self.abstract()
        backward = self._backward_rule((True,) * len(out_avals))
        linear = (*[False] * len(fixed), *[True] * len(out_avals))
        forward, found_cts = transpose_of(backward, linear, self.active)
        results = iter(inline_call(forward, *fixed, *dots, as_phase="tangent"))
        return [
            next(results) if on else instantiate(Zero(a))
            for a, on in zip(out_avals, found_cts[len(fixed) :], strict=True)
        ]

    def _backward_rule(self, ct_on: Flags) -> ClosedJaxpr:
        return self.call.bwd_rule.jaxpr((*self.active, *ct_on))

    def _as_jaxpr(self) -> ClosedJaxpr:
        call = self.call.call_jaxpr
        has_dot = self.per_operand([True] * sum(self.active))
        dots = [a for a, dot in zip(call.in_avals, has_dot, strict=True) if dot]
        return make(lambda *args: self.expanded(args), [*call.in_avals, *self.residuals, *dots])

    def evaluate(self, *arrays: Any) -> list[Any]:
        return evaluate(self._as_jaxpr(), *arrays)

    def finish(self, args: Sequence[Value]) -> Sequence[Value] | None:
        return self.expanded(args)

    # -- rules ----------------------------------------------------------------------------------

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        active = tuple(not isinstance(t, Zero) for t in tangents)
        both, on = jvp_of(self._as_jaxpr(), active, (False,) * len(self.abstract()))
        results = inline_call(both, *primals, *chosen(tangents, active), as_phase="tangent")
        values, moved = results[: len(on)], iter(results[len(on) :])
        return values, [
            next(moved) if is_on else Zero(aval(y)) for y, is_on in zip(values, on, strict=True)
        ]

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        primals, residuals, _ = self.parts(args)
        call = self.call
        if any(isinstance(value, Linear) for value in (*primals, *residuals)):
            raise TypeError(f"the rules of {call.callee} are not linear in its arguments")
        ct_on = call.bwd_rule.flags(cts)
        given = [instantiate(ct) for ct in chosen(cts, ct_on)]
        fixed = [*primals[: call.num_consts], *residuals]
        bars = inline_call(self._backward_rule(ct_on), *fixed, *given, as_phase="cotangent")
        return [*[None] * (len(primals) + len(residuals)), *chosen(bars, self.active)]

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, Any]:
        primal_dims, residual_dims, dot_dims = self.parts(dims)
        # A tangent of the whole batch calls for an operand of the whole batch, and the reverse.
        pairs = zip(primal_dims, self.per_operand(dot_dims), strict=True)
        batched = tuple(dim is not None or dot is not None for dim, dot in pairs)
        has_dot = self.per_operand([True] * len(dot_dims))
        dots_on = [on for on, dot in zip(batched, has_dot, strict=True) if dot]
        wanted = [*batched, *[True] * len(residual_dims), *dots_on]
        operands = [
            move_batch_axis(value, dim, 0, size) if on else value
            for value, dim, on in zip(args, dims, wanted, strict=True)
        ]
        residuals = self.parts(operands)[1]
        linear = CustomLin(
            self.call.batched(size, batched), self.active, tuple(aval(r) for r in residuals)
        )
        return bind(linear, *operands), [0] * len(self.abstract())
