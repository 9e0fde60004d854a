"""Common subexpression elimination: nothing is computed twice."""

from __future__ import annotations

from typing import Any

from s2s.ir.check import check
from s2s.ir.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var


def cse(closed: ClosedJaxpr) -> ClosedJaxpr:
    """(xs -> ys)  ->  (xs -> ys)

    before:  { lambda ; x:f64[]. let a:f64[] = sin x; b:f64[] = sin x; c:f64[] = mul a b in (c,) }
    after:   { lambda ; x:f64[]. let a:f64[] = sin x; c:f64[] = mul a a in (c,) }

    Two equations are the same if their primitives (with parameters) and their operands are, in
    either order where the primitive is commutative.
    """
    jaxpr = closed.jaxpr
    replaced: dict[Var, Var] = {}
    seen: dict[Any, int] = {}
    eqns: list[JaxprEqn] = []

    def use(atom: Atom) -> Atom:
        return atom if isinstance(atom, Literal) else replaced.get(atom, atom)

    for eqn in jaxpr.eqns:
        invars = [use(atom) for atom in eqn.invars]
        if eqn.primitive.has_effect:
            eqns.append(JaxprEqn(eqn.primitive, invars, eqn.outvars, eqn.source, eqn.phase))
            continue
        keys = [a.key() if isinstance(a, Literal) else a for a in invars]
        if eqn.primitive.commutative:
            keys.sort(key=hash)
        key = (eqn.primitive, *keys)
        position = seen.setdefault(key, len(eqns))
        if position == len(eqns):
            eqns.append(JaxprEqn(eqn.primitive, invars, eqn.outvars, eqn.source, eqn.phase))
            continue
        first = eqns[position]
        for kept, dropped in zip(first.outvars, eqn.outvars, strict=True):
            replaced[dropped] = kept
            if kept.name is None:
                kept.name = dropped.name
        if eqn.phase == "primal":
            # The user computes this value too, so it must stay as the user computes it.
            eqns[position] = JaxprEqn(
                first.primitive, first.invars, first.outvars, first.source, "primal"
            )
    result = Jaxpr(jaxpr.constvars, jaxpr.invars, eqns, [use(atom) for atom in jaxpr.outvars])
    check(result)
    return ClosedJaxpr(result, closed.consts)
