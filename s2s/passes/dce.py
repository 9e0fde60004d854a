"""Dead code elimination."""

from __future__ import annotations

from collections.abc import Sequence

from s2s.ir.check import check
from s2s.ir.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var


def dce(closed: ClosedJaxpr, used: Sequence[bool] | None = None) -> ClosedJaxpr:
    """(xs -> ys)  ->  (xs -> used ys), without the equations that no used result needs

    before:  { lambda ; x:f64[]. let y:f64[] = sin x; z:f64[] = cos x in (y, z) }
    after:   { lambda ; x:f64[]. let y:f64[] = sin x in (y,) }       for used = [True, False]

    The inputs stay, used or not. Equations with effects (assert, print) stay.
    """
    jaxpr = closed.jaxpr
    outvars = jaxpr.outvars
    if used is not None:
        outvars = [atom for atom, is_used in zip(outvars, used, strict=True) if is_used]
    needed: set[Var] = {atom for atom in outvars if isinstance(atom, Var)}
    kept: list[JaxprEqn] = []
    for eqn in reversed(jaxpr.eqns):
        flags = [var in needed for var in eqn.outvars]
        if not any(flags) and not eqn.primitive.has_effect:
            continue
        smaller = eqn if all(flags) else eqn.primitive.dce(eqn, flags)
        kept.append(smaller)
        needed.update(atom for atom in smaller.invars if not isinstance(atom, Literal))
    kept.reverse()
    constants = [
        (var, value)
        for var, value in zip(jaxpr.constvars, closed.consts, strict=True)
        if var in needed
    ]
    result = Jaxpr([var for var, _ in constants], jaxpr.invars, kept, outvars)
    check(result)
    return ClosedJaxpr(result, tuple(value for _, value in constants))
