"""From what a user's code passes to a function to operands of primitives: values and their types.

NumPy 2's promotion (NEP 50): Python scalars are weak and take the type of what they meet. Which
types a ufunc computes with is asked of the ufunc itself, once for each combination.
"""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from s2s.ir.dims import Dim, Shape
from s2s.ir.dtypes import BOOL, COMPLEX, PYTHON_SCALARS, SHORT_NAMES, DType, promote, refused_class
from s2s.ir.jaxpr import Literal, ShapedArray, aval_of
from s2s.numpy.registry import COUNTERPARTS, mistake
from s2s.primitive import Value
from s2s.primitives import functions as lax
from s2s.trace import Tracer

Kind: TypeAlias = "tuple[DType, bool]"
"""An element type, and whether it is that of a Python scalar."""

_STRONG_SCALARS: dict[DType, ShapedArray] = {dtype: ShapedArray((), dtype) for dtype in SHORT_NAMES}
_WEAK_TYPES: dict[str, Any] = {"b": BOOL, "i": int, "f": float, "c": complex}
_types_of_ufuncs: dict[tuple[Any, ...], tuple[DType, ...]] = {}


def is_traced(value: Any) -> bool:
    """Whether a value is traced, or a list or tuple with a traced value or named size in it."""
    if isinstance(value, (Tracer, Dim)):
        return True
    if isinstance(value, (list, tuple)):
        return any(map(is_traced, cast("list[Any]", value)))
    return False


def aval_of_operand(value: Value) -> ShapedArray:
    """The type of what `operand` returns."""
    return value.aval if isinstance(value, (Tracer, Literal)) else aval_of(value)


def operand(value: Any, function: str = "this function") -> Value:
    """A value as primitives take them: traced, a NumPy array, or a Python or NumPy scalar.

    Lists and tuples become arrays; a named size becomes the integer that it is.
    """
    if isinstance(value, (Tracer, Literal)) or type(value) in PYTHON_SCALARS:
        refuse_complex(aval_of_operand(value).dtype)
        return value
    if isinstance(value, (np.ndarray, np.generic)):
        array = cast("np.generic", value)
        why = refused_class(array)
        if why is not None:
            raise mistake(f"{function}: {why}")
        refuse_complex(array.dtype)
        if array.dtype not in SHORT_NAMES:
            raise mistake(f"{function} of an array of dtype {array.dtype} is not supported")
        return array
    if isinstance(value, Dim):
        return lax.dim_as_value(value)
    if isinstance(value, (list, tuple)):
        return COUNTERPARTS[np.array](value)
    for python_type in (bool, int, float):
        if isinstance(value, python_type):
            return python_type(value)
    raise mistake(
        f"{function} was given a value of type {type(value).__name__}, "
        "which is neither a number nor an array"
    )


def refuse_complex(dtype: DType) -> None:
    """What most functions here compute holds for real numbers only."""
    if dtype.kind == "c":
        raise mistake(f"{COMPLEX}; write the function on the real and imaginary parts")


def array_operand(value: Any, function: str = "this function") -> Value:
    """As `operand`, with Python scalars as NumPy scalars of their default type."""
    found = operand(value, function)
    aval = aval_of_operand(found)
    return convert(found, aval.dtype) if aval.weak_type else found


def kind_of(aval: ShapedArray) -> Kind:
    return aval.dtype, aval.weak_type


def types_of_ufunc(ufunc: np.ufunc, kinds: tuple[Kind, ...]) -> tuple[DType, ...]:
    """The element types that a ufunc converts its operands to, followed by those of its results."""
    key = (ufunc, kinds)
    found = _types_of_ufuncs.get(key)
    if found is None:
        all_weak = all(weak for _, weak in kinds)
        given = [_WEAK_TYPES[d.kind] if weak and not all_weak else d for d, weak in kinds]
        try:
            found = tuple(ufunc.resolve_dtypes((*given, *[None] * ufunc.nout)))
        except TypeError:
            names = " and ".join(dtype.name for dtype, _ in kinds)
            raise mistake(f"np.{ufunc.__name__} is not defined for {names}") from None
        for dtype in found:
            refuse_complex(dtype)
        _types_of_ufuncs[key] = found
    return found


def promoted(*values: Value) -> DType:
    """NumPy's result type of operands (`np.result_type`); Python scalars are weak."""
    dtype = promote(*[kind_of(aval_of_operand(value)) for value in values])[0]
    refuse_complex(dtype)
    return dtype


def element_type(dtype: Any) -> DType:
    """The NumPy dtype that a user's `dtype=` argument stands for."""
    try:
        found = np.dtype(dtype)
    except TypeError as error:
        raise mistake(str(error)) from None
    if found not in SHORT_NAMES:
        raise mistake(f"arrays of dtype {found} are not supported")
    refuse_complex(found)
    return found


def number(value: Any, dtype: DType) -> Literal:
    """A scalar constant as a literal of a given element type, not weak."""
    try:
        return Literal(dtype.type(value), _STRONG_SCALARS[dtype])
    except OverflowError as error:
        raise mistake(str(error)) from None


def convert(value: Value, dtype: DType) -> Value:
    """An operand with a given element type, not weak; itself if it is that already."""
    if isinstance(value, Tracer):
        aval = value.variable.aval
        if aval.dtype == dtype and not aval.weak_type:
            return value
        return lax.convert_element_type(value, dtype)
    if isinstance(value, np.ndarray):
        array = cast("NDArray[Any]", value)
        return array if array.dtype == dtype else lax.convert_element_type(array, dtype)
    if isinstance(value, Literal):
        return number(value.value, dtype)
    return number(value, dtype)


def shape_of(value: Value) -> Shape:
    """The shape of an operand."""
    if isinstance(value, Tracer):
        return value.variable.aval.shape
    return () if isinstance(value, Literal) else np.shape(value)
