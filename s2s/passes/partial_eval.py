"""Partial evaluation: split a jaxpr into what known inputs determine and the rest.

Applied to the result of `jvp` with the tangents unknown, this is linearization: the known part is
the function itself, the unknown part is linear in the tangents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from s2s.ir.check import check
from s2s.ir.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from s2s.passes.bound_dimensions import binding, counts_of, names_in


@dataclass(frozen=True, eq=False)
class Split:
    """`known`: known inputs -> known outputs, then residuals.
    `unknown`: residuals, then unknown inputs -> unknown outputs."""

    known: ClosedJaxpr
    unknown: ClosedJaxpr
    out_unknown: list[bool]
    num_residuals: int


def partial_eval(closed: ClosedJaxpr, unknown: Sequence[bool]) -> Split:
    """(ks, us -> ys)  ->  (ks -> y_ks, residuals), (residuals, us -> y_us)

    before:  { lambda ; x:f64[] t:f64[]. let y = sin x; c = cos x; u = mul t c in (y, u) }
    after:   { lambda ; x:f64[]. let y = sin x; c = cos x in (y, c) }
             { lambda ; c:f64[] t:f64[]. let u = mul t c in (u,) }

    An equation is known if all its operands are, unless its primitive says more (control flow).
    """
    jaxpr = closed.jaxpr
    unknown_vars = {
        var for var, is_unknown in zip(jaxpr.invars, unknown, strict=True) if is_unknown
    }
    known_eqns: list[JaxprEqn] = []
    unknown_eqns: list[JaxprEqn] = []
    for eqn in jaxpr.eqns:
        flags = [atom in unknown_vars for atom in eqn.invars]
        if not any(flags):
            known_eqns.append(eqn)
            continue
        split = eqn.primitive.partial_eval(eqn, flags)
        if split is None:
            unknown_eqns.append(eqn)
            unknown_vars.update(eqn.outvars)
        else:
            known_eqns.extend(split.known)
            unknown_eqns.extend(split.unknown)
            unknown_vars.update(split.unknown_vars)

    out_unknown = [atom in unknown_vars for atom in jaxpr.outvars]
    unknown_outs = [
        a for a, is_unknown in zip(jaxpr.outvars, out_unknown, strict=True) if is_unknown
    ]
    known_outs = [
        a for a, is_unknown in zip(jaxpr.outvars, out_unknown, strict=True) if not is_unknown
    ]
    unknown_eqns = [*_bindings(known_eqns, unknown_eqns), *unknown_eqns]
    residuals, constvars = _reads(unknown_eqns, unknown_vars, jaxpr.constvars)

    known_in = [v for v, is_unknown in zip(jaxpr.invars, unknown, strict=True) if not is_unknown]
    unknown_in = [v for v, is_unknown in zip(jaxpr.invars, unknown, strict=True) if is_unknown]
    known = Jaxpr(jaxpr.constvars, known_in, known_eqns, [*known_outs, *residuals])
    rest = Jaxpr(constvars, [*residuals, *unknown_in], unknown_eqns, unknown_outs)
    check(known)
    check(rest)
    values = dict(zip(jaxpr.constvars, closed.consts, strict=True))
    return Split(
        ClosedJaxpr(known, closed.consts),
        ClosedJaxpr(rest, tuple(values[var] for var in constvars)),
        out_unknown,
        len(residuals),
    )


def _bindings(known: Sequence[JaxprEqn], unknown: Sequence[JaxprEqn]) -> list[JaxprEqn]:
    """Equations that let the dimensions be known in the unknown part which known equations bind."""
    counts = counts_of(known)
    if not counts:
        return []
    mentioned = {name for eqn in unknown for name in names_in(eqn)}
    return [binding(name, count) for name, count in counts.items() if name in mentioned]


def _reads(
    eqns: Sequence[JaxprEqn], unknown: set[Var], constvars: Sequence[Var]
) -> tuple[list[Var], list[Var]]:
    """The known variables that equations read: computed ones, and constants of the jaxpr."""
    constants = set(constvars)
    defined_here = {var for eqn in eqns for var in eqn.outvars}
    found: dict[Var, None] = {}
    for eqn in eqns:
        for atom in eqn.invars:
            if _is_read(atom, unknown) and atom not in defined_here:
                found[atom] = None  # type: ignore[index]
    computed = [var for var in found if var not in constants]
    return computed, [var for var in found if var in constants]


def _is_read(atom: Atom, unknown: set[Var]) -> bool:
    return not isinstance(atom, Literal) and atom not in unknown
