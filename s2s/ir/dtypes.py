"""Element types: their short names in jaxprs, and NumPy 2's promotion."""

from __future__ import annotations

import functools
from typing import Any, TypeAlias, cast

import numpy as np

DType: TypeAlias = np.dtype[Any]

BOOL: DType = np.dtype(np.bool_)
INT64: DType = np.dtype(np.int64)
FLOAT32: DType = np.dtype(np.float32)
FLOAT64: DType = np.dtype(np.float64)
COMPLEX128: DType = np.dtype(np.complex128)


def _short_names() -> dict[DType, str]:
    names: dict[DType, str] = {BOOL: "bool"}
    for kind in (np.int8, np.int16, np.int32, np.int64):
        names[np.dtype(kind)] = f"i{np.dtype(kind).itemsize * 8}"
    for kind in (np.uint8, np.uint16, np.uint32, np.uint64):
        names[np.dtype(kind)] = f"u{np.dtype(kind).itemsize * 8}"
    for kind in (np.float16, np.float32, np.float64):
        names[np.dtype(kind)] = f"f{np.dtype(kind).itemsize * 8}"
    for kind in (np.complex64, np.complex128):
        names[np.dtype(kind)] = f"c{np.dtype(kind).itemsize * 8}"
    return names


SHORT_NAMES: dict[DType, str] = _short_names()
"""The short name of each element type, as jaxprs print it: `f64`, `i32`, `bool`."""


COMPLEX = "complex numbers are not supported yet"


def refused(dtype: DType) -> str:
    """Why arrays of an element type that has no short name are refused."""
    is_number = dtype.kind in "biufc" or dtype.isbuiltin == 2  # 2: of a library such as ml_dtypes
    if not is_number:
        return f"arrays of {dtype} cannot be traced, only arrays of numbers"
    return (
        f"arrays of {dtype} cannot be traced: the element types are NumPy's booleans, integers, "
        "float16, float32 and float64. Convert it first, as by .astype(np.float32)"
    )


_ARITHMETIC = (
    "__array_ufunc__",
    "__array_function__",
    "__add__",
    "__mul__",
    "__matmul__",
    "__pow__",
)


def refused_class(value: Any) -> str | None:
    """Why an array is refused for its class, if it is: for an arithmetic that is not an array's.

    `*` of two values of np.matrix is a product of matrices, and masked arrays leave elements out.
    """
    kind = cast("type[Any]", type(value))
    if not _has_own_arithmetic(kind):
        return None
    return (
        f"a {kind.__name__} computes in a way of its own, which would be lost. Pass a plain array, "
        "as np.asarray(x) gives it, or x.filled(0.0) of a masked one"
    )


@functools.cache
def _has_own_arithmetic(kind: type) -> bool:
    array: Any = np.ndarray
    return issubclass(kind, array) and any(
        getattr(kind, name) is not getattr(array, name) for name in _ARITHMETIC
    )


BY_SHORT_NAME: dict[str, DType] = {name: dtype for dtype, name in SHORT_NAMES.items()}

PYTHON_SCALARS: dict[type, DType] = {bool: BOOL, int: INT64, float: FLOAT64, complex: COMPLEX128}
"""The element type that stands for each Python scalar type; such values are weak."""


def is_inexact(dtype: DType) -> bool:
    """Whether values of `dtype` have derivatives."""
    return dtype.kind in "fc"


_WEAK_VALUE: dict[str, Any] = {"b": False, "i": 0, "f": 0.0, "c": 0j}
_promoted: dict[tuple[tuple[DType, bool], ...], tuple[DType, bool]] = {}


def promote(*kinds: tuple[DType, bool]) -> tuple[DType, bool]:
    """NumPy 2's result type of operands given as (dtype, whether a Python scalar).

    Returns the dtype and whether the result is a Python scalar again, which it is when all are.
    """
    found = _promoted.get(kinds)
    if found is None:
        weak = all(is_weak for _, is_weak in kinds)
        representatives: list[Any] = [
            _WEAK_VALUE[dtype.kind] if is_weak and not weak else dtype for dtype, is_weak in kinds
        ]
        dtype: DType = np.dtype(cast("Any", np).result_type(*representatives))
        found = _promoted[kinds] = (dtype, weak)
    return found


def lowest(dtype: DType) -> Any:
    """The value that no other is less than: minus infinity where there is one."""
    if dtype.kind == "f":
        return -np.inf
    return False if dtype == BOOL else np.iinfo(dtype).min


def highest(dtype: DType) -> Any:
    """The value that no other is greater than: infinity where there is one."""
    if dtype.kind == "f":
        return np.inf
    return True if dtype == BOOL else np.iinfo(dtype).max
