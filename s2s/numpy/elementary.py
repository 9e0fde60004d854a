"""The elementary functions as ufuncs: exponentials, logarithms, roots, angles."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s.numpy.arithmetic import divide, multiply
from s2s.numpy.creation import array
from s2s.numpy.promotion import array_operand, aval_of_operand, convert, operand
from s2s.numpy.registry import counterpart
from s2s.numpy.ufuncs import Emission, emission, ufunc
from s2s.primitive import Value
from s2s.primitives import functions as lax, logic, powers, trigonometric


def _factor(numpy: np.ufunc) -> Emission:
    """The emission of a ufunc that multiplies by a constant; NumPy rounds it to the type of x."""

    def multiplied(x: Value) -> Value:
        dtype = aval_of_operand(x).dtype
        # Half precision is multiplied in single precision.
        within = np.dtype(np.float32) if dtype == np.float16 else dtype
        return convert(lax.mul(convert(x, within), numpy(within.type(1))), dtype)

    return multiplied


exp = ufunc(np.exp, emission(powers.Exp()))
exp2 = ufunc(np.exp2, emission(powers.Exp2()))
expm1 = ufunc(np.expm1, emission(powers.Expm1()))
log = ufunc(np.log, emission(powers.Log()))
log2 = ufunc(np.log2, emission(powers.Log2()))
log10 = ufunc(np.log10, emission(powers.Log10()))
log1p = ufunc(np.log1p, emission(powers.Log1p()))
logaddexp = ufunc(np.logaddexp, emission(powers.LogAddExp()))
logaddexp2 = ufunc(np.logaddexp2, emission(powers.LogAddExp2()))

sqrt = ufunc(np.sqrt, emission(powers.Sqrt()))
cbrt = ufunc(np.cbrt, emission(powers.Cbrt()))
square = ufunc(np.square, emission(powers.Square()))
reciprocal = ufunc(np.reciprocal, emission(powers.Reciprocal()))
hypot = ufunc(np.hypot, emission(powers.Hypot()))

sin = ufunc(np.sin, emission(trigonometric.Sin()))
cos = ufunc(np.cos, emission(trigonometric.Cos()))
tan = ufunc(np.tan, emission(trigonometric.Tan()))
arcsin = ufunc(np.arcsin, emission(trigonometric.Asin()))
arccos = ufunc(np.arccos, emission(trigonometric.Acos()))
arctan = ufunc(np.arctan, emission(trigonometric.Atan()))
arctan2 = ufunc(np.arctan2, emission(trigonometric.Atan2()))
sinh = ufunc(np.sinh, emission(trigonometric.Sinh()))
cosh = ufunc(np.cosh, emission(trigonometric.Cosh()))
tanh = ufunc(np.tanh, emission(trigonometric.Tanh()))
arcsinh = ufunc(np.arcsinh, emission(trigonometric.Asinh()))
arccosh = ufunc(np.arccosh, emission(trigonometric.Acosh()))
arctanh = ufunc(np.arctanh, emission(trigonometric.Atanh()))

deg2rad = ufunc(np.deg2rad, _factor(np.deg2rad))
radians = ufunc(np.radians, _factor(np.radians))
rad2deg = ufunc(np.rad2deg, _factor(np.rad2deg))
degrees = ufunc(np.degrees, _factor(np.degrees))

isnan = ufunc(np.isnan, emission(logic.IsNan()))
isinf = ufunc(np.isinf, emission(logic.IsInf()))
isfinite = ufunc(np.isfinite, emission(logic.IsFinite()))
signbit = ufunc(np.signbit, emission(logic.SignBit()))


@counterpart(np.sinc)
def sinc(x: Any) -> Value:
    """sin(pi x) / (pi x), and 1 at 0."""
    angle = multiply(np.pi, array_operand(x, "np.sinc"))
    dtype = aval_of_operand(angle).dtype
    angle = lax.select_n(lax.ne(angle, dtype.type(0)), np.finfo(dtype).eps, angle)
    return divide(sin(angle), angle)


@counterpart(np.nan_to_num)
def nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Value:
    """NaN and infinities replaced, by zero and the largest numbers unless others are given."""
    value = array_operand(x, "np.nan_to_num")
    dtype = aval_of_operand(value).dtype
    if dtype.kind != "f":
        return array(value)
    limits = np.finfo(dtype)
    highest = limits.max if posinf is None else posinf
    lowest = limits.min if neginf is None else neginf
    infinite = lax.isinf(value)
    negative = lax.lt(value, dtype.type(0))
    finite = lax.select_n(lax.isnan(value), value, convert(operand(nan), dtype))
    bound = lax.select_n(
        negative, convert(operand(highest), dtype), convert(operand(lowest), dtype)
    )
    return lax.select_n(infinite, finite, bound)
