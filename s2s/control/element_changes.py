"""Bodies that change elements of an array, for those examples of a batch that run them.

if c:                   x[i] = v if c else x[i]
    x[i] = v            which is work for one element, and not for all of them
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from s2s.control.higher_order import per_jaxpr
from s2s.ir.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from s2s.primitive import Primitive, Value
from s2s.primitives.core import BroadcastInDim, full
from s2s.primitives.families import AddAny
from s2s.primitives.indexing import Scatter, ScatterAdd
from s2s.primitives.layout import Pad
from s2s.primitives.logic import select_n
from s2s.primitives.updates import UpdateSlice, UpdateSliceAdd
from s2s.trace import aval, bind


@dataclass(frozen=True, eq=False)
class Changes:
    """The changes of elements in a body."""

    bases: dict[Var, Var]
    """For each result of one, the array before it."""
    terms: frozenset[Var]
    """Arrays that are zero but for some elements, which are added to others."""


NO_CHANGES = Changes({}, frozenset())


@per_jaxpr
def changes_in(closed: ClosedJaxpr) -> Changes:
    """The changes of elements: assignments, and sums with what is zero but for some elements."""
    producers = {var: eqn for eqn in closed.eqns for var in eqn.outvars}
    bases: dict[Var, Var] = {}
    terms: set[Var] = set()
    for eqn in closed.eqns:
        pairs: list[tuple[Atom, Atom | None]] = []
        if changes_elements(eqn):
            pairs = [(eqn.invars[0], None)]
        elif isinstance(eqn.primitive, AddAny):
            pairs = [(eqn.invars[0], eqn.invars[1]), (eqn.invars[1], eqn.invars[0])]
        for base, term in pairs:
            if isinstance(base, Var) and (term is None or _is_of_zeros(term, producers)):
                bases[eqn.outvars[0]] = base
                terms.update([term] if isinstance(term, Var) else [])
                break
    return Changes(bases, frozenset(terms))


def _is_of_zeros(atom: Atom, producers: Mapping[Var, JaxprEqn]) -> bool:
    """Whether an array is zero but for some elements, which are put there."""
    eqn = producers.get(atom) if isinstance(atom, Var) else None
    if eqn is None:
        return False
    if isinstance(eqn.primitive, Pad):
        return _is_zero(eqn.invars[1], producers)
    return isinstance(eqn.primitive, ScatterAdd) and _is_zero(eqn.invars[0], producers)


def _is_zero(atom: Atom, producers: Mapping[Var, JaxprEqn]) -> bool:
    if isinstance(atom, Literal):
        return bool(atom.value == 0)
    eqn = producers.get(atom)
    if eqn is None or not isinstance(eqn.primitive, BroadcastInDim):
        return False
    return _is_zero(eqn.invars[0], producers)


@per_jaxpr
def updated_inputs(closed: ClosedJaxpr) -> dict[int, int]:
    """The results that are inputs after changes of some of their elements, and those inputs, each
    of which is one result only."""
    jaxpr, bases = closed.jaxpr, changes_in(closed).bases
    found: dict[int, int] = {}
    for number, atom in enumerate(jaxpr.outvars):
        while isinstance(atom, Var) and atom in bases:
            atom = bases[atom]
        if isinstance(atom, Var) and atom in jaxpr.invars:
            found[number] = jaxpr.invars.index(atom)
    places = list(found.values())
    return {number: place for number, place in found.items() if places.count(place) == 1}


def changes_elements(eqn: JaxprEqn) -> bool:
    """Whether an equation replaces elements of an array, or adds to them."""
    return isinstance(eqn.primitive, (Scatter, UpdateSlice))


def where_live(live: Value, eqn: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
    """The operands of a change of elements, which makes none where `live` is not true."""
    primitive = eqn.primitive
    x, *rest = operands
    if isinstance(primitive, Pad):
        return [select_n(live, full(aval(x).shape, 0, aval(x).dtype), x), *rest]
    if isinstance(primitive, UpdateSlice):
        (update,) = rest
        old = bind(primitive.part, x)
    else:
        assert isinstance(primitive, Scatter)
        *indices, update = rest
        old = primitive.taken(x, indices, aval(update))
    if isinstance(primitive, (ScatterAdd, UpdateSliceAdd)):
        old = full(aval(update).shape, 0, aval(update).dtype)
    return [*operands[:-1], select_n(live, old, update)]


@dataclass(frozen=True)
class Change:
    """A change of elements at indices that are inputs of a body, or numbers."""

    primitive: Primitive
    indices: tuple[Atom | int, ...]
    """For inputs, which they are."""

    def made(self, operands: Sequence[Value], place: int, update: Value) -> Value:
        """The input `place` after the change."""
        indices = [operands[i] if isinstance(i, int) else i for i in self.indices]
        return bind(self.primitive, operands[place], *indices, update)


def last_change(closed: ClosedJaxpr, output: int, place: int) -> tuple[Change, ClosedJaxpr] | None:
    """The one change that makes a result of an input, and the body with what it puts there in the
    place of that result."""
    jaxpr = closed.jaxpr
    eqn = next((eqn for eqn in jaxpr.eqns if jaxpr.outvars[output] in eqn.outvars), None)
    if eqn is None or not changes_elements(eqn) or eqn.invars[0] is not jaxpr.invars[place]:
        return None
    *indices, update = eqn.invars[1:]
    known = [i.key() if isinstance(i, Literal) else _input(i, closed) for i in indices]
    if None in known:
        return None
    outvars = list(jaxpr.outvars)
    outvars[output] = update
    found = tuple(i if isinstance(i, Literal) else jaxpr.invars.index(i) for i in indices)
    body = Jaxpr(jaxpr.constvars, jaxpr.invars, jaxpr.eqns, outvars)
    return Change(eqn.primitive, found), ClosedJaxpr(body, closed.consts)


def _input(var: Var, closed: ClosedJaxpr) -> int | None:
    return closed.jaxpr.invars.index(var) if var in closed.jaxpr.invars else None


def same_change(
    branches: Sequence[ClosedJaxpr], output: int, place: int
) -> tuple[Change, list[ClosedJaxpr]] | None:
    """The change of an input that all branches end with, each with what it puts there itself."""
    found = [last_change(branch, output, place) for branch in branches]
    changes = [one for one in found if one is not None]
    if len(changes) < len(branches):
        return None
    first = changes[0][0]
    alike = all(_is_same(first, other) for other, _ in changes)
    types = {str(branch.out_avals[output]) for _, branch in changes}
    return (first, [branch for _, branch in changes]) if alike and len(types) == 1 else None


def _is_same(a: Change, b: Change) -> bool:
    pairs = zip(a.indices, b.indices, strict=True)
    return a.primitive == b.primitive and all(
        i.key() == j.key()
        if isinstance(i, Literal) and isinstance(j, Literal)
        else i is j or i == j
        for i, j in pairs
    )
