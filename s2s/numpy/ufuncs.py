"""Ufuncs: conversion of the operands to the types that NumPy computes with, broadcasting, emission.

`np.add(x, y)` follows NumPy whatever the operands. `x + y` does so unless both are Python scalars:
then it follows Python, and the result is a Python scalar again.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from s2s.ir.dims import Dim, same_shape
from s2s.ir.dtypes import BOOL, PYTHON_SCALARS, DType
from s2s.ir.jaxpr import Literal, ShapedArray
from s2s.numpy.broadcasting import stretched_together
from s2s.numpy.promotion import (
    Kind,
    aval_of_operand,
    convert,
    element_type,
    operand,
    refuse_complex,
    types_of_ufunc,
)
from s2s.numpy.registry import COUNTERPARTS, is_default, mistake
from s2s.primitive import Primitive, Value
from s2s.primitives import functions as lax
from s2s.trace import Tracer, bind

Emission = Callable[..., Value]
"""Appends the equations for operands of the ufunc's own types and of one shape or rank 0."""

_OPERANDS = (Tracer, np.ndarray, np.generic, Dim, list, tuple, Literal)
_PYTHON_TYPES: dict[str, Any] = {"b": bool, "i": int, "f": float, "c": complex}

Conversions = tuple["DType | None", ...]
"""For each operand the element type it is to be converted to, None if it may stay as it is."""


class TracedUfunc:
    """The traced counterpart of a ufunc.

    `emit` takes operands of the types that NumPy's loop takes. `python` is what the module
    `operator` calls the operator that Python scalars have for it, if they have one.
    """

    __slots__ = ("__name__", "_infix", "_prefix", "_python_types", "emit", "numpy", "python")

    def __init__(self, numpy: np.ufunc, emit: Emission, python: str | None = None) -> None:
        self.numpy = numpy
        self.emit = emit
        self.python = python
        is_own = getattr(np, numpy.__name__, None) is numpy
        self.__name__ = f"{'np' if is_own else 'scipy.special'}.{numpy.__name__}"
        self._infix: dict[tuple[Any, ...], Conversions | None] = {}
        self._prefix: dict[tuple[Kind, ...], Conversions] = {}
        self._python_types: dict[tuple[DType, ...], DType] = {}

    def __repr__(self) -> str:
        return f"<traced counterpart of {self.__name__}>"

    # -- called as a function -------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Value:
        nin = self.numpy.nin
        if len(args) > nin:
            kwargs["out"] = args[nin:]
            args = args[:nin]
        if len(args) < nin:
            raise mistake(f"{self.__name__} takes {nin} operands, not {len(args)}")
        if not kwargs:
            return self.apply([operand(arg, self.__name__) for arg in args])
        out, where = _out(kwargs)
        values = [operand(arg, self.__name__) for arg in args]
        if where is not True:
            values = [self._defined(value, where) for value in values]
        result = self.apply(values, self._dtype(kwargs))
        if out is None:
            return result
        from s2s.numpy.writing import write_out

        return write_out(out, result, where, self.__name__)

    def _defined(self, value: Value, where: Any) -> Value:
        """An operand, and one where a mask is not true: nothing is computed of it there, nor may
        the derivative depend on it."""
        if not isinstance(value, Tracer) or self.numpy in (np.add, np.subtract, np.multiply):
            return value
        return COUNTERPARTS[np.where](where, value, 1)

    def apply(self, values: Sequence[Value], dtype: DType | None = None) -> Value:
        """The result for operands, as NumPy gives it, optionally computed with a given dtype."""
        avals = [aval_of_operand(value) for value in values]
        kinds = tuple([(aval.dtype, aval.weak_type) for aval in avals])
        conversions = self._prefix.get(kinds) if dtype is None else self._with_dtype(kinds, dtype)
        if conversions is None:
            conversions = self._prefix[kinds] = self._conversions(kinds)
        if len(values) == 1:
            ((x,), (to,)) = values, conversions
            return self.emit(x if to is None else convert(x, to))
        return self._pair(values, avals, conversions)

    def _pair(
        self, values: Sequence[Value], avals: Sequence[ShapedArray], conversions: Conversions
    ) -> Value:
        """The result for two operands, to be converted and broadcast."""
        (x, y), (ax, ay), (to_x, to_y) = values, avals, conversions
        if to_x is not None:
            x = convert(x, to_x)
        if to_y is not None:
            y = convert(y, to_y)
        x_shape, y_shape = ax.shape, ay.shape
        if not x_shape or not y_shape or same_shape(x_shape, y_shape):
            return self.emit(x, y)
        return self.emit(*stretched_together(self.__name__, x, y))

    def _conversions(self, kinds: tuple[Kind, ...]) -> Conversions:
        types = types_of_ufunc(self.numpy, kinds)
        # Primitives make Python scalars of Python scalars: one operand at least must not be weak.
        all_weak = all(weak for _, weak in kinds)
        return tuple(
            None if dtype == to and not (weak and all_weak) else to
            for (dtype, weak), to in zip(kinds, types[: len(kinds)], strict=True)
        )

    def _with_dtype(self, kinds: tuple[Kind, ...], dtype: DType) -> Conversions:
        given = [
            _PYTHON_TYPES[kind.kind] if weak and kind != BOOL else kind for kind, weak in kinds
        ]
        signature = (*[None] * len(kinds), dtype)
        try:
            types = self.numpy.resolve_dtypes(
                (*given, *[None] * self.numpy.nout), signature=signature, casting="same_kind"
            )
        except TypeError as error:
            raise mistake(f"{self.__name__} with dtype={dtype.name}: {error}") from None
        return tuple(types[: len(kinds)])

    def _dtype(self, kwargs: dict[str, Any]) -> DType | None:
        """The `dtype` argument; the others are refused unless they have NumPy's default."""
        dtype = kwargs.pop("dtype", None)
        for name, default in (("where", True), ("casting", "same_kind"), ("subok", True)):
            if not is_default(kwargs.pop(name, default), default):
                raise mistake(f"{self.__name__} with the argument `{name}` is not supported")
        kwargs.pop("order", None)
        for name, value in kwargs.items():
            if value is not None:
                raise mistake(f"{self.__name__} with the argument `{name}` is not supported")
        return None if dtype is None else element_type(dtype)

    # -- written as an operator -----------------------------------------------------------------

    def infix(self, x: Any, y: Any) -> Value:
        """The result of the operator between two values, one of them traced."""
        if isinstance(x, Tracer):
            ax = x.variable.aval
        elif type(x) in PYTHON_SCALARS:
            ax = aval_of_operand(x)
        elif isinstance(x, _OPERANDS):
            x = operand(x, self.__name__)
            ax = aval_of_operand(x)
        else:
            return NotImplemented
        if isinstance(y, Tracer):
            ay = y.variable.aval
        elif type(y) in PYTHON_SCALARS:
            ay = aval_of_operand(y)
        elif isinstance(y, _OPERANDS):
            y = operand(y, self.__name__)
            ay = aval_of_operand(y)
        else:
            return NotImplemented
        key = (ax.dtype, ax.weak_type, ay.dtype, ay.weak_type)
        if key in self._infix:
            conversions = self._infix[key]
        elif ax.weak_type and ay.weak_type:
            conversions = self._infix[key] = None
        else:
            conversions = self._conversions(((ax.dtype, ax.weak_type), (ay.dtype, ay.weak_type)))
            self._infix[key] = conversions
        if conversions is None:
            return self.emit(*self._as_python(x, y))
        return self._pair((x, y), (ax, ay), conversions)

    def prefix(self, x: Tracer) -> Value:
        """The result of the unary operator on a traced value."""
        aval = x.variable.aval
        return self.emit(*self._as_python(x)) if aval.weak_type else self.apply([x])

    def _as_python(self, *values: Value) -> list[Value]:
        """Python scalars converted to the one type that Python's operator computes with."""
        dtypes = tuple([aval_of_operand(value).dtype for value in values])
        dtype = self._python_types.get(dtypes)
        if dtype is None:
            dtype = self._python_types[dtypes] = self._python_type(dtypes)
        return [as_python_scalar(value, dtype) for value in values]

    def _python_type(self, dtypes: tuple[DType, ...]) -> DType:
        """The type that Python's operator computes with, found by trying it on ones."""
        if self.python is None:
            raise mistake(f"{self.__name__} is not defined for Python scalars")
        try:
            ones = [_PYTHON_TYPES[dtype.kind](1) for dtype in dtypes]
            result: Any = getattr(operator, self.python)(*ones)
        except TypeError as error:
            raise mistake(str(error)) from None
        refuse_complex(np.result_type(result))
        if isinstance(result, bool):
            return np.result_type(*dtypes)
        return PYTHON_SCALARS[type(result)]


def _out(kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """The arguments `out` and, with it, `where`, taken out of `kwargs`."""
    out = kwargs.pop("out", None)
    if isinstance(out, tuple):
        targets = cast("tuple[Any, ...]", out)
        out = next((target for target in targets if target is not None), None)
    where = kwargs.pop("where", True) if out is not None else True
    return out, True if where is None else where


def as_python_scalar(value: Value, dtype: DType) -> Value:
    """A Python scalar converted to another type of Python scalars."""
    if isinstance(value, Tracer):
        if value.variable.aval.dtype == dtype:
            return value
        return lax.convert_element_type(value, dtype, weak_type=True)
    return _PYTHON_TYPES[dtype.kind](value)


def emission(primitive: Primitive) -> Emission:
    """The emission that appends one equation."""
    return functools.partial(bind, primitive)


def ufunc(numpy: np.ufunc, emit: Emission, python: str | None = None) -> TracedUfunc:
    """Make and register the traced counterpart of a ufunc."""
    traced = COUNTERPARTS[numpy] = TracedUfunc(numpy, emit, python)
    return traced
