"""The ufuncs of arithmetic: sums, products, quotients, remainders, extrema, signs."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s.numpy.broadcasting import another, common_shape, stretched, stretched_together
from s2s.numpy.promotion import array_operand, aval_of_operand, convert, operand, promoted
from s2s.numpy.registry import NOT_GIVEN, counterpart
from s2s.numpy.ufuncs import Emission, emission, ufunc
from s2s.primitive import Primitive, Value
from s2s.primitives import arithmetic as primitives, functions as lax


def _is_boolean(value: Value) -> bool:
    return aval_of_operand(value).dtype.kind == "b"


def _add(x: Value, y: Value) -> Value:
    return lax.bitwise_or(x, y) if _is_boolean(x) else _add_numbers(x, y)


def _multiply(x: Value, y: Value) -> Value:
    return lax.bitwise_and(x, y) if _is_boolean(x) else _multiply_numbers(x, y)


def _absolute(x: Value) -> Value:
    return another(x, x) if aval_of_operand(x).dtype.kind in "bu" else lax.abs(x)


def _positive(x: Value) -> Value:
    return another(x, x)


def _ignoring_nan(primitive: Primitive) -> Emission:
    """The extremum of two values, or the other one where one is NaN."""
    extremum = emission(primitive)

    def emit(x: Value, y: Value) -> Value:
        found = extremum(x, y)
        if aval_of_operand(found).dtype.kind != "f":
            return found
        shape = aval_of_operand(found).shape
        x, y = stretched(x, shape), stretched(y, shape)
        return lax.select_n(lax.isnan(x), lax.select_n(lax.isnan(y), found, x), y)

    return emit


def _heaviside(x: Value, y: Value) -> Value:
    """0 for negative x, y at zero, 1 for positive x, NaN for NaN."""
    dtype = aval_of_operand(x).dtype
    zero = dtype.type(0)
    step = lax.convert_element_type(lax.gt(x, zero), dtype)
    shape = common_shape("np.heaviside", [aval_of_operand(v).shape for v in (x, y)])
    x, step, y = (stretched(value, shape) for value in (x, step, y))
    known = lax.select_n(lax.eq(x, zero), step, y)
    return lax.select_n(lax.isnan(x), known, x)


@counterpart(np.divmod)
def divmod(x1: Any, x2: Any) -> tuple[Value, Value]:
    """The floor of the quotient, and the remainder."""
    return floor_divide(x1, x2), remainder(x1, x2)


@counterpart(np.clip)
def clip(
    a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None
) -> Value:
    """The elements, but at least `a_min` and at most `a_max`; either may be left out."""
    low = min if a_min is None or a_min is NOT_GIVEN else a_min
    high = max if a_max is None or a_max is NOT_GIVEN else a_max
    if low is None and high is None:
        return another(array_operand(a, "np.clip"), a)
    if high is None:
        return maximum(a, low)
    if low is None:
        return minimum(a, high)
    values = [operand(value, "np.clip") for value in (low, array_operand(a, "np.clip"), high)]
    dtype = promoted(*values)
    return lax.clamp(*stretched_together("np.clip", *[convert(value, dtype) for value in values]))


_add_numbers = emission(primitives.Add())
_multiply_numbers = emission(primitives.Mul())

add = ufunc(np.add, _add, "add")
subtract = ufunc(np.subtract, emission(primitives.Sub()), "sub")
multiply = ufunc(np.multiply, _multiply, "mul")
divide = ufunc(np.divide, emission(primitives.Div()), "truediv")
negative = ufunc(np.negative, emission(primitives.Neg()), "neg")
positive = ufunc(np.positive, _positive, "pos")
absolute = ufunc(np.absolute, _absolute, "abs")
fabs = ufunc(np.fabs, emission(primitives.Abs()))
floor_divide = ufunc(np.floor_divide, emission(primitives.FloorDivide()), "floordiv")
remainder = ufunc(np.remainder, emission(primitives.Remainder()), "mod")
fmod = ufunc(np.fmod, emission(primitives.Rem()))
copysign = ufunc(np.copysign, emission(primitives.CopySign()))
nextafter = ufunc(np.nextafter, emission(primitives.NextAfter()))
maximum = ufunc(np.maximum, emission(primitives.Max()))
minimum = ufunc(np.minimum, emission(primitives.Min()))
fmax = ufunc(np.fmax, _ignoring_nan(primitives.Max()))
fmin = ufunc(np.fmin, _ignoring_nan(primitives.Min()))
heaviside = ufunc(np.heaviside, _heaviside)
conjugate = ufunc(np.conjugate, _positive)
sign = ufunc(np.sign, emission(primitives.Sign()))
