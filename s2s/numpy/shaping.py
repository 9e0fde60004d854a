"""Shapes and axes: reshape, transpose, squeeze, flip, roll and the like. No element changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2s.ir.dims import (
    Shape,
    Size,
    floor_divide,
    product,
    require_at_least,
    require_same,
    same_size,
)
from s2s.ir.dtypes import INT64
from s2s.numpy.arguments import (
    as_axes,
    as_axis,
    as_number,
    as_sequence,
    as_shape,
    as_size,
    shape_text,
    static,
)
from s2s.numpy.arithmetic import remainder, subtract
from s2s.numpy.broadcasting import another
from s2s.numpy.promotion import array_operand, shape_of
from s2s.numpy.registry import counterpart, mistake
from s2s.numpy.slicing import sliced
from s2s.primitive import Value
from s2s.primitives import functions as lax
from s2s.trace import Tracer, known_value


def require_row_major(order: Any, function: str) -> None:
    """Refuse memory orders other than C's, or whichever it is."""
    if order not in ("C", "K", "A", None):
        raise mistake(f"{function} with order={order!r} is not supported; transpose first")


def _require_reading_by_rows(order: Any, function: str) -> None:
    """Refuse to read elements in another order, as that in memory, which is not known."""
    require_row_major(order, function)
    if order not in ("C", None):
        raise mistake(
            f"{function} with order={order!r} is not supported: the order in memory is not known"
        )


@counterpart(np.reshape)
def reshape(a: Any, shape: Any, order: str = "C") -> Value:
    """The elements in row-major order as an array of another shape; one size may be -1."""
    _require_reading_by_rows(order, "np.reshape")
    value = array_operand(a, "np.reshape")
    old = shape_of(value)
    new = _complete(old, as_shape(shape, "a size of np.reshape"))
    return another(lax.reshape(value, new), value)


def _complete(old: Shape, new: Shape) -> Shape:
    """A new shape with its size -1 worked out."""
    given = new
    unknown = [axis for axis, size in enumerate(new) if same_size(size, -1)]
    known = product([size for axis, size in enumerate(new) if axis not in unknown])
    total = product(old)
    fits = len(unknown) <= 1
    if fits and unknown:
        inferred = 0 if same_size(known, 0) else floor_divide(total, known)
        new = (*new[: unknown[0]], inferred, *new[unknown[0] + 1 :])
        fits = not same_size(known, 0) and require_same(inferred * known, total)
    elif fits:
        fits = require_same(known, total)
    if not fits:
        raise mistake(
            f"np.reshape: an array of shape {shape_text(old)} cannot be reshaped to "
            f"{shape_text(given)}"
        )
    return new


@counterpart(np.ravel)
def ravel(a: Any, order: str = "C") -> Value:
    """The elements in row-major order along one axis."""
    _require_reading_by_rows(order, "np.ravel")
    value = array_operand(a, "np.ravel")
    return another(lax.reshape(value, (product(shape_of(value)),)), value)


def at_least_vector(value: Value, axis: Any) -> tuple[Value, Any]:
    """What a function along an axis works on: the elements in row-major order without an axis,
    and a number as a vector, which NumPy accepts for the axes 0 and -1."""
    if axis is None or (not shape_of(value) and type(axis) is int and axis in (0, -1)):
        return ravel(value), 0
    return value, axis


@counterpart(np.transpose)
def transpose(a: Any, axes: Any = None) -> Value:
    """The axes in the given order, or reversed."""
    value = array_operand(a, "np.transpose")
    ndim = len(shape_of(value))
    order = tuple(reversed(range(ndim))) if axes is None else as_axes(axes, ndim, "np.transpose")
    if len(order) != ndim:
        raise mistake(f"np.transpose: {len(order)} axes for an array of dimension {ndim}")
    return another(lax.transpose(value, order), value)


@counterpart(np.matrix_transpose, np.linalg.matrix_transpose)
def matrix_transpose(x: Any) -> Value:
    """The last two axes exchanged."""
    value = array_operand(x, "np.matrix_transpose")
    if len(shape_of(value)) < 2:
        raise mistake("np.matrix_transpose needs an array of at least two dimensions")
    return swapaxes(value, -1, -2)


@counterpart(np.swapaxes)
def swapaxes(a: Any, axis1: Any, axis2: Any) -> Value:
    """Two axes exchanged."""
    value = array_operand(a, "np.swapaxes")
    order = list(range(len(shape_of(value))))
    first, second = (as_axis(axis, len(order), "np.swapaxes") for axis in (axis1, axis2))
    order[first], order[second] = order[second], order[first]
    return another(lax.transpose(value, order), value)


@counterpart(np.moveaxis)
def moveaxis(a: Any, source: Any, destination: Any) -> Value:
    """Axes moved to other places, the rest in their order."""
    value = array_operand(a, "np.moveaxis")
    ndim = len(shape_of(value))
    sources = as_axes(source, ndim, "np.moveaxis")
    destinations = as_axes(destination, ndim, "np.moveaxis")
    if len(sources) != len(destinations):
        raise mistake("np.moveaxis: source and destination differ in length")
    order = [axis for axis in range(ndim) if axis not in sources]
    for place, axis in sorted(zip(destinations, sources, strict=True)):
        order.insert(place, axis)
    return another(lax.transpose(value, order), value)


@counterpart(np.rollaxis)
def rollaxis(a: Any, axis: Any, start: Any = 0) -> Value:
    """One axis moved to before the place `start`."""
    value = array_operand(a, "np.rollaxis")
    ndim = len(shape_of(value))
    source = as_axis(axis, ndim, "np.rollaxis")
    place = as_number(start, "the start of np.rollaxis")
    if not -ndim <= place <= ndim:
        raise mistake(f"np.rollaxis: start {place} is out of bounds for dimension {ndim}")
    place += ndim if place < 0 else 0
    return moveaxis(value, source, place - 1 if source < place else place)


@counterpart(np.expand_dims)
def expand_dims(a: Any, axis: Any) -> Value:
    """New axes of size 1 at the given places of the result."""
    value = array_operand(a, "np.expand_dims")
    shape = shape_of(value)
    places = as_sequence(axis)
    new = as_axes(tuple(places), len(shape) + len(places), "np.expand_dims")
    return with_axes(value, new)


def with_axes(value: Value, places: Sequence[int]) -> Value:
    """New axes of size 1 at the given places (counted from the front) of the result."""
    return lax.expand_dims(value, tuple(places)) if places else value


@counterpart(np.squeeze)
def squeeze(a: Any, axis: Any = None) -> Value:
    """Without the axes of size 1, or without the given ones, which must have size 1."""
    value = array_operand(a, "np.squeeze")
    shape = shape_of(value)
    if axis is None:
        axes = tuple(place for place, size in enumerate(shape) if same_size(size, 1))
    else:
        axes = as_axes(axis, len(shape), "np.squeeze")
        for place in axes:
            if not require_same(shape[place], 1):
                raise mistake(f"np.squeeze: axis {place} has size {shape[place]}, which is not 1")
    return another(lax.squeeze(value, axes) if axes else value, value)


def _at_least(a: Any, ndim: int, function: str) -> Value:
    value = array_operand(a, function)
    rank = len(shape_of(value))
    if rank >= ndim:
        return value
    if ndim == 3:
        return with_axes(value, ((0, 1, 2), (0, 2), (2,))[rank])
    return with_axes(value, tuple(range(ndim - rank)))


def _each_at_least(arys: tuple[Any, ...], ndim: int, function: str) -> Any:
    results = tuple(_at_least(a, ndim, function) for a in arys)
    return results[0] if len(results) == 1 else results


@counterpart(np.atleast_1d)
def atleast_1d(*arys: Any) -> Any:
    """The arrays, scalars as arrays of one element."""
    return _each_at_least(arys, 1, "np.atleast_1d")


@counterpart(np.atleast_2d)
def atleast_2d(*arys: Any) -> Any:
    """The arrays with new leading axes where they have fewer than two."""
    return _each_at_least(arys, 2, "np.atleast_2d")


@counterpart(np.atleast_3d)
def atleast_3d(*arys: Any) -> Any:
    """The arrays with new axes where they have fewer than three."""
    return _each_at_least(arys, 3, "np.atleast_3d")


# -- reversed, rotated and rolled ------------------------------------------------------------------


@counterpart(np.flip)
def flip(m: Any, axis: Any = None) -> Value:
    """The elements in reverse order along the given axes, or along all."""
    value = array_operand(m, "np.flip")
    axes = as_axes(axis, len(shape_of(value)), "np.flip")
    return another(lax.rev(value, tuple(sorted(axes))) if axes else value, value)


@counterpart(np.fliplr)
def fliplr(m: Any) -> Value:
    """The elements in reverse order along axis 1."""
    return flip(m, 1)


@counterpart(np.flipud)
def flipud(m: Any) -> Value:
    """The elements in reverse order along axis 0."""
    return flip(m, 0)


@counterpart(np.rot90)
def rot90(m: Any, k: Any = 1, axes: Any = (0, 1)) -> Value:
    """Rotated by `k` quarter turns in the plane of two axes, from the first towards the second."""
    value = array_operand(m, "np.rot90")
    first, second = as_axes(tuple(axes), len(shape_of(value)), "np.rot90")
    turns = as_number(k, "the number of turns of np.rot90") % 4
    if turns == 0:
        return another(value, value)
    if turns == 2:
        return flip(value, (first, second))
    if turns == 1:
        return swapaxes(flip(value, second), first, second)
    return flip(swapaxes(value, first, second), second)


@counterpart(np.roll)
def roll(a: Any, shift: Any, axis: Any = None) -> Value:
    """The elements moved by `shift` places along axes, those moved out coming in at the front."""
    value = array_operand(a, "np.roll")
    shape = shape_of(value)
    if isinstance(shift, Tracer) and known_value(shift) is None:
        return another(_rolled_by_value(value, shift, axis), value)
    shift = static(shift, "the shift of np.roll")
    if axis is None:
        flat = _rolled(ravel(value), as_size(shift, "the shift of np.roll"), 0)
        return another(lax.reshape(flat, shape), value)
    shifts = as_sequence(shift.tolist() if isinstance(shift, np.ndarray) else shift)
    given = as_sequence(axis)
    if len(shifts) == 1 or len(given) == 1:
        count = max(len(shifts), len(given))
        shifts, given = [*shifts] * (count // len(shifts)), [*given] * (count // len(given))
    if len(shifts) != len(given):
        raise mistake("np.roll: shift and axis differ in length")
    totals: dict[int, Size] = {}
    for one, places in zip(given, shifts, strict=True):
        place = as_axis(one, len(shape), "np.roll")
        totals[place] = totals.get(place, 0) + as_size(places, "the shift of np.roll")
    result = value
    for place, places in totals.items():
        result = _rolled(result, places, place)
    return another(result, value)


def _rolled_by_value(value: Value, shift: Tracer, axis: Any) -> Value:
    """Elements moved along one axis, or through all, by a number of places that is a value."""
    if shift.aval.shape or shift.aval.dtype.kind not in "iu":
        raise mistake(
            f"the shift of np.roll is a value of type {shift.aval}; a shift that depends on the "
            "values of the arguments must be one integer. Roll along one axis after the other"
        )
    shape = shape_of(value)
    flat, place = (
        (ravel(value), 0) if axis is None else (value, as_axis(axis, len(shape), "np.roll"))
    )
    size = shape_of(flat)[place]
    sources = remainder(subtract(lax.iota(INT64, (size,), 0), shift), size)
    return lax.reshape(lax.take_at(flat, (place,), [sources]), shape)


def _rolled(value: Value, shift: Size, axis: int) -> Value:
    size = shape_of(value)[axis]
    if isinstance(size, int) and isinstance(shift, int):
        shift %= size or 1
    else:
        # NumPy takes the shift modulo the size; here it must lie within it.
        places = abs(shift) if isinstance(shift, int) else shift
        require_at_least(size - places, 0, f"{size} >= {places}")
    if same_size(shift, 0):
        return value
    tail, head = sliced(value, axis, -shift, None), sliced(value, axis, None, -shift)
    return lax.concatenate([tail, head], axis)
