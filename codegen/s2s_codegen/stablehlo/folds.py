"""Sums over the histories of a loop, running ones too, and rows of them.

z = reduce_sum[axes=(0,)] ys       a loop over the windows of ys, which adds up their sums
z = cumsum[axis=0] ys              a scan over ys, whose carry is the sum so far
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from s2s.control.bodies import explicit_consts
from s2s.control.scan import Scan
from s2s.control.while_loop import While
from s2s.ir.dtypes import INT64, DType, highest, lowest
from s2s.ir.jaxpr import ShapedArray
from s2s.primitive import Primitive, Value
from s2s.primitives import core, joining, layout, reductions
from s2s.primitives.arithmetic import add, max as maximum, min as minimum, mul
from s2s.primitives.contractions import DotGeneral
from s2s.primitives.core import convert_element_type, full
from s2s.primitives.cumulative import CumMax, CumMin, CumProd, CumSum, Cumulative
from s2s.primitives.indexing import ScatterAdd
from s2s.primitives.logic import bitwise_and, bitwise_or, ge, lt, select_n
from s2s.trace import aval, bind, make
from s2s_codegen.stablehlo.text import missing
from s2s_codegen.stablehlo.windows import (
    History,
    Place,
    along_rows,
    histories_among,
    row_numbers,
)

Values: TypeAlias = "list[Value]"


def loop(
    goes_on: Callable[[Values], Value],
    body: Callable[[Values], Values],
    carry: Sequence[Value],
) -> Values:
    """`carry = body(carry)` while `goes_on(carry)`."""
    avals = [ShapedArray(a.shape, a.dtype) for a in map(aval, carry)]
    condition, cond_consts = explicit_consts(make(lambda *xs: [goes_on(list(xs))], avals))
    step, consts = explicit_consts(make(lambda *xs: body(list(xs)), avals))
    made = While(step, len(consts), condition, len(cond_consts))
    return bind(made, *cond_consts, *consts, *carry)


_FOLDS: dict[type[Primitive], tuple[Callable[[Value, Value], Value], Callable[[DType], Any]]] = {
    core.ReduceSum: (add, lambda _: 0),
    DotGeneral: (add, lambda _: 0),
    reductions.ReduceProd: (mul, lambda _: 1),
    reductions.ReduceMax: (maximum, lowest),
    reductions.ReduceMin: (minimum, highest),
    reductions.ReduceAnd: (bitwise_and, lambda _: True),
    reductions.ReduceOr: (bitwise_or, lambda _: False),
}
"""What joins the results of two windows, and the element that changes nothing."""


_RUNNING: dict[type[Cumulative], type[Primitive]] = {
    CumSum: core.ReduceSum,
    CumProd: reductions.ReduceProd,
    CumMax: reductions.ReduceMax,
    CumMin: reductions.ReduceMin,
}


def running(primitive: Cumulative, result: ShapedArray) -> tuple[Scan, Value]:
    """A running reduction of rows as a scan over them, and what it starts with."""
    join, neutral = _FOLDS[_RUNNING[type(primitive)]]
    row = ShapedArray(result.shape[1:], result.dtype)

    def step(total: Value, row: Value) -> list[Value]:
        total = join(total, convert_element_type(row, result.dtype))
        return [total, total]

    made = make(step, [row, row])
    start = full(row.shape, neutral(row.dtype), row.dtype)
    return Scan(made, result.shape[0], 1, 0, primitive.reverse), start


def folded(primitive: Primitive, operands: Sequence[Any], result: ShapedArray) -> Value | None:
    """What a primitive makes of all rows of histories, window by window; None if it does not."""
    if isinstance(primitive, ScatterAdd):
        return _added_at(primitive, operands)
    found = _FOLDS.get(type(primitive))
    histories = histories_among(operands)
    if found is None or not _is_over_rows(primitive, operands):
        return None
    join, neutral = found
    rows, size = histories[0].steps.rows, histories[0].size
    if any(other.size is not size for other in histories if other.extra != histories[0].extra):
        return None

    def turn(state: Values) -> Values:
        done, total = state
        place = Place(done)
        is_row = lt(row_numbers(place, rows), size)
        windows = [o.window(place) if isinstance(o, History) else o for o in operands]
        # Of the factors of a product, one that is zero is not enough where the other is nan.
        for number, operand in enumerate(operands):
            if isinstance(operand, History):
                window = windows[number]
                a = aval(window)
                nothing = full(a.shape, neutral(a.dtype), a.dtype)
                windows[number] = select_n(along_rows(is_row, window), nothing, window)
        return [add(done, rows), join(total, bind(primitive, *windows))]

    start = full(result.shape, neutral(result.dtype), result.dtype)
    return loop(lambda state: lt(state[0], size), turn, [INT64.type(0), start])[1]


def _added_at(primitive: ScatterAdd, operands: Sequence[Any]) -> Value | None:
    """An array to which rows of a history are added, each at an index that is another's row."""
    base, *indices, update = operands
    if isinstance(base, History) or 0 in primitive.dimension_numbers.update_window_dims:
        return None
    if len(histories_among(operands)) != len(operands) - 1:
        return None
    steps, size = update.steps, update.size

    def turn(state: Values) -> Values:
        done, total = state
        place = Place(done)
        window = update.window(place)
        is_row = along_rows(lt(row_numbers(place, steps.rows), size), window)
        nothing = full(aval(window).shape, 0, aval(window).dtype)
        rows = select_n(is_row, nothing, window)
        places = [index.window(place) for index in indices]
        return [add(done, steps.rows), bind(primitive, total, *places, rows)]

    return loop(lambda state: lt(state[0], size), turn, [INT64.type(0), base])[1]


def _is_over_rows(primitive: Primitive, operands: Sequence[Any]) -> bool:
    """Whether a result is of all rows: the first axis of each history is one that goes."""
    if isinstance(primitive, DotGeneral):
        summed, _ = primitive.dimension_numbers
        pairs = zip(operands, summed, strict=True)
        return all(isinstance(x, History) and 0 in axes for x, axes in pairs) and (
            summed[0].index(0) == summed[1].index(0)
        )
    return isinstance(primitive, core.AxesReduction) and 0 in primitive.axes


def rows_at(history: History, place: Place, primitive: layout.Slice, number: int) -> Value:
    """So many rows of a history from a place on; of the other axes what the slice takes. NumPy
    raises IndexError for a row that there is not, which compiled code cannot: it gives NaN."""
    parts: Values = []
    for first in range(0, number, history.steps.rows):
        window = history.window(place.moved(first))
        height = min(history.steps.rows, number - first)
        part = layout.Slice(
            (0, *primitive.start_indices[1:]),
            (height, *primitive.limit_indices[1:]),
            primitive.strides,
        )
        rows = bind(part, window)
        found, numbers = aval(rows), row_numbers(place.moved(first), height)
        is_row = bitwise_and(ge(numbers, INT64.type(0)), lt(numbers, history.size))
        absent = full(found.shape, missing(found), found.dtype)
        parts.append(select_n(along_rows(is_row, rows), absent, rows))
    return joining.concatenate(parts, 0)
