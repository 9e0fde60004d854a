"""Reductions and running totals. As in NumPy, small integers are summed as 64-bit ones."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from s2s.ir.dims import product, same_size
from s2s.ir.dtypes import BOOL, INT64, DType
from s2s.numpy.arguments import as_axes, as_axis, named_sizes, shape_text
from s2s.numpy.broadcasting import another
from s2s.numpy.promotion import array_operand, aval_of_operand, convert, element_type, shape_of
from s2s.numpy.registry import counterpart, mistake
from s2s.numpy.shaping import at_least_vector, ravel, with_axes
from s2s.primitive import Value
from s2s.primitives import functions as lax
from s2s.primitives.core import AxesReduction, ReduceSum
from s2s.primitives.reductions import ReduceAnd, ReduceMax, ReduceMin, ReduceOr, ReduceProd
from s2s.trace import bind


def as_total(dtype: DType, wanted: Any) -> DType:
    """The element type of a sum or product: the one asked for, else NumPy's."""
    if wanted is not None:
        return element_type(wanted)
    if dtype.kind in "bi":
        return INT64
    return np.dtype(np.uint64) if dtype.kind == "u" else dtype


def with_kept_axes(result: Value, axes: tuple[int, ...], keepdims: Any) -> Value:
    """The result of a reduction over `axes`, with these as axes of size 1 if `keepdims` is true."""
    return with_axes(result, sorted(axes)) if keepdims is True or keepdims == 1 else result


def _reduced(axis: Any, value: Value, function: str) -> tuple[int, ...]:
    """The axes to reduce over. NumPy takes a number for a vector where axis 0 is asked for."""
    ndim = len(shape_of(value))
    if not ndim and type(axis) is int and axis in (0, -1):
        return ()
    return as_axes(axis, ndim, function)


def require_elements(value: Value, axes: tuple[int, ...], function: str) -> None:
    """Refuse a reduction without an identity over no elements."""
    shape = shape_of(value)
    for axis in axes:
        if same_size(shape[axis], 0):
            raise mistake(f"{function} of no elements, shape {shape_text(shape)}, is not defined")


def _folded(value: Value, axes: tuple[int, ...], reduction: type[AxesReduction]) -> Value:
    if axes or reduction is ReduceSum:
        return bind(reduction(tuple(sorted(axes))), value)  # type: ignore[call-arg]
    return value


def _total(
    value: Value, axes: tuple[int, ...], dtype: Any, keepdims: Any, reduction: type[AxesReduction]
) -> Value:
    kind = as_total(aval_of_operand(value).dtype, dtype)
    value = convert(value, kind)
    # The primitives make 64 bits of all integers.
    result = convert(_folded(value, axes, reduction), kind)
    return another(with_kept_axes(result, axes, keepdims), value)


@counterpart(np.sum)
def sum(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False) -> Value:
    """The sum over axes."""
    if (sizes := named_sizes(a)) and dtype is None and not keepdims:
        return functools.reduce(lambda m, n: m + n, sizes)
    value = array_operand(a, "np.sum")
    axes = _reduced(axis, value, "np.sum")
    return _total(value, axes, dtype, keepdims, ReduceSum)


@counterpart(np.prod)
def prod(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False) -> Value:
    """The product over axes."""
    if (sizes := named_sizes(a)) and dtype is None and not keepdims:
        return product(sizes)
    value = array_operand(a, "np.prod")
    axes = _reduced(axis, value, "np.prod")
    return _total(value, axes, dtype, keepdims, ReduceProd)


@counterpart(np.max, np.amax)
def max(a: Any, axis: Any = None, *, keepdims: Any = False) -> Value:
    """The greatest element over axes; NaN if there is one."""
    value = array_operand(a, "np.max")
    axes = _reduced(axis, value, "np.max")
    require_elements(value, axes, "np.max")
    return another(with_kept_axes(_folded(value, axes, ReduceMax), axes, keepdims), value)


@counterpart(np.min, np.amin)
def min(a: Any, axis: Any = None, *, keepdims: Any = False) -> Value:
    """The least element over axes; NaN if there is one."""
    value = array_operand(a, "np.min")
    axes = _reduced(axis, value, "np.min")
    require_elements(value, axes, "np.min")
    return another(with_kept_axes(_folded(value, axes, ReduceMin), axes, keepdims), value)


def as_truth(value: Value) -> Value:
    """Whether each element differs from zero."""
    dtype = aval_of_operand(value).dtype
    return value if dtype == BOOL else lax.ne(value, dtype.type(0))


@counterpart(np.any)
def any(a: Any, axis: Any = None, *, keepdims: Any = False) -> Value:
    """Whether some element over axes differs from zero."""
    value = as_truth(array_operand(a, "np.any"))
    axes = _reduced(axis, value, "np.any")
    return another(with_kept_axes(_folded(value, axes, ReduceOr), axes, keepdims), value)


@counterpart(np.all)
def all(a: Any, axis: Any = None, *, keepdims: Any = False) -> Value:
    """Whether all elements over axes differ from zero."""
    value = as_truth(array_operand(a, "np.all"))
    axes = _reduced(axis, value, "np.all")
    return another(with_kept_axes(_folded(value, axes, ReduceAnd), axes, keepdims), value)


@counterpart(np.count_nonzero)
def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Value:
    """How many elements over axes differ from zero."""
    return sum(as_truth(array_operand(a, "np.count_nonzero")), axis, keepdims=keepdims)


def _index_of(a: Any, axis: Any, keepdims: Any, function: str, primitive: Any) -> Value:
    value = array_operand(a, function)
    shape = shape_of(value)
    if axis is None or not _reduced(axis, value, function):
        require_elements(value, tuple(range(len(shape))), function)
        flat = ravel(value)
        result = primitive(flat, 0, INT64)
        return with_kept_axes(result, tuple(range(len(shape))), keepdims)
    place = as_axis(axis, len(shape), function)
    require_elements(value, (place,), function)
    return with_kept_axes(primitive(value, place, INT64), (place,), keepdims)


@counterpart(np.argmax)
def argmax(a: Any, axis: Any = None, *, keepdims: Any = False) -> Value:
    """The index of the first greatest element, along an axis or in row-major order."""
    return _index_of(a, axis, keepdims, "np.argmax", lax.argmax)


@counterpart(np.argmin)
def argmin(a: Any, axis: Any = None, *, keepdims: Any = False) -> Value:
    """The index of the first least element, along an axis or in row-major order."""
    return _index_of(a, axis, keepdims, "np.argmin", lax.argmin)


def _running(a: Any, axis: Any, dtype: Any, function: str, primitive: Any) -> Value:
    value = array_operand(a, function)
    value = convert(value, as_total(aval_of_operand(value).dtype, dtype))
    value, axis = at_least_vector(value, axis)
    return primitive(value, as_axis(axis, len(shape_of(value)), function))


@counterpart(np.cumsum)
def cumsum(a: Any, axis: Any = None, dtype: Any = None) -> Value:
    """The running sum along an axis, or in row-major order."""
    return _running(a, axis, dtype, "np.cumsum", lax.cumsum)


@counterpart(np.cumprod)
def cumprod(a: Any, axis: Any = None, dtype: Any = None) -> Value:
    """The running product along an axis, or in row-major order."""
    return _running(a, axis, dtype, "np.cumprod", lax.cumprod)


@counterpart(np.ptp)
def ptp(a: Any, axis: Any = None, *, keepdims: Any = False) -> Value:
    """The greatest minus the least element over axes."""
    return max(a, axis, keepdims=keepdims) - min(a, axis, keepdims=keepdims)
