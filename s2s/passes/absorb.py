"""What is done with the results of branches done inside, where that says less."""

from __future__ import annotations

from collections import Counter

from s2s.ir.check import check
from s2s.ir.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal
from s2s.primitives.arithmetic import Add, Mul, Neg, Sub
from s2s.primitives.families import AddAny


def absorb_sums(closed: ClosedJaxpr) -> ClosedJaxpr:
    """(xs -> ys)  ->  (xs -> ys)

    before:  { lambda ; i:i32[] x:f64[]. let a = cond[branches=(0.0, sin x)] i x;
               b:f64[] = add_any x a in (b,) }
    after:   { lambda ; i:i32[] x:f64[]. let b = cond[branches=(x, add_any x (sin x))] i x in (b,) }

    It is for derivatives: a branch that does not matter to a value gives a zero, which is added.
    """
    jaxpr = closed.jaxpr
    if not any(eqn.primitive.jaxprs for eqn in jaxpr.eqns):
        return closed
    uses = Counter(atom for eqn in jaxpr.eqns for atom in eqn.invars)
    uses.update(jaxpr.outvars)
    readers = {atom: eqn for eqn in jaxpr.eqns for atom in eqn.invars if uses[atom] == 1}
    known: set[Atom] = {*jaxpr.constvars, *jaxpr.invars}
    absorbed: set[int] = set()
    eqns: list[JaxprEqn] = []
    for eqn in jaxpr.eqns:
        if id(eqn) in absorbed:
            continue
        while (found := _with_reader(eqn, readers, known)) is not None:
            eqn, reader = found
            absorbed.add(id(reader))
        eqns.append(eqn)
        known.update(eqn.outvars)
    if not absorbed:
        return closed
    result = Jaxpr(jaxpr.constvars, jaxpr.invars, eqns, jaxpr.outvars)
    check(result)
    return ClosedJaxpr(result, closed.consts)


def _with_reader(
    eqn: JaxprEqn, readers: dict[Atom, JaxprEqn], known: set[Atom]
) -> tuple[JaxprEqn, JaxprEqn] | None:
    """The equation with one that reads its results, and needs nothing that comes later, in its
    branches; and that other equation. None if there is none that is better there."""
    if eqn.phase == "primal" or not eqn.primitive.jaxprs:
        return None
    for var in eqn.outvars:
        reader = readers.get(var)
        if reader is None or reader.phase == "primal" or not _is_small(reader):
            continue
        if all(
            isinstance(atom, Literal)
            or atom in known
            or (atom in eqn.outvars and readers.get(atom) is reader)
            for atom in reader.invars
        ):
            absorbed = eqn.primitive.absorbed(eqn, reader)
            if absorbed is not None:
                return absorbed, reader
    return None


def _is_small(eqn: JaxprEqn) -> bool:
    """Whether it is a sum, or one operation on numbers."""
    is_number = len(eqn.outvars) == 1 and not eqn.outvars[0].aval.shape
    return isinstance(eqn.primitive, (AddAny, Add, Sub)) or (
        is_number and isinstance(eqn.primitive, (Mul, Neg))
    )
