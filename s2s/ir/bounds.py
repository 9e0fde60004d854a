"""Bounds of symbolic dimensions, given the least values of their names."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import TypeAlias

from s2s.ir.assumptions import assumptions
from s2s.ir.dims import (
    BOUND_BY_EQUATIONS,
    Atom,
    FloorDiv,
    Size,
    bound_names,
    dimension,
    linear_in,
    names_of,
    polynomial,
    product,
    terms_of,
)


def bounds(size: Size) -> tuple[int | None, int | None]:
    """The least and greatest value over all sizes of the names; None where there is no bound found.

    Bounds are sound: no values of the names give less or more. They need not be the tightest.
    """
    if isinstance(size, int):
        return size, size
    least = assumptions().minimum
    # What the limits of a bound dimension mention counts too.
    names = sorted(least if bound_names(size) else size.names())
    # The terms, not the size: sizes that are compared may ask.
    key = (size.terms, *[(name, least.get(name)) for name in names])
    known = _known.get(key)
    if known is None:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        known = _known[key] = _computed(size)
    return known


_Bounds: TypeAlias = "tuple[int | None, int | None]"
_known: dict[Hashable, _Bounds] = {}
"""The bounds that were asked for, by size and the least values of its names: an unrolled loop asks
for the same ones in every step."""
_MOST_KNOWN = 4096


def _computed(size: Size) -> _Bounds:
    found = [_bounds(size, 1, {}), _bounds(*_without_floors(size)), *_by_limits(size)]
    return (
        max((low for low, _ in found if low is not None), default=None),
        min((high for _, high in found if high is not None), default=None),
    )


def lower_limits(size: Size) -> list[Size]:
    """Sizes that `size` is not less than, in which no dimension is left that equations bind."""
    bound = bound_names(size)
    if not bound:
        return [size]
    last = max(bound, key=lambda name: BOUND_BY_EQUATIONS[name].order)
    linear = linear_in(size, names_of(size) - {last})
    if linear is None:
        return []
    _, factor, rest = linear
    limits = BOUND_BY_EQUATIONS[last]
    nearest = limits.at_least if factor > 0 else limits.at_most
    return [found for limit in nearest for found in lower_limits(limit * factor + rest)]


def _by_limits(size: Size) -> Iterator[_Bounds]:
    """The bounds that follow from the limits of the dimensions that equations bind."""
    if bound_names(size):
        for limit in lower_limits(size):
            yield bounds(limit)[0], None
        for limit in lower_limits(-size):
            low, _ = bounds(limit)
            yield None, None if low is None else -low


def _bounds(size: Size, scale: int, remainders: Mapping[str, int]) -> tuple[int | None, int | None]:
    """The bounds of `size / scale`, where each name in `remainders` lies in [0, its number].

    Each other atom is written as its minimum plus something that is not negative. Then a term
    adds to a lower bound its coefficient times its greatest value, if that is negative.
    """
    total: Size = 0
    for monomial, coefficient in terms_of(size):
        term: Size = coefficient
        for atom, power in monomial:
            least = 0 if atom in remainders else _minimum(atom)
            if least is None:
                return None, None
            term = term * product([polynomial({((atom, 1),): 1, (): least})] * power)
        total = total + term
    low: int | None = 0
    high: int | None = 0
    for monomial, coefficient in terms_of(total):
        greatest: int | None = coefficient
        for atom, power in monomial:
            if greatest is not None and isinstance(atom, str) and atom in remainders:
                greatest *= remainders[atom] ** power
            else:
                greatest = None
        if coefficient < 0 or not monomial:
            low = None if low is None or greatest is None else low + greatest
        if coefficient > 0 or not monomial:
            high = None if high is None or greatest is None else high + greatest
    return None if low is None else -(-low // scale), None if high is None else high // scale


def _minimum(atom: Atom) -> int | None:
    if isinstance(atom, str):
        limits = BOUND_BY_EQUATIONS.get(atom)
        if limits is None:
            return assumptions().minimum.get(atom, 1)
        lows = [limit for limit in limits.at_least if isinstance(limit, int)]
        return max(lows) if lows else None
    numerator, denominator = bounds(atom.numerator)[0], bounds(atom.denominator)[0]
    if numerator is None or denominator is None or denominator < 1:
        return None
    if isinstance(atom.denominator, int):
        return numerator // denominator
    return 0 if numerator >= 0 else None


def _without_floors(size: Size) -> tuple[Size, int, dict[str, int]]:
    """A size in which `p // q` is written `(p - r) / q`, times the common denominator.

    Returns that, the denominator, and for each `r` its greatest value `q - 1`.
    """
    scale = 1
    remainders: dict[str, int] = {}
    while (floor := _some_floor(size)) is not None:
        denominator = floor.denominator
        assert isinstance(denominator, int)
        remainder = f"{floor.numerator} mod {denominator}"
        remainders[remainder] = denominator - 1
        numerator = floor.numerator - dimension(remainder)
        highest = max(dict(monomial).get(floor, 0) for monomial, _ in terms_of(size))
        total: Size = 0
        for monomial, coefficient in terms_of(size):
            powers = dict(monomial)
            power = powers.pop(floor, 0)
            rest = polynomial(
                {tuple(powers.items()): coefficient * denominator ** (highest - power)}
            )
            total = total + rest * product([numerator] * power)
        size, scale = total, scale * denominator**highest
    return size, scale, remainders


def _some_floor(size: Size) -> FloorDiv | None:
    """A division by a number in the size."""
    atoms = (atom for monomial, _ in terms_of(size) for atom, _ in monomial)
    floors = (a for a in atoms if isinstance(a, FloorDiv) and isinstance(a.denominator, int))
    return next(floors, None)
