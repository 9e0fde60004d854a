"""Sliding windows, and sums of products over them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from s2s.ir.dims import Dim
from s2s.numpy.arguments import as_axes, as_shape
from s2s.numpy.arithmetic import add
from s2s.numpy.creation import counted
from s2s.numpy.indexing import getitem, take
from s2s.numpy.joining import pad
from s2s.numpy.linear import matmul
from s2s.numpy.promotion import array_operand, shape_of
from s2s.numpy.registry import counterpart, mistake
from s2s.numpy.shaping import atleast_1d, flip, moveaxis, with_axes
from s2s.primitive import Value


@counterpart(sliding_window_view)
def windows_of(x: Any, window_shape: Any, axis: Any = None) -> Value:
    """The windows of the given sizes along axes, as new last axes; a copy, which may be changed
    without a change of the array, as NumPy does not allow either."""
    name = "np.lib.stride_tricks.sliding_window_view"
    value = array_operand(x, name)
    sizes = as_shape(window_shape, f"a size of {name}")
    rank = len(shape_of(value))
    axes = tuple(range(rank)) if axis is None else as_axes(axis, rank, name)
    if len(sizes) != len(axes):
        raise mistake(f"{name}: give one size for each axis")
    for place, width in zip(axes, sizes, strict=True):
        starts = counted((shape_of(value)[place] - width + 1,), 0)
        places = add(with_axes(starts, (1,)), counted((width,), 0))
        value = moveaxis(take(value, places, place), place + 1, -1)
    return value


@counterpart(np.convolve)
def convolve(a: Any, v: Any, mode: Any = "full") -> Value:
    """The convolution of two vectors: where they overlap at all ("full"), over the length of the
    longer one ("same"), or where the shorter one lies within it ("valid").

    The last bits differ from NumPy's, which adds the products of a window in another order.
    """
    x, y = _vectors(a, v, "np.convolve")
    if _is_longer(y, x):
        x, y = y, x
    return _slid(x, flip(y), mode, "np.convolve")


@counterpart(np.correlate)
def correlate(a: Any, v: Any, mode: Any = "valid") -> Value:
    """The sums of products of `v` with windows of `a`; `mode` is as in np.convolve."""
    x, y = _vectors(a, v, "np.correlate")
    # With the roles exchanged, the result is the same backwards.
    return (
        flip(_slid(y, x, mode, "np.correlate"))
        if _is_longer(y, x)
        else _slid(x, y, mode, "np.correlate")
    )


def _vectors(a: Any, v: Any, function: str) -> tuple[Value, Value]:
    x, y = (atleast_1d(array_operand(value, function)) for value in (a, v))
    if len(shape_of(x)) != 1 or len(shape_of(y)) != 1:
        raise mistake(f"{function} is of vectors")
    return x, y


def _is_longer(x: Value, y: Value) -> bool:
    return bool(shape_of(x)[0] > shape_of(y)[0])


def _slid(x: Value, window: Value, mode: Any, function: str) -> Value:
    """The products of a window with the parts of a vector that is at least as long."""
    if mode not in ("full", "same", "valid"):
        raise mistake(f"{function}: mode is 'full', 'same' or 'valid'")
    width = shape_of(window)[0]
    if mode == "full":
        x = pad(x, (width - 1, width - 1))
    elif mode == "same":
        if isinstance(width, Dim):
            raise mistake(f"{function} with mode='same' needs a window of a known size")
        x = pad(x, (width // 2, width - 1 - width // 2))
    places = counted((shape_of(x)[0] - width + 1,), 0)
    windows = getitem(x, add(with_axes(places, (1,)), counted((width,), 0)))
    return matmul(windows, window)
