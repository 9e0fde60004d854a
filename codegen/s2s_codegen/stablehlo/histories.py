"""Loops of unknown length whose steps are kept for the way back, in arrays of fixed sizes.

    n, y, ys:f64[steps,3] = while[steps=steps ...] x          the forward loop keeps its steps
    x_bar = scan[length=steps reverse=True ...] n y_bar ys    the backward one reads them

A tensor of StableHLO cannot have a row for each step that a loop turns out to make. So no such
history is made: where one is read, there is a window of some rows of it, and when the reader comes
to the end of that window the loop runs again, from the last of some snapshots, to keep the next
one. This is exact for any number of steps. Where a window holds them all, the price is that the
loop runs twice.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from s2s.control.bodies import split_at
from s2s.control.higher_order import per_jaxpr
from s2s.control.scan import Scan
from s2s.control.while_loop import While
from s2s.errors import UserError
from s2s.ir.check import check
from s2s.ir.dims import Atom, FloorDiv, Size, dimension, names_of, terms_of
from s2s.ir.dtypes import INT64
from s2s.ir.jaxpr import ClosedJaxpr, JaxprEqn, ShapedArray, Var
from s2s.passes.bound_dimensions import names_in
from s2s.passes.dce import dce
from s2s.passes.names import hand_on_names
from s2s.primitive import Primitive, Value
from s2s.primitives import creation, joining, layout
from s2s.primitives.arithmetic import add, floor_divide, max as maximum, min as minimum, mul, sub
from s2s.primitives.counts import BindDimension, NonZero
from s2s.primitives.cumulative import Cumulative
from s2s.primitives.logic import bitwise_and, eq, ge, gt, lt, select_n
from s2s.trace import aval, bind, copy_equation, inline, make, walk
from s2s_codegen.stablehlo.folds import folded, loop, rows_at, running
from s2s_codegen.stablehlo.rows_first import rows_first
from s2s_codegen.stablehlo.windows import (
    History,
    Place,
    Steps,
    Together,
    derivation,
    empty_windows,
    histories_among,
    row_of,
    rows_for,
    with_rows,
)

Values: TypeAlias = "list[Value]"

SNAPSHOTS = 32
"""How many times, at most, a loop keeps what it carries, to run again from there. Even."""


@per_jaxpr
def in_windows(closed: ClosedJaxpr) -> ClosedJaxpr:
    """(xs -> ys)  ->  (xs -> ys), without dimensions that equations bind

    before:  { lambda ; x. let n y ys = while[steps=steps_1 ...] x; z = scan[...] n y ys in (z,) }
    after:   { lambda ; x. let n y = while[...] 0 x; _ z = while[... while[...] ...] 0 y in (z,) }
    """
    if not _binds(closed):
        return closed
    scope, arranged = _Scope(), rows_first(closed)
    made = make(
        lambda *xs: walk(arranged, xs, scope.step),
        closed.in_avals,
        [var.name for var in closed.jaxpr.invars],
    )
    result = dce(made)
    check(result.jaxpr)
    return result


def _binds(closed: ClosedJaxpr) -> bool:
    return any(
        eqn.primitive.bound_dimension is not None or any(map(_binds, eqn.primitive.jaxprs))
        for eqn in closed.eqns
    )


class _Scope:
    """The histories of the loops of one jaxpr."""

    def __init__(self) -> None:
        self.steps: dict[str, Steps] = {}

    def step(self, eqn: JaxprEqn, operands: Sequence[Any]) -> Sequence[Any]:
        primitive = eqn.primitive.with_jaxprs(in_windows)
        if isinstance(primitive, NonZero):
            raise UserError(
                "a list to which only some steps append, or what a mask selects, has a length that "
                "depends on the values of the arguments, which StableHLO takes only of a loop "
                "whose number of steps is fixed. Append in each step, a 0.0 where there is nothing "
                "to append, use np.where(mask, x, 0), or write a NumPy module.",
                eqn.source,
            )
        if isinstance(primitive, While) and primitive.steps is not None:
            results = self._while(primitive, str(primitive.steps), operands)
        elif isinstance(primitive, BindDimension):
            name = str(primitive.steps)
            self.steps.setdefault(name, Steps(name, operands[0], rows_for([])))
            results = operands
        elif names_in(eqn).isdisjoint(self.steps) and not histories_among(operands):
            copy = JaxprEqn(primitive, eqn.invars, eqn.outvars, eqn.source, eqn.phase)
            return copy_equation(copy, operands)
        elif isinstance(primitive, Scan) and not names_of(primitive.length).isdisjoint(self.steps):
            results = self._scan(primitive, operands, eqn)
        elif isinstance(primitive, Cumulative) and primitive.axis == 0:
            (history,) = operands
            primitive, start = running(primitive, eqn.outvars[0].aval)
            results = self._scan(primitive, [start, history], eqn)[1:]
        elif isinstance(primitive, creation.DimAsValue):
            results = [self._number(primitive.dim)]
        elif self._names(eqn.outvars).isdisjoint(self.steps):
            results = [self._left(primitive, eqn, operands)]
        else:
            results = [self._derived(eqn, operands)]
        hand_on_names(results, eqn.outvars)
        return results

    # -- loops ----------------------------------------------------------------------------------

    def _while(self, primitive: While, name: str, operands: Sequence[Value]) -> list[Any]:
        cond_consts, consts, carry = primitive.parts(operands)
        number = primitive.num_carry
        y_avals = primitive.body_jaxpr.out_avals[number:]
        rows = rows_for(y_avals)

        def body(values: Values) -> tuple[Values, Values]:
            after, ys = split_at(inline(primitive.body_jaxpr, *consts, *values), number)
            return after, ys

        def goes_on(values: Values) -> Value:
            return inline(primitive.cond_jaxpr, *cond_consts, *values)[0]

        count, last, snapshots = _with_snapshots(goes_on, lambda v: body(v)[0], carry, rows)
        steps = self.steps[name] = Steps(name, count, rows)

        def run(place: Place) -> Values:
            end = minimum(add(place.row, rows), count)

            def kept(state: Values) -> Values:
                (step,), values, windows = split_at(state, 1, number)
                after, ys = body(values)
                return [add(step, 1), *after, *with_rows(windows, sub(step, place.row), ys)]

            start = [*snapshots.before(place.row), *empty_windows(y_avals, rows)]
            return loop(lambda state: lt(state[0], end), kept, start)[1 + number :]

        together = Together(run)
        return [count, *last, *[History(steps, 0, together, i) for i in range(len(y_avals))]]

    def _scan(self, primitive: Scan, operands: Sequence[Any], eqn: JaxprEqn) -> list[Any]:
        steps, extra = self._extent(primitive.length, eqn)
        _, consts, carry, xs = primitive.parts(operands)
        if not all(isinstance(x, History) for x in xs) or histories_among([*consts, *carry]):
            raise _refused(eqn)
        y_avals = primitive.jaxpr.out_avals[primitive.num_carry :]
        count = add(steps.count, extra) if extra else steps.count
        run = functools.partial(_scanned, primitive, count, steps.rows, consts, carry, xs)
        together = Together(lambda place: run(place)[primitive.num_carry :])
        ys = [History(steps, extra, together, i) for i in range(len(y_avals))]
        return [*run(None), *ys]

    def _left(self, primitive: Primitive, eqn: JaxprEqn, operands: Sequence[Any]) -> Value:
        """What is made of histories and is none."""
        for operand, atom in zip(operands, eqn.invars, strict=True):
            if isinstance(operand, History):
                self._rows(atom.aval, eqn)
        histories = histories_among(operands)
        if histories and isinstance(primitive, layout.Slice) and primitive.steps()[0] == 1:
            (history,) = histories
            height = eqn.outvars[0].aval.shape[0]
            if isinstance(height, int):
                start = self._number(primitive.start_indices[0])
                return rows_at(history, Place(start), primitive, height)
        result = folded(primitive, operands, eqn.outvars[0].aval) if histories else None
        if result is None:
            raise _refused(eqn)
        return result

    def _names(self, variables: Sequence[Var]) -> set[str]:
        return {name for var in variables for size in var.aval.shape for name in names_of(size)}

    def _number(self, size: Size) -> Value:
        """A size in which numbers of steps occur, as a value."""
        if names_of(size).isdisjoint(self.steps):
            return creation.dim_as_value(size)
        total: Value = INT64.type(0)
        for monomial, coefficient in terms_of(size):
            term: Value = INT64.type(coefficient)
            for atom, power in monomial:
                for _ in range(power):
                    term = mul(term, self._atom(atom))
            total = add(total, term)
        return total

    def _atom(self, atom: Atom) -> Value:
        if isinstance(atom, FloorDiv):
            return floor_divide(self._number(atom.numerator), self._number(atom.denominator))
        found = self.steps.get(atom)
        return creation.dim_as_value(dimension(atom)) if found is None else found.count

    # -- what is made of histories ----------------------------------------------------------------

    def _derived(self, eqn: JaxprEqn, operands: Sequence[Any]) -> History:
        if len(eqn.outvars) != 1:
            raise _refused(eqn)
        (var,) = eqn.outvars
        steps, extra = self._rows(var.aval, eqn)
        for operand, atom in zip(operands, eqn.invars, strict=True):
            if isinstance(operand, History):
                self._rows(atom.aval, eqn)
        window = derivation(eqn.primitive, steps, extra, operands, self._number)
        if window is None:
            raise _refused(eqn)
        return History(steps, extra, Together(lambda place: [window(place)]))

    def _rows(self, a: ShapedArray, eqn: JaxprEqn) -> tuple[Steps, int]:
        """The loop that a history is of, and how many more rows it has than that has steps."""
        if any(not names_of(size).isdisjoint(self.steps) for size in a.shape[1:]):
            raise _refused(eqn)
        return self._extent(a.shape[0], eqn)

    def _extent(self, size: Size, eqn: JaxprEqn) -> tuple[Steps, int]:
        """The loop of whose steps a size is the number, but for so many more."""
        names = names_of(size) & self.steps.keys()
        if len(names) != 1:
            raise _refused(eqn)
        (name,) = names
        extra: object = size - dimension(name)
        if not isinstance(extra, int):
            raise _refused(eqn)
        return self.steps[name], extra


def _refused(eqn: JaxprEqn) -> UserError:
    return UserError(
        "what a loop of unknown length keeps of all its steps cannot be used like this in "
        f"StableHLO, whose arrays have fixed sizes ({eqn.primitive.name}). Bound the number of "
        "steps by a for loop, or write a NumPy module.",
        eqn.source,
    )


def _scanned(
    primitive: Scan,
    count: Value,
    rows: int,
    consts: Sequence[Value],
    carry: Sequence[Value],
    xs: Sequence[History],
    place: Place | None,
) -> Values:
    """The last carry of a scan over histories, window by window; and the windows at a place of the
    results that it stacks, for which it runs only as far as it must."""
    backward = primitive.reverse
    y_avals = primitive.jaxpr.out_avals[primitive.num_carry :] if place is not None else []
    first = place.row if place is not None else INT64.type(0)
    begin = maximum(first, INT64.type(0))
    end = minimum(add(first, rows), count) if place is not None else count

    def turn(state: Values) -> Values:
        done, *state = state
        base = sub(count, add(done, rows)) if backward else done
        windows = [x.window(Place(base)) for x in xs]
        # The rows of these windows that are to be run over, the last one first if backward.
        number = minimum(sub(add(base, rows), begin) if backward else sub(end, base), rows)

        def step(state: Values) -> Values:
            (i,), values, kept = split_at(state, 1, primitive.num_carry)
            row = sub(rows - 1, i) if backward else i
            results = inline(primitive.jaxpr, *consts, *values, *[row_of(w, row) for w in windows])
            after, ys = split_at(results, primitive.num_carry)
            kept = with_rows(kept, sub(add(base, row), first), ys) if kept else []
            return [add(i, 1), *after, *kept]

        state = loop(lambda state: lt(state[0], number), step, [INT64.type(0), *state])[1:]
        return [add(done, rows), *state]

    def goes_on(state: Values) -> Value:
        return gt(sub(count, state[0]), begin) if backward else lt(state[0], end)

    return loop(goes_on, turn, [INT64.type(0), *carry, *empty_windows(y_avals, rows)])[1:]


# -- snapshots ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Snapshots:
    """What a loop carried before every `stride`-th step, as long as there are so many steps."""

    stride: Value
    carry: Sequence[Value]
    """The values, stacked."""

    def before(self, step: Value) -> Values:
        """The last snapshot not after a step, which must be below the count: its step, its carry.
        That of the first step if `step` is negative."""
        number = floor_divide(maximum(step, INT64.type(0)), self.stride)
        return [mul(number, self.stride), *[row_of(values, number) for values in self.carry]]


def _with_snapshots(
    goes_on: Callable[[Values], Value],
    body: Callable[[Values], Values],
    carry: Sequence[Value],
    rows: int,
) -> tuple[Value, Values, Snapshots]:
    """The number of steps of a loop, its last carry, and snapshots: as many as there is room for.

    When there is no room left, every other one is dropped, and half as many are taken from then on.
    """
    number = len(carry)
    avals = [aval(value) for value in carry]
    half = SNAPSHOTS // 2

    def turn(state: Values) -> Values:
        (step, stride), values, stacks = split_at(state, 2, number)
        place = floor_divide(step, stride)
        is_full = ge(place, SNAPSHOTS)
        stacks = [select_n(is_full, stack, _every_other(stack)) for stack in stacks]
        stride = select_n(is_full, stride, mul(stride, 2))
        place = select_n(is_full, place, INT64.type(half))
        is_due = eq(mul(place, stride), step)
        updated = with_rows(stacks, place, values)
        stacks = [select_n(is_due, *both) for both in zip(stacks, updated, strict=True)]
        end = add(step, rows)
        step, *values = loop(
            lambda state: bitwise_and(goes_on(state[1:]), lt(state[0], end)),
            lambda state: [add(state[0], 1), *body(state[1:])],
            [step, *values],
        )
        return [step, stride, *values, *stacks]

    start = [INT64.type(0), INT64.type(rows), *carry, *empty_windows(avals, SNAPSHOTS)]
    results = loop(lambda state: goes_on(state[2 : 2 + number]), turn, start)
    (count, stride), last, stacks = split_at(results, 2, number)
    return count, last, Snapshots(stride, stacks)


def _every_other(stack: Value) -> Value:
    """Rows 0, 2, 4, ... in the first half, and again in the second."""
    shape = aval(stack).shape
    starts, steps = (0,) * len(shape), (2, *[1] * (len(shape) - 1))
    kept = bind(layout.Slice(starts, shape, steps), stack)
    return joining.concatenate([kept, kept], 0)
