"""Circular and hyperbolic functions and their inverses. Angles are in radians."""

from __future__ import annotations

from s2s.primitive import Value
from s2s.primitives.arithmetic import mul, neg, sub
from s2s.primitives.families import Unary, unary
from s2s.primitives.powers import integer_pow


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


class Tanh(Unary):
    """The hyperbolic tangent of x."""

    name = "tanh"
    numpy = "np.tanh({0})"
    math = "math.tanh({0})"
    stablehlo = "tanh"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return mul(t, sub(1, integer_pow(z, 2)))


sin = unary(Sin)
cos = unary(Cos)
tanh = unary(Tanh)
