"""What NumPy's functions tell about shapes and types, known while tracing; and conversions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from s2s.ir.dims import Dim, Shape, Size, product
from s2s.ir.dtypes import INT64, SHORT_NAMES, DType
from s2s.numpy.arguments import as_axes
from s2s.numpy.broadcasting import another
from s2s.numpy.creation import filled
from s2s.numpy.promotion import (
    array_operand,
    aval_of_operand,
    convert,
    element_type,
    operand,
    shape_of,
)
from s2s.numpy.registry import COUNTERPARTS, Counterpart, counterpart
from s2s.numpy.ufuncs import as_python_scalar
from s2s.primitive import Value
from s2s.primitives import functions as lax
from s2s.trace import Tracer


@counterpart(np.shape)
def shape(a: Any) -> Shape:
    """The size along each axis."""
    return shape_of(operand(a, "np.shape"))


@counterpart(np.ndim)
def ndim(a: Any) -> int:
    """The number of axes."""
    return len(shape(a))


@counterpart(np.size)
def size(a: Any, axis: Any = None) -> Size:
    """The number of elements, in all or along axes."""
    sizes = shape(a)
    return product([sizes[place] for place in as_axes(axis, len(sizes), "np.size")])


@counterpart(np.result_type)
def result_type(*arrays_and_dtypes: Any) -> DType:
    """The type of the result of an operation on values or types."""
    return np.result_type(*map(_stand_in, arrays_and_dtypes))


def _stand_in(value: Any) -> Any:
    """A static value of the same type."""
    if isinstance(value, Dim):
        return 1
    if not isinstance(value, Tracer):
        return value
    aval = value.aval
    return aval.dtype.type(0).item() + 0 if aval.weak_type else aval.dtype


@counterpart(np.can_cast)
def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    """Whether NumPy would convert one type to another."""
    return np.can_cast(_stand_in(from_), to, casting)


@counterpart(np.isscalar)
def isscalar(element: Any) -> bool:
    """Whether a value is a number rather than an array."""
    return not shape(element)


@counterpart(np.iscomplexobj)
def iscomplexobj(x: Any) -> bool:
    """Whether the elements are complex numbers."""
    return aval_of_operand(operand(x)).dtype.kind == "c"


@counterpart(np.isrealobj)
def isrealobj(x: Any) -> bool:
    """Whether the elements are not complex numbers."""
    return not iscomplexobj(x)


@counterpart(np.iterable)
def iterable(y: Any) -> bool:
    """Whether a value has rows to loop over."""
    return bool(shape(y))


@counterpart(np.real)
def real(val: Any) -> Value:
    """The array itself, which is real."""
    value = operand(val, "np.real")
    aval = aval_of_operand(value)
    if aval.weak_type and aval.dtype.kind == "b":
        return as_python_scalar(value, INT64)
    return another(value, value)


@counterpart(np.imag)
def imag(val: Any) -> Value:
    """Zeros: the array is real."""
    aval = aval_of_operand(operand(val, "np.imag"))
    return aval.dtype.type(0).item() + 0 if aval.weak_type else filled(aval.shape, 0, aval.dtype)


@counterpart(np.isreal)
def isreal(x: Any) -> Value:
    """True: the elements are real."""
    return filled(shape(x), True, np.dtype(np.bool_))


@counterpart(np.iscomplex)
def iscomplex(x: Any) -> Value:
    """False: the elements are real."""
    return filled(shape(x), False, np.dtype(np.bool_))


@counterpart(np.isposinf)
def isposinf(x: Any) -> Value:
    """Whether the elements are positive infinity."""
    value = array_operand(x, "np.isposinf")
    return lax.bitwise_and(lax.isinf(value), lax.bitwise_not(lax.signbit(value)))


@counterpart(np.isneginf)
def isneginf(x: Any) -> Value:
    """Whether the elements are negative infinity."""
    value = array_operand(x, "np.isneginf")
    return lax.bitwise_and(lax.isinf(value), lax.signbit(value))


def astype(x: Any, dtype: Any, /, *, copy: bool = True) -> Value:
    """A new array of the elements as another type."""
    value = array_operand(x, "np.astype")
    converted = convert(value, element_type(dtype))
    return another(converted, value) if copy else converted


if hasattr(np, "astype"):
    counterpart(np.astype)(astype)


def _conversion(dtype: DType) -> Callable[..., Value]:
    def converted(value: Any = 0, /) -> Value:
        return another(convert(array_operand(value, f"np.{dtype.name}"), dtype), value)

    return converted


for _dtype in SHORT_NAMES:
    if _dtype.kind != "c":
        COUNTERPARTS[_dtype.type] = Counterpart(_dtype.type, _conversion(_dtype))
