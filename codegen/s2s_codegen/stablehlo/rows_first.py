"""Histories whose rows are along another axis than the first, as ones with their rows along it.

Batches put the examples in front of the steps of a loop, as in `f64[8,steps_1]`, and users stack
columns. Windows of a history (`histories`) are of its first axis, so what is computed of one is
computed of the array that has the axis of the steps moved to the front.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from s2s.ir.check import check
from s2s.ir.dims import Size, names_of, product, same_size
from s2s.ir.jaxpr import ClosedJaxpr, JaxprEqn, ShapedArray
from s2s.passes.bound_dimensions import counts_of
from s2s.passes.dce import dce
from s2s.passes.names import hand_on_names
from s2s.primitive import Primitive, Value
from s2s.primitives import core, joining, layout
from s2s.primitives.arithmetic import mul
from s2s.primitives.contractions import DotGeneral
from s2s.primitives.conversion import ConvertElementType
from s2s.primitives.core import broadcast_in_dim, move_axis, reduce_sum, transpose
from s2s.primitives.creation import Iota
from s2s.primitives.cumulative import Cumulative
from s2s.primitives.families import Elementwise
from s2s.trace import aval, bind, copy_equation, make, walk

T = TypeVar("T")


def rows_first(closed: ClosedJaxpr) -> ClosedJaxpr:
    """(xs -> ys)  ->  (xs -> ys), with the steps of loops along the first axes

    before:  { lambda ; x:f64[8]. let n ys:f64[steps_1,8] = while[...] x;
                 zs:f64[8,steps_1] = transpose[permutation=(1, 0)] ys; s = reduce_sum[axes=(1,)] zs
               in (s,) }
    after:   { lambda ; x:f64[8]. let n ys:f64[steps_1,8] = while[...] x;
                 s = reduce_sum[axes=(0,)] ys in (s,) }
    """
    bound = counts_of(closed.eqns).keys()
    if not any(_rows(var.aval, bound) for eqn in closed.eqns for var in eqn.outvars):
        return closed

    def step(eqn: JaxprEqn, operands: Sequence[Any]) -> Sequence[Any]:
        results = _turned(eqn, operands, bound)
        if results is None:
            results = copy_equation(eqn, [_as_it_was(operand) for operand in operands])
        else:
            hand_on_names([_value(result) for result in results], eqn.outvars)
        return results

    made = make(
        lambda *xs: [_as_it_was(y) for y in walk(closed, xs, step)],
        closed.in_avals,
        [var.name for var in closed.jaxpr.invars],
    )
    result = dce(made)
    check(result.jaxpr)
    return result


@dataclass(frozen=True, eq=False)
class _Turned:
    """A value whose axis of a number stands in front of the others."""

    value: Value
    axis: int


def _value(operand: Any) -> Value:
    return operand.value if isinstance(operand, _Turned) else operand


def _as_it_was(operand: Any) -> Value:
    if isinstance(operand, _Turned):
        return move_axis(operand.value, 0, operand.axis)
    return operand


def _with_front(operand: Any, axis: int) -> Value:
    """The value with an axis in front; one of rank 0 as it is."""
    if isinstance(operand, _Turned) and operand.axis == axis:
        return operand.value
    value = _as_it_was(operand)
    return move_axis(value, axis, 0) if aval(value).ndim else value


def _rows(a: ShapedArray, bound: Any) -> int:
    """The axis that a loop gives its size."""
    return next((k for k, size in enumerate(a.shape) if names_of(size) & bound), 0)


def _front(items: Sequence[T], axis: int) -> tuple[T, ...]:
    """What is said of each axis, with that of one axis in front."""
    return (items[axis], *items[:axis], *items[axis + 1 :])


def _place(axis: int, front: int) -> int:
    """Where an axis is when another one has gone to the front."""
    return 0 if axis == front else axis + (axis < front)


def _places(axes: Sequence[int], front: int) -> tuple[int, ...]:
    return tuple(_place(axis, front) for axis in axes)


def _turned(eqn: JaxprEqn, operands: Sequence[Any], bound: Any) -> list[Any] | None:
    """The results, if they or the operands have their rows elsewhere; None if it is not known how
    to compute them so, or the equation can stay as it is."""
    given = [operand for operand in operands if isinstance(operand, _Turned)]
    if len(eqn.outvars) != 1:
        return None
    before = [_rows(atom.aval, bound) for atom in eqn.invars]
    after = eqn.outvars[0].aval
    if not given and not _rows(after, bound):
        return None
    rule = next((rule for kind, rule in _RULES.items() if isinstance(eqn.primitive, kind)), None)
    result = None if rule is None else rule(eqn.primitive, operands, before, _rows(after, bound))
    if result is None:
        return None
    value, axis = result
    has_rows = any(names_of(size) & bound for size in after.shape)
    return [_Turned(value, axis) if has_rows and axis else move_axis(value, 0, axis)]


Result = tuple[Value, int] | None
"""What is computed, and which axis of the true result stands in front."""


def _of_elements(primitive: Primitive, operands: Sequence[Any], _: Any, axis: int) -> Result:
    return bind(primitive, *[_with_front(operand, axis) for operand in operands]), axis


def _broadcast(primitive: Any, operands: Sequence[Any], _: Any, axis: int) -> Result:
    (x,), axes = operands, primitive.broadcast_dimensions
    if axis in axes:
        x = _with_front(x, axes.index(axis))
        axes = _front(axes, axes.index(axis))
    made = core.BroadcastInDim(_front(primitive.shape, axis), _places(axes, axis))
    return bind(made, _as_it_was(x)), axis


def _transpose(primitive: Any, operands: Sequence[Any], before: Sequence[int], axis: int) -> Result:
    (x,), (front,) = operands, before
    order = _places(_front(primitive.permutation, axis), front)
    return transpose(_with_front(x, front), order), axis


def _reshape(primitive: Any, operands: Sequence[Any], before: Sequence[int], axis: int) -> Result:
    (x,), (front,), shape = operands, before, primitive.new_sizes
    value = _with_front(x, front)
    inside = aval(value).shape[1:]
    are_kept = same_size(product(inside[:front]), product(shape[:axis])) and same_size(
        product(inside[front:]), product(shape[axis + 1 :])
    )
    return (core.reshape(value, _front(shape, axis)), axis) if are_kept else None


def _squeeze(primitive: Any, operands: Sequence[Any], before: Sequence[int], _: int) -> Result:
    (x,), (front,) = operands, before
    gone = sorted(_places(primitive.dimensions, front))
    left = front - sum(axis < front for axis in primitive.dimensions)
    return layout.squeeze(_with_front(x, front), gone), left


def _slice(primitive: Any, operands: Sequence[Any], before: Sequence[int], _: int) -> Result:
    (x,), (front,) = operands, before
    made = layout.Slice(
        _front(primitive.start_indices, front),
        _front(primitive.limit_indices, front),
        _front(primitive.steps(), front),
    )
    return bind(made, _with_front(x, front)), front


def _pad(primitive: Any, operands: Sequence[Any], _: Any, axis: int) -> Result:
    x, filler = operands
    made = layout.Pad(_front(primitive.padding_config, axis))
    return bind(made, _with_front(x, axis), filler), axis


def _reverse(primitive: Any, operands: Sequence[Any], _: Any, axis: int) -> Result:
    reversed_axes = sorted(_places(primitive.dimensions, axis))
    return layout.rev(_with_front(operands[0], axis), reversed_axes), axis


def _concatenate(primitive: Any, operands: Sequence[Any], _: Any, axis: int) -> Result:
    made = joining.Concatenate(_place(primitive.dimension, axis))
    return bind(made, *[_with_front(operand, axis) for operand in operands]), axis


def _stack(primitive: Any, operands: Sequence[Any], _: Any, axis: int) -> Result:
    if primitive.axis == axis:
        return None
    front = axis - (primitive.axis < axis)
    made = joining.Stack(_place(primitive.axis, axis))
    return bind(made, *[_with_front(operand, front) for operand in operands]), axis


def _reduce(primitive: Any, operands: Sequence[Any], before: Sequence[int], _: int) -> Result:
    (x,), (front,) = operands, before
    axes = sorted(_places(primitive.axes, front))
    left = 0 if front in primitive.axes else front - sum(axis < front for axis in primitive.axes)
    return bind(replace(primitive, axes=tuple(axes)), _with_front(x, front)), left


def _along(primitive: Any, operands: Sequence[Any], _: Any, axis: int) -> Result:
    made = replace(primitive, axis=_place(primitive.axis, axis))
    return bind(made, _with_front(operands[0], axis)), axis


def _iota(primitive: Any, operands: Sequence[Any], _: Any, axis: int) -> Result:
    shape = _front(primitive.shape, axis)
    return bind(Iota(primitive.dtype, shape, _place(primitive.dimension, axis))), axis


def _product(primitive: Any, operands: Sequence[Any], before: Sequence[int], axis: int) -> Result:
    (x_sum, y_sum), (x_batch, y_batch) = primitive.dimension_numbers
    x_front, y_front = before
    x, y = map(_with_front, operands, before)
    x_free, y_free = primitive.free(aval(x).ndim, aval(y).ndim)
    if x_front in x_sum and y_front in y_sum:
        summed = _places(x_sum, x_front), _places(y_sum, y_front)
        batch = _places(x_batch, x_front), _places(y_batch, y_front)
        return bind(DotGeneral((summed, batch)), x, y), 0
    if not x_batch:
        summed = _places(x_sum, x_front), _places(y_sum, y_front)
        if axis < len(x_free):
            return bind(DotGeneral((summed, ((), ()))), x, y), axis
        # The rows are those of the second factor, which becomes the first.
        swapped = bind(DotGeneral(((summed[1], summed[0]), ((), ()))), y, x)
        others, rank = len(y_free), len(x_free) + len(y_free)
        return transpose(swapped, [0, *range(others, rank), *range(1, others)]), axis
    # Each product is made by itself, along the axes of the result and, behind them, those summed.
    number = len(x_batch) + len(x_free) + len(y_free)
    batch, sums = range(len(x_batch)), range(number, number + len(x_sum))
    of_x = range(len(x_batch), len(x_batch) + len(x_free))
    of_y = range(number - len(y_free), number)
    x_places = dict(zip((*x_batch, *x_free, *x_sum), (*batch, *of_x, *sums), strict=True))
    y_places = dict(zip((*y_batch, *y_free, *y_sum), (*batch, *of_y, *sums), strict=True))
    sizes: dict[int, Size] = {}
    factors: list[tuple[Value, list[int]]] = []
    for value, front, places in ((x, x_front, x_places), (y, y_front, y_places)):
        moved = [_place(places[old], axis) for old in _front(range(aval(value).ndim), front)]
        sizes |= zip(moved, aval(value).shape, strict=True)
        order = sorted(range(len(moved)), key=moved.__getitem__)
        factors.append((transpose(value, order), sorted(moved)))
    shape = tuple(sizes[place] for place in range(len(sizes)))
    products = mul(*[broadcast_in_dim(value, shape, places) for value, places in factors])
    return reduce_sum(products, sums), axis


_RULES: dict[type[Primitive], Callable[[Any, Sequence[Any], Sequence[int], int], Result]] = {
    Elementwise: _of_elements,
    ConvertElementType: _of_elements,
    core.BroadcastInDim: _broadcast,
    core.Transpose: _transpose,
    core.Reshape: _reshape,
    layout.Squeeze: _squeeze,
    layout.Slice: _slice,
    layout.Pad: _pad,
    layout.Rev: _reverse,
    joining.Concatenate: _concatenate,
    joining.Stack: _stack,
    core.AxesReduction: _reduce,
    Cumulative: _along,
    Iota: _iota,
    DotGeneral: _product,
}
"""For primitives, what they compute of operands whose rows stand in front."""
