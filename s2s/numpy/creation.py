"""New arrays: from nested lists, filled, counted, and identity matrices. Shapes may be symbolic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from s2s.ir.dims import Dim, Shape, Size, floor_divide, same_shape, same_size
from s2s.ir.dtypes import FLOAT64, INT64, DType
from s2s.ir.jaxpr import Literal
from s2s.numpy.arguments import as_number, as_shape, as_size, shape_text, static
from s2s.numpy.arithmetic import add, divide, multiply, subtract
from s2s.numpy.broadcasting import another, stretched
from s2s.numpy.promotion import (
    array_operand,
    aval_of_operand,
    convert,
    element_type,
    is_traced,
    operand,
    shape_of,
)
from s2s.numpy.registry import COUNTERPARTS, counterpart, mistake
from s2s.numpy.rounding import floor
from s2s.numpy.shaping import moveaxis, require_row_major, with_axes
from s2s.primitive import Value
from s2s.primitives import functions as lax
from s2s.primitives.identity import Copy
from s2s.trace import Tracer, bind

# -- filled ----------------------------------------------------------------------------------------


def filled(shape: Shape, value: Value, dtype: DType) -> Value:
    """A new array of one value; a NumPy scalar where the shape is ()."""
    value = convert(value, dtype)
    if isinstance(value, Literal):
        return lax.broadcast_in_dim(value, shape, ()) if shape else value.value
    return another(stretched(value, shape), value)


@counterpart(np.zeros, np.empty, creation=True)
def zeros(shape: Any, dtype: Any = None, order: str = "C") -> Value:
    """A new array of zeros. Of `np.empty` too, whose elements NumPy leaves undefined."""
    require_row_major(order, "np.zeros")
    return filled(as_shape(shape, "a size of np.zeros"), 0, element_type(dtype))


@counterpart(np.ones, creation=True)
def ones(shape: Any, dtype: Any = None, order: str = "C") -> Value:
    """A new array of ones."""
    require_row_major(order, "np.ones")
    return filled(as_shape(shape, "a size of np.ones"), 1, element_type(dtype))


@counterpart(np.full, creation=True)
def full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C") -> Value:
    """A new array of one value, or of an array repeated to the shape."""
    require_row_major(order, "np.full")
    value = operand(fill_value, "np.full")
    kind = aval_of_operand(value).dtype if dtype is None else element_type(dtype)
    return filled(as_shape(shape, "a size of np.full"), value, kind)


def _like(a: Any, value: Any, dtype: Any, order: str, shape: Any, function: str) -> Value:
    if order not in ("C", "K", "A"):
        raise mistake(f"{function} with order={order!r} is not supported")
    prototype = array_operand(a, function)
    own = aval_of_operand(prototype)
    new = own.shape if shape is None else as_shape(shape, f"a size of {function}")
    return filled(new, value, own.dtype if dtype is None else element_type(dtype))


@counterpart(np.zeros_like, creation=True)
def zeros_like(a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None):
    """A new array of zeros with the shape and type of another."""
    return _like(a, 0, dtype, order, shape, "np.zeros_like")


@counterpart(np.empty_like, creation=True)
def empty_like(
    prototype: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None
) -> Value:
    """A new array with the shape and type of another; its elements are zeros."""
    return _like(prototype, 0, dtype, order, shape, "np.empty_like")


@counterpart(np.ones_like, creation=True)
def ones_like(a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None):
    """A new array of ones with the shape and type of another."""
    return _like(a, 1, dtype, order, shape, "np.ones_like")


@counterpart(np.full_like, creation=True)
def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
) -> Value:
    """A new array of one value with the shape and type of another."""
    return _like(a, operand(fill_value, "np.full_like"), dtype, order, shape, "np.full_like")


# -- from lists and arrays -------------------------------------------------------------------------


@counterpart(np.array)
def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: bool | None = True,
    order: str = "K",
    subok: bool = False,
    ndmin: int = 0,
) -> Value:
    """A new array of a value, or of nested lists and tuples with traced values in them."""
    require_row_major(order, "np.array")
    value = _assembled(object)
    if dtype is not None:
        value = convert(value, element_type(dtype))
    rank = len(shape_of(value))
    if rank < ndmin:
        value = with_axes(value, tuple(range(ndmin - rank)))
    if copy and value is object and isinstance(value, Tracer):
        return bind(Copy(in_order=order == "C"), value)
    return value


@counterpart(np.asarray, np.asanyarray, np.asarray_chkfinite)
def asarray(a: Any, dtype: Any = None, order: str | None = None) -> Value:
    """The same array, or a new one of nested lists and tuples with traced values in them."""
    return array(a, dtype, copy=None, order=order or "K")


@counterpart(np.copy)
def copy(a: Any, order: str = "K", subok: bool = False) -> Value:
    """A new array of the same elements."""
    return array(a, order=order)


def _assembled(item: Any) -> Value:
    """Nested sequences as one array, of the type that NumPy finds for all entries together."""
    if not isinstance(item, (list, tuple)):
        return array_operand(item, "np.array")
    items = cast("Sequence[Any]", item)
    if not is_traced(items):
        return cast(Value, np.array(items))
    parts = [_assembled(part) for part in items]
    shape = shape_of(parts[0])
    for part in parts[1:]:
        if not same_shape(shape_of(part), shape):
            raise mistake(
                "np.array: the entries have different shapes, "
                f"{shape_text(shape)} and {shape_text(shape_of(part))}"
            )
    dtype = np.result_type(*[aval_of_operand(part).dtype for part in parts])
    return lax.stack([convert(part, dtype) for part in parts], 0)


# -- counted ---------------------------------------------------------------------------------------


def counted(shape: Shape, axis: int, dtype: DType = INT64) -> Value:
    """An array whose elements are their own index along one axis."""
    return lax.iota(dtype, shape, axis)


@counterpart(np.arange, creation=True)
def arange(start: Any, stop: Any = None, step: Any = 1, *, dtype: Any = None) -> Value:
    """Evenly spaced values: integers, or numbers known while tracing; sizes may be symbolic.

    Computed as NumPy does: the first value plus multiples of the difference of the first two.
    """
    if stop is None:
        start, stop = 0, start
    start, stop, step = (
        static(value, "the size of the result of np.arange") for value in (start, stop, step)
    )
    step = 1 if step is None else step
    given = [0 if isinstance(value, Dim) else value for value in (start, stop, step)]
    kind = np.result_type(*given) if dtype is None else element_type(dtype)
    kind = INT64 if kind == np.bool_ else kind
    size = _count(start, stop, step)
    if isinstance(start, Dim) or isinstance(step, Dim):
        indices = counted((size,), 0)
        return convert(indices * _value_of_size(step) + _value_of_size(start), kind)
    first, second = kind.type(start), kind.type(start + step)
    difference = second - first
    result = counted((size,), 0, kind)
    if difference != 1:
        result = result * difference
    return result + first if first != 0 else result


def _value_of_size(size: Size) -> Value:
    return lax.dim_as_value(size) if isinstance(size, Dim) else size


def _count(start: Any, stop: Any, step: Any) -> Size:
    """How many values np.arange gives."""
    sizes = [isinstance(value, Dim) for value in (start, stop, step)]
    if not any(sizes):
        if step == 0:
            raise mistake("np.arange: the step is zero")
        return max(0, math.ceil((stop - start) / step))
    try:
        start, stop, step = (
            value if is_size else int(value) if value == int(value) else None
            for value, is_size in zip((start, stop, step), sizes, strict=True)
        )
        count = floor_divide(stop - start + step - 1, step)
    except TypeError:
        raise mistake("np.arange of a named size and a fraction is not supported") from None
    return count if count >= 0 else 0


@counterpart(np.linspace, creation=True)
def linspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: Any = 0,
) -> Any:
    """`num` evenly spaced values from `start` to `stop`, which may be traced and arrays."""
    count = as_size(num, "the number of values of np.linspace")
    first, last = operand(start, "np.linspace"), operand(stop, "np.linspace")
    kinds = [aval_of_operand(value) for value in (first, last)]
    kind = np.result_type(*[1.0 if a.weak_type else a.dtype for a in kinds], 1.0)
    first, last = convert(first, kind), convert(last, kind)
    if not retstep and not shape_of(first) and not shape_of(last):
        result = lax.linspace(first, last, count, endpoint=endpoint)
        return result if dtype is None else _as_wanted(result, element_type(dtype))
    divisions = count - 1 if endpoint else count
    step = subtract(last, first)
    if not same_size(divisions, 0):
        step = divide(step, _value_of_size(divisions))
    rank = len(shape_of(step))
    indices = counted((count,), 0, kind)
    if rank:
        indices = with_axes(indices, tuple(range(1, rank + 1)))
    result = add(multiply(indices, step), first)
    if endpoint and not same_size(count, 1):
        end = stretched(with_axes(last, (0,)), (1, *shape_of(result)[1:]))
        start_indices = (0,) * (rank + 1)
        kept = lax.slice(result, start_indices, (count - 1, *shape_of(result)[1:]))
        result = lax.concatenate([kept, end], 0)
    result = moveaxis(result, 0, axis) if rank else result
    if dtype is not None:
        result = _as_wanted(result, element_type(dtype))
    return (result, step) if retstep else result


def _as_wanted(values: Value, dtype: DType) -> Value:
    """What np.linspace gives for a `dtype`: integers are rounded down."""
    return convert(floor(values) if dtype.kind in "iu" else values, dtype)


@counterpart(np.logspace, creation=True)
def logspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: Any = 0,
) -> Value:
    """`base` to the powers that np.linspace gives."""
    result = COUNTERPARTS[np.power](base, linspace(start, stop, num, endpoint, axis=axis))
    return result if dtype is None else convert(result, element_type(dtype))


# -- matrices --------------------------------------------------------------------------------------


def below_diagonal(rows: Size, columns: Size, k: int) -> Value:
    """The mask of a matrix that is true on the diagonal `k` and below it."""
    row, column = counted((rows, columns), 0), counted((rows, columns), 1)
    return lax.ge(row + k if k else row, column)


def on_diagonal(rows: Size, columns: Size, k: int) -> Value:
    """The mask of a matrix that is true on the diagonal `k`."""
    row, column = counted((rows, columns), 0), counted((rows, columns), 1)
    return lax.eq(row + k if k else row, column)


@counterpart(np.eye, creation=True)
def eye(N: Any, M: Any = None, k: Any = 0, dtype: Any = float, order: str = "C") -> Value:
    """Ones on the diagonal `k` of a matrix, zeros elsewhere."""
    require_row_major(order, "np.eye")
    rows = as_size(N, "a size of np.eye")
    columns = rows if M is None else as_size(M, "a size of np.eye")
    return convert(
        on_diagonal(rows, columns, as_number(k, "the diagonal of np.eye")), element_type(dtype)
    )


@counterpart(np.identity, creation=True)
def identity(n: Any, dtype: Any = None) -> Value:
    """The square matrix with ones on the diagonal."""
    return eye(n, dtype=FLOAT64 if dtype is None else dtype)


@counterpart(np.tri, creation=True)
def tri(N: Any, M: Any = None, k: Any = 0, dtype: Any = float) -> Value:
    """Ones on and below the diagonal `k` of a matrix, zeros above."""
    rows = as_size(N, "a size of np.tri")
    columns = rows if M is None else as_size(M, "a size of np.tri")
    return convert(
        below_diagonal(rows, columns, as_number(k, "the diagonal of np.tri")), element_type(dtype)
    )
