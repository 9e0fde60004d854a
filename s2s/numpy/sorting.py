"""NumPy's functions that sort, or find places and numbers in what is sorted."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s.ir.dims import product
from s2s.numpy.arguments import as_axes, as_axis, as_number, as_sequence, static
from s2s.numpy.promotion import array_operand, aval_of_operand, convert, promoted, shape_of
from s2s.numpy.reductions import with_kept_axes
from s2s.numpy.registry import counterpart, mistake
from s2s.numpy.shaping import at_least_vector, moveaxis, ravel
from s2s.primitive import Value
from s2s.primitives import functions as lax
from s2s.trace import known_value


def _sortable(a: Any, axis: Any, function: str) -> tuple[Value, int]:
    """An array and the axis to sort along; with None, its elements in row-major order."""
    value, axis = at_least_vector(array_operand(a, function), axis)
    if aval_of_operand(value).dtype.kind == "c":
        raise mistake(f"{function} of complex numbers is not supported")
    return value, as_axis(axis, len(shape_of(value)), function)


def _is_stable(kind: Any, stable: Any, order: Any, function: str) -> bool:
    if order is not None:
        raise mistake(f"{function} with the argument `order` is not supported")
    if kind not in (None, "quicksort", "stable", "mergesort"):
        raise mistake(f'{function} with kind={kind!r} is not supported; use "stable"')
    return bool(stable) or kind in ("stable", "mergesort")


@counterpart(np.sort)
def sort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Value:
    """A new array of the elements in order along an axis."""
    value, place = _sortable(a, axis, "np.sort")
    return lax.sort(value, place, _is_stable(kind, stable, order, "np.sort"))


@counterpart(np.argsort)
def argsort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Value:
    """The indices of the elements in order along an axis."""
    value, place = _sortable(a, axis, "np.argsort")
    return lax.argsort(value, place, _is_stable(kind, stable, order, "np.argsort"))


@counterpart(np.lexsort)
def lexsort(keys: Any, axis: Any = -1) -> Value:
    """The indices that put several keys in order, the last of which matters most."""
    values = [array_operand(key, "np.lexsort") for key in keys]
    if not values or not shape_of(values[0]):
        raise mistake("np.lexsort needs a sequence of arrays")
    place = as_axis(axis, len(shape_of(values[0])), "np.lexsort")
    return lax.lexsort(list(reversed(values)), place)


def _indices(kth: Any, size: Any, function: str) -> tuple[int, ...]:
    """The indices that np.partition is given, counted from the front where the size is known."""
    found: list[int] = []
    for item in as_sequence(kth):
        index = as_number(item, f"an index of {function}")
        if isinstance(size, int):
            if not -size <= index < size:
                raise mistake(f"{function}: index {index} is out of bounds for {size} elements")
            index %= size
        found.append(index)
    return tuple(found)


@counterpart(np.partition)
def partition(a: Any, kth: Any, axis: Any = -1) -> Value:
    """A new array in which the elements of some indices are where sorting would put them."""
    value, place = _sortable(a, axis, "np.partition")
    return lax.partition(value, _indices(kth, shape_of(value)[place], "np.partition"), place)


@counterpart(np.argpartition)
def argpartition(a: Any, kth: Any, axis: Any = -1) -> Value:
    """The indices of the elements as np.partition puts them."""
    value, place = _sortable(a, axis, "np.argpartition")
    return lax.argpartition(value, _indices(kth, shape_of(value)[place], "np.argpartition"), place)


# -- places ---------------------------------------------------------------------------------------


@counterpart(np.searchsorted)
def searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Value:
    """The indices at which elements would be put into a vector that is in order."""
    x, y = array_operand(a, "np.searchsorted"), array_operand(v, "np.searchsorted")
    if len(shape_of(x)) != 1:
        raise mistake("np.searchsorted needs a vector to search in")
    if side not in ("left", "right"):
        raise mistake(f"np.searchsorted with side={side!r}; it is 'left' or 'right'")
    dtype = promoted(x, y)
    x, y = convert(x, dtype), convert(y, dtype)
    if sorter is not None:
        x = lax.take_at(x, (0,), [array_operand(sorter, "np.searchsorted")])
    return lax.searchsorted(x, y, side)


@counterpart(np.digitize)
def digitize(x: Any, bins: Any, right: Any = False) -> Value:
    """The number of the bin that each element is in, for limits that are known and in order."""
    limits = known_value(array_operand(bins, "np.digitize"))
    if limits is None:
        raise mistake(
            "np.digitize must know whether the limits go up or down; if they go up, use "
            'np.searchsorted(bins, x, side="right"), or side="left" for right=True'
        )
    steps = np.diff(limits)
    side = "left" if right else "right"
    if np.all(steps >= 0):
        return searchsorted(limits, x, side)
    if not np.all(steps <= 0):
        raise mistake("np.digitize: the limits of the bins are not in order")
    other = "right" if right else "left"
    return lax.sub(len(limits), searchsorted(limits[::-1].copy(), x, other))


# -- numbers in the middle ------------------------------------------------------------------------


def _together(a: Any, axis: Any, function: str) -> tuple[Value, int, tuple[int, ...]]:
    """An array with the axes that are searched as one, that axis, and which ones they were."""
    value = array_operand(a, function)
    shape = shape_of(value)
    if aval_of_operand(value).dtype.kind not in "iuf":
        raise mistake(f"{function} of {aval_of_operand(value).dtype.name} is not supported")
    if axis is None:
        return ravel(value), 0, tuple(range(len(shape)))
    axes = as_axes(axis, len(shape), function)
    if len(axes) == 1:
        return value, axes[0], axes
    kept = [place for place in range(len(shape)) if place not in axes]
    moved = moveaxis(value, axes, tuple(range(len(kept), len(shape))))
    size = product([shape[place] for place in axes])
    return lax.reshape(moved, (*[shape[p] for p in kept], size)), len(kept), axes


@counterpart(np.median)
def median(a: Any, axis: Any = None, *, keepdims: Any = False) -> Value:
    """The element in the middle, or the mean of the two that are, over axes."""
    value, place, axes = _together(a, axis, "np.median")
    return with_kept_axes(lax.median(value, place), axes, keepdims)


def _quantile(a: Any, q: Any, axis: Any, method: Any, keepdims: Any, function: str) -> Value:
    if method != "linear":
        raise mistake(f"{function} with method={method!r} is not supported")
    value, place, axes = _together(a, axis, function)
    if np.ndim(q) > 1:
        raise mistake(f"{function} of a matrix of numbers is not supported")
    if not np.all((q >= 0) & (q <= 1)):
        raise mistake(f"{function}: the numbers lie between 0 and 1, percentages between 0 and 100")
    known = tuple(map(float, q)) if np.ndim(q) else float(q)
    result = lax.quantile(value, known, place)
    if keepdims and isinstance(known, tuple):
        return with_kept_axes(result, tuple(axis + 1 for axis in axes), keepdims)
    return with_kept_axes(result, axes, keepdims)


@counterpart(np.quantile)
def quantile(
    a: Any, q: Any, axis: Any = None, *, method: Any = "linear", keepdims: Any = False
) -> Value:
    """Numbers below which given parts of the elements are, over axes."""
    known = np.asarray(static(q, "the second argument of np.quantile"), np.float64)
    return _quantile(a, known, axis, method, keepdims, "np.quantile")


@counterpart(np.percentile)
def percentile(
    a: Any, q: Any, axis: Any = None, *, method: Any = "linear", keepdims: Any = False
) -> Value:
    """Numbers below which given percentages of the elements are, over axes."""
    known = np.asarray(static(q, "the second argument of np.percentile"), np.float64)
    return _quantile(a, known / 100, axis, method, keepdims, "np.percentile")
