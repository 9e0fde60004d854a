"""Symbolic dimensions: integer polynomials in named sizes.

A shape is a tuple of `int | Dim`. A `Dim` is kept in normal form, so that two of them are the same
size for all values of their names exactly when they are structurally equal. Every name stands for
an integer of at least 1, or more where the assumptions in force say so.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

Size: TypeAlias = "int | Dim"
Shape: TypeAlias = "tuple[Size, ...]"


@dataclass(frozen=True)
class FloorDiv:
    """The atom `numerator // denominator`, for a division that is not exact."""

    numerator: Size
    denominator: Size

    def __str__(self) -> str:
        return f"{_factor(self.numerator)}//{_factor(self.denominator)}"


Atom: TypeAlias = "str | FloorDiv"
Monomial: TypeAlias = "tuple[tuple[Atom, int], ...]"


class UndecidedDimension(Exception):
    """Something that s2s must know while it traces, and that depends on a named dimension.

    `question` says what: `whether n == m`, `the value of n`.
    """

    def __init__(self, question: str, names: Sequence[str]) -> None:
        self.question = question
        self.names = tuple(names)
        size, name = ("sizes", "names") if len(names) > 1 else ("size", "name")
        super().__init__(
            f"{question} depends on the {size} {' and '.join(names)}; "
            f"give a number in the types of the arguments instead of the {name}"
        )


@dataclass
class Assumptions:
    """What may be taken for granted about the named dimensions while a function is traced.

    `minimum` holds lower bounds that were needed (`n >= 2` for `x[1:-1]`); the generated function
    checks them. `decide`, `decide_sign` and `number` are asked about what the normal forms leave
    open, and answer or raise; here they raise `UndecidedDimension`. A subclass that knows an
    example's sizes answers from them, and sees to it that the answer stays true of the result.
    """

    minimum: dict[str, int] = field(default_factory=dict[str, int])

    def decide(self, question: str, difference: Dim) -> bool:
        """Whether `difference` is zero, asked when neither answer holds for all sizes."""
        raise UndecidedDimension(f"whether {question}", sorted(difference.names()))

    def decide_sign(self, question: str, difference: Dim) -> bool:
        """Whether `difference` is at least zero, asked when it depends on the sizes."""
        raise UndecidedDimension(f"whether {question}", sorted(difference.names()))

    def unify(self, difference: Dim) -> bool:
        """Whether two sizes that an operation needs equal are so, given their difference.

        Named dimensions are what the user said: two names are two sizes, so the answer is no.
        """
        return False

    def assume_at_least(self, name: str, least: int) -> None:
        """Take for granted that a named dimension is at least `least`."""
        self.minimum[name] = max(least, self.minimum.get(name, 1))

    def number(self, size: Dim) -> int:
        """The value of `size`, asked where a number is needed, such as by `range(n)`."""
        raise UndecidedDimension(f"the value of {size}", sorted(size.names()))


_in_force: list[Assumptions] = [Assumptions()]


@contextlib.contextmanager
def assuming(assumptions: Assumptions) -> Iterator[Assumptions]:
    """Put `assumptions` in force for the duration of a `with` block."""
    _in_force.append(assumptions)
    try:
        yield assumptions
    finally:
        _in_force.pop()


def assumptions() -> Assumptions:
    """The assumptions in force."""
    return _in_force[-1]


class Dim:
    """A polynomial in named dimensions that is not a constant (constants are plain `int`)."""

    __slots__ = ("_hash", "terms")

    terms: tuple[tuple[Monomial, int], ...]

    def __init__(self, terms: tuple[tuple[Monomial, int], ...]) -> None:
        self.terms = terms
        self._hash = hash(terms)

    def __hash__(self) -> int:
        return self._hash

    def names(self) -> frozenset[str]:
        """The names that the size depends on."""
        found: set[str] = set()
        for monomial, _ in self.terms:
            for atom, _ in monomial:
                if isinstance(atom, str):
                    found.add(atom)
                else:
                    found |= names_of(atom.numerator) | names_of(atom.denominator)
        return frozenset(found)

    def __add__(self, other: Size) -> Size:
        if not isinstance(other, (int, Dim)):
            return NotImplemented
        total = dict(self.terms)
        for monomial, coefficient in _terms(other):
            total[monomial] = total.get(monomial, 0) + coefficient
        return _make(total)

    __radd__ = __add__

    def __neg__(self) -> Size:
        return Dim(tuple((monomial, -coefficient) for monomial, coefficient in self.terms))

    def __pos__(self) -> Dim:
        return self

    def __sub__(self, other: Size) -> Size:
        if not isinstance(other, (int, Dim)):
            return NotImplemented
        return self + -other

    def __rsub__(self, other: Size) -> Size:
        return -self + other

    def __mul__(self, other: Size) -> Size:
        if not isinstance(other, (int, Dim)):
            return NotImplemented
        total: dict[Monomial, int] = {}
        for left, a in self.terms:
            for right, b in _terms(other):
                monomial = _product(left, right)
                total[monomial] = total.get(monomial, 0) + a * b
        return _make(total)

    __rmul__ = __mul__

    def __pow__(self, exponent: int) -> Size:
        result: Size = 1
        for _ in range(exponent):
            result = result * self
        return result

    def __floordiv__(self, other: Size) -> Size:
        return floor_divide(self, other)

    def __rfloordiv__(self, other: Size) -> Size:
        return floor_divide(other, self)

    def __mod__(self, other: Size) -> Size:
        return self - floor_divide(self, other) * other

    def __rmod__(self, other: Size) -> Size:
        return other - floor_divide(other, self) * self

    def __divmod__(self, other: Size) -> tuple[Size, Size]:
        return self // other, self % other

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (int, Dim)):
            return NotImplemented
        if same_size(self, other):
            return True
        difference = self - other
        if isinstance(difference, int) or never_zero(difference):
            return False
        return assumptions().decide(f"{self} == {other}", difference)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __ge__(self, other: Size) -> bool:
        return at_least(self - other, f"{self} >= {other}")

    def __gt__(self, other: Size) -> bool:
        return at_least(self - other - 1, f"{self} > {other}")

    def __le__(self, other: Size) -> bool:
        return at_least(other - self, f"{self} <= {other}")

    def __lt__(self, other: Size) -> bool:
        return at_least(other - self - 1, f"{self} < {other}")

    def __bool__(self) -> bool:
        return self != 0

    def __index__(self) -> int:
        return assumptions().number(self)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        parts: list[str] = []
        ordered = sorted(self.terms, key=lambda term: (-_degree(term[0]), str(term[0])))
        for monomial, coefficient in ordered:
            factors = "*".join(
                str(atom) if power == 1 else f"{atom}**{power}" for atom, power in monomial
            )
            size = abs(coefficient)
            text = factors if monomial and size == 1 else f"{size}*{factors}" if monomial else str(size)
            sign = "-" if coefficient < 0 else "+"
            parts.append(f" {sign} {text}" if parts else text if sign == "+" else f"-{text}")
        return "".join(parts)


def dimension(name: str) -> Dim:
    """The named dimension `name`."""
    return Dim((((((name, 1),), 1)),))


def _terms(size: Size) -> tuple[tuple[Monomial, int], ...]:
    if isinstance(size, Dim):
        return size.terms
    return (((), size),) if size else ()


def _make(terms: Mapping[Monomial, int]) -> Size:
    kept = tuple(sorted(((m, c) for m, c in terms.items() if c), key=lambda term: str(term[0])))
    if not kept:
        return 0
    if len(kept) == 1 and kept[0][0] == ():
        return kept[0][1]
    return Dim(kept)


def _product(left: Monomial, right: Monomial) -> Monomial:
    powers = dict(left)
    for atom, power in right:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted(powers.items(), key=lambda item: str(item[0])))


def _degree(monomial: Monomial) -> int:
    return sum(power for _, power in monomial)


def _factor(size: Size) -> str:
    text = str(size)
    return f"({text})" if isinstance(size, Dim) and (" " in text or "*" in text) else text


def names_of(size: Size) -> frozenset[str]:
    """The names in `size`; empty for an int."""
    return size.names() if isinstance(size, Dim) else frozenset()


def same_size(a: Size, b: Size) -> bool:
    """Whether two sizes have the same normal form. Never asks, never raises."""
    if isinstance(a, Dim):
        return isinstance(b, Dim) and a.terms == b.terms
    return not isinstance(b, Dim) and a == b


def same_shape(a: Sequence[Size], b: Sequence[Size]) -> bool:
    """Whether two shapes have the same normal form. Never asks, never raises."""
    return len(a) == len(b) and all(map(same_size, a, b))


def require_same(a: Size, b: Size) -> bool:
    """Whether two sizes that an operation needs to be equal are the same.

    Where an example is generalised and its sizes agree, the two become one and the trace starts
    again. Otherwise False, and the caller raises its error about shapes that do not match. Axes
    that would be stretched are none of this: ask `same_size(a, 1)` first.
    """
    if same_size(a, b):
        return True
    difference = a - b
    if isinstance(difference, int) or never_zero(difference):
        return False
    return assumptions().unify(difference)


def product(sizes: Sequence[Size]) -> Size:
    """The product of `sizes`, 1 if there are none."""
    result: Size = 1
    for size in sizes:
        result = result * size
    return result


def floor_divide(a: Size, b: Size) -> Size:
    """`a // b`, exact where the polynomial division leaves no remainder."""
    if isinstance(a, int) and isinstance(b, int):
        return a // b
    if isinstance(b, int):
        if b == 0:
            raise ZeroDivisionError(f"{a} // 0")
        whole = {m: c // b for m, c in _terms(a)}
        rest = _make({m: c - whole[m] * b for m, c in _terms(a)})
        quotient = _make(whole)
        if isinstance(rest, int):
            return quotient + rest // b
        return quotient + _make({((FloorDiv(rest, b), 1),): 1})
    exact = _divide_exactly(a, b)
    return _make({((FloorDiv(a, b), 1),): 1}) if exact is None else exact


def _divide_exactly(a: Size, b: Size) -> Size | None:
    quotient: Size = 0
    rest: Size = a
    lead, coefficient = max(_terms(b), key=lambda term: (_degree(term[0]), str(term[0])))
    for _ in range(64):
        if isinstance(rest, int) and rest == 0:
            return quotient
        top, c = max(_terms(rest), key=lambda term: (_degree(term[0]), str(term[0])))
        powers = dict(top)
        for atom, power in lead:
            powers[atom] = powers.get(atom, 0) - power
        if c % coefficient or any(power < 0 for power in powers.values()):
            return None
        monomial = tuple(sorted(((x, p) for x, p in powers.items() if p), key=lambda i: str(i[0])))
        term = _make({monomial: c // coefficient})
        quotient = quotient + term
        rest = rest - term * b
    return None


def substitute(size: Size, values: Mapping[str, Size]) -> Size:
    """`size` with names replaced by sizes."""
    if isinstance(size, int):
        return size
    total: Size = 0
    for monomial, coefficient in size.terms:
        term: Size = coefficient
        for atom, power in monomial:
            if isinstance(atom, str):
                value: Size = values.get(atom, dimension(atom))
            else:
                value = floor_divide(
                    substitute(atom.numerator, values), substitute(atom.denominator, values)
                )
            for _ in range(power):
                term = term * value
        total = total + term
    return total


def _minimum(atom: Atom) -> int:
    if isinstance(atom, str):
        return assumptions().minimum.get(atom, 1)
    low, high = bounds(atom.numerator)[0], atom.denominator
    if isinstance(high, int) and high > 0 and low is not None:
        return low // high
    return 0


def bounds(size: Size) -> tuple[int | None, int | None]:
    """The least and greatest value over all sizes of the names; None where there is no bound found.

    Each atom is written as its minimum plus something that is not negative; where all coefficients
    of the expansion have one sign, its constant is a bound.
    """
    if isinstance(size, int):
        return size, size
    total: Size = 0
    for monomial, coefficient in size.terms:
        term: Size = coefficient
        for atom, power in monomial:
            for _ in range(power):
                term = term * (_make({((atom, 1),): 1, (): _minimum(atom)}))
        total = total + term
    if isinstance(total, int):
        return total, total
    constant = dict(total.terms).get((), 0)
    rest = [c for m, c in total.terms if m]
    return (
        constant if all(c > 0 for c in rest) else None,
        constant if all(c < 0 for c in rest) else None,
    )


def never_zero(size: Size) -> bool:
    """Whether `size` is known to differ from zero for all values of the names."""
    low, high = bounds(size)
    return (low is not None and low > 0) or (high is not None and high < 0)


def at_least(difference: Size, question: str) -> bool:
    """Whether `difference >= 0`; asks the assumptions in force where it depends on the names."""
    low, high = bounds(difference)
    if low is not None and low >= 0:
        return True
    if high is not None and high < 0:
        return False
    assert isinstance(difference, Dim)
    return assumptions().decide_sign(question, difference)


def require_at_least(size: Size, least: int, question: str) -> bool:
    """Whether `size >= least`, taking it for granted where a bound on one name would make it true.

    The bound goes into the assumptions in force, which the generated function checks. Use it for
    what the user's code takes for granted too, such as that `x[1:-1]` has ends to leave out.
    """
    difference = size - least
    low, high = bounds(difference)
    if low is not None and low >= 0:
        return True
    if high is not None and high < 0:
        return False
    assert isinstance(difference, Dim)
    bound = bound_on_one_name(difference)
    if bound is None or len(_in_force) == 1:
        return at_least(difference, question)
    assumptions().assume_at_least(*bound)
    return True


def bound_on_one_name(difference: Dim) -> tuple[str, int] | None:
    """`n >= k` if `difference >= 0` is `a*n + c >= 0` with positive `a`."""
    terms = dict(difference.terms)
    constant = terms.pop((), 0)
    if len(terms) != 1:
        return None
    ((monomial, coefficient),) = terms.items()
    if coefficient < 0 or len(monomial) != 1 or monomial[0][1] != 1:
        return None
    atom = monomial[0][0]
    return (atom, -(constant // coefficient)) if isinstance(atom, str) else None
