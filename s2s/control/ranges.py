"""Loops over a range: how many steps they run, and batches whose examples have different ends.

for i in range(n): x = f(x)    for i in range(np.max(n)): x = np.where(i < n, f(x), x)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from s2s.control.batched_loops import step_if_live
from s2s.control.bodies import split_at
from s2s.control.higher_order import per_jaxpr
from s2s.control.loop_split import counters
from s2s.ir.jaxpr import Atom, ClosedJaxpr, Literal, ShapedArray, Var
from s2s.primitive import Value
from s2s.primitives.creation import DimAsValue
from s2s.primitives.logic import Lt, lt
from s2s.trace import bind, make, named


@dataclass(frozen=True)
class Range:
    """The position of the carried integer that a loop counts by ones, and what it counts to."""

    counter: int
    stop: Literal | DimAsValue | int
    """A number, a size, or which of the condition's constants it is."""

    def end(self, cond_consts: Sequence[Value]) -> Value:
        """What the loop counts to, given the constants of its condition."""
        if isinstance(self.stop, int):
            return cond_consts[self.stop]
        return bind(self.stop) if isinstance(self.stop, DimAsValue) else self.stop


def range_of(
    condition: ClosedJaxpr, body: ClosedJaxpr, cond_nconsts: int, body_nconsts: int
) -> Range | None:
    """What a while loop counts to, if it does nothing else to know when it ends."""
    if not condition.eqns or not isinstance(condition.eqns[-1].primitive, Lt):
        return None
    *sizes, test = condition.eqns
    inputs: list[Atom] = list(condition.jaxpr.invars)
    number, end = test.invars
    entering = body.jaxpr.invars[body_nconsts:]
    if number not in inputs[cond_nconsts:]:
        return None
    position = inputs.index(number) - cond_nconsts
    step = counters(body.eqns, entering, body.jaxpr.outvars[: len(entering)]).get(
        entering[position]
    )
    if step is None or step.value != 1:
        return None
    if sizes:
        (size, *more) = sizes
        is_size = isinstance(size.primitive, DimAsValue) and end is size.outvars[0] and not more
        return Range(position, size.primitive) if is_size else None  # type: ignore[arg-type]
    if isinstance(end, Literal):
        return Range(position, end)
    return Range(position, inputs.index(end)) if end in inputs[:cond_nconsts] else None


@per_jaxpr
def masked_range(
    body: ClosedJaxpr, body_nconsts: int, counter: int, batched: tuple[bool, ...]
) -> ClosedJaxpr:
    """(body consts, carry -> carry, ys)  ->  (bound, body consts, carry -> carry, ys), which does
    nothing but count once the counter has reached the bound"""
    variables = body.jaxpr.invars
    number = variables[body_nconsts + counter]
    bound = Var(ShapedArray((), number.aval.dtype), "stop")
    inputs = [bound, *variables]

    def fun(*args: Value) -> list[Value]:
        (stop,), consts, carry = split_at(args, 1, body_nconsts)
        live = named(lt(carry[counter], stop), "live")
        operands = (*consts, *carry)
        after, ys = step_if_live(live, body, operands, len(consts), len(carry), batched, counter)
        return [*after, *ys]

    return make(fun, [var.aval for var in inputs], [var.name for var in inputs])
