"""The type checker of jaxprs. Every pass ends in it."""

from __future__ import annotations

from typing import Any, NoReturn, cast

from s2s.ir.dims import same_shape
from s2s.ir.dtypes import PYTHON_SCALARS
from s2s.ir.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, ShapedArray, Var, aval_of
from s2s.ir.printer import print_equation


class JaxprTypeError(TypeError):
    """A jaxpr that is not well formed: a fault of s2s, or of a text, never of the user's code."""


def check(jaxpr: Jaxpr) -> Jaxpr:
    """Jaxpr -> the same jaxpr, or JaxprTypeError.

    Each variable is defined once and before its use, each literal has the type that it is said to
    have, and each equation's results have the types that its primitive's abstract rule gives for
    its operands. The same holds of the jaxprs in parameters, which use only their own variables.
    """
    if jaxpr.is_checked:
        return jaxpr
    defined: set[Var] = set()
    for var in (*jaxpr.constvars, *jaxpr.invars):
        _check_new(jaxpr, var, defined)
        defined.add(var)
    for eqn in jaxpr.eqns:
        for atom in eqn.invars:
            if atom not in defined:
                _check_free(jaxpr, atom, eqn)
        if not eqn.types_hold:
            _check_types(jaxpr, eqn)
        for var in eqn.outvars:
            if var in defined or var.aval.weak_type:
                _check_new(jaxpr, var, defined, eqn)
            defined.add(var)
        for inner in eqn.primitive.jaxprs:
            check_closed(inner)
    for atom in jaxpr.outvars:
        if atom not in defined:
            _check_free(jaxpr, atom)
    jaxpr.is_checked = True
    return jaxpr


def check_closed(closed: ClosedJaxpr) -> ClosedJaxpr:
    """ClosedJaxpr -> the same, or JaxprTypeError: its constvars have values of their types."""
    constvars, consts = closed.jaxpr.constvars, closed.consts
    if len(constvars) != len(consts):
        raise JaxprTypeError(
            f"{len(constvars)} constvars have {len(consts)} values:\n{closed.jaxpr}"
        )
    for var, const in zip(constvars, consts, strict=True):
        aval: ShapedArray = const.aval if hasattr(const, "aval") else aval_of(const)
        if not _agree(aval, var.aval):
            raise JaxprTypeError(f"a constvar of type {var.aval} has a value of type {aval}")
    check(closed.jaxpr)
    return closed


def _check_new(jaxpr: Jaxpr, var: Var, defined: set[Var], eqn: JaxprEqn | None = None) -> None:
    """A variable is defined once; the type of a Python scalar has no shape."""
    if var in defined:
        _fail(jaxpr, f"a variable of type {var.aval} is defined twice", eqn)
    if var.aval.weak_type and var.aval.shape:
        _fail(jaxpr, f"a Python scalar has the shape {var.aval}", eqn)


def _check_free(jaxpr: Jaxpr, atom: Atom, eqn: JaxprEqn | None = None) -> None:
    """An operand or result that is no variable defined before must be a literal of its type."""
    if not isinstance(atom, Literal):
        _fail(jaxpr, f"a variable of type {atom.aval} is used but not defined before", eqn)
    kind = cast("type[Any]", type(atom.value))
    dtype = PYTHON_SCALARS.get(kind) or getattr(atom.value, "dtype", None)
    if atom.aval.shape or getattr(atom.value, "ndim", 0) or dtype != atom.aval.dtype:
        _fail(jaxpr, f"a literal of type {atom.aval} is a {kind.__name__}", eqn)


def _check_types(jaxpr: Jaxpr, eqn: JaxprEqn) -> None:
    found = [var.aval for var in eqn.outvars]
    try:
        expected = eqn.primitive.result_avals([atom.aval for atom in eqn.invars])
    except TypeError as error:
        _fail(jaxpr, f"the operands do not fit: {error}", eqn)
    if len(found) != len(expected) or not all(map(_agree, found, expected)):
        _fail(jaxpr, f"the results have the types {list(expected)}, not {found}", eqn)
    eqn.types_hold = True


def _fail(jaxpr: Jaxpr, message: str, eqn: JaxprEqn | None) -> NoReturn:
    where = "in the jaxpr's parameters and results" if eqn is None else print_equation(jaxpr, eqn)
    raise JaxprTypeError(f"{message}:\n{where}")


def _agree(found: ShapedArray, expected: ShapedArray) -> bool:
    return found.dtype == expected.dtype and same_shape(found.shape, expected.shape)
