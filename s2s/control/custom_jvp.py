"""custom_jvp_call: a function of which the user says how it is differentiated in forward mode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from s2s.control.bodies import Flags, chosen, vmap_of
from s2s.control.rules import CustomRule, Rule
from s2s.ir.dims import Size
from s2s.ir.dtypes import is_inexact
from s2s.ir.jaxpr import ClosedJaxpr, JaxprEqn, ShapedArray, Var
from s2s.primitive import BatchAxis, Value, Zero
from s2s.primitives.core import instantiate, move_batch_axis
from s2s.trace import bind, builder_in_force, copy_equation, evaluate, walk


@dataclass(frozen=True, eq=False)
class CustomJvpCall(CustomRule):
    """The rule has the operands, and the tangents of those that have one and are no constants; it
    gives the results, and the tangents of those that have one."""

    jvp_rule: Rule

    name = "custom_jvp_call"

    @property
    def main_rule(self) -> Rule:
        return self.jvp_rule

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        self.refuse_constants(tangents)
        return apply_jvp_rule(self, self.jvp_rule, primals, tangents)

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, Any]:
        in_front = [
            value if dim is None else move_batch_axis(value, dim, 0)
            for value, dim in zip(args, dims, strict=True)
        ]
        batched = tuple(dim is not None for dim in dims)
        primitive = CustomJvpCall(
            self.callee,
            batched_whole(self.call_jaxpr, size, batched),
            self.num_consts,
            batched_jvp_rule(self, self.jvp_rule, size, batched),
        )
        return bind(primitive, *in_front), [0] * len(self.call_jaxpr.out_avals)


def inexact(avals: Sequence[ShapedArray]) -> Flags:
    """Which of the values have a tangent."""
    return tuple(is_inexact(a.dtype) for a in avals)


def apply_jvp_rule(
    call: CustomRule, rule: Rule, primals: Sequence[Value], tangents: Sequence[Value]
) -> tuple[list[Value], list[Value]]:
    """The results and their tangents, by the user's rule."""
    num_consts = call.num_consts
    moving = chosen(tangents[num_consts:], inexact(call.call_jaxpr.in_avals[num_consts:]))
    flags = rule.flags(moving)
    given = [instantiate(t) for t in chosen(moving, flags)]
    results = inline_rule(rule.jaxpr(flags), [*primals, *given], len(primals))
    out_avals = call.call_jaxpr.out_avals
    values, dots = results[: len(out_avals)], iter(results[len(out_avals) :])
    return values, [next(dots) if is_inexact(a.dtype) else Zero(a) for a in out_avals]


def inline_rule(rule: ClosedJaxpr, args: Sequence[Value], num_primals: int) -> list[Value]:
    """The results of a rule of which the last inputs are tangents.

    What depends on these is a derivative, whose equations may be simplified as such.
    """
    builder = builder_in_force()
    if builder is None:
        return evaluate(rule, *args)
    caller = builder.source
    linear: set[Var] = set(rule.jaxpr.invars[num_primals:])

    def step(eqn: JaxprEqn, operands: Sequence[Value]) -> Sequence[Value]:
        if not linear.isdisjoint(a for a in eqn.invars if isinstance(a, Var)):
            linear.update(eqn.outvars)
            builder.phase = "tangent"
        if eqn.source is not None:
            builder.source = eqn.source.called_from(caller)
        return copy_equation(eqn, operands)

    return walk(rule, args, step)


def batched_whole(closed: ClosedJaxpr, size: Size, batched: Flags) -> ClosedJaxpr:
    """`vmap` with batch axes in front, of all results."""
    return vmap_of(closed, size, batched, (True,) * len(closed.out_avals))[0]


def batched_jvp_rule(call: CustomRule, rule: Rule, size: Size, batched: Flags) -> Rule:
    """A jvp rule for a batch: all results and tangents have the batch axis in front."""
    num_consts = call.num_consts
    has_tangent = inexact(call.call_jaxpr.in_avals[num_consts:])
    moving = chosen(batched[num_consts:], has_tangent)
    return rule.mapped(
        lambda jaxpr, flags: batched_whole(jaxpr, size, (*batched, *chosen(moving, flags)))
    )
