"""Removal of what is done rather than computed."""

from __future__ import annotations

from s2s.ir.check import check
from s2s.ir.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn


def without_effects(closed: ClosedJaxpr) -> ClosedJaxpr:
    """(xs -> ys)  ->  (xs -> ys), which neither raises nor prints

    before:  { lambda ; x:f64[]. let print[arguments=('{0}',)] x; y:f64[] = sin x in (y,) }
    after:   { lambda ; x:f64[]. let y:f64[] = sin x in (y,) }

    The same object if it does not do so in any case.
    """
    jaxpr = closed.jaxpr
    if not any(eqn.primitive.has_effect for eqn in jaxpr.eqns):
        return closed
    eqns: list[JaxprEqn] = []
    for eqn in jaxpr.eqns:
        primitive = eqn.primitive
        if primitive.has_effect and primitive.jaxprs:
            primitive = primitive.with_jaxprs(without_effects)
        if not primitive.has_effect:
            eqns.append(JaxprEqn(primitive, eqn.invars, eqn.outvars, eqn.source, eqn.phase))
    result = Jaxpr(jaxpr.constvars, jaxpr.invars, eqns, jaxpr.outvars)
    check(result)
    return ClosedJaxpr(result, closed.consts)
