"""JAX's jaxprs as an oracle: their text without JAX's plumbing, and their conversion to ours.

`from_jax` makes a primitive of ours where one is registered under JAX's name, and an `Opaque` one
otherwise, so that any JAX function can be used as a test of the printer.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any
from unittest import mock

import jax
import numpy as np
import pytest
from jax._src import core
from jax._src.export.shape_poly import _DimExpr

from s2s.ir.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, ShapedArray, Var
from s2s.ir.parser import parse_jaxpr
from s2s.language import all_primitives
from s2s.primitive import Primitive

PLUMBING = {
    "sharding",
    "out_sharding",
    "precision",
    "accuracy",
    "ft_in",
    "ft_out",
    "computation",
}
"""Parameters of JAX's that say where and how to compute, not what.

`ft_in` and `ft_out` of scan are the structures of its operands and results; what is left of them is
their numbers, as `num_consts` and `num_carry`.
"""

compares_with_jax = pytest.mark.skipif(
    jax.__version_info__ < (0, 12), reason="the texts are those of JAX 0.12"
)

OPERANDS_DIFFER = {"gather", "scatter", "scatter-add"}
"""Primitives of ours that take their operands otherwise than JAX's of that name."""


def jax_text(fun: Callable[..., Any], *args: Any) -> str:
    """JAX's text of the jaxpr of a function, without the plumbing."""
    return str(without_plumbing(jax.make_jaxpr(fun)(*args)))


def without_plumbing(jaxpr: core.Jaxpr, seen: dict[int, core.Jaxpr] | None = None) -> core.Jaxpr:
    """The jaxpr with the parameters in PLUMBING removed, also inside its parameters.

    Conversions of a type to itself, which only make a weak type a strong one, are removed too.
    """
    seen = {} if seen is None else seen

    def clean(value: Any) -> Any:
        if isinstance(value, core.Jaxpr):
            return without_plumbing(value, seen)
        if isinstance(value, np.integer):
            return int(value)
        return tuple(map(clean, value)) if type(value) is tuple else value

    if id(jaxpr) not in seen:
        same: dict[core.Var, core.Atom] = {}

        def read(atom: core.Atom) -> core.Atom:
            return same.get(atom, atom) if isinstance(atom, core.Var) else atom

        eqns: list[core.JaxprEqn] = []
        for eqn in jaxpr.eqns:
            invars = [*map(read, eqn.invars)]
            if eqn.primitive.name == "convert_element_type" and (
                eqn.outvars[0].aval.strip_weak_type() == invars[0].aval.strip_weak_type()
            ):
                same[eqn.outvars[0]] = invars[0]
            else:
                eqns.append(eqn.replace(invars=invars, params=_parameters(eqn, clean)))
        seen[id(jaxpr)] = jaxpr.replace(eqns=eqns, outvars=[*map(read, jaxpr.outvars)])
    return seen[id(jaxpr)]


def _parameters(eqn: core.JaxprEqn, clean: Callable[[Any], Any]) -> dict[str, Any]:
    params = {name: clean(value) for name, value in eqn.params.items() if name not in PLUMBING}
    if eqn.primitive.name == "scan":
        consts, carry, _ = eqn.params["ft_in"].elts
        params |= {"num_consts": len(consts), "num_carry": len(carry)}
    return params


class Opaque(Primitive):
    """A primitive that has nothing but a name and parameters."""

    def __init__(self, name: str, parameters: Mapping[str, Any]) -> None:
        self.name = name
        self.is_call = name == "jit"
        self._parameters = dict(parameters)

    def parameters(self) -> dict[str, Any]:
        return self._parameters


def from_jax(jaxpr: core.Jaxpr) -> ClosedJaxpr:
    """Our jaxpr for one of JAX's."""
    return _Conversion().closed(without_plumbing(jaxpr))


class _Conversion:
    def __init__(self) -> None:
        self.jaxprs: dict[int, tuple[core.Jaxpr, ClosedJaxpr]] = {}

    def closed(self, jaxpr: core.Jaxpr) -> ClosedJaxpr:
        if id(jaxpr) not in self.jaxprs:
            self.jaxprs[id(jaxpr)] = (jaxpr, self._closed(jaxpr))
        return self.jaxprs[id(jaxpr)][1]

    def _closed(self, jaxpr: core.Jaxpr) -> ClosedJaxpr:
        env: dict[core.Var, Var] = {}

        def define(var: core.Var) -> Var:
            env[var] = Var(aval(var.aval))
            return env[var]

        def use(atom: core.Atom) -> Atom:
            if isinstance(atom, core.Literal):
                kind = aval(atom.aval)
                return Literal(np.asarray(atom.val).astype(kind.dtype)[()], kind)
            return env[atom]

        constvars, invars = map(define, jaxpr.constvars), map(define, jaxpr.invars)
        constvars, invars = list(constvars), list(invars)
        eqns = [
            JaxprEqn(self.primitive(eqn), [*map(use, eqn.invars)], [*map(define, eqn.outvars)])
            for eqn in jaxpr.eqns
        ]
        converted = Jaxpr(constvars, invars, eqns, [*map(use, jaxpr.outvars)])
        return ClosedJaxpr(converted, tuple(map(np.asarray, jaxpr.consts)))

    def primitive(self, eqn: core.JaxprEqn) -> Primitive:
        shown = {name: self.value(value) for name, value in _shown(eqn).items()}
        cls = all_primitives().get(eqn.primitive.name)
        if cls is not None and eqn.primitive.name not in OPERANDS_DIFFER:
            fields = {field.name for field in dataclasses.fields(cls)} if shown else set()
            if shown.keys() <= {"name", *fields}:
                return cls.from_printed(_with_tuples(shown), [aval(v.aval) for v in eqn.outvars])
        return Opaque(eqn.primitive.name, shown)

    def value(self, value: Any) -> Any:
        if isinstance(value, core.Jaxpr):
            return self.closed(value)
        if isinstance(value, (_DimExpr, int)) and not isinstance(value, bool):
            return size(value)
        if type(value) in (tuple, list):
            return type(value)(map(self.value, value))
        return value


def _shown(eqn: core.JaxprEqn) -> dict[str, Any]:
    """The parameters that JAX prints, in its order."""
    shown: dict[str, Any] = {}

    def record(eqn: core.JaxprEqn, context: Any, settings: Any, params: Any = None) -> core.pp.Doc:
        names = sorted(eqn.params) if params is None else params
        shown.update((name, eqn.params[name]) for name in names)
        return core.pp.nil()

    with mock.patch.object(core, "_pp_eqn", record):
        rule = core.pp_eqn_rules.get(eqn.primitive, record)
        rule(eqn, core.JaxprPpContext(), core.JaxprPpSettings())
    return shown


def _with_tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _with_tuples(item) for name, item in value.items()}
    return tuple(map(_with_tuples, value)) if isinstance(value, (tuple, list)) else value


def aval(aval: Any) -> ShapedArray:
    return ShapedArray(tuple(map(size, aval.shape)), np.dtype(aval.dtype), aval.weak_type)


def size(size: Any) -> Any:
    """Our size for a size of JAX's."""
    if not isinstance(size, _DimExpr):
        return int(size)
    text = f"{{ lambda ; a:f64[{size}]. let in (a,) }}"
    return parse_jaxpr(text, {}).invars[0].aval.shape[0]


def to_jax(jaxpr: Jaxpr, seen: dict[Jaxpr, core.Jaxpr] | None = None) -> core.Jaxpr:
    """JAX's jaxpr for one of ours, with opaque primitives: only to print it.

    Jaxprs in parameters become JAX's too, and `jit` is JAX's own, which it prints in its own way.
    """
    seen = {} if seen is None else seen
    if jaxpr in seen:
        return seen[jaxpr]
    env: dict[Var, core.Var] = {}

    def define(var: Var) -> core.Var:
        env[var] = core.Var(core.ShapedArray(var.aval.shape, var.aval.dtype))
        return env[var]

    def use(atom: Atom) -> core.Atom:
        if isinstance(atom, Literal):
            return core.Literal(atom.value, core.ShapedArray((), atom.aval.dtype))
        return env[atom]

    def convert(value: Any) -> Any:
        if isinstance(value, ClosedJaxpr):
            return to_jax(value.jaxpr, seen)
        return tuple(map(convert, value)) if type(value) is tuple else value

    constvars, invars = list(map(define, jaxpr.constvars)), list(map(define, jaxpr.invars))
    eqns: list[core.JaxprEqn] = []
    for eqn in jaxpr.eqns:
        params = {name: convert(value) for name, value in eqn.primitive.parameters().items()}
        primitive = _JIT if eqn.primitive.is_call else core.Primitive(eqn.primitive.name)
        params |= _JIT_PLUMBING if eqn.primitive.is_call else {}
        operands = [*map(use, eqn.invars)]
        results = [*map(define, eqn.outvars)]
        eqns.append(core.new_jaxpr_eqn(operands, results, primitive, params, core.no_effects))
    # Constvars are the inputs that have a value.
    consts = [0] * len(constvars)
    outvars = [*map(use, jaxpr.outvars)]
    seen[jaxpr] = core.Jaxpr(constvars, invars, outvars, eqns, consts=consts)
    return seen[jaxpr]


def _jit_plumbing() -> tuple[core.Primitive, dict[str, Any]]:
    (eqn,) = jax.make_jaxpr(jax.jit(lambda: 0))().eqns
    return eqn.primitive, {k: v for k, v in eqn.params.items() if k not in ("jaxpr", "name")}


_JIT, _JIT_PLUMBING = _jit_plumbing()
