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

    def fold(self, args: Sequence[Value], producer: Producer) -> Value | None:
        x, y = args
        one = is_number(y) and number(y) == 1
        return x if one and aval(x).dtype.kind == "f" else super().fold(args, producer)


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


class Square(Unary):
    """x * x."""

    kinds = "iufc"
    name = "square"
    numpy = "np.square({0})"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return mul(mul(2, x), t)


class Reciprocal(Unary):
    """1 / x."""

    kinds = "fc"
    name = "reciprocal"
    numpy = "np.reciprocal({0})"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return mul(neg(integer_pow(z, 2)), t)


class Rsqrt(Unary):
    """1 / sqrt(x)."""

    name = "rsqrt"
    numpy = "1.0 / np.sqrt({0})"
    precedence = Precedence.PRODUCT
    stablehlo = "rsqrt"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return mul(div(mul(-0.5, z), x), t)

    def operand_precedence(self, position: int) -> Precedence:
        return Precedence.CONDITIONAL


class Cbrt(Unary):
    """The real cube root of x."""

    kinds = "f"
    name = "cbrt"
    numpy = "np.cbrt({0})"
    math = "math.cbrt({0})"
    stablehlo = "cbrt"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return div(t, mul(3, integer_pow(z, 2)))


class Hypot(Binary):
    """sqrt(x**2 + y**2), without overflow."""

    kinds = "f"
    name = "hypot"
    numpy = "np.hypot({0}, {1})"
    math = "math.hypot({0}, {1})"

    def dx(self, t: Value, z: Value, x: Value, y: Value) -> Value:
        return mul(div(x, z), t)

    def dy(self, t: Value, z: Value, x: Value, y: Value) -> Value:
        return mul(div(y, z), t)


class Exp2(Unary):
    """2**x."""

    name = "exp2"
    numpy = "np.exp2({0})"
    math = "math.exp2({0})"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return mul(mul(math.log(2), z), t)


class Expm1(Unary):
    """e**x - 1, precise for small x."""

    name = "expm1"
    numpy = "np.expm1({0})"
    math = "math.expm1({0})"
    stablehlo = "exponential_minus_one"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        # Not z + 1, which loses all digits where e**x is small.
        return mul(t, exp(x))


class Log1p(Unary):
    """log(1 + x), precise for small x."""

    name = "log1p"
    numpy = "np.log1p({0})"
    math = "math.log1p({0})"
    stablehlo = "log_plus_one"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return div(t, add(1, x))


class Log2(Unary):
    """The logarithm of x to base 2."""

    name = "log2"
    numpy = "np.log2({0})"
    math = "math.log2({0})"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return div(t, mul(math.log(2), x))


class Log10(Unary):
    """The logarithm of x to base 10."""

    name = "log10"
    numpy = "np.log10({0})"
    math = "math.log10({0})"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return div(t, mul(math.log(10), x))


class LogAddExp(Binary):
    """log(exp(x) + exp(y)), without overflow. The derivatives are exp(x - z) and exp(y - z)."""

    kinds = "f"
    name = "logaddexp"
    numpy = "np.logaddexp({0}, {1})"

    def dx(self, t: Value, z: Value, x: Value, y: Value) -> Value:
        return mul(t, exp(sub(x, z)))

    def dy(self, t: Value, z: Value, x: Value, y: Value) -> Value:
        return mul(t, exp(sub(y, z)))


class LogAddExp2(Binary):
    """log2(2**x + 2**y), without overflow. The derivatives are 2**(x - z) and 2**(y - z)."""

    kinds = "f"
    name = "logaddexp2"
    numpy = "np.logaddexp2({0}, {1})"

    def dx(self, t: Value, z: Value, x: Value, y: Value) -> Value:
        return mul(t, exp2(sub(x, z)))

    def dy(self, t: Value, z: Value, x: Value, y: Value) -> Value:
        return mul(t, exp2(sub(y, z)))


square = unary(Square)
reciprocal = unary(Reciprocal)
sqrt = unary(Sqrt)
rsqrt = unary(Rsqrt)
cbrt = unary(Cbrt)
hypot = binary(Hypot)
exp = unary(Exp)
exp2 = unary(Exp2)
expm1 = unary(Expm1)
log = unary(Log)
log1p = unary(Log1p)
log2 = unary(Log2)
log10 = unary(Log10)
logaddexp = binary(LogAddExp)
logaddexp2 = binary(LogAddExp2)
