"""The `math` module on traced values: of one number each, giving a Python float.

Each function computes what NumPy's ufunc of the same meaning does, on Python floats, which keeps
the result a Python float; generated code calls `math` for it again.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from s2s import lax
from s2s.frontend.dispatch import counterparts
from s2s.ir.dims import Dim
from s2s.ir.dtypes import FLOAT64, INT64
from s2s.numpy.registry import COUNTERPARTS, mistake
from s2s.primitive import Value
from s2s.trace import Tracer

Function = Callable[..., Any]


def _python_float(value: Any, name: str) -> Value:
    """An argument of a function of `math`, as the Python float that it is there."""
    if isinstance(value, Dim):
        value = lax.dim_as_value(value)
    if not isinstance(value, Tracer):
        return float(value)
    aval = value.aval
    if aval.shape != ():
        raise mistake(
            f"math.{name} takes a single number, not an array of type {aval}. Use np.{name}."
        )
    if aval.dtype.kind == "c":
        raise mistake(f"math.{name} takes a real number, not a complex one.")
    return lax.convert_element_type(value, FLOAT64, weak_type=True)


_BY_UFUNC: dict[Function, np.ufunc] = {
    math.acos: np.arccos,
    math.acosh: np.arccosh,
    math.asin: np.arcsin,
    math.asinh: np.arcsinh,
    math.atan: np.arctan,
    math.atan2: np.arctan2,
    math.atanh: np.arctanh,
    math.cbrt: np.cbrt,
    math.copysign: np.copysign,
    math.cos: np.cos,
    math.cosh: np.cosh,
    math.exp: np.exp,
    math.exp2: np.exp2,
    math.expm1: np.expm1,
    math.fabs: np.fabs,
    math.fmod: np.fmod,
    math.isfinite: np.isfinite,
    math.isinf: np.isinf,
    math.isnan: np.isnan,
    math.log10: np.log10,
    math.log1p: np.log1p,
    math.log2: np.log2,
    math.pow: np.power,
    math.sin: np.sin,
    math.sinh: np.sinh,
    math.sqrt: np.sqrt,
    math.tan: np.tan,
    math.tanh: np.tanh,
}
"""The ufuncs that compute the same on Python floats."""

_ROUNDING: dict[Function, np.ufunc] = {
    math.ceil: np.ceil,
    math.floor: np.floor,
    math.trunc: np.trunc,
}


def _by_ufunc(name: str, ufunc: np.ufunc) -> Function:
    def counterpart(*args: Any) -> Value:
        if len(args) != ufunc.nin:
            raise mistake(f"math.{name} takes {ufunc.nin} arguments here, not {len(args)}.")
        return COUNTERPARTS[ufunc].emit(*[_python_float(arg, name) for arg in args])  # type: ignore[attr-defined]

    return counterpart


def _rounding(name: str, ufunc: np.ufunc) -> Function:
    emit = _by_ufunc(name, ufunc)

    def counterpart(x: Any) -> Value:
        return x if isinstance(x, Dim) else lax.convert_element_type(emit(x), INT64, weak_type=True)

    return counterpart


def _log(x: Any, base: Any = None) -> Value:
    if base is None:
        return lax.log(_python_float(x, "log"))
    return _log_of(x) / _log_of(base)


def _log_of(x: Any) -> Value:
    x = _python_float(x, "log")
    return lax.log(x) if isinstance(x, Tracer) else math.log(x)


def _hypot(*coordinates: Any) -> Value:
    if len(coordinates) != 2:
        raise mistake(
            "math.hypot of other than two values. Write math.sqrt(x * x + y * y + z * z)."
        )
    return _by_ufunc("hypot", np.hypot)(*coordinates)


def _prod(values: Iterable[Any], *, start: Any = 1) -> Any:
    return functools.reduce(operator.mul, values, start)


def _degrees(x: Any) -> Value:
    return _python_float(x, "degrees") * (180.0 / math.pi)


def _radians(x: Any) -> Value:
    return _python_float(x, "radians") * (math.pi / 180.0)


_BY_PRIMITIVE: dict[Function, Function] = {
    math.erf: lax.erf,
    math.erfc: lax.erfc,
    math.lgamma: lax.lgamma,
}


def _by_primitive(name: str, primitive: Function) -> Function:
    def counterpart(x: Any) -> Value:
        return primitive(_python_float(x, name))

    return counterpart


counterparts.update({f: _by_ufunc(f.__name__, ufunc) for f, ufunc in _BY_UFUNC.items()})
counterparts.update({f: _rounding(f.__name__, ufunc) for f, ufunc in _ROUNDING.items()})
counterparts.update({f: _by_primitive(f.__name__, p) for f, p in _BY_PRIMITIVE.items()})
counterparts.update(
    {
        math.degrees: _degrees,
        math.hypot: _hypot,
        math.log: _log,
        math.prod: _prod,
        math.radians: _radians,
    }
)
