"""Arithmetic: sums, products, quotients, remainders, rounding, signs, extrema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2s.ir.jaxpr import ShapedArray
from s2s.primitive import Linear, Precedence, Producer, Value, Zero
from s2s.primitives.core import is_number, number, unbroadcast
from s2s.primitives.families import (
    Binary,
    Elementwise,
    LocallyConstant,
    Unary,
    apply,
    binary,
    choice_of_rest,
    defined_by,
    merged_choice,
    unary,
)
from s2s.primitives.logic import SelectN, bitwise_and, ge, gt, le, lt, select_n
from s2s.trace import Tracer, aval


class Neg(Unary):
    """-x."""

    kinds = "ifc"
    name = "neg"
    numpy = "-{0}"
    precedence = Precedence.UNARY
    stablehlo = "negate"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return neg(t)

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        return [neg(cts[0])]

    def fold(self, args: Sequence[Value], producer: Producer) -> Value | None:
        inner = defined_by(args[0], Neg, producer)
        return super().fold(args, producer) if inner is None else inner[1][0]

    def fold_derivative(self, args: Sequence[Value], producer: Producer) -> Value | None:
        difference = defined_by(args[0], Sub, producer)
        if difference is not None:
            return sub(*reversed(difference[1]))
        return super().fold_derivative(args, producer)


class Add(Binary):
    """x + y."""

    name = "add"
    commutative = True
    numpy = "{0} + {1}"
    precedence = Precedence.SUM
    stablehlo = "add"

    def tangent(self, tangents: Sequence[Value], z: Value, *operands: Value) -> Value:
        t_x, t_y = tangents
        return t_y if isinstance(t_x, Zero) else t_x if isinstance(t_y, Zero) else add(t_x, t_y)

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        return [unbroadcast(cts[0], a.aval) if isinstance(a, Linear) else None for a in args]

    def fold(self, args: Sequence[Value], producer: Producer) -> Value | None:
        x, y = args
        moved = _moved(x, y, 1, producer)
        if moved is not None:
            return moved
        negated = defined_by(y, Neg, producer)
        return super().fold(args, producer) if negated is None else sub(x, *negated[1])

    def fold_derivative(self, args: Sequence[Value], producer: Producer) -> Value | None:
        # In the user's own values -0.0 + 0.0 stays 0.0.
        other = self.without(0, args)
        return super().fold_derivative(args, producer) if other is None else other


class Sub(Binary):
    """x - y."""

    name = "sub"
    numpy = "{0} - {1}"
    precedence = Precedence.SUM
    stablehlo = "subtract"

    def tangent(self, tangents: Sequence[Value], z: Value, *operands: Value) -> Value:
        t_x, t_y = tangents
        return (
            neg(t_y) if isinstance(t_x, Zero) else t_x if isinstance(t_y, Zero) else sub(t_x, t_y)
        )

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        x, y = args
        return [
            unbroadcast(cts[0], x.aval) if isinstance(x, Linear) else None,
            neg(unbroadcast(cts[0], y.aval)) if isinstance(y, Linear) else None,
        ]

    def fold(self, args: Sequence[Value], producer: Producer) -> Value | None:
        x, y = args
        if is_number(y) and number(y) == 0 and not np.signbit(number(y)):
            return x
        moved = _moved(x, y, -1, producer)
        if moved is not None:
            return moved
        negated = defined_by(y, Neg, producer)
        return super().fold(args, producer) if negated is None else add(x, *negated[1])

    def fold_derivative(self, args: Sequence[Value], producer: Producer) -> Value | None:
        if is_number(args[0]) and number(args[0]) == 0:
            return neg(args[1])
        choice = merged_choice(args, producer, neg)
        if choice is None:
            choice = choice_of_rest(args[0], args[1], False, producer)
        return super().fold_derivative(args, producer) if choice is None else choice


def _moved(x: Value, y: Value, sign: int, producer: Producer) -> Value | None:
    """`i + 1 - 1` is `i`, of integers: `x` is a sum with a number, and `sign * y` is added."""
    if not is_number(y) or aval(y).dtype.kind != "i":
        return None
    for kind, inner_sign in ((Add, 1), (Sub, -1)):
        inner = defined_by(x, kind, producer)
        if inner is None or not is_number(inner[1][1]) or is_number(inner[1][0]):
            continue
        base, step = inner[1]
        if aval(base) != aval(x):
            return None
        by = sign * int(number(y)) + inner_sign * int(number(step))
        if by == 0:
            return base
        like: Any = number(y)
        size = type(like)(abs(by))
        return add(base, size) if by > 0 else sub(base, size)
    return None


class Mul(Binary):
    """x * y."""

    name = "mul"
    commutative = True
    numpy = "{0} * {1}"
    precedence = Precedence.PRODUCT
    stablehlo = "multiply"

    def dx(self, t: Value, z: Value, x: Value, y: Value) -> Value:
        return mul(t, y)

    def dy(self, t: Value, z: Value, x: Value, y: Value) -> Value:
        return mul(x, t)

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        (ct,), (x, y) = cts, args
        if isinstance(x, Linear):
            return [unbroadcast(mul(ct, y), x.aval), None]
        return [None, unbroadcast(mul(x, ct), y.aval)]

    def fold(self, args: Sequence[Value], producer: Producer) -> Value | None:
        if any(map(is_number, args)):
            other, opposite = self.without(1, args), self.without(-1, args)
            if other is not None or opposite is not None:
                return other if opposite is None else neg(opposite)
        return super().fold(args, producer)

    def fold_derivative(self, args: Sequence[Value], producer: Producer) -> Value | None:
        """A product with a choice between 0 and another number is a choice between 0 and that
        multiple."""
        for choice, other in (args, tuple(reversed(args))):
            found = defined_by(choice, SelectN, producer)
            if found is not None and len(found[1]) == 3 and all(map(is_number, found[1][1:])):
                which, *cases = found[1]
                if any(number(case) == 0 for case in cases):
                    scaled = [case if number(case) == 0 else mul(other, case) for case in cases]
                    return select_n(which, *scaled)
        return super().fold_derivative(args, producer)


class Div(Binary):
    """x / y, of floating-point numbers."""

    kinds = "fc"
    name = "div"
    numpy = "{0} / {1}"
    precedence = Precedence.PRODUCT
    stablehlo = "divide"

    def tangent(self, tangents: Sequence[Value], z: Value, *operands: Value) -> Value:
        t_x, t_y = tangents
        _, y = operands
        if isinstance(t_y, Zero):
            return t_x if isinstance(t_x, Zero) else div(t_x, y)
        if isinstance(t_x, Zero):
            return mul(div(neg(z), y), t_y)
        return div(sub(t_x, mul(z, t_y)), y)

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        x, y = args
        return [unbroadcast(div(cts[0], y), x.aval), None]

    def fold(self, args: Sequence[Value], producer: Producer) -> Value | None:
        x, y = args
        if is_number(y) and number(y) in (1, -1):
            return x if number(y) == 1 else neg(x)
        return super().fold(args, producer)

    def fold_derivative(self, args: Sequence[Value], producer: Producer) -> Value | None:
        """The logarithmic derivative of a quotient z = a / b, as one writes it: in place of
        ((t_a - z t_b) / b) / z it is t_a / a - t_b / b."""
        z = defined_by(args[1], Div, producer)
        t_z = defined_by(args[0], Div, producer)
        if z is None or t_z is None or not is_same(z[1][1], t_z[1][1]):
            return super().fold_derivative(args, producer)
        a, b = z[1]
        numerator = t_z[1][0]
        difference = defined_by(numerator, Sub, producer)
        if difference is None:
            return div(numerator, a)
        t_a, scaled = difference[1]
        product = defined_by(scaled, Mul, producer)
        if product is None or not is_same(product[1][0], args[1]):
            return None
        return sub(div(t_a, a), div(product[1][1], b))


def is_same(x: Value, y: Value) -> bool:
    """Whether both are one value that is traced."""
    return isinstance(x, Tracer) and isinstance(y, Tracer) and x.variable is y.variable


class FloorDivide(LocallyConstant):
    """The floor of x / y."""

    kinds = "iuf"
    name = "floor_divide"
    numpy = "{0} // {1}"
    precedence = Precedence.PRODUCT


class Remainder(Binary):
    """x - floor(x / y) * y, which has the sign of y: Python's %."""

    kinds = "iuf"
    name = "remainder"
    numpy = "{0} % {1}"
    precedence = Precedence.PRODUCT

    def dx(self, t: Value, z: Value, x: Value, y: Value) -> Value:
        return t

    def dy(self, t: Value, z: Value, x: Value, y: Value) -> Value:
        return neg(mul(floor_divide(x, y), t))


class Rem(Binary):
    """x - trunc(x / y) * y, which has the sign of x: C's fmod."""

    kinds = "iuf"
    name = "rem"
    numpy = "np.fmod({0}, {1})"
    math = "math.fmod({0}, {1})"
    stablehlo = "remainder"

    def dx(self, t: Value, z: Value, x: Value, y: Value) -> Value:
        return t

    def dy(self, t: Value, z: Value, x: Value, y: Value) -> Value:
        return neg(mul(trunc(div(x, y)), t))


neg = unary(Neg)
add = binary(Add)
sub = binary(Sub)
mul = binary(Mul)
div = binary(Div)
floor_divide = binary(FloorDivide)
remainder = binary(Remainder)
rem = binary(Rem)


# -- rounding -------------------------------------------------------------------------------------


class Floor(LocallyConstant):
    """The largest integer that is not larger than x."""

    kinds = "f"
    name = "floor"
    numpy = "np.floor({0})"
    math = "float(math.floor({0}))"
    stablehlo = "floor"


class Ceil(LocallyConstant):
    """The smallest integer that is not smaller than x."""

    kinds = "f"
    name = "ceil"
    numpy = "np.ceil({0})"
    math = "float(math.ceil({0}))"
    stablehlo = "ceil"


class Trunc(LocallyConstant):
    """The integer part of x."""

    kinds = "f"
    name = "trunc"
    numpy = "np.trunc({0})"
    math = "float(math.trunc({0}))"


class Round(LocallyConstant):
    """The nearest integer, the even one of two that are equally near."""

    kinds = "f"
    name = "round"
    numpy = "np.round({0})"
    stablehlo = "round_nearest_even"


class NextAfter(Binary):
    """The next floating-point number after x in the direction of y."""

    kinds = "f"
    name = "nextafter"
    numpy = "np.nextafter({0}, {1})"
    math = "math.nextafter({0}, {1})"

    def dx(self, t: Value, z: Value, x: Value, y: Value) -> Value:
        return t

    def dy(self, t: Value, z: Value, x: Value, y: Value) -> Value:
        return Zero(aval(z))


floor = unary(Floor)
ceil = unary(Ceil)
trunc = unary(Trunc)
round = unary(Round)
nextafter = binary(NextAfter)


# -- signs, extrema, bounds -----------------------------------------------------------------------


class Extremum(Binary):
    """The larger or the smaller of two values; NaN if either is.

    Where both are equal, the derivative is that of x, unless x or y is a number written in the
    program: then it is zero, the derivative of that number (`np.maximum(x, 0.0)` at 0).
    """

    kinds = "biuf"

    def wins(self, x: Value, y: Value) -> Value:
        """Where x is the result and y is not, or is as well."""
        self.missing("wins")

    def beats(self, x: Value, y: Value) -> Value:
        """Where x is the result and y is not."""
        self.missing("beats")

    def tangent(self, tangents: Sequence[Value], z: Value, *operands: Value) -> Value:
        x, y = operands
        t_x, t_y = [0 if isinstance(t, Zero) else t for t in tangents]
        if is_number(x):
            return select_n(self.beats(y, x), 0, t_y)
        return select_n(self.beats(x, y) if is_number(y) else self.wins(x, y), t_y, t_x)


class Max(Extremum):
    __doc__ = Extremum.__doc__
    name = "max"
    numpy = "np.maximum({0}, {1})"
    stablehlo = "maximum"

    def wins(self, x: Value, y: Value) -> Value:
        return ge(x, y)

    def beats(self, x: Value, y: Value) -> Value:
        return gt(x, y)


class Min(Extremum):
    __doc__ = Extremum.__doc__
    name = "min"
    numpy = "np.minimum({0}, {1})"
    stablehlo = "minimum"

    def wins(self, x: Value, y: Value) -> Value:
        return le(x, y)

    def beats(self, x: Value, y: Value) -> Value:
        return lt(x, y)


class OfPython(Extremum):
    """What Python's `max` or `min` gives of two numbers: x, unless y is larger, or smaller.

    Where either is NaN, it is x. The derivative is that of the one which is the result, but for a
    number written in the program that both are equal to.
    """

    def is_of_numbers(self, result: ShapedArray) -> bool:
        return not result.shape

    def tangent(self, tangents: Sequence[Value], z: Value, *operands: Value) -> Value:
        if any(map(is_number, operands)):
            return super().tangent(tangents, z, *operands)
        t_x, t_y = [0 if isinstance(t, Zero) else t for t in tangents]
        return select_n(self.beats(*operands[::-1]), t_x, t_y)


class PythonMax(OfPython, Max):
    __doc__ = OfPython.__doc__
    name = "python_max"
    numpy = "np.where({1} > {0}, {1}, {0})"
    math = "max({0}, {1})"


class PythonMin(OfPython, Min):
    __doc__ = OfPython.__doc__
    name = "python_min"
    numpy = "np.where({1} < {0}, {1}, {0})"
    math = "min({0}, {1})"


class Abs(Unary):
    """|x|; the derivative at 0 is 0."""

    kinds = "iuf"
    name = "abs"
    numpy = "np.abs({0})"
    math = "abs({0})"
    stablehlo = "abs"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return mul(t, sign(x))


class Sign(LocallyConstant):
    """-1, 0 or 1 as x is negative, zero or positive; NaN for NaN."""

    kinds = "iuf"
    name = "sign"
    numpy = "np.sign({0})"
    math = "math.copysign(bool({0}), {0})"
    stablehlo = "sign"


class CopySign(Binary):
    """|x| with the sign of y."""

    kinds = "f"
    name = "copysign"
    numpy = "np.copysign({0}, {1})"
    math = "math.copysign({0}, {1})"

    def dx(self, t: Value, z: Value, x: Value, y: Value) -> Value:
        return mul(t, copysign(sign(x), mul(sign(x), y)))

    def dy(self, t: Value, z: Value, x: Value, y: Value) -> Value:
        return Zero(aval(z))


class Clamp(Elementwise):
    """x, but at least `low` and at most `high`: the operands are low, x, high.

    Where x is equal to a bound, the derivative is that of the bound.
    """

    kinds = "iuf"
    name = "clamp"
    numpy = "np.clip({1}, {0}, {2})"
    stablehlo = "clamp"

    def tangent(self, tangents: Sequence[Value], z: Value, *operands: Value) -> Value:
        low, x, high = operands
        t_low, t_x, t_high = [0 if isinstance(t, Zero) else t for t in tangents]
        inside = bitwise_and(lt(low, x), lt(x, high))
        if t_low is t_high:
            return select_n(inside, 0, t_x)
        # NumPy takes the upper bound where the bounds are in the wrong order.
        outside = select_n(lt(x, high), t_high, select_n(lt(low, high), t_high, t_low))
        return select_n(inside, outside, t_x)


max = binary(Max)
min = binary(Min)
python_max = binary(PythonMax)
python_min = binary(PythonMin)
abs = unary(Abs)
sign = unary(Sign)
copysign = binary(CopySign)


def clamp(low: Value, x: Value, high: Value) -> Value:
    """x, but at least `low` and at most `high`."""
    return apply(_CLAMP, low, x, high)


_CLAMP = Clamp()
