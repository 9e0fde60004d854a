"""The methods of ufuncs: np.add.reduce, np.add.accumulate, np.multiply.outer and the like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from s2s.numpy import reductions
from s2s.numpy.arguments import as_axis
from s2s.numpy.indexing import getitem
from s2s.numpy.promotion import array_operand, aval_of_operand, convert, shape_of
from s2s.numpy.reductions import require_elements
from s2s.numpy.registry import COUNTERPARTS, Counterpart, mistake
from s2s.numpy.shaping import moveaxis, with_axes
from s2s.numpy.ufuncs import TracedUfunc
from s2s.numpy.writing import loop_over
from s2s.primitive import Value


def _reduce(function: Callable[..., Value]) -> Callable[..., Value]:
    def reduce(
        array: Any,
        axis: Any = 0,
        dtype: Any = None,
        *,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = True,
    ) -> Value:
        given = {} if dtype is None else {"dtype": dtype}
        if reductions.is_given(initial):
            given["initial"] = initial
        if where is not True:
            given["where"] = where
        return function(array, axis, keepdims=keepdims, **given)

    return reduce


def _reduce_in_turn(function: TracedUfunc) -> Callable[..., Value]:
    """The reduction by a function of two values, which is called for one row after the other."""

    def reduce(array: Any, axis: Any = 0, *, keepdims: Any = False) -> Value:
        name = f"np.{function.numpy.__name__}.reduce"
        value = array_operand(array, name)
        rank = len(shape_of(value))
        if axis is None and rank != 1:
            raise mistake(f"{name} over several axes: the order is not defined; give one axis")
        place = 0 if axis is None else as_axis(axis, rank, name)
        require_elements(value, (place,), name)
        rows = moveaxis(value, place, 0)
        first, others = getitem(rows, 0), getitem(rows, slice(1, None))
        dtype = aval_of_operand(function(first, first)).dtype

        def step(result: Value, row: Any) -> Value:
            return function(result, row[0])

        total = loop_over[0](step, convert(first, dtype), (others,))
        return with_axes(total, (place,)) if keepdims else total

    return reduce


def _accumulate(function: Callable[..., Value]) -> Callable[..., Value]:
    def accumulate(array: Any, axis: Any = 0, dtype: Any = None) -> Value:
        return function(array, axis, dtype)

    return accumulate


def _outer(function: TracedUfunc) -> Callable[..., Value]:
    def outer(A: Any, B: Any, /) -> Value:
        x, y = array_operand(A), array_operand(B)
        rank = len(shape_of(x))
        return function(with_axes(x, range(rank, rank + len(shape_of(y)))), y)

    return outer


_REDUCTIONS: dict[np.ufunc, Callable[..., Value]] = {
    np.add: reductions.sum,
    np.multiply: reductions.prod,
    np.maximum: reductions.max,
    np.minimum: reductions.min,
    np.logical_and: reductions.all,
    np.logical_or: reductions.any,
}

_ACCUMULATIONS: dict[np.ufunc, Callable[..., Value]] = {
    np.add: reductions.cumsum,
    np.multiply: reductions.cumprod,
    np.maximum: reductions.cummax,
    np.minimum: reductions.cummin,
}
_IN_TURN = (np.logaddexp, np.logaddexp2, np.hypot, np.fmax, np.fmin, np.subtract, np.divide)

for _ufunc, _function in _REDUCTIONS.items():
    COUNTERPARTS[_ufunc.reduce] = Counterpart(_ufunc.reduce, _reduce(_function))
for _ufunc, _function in _ACCUMULATIONS.items():
    COUNTERPARTS[_ufunc.accumulate] = Counterpart(_ufunc.accumulate, _accumulate(_function))
for _ufunc in _IN_TURN:
    _traced = COUNTERPARTS[_ufunc]
    assert isinstance(_traced, TracedUfunc)
    COUNTERPARTS[_ufunc.reduce] = Counterpart(_ufunc.reduce, _reduce_in_turn(_traced))

for _numpy, _traced in list(COUNTERPARTS.items()):
    if isinstance(_traced, TracedUfunc) and _traced.numpy.nin == 2:
        COUNTERPARTS[_traced.numpy.outer] = Counterpart(_traced.numpy.outer, _outer(_traced))
