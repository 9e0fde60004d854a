"""Transposition: from a linear program to its adjoint, read backward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from s2s.errors import UserError
from s2s.ir.check import check
from s2s.ir.jaxpr import Atom, ClosedJaxpr, JaxprEqn, Literal, Var
from s2s.passes.names import cotangent_name
from s2s.primitive import Linear, NotLinear, Value, Zero
from s2s.primitives.core import instantiate
from s2s.primitives.families import add_any
from s2s.trace import Builder, Tracer, builder_in_force, copy_equation, make, named, phase


def transpose(closed: ClosedJaxpr, linear: Sequence[bool]) -> ClosedJaxpr:
    """(xs, ts -> ys), linear in ts  ->  (xs, y_bars -> t_bars)

    before:  { lambda ; c:f64[3] t:f64[3]. let u:f64[3] = mul t c; y:f64[] = reduce_sum u in (y,) }
    after:   { lambda ; c:f64[3] y_bar:f64[]. let
                 u_bar:f64[3] = broadcast_in_dim y_bar; t_bar:f64[3] = mul u_bar c in (t_bar,) }

    Equations that do not depend on a linear input are computed first, in their own order.
    """
    jaxpr = closed.jaxpr
    parameters = [var for var, is_linear in zip(jaxpr.invars, linear, strict=True) if not is_linear]
    linear_inputs = [var for var, is_linear in zip(jaxpr.invars, linear, strict=True) if is_linear]
    out_avals = closed.out_avals

    def fun(*args: Value) -> list[Value]:
        builder = builder_in_force()
        assert builder is not None
        known: dict[Var, Any] = dict(zip(jaxpr.constvars, closed.consts, strict=True))
        known.update(zip(parameters, args[: len(parameters)], strict=True))
        linear_vars = set(linear_inputs)
        linear_eqns: list[JaxprEqn] = []
        for eqn in jaxpr.eqns:
            if linear_vars.isdisjoint(a for a in eqn.invars if not isinstance(a, Literal)):
                builder.source, builder.phase = eqn.source, eqn.phase
                operands = [_read(known, atom) for atom in eqn.invars]
                known.update(zip(eqn.outvars, copy_equation(eqn, operands), strict=True))
            else:
                linear_eqns.append(eqn)
                linear_vars.update(eqn.outvars)
        with phase("cotangent"):
            cotangents = _Cotangents(linear_vars)
            for atom, ct in zip(jaxpr.outvars, args[len(parameters) :], strict=True):
                cotangents.add(atom, ct)
            for eqn in reversed(linear_eqns):
                _transpose_equation(builder, eqn, known, cotangents)
            builder.source = None
            results = [instantiate(cotangents.take(var)) for var in linear_inputs]
            for result, var in zip(results, linear_inputs, strict=True):
                name = cotangent_name(var.name)
                if name is not None:
                    named(result, name)
            return results

    names = [var.name for var in parameters]
    bars = [cotangent_name(a.name) if isinstance(a, Var) else None for a in jaxpr.outvars]
    made = make(fun, [*[var.aval for var in parameters], *out_avals], [*names, *bars])
    check(made.jaxpr)
    return made


def _read(known: dict[Var, Any], atom: Atom) -> Value:
    return atom if isinstance(atom, Literal) else known[atom]


def _transpose_equation(
    builder: Builder, eqn: JaxprEqn, known: dict[Var, Any], cotangents: _Cotangents
) -> None:
    cts = [cotangents.take(var) for var in eqn.outvars]
    if all(isinstance(ct, Zero) for ct in cts):
        return
    builder.source = eqn.source
    args = [
        Linear(atom.aval) if atom in cotangents.linear else _read(known, atom)
        for atom in eqn.invars
    ]
    try:
        found = eqn.primitive.transpose(cts, *args)
    except NotLinear:
        raise UserError(
            f"`{eqn.primitive.name}` is applied in a way that is not linear. A derivative rule "
            "must be linear in the tangents that it is given, and a function that is transposed in "
            "its arguments.",
            eqn.source,
        ) from None
    for atom, ct in zip(eqn.invars, found, strict=True):
        if ct is not None:
            cotangents.add(atom, ct)


class _Cotangents:
    """The cotangent of each linear variable so far: the sum of what its uses contribute."""

    def __init__(self, linear: set[Var]) -> None:
        self.linear = linear
        self._sums: dict[Var, Value] = {}

    def add(self, atom: Atom, ct: Value) -> None:
        if isinstance(ct, Zero) or isinstance(atom, Literal) or atom not in self.linear:
            return
        so_far = self._sums.get(atom)
        total = ct if so_far is None else add_any(so_far, ct)
        if isinstance(total, Tracer):
            name = cotangent_name(atom.name)
            if name is not None:
                named(total, name)
        self._sums[atom] = total

    def take(self, var: Var) -> Value:
        """The finished sum, or a symbolic zero. It is not needed again."""
        found = self._sums.pop(var, None)
        return Zero(var.aval) if found is None else found
