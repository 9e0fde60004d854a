"""What a branch or a loop adds to a sum of cotangents is added inside of it."""

from __future__ import annotations

from collections import Counter

from s2s.ir.check import check
from s2s.ir.dims import same_shape
from s2s.ir.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from s2s.primitives.arithmetic import Sub
from s2s.primitives.families import AddAny


def add_inside(closed: ClosedJaxpr, *, in_branches: bool) -> ClosedJaxpr:
    """(xs -> ys)  ->  (xs -> ys), in which branches and loops add to the sums they are terms of

    before:  { lambda ; i:i32[] s:f64[] x:f64[]. let
               t = cond[branches=(x -> 0, x -> x)] i x; u = add_any s t in (u,) }
    after:   { lambda ; i:i32[] s:f64[] x:f64[]. let
               u = cond[branches=(x s -> s, x s -> add_any s x)] i x s in (u,) }

    A branch that adds nothing then does nothing, and no array of zeros is made that is added to
    another one. Outside of other loops and branches, a branch rather gives the term its value, as
    the user's does. The same object if there is no such sum.
    """
    if not any(eqn.primitive.jaxprs for eqn in closed.eqns):
        return closed
    found = closed
    while (moved := _with_one_inside(found, in_branches)) is not None:
        found = moved
    if found is not closed:
        check(found.jaxpr)
    return found


def _with_one_inside(closed: ClosedJaxpr, in_branches: bool) -> ClosedJaxpr | None:
    jaxpr = closed.jaxpr
    places = {var: place for place, eqn in enumerate(jaxpr.eqns) for var in eqn.outvars}
    producers = {var: eqn for eqn in jaxpr.eqns for var in eqn.outvars}
    uses = Counter(atom for eqn in jaxpr.eqns for atom in eqn.invars)
    uses.update(jaxpr.outvars)
    for number, total in enumerate(jaxpr.eqns):
        if not isinstance(total.primitive, (AddAny, Sub)) or total.phase == "primal":
            continue
        for start, term in _pairs(total):
            if isinstance(term, Literal) or term not in producers or uses[term] != 1:
                continue
            producer = producers[term]
            if isinstance(start, Var) and places.get(start, -1) >= places[term]:
                continue
            if not producer.primitive.jaxprs or not _same_type(start, term):
                continue
            if not producer.primitive.is_loop and not in_branches:
                continue
            place = list(producer.outvars).index(term)
            inside = producer.primitive.adding_to(start, place, producer, total, producers)
            if inside is not None:
                eqns = [inside if eqn is producer else eqn for eqn in jaxpr.eqns]
                del eqns[number]
                new = Jaxpr(jaxpr.constvars, jaxpr.invars, eqns, jaxpr.outvars)
                return ClosedJaxpr(new, closed.consts)
    return None


def _same_type(a: Atom, b: Atom) -> bool:
    return a.aval.dtype == b.aval.dtype and same_shape(a.aval.shape, b.aval.shape)


def _pairs(total: JaxprEqn) -> list[tuple[Atom, Atom]]:
    """What something is added to, and that."""
    x, y = total.invars
    return [(x, y)] if isinstance(total.primitive, Sub) else [(x, y), (y, x)]
