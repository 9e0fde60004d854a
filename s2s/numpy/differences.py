"""Differences of neighbours, and what is made of them: gradients, integrals, phases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from s2s.ir.dims import require_at_least
from s2s.ir.dtypes import FLOAT64
from s2s.numpy.arguments import as_axes, as_axis, as_number, static
from s2s.numpy.arithmetic import (
    absolute,
    add,
    divide,
    multiply,
    negative,
    remainder,
    subtract,
)
from s2s.numpy.broadcasting import stretched
from s2s.numpy.joining import concatenate
from s2s.numpy.logical import equal, greater, less, logical_and, not_equal, where
from s2s.numpy.promotion import array_operand, aval_of_operand, convert, operand, shape_of
from s2s.numpy.reductions import cumsum, sum as total
from s2s.numpy.registry import NOT_GIVEN, counterpart, mistake
from s2s.numpy.shaping import ravel, with_axes
from s2s.numpy.slicing import sliced
from s2s.primitive import Value
from s2s.primitives import functions as lax
from s2s.primitives.identity import stop_gradient
from s2s.trace import named


@counterpart(np.diff)
def diff(a: Any, n: Any = 1, axis: Any = -1, prepend: Any = None, append: Any = None) -> Value:
    """The differences of neighbours along an axis, taken `n` times."""
    value = array_operand(a, "np.diff")
    times = as_number(n, "the number of differences of np.diff")
    if times < 0:
        raise mistake("np.diff: the number of differences is negative")
    if times == 0:
        return value
    rank = len(shape_of(value))
    place = as_axis(axis, rank, "np.diff")
    parts = [_end(prepend, value, place), value, _end(append, value, place)]
    parts = [part for part in parts if part is not None]
    if len(parts) > 1:
        value = concatenate(parts, place)
    difference = not_equal if aval_of_operand(value).dtype.kind == "b" else subtract
    for _ in range(times):
        value = difference(sliced(value, place, 1, None), sliced(value, place, None, -1))
    return value


def _end(item: Any, value: Value, axis: int) -> Value | None:
    """What np.diff puts before or behind an array; a number is repeated along the other axes."""
    if item is None or item is NOT_GIVEN:
        return None
    end = array_operand(item, "np.diff")
    if shape_of(end):
        return end
    shape = list(shape_of(value))
    shape[axis] = 1
    return stretched(end, tuple(shape))


@counterpart(np.ediff1d)
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Value:
    """The differences of neighbours in row-major order, between given ends."""
    value = ravel(ary)
    dtype = aval_of_operand(value).dtype
    parts = [subtract(sliced(value, 0, 1, None), sliced(value, 0, None, -1))]
    if to_begin is not None:
        parts.insert(0, convert(ravel(to_begin), dtype))
    if to_end is not None:
        parts.append(convert(ravel(to_end), dtype))
    return concatenate(parts) if len(parts) > 1 else parts[0]


@counterpart(np.trapezoid)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Value:
    """The integral along an axis by the trapezoidal rule."""
    value = array_operand(y, "np.trapezoid")
    rank = len(shape_of(value))
    place = as_axis(axis, rank, "np.trapezoid")
    if x is None:
        width = operand(dx, "np.trapezoid")
    else:
        points = array_operand(x, "np.trapezoid")
        if len(shape_of(points)) == 1:
            width = with_axes(diff(points), [other for other in range(rank) if other != place])
        else:
            width = diff(points, axis=place)
    heights = add(sliced(value, place, 1, None), sliced(value, place, None, -1))
    return total(divide(multiply(width, heights), 2.0), place)


@counterpart(np.gradient)
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> Any:
    """The slope along axes: central differences inside, one-sided ones of the first or second order
    at the ends.

    Points are evenly spaced, by the distances given, or have one coordinate each.
    """
    value = array_operand(f, "np.gradient")
    order = as_number(edge_order, "edge_order")
    if order not in (1, 2):
        raise mistake("np.gradient: edge_order is 1 or 2")
    if aval_of_operand(value).dtype.kind != "f":
        value = convert(value, FLOAT64)
    axes = as_axes(axis, len(shape_of(value)), "np.gradient")
    spacings: Sequence[Any] = varargs or (1.0,)
    if len(spacings) == 1:
        spacings = [*spacings] * len(axes)
    if len(spacings) != len(axes):
        raise mistake("np.gradient: give one distance, or one for each axis")
    slopes = [_slope(value, place, h, order) for place, h in zip(axes, spacings, strict=True)]
    return slopes[0] if len(slopes) == 1 else tuple(slopes)


def _slope(value: Value, axis: int, spacing: Any, order: int) -> Value:
    size = shape_of(value)[axis]
    if not require_at_least(size, order + 1, f"{size} >= {order + 1}"):
        raise mistake(f"np.gradient needs at least {order + 1} points along each axis")
    distance = _distance(operand(spacing, "np.gradient"))
    first = subtract(sliced(value, axis, 1, 2), sliced(value, axis, 0, 1))
    last = subtract(sliced(value, axis, -1, None), sliced(value, axis, -2, -1))
    if not shape_of(distance):
        inside = subtract(sliced(value, axis, 2, None), sliced(value, axis, None, -2))
        inside = divide(inside, multiply(2.0, distance))
        ends = divide(first, distance), divide(last, distance)
        if order == 2:
            factors = [divide(number, distance) for number in (-1.5, 2.0, -0.5)]
            front = _three(value, axis, (0, 1, 2), factors)
            factors = [divide(number, distance) for number in (0.5, -2.0, 1.5)]
            ends = front, _three(value, axis, (-3, -2, -1), factors)
    else:
        widths = _along(diff(_as_float(distance)), axis, len(shape_of(value)))
        before, after = sliced(widths, axis, None, -1), sliced(widths, axis, 1, None)
        both = add(before, after)
        a = divide(negative(after), multiply(before, both))
        b = divide(subtract(after, before), multiply(before, after))
        c = divide(before, multiply(after, both))
        left = multiply(a, sliced(value, axis, None, -2))
        middle = multiply(b, sliced(value, axis, 1, -1))
        inside = add(add(left, middle), multiply(c, sliced(value, axis, 2, None)))
        ends = (
            divide(first, sliced(widths, axis, 0, 1)),
            divide(last, sliced(widths, axis, -1, None)),
        )
        if order == 2:
            ends = _ends_of_second_order(value, axis, widths)
    dtype = aval_of_operand(value).dtype
    return lax.concatenate([convert(part, dtype) for part in (ends[0], inside, ends[1])], axis)


def _three(value: Value, axis: int, places: Sequence[int], factors: Sequence[Value]) -> Value:
    """The sum of three neighbours, each times a factor."""
    a, b, c = (
        multiply(factor, sliced(value, axis, place, place + 1 or None))
        for factor, place in zip(factors, places, strict=True)
    )
    return add(add(a, b), c)


def _ends_of_second_order(value: Value, axis: int, widths: Value) -> tuple[Value, Value]:
    """The slopes at the ends of parabolas through the three points there."""
    h, k = sliced(widths, axis, 0, 1), sliced(widths, axis, 1, 2)
    both = add(h, k)
    front = [
        divide(negative(add(multiply(2.0, h), k)), multiply(h, both)),
        divide(both, multiply(h, k)),
        divide(negative(h), multiply(k, both)),
    ]
    h, k = sliced(widths, axis, -2, -1), sliced(widths, axis, -1, None)
    both = add(h, k)
    back = [
        divide(k, multiply(h, both)),
        divide(negative(add(k, h)), multiply(h, k)),
        divide(add(multiply(2.0, k), h), multiply(k, both)),
    ]
    return _three(value, axis, (0, 1, 2), front), _three(value, axis, (-3, -2, -1), back)


def _distance(spacing: Value) -> Value:
    """Coordinates that are known, and evenly spaced, as their distance: so does NumPy."""
    if isinstance(spacing, np.ndarray) and spacing.ndim:
        steps: Value = np.diff(_as_float(cast(Value, spacing)))
        if (steps == steps[0]).all():
            return steps[0]
    return cast(Value, spacing)


def _as_float(value: Value) -> Value:
    return convert(value, FLOAT64) if aval_of_operand(value).dtype.kind in "iu" else value


def _along(vector: Value, axis: int, rank: int) -> Value:
    return with_axes(vector, [other for other in range(rank) if other != axis])


@counterpart(np.unwrap)
def unwrap(p: Any, discont: Any = None, axis: Any = -1, *, period: Any = 2 * np.pi) -> Value:
    """The values moved by multiples of the period, so that neighbours along an axis differ by half
    of it at most, or by less than `discont`."""
    value = _as_float(array_operand(p, "np.unwrap"))
    place = as_axis(axis, len(shape_of(value)), "np.unwrap")
    half = static(period, "the period of np.unwrap") / 2
    least = half if discont is None else discont
    steps = named(diff(value, axis=place), "steps")
    within = add(remainder(subtract(steps, -half), period), -half)
    at_end = logical_and(equal(within, -half), greater(steps, 0.0))
    within = named(where(at_end, half, within), "within")
    moved = where(less(absolute(steps), least), 0.0, subtract(within, steps))
    moved = named(cumsum(stop_gradient(moved), place), "turns")
    later = add(sliced(value, place, 1, None), moved)
    return lax.concatenate([sliced(value, place, None, 1), later], place)


@counterpart(np.select)
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Value:
    """The choice of the first condition that holds, element by element."""
    if len(condlist) != len(choicelist) or not condlist:
        raise mistake("np.select needs as many choices as conditions, and at least one")
    result = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        result = where(condition, choice, result)
    return result
