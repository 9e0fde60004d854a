"""Sums of cotangents to which branches and loops add inside of them: see `passes/sums.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from s2s.ir.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from s2s.primitives.arithmetic import Sub
from s2s.primitives.core import BroadcastInDim
from s2s.primitives.families import AddAny
from s2s.primitives.indexing import ScatterAdd
from s2s.primitives.updates import UpdateSliceAdd


def with_results(producer: JaxprEqn, place: int, total: JaxprEqn) -> list[Var]:
    """The results of an equation, with the sum in the place of the term."""
    return [total.outvars[0] if i == place else var for i, var in enumerate(producer.outvars)]


def with_added(closed: ClosedJaxpr, place: int, total: JaxprEqn) -> ClosedJaxpr:
    """(xs -> ys)  ->  (xs, start -> ys), where one of the results is added to `start`"""
    jaxpr = closed.jaxpr
    term = jaxpr.outvars[place]
    name = total.outvars[0].name
    start, result = Var(term.aval, name), Var(total.outvars[0].aval, name)
    producer = next((eqn for eqn in jaxpr.eqns if term in eqn.outvars), None)
    if producer is not None and producer.primitive.jaxprs:
        # What a branch or a loop makes of it belongs to the line that reads it.
        producer = next((eqn for eqn in jaxpr.eqns if term in eqn.invars), producer)
    source = total.source if producer is None else producer.source
    add = JaxprEqn(total.primitive, [start, term], [result], source, total.phase)
    outvars = [result if i == place else out for i, out in enumerate(jaxpr.outvars)]
    new = Jaxpr(jaxpr.constvars, [*jaxpr.invars, start], [*jaxpr.eqns, add], outvars)
    return ClosedJaxpr(new, closed.consts)


def accumulates(body: Jaxpr, carried: Var, out: Atom) -> bool:
    """Whether a step does nothing with a carried value but add to it."""
    producers = {var: eqn for eqn in body.eqns for var in eqn.outvars}
    uses = Counter(atom for eqn in body.eqns for atom in eqn.invars)
    uses.update(body.outvars)
    while out is not carried:
        eqn = producers.get(out) if isinstance(out, Var) and uses[out] == 1 else None
        if eqn is None or eqn.phase == "primal":
            return False
        if isinstance(eqn.primitive, AddAny):
            below = [a for a in eqn.invars if _is_above(a, carried, producers)]
            if len(below) != 1:
                return False
            (out,) = below
        elif isinstance(eqn.primitive, (ScatterAdd, UpdateSliceAdd, Sub)):
            out = eqn.invars[0]
        else:
            return False
    return uses[carried] == 1


def _is_above(atom: Atom, carried: Var, producers: Mapping[Var, JaxprEqn]) -> bool:
    """Whether a value is computed from a carried one."""
    pending, seen = [atom], set[Var]()
    while pending:
        found = pending.pop()
        if found is carried:
            return True
        if isinstance(found, Var) and found not in seen:
            seen.add(found)
            pending.extend(producers[found].invars if found in producers else ())
    return False


def is_zero(atom: Atom, producers: Mapping[Var, JaxprEqn]) -> bool:
    """Whether a value is the number zero, or an array of zeros."""
    if isinstance(atom, Literal):
        return bool(atom.value == 0)
    eqn = producers.get(atom)
    if eqn is None or not isinstance(eqn.primitive, BroadcastInDim):
        return False
    return is_zero(eqn.invars[0], producers)
