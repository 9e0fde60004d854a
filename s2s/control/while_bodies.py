"""Conditions and bodies of while loops that carry more, or of which the examples are done apart."""

from __future__ import annotations

from s2s.control.batched_loops import step_if_live
from s2s.control.bodies import split_at
from s2s.control.higher_order import per_jaxpr
from s2s.ir.dtypes import BOOL, INT64
from s2s.ir.jaxpr import ClosedJaxpr, Jaxpr, ShapedArray, Var
from s2s.primitive import Value
from s2s.primitives.arithmetic import add
from s2s.primitives.core import convert_element_type
from s2s.primitives.logic import bitwise_and
from s2s.primitives.reductions import reduce_or
from s2s.trace import inline, make


@per_jaxpr
def with_more_carry(condition: ClosedJaxpr, more: tuple[ShapedArray, ...]) -> ClosedJaxpr:
    """The condition of a loop that carries further values, which it does not read."""
    jaxpr = condition.jaxpr
    inputs = [*jaxpr.invars, *[Var(a) for a in more]]
    return ClosedJaxpr(Jaxpr(jaxpr.constvars, inputs, jaxpr.eqns, jaxpr.outvars), condition.consts)


@per_jaxpr
def masked(
    body: ClosedJaxpr,
    condition: ClosedJaxpr,
    body_nconsts: int,
    cond_nconsts: int,
    recording: bool,
    batched: tuple[bool, ...],
) -> ClosedJaxpr:
    """A body that does nothing once the condition is false.

    (cond consts, body consts, live, [steps], carry -> live, [steps], carry, ys)
    """
    cond_consts, cond_carry = split_at(condition.jaxpr.invars, cond_nconsts)
    consts, carry = split_at(body.jaxpr.invars, body_nconsts)
    num_carry = len(cond_carry)
    state = [ShapedArray((), BOOL)] + [ShapedArray((), INT64)] * recording
    variables = [*cond_consts, *consts]
    avals = [*[v.aval for v in variables], *state, *[v.aval for v in carry]]
    names = [v.name for v in variables] + ["live"] + ["steps"] * recording + [v.name for v in carry]

    def fun(*args: Value) -> list[Value]:
        cond_in, consts_in, (live, *count), carry_in = split_at(
            args, cond_nconsts, body_nconsts, len(state)
        )
        operands = [*consts_in, *carry_in]
        after, ys = step_if_live(live, body, operands, body_nconsts, num_carry, batched)
        still = inline(condition, *cond_in, *after)[0]
        count = [add(number, convert_element_type(live, INT64)) for number in count]
        return [still, *count, *after, *ys]

    return make(fun, avals, names)


def any_live(carry: tuple[ShapedArray, ...]) -> ClosedJaxpr:
    def fun(live: Value, *_: Value) -> list[Value]:
        return [reduce_or(live, [0])]

    return make(fun, carry)


@per_jaxpr
def and_live(condition: ClosedJaxpr) -> ClosedJaxpr:
    live = Var(ShapedArray((), BOOL), "live")
    inputs = [live, *condition.jaxpr.invars]

    def fun(live: Value, *xs: Value) -> list[Value]:
        return [bitwise_and(live, inline(condition, *xs)[0])]

    return make(fun, [var.aval for var in inputs], [var.name for var in inputs])
