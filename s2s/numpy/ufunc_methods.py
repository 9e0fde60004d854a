"""The methods of ufuncs: np.add.reduce, np.add.accumulate, np.multiply.outer and the like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from s2s.numpy import reductions
from s2s.numpy.promotion import array_operand, shape_of
from s2s.numpy.registry import COUNTERPARTS, Counterpart
from s2s.numpy.shaping import with_axes
from s2s.numpy.ufuncs import TracedUfunc
from s2s.primitive import Value


def _reduce(function: Callable[..., Value]) -> Callable[..., Value]:
    def reduce(array: Any, axis: Any = 0, dtype: Any = None, *, keepdims: Any = False) -> Value:
        given = {} if dtype is None else {"dtype": dtype}
        return function(array, axis, keepdims=keepdims, **given)

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

for _ufunc, _function in _REDUCTIONS.items():
    COUNTERPARTS[_ufunc.reduce] = Counterpart(_ufunc.reduce, _reduce(_function))

COUNTERPARTS[np.add.accumulate] = Counterpart(np.add.accumulate, _accumulate(reductions.cumsum))
COUNTERPARTS[np.multiply.accumulate] = Counterpart(
    np.multiply.accumulate, _accumulate(reductions.cumprod)
)

for _numpy, _traced in list(COUNTERPARTS.items()):
    if isinstance(_traced, TracedUfunc) and _traced.numpy.nin == 2:
        COUNTERPARTS[_traced.numpy.outer] = Counterpart(_traced.numpy.outer, _outer(_traced))
