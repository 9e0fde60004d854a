"""Division of symbolic dimensions."""

from __future__ import annotations

import math
from collections.abc import Callable

from s2s.ir.dims import Dim, FloorDiv, Monomial, Size, monomial_product, polynomial, terms_of


def divide(a: Size, b: Size) -> Size:
    """`a // b` in normal form; see `s2s.ir.dims.floor_divide`."""
    if isinstance(b, Dim):
        exact = _exactly(a, b)
        return polynomial({((FloorDiv(a, b), 1),): 1}) if exact is None else exact
    if isinstance(a, int):
        return a // b
    if b == 0:
        raise ZeroDivisionError(f"{a} // 0")
    if b < 0:
        return divide(-a, -b)
    whole = {monomial: c // b for monomial, c in a.terms}
    rest = {monomial: c % b for monomial, c in a.terms}
    constant = rest.pop((), 0)
    common = math.gcd(b, *rest.values())
    numerator = polynomial({m: c // common for m, c in rest.items()} | {(): constant // common})
    if isinstance(numerator, int):
        return polynomial(whole)
    return polynomial(whole) + polynomial({((FloorDiv(numerator, b // common), 1),): 1})


def _exactly(a: Size, b: Dim) -> Size | None:
    """The quotient of two polynomials, or None if the division leaves a remainder."""
    quotient: Size = 0
    rest = a
    order = _monomial_order(a, b)
    lead, coefficient = max(b.terms, key=order)
    while not isinstance(rest, int) or rest != 0:
        top, c = max(terms_of(rest), key=order)
        powers = dict(top)
        for atom, power in lead:
            powers[atom] = powers.get(atom, 0) - power
        if c % coefficient or any(power < 0 for power in powers.values()):
            return None
        monomial = monomial_product(
            (), tuple((atom, power) for atom, power in powers.items() if power)
        )
        term = polynomial({monomial: c // coefficient})
        quotient = quotient + term
        rest = rest - term * b
    return quotient


def _monomial_order(*sizes: Size) -> Callable[[tuple[Monomial, int]], tuple[int, ...]]:
    """The degree, then the powers of each atom: each step of a division lowers the leading term."""
    atoms = {atom for size in sizes for monomial, _ in terms_of(size) for atom, _ in monomial}
    ordered = sorted(atoms, key=str)

    def order(term: tuple[Monomial, int]) -> tuple[int, ...]:
        powers = dict(term[0])
        return (sum(powers.values()), *(powers.get(atom, 0) for atom in ordered))

    return order
