"""Which values of rank 0 may be arrays without axes, and not numbers, which never change.

An argument may be `np.array(0.5)`, and so may a constant and what `np.where` gives: `x += y` would
write into it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

import numpy as np

from s2s.control.cond import Cond
from s2s.control.scan import Scan
from s2s.control.while_loop import While
from s2s.ir.jaxpr import Atom, Jaxpr, JaxprEqn, Var
from s2s.primitive import Primitive
from s2s.primitives.arithmetic import OfPython
from s2s.primitives.contractions import DotGeneral
from s2s.primitives.core import AxesReduction, BroadcastInDim, ConvertElementType
from s2s.primitives.families import Elementwise
from s2s.primitives.indexing import Gather
from s2s.primitives.layout import Squeeze
from s2s.primitives.logic import SelectN

_NUMBERS = (AxesReduction, ConvertElementType, DotGeneral, Gather, Squeeze)


def arrays_without_axes(jaxpr: Jaxpr) -> set[Var]:
    """The variables, here and in all bodies, that may be arrays without axes; and the stacked
    results of loops whose elements may be."""
    found = {var for var in (*jaxpr.constvars, *jaxpr.invars) if _is_candidate(var)}
    size = -1
    while size < len(found):  # what a step of a loop leaves enters the next one
        size = len(found)
        _find(jaxpr, found)
    return found


def _is_candidate(var: Var) -> bool:
    return not var.aval.shape and not var.aval.weak_type


def _find(jaxpr: Jaxpr, found: set[Var]) -> None:
    for eqn in jaxpr.eqns:
        primitive = eqn.primitive
        if isinstance(primitive, Cond):
            for branch in primitive.branches:
                _hand_on(eqn.invars[1:], branch.jaxpr.invars, found)
                _find(branch.jaxpr, found)
                _hand_on(branch.jaxpr.outvars, eqn.outvars, found)
        elif isinstance(primitive, (Scan, While)):
            _find_in_loop(primitive, eqn, found)
        elif _chooses(eqn):
            if not found.isdisjoint(eqn.invars):
                found.update(filter(_is_candidate, eqn.outvars))
        elif isinstance(primitive, BroadcastInDim):
            _hand_on(eqn.invars, eqn.outvars, found)
        elif not _gives_numbers(primitive):
            found.update(filter(_is_candidate, eqn.outvars))


def _chooses(eqn: JaxprEqn) -> bool:
    """Whether a result is written as one of the operands, as it is."""
    primitive = eqn.primitive
    if isinstance(primitive, OfPython):
        return True
    return isinstance(primitive, SelectN) and eqn.phase != "primal"


def _find_in_loop(loop: Scan | While, eqn: JaxprEqn, found: set[Var]) -> None:
    if isinstance(loop, Scan):
        _, consts, carry, rows = loop.parts(eqn.invars)
        body, results = loop.jaxpr.jaxpr, eqn.outvars
    else:
        (_, consts, carry), rows = loop.parts(eqn.invars), list[Atom]()
        body, results = loop.body_jaxpr.jaxpr, eqn.outvars[int(loop.steps is not None) :]
    _hand_on([*consts, *carry, *rows], body.invars, found)
    _find(body, found)
    _hand_on(body.outvars, results, found)
    _hand_on(carry, results[: len(carry)], found)  # of no steps
    _hand_on(body.outvars[: len(carry)], body.invars[len(consts) :][: len(carry)], found)


def _hand_on(given: Sequence[Atom], taken: Sequence[Var], found: set[Var]) -> None:
    found.update(var for atom, var in zip(given, taken, strict=True) if atom in found)


def _gives_numbers(primitive: Primitive) -> bool:
    """Whether results of rank 0 are numbers, also of operands that are arrays."""
    if isinstance(primitive, Elementwise):
        return all(map(_is_ufunc, re.findall(r"\bnp\.(\w+)", primitive.numpy)))
    return isinstance(primitive, _NUMBERS)


@functools.cache
def _is_ufunc(name: str) -> bool:
    return isinstance(getattr(np, name), np.ufunc)
