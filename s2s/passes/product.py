"""A product that is not computed yet: constants, powers and repeated arrays in it are collected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from s2s.ir.dims import same_shape
from s2s.ir.jaxpr import Literal, ShapedArray, Var
from s2s.passes.names import hand_on_names
from s2s.primitive import Value
from s2s.primitives.arithmetic import Mul, Neg, div, mul, neg
from s2s.primitives.core import (
    BroadcastInDim,
    ConvertElementType,
    broadcast_in_dim,
    convert_element_type,
    fill,
)
from s2s.primitives.families import defined_by, is_number
from s2s.primitives.powers import IntegerPow, integer_pow
from s2s.primitives.structural import number
from s2s.trace import Tracer, aval


class Product:
    """`coefficient * numerators... / denominators...`, not yet computed.

    The factors are of rank 0 or of the shape of `aval`.
    """

    __slots__ = ("aval", "coefficient", "denominators", "name", "numerators")

    def __init__(
        self,
        aval: ShapedArray,
        coefficient: float = 1.0,
        numerators: tuple[Value, ...] = (),
        denominators: tuple[Value, ...] = (),
        name: str | None = None,
    ) -> None:
        self.aval = aval
        self.coefficient = coefficient
        self.numerators = numerators
        self.denominators = denominators
        self.name = name

    def times(self, other: Product, result: ShapedArray) -> Product:
        """The product with another one."""
        return Product(
            result,
            self.coefficient * other.coefficient,
            self.numerators + other.numerators,
            self.denominators + other.denominators,
        )

    def over(self, other: Product, result: ShapedArray) -> Product:
        """The quotient by a product whose coefficient is not zero."""
        return Product(
            result,
            self.coefficient / other.coefficient,
            self.numerators + other.denominators,
            self.denominators + other.numerators,
        )

    def scaled(self, factor: float) -> Product:
        """The product with a constant, nameless."""
        return Product(self.aval, self.coefficient * factor, self.numerators, self.denominators)

    def of_type(self, result: ShapedArray) -> Product:
        """The same product repeated to another shape, nameless."""
        return Product(result, self.coefficient, self.numerators, self.denominators)

    @property
    def is_constant(self) -> bool:
        return not self.numerators and not self.denominators

    @property
    def is_one(self) -> bool:
        return self.coefficient == 1.0 and self.is_constant

    @property
    def is_negation(self) -> bool:
        """Whether this is -x. It costs nothing to absorb the sign wherever x is used."""
        return self.coefficient == -1.0 and len(self.numerators) == 1 and not self.denominators

    @property
    def is_number(self) -> bool:
        """Whether all elements are the same: a product of factors of rank 0, broadcast or not."""
        return not any(aval(f).shape for f in (*self.numerators, *self.denominators))

    def split(self) -> tuple[Product, Product]:
        """The factors of rank 0 with the coefficient, and the others.

        Where all factors are of rank 0 the coefficient alone is the first part.
        """
        if not self.aval.shape:
            rest = Product(self.aval, 1.0, self.numerators, self.denominators, self.name)
            return Product(self.aval, self.coefficient), rest
        cheap_above, above = _by_rank(self.numerators)
        cheap_below, below = _by_rank(self.denominators)
        number = ShapedArray((), self.aval.dtype)
        return (
            Product(number, self.coefficient, cheap_above, cheap_below),
            Product(self.aval, 1.0, above, below, self.name),
        )

    def compute(self) -> Value:
        """Append the equations of the product, numbers before arrays."""
        # A constant is multiplied with the ones of the user's, as in `0.5 * x`.
        product = self if abs(self.coefficient) == 1.0 else expanded(self)
        coefficient = product.coefficient
        above, below = _cancelled(product.numerators, product.denominators)
        if self.aval.shape:
            front: Value | None = None
            cheap_above, above = _by_rank(above)
            cheap_below, below = _by_rank(below)
            if abs(coefficient) == 1.0 and not cheap_above and len(cheap_below) == 1 and above:
                below, cheap_below = (*below, *cheap_below), ()  # `x / s`, not `1.0 / s * x`
            if cheap_above or cheap_below:
                front = _multiply(coefficient, cheap_above, cheap_below)
                coefficient = 1.0
            repeated = _repeated(above, below)
            if repeated is not None and (
                front is not None or abs(coefficient) != 1.0 or len(repeated.factors) > 1
            ):
                front = repeated.times(coefficient, front, self.aval)
                coefficient = 1.0
                above, below = repeated.without(above), repeated.without(below)
            if front is not None:
                above = (front, *above)
        value = _multiply(coefficient, above, below) if above or below else None
        value = fill(_number(coefficient, self.aval) if value is None else value, self.aval.shape)
        if self.aval.weak_type and not aval(value).weak_type:
            value = convert_element_type(value, self.aval.dtype, True)
        if self.name is not None:
            hand_on_names([value], [Var(self.aval, self.name)])
        return value


def _cancelled(
    above: Sequence[Value], below: Sequence[Value]
) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """The numerators and denominators with powers of one value collected, if it is below.

    `a / x / x` stays, since `x**2` may underflow where `a / x` does not.
    """
    powers: dict[int, list[tuple[Value, Value, int]]] = {}
    for factor, sign in (*[(f, 1) for f in above], *[(f, -1) for f in below]):
        base, exponent = _power(factor)
        powers.setdefault(_identity(base), []).append((factor, base, sign * exponent))
    numerators, denominators = list(above), list(below)
    for members in powers.values():
        signs = {exponent > 0 for _, _, exponent in members}
        if len(members) < 2 or signs == {True} or (signs == {False} and above):
            continue
        base, exponent = members[0][1], sum(exponent for _, _, exponent in members)
        if all(is_same(factor, members[0][0]) for factor, _, _ in members) and exponent < 0:
            base, exponent = members[0][0], -len(members)
        gone = {id(factor) for factor, _, _ in members}
        numerators = [factor for factor in numerators if id(factor) not in gone]
        denominators = [factor for factor in denominators if id(factor) not in gone]
        if exponent > 0:
            numerators.append(integer_pow(base, exponent))
        elif exponent < 0:
            denominators.append(integer_pow(base, -exponent))
    return tuple(numerators), tuple(denominators)


def _power(factor: Value) -> tuple[Value, int]:
    """A factor as a positive integer power of another value."""
    if isinstance(factor, Tracer):
        found = defined_by(factor, IntegerPow, factor.builder.producer)
        if found is not None and found[0].y > 0:
            return found[1][0], found[0].y
    return factor, 1


@dataclass(frozen=True)
class _Repeated:
    """Factors that repeat smaller arrays along the same axes, which are multiplied before that."""

    kind: BroadcastInDim
    factors: Mapping[int, Value]
    """What is repeated, by the identity of the factor."""
    numerators: Sequence[Value]
    denominators: Sequence[Value]

    def times(self, coefficient: float, front: Value | None, result: ShapedArray) -> Value:
        """The product of them all, of a constant and of a number, repeated."""
        above = self.numerators if front is None else [front, *self.numerators]
        small = _multiply(coefficient, above, self.denominators)
        assert small is not None
        return broadcast_in_dim(small, result.shape, self.kind.broadcast_dimensions)

    def without(self, factors: Sequence[Value]) -> tuple[Value, ...]:
        """The other factors."""
        return tuple(factor for factor in factors if id(factor) not in self.factors)


def _repeated(above: Sequence[Value], below: Sequence[Value]) -> _Repeated | None:
    """The factors that repeat a smaller array as the first such numerator does; None if none does
    or if nothing else is left to multiply with."""
    found = [(factor, _broadcast(factor)) for factor in (*above, *below)]
    first = next((b for _, b in found[: len(above)] if b is not None), None)
    if first is None:
        return None
    kind, shape = first[0], aval(first[1]).shape
    factors = {
        id(factor): b[1]
        for factor, b in found
        if b is not None and b[0] == kind and same_shape(aval(b[1]).shape, shape)
    }
    if len(factors) == len(found):
        return None
    return _Repeated(
        kind,
        factors,
        [factors[id(factor)] for factor in above if id(factor) in factors],
        [factors[id(factor)] for factor in below if id(factor) in factors],
    )


def _broadcast(factor: Value) -> tuple[BroadcastInDim, Value] | None:
    """What a factor repeats, if it repeats an array."""
    if not isinstance(factor, Tracer):
        return None
    found = defined_by(factor, BroadcastInDim, factor.builder.producer)
    if found is None:
        return None
    kind, (x,) = found
    return (kind, x) if aval(x).shape and not kind.adds_axes_of_size_1(aval(x)) else None


def _by_rank(factors: tuple[Value, ...]) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """The factors of rank 0, and the others."""
    if all(aval(factor).shape for factor in factors):
        return (), factors
    return (
        tuple(factor for factor in factors if not aval(factor).shape),
        tuple(factor for factor in factors if aval(factor).shape),
    )


def _number(value: float, of: ShapedArray) -> Value:
    """A number of the element type of a product, which no factor gives it."""
    return value if of.weak_type else Literal(of.dtype.type(value), ShapedArray((), of.dtype))


def _multiply(
    coefficient: float, numerators: Sequence[Value], denominators: Sequence[Value]
) -> Value | None:
    """The product of factors of which the constant comes first; None if it is 1."""
    total: Value | None = None
    negative = coefficient == -1.0 and bool(numerators)
    if coefficient != 1.0 and not negative:
        total = coefficient
    for index, factor in enumerate(numerators):
        if negative and index == 0:
            factor = neg(factor)
        total = factor if total is None else mul(total, factor)
    for factor in denominators:
        total = div(1.0 if total is None else total, factor)
    return total


def factored(operand: Any) -> Product:
    """An operand as a product: itself its one factor, or a constant."""
    if isinstance(operand, Product):
        return operand
    of = aval(operand)
    if is_number(operand):
        return Product(of, float(operand.value if isinstance(operand, Literal) else operand))
    if isinstance(operand, Tracer):
        negated = defined_by(operand, Neg, operand.builder.producer)
        if negated is not None:
            return Product(of, -1.0, (negated[1][0],))
        filled = defined_by(operand, BroadcastInDim, operand.builder.producer)
        if filled is not None and is_number(filled[1][0]):
            return Product(of, float(number(filled[1][0])))
    return Product(of, 1.0, (operand,))


def expanded(product: Product) -> Product:
    """The same product with multiples of values, such as the user's `0.5 * x`, taken apart."""
    coefficient = product.coefficient
    numerators: list[Value] = []
    denominators: list[Value] = []
    for factor in product.numerators:
        multiple, factor = _multiple(factor)
        coefficient *= multiple
        numerators.append(factor)
    for factor in product.denominators:
        multiple, other = _multiple(factor)
        is_nonzero = multiple != 0.0
        coefficient /= multiple if is_nonzero else 1.0
        denominators.append(other if is_nonzero else factor)
    return Product(product.aval, coefficient, tuple(numerators), tuple(denominators), product.name)


def _multiple(value: Value) -> tuple[float, Value]:
    """A value as a constant times another one."""
    if not isinstance(value, Tracer):
        return 1.0, value
    converted = defined_by(value, ConvertElementType, value.builder.producer)
    if converted is not None and aval(converted[1][0]).dtype == value.aval.dtype:
        coefficient, other = _multiple(converted[1][0])
        return (1.0, value) if other is converted[1][0] else (coefficient, other)
    found = defined_by(value, Mul, value.builder.producer)
    if found is None or not any(map(is_number, found[1])):
        return 1.0, value
    x, y = found[1] if is_number(found[1][0]) else reversed(found[1])
    return factored(x).coefficient, y


def same_product(a: Product, b: Product) -> bool:
    return (
        a.coefficient == b.coefficient
        and _identities(a.numerators) == _identities(b.numerators)
        and _identities(a.denominators) == _identities(b.denominators)
    )


def _identities(factors: Sequence[Value]) -> list[int]:
    """Equal for the same factors in any order."""
    return sorted(map(_identity, factors))


def _identity(factor: Value) -> int:
    return id(getattr(factor, "variable", factor))


def is_same(p: Value, q: Value) -> bool:
    return p is q or getattr(p, "variable", p) is getattr(q, "variable", q)
