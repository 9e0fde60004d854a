"""Circular and hyperbolic functions and their inverses. Angles are in radians."""

from __future__ import annotations

from collections.abc import Sequence

from s2s.primitive import Value, Zero
from s2s.primitives.arithmetic import add, div, mul, neg, sub
from s2s.primitives.families import Binary, Unary, binary, unary
from s2s.primitives.powers import integer_pow, sqrt


class Sin(Unary):
    """The sine of x."""

    name = "sin"
    numpy = "np.sin({0})"
    math = "math.sin({0})"
    stablehlo = "sine"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return mul(t, cos(x))


class Cos(Unary):
    """The cosine of x."""

    name = "cos"
    numpy = "np.cos({0})"
    math = "math.cos({0})"
    stablehlo = "cosine"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return mul(t, neg(sin(x)))


class Tan(Unary):
    """The tangent of x."""

    name = "tan"
    numpy = "np.tan({0})"
    math = "math.tan({0})"
    stablehlo = "tan"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return mul(t, add(1, integer_pow(z, 2)))


class Asin(Unary):
    """The inverse sine of x."""

    name = "asin"
    numpy = "np.arcsin({0})"
    math = "math.asin({0})"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return div(t, _cathetus(x))


class Acos(Unary):
    """The inverse cosine of x."""

    name = "acos"
    numpy = "np.arccos({0})"
    math = "math.acos({0})"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return neg(div(t, _cathetus(x)))


def _cathetus(x: Value) -> Value:
    # 1 - x**2 loses digits where x is near 1.
    return sqrt(mul(sub(1, x), add(1, x)))


class Atan(Unary):
    """The inverse tangent of x."""

    name = "atan"
    numpy = "np.arctan({0})"
    math = "math.atan({0})"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return div(t, add(1, integer_pow(x, 2)))


class Atan2(Binary):
    """The angle of the point with ordinate x and abscissa y, from -pi to pi."""

    kinds = "f"
    name = "atan2"
    numpy = "np.arctan2({0}, {1})"
    math = "math.atan2({0}, {1})"
    stablehlo = "atan2"

    def tangent(self, tangents: Sequence[Value], z: Value, *operands: Value) -> Value:
        (t_x, t_y), (x, y) = tangents, operands
        squares = add(integer_pow(x, 2), integer_pow(y, 2))
        if isinstance(t_x, Zero):
            return mul(div(neg(x), squares), t_y)
        if isinstance(t_y, Zero):
            return mul(div(y, squares), t_x)
        return div(sub(mul(y, t_x), mul(x, t_y)), squares)


class Sinh(Unary):
    """The hyperbolic sine of x."""

    name = "sinh"
    numpy = "np.sinh({0})"
    math = "math.sinh({0})"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return mul(t, cosh(x))


class Cosh(Unary):
    """The hyperbolic cosine of x."""

    name = "cosh"
    numpy = "np.cosh({0})"
    math = "math.cosh({0})"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return mul(t, sinh(x))


class Tanh(Unary):
    """The hyperbolic tangent of x."""

    name = "tanh"
    numpy = "np.tanh({0})"
    math = "math.tanh({0})"
    stablehlo = "tanh"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return mul(t, sub(1, integer_pow(z, 2)))


class Asinh(Unary):
    """The inverse hyperbolic sine of x."""

    name = "asinh"
    numpy = "np.arcsinh({0})"
    math = "math.asinh({0})"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return div(t, sqrt(add(1, integer_pow(x, 2))))


class Acosh(Unary):
    """The inverse hyperbolic cosine of x."""

    name = "acosh"
    numpy = "np.arccosh({0})"
    math = "math.acosh({0})"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return div(t, sqrt(mul(sub(x, 1), add(x, 1))))


class Atanh(Unary):
    """The inverse hyperbolic tangent of x."""

    name = "atanh"
    numpy = "np.arctanh({0})"
    math = "math.atanh({0})"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return div(t, mul(sub(1, x), add(1, x)))


sin = unary(Sin)
cos = unary(Cos)
tan = unary(Tan)
asin = unary(Asin)
acos = unary(Acos)
atan = unary(Atan)
atan2 = binary(Atan2)
sinh = unary(Sinh)
cosh = unary(Cosh)
tanh = unary(Tanh)
asinh = unary(Asinh)
acosh = unary(Acosh)
atanh = unary(Atanh)
