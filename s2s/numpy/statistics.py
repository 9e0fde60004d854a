"""Means and variances, with the same steps in the same order as NumPy's own.

Their values are NumPy's to the last bit, but where 32-bit floats are averaged over more than 2**24
elements, since NumPy divides by the count in 64 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s.ir.dims import Dim, Size, product
from s2s.ir.dtypes import FLOAT32, FLOAT64, DType
from s2s.numpy.arguments import as_axes, shape_text
from s2s.numpy.arithmetic import divide, multiply, subtract
from s2s.numpy.broadcasting import stretched
from s2s.numpy.elementary import sqrt, square
from s2s.numpy.promotion import (
    array_operand,
    aval_of_operand,
    convert,
    element_type,
    operand,
    shape_of,
)
from s2s.numpy.reductions import (
    all as all_hold,
    as_truth,
    max as greatest,
    min as least,
    prod,
    sum as total,
    with_kept_axes,
)
from s2s.numpy.registry import counterpart, mistake
from s2s.primitive import Value
from s2s.primitives import functions as lax


def _as_mean(dtype: DType, wanted: Any) -> DType:
    """The element type that means are computed in."""
    if wanted is not None:
        return element_type(wanted)
    return dtype if dtype.kind in "fc" else FLOAT64


def count_of(value: Value, axes: tuple[int, ...]) -> Size:
    """How many elements are reduced over `axes`."""
    shape = shape_of(value)
    return product([shape[axis] for axis in axes])


def divided_by_count(value: Value, count: Value) -> Value:
    """A sum divided by a number of elements, in the element type of the sum."""
    dtype = aval_of_operand(value).dtype
    # Half precision has no number for most counts.
    within = FLOAT64 if dtype == np.float16 else dtype
    count = lax.dim_as_value(count) if isinstance(count, Dim) else count
    return convert(lax.div(convert(value, within), convert(count, within)), dtype)


@counterpart(np.mean)
def mean(
    a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False, where: Any = True
) -> Value:
    """The arithmetic mean over axes, of the elements at which `where` is true: the sum divided by
    the count."""
    value = array_operand(a, "np.mean")
    own = aval_of_operand(value).dtype
    kind = _as_mean(own, dtype)
    axes = as_axes(axis, len(shape_of(value)), "np.mean")
    # Half precision is summed in single precision, and a single sum divided in double precision.
    is_half = kind == np.float16 and dtype is None
    result = total(convert(value, FLOAT32 if is_half else kind), axes, where=where)
    if is_half and not shape_of(with_kept_axes(result, axes, keepdims)):
        result = convert(result, FLOAT64)
    if where is True:
        quotient = divided_by_count(result, count_of(value, axes))
    else:
        chosen = stretched(as_truth(array_operand(where, "np.mean")), shape_of(value))
        quotient = divide(result, total(chosen, axes))
    return with_kept_axes(convert(quotient, kind), axes, keepdims)


@counterpart(np.var)
def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    ddof: Any = 0,
    keepdims: Any = False,
    mean: Any = None,
    correction: Any = None,
) -> Value:
    """The mean of the squared deviations from the mean, over the count minus `ddof`."""
    value = array_operand(a, "np.var")
    ddof = _degrees(ddof, correction, "np.var")
    axes = as_axes(axis, len(shape_of(value)), "np.var")
    kind = _as_mean(aval_of_operand(value).dtype, dtype)
    count = count_of(value, axes)
    if mean is None:
        centre = divided_by_count(total(convert(value, kind), axes), count)
        centre = with_kept_axes(centre, axes, keepdims=True)
    else:
        centre = operand(mean, "np.var")
    deviations = square(subtract(value, centre))
    result = total(convert(deviations, kind), axes)
    return with_kept_axes(divided_by_count(result, _freedom(count, ddof)), axes, keepdims)


@counterpart(np.std)
def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    ddof: Any = 0,
    keepdims: Any = False,
    mean: Any = None,
    correction: Any = None,
) -> Value:
    """The square root of the variance."""
    ddof = _degrees(ddof, correction, "np.std")
    return sqrt(var(a, axis, dtype, ddof=ddof, keepdims=keepdims, mean=mean))


def _degrees(ddof: Any, correction: Any, function: str) -> Any:
    if correction is None:
        return ddof
    if ddof != 0:
        raise mistake(f"{function}: give either ddof or correction, not both")
    return correction


def _freedom(count: Size, ddof: Any) -> Value:
    """The count minus `ddof`, at least zero where that is known."""
    if isinstance(ddof, int):
        left = count - ddof
        return 0 if isinstance(left, int) and left < 0 else left
    if isinstance(count, Dim):
        return subtract(lax.dim_as_value(count), ddof)
    return operand(np.maximum(count - ddof, 0))


@counterpart(np.average)
def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False
) -> Any:
    """The mean over axes, or the weighted mean: weights of the shape of the array, or of the axis.

    Weights that sum to zero give what dividing by zero gives, where NumPy raises an error.
    """
    value = array_operand(a, "np.average")
    axes = as_axes(axis, len(shape_of(value)), "np.average")
    if weights is None:
        result = mean(value, axes, keepdims=keepdims)
        if not returned:
            return result
        dtype = aval_of_operand(result).dtype
        count = operand(count_of(value, axes), "np.average")
        return result, stretched(convert(count, dtype), shape_of(result))
    weight = array_operand(weights, "np.average")
    kinds = [aval_of_operand(value).dtype, aval_of_operand(weight).dtype]
    kind = np.result_type(*kinds, *([FLOAT64] if kinds[0].kind in "biu" else []))
    weight = _weights_along(weight, value, axis, axes)
    scale = total(weight, axes, dtype=kind, keepdims=keepdims)
    products = multiply(convert(value, kind), convert(weight, kind))
    result = lax.div(total(products, axes, keepdims=keepdims), scale)
    return (result, scale) if returned else result


def _weights_along(weight: Value, value: Value, axis: Any, axes: tuple[int, ...]) -> Value:
    """Weights of the shape of the array, or of the axes averaged over, as those of the array."""
    shape, own = shape_of(value), shape_of(weight)
    if len(own) == len(shape):
        return stretched(weight, shape)
    if axis is None or len(own) != len(axes):
        raise mistake(
            f"np.average: weights of shape {shape_text(own)} for an array of shape "
            f"{shape_text(shape)} need the axis that they belong to"
        )
    order = sorted(range(len(axes)), key=lambda place: axes[place])
    return lax.broadcast_in_dim(lax.transpose(weight, order), shape, tuple(sorted(axes)))


# -- with NaN as missing values --------------------------------------------------------------------


def _without_nan(a: Any, instead: float, function: str) -> tuple[Value, Value | None]:
    """The array with NaN replaced, and where it was NaN."""
    value = array_operand(a, function)
    dtype = aval_of_operand(value).dtype
    if dtype.kind != "f":
        return value, None
    missing = lax.isnan(value)
    return lax.select_n(missing, value, dtype.type(instead)), missing


@counterpart(np.nansum)
def nansum(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False) -> Value:
    """The sum over axes of the elements that are not NaN."""
    return total(_without_nan(a, 0.0, "np.nansum")[0], axis, dtype, keepdims=keepdims)


@counterpart(np.nanprod)
def nanprod(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False) -> Value:
    """The product over axes of the elements that are not NaN."""
    return prod(_without_nan(a, 1.0, "np.nanprod")[0], axis, dtype, keepdims=keepdims)


@counterpart(np.nanmean)
def nanmean(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False) -> Value:
    """The mean over axes of the elements that are not NaN."""
    value, missing = _without_nan(a, 0.0, "np.nanmean")
    if missing is None:
        return mean(value, axis, dtype, keepdims=keepdims)
    count = total(lax.bitwise_not(missing), axis, keepdims=keepdims)
    summed = total(value, axis, dtype, keepdims=keepdims)
    return convert(divide(summed, count), aval_of_operand(summed).dtype)


@counterpart(np.nanmax)
def nanmax(a: Any, axis: Any = None, *, keepdims: Any = False) -> Value:
    """The greatest element over axes that is not NaN; NaN if all are."""
    return _extremum_without_nan(a, axis, keepdims, -np.inf, greatest, "np.nanmax")


@counterpart(np.nanmin)
def nanmin(a: Any, axis: Any = None, *, keepdims: Any = False) -> Value:
    """The least element over axes that is not NaN; NaN if all are."""
    return _extremum_without_nan(a, axis, keepdims, np.inf, least, "np.nanmin")


def _extremum_without_nan(
    a: Any, axis: Any, keepdims: Any, instead: float, extremum: Any, function: str
) -> Value:
    value, missing = _without_nan(a, instead, function)
    result = extremum(value, axis, keepdims=keepdims)
    if missing is None:
        return result
    nothing = all_hold(missing, axis, keepdims=keepdims)
    return lax.select_n(nothing, result, aval_of_operand(result).dtype.type(np.nan))


@counterpart(np.nanvar)
def nanvar(
    a: Any, axis: Any = None, dtype: Any = None, *, ddof: Any = 0, keepdims: Any = False
) -> Value:
    """The variance over axes of the elements that are not NaN."""
    value, missing = _without_nan(a, 0.0, "np.nanvar")
    if missing is None:
        return var(value, axis, dtype, ddof=ddof, keepdims=keepdims)
    axes = as_axes(axis, len(shape_of(value)), "np.nanvar")
    count = total(lax.bitwise_not(missing), axes, keepdims=True)
    centre = total(value, axes, dtype, keepdims=True)
    centre = convert(divide(centre, count), aval_of_operand(centre).dtype)
    own = aval_of_operand(value).dtype
    deviations = convert(subtract(value, centre), own)
    deviations = lax.select_n(missing, deviations, own.type(0))
    result = total(multiply(deviations, deviations), axes, dtype, keepdims=True)
    freedom = subtract(count, ddof)
    kind = aval_of_operand(result).dtype
    result = convert(divide(result, freedom), kind)
    nothing = lax.le(freedom, aval_of_operand(freedom).dtype.type(0))
    result = lax.select_n(nothing, result, kind.type(np.nan))
    return result if keepdims or not axes else lax.squeeze(result, tuple(sorted(axes)))


@counterpart(np.nanstd)
def nanstd(
    a: Any, axis: Any = None, dtype: Any = None, *, ddof: Any = 0, keepdims: Any = False
) -> Value:
    """The square root of the variance of the elements that are not NaN."""
    return sqrt(nanvar(a, axis, dtype, ddof=ddof, keepdims=keepdims))
