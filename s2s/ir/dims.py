"""Symbolic dimensions: integer polynomials in named sizes.

A shape is a tuple of `int | Dim`. A `Dim` is kept in normal form: two of them that are structurally
equal are the same size for all values of their names, and if no floor division is left in them, the
converse holds too. Every name stands for an integer of at least 1, or more where the assumptions in
force say so.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from s2s.ir.assumptions import (
    DEFAULT,
    Assumptions as Assumptions,
    UndecidedDimension as UndecidedDimension,
    assuming as assuming,
    assumptions as assumptions,
)

Size: TypeAlias = "int | Dim"
Shape: TypeAlias = "tuple[Size, ...]"


class FloorDiv:
    """The atom `numerator // denominator`, for a division that is not exact.

    The denominator is a Dim, or an int greater than 1.
    """

    __slots__ = ("denominator", "numerator")

    def __init__(self, numerator: Size, denominator: Size) -> None:
        self.numerator = numerator
        self.denominator = denominator

    def __eq__(self, other: object) -> bool:
        # Not the fields' own ==, which may ask.
        return isinstance(other, FloorDiv) and same_shape(self._fields, other._fields)

    def __hash__(self) -> int:
        return hash(self._fields)

    @property
    def _fields(self) -> tuple[Size, Size]:
        return (self.numerator, self.denominator)

    def __repr__(self) -> str:
        return f"{_parenthesised(self.numerator)}//{_parenthesised(self.denominator)}"


Atom: TypeAlias = "str | FloorDiv"
Monomial: TypeAlias = "tuple[tuple[Atom, int], ...]"


number_of_size: list[Callable[[Dim], Any]] = []
"""What a size is in arithmetic that does not give a size, such as `1.0 / n`: a traced integer. One
entry, made by `s2s.numpy` when it is imported."""


def _or_as_number(method: Callable[[Dim, object], Any]) -> Callable[[Dim, object], Any]:
    """An operator that takes the size as a number where its result is none."""

    @functools.wraps(method)
    def applied(size: Dim, other: object) -> Any:
        result = method(size, other)
        known = isinstance(other, (int, float, Dim, np.ndarray, np.generic))
        if result is NotImplemented and known and number_of_size:
            return getattr(number_of_size[0](size), method.__name__)(other)
        return result

    return applied


class Dim:
    """A polynomial in named dimensions that is not a constant (constants are plain `int`)."""

    __slots__ = ("_hash", "terms")
    # NumPy's own operators leave sizes to those of this class.
    __array_ufunc__ = None

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

    @_or_as_number
    def __add__(self, other: object) -> Size:
        size = _as_size(other)
        if size is None:
            return NotImplemented
        total = dict(self.terms)
        for monomial, coefficient in terms_of(size):
            total[monomial] = total.get(monomial, 0) + coefficient
        return polynomial(total)

    @_or_as_number
    def __radd__(self, other: object) -> Size:
        size = _as_size(other)
        return NotImplemented if size is None else self + size

    def __neg__(self) -> Dim:
        return Dim(tuple((monomial, -coefficient) for monomial, coefficient in self.terms))

    def __pos__(self) -> Dim:
        return self

    @_or_as_number
    def __sub__(self, other: object) -> Size:
        size = _as_size(other)
        return NotImplemented if size is None else self + -size

    @_or_as_number
    def __rsub__(self, other: object) -> Size:
        size = _as_size(other)
        return NotImplemented if size is None else -self + size

    @_or_as_number
    def __mul__(self, other: object) -> Size:
        size = _as_size(other)
        if size is None:
            return NotImplemented
        total: dict[Monomial, int] = {}
        for left, a in self.terms:
            for right, b in terms_of(size):
                monomial = monomial_product(left, right)
                total[monomial] = total.get(monomial, 0) + a * b
        return polynomial(total)

    @_or_as_number
    def __rmul__(self, other: object) -> Size:
        size = _as_size(other)
        return NotImplemented if size is None else self * size

    @_or_as_number
    def __pow__(self, exponent: object) -> Size:
        power = _as_size(exponent)
        if not isinstance(power, int):
            return NotImplemented
        if power < 0:
            raise ValueError(f"({self})**{power} is not a size")
        return product([self] * power)

    @_or_as_number
    def __truediv__(self, other: object) -> Any:
        return NotImplemented

    @_or_as_number
    def __rtruediv__(self, other: object) -> Any:
        return NotImplemented

    @_or_as_number
    def __rpow__(self, other: object) -> Any:
        return NotImplemented

    @_or_as_number
    def __floordiv__(self, other: object) -> Size:
        size = _as_size(other)
        return NotImplemented if size is None else floor_divide(self, size)

    @_or_as_number
    def __rfloordiv__(self, other: object) -> Size:
        size = _as_size(other)
        return NotImplemented if size is None else floor_divide(size, self)

    @_or_as_number
    def __mod__(self, other: object) -> Size:
        size = _as_size(other)
        return NotImplemented if size is None else self - floor_divide(self, size) * size

    @_or_as_number
    def __rmod__(self, other: object) -> Size:
        size = _as_size(other)
        return NotImplemented if size is None else size - floor_divide(size, self) * self

    def __divmod__(self, other: Size) -> tuple[Size, Size]:
        return self // other, self % other

    def __rdivmod__(self, other: Size) -> tuple[Size, Size]:
        return other // self, other % self

    def __eq__(self, other: object) -> bool:
        size = _as_size(other)
        if size is None:
            return NotImplemented
        if same_size(self, size):
            return True
        difference = self - size
        if isinstance(difference, int) or never_zero(difference):
            return False
        return assumptions().decide(f"{self} == {size}", difference)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __ge__(self, other: object) -> bool:
        size = _as_size(other)
        return NotImplemented if size is None else at_least(self - size, f"{self} >= {size}")

    def __gt__(self, other: object) -> bool:
        size = _as_size(other)
        return NotImplemented if size is None else at_least(self - size - 1, f"{self} > {size}")

    def __le__(self, other: object) -> bool:
        size = _as_size(other)
        return NotImplemented if size is None else at_least(size - self, f"{self} <= {size}")

    def __lt__(self, other: object) -> bool:
        size = _as_size(other)
        return NotImplemented if size is None else at_least(size - self - 1, f"{self} < {size}")

    def __bool__(self) -> bool:
        return self != 0

    def __index__(self) -> int:
        return assumptions().number(self)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        text = ""
        for monomial, coefficient in sorted(self.terms, key=_text_order):
            factors = [_power(*factor) for factor in monomial]
            if abs(coefficient) != 1 or not monomial:
                factors.insert(0, str(abs(coefficient)))
            if coefficient == 1 and len(monomial) == 1 and monomial[0][1] == 1:
                factors = [str(monomial[0][0])]
            sign = "-" if coefficient < 0 else "+"
            text += f" {sign} " if text else sign.strip("+")
            text += "*".join(factors)
        return text


def dimension(name: str) -> Dim:
    """The named dimension `name`."""
    return Dim((((((name, 1),), 1)),))


class Limits(NamedTuple):
    """What the value of a dimension that an equation binds is at least and at most: each of these
    sizes, which mention only dimensions that were bound before."""

    at_least: tuple[Size, ...] = (0,)
    at_most: tuple[Size, ...] = ()
    order: int = 0
    """The later a dimension was bound, the more."""
    exact: bool = False
    """Whether each example of a batch has its own: it is an end of a slice."""
    step: int = 0
    """What it grows by with each number of a step of the loop that it is bound in, if it counts."""


BOUND_BY_EQUATIONS: dict[str, Limits] = {}
"""The dimensions that are the value of an equation, such as the number of steps of a loop."""

_numbers = itertools.count(1)


def bound_dimension(name: str) -> Dim:
    """The dimension `name`, which an equation binds."""
    BOUND_BY_EQUATIONS.setdefault(name, Limits())
    return dimension(name)


def fresh_dimension(
    name: str,
    at_least: Sequence[Size] = (0,),
    at_most: Sequence[Size] = (),
    exact: bool = False,
) -> Dim:
    """A dimension of a new name, for an equation to bind: `name_1`, `name_2`, ..."""
    number = next(_numbers)
    BOUND_BY_EQUATIONS[f"{name}_{number}"] = Limits(tuple(at_least), tuple(at_most), number, exact)
    return dimension(f"{name}_{number}")


def count_steps(name: str, step: int) -> None:
    """Say that a bound dimension grows by `step` with each number of a step of a loop."""
    BOUND_BY_EQUATIONS[name] = BOUND_BY_EQUATIONS[name]._replace(step=step)


def bound_names(size: Size) -> frozenset[str]:
    """The names in a size that equations bind."""
    return names_of(size).intersection(BOUND_BY_EQUATIONS)


def linear_in(size: Size, known: Collection[str]) -> tuple[str, int, Size] | None:
    """The one name in a size that is not known, its factor, and the rest of the size; None if there
    is not one such name, or the size is not linear in it."""
    unknown = [name for name in names_of(size) if name not in known]
    if len(unknown) != 1 or not isinstance(size, Dim):
        return None
    (name,) = unknown
    factor = dict(size.terms).get(((name, 1),), 0)
    rest = size - dimension(name) * factor
    return None if not factor or name in names_of(rest) else (name, factor, rest)


def terms_of(size: Size) -> tuple[tuple[Monomial, int], ...]:
    """A size as a sum of products and their coefficients; `()` is the product of none."""
    if isinstance(size, Dim):
        return size.terms
    return (((), size),) if size else ()


def polynomial(terms: Mapping[Monomial, int]) -> Size:
    """The size with these terms, in normal form; an int where it is constant."""
    kept = tuple(sorted(((m, c) for m, c in terms.items() if c), key=lambda term: str(term[0])))
    if not kept:
        return 0
    if len(kept) == 1 and kept[0][0] == ():
        return kept[0][1]
    return Dim(kept)


def monomial_product(left: Monomial, right: Monomial) -> Monomial:
    """The product of two products of atoms."""
    powers = dict(left)
    for atom, power in right:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted(powers.items(), key=lambda item: str(item[0])))


def _as_size(value: object) -> Size | None:
    """A Python or NumPy integer or a Dim as a size; None for anything else."""
    if isinstance(value, (int, Dim)):
        return value
    return int(cast("Any", value)) if isinstance(value, np.integer) else None


def _text_order(term: tuple[Monomial, int]) -> tuple[int, bool, str]:
    return -sum(power for _, power in term[0]), term[1] < 0, str(term[0])


def _power(atom: Atom, power: int) -> str:
    text = atom if isinstance(atom, str) else f"({atom})"
    return text if power == 1 else f"{text}**{power}"


def _parenthesised(size: Size) -> str:
    text = str(size)
    return text if text.isidentifier() or text.isdigit() else f"({text})"


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
    return a is b or (len(a) == len(b) and all(map(same_size, a, b)))


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
    """`a // b`, exact where the polynomial division leaves no remainder.

    A size that is divided by is taken to be other than zero.
    """
    from s2s.ir.division import divide  # It is written with the arithmetic of this module.

    return divide(a, b)


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


def known_at_least(size: Size, least: Size) -> bool:
    """Whether `size >= least` is known to hold for all values of the names. Never asks."""
    low, _ = _bounds(size - least)
    return low is not None and low >= 0


def _bounds(size: Size) -> tuple[int | None, int | None]:
    from s2s.ir.bounds import bounds  # So is this.

    return bounds(size)


def never_zero(size: Size) -> bool:
    """Whether `size` is known to differ from zero for all values of the names."""
    low, high = _bounds(size)
    return (low is not None and low > 0) or (high is not None and high < 0)


def at_least(difference: Size, question: str) -> bool:
    """Whether `difference >= 0`; asks the assumptions in force where it depends on the names."""
    low, high = _bounds(difference)
    if low is not None and low >= 0:
        return True
    if high is not None and high < 0:
        return False
    assert isinstance(difference, Dim)
    return assumptions().decide_sign(question, difference)


def require_at_least(size: Size, least: int, question: str) -> bool:
    """Whether `size >= least`, taking it for granted where a bound on one name would make it true.

    The bound goes into the assumptions in force, which the generated function checks. Use it for
    what the user's code takes for granted too, such as that `x[1:-1]` has ends to leave out. A size
    that equations bind is what whoever made these equations saw to.
    """
    difference = size - least
    low, high = _bounds(difference)
    if low is not None and low >= 0:
        return True
    if high is not None and high < 0:
        return False
    assert isinstance(difference, Dim)
    if bound_names(difference):
        return True
    bound = bound_on_one_name(difference)
    if bound is not None and bound[0] in BOUND_BY_EQUATIONS:
        return True  # Nobody can check it on entry.
    if bound is None or assumptions() is DEFAULT:
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
