"""Choices within choices, as one."""

from __future__ import annotations

from collections import Counter

from s2s.ir.check import check
from s2s.ir.dtypes import BOOL
from s2s.ir.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from s2s.primitives.logic import And, Or, SelectN


def merge_choices(closed: ClosedJaxpr) -> ClosedJaxpr:
    """(xs -> ys)  ->  (xs -> ys)

    before:  { lambda ; a:bool[] b:bool[] t:f64[]. let
               c:f64[] = select_n b 0.0 t; d:f64[] = select_n a 0.0 c in (d,) }
    after:   { lambda ; a:bool[] b:bool[] t:f64[]. let
               both:bool[] = and a b; d:f64[] = select_n both 0.0 t in (d,) }

    It is for derivatives: of `max(-1.0, min(1.0, x))`, where x is the result. Then a loop keeps one
    truth value a step.
    """
    jaxpr = closed.jaxpr
    if sum(_is_derivative(eqn) for eqn in jaxpr.eqns) < 2:
        return closed
    uses = Counter(atom for eqn in jaxpr.eqns for atom in eqn.invars)
    uses.update(jaxpr.outvars)
    inner: dict[Atom, JaxprEqn] = {}
    eqns: list[JaxprEqn] = []
    for eqn in jaxpr.eqns:
        if _is_derivative(eqn):
            eqns += _merged(eqn, inner)
            (var,) = eqn.outvars
            if uses[var] == 1:
                inner[var] = eqns[-1]
        else:
            eqns.append(eqn)
    if len(eqns) == len(jaxpr.eqns):
        return closed
    result = Jaxpr(jaxpr.constvars, jaxpr.invars, eqns, jaxpr.outvars)
    check(result)
    return ClosedJaxpr(result, closed.consts)


def _is_derivative(eqn: JaxprEqn) -> bool:
    return eqn.phase != "primal" and isinstance(eqn.primitive, SelectN) and len(eqn.invars) == 3


def _merged(outer: JaxprEqn, inner: dict[Atom, JaxprEqn]) -> list[JaxprEqn]:
    """A choice; one between a choice and a zero by both conditions, which are made before."""
    which, *cases = outer.invars
    for place, joined in ((1, And()), (0, Or())):
        made = inner.get(cases[place])
        if made is None or not _is_zero(cases[1 - place]):
            continue
        other, *inner_cases = made.invars
        if not _is_zero(inner_cases[1 - place]):
            continue
        if not which.aval.dtype == other.aval.dtype == BOOL or which.aval != other.aval:
            continue
        both = Var(which.aval)
        cases[place] = inner_cases[place]
        return [
            JaxprEqn(joined, [which, other], [both], outer.source, outer.phase),
            JaxprEqn(SelectN(), [both, *cases], outer.outvars, outer.source, outer.phase),
        ]
    return [outer]


def _is_zero(atom: Atom) -> bool:
    return isinstance(atom, Literal) and bool(atom.value == 0)
