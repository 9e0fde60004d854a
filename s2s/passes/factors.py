"""Products of a derivative collected: constants multiplied out, cheap factors first.

Transposition multiplies by one factor an equation, in the order in which the chain rule meets
them. A person would multiply the constants at once, the numbers before the arrays, and write a
difference instead of a sum with a factor of -1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from s2s.ir.check import check
from s2s.ir.dims import same_shape
from s2s.ir.jaxpr import Atom, ClosedJaxpr, JaxprEqn, Literal, ShapedArray, Var
from s2s.passes.names import hand_on_names
from s2s.primitive import Value
from s2s.primitives.arithmetic import Div, Mul, Neg, div, mul, neg, sub
from s2s.primitives.contractions import dot_general
from s2s.primitives.core import BroadcastInDim, ReduceSum, broadcast_in_dim, fill
from s2s.primitives.families import add_any, defined_by, is_number
from s2s.primitives.powers import IntegerPow, integer_pow
from s2s.primitives.structural import number
from s2s.trace import Tracer, aval, bind, copy_equation, make, walk


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
        coefficient = self.coefficient
        above, below = _cancelled(self.numerators, self.denominators)
        if self.aval.shape:
            front: Value | None = None
            cheap_above, above = _by_rank(above)
            cheap_below, below = _by_rank(below)
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
        value = _multiply(coefficient, above, below)
        value = fill(_one(self.aval) if value is None else value, self.aval.shape)
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
        if all(_is(factor, members[0][0]) for factor, _, _ in members) and exponent < 0:
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


def _one(of: ShapedArray) -> Literal:
    return Literal(of.dtype.type(1), ShapedArray((), of.dtype))


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


def collect_factors(closed: ClosedJaxpr) -> ClosedJaxpr:
    """(xs -> ys)  ->  (xs -> ys), up to rounding in the derivative phases

    before:  { lambda ; x:f64[n] s:f64[]. let a = mul 2.0 x; b = mul a s; c = neg b; d = mul c 0.5 }
    after:   { lambda ; x:f64[n] s:f64[]. let c:f64[] = neg s; d:f64[n] = mul c x in (d,) }

    A product waits for its single use; one that is used more often is computed where it stands
    (but for a mere change of sign).
    Equations of the primal phase are left as they are.
    """
    uses: Counter[Var] = Counter(
        atom
        for atoms in (*map(_operands, closed.eqns), closed.jaxpr.outvars)
        for atom in atoms
        if isinstance(atom, Var)
    )

    # What is returned is computed where it stands, so that it has the phase and the line of there.
    results = {atom for atom in closed.jaxpr.outvars if isinstance(atom, Var)}

    def step(eqn: JaxprEqn, operands: Sequence[Any]) -> Sequence[Any]:
        found = None
        if _may_reassociate(eqn):
            (var,) = eqn.outvars
            # What is used more than once and made of finished values stands as it is, but for
            # a change of sign, which costs nothing to absorb.
            if (
                uses[var] == 1
                or eqn.primitive.name == "neg"
                or any(isinstance(operand, Product) for operand in operands)
            ):
                # What is read only here need not be computed by itself.
                parts = [
                    _taken_apart(x) if isinstance(atom, Var) and uses[atom] == 1 else x
                    for atom, x in zip(eqn.invars, operands, strict=True)
                ]
                found = _product(eqn, parts)
        if found is None:
            values = [_computed(operand) for operand in operands]
            if eqn.primitive.multiple_results or not eqn.invars:
                return copy_equation(eqn, values)
            result = bind(eqn.primitive, *values)
            hand_on_names([result], eqn.outvars)
            return [result]
        (var,) = eqn.outvars
        if var.name is not None:
            found.name = var.name
        waits = var not in results and (uses[var] == 1 or found.is_negation)
        return [found if waits else found.compute()]

    made = make(
        lambda *args: [_computed(result) for result in walk(closed, args, step)],
        closed.in_avals,
        [var.name for var in closed.jaxpr.invars],
        folding=True,
    )
    check(made.jaxpr)
    return made


def _operands(eqn: JaxprEqn) -> Iterable[Atom]:
    """The operands, each once where a value plus itself is twice the value."""
    is_double = eqn.primitive.name in ("add", "add_any") and eqn.invars[0] is eqn.invars[1]
    return eqn.invars[:1] if is_double else eqn.invars


def _may_reassociate(eqn: JaxprEqn) -> bool:
    return (
        eqn.phase != "primal"
        and not eqn.primitive.multiple_results
        and eqn.outvars[0].aval.dtype.kind == "f"
    )


def _computed(operand: Any) -> Value:
    return operand.compute() if isinstance(operand, Product) else operand


def _factored(operand: Any) -> Product:
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


def _taken_apart(operand: Any) -> Any:
    """A multiple of a reciprocal, such as the user's `1 / x`, as a product; others as they are."""
    if not isinstance(operand, Tracer):
        return operand
    found = defined_by(operand, Div, operand.builder.producer)
    if found is None or not is_number(found[1][0]) or not number(found[1][0]):
        return operand
    above, below = found[1]
    return Product(aval(operand), float(number(above)), (), (below,))


def _product(eqn: JaxprEqn, operands: Sequence[Any]) -> Product | None:
    """The result of an equation as a product, or None if it is not one."""
    result = eqn.outvars[0].aval
    match eqn.primitive.name, operands:
        case "mul", (x, y):
            product = _factored(x).times(_factored(y), result)
            return product if product.coefficient else Product(result, 0.0)
        case "div", (x, y) if _factored(y).coefficient != 0.0:
            return _factored(x).over(_factored(y), result)
        case "neg", (x,):
            return _factored(x).scaled(-1.0)
        case (("add" | "add_any"), (x, y)):
            return _sum(eqn, x, y, 1.0)
        case "sub", (x, y):
            return _sum(eqn, x, y, -1.0)
        case "broadcast_in_dim", (x,) if isinstance(x, Product) and x.is_number:
            return x.of_type(result)
        case "reduce_sum", (x,) if isinstance(x, Product) and _is_inner(eqn, x):
            return _inner(eqn, x)
        case (("broadcast_in_dim" | "reduce_sum" | "transpose" | "reshape" | "squeeze"), (x,)):
            return _pulled_out(eqn, operands)
        case "dot_general", (_, _):
            return _pulled_out(eqn, operands)
        case _:
            return None


def _pulled_out(eqn: JaxprEqn, operands: Sequence[Any]) -> Product | None:
    """A linear operation applied to the arrays alone, the numbers in front of it."""
    if not any(isinstance(operand, Product) for operand in operands):
        return None
    result = eqn.outvars[0].aval
    front = Product(result)
    values: list[Value] = []
    for operand in operands:
        if isinstance(operand, Product) and operand.aval.shape:
            cheap, rest = operand.split()
            if rest.numerators:
                front = front.times(cheap, result)
                values.append(_plain(rest))
                continue
        values.append(_computed(operand))
    if front.is_one:
        return None
    return front.times(Product(result, 1.0, (bind(eqn.primitive, *values),)), result)


def _is_inner(eqn: JaxprEqn, x: Product) -> bool:
    """Whether a sum over the last axis, or over all, is one of products of arrays; or over any
    axes, if an array is one of these axes alone."""
    arrays = [factor for factor in x.numerators if aval(factor).shape]
    axes, rank = cast(ReduceSum, eqn.primitive).axes, x.aval.ndim
    last_or_all = axes == (rank - 1,) or len(axes) == rank
    inner = last_or_all or any(_along(factor, axes) is not None for factor in arrays)
    return inner and len(arrays) > 1 and not any(aval(d).shape for d in x.denominators)


def _inner(eqn: JaxprEqn, x: Product) -> Product:
    """The sum of products as an inner product: no array of the products is made."""
    front, rest = x.split()
    *others, last = rest.numerators
    axes = cast(ReduceSum, eqn.primitive).axes
    result = eqn.outvars[0].aval
    for factor in rest.numerators:
        row = _along(factor, axes)
        if row is not None and len(axes) < x.aval.ndim:
            others = [other for other in rest.numerators if other is not factor]
            left = Product(x.aval, 1.0, tuple(others)).compute()
            value = dot_general(left, row, ((axes, tuple(range(len(axes)))), ((), ())))
            return front.times(Product(result, 1.0, (value,)), result)
    batch = tuple(axis for axis in range(x.aval.ndim) if axis not in axes)
    left = Product(x.aval, 1.0, tuple(others)).compute()
    value = dot_general(left, last, ((axes, axes), (batch, batch)))
    return front.times(Product(result, 1.0, (value,)), result)


def _along(factor: Value, axes: Sequence[int]) -> Value | None:
    """What an array repeats along all axes but the given ones; None if it is no such array."""
    if not isinstance(factor, Tracer):
        return None
    found = defined_by(factor, BroadcastInDim, factor.builder.producer)
    if found is None or found[0].broadcast_dimensions != tuple(axes):
        return None
    sizes = [factor.aval.shape[axis] for axis in axes]
    return found[1][0] if same_shape(aval(found[1][0]).shape, sizes) else None


def _sum(eqn: JaxprEqn, x: Any, y: Any, sign: float) -> Product | None:
    """A sum of multiples of one value, or one whose terms have factors in front: a common factor
    is taken out, or it becomes a difference."""
    if not (isinstance(x, Product) or isinstance(y, Product) or _is(x, y)):
        return None
    a, b = _factored(x), _factored(y).scaled(sign)
    if not a.coefficient or not b.coefficient:
        return (b if not a.coefficient else a).of_type(eqn.outvars[0].aval)
    for p, q in ((a, b), (_expanded(a), _expanded(b))):
        if _same(p.scaled(q.coefficient), q.scaled(p.coefficient)) and not p.is_constant:
            return Product(p.aval, p.coefficient + q.coefficient, p.numerators, p.denominators)
    if a.aval.shape != b.aval.shape or not (a.numerators and b.numerators):
        return None
    a_front, a_rest = a.split()
    b_front, b_rest = b.split()
    result = eqn.outvars[0].aval
    is_sign = a_front.is_constant and abs(a_front.coefficient) == 1.0
    if _same(a_front, b_front) and not is_sign:
        total = add_any(_plain(a_rest), _plain(b_rest))
    elif _same(a_front, b_front.scaled(-1.0)) and not is_sign:
        if a_front.coefficient < 0:
            a_front, a_rest, b_rest = b_front, b_rest, a_rest
        total = sub(_plain(a_rest), _plain(b_rest))
    elif b_front.coefficient < 0:
        return _difference(eqn, a, b.scaled(-1.0))
    elif a_front.coefficient < 0:
        return _difference(eqn, b, a.scaled(-1.0))
    else:
        return None
    return a_front.times(Product(result, 1.0, (total,)), result)


def _expanded(product: Product) -> Product:
    """The same product with multiples of values, such as the user's `0.5 * x`, taken apart."""
    coefficient, numerators = product.coefficient, list[Value]()
    for factor in product.numerators:
        if not isinstance(factor, Tracer):
            numerators.append(factor)
            continue
        found = defined_by(factor, Mul, factor.builder.producer)
        if found is not None and any(map(is_number, found[1])):
            x, y = found[1] if is_number(found[1][0]) else reversed(found[1])
            coefficient *= _factored(x).coefficient
            factor = y
        numerators.append(factor)
    return Product(product.aval, coefficient, tuple(numerators), product.denominators)


def _difference(eqn: JaxprEqn, a: Product, b: Product) -> Product:
    value = sub(a.compute(), b.compute())
    hand_on_names([value], eqn.outvars)
    return Product(eqn.outvars[0].aval, 1.0, (value,))


def _plain(product: Product) -> Value:
    product.name = None
    return product.compute()


def _same(a: Product, b: Product) -> bool:
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


def _is(p: Value, q: Value) -> bool:
    return p is q or getattr(p, "variable", p) is getattr(q, "variable", q)
