"""Arrays with elements taken out or put in at places that are known."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s.ir.dims import Dim, Size, product
from s2s.numpy.arguments import as_axis, as_shape, as_size, static
from s2s.numpy.broadcasting import stretched
from s2s.numpy.indexing import take
from s2s.numpy.joining import concatenate
from s2s.numpy.promotion import array_operand, aval_of_operand, convert, shape_of
from s2s.numpy.registry import counterpart, mistake
from s2s.numpy.shaping import moveaxis, ravel, reshape, with_axes
from s2s.numpy.slicing import sliced
from s2s.primitive import Value


def _along(arr: Any, axis: Any, function: str) -> tuple[Value, int]:
    value = array_operand(arr, function)
    if axis is None:
        return ravel(value), 0
    return value, as_axis(axis, len(shape_of(value)), function)


def _place(obj: Any, size: Size, function: str, last: int) -> Size:
    """One place along an axis, counted from its front; the `last` one allowed is size + last."""
    place = as_size(static(obj, f"the place of {function}"), f"the place of {function}")
    if place < 0:
        place = size + place
    if place < 0 or place > size + last:
        raise mistake(f"{function}: there is no place {obj} along an axis of size {size}")
    return place


@counterpart(np.delete)
def delete(arr: Any, obj: Any, axis: Any = None) -> Value:
    """The array without what is at the given places of an axis."""
    value, place = _along(arr, axis, "np.delete")
    size = shape_of(value)[place]
    if isinstance(obj, (int, np.integer, Dim)):
        at = _place(obj, size, "np.delete", -1)
        parts = [sliced(value, place, None, at), sliced(value, place, at + 1, None)]
        return concatenate([part for part in parts if shape_of(part)[place] != 0], place)
    if isinstance(size, Dim):
        raise mistake(
            "np.delete of several places of an axis of a named size; give its size as a number, or "
            "delete one after the other"
        )
    gone = np.zeros(size, bool)
    gone[obj if isinstance(obj, slice) else static(obj, "the places of np.delete")] = True
    return take(value, np.flatnonzero(~gone), place)


@counterpart(np.insert)
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Value:
    """The array with values put in before one place of an axis."""
    value, place = _along(arr, axis, "np.insert")
    size = shape_of(value)[place]
    if not isinstance(obj, (int, np.integer, Dim)):
        raise mistake(
            "np.insert at several places is not supported; insert at one after the other, or use "
            "np.concatenate"
        )
    at = _place(obj, size, "np.insert", 0)
    added = convert(array_operand(values, "np.insert"), aval_of_operand(value).dtype)
    shape = list(shape_of(value))
    added = with_axes(added, range(len(shape) - len(shape_of(added))))
    added = moveaxis(added, 0, place)
    shape[place] = shape_of(added)[place]
    added = stretched(added, tuple(shape))
    parts = [sliced(value, place, None, at), added, sliced(value, place, at, None)]
    return concatenate([part for part in parts if shape_of(part)[place] != 0], place)


@counterpart(np.resize)
def resize(a: Any, new_shape: Any) -> Value:
    """The elements in row-major order, from the beginning again as often as the shape needs."""
    value = ravel(array_operand(a, "np.resize"))
    shape = as_shape(new_shape, "a size of np.resize")
    wanted, (size,) = product(shape), shape_of(value)
    if not isinstance(wanted, int) or not isinstance(size, int) or not size:
        raise mistake("np.resize needs sizes that are numbers")
    repeated = concatenate([value] * -(-wanted // size)) if wanted else value
    return reshape(sliced(repeated, 0, None, wanted), shape)
