"""Powers, roots, exponentials and logarithms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from s2s.primitive import Precedence, Producer, Value, Zero
from s2s.primitives.arithmetic import add, div, mul, neg, sub
from s2s.primitives.core import is_number, number
from s2s.primitives.families import Binary, Unary, apply, binary, unary
from s2s.primitives.logic import eq, select_n
from s2s.trace import aval


@dataclass(frozen=True)
class IntegerPow(Unary):
    """x**y for a given integer y."""

    y: int

    kinds = "iufc"
    name = "integer_pow"
    numpy = "{0} ** {y}"
    precedence = Precedence.POWER

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        if self.y == 0:
            return Zero(aval(z))
        return mul(mul(self.y, integer_pow(x, self.y - 1)), t)

    def fold(self, args: Sequence[Value], producer: Producer) -> Value | None:
        return args[0] if self.y == 1 else super().fold(args, producer)


def integer_pow(x: Value, y: int) -> Value:
    """x**y for an integer y known now; its derivative is right at zero for every y."""
    return x if y == 1 else apply(IntegerPow(y), x)


class Pow(Binary):
    """x**y. At x = 0, the derivative by y is 0, and that by x is 0 if y is 0."""

    name = "pow"
    numpy = "{0} ** {1}"
    precedence = Precedence.POWER
    stablehlo = "power"

    def dx(self, t: Value, z: Value, x: Value, y: Value) -> Value:
        if is_number(y):
            return mul(mul(y, pow(x, sub(y, 1))), t) if number(y) != 0 else Zero(aval(z))
        return mul(mul(y, pow(x, select_n(eq(y, 0), sub(y, 1), 1))), t)

    def dy(self, t: Value, z: Value, x: Value, y: Value) -> Value:
        base = x if is_number(x) and number(x) != 0 else select_n(eq(x, 0), x, 1)
        return mul(mul(z, log(base)), t)


pow = binary(Pow)


class Sqrt(Unary):
    """The square root of x."""

    name = "sqrt"
    numpy = "np.sqrt({0})"
    math = "math.sqrt({0})"
    stablehlo = "sqrt"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return div(t, mul(2, z))


class Exp(Unary):
    """e**x."""

    name = "exp"
    numpy = "np.exp({0})"
    math = "math.exp({0})"
    stablehlo = "exponential"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return mul(t, z)


class Log(Unary):
    """The natural logarithm of x."""

    name = "log"
    numpy = "np.log({0})"
    math = "math.log({0})"
    stablehlo = "log"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return div(t, x)


sqrt = unary(Sqrt)
exp = unary(Exp)
log = unary(Log)
