"""What a mask selects, written as `x[mask]` and not at the places where the mask is true."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from s2s.ir.jaxpr import Jaxpr, JaxprEqn, ShapedArray, Var
from s2s.passes.bound_dimensions import names_of_parameters
from s2s.primitive import Primitive
from s2s.primitives.counts import NonZero
from s2s.primitives.indexing import Gather, Scatter, ScatterAdd, mask_of


@dataclass(frozen=True)
class MaskedGather(Gather):
    """The rows of an array that a mask, the second operand, selects from the axis `axis` on."""

    axis: int = 0

    def index(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        return _index(self.axis, operands[1])


@dataclass(frozen=True)
class MaskedScatter(Scatter):
    """An array, in which the rows that a mask selects are replaced."""

    axis: int = 0

    def index(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        return _index(self.axis, operands[1])


@dataclass(frozen=True)
class MaskedScatterAdd(ScatterAdd):
    """An array, to whose rows that a mask selects others are added."""

    axis: int = 0

    def index(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        return _index(self.axis, operands[1])


def _index(axis: int, mask: str) -> str:
    return ", ".join([*[":"] * axis, mask])


_MASKED: dict[type[Primitive], Any] = {
    Gather: MaskedGather,
    Scatter: MaskedScatter,
    ScatterAdd: MaskedScatterAdd,
}


def with_masks(jaxpr: Jaxpr) -> Jaxpr:
    """The same jaxpr, reading and writing by masks where it does so at the places of their true
    elements."""
    makers = {
        var: eqn for eqn in jaxpr.eqns if isinstance(eqn.primitive, NonZero) for var in eqn.outvars
    }
    if not makers:
        return jaxpr
    eqns = [_by_mask(eqn, makers) for eqn in jaxpr.eqns]
    read = {atom for eqn in eqns for atom in eqn.invars} | set(jaxpr.outvars)
    sizes = {name for eqn in eqns for name in names_of_parameters(eqn)}
    kept = [
        eqn
        for eqn in eqns
        if not isinstance(eqn.primitive, NonZero)
        or not read.isdisjoint(eqn.outvars)
        or eqn.primitive.bound_dimension in sizes
    ]
    return Jaxpr(jaxpr.constvars, jaxpr.invars, kept, jaxpr.outvars)


def _by_mask(eqn: JaxprEqn, makers: dict[Var, JaxprEqn]) -> JaxprEqn:
    found = mask_of(eqn, makers)
    if found is None:
        return eqn
    (maker, axis), primitive = found, eqn.primitive
    fields = {f.name: getattr(primitive, f.name) for f in dataclasses.fields(cast(Any, primitive))}
    updates = eqn.invars[len(maker.outvars) :]
    masked = _MASKED[type(primitive)](**fields, axis=axis)
    invars = [eqn.invars[0], maker.invars[0], *updates]
    return JaxprEqn(masked, invars, eqn.outvars, eqn.source, eqn.phase)
