"""How large the sizes that values decide can be: what an array of such a size has room for."""

from __future__ import annotations

from collections.abc import Mapping

from s2s.ir.dims import (
    Atom as SizeAtom,
    Size,
    dimension,
    known_at_least,
    names_of,
    polynomial,
    product,
    terms_of,
)
from s2s.ir.jaxpr import Atom, ClosedJaxpr, JaxprEqn, Literal, ShapedArray, Var
from s2s.passes.bound_dimensions import bound_in
from s2s.primitives.arithmetic import Max, Min
from s2s.primitives.conversion import ConvertElementType
from s2s.primitives.counts import BindDimension, NonZero
from s2s.primitives.creation import DimAsValue
from s2s.primitives.layout import Pad, Slice
from s2s.primitives.logic import SelectN
from s2s.primitives.updates import UpdateSlice


class Capacities:
    """Upper bounds of the sizes in a jaxpr that mention dimensions which its equations bind.

    What is cut from an array is no longer than that, nor is what is put into one, and a mask
    selects no more elements than it has. A sum of sizes is bounded by the sum of their bounds.
    """

    def __init__(self, closed: ClosedJaxpr) -> None:
        self.bound: set[str] = set()
        """The dimensions that masks and ends of slices make, not those that loops make."""
        self._within: dict[str, list[Size]] = {}
        """For a size, by its text, the sizes that it is not greater than."""
        self._known: dict[str, Size] = {}
        self._asked: set[str] = set()
        self._all = frozenset(bound_in(closed.eqns))
        self._collect(closed)

    def of(self, size: Size) -> Size | None:
        """What a size is at most, without dimensions that equations bind; None if that is not
        known."""
        if names_of(size).isdisjoint(self.bound):
            return size
        key = str(size)
        if key in self._known:
            return self._known[key]
        if key in self._asked:
            return None
        self._asked.add(key)
        found = [self.of(whole) for whole in self._within.get(key, [])] or [self._sum(size)]
        self._asked.discard(key)
        greatest = _greatest([limit for limit in found if limit is not None])
        if greatest is not None:
            self._known[key] = greatest
        return greatest

    def _sum(self, size: Size) -> Size | None:
        total: Size = 0
        for monomial, coefficient in terms_of(size):
            term: Size = coefficient
            for atom, power in monomial:
                limit = self._of_atom(atom)
                if limit is None:
                    return None
                term = term * product([limit] * power)
            if coefficient > 0 or names_of(polynomial({monomial: 1})).isdisjoint(self.bound):
                total = total + term
        return total

    def _of_atom(self, atom: SizeAtom) -> Size | None:
        if not isinstance(atom, str):
            return None
        named = dimension(atom)
        return self.of(named) if atom in self._within or atom not in self.bound else None

    # -- what is known of sizes -------------------------------------------------------------------

    def _is_fixed(self, name: str) -> bool:
        return name in self.bound or name not in self._all

    def _collect(self, closed: ClosedJaxpr) -> None:
        producers = {var: eqn for eqn in closed.eqns for var in eqn.outvars}
        for eqn in closed.eqns:
            self._look_at(eqn)
            if isinstance(eqn.primitive, BindDimension) and eqn.primitive.exact:
                for limit in _limits(eqn.invars[0], producers):
                    self._note(eqn.primitive.steps, limit)
            for inner in eqn.primitive.jaxprs:
                self._collect(inner)

    def _look_at(self, eqn: JaxprEqn) -> None:
        operands, result = [atom.aval for atom in eqn.invars], eqn.outvars[0].aval
        match eqn.primitive:
            case NonZero(steps=steps):
                if all(self._is_fixed(name) for name in names_of(operands[0].size)):
                    self.bound.update(names_of(steps))
                    self._note(steps, operands[0].size)
            case BindDimension(steps=steps, exact=True):
                self.bound.update(names_of(steps))
            case Slice():
                self._fits(result, operands[0])
            case Pad():
                self._fits(operands[0], result)
            case UpdateSlice():
                self._fits(operands[1], operands[0])
            case _:
                pass

    def _fits(self, part: ShapedArray, whole: ShapedArray) -> None:
        for size, limit in zip(part.shape, whole.shape, strict=True):
            self._note(size, limit)

    def _note(self, size: Size, limit: Size) -> None:
        key = str(size)
        if not names_of(size).isdisjoint(self.bound) and key != str(limit):
            self._within.setdefault(key, []).append(limit)


def _greatest(limits: list[Size]) -> Size | None:
    """A size that all of these are not greater than."""
    if not limits:
        return None
    greatest, *others = limits
    for limit in others:
        if not known_at_least(greatest, limit):
            greatest = limit if known_at_least(limit, greatest) else greatest + limit
    return greatest


def _limits(atom: Atom, producers: Mapping[Var, JaxprEqn]) -> list[Size]:
    """Sizes of which the greatest is not less than an integer; none if that is not known."""
    if isinstance(atom, Literal):
        return [int(atom.value)]
    eqn = producers.get(atom)
    if eqn is None:
        return []
    match eqn.primitive:
        case DimAsValue(dim=size):
            return [size]
        case ConvertElementType():
            return _limits(eqn.invars[0], producers)
        case Min():
            one, other = (_limits(x, producers) for x in eqn.invars)
            return one or other
        case Max() | SelectN():
            values = eqn.invars[isinstance(eqn.primitive, SelectN) :]
            found = [_limits(x, producers) for x in values]
            return [size for limits in found for size in limits] if all(found) else []
        case _:
            return []
