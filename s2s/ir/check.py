"""The type checker of jaxprs. Every pass ends in it."""

from __future__ import annotations

from collections.abc import Sequence

from s2s.ir.dims import same_shape
from s2s.ir.jaxpr import Atom, Jaxpr, JaxprEqn, Literal, ShapedArray, Var


class JaxprTypeError(TypeError):
    """A jaxpr that is not well formed: a fault of s2s, never of the user's code."""


def check(jaxpr: Jaxpr) -> Jaxpr:
    """Jaxpr -> the same jaxpr, or JaxprTypeError.

    Each variable is defined once and before its use, and each equation's results have the types
    that its primitive's abstract rule gives for its operands.
    """
    defined: set[Var] = set()
    for var in (*jaxpr.constvars, *jaxpr.invars):
        _define(defined, var)
    for eqn in jaxpr.eqns:
        for atom in eqn.invars:
            if atom not in defined:
                _use(defined, atom, eqn)
        if not eqn.types_hold:
            _check_types(eqn)
        for var in eqn.outvars:
            if var in defined:
                _define(defined, var)
            defined.add(var)
    for atom in jaxpr.outvars:
        _use(defined, atom, "the results")
    return jaxpr


def _check_types(eqn: JaxprEqn) -> None:
    expected = eqn.primitive.result_avals([atom.aval for atom in eqn.invars])
    if len(expected) != len(eqn.outvars):
        raise JaxprTypeError(f"{eqn}: {len(eqn.outvars)} results, {len(expected)} expected")
    for var, aval in zip(eqn.outvars, expected, strict=True):
        if not _agree(var.aval, aval):
            raise JaxprTypeError(f"{eqn}: result is {var.aval}, {aval} expected")
    eqn.types_hold = True


def _define(defined: set[Var], var: Var) -> None:
    if var in defined:
        raise JaxprTypeError(f"{var} is defined twice")
    defined.add(var)


def _use(defined: set[Var], atom: Atom, where: object) -> None:
    if not isinstance(atom, Literal) and atom not in defined:
        raise JaxprTypeError(f"{where}: {atom} is not defined")


def _agree(found: ShapedArray, expected: ShapedArray) -> bool:
    return found.dtype == expected.dtype and same_shape(found.shape, expected.shape)


def check_avals(found: Sequence[ShapedArray], expected: Sequence[ShapedArray], what: str) -> None:
    """Raise JaxprTypeError unless two lists of types agree (weak types aside)."""
    if len(found) != len(expected) or not all(map(_agree, found, expected)):
        raise JaxprTypeError(f"{what}: found {list(found)}, expected {list(expected)}")
