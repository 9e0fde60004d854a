"""Dead code elimination."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from s2s.ir.check import check
from s2s.ir.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Var
from s2s.passes.bound_dimensions import reads_of


def dce(closed: ClosedJaxpr, used: Sequence[bool] | None = None) -> ClosedJaxpr:
    """(xs -> ys)  ->  (xs -> used ys), without the equations that no used result needs

    before:  { lambda ; x:f64[]. let y:f64[] = sin x; z:f64[] = cos x in (y, z) }
    after:   { lambda ; x:f64[]. let y:f64[] = sin x in (y,) }       for used = [True, False]

    The inputs stay, used or not. Equations with effects (assert, print) stay. So does the count of
    a loop's steps where a type or a parameter names it.
    """
    jaxpr = closed.jaxpr
    outvars = jaxpr.outvars
    if used is not None:
        outvars = [atom for atom, is_used in zip(outvars, used, strict=True) if is_used]
    needed: set[Var] = {atom for atom in outvars if isinstance(atom, Var)}
    reads = reads_of(jaxpr.eqns)
    kept: list[JaxprEqn] = []
    for eqn in reversed(jaxpr.eqns):
        flags = [var in needed for var in eqn.outvars]
        if True not in flags and not eqn.primitive.has_effect:
            continue
        # Where all results are used, the jaxprs in an equation may still ignore its operands.
        if False in flags or eqn.primitive.jaxprs:
            eqn = eqn.primitive.dce(eqn, flags)
        kept.append(eqn)
        needed.update(reads(eqn))
    kept.reverse()
    constants = [
        (var, value)
        for var, value in zip(jaxpr.constvars, closed.consts, strict=True)
        if var in needed
    ]
    result = Jaxpr([var for var, _ in constants], jaxpr.invars, kept, outvars)
    check(result)
    return ClosedJaxpr(result, tuple(value for _, value in constants))


def live(eqns: Sequence[JaxprEqn], results: Iterable[Atom]) -> list[JaxprEqn]:
    """The equations that some results need, and those with effects; loops and branches whole."""
    needed: set[Atom] = set(results)
    reads = reads_of(eqns)
    kept: list[JaxprEqn] = []
    for eqn in reversed(eqns):
        if eqn.primitive.has_effect or not needed.isdisjoint(eqn.outvars):
            kept.append(eqn)
            needed.update(reads(eqn))
    kept.reverse()
    return kept
