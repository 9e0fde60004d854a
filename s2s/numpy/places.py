"""NumPy's functions about where values are true, or of places: nonzero, argwhere, extract, ix_."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s.ir.dims import same_size
from s2s.numpy.arguments import as_axis
from s2s.numpy.indexing import take
from s2s.numpy.joining import stack
from s2s.numpy.masks import places
from s2s.numpy.promotion import array_operand, aval_of_operand, shape_of
from s2s.numpy.reductions import as_truth
from s2s.numpy.registry import counterpart, mistake
from s2s.numpy.shaping import ravel, with_axes
from s2s.primitive import Value


def _mask(value: Any, function: str) -> Value:
    truth = as_truth(array_operand(value, function))
    if not shape_of(truth):
        raise mistake(f"{function} of a value that has no axes")
    return truth


@counterpart(np.nonzero)
def nonzero(a: Any) -> tuple[Value, ...]:
    """The indices of the elements that differ from zero, an array for each axis."""
    return tuple(places(_mask(a, "np.nonzero")))


@counterpart(np.flatnonzero)
def flatnonzero(a: Any) -> Value:
    """The indices of the elements that differ from zero, counted through all axes."""
    return places(ravel(_mask(a, "np.flatnonzero")))[0]


@counterpart(np.argwhere)
def argwhere(a: Any) -> Value:
    """A row of indices for each element that differs from zero."""
    return stack(places(_mask(a, "np.argwhere")), axis=1)


@counterpart(np.ix_)
def ix_(*args: Any) -> tuple[Value, ...]:
    """Indices of one axis each, as an index of all of their combinations."""
    found: list[Value] = []
    for axis, arg in enumerate(args):
        indices = array_operand(arg, "np.ix_")
        if len(shape_of(indices)) != 1:
            raise mistake("np.ix_ takes vectors of indices, one for each axis")
        if aval_of_operand(indices).dtype.kind == "b":
            (indices,) = places(indices)
        others = [place for place in range(len(args)) if place != axis]
        found.append(with_axes(indices, others))
    return tuple(found)


@counterpart(np.extract)
def extract(condition: Any, arr: Any) -> Value:
    """The elements of `arr`, counted through all axes, where the condition holds."""
    return take(arr, flatnonzero(condition))


@counterpart(np.compress)
def compress(condition: Any, a: Any, axis: Any = None) -> Value:
    """The parts of an array along an axis for which the condition holds."""
    value = array_operand(a, "np.compress")
    if axis is None:
        value, axis = ravel(value), 0
    mask = _mask(condition, "np.compress")
    place = as_axis(axis, len(shape_of(value)), "np.compress")
    if len(shape_of(mask)) != 1 or not same_size(shape_of(mask)[0], shape_of(value)[place]):
        raise mistake("np.compress takes a condition as long as the axis")
    return take(value, places(mask)[0], place)
