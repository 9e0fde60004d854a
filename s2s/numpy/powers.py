"""Powers: `x**y` and np.power.

NumPy computes a power with the exponent 2, 0.5 or -1 as a square, a root or a reciprocal where the
base is an array, but not where it is a scalar and the power is written `**`; these differ in the
last bit. What is emitted here is spelled back as the same operation on the same kind of operand.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s.ir.dtypes import PYTHON_SCALARS, DType
from s2s.ir.jaxpr import Literal, ShapedArray
from s2s.numpy.broadcasting import another
from s2s.numpy.creation import filled
from s2s.numpy.promotion import (
    array_operand,
    aval_of_operand,
    convert,
    kind_of,
    promoted,
    types_of_ufunc,
)
from s2s.numpy.registry import COUNTERPARTS, counterpart, mistake
from s2s.numpy.ufuncs import TracedUfunc, as_python_scalar, emission
from s2s.primitive import Value
from s2s.primitives import functions as lax
from s2s.primitives.powers import Pow
from s2s.trace import Tracer

LARGEST_EXPONENT = 1 << 20
"""Exponents beyond this are not written as integer powers."""


class Power(TracedUfunc):
    """The counterpart of np.power; an exponent that is a number known now is treated apart."""

    __slots__ = ()

    def apply(self, values: Any, dtype: DType | None = None) -> Value:
        x, y = values
        exponent = known_exponent(y)
        if dtype is not None or exponent is None or not isinstance(x, Tracer):
            return super().apply(values, dtype)
        base = aval_of_operand(x)
        kind = types_of_ufunc(np.power, (kind_of(base), kind_of(aval_of_operand(y))))[-1]
        _refuse_negative(kind, exponent)
        x = convert(x, kind)
        if kind.kind == "f" and not base.shape:
            if exponent == 2:
                return lax.mul(x, x)
            if exponent == 0.5:
                return lax.sqrt(x)
            if exponent == -1:
                return lax.div(kind.type(1), x)
        return _known_power(x, exponent, kind)

    def infix(self, x: Any, y: Any) -> Value:
        exponent = known_exponent(y)
        if exponent is None or not isinstance(x, Tracer):
            self._refuse_integers(x, y)
            return super().infix(x, y)
        base = x.variable.aval
        if not (base.weak_type and type(y) in PYTHON_SCALARS):
            kind = _result_dtype(base.strong(), y)
            return _known_power(convert(x, kind), exponent, kind)
        # Python's own power: an integer to a negative integer is a float.
        kind = PYTHON_SCALARS[type(_sample(base.dtype) ** y)]
        return _known_power(as_python_scalar(x, kind), exponent, kind)

    def _refuse_integers(self, x: Any, y: Any) -> None:
        """Refuse a Python int to the power of a traced one, whose sign decides the type."""
        for value in (x, y):
            weak = value.variable.aval if isinstance(value, Tracer) else None
            whole = type(value) in (int, bool) or (
                weak is not None and weak.weak_type and weak.dtype.kind in "bi"
            )
            if not whole:
                return
        raise mistake(
            "whether an int to the power of an int is an int or a float depends on the exponent's "
            "sign; make the base a float"
        )


def _sample(dtype: DType) -> Any:
    return dtype.type(1).item()


def known_exponent(y: Any) -> int | float | None:
    """The exponent as a Python number, if it is a real number known now."""
    if isinstance(y, Literal):
        y = y.value
    if type(y) in (int, float):
        return y
    if isinstance(y, (np.integer, np.floating)) or type(y) is bool:
        return y.item() if isinstance(y, np.generic) else int(y)
    return None


def _result_dtype(base: ShapedArray, exponent: Any) -> DType:
    """The element type of a power with an exponent known now."""
    number = exponent.value if isinstance(exponent, Literal) else exponent
    if not isinstance(number, (float, np.floating)):
        _refuse_negative(base.dtype, number)
    sample: Any = np.ones((1,) * bool(base.shape), base.dtype)
    result: Any = (sample if base.shape else sample[()]) ** number
    return result.dtype


def _refuse_negative(dtype: DType, exponent: Any) -> None:
    """Refuse what NumPy refuses."""
    if dtype.kind in "biu" and exponent < 0:
        raise mistake("integers to negative integer powers are not allowed; make the base a float")


def _known_power(x: Value, exponent: int | float, kind: DType) -> Value:
    """x**exponent for x of the element type of the result."""
    aval = aval_of_operand(x)
    whole = float(exponent).is_integer() and abs(exponent) <= LARGEST_EXPONENT
    if exponent == 0:
        one = kind.type(1)
        if not aval.shape and not aval.weak_type:
            return lax.integer_pow(x, 0)
        return filled(aval.shape, one, kind) if aval.shape else lax.integer_pow(x, 0)
    if exponent == 1:
        return another(x, x)
    if whole and kind.kind != "b":
        return lax.integer_pow(x, int(exponent))
    if kind.kind == "b":
        raise mistake("a power of an array of booleans is not supported; convert it first")
    if exponent == 0.5 and aval.shape:
        return lax.sqrt(x)
    return lax.pow(x, exponent if aval.weak_type else kind.type(exponent))


power = Power(np.power, emission(Pow()), "pow")
COUNTERPARTS[np.power] = power


@counterpart(np.float_power)
def float_power(x1: Any, x2: Any) -> Value:
    """x1**x2 in 64 bits at least. NumPy's last bit may differ where x2 is 2, 0.5 or -1."""
    x, y = array_operand(x1, "np.float_power"), array_operand(x2, "np.float_power")
    kind = np.result_type(promoted(x, y), np.float64)
    return power.apply([convert(x, kind), convert(y, kind)])
