"""Reductions and running totals. As in NumPy, small integers are summed as 64-bit ones."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from s2s.ir.dims import product, same_size
from s2s.ir.dtypes import BOOL, INT64, DType
from s2s.numpy.arguments import as_axes, as_axis, named_sizes, shape_text
from s2s.numpy.broadcasting import another, common_shape, stretched
from s2s.numpy.promotion import (
    array_operand,
    aval_of_operand,
    convert,
    element_type,
    operand,
    shape_of,
)
from s2s.numpy.registry import NOT_GIVEN, counterpart, mistake
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


def selected(value: Value, where: Any, instead: Any, function: str) -> Value:
    """An array with `instead` where the argument `where` of a reduction is false."""
    if where is True:
        return value
    which = as_truth(array_operand(where, function))
    shape = shape_of(value)
    if common_shape(function, [shape_of(which), shape]) != shape:
        raise mistake(f"{function}: the argument `where` has more elements than the array")
    other = convert(operand(instead, function), aval_of_operand(value).dtype)
    return lax.select_n(stretched(which, shape), other, value)


def is_given(argument: Any) -> bool:
    return argument is not None and argument is not NOT_GIVEN


def _total(
    a: Any,
    axis: Any,
    dtype: Any,
    keepdims: Any,
    initial: Any,
    where: Any,
    function: str,
    reduction: type[AxesReduction],
) -> Value:
    value = array_operand(a, function)
    axes = _reduced(axis, value, function)
    kind = as_total(aval_of_operand(value).dtype, dtype)
    value = selected(convert(value, kind), where, 0 if reduction is ReduceSum else 1, function)
    # The primitives make 64 bits of all integers.
    result = convert(_folded(value, axes, reduction), kind)
    if is_given(initial):
        combined = lax.add if reduction is ReduceSum else lax.mul
        result = combined(stretched(_start(initial, kind, function), shape_of(result)), result)
    return another(with_kept_axes(result, axes, keepdims), value)


def _start(initial: Any, dtype: DType, function: str) -> Value:
    """The argument `initial` of a reduction."""
    value = convert(operand(initial, function), dtype)
    if shape_of(value):
        raise mistake(f"{function}: the argument `initial` is a single number")
    return value


@counterpart(np.sum)
def sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = True,
) -> Value:
    """The sum over axes."""
    if (sizes := named_sizes(a)) and dtype is None and not keepdims:
        return functools.reduce(lambda m, n: m + n, sizes)
    return _total(a, axis, dtype, keepdims, initial, where, "np.sum", ReduceSum)


@counterpart(np.prod)
def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = True,
) -> Value:
    """The product over axes."""
    if (sizes := named_sizes(a)) and dtype is None and not keepdims:
        return product(sizes)
    return _total(a, axis, dtype, keepdims, initial, where, "np.prod", ReduceProd)


@counterpart(np.max, np.amax)
def max(
    a: Any, axis: Any = None, *, keepdims: Any = False, initial: Any = None, where: Any = True
) -> Value:
    """The greatest element over axes; NaN if there is one."""
    return _extremum(a, axis, keepdims, initial, where, "np.max", ReduceMax)


@counterpart(np.min, np.amin)
def min(
    a: Any, axis: Any = None, *, keepdims: Any = False, initial: Any = None, where: Any = True
) -> Value:
    """The least element over axes; NaN if there is one."""
    return _extremum(a, axis, keepdims, initial, where, "np.min", ReduceMin)


def _extremum(
    a: Any,
    axis: Any,
    keepdims: Any,
    initial: Any,
    where: Any,
    function: str,
    reduction: type[AxesReduction],
) -> Value:
    value = array_operand(a, function)
    axes = _reduced(axis, value, function)
    require_elements(value, axes, function)
    if not is_given(initial):
        if where is not True:
            raise mistake(f"{function} with the argument `where` needs `initial`, as in NumPy")
        return another(with_kept_axes(_folded(value, axes, reduction), axes, keepdims), value)
    start = _start(initial, aval_of_operand(value).dtype, function)
    result = _folded(selected(value, where, start, function), axes, reduction)
    combined = lax.max if reduction is ReduceMax else lax.min
    result = combined(result, stretched(start, shape_of(result)))
    return another(with_kept_axes(result, axes, keepdims), value)


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


@counterpart(np.cumulative_sum)
def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: Any = False
) -> Value:
    """The running sum along an axis, with a zero before it if `include_initial`."""
    return _with_initial(x, axis, dtype, include_initial, "np.cumulative_sum", lax.cumsum, 0)


@counterpart(np.cumulative_prod)
def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: Any = False
) -> Value:
    """The running product along an axis, with a one before it if `include_initial`."""
    return _with_initial(x, axis, dtype, include_initial, "np.cumulative_prod", lax.cumprod, 1)


def _with_initial(
    x: Any, axis: Any, dtype: Any, include: Any, function: str, primitive: Any, initial: int
) -> Value:
    rank = len(shape_of(array_operand(x, function)))
    if rank != 1 and axis is None:
        raise mistake(f"{function} of an array of other than one axis needs the argument `axis`")
    result = _running(x, axis, dtype, function, primitive)
    if not include:
        return result
    place = as_axis(0 if axis is None else axis, rank, function)
    shape = list(shape_of(result))
    shape[place] = 1
    kind = aval_of_operand(result).dtype
    first = lax.broadcast_in_dim(kind.type(initial), tuple(shape), ())
    return lax.concatenate([first, result], place)


def cummax(a: Any, axis: Any = None, dtype: Any = None) -> Value:
    """The greatest element so far along an axis; NaN from the first one on."""
    return _running_extremum(a, axis, dtype, "np.maximum.accumulate", lax.cummax)


def cummin(a: Any, axis: Any = None, dtype: Any = None) -> Value:
    """The least element so far along an axis; NaN from the first one on."""
    return _running_extremum(a, axis, dtype, "np.minimum.accumulate", lax.cummin)


def _running_extremum(a: Any, axis: Any, dtype: Any, function: str, primitive: Any) -> Value:
    value = array_operand(a, function)
    if dtype is not None:
        value = convert(value, element_type(dtype))
    return primitive(value, as_axis(axis, len(shape_of(value)), function))


@counterpart(np.cumprod)
def cumprod(a: Any, axis: Any = None, dtype: Any = None) -> Value:
    """The running product along an axis, or in row-major order."""
    return _running(a, axis, dtype, "np.cumprod", lax.cumprod)


@counterpart(np.ptp)
def ptp(a: Any, axis: Any = None, *, keepdims: Any = False) -> Value:
    """The greatest minus the least element over axes."""
    return max(a, axis, keepdims=keepdims) - min(a, axis, keepdims=keepdims)
