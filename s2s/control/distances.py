"""Numbers of a fixed distance from another: `i + 1`, `n - 2 + i`."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from s2s.ir.dims import Size
from s2s.ir.jaxpr import Atom, Jaxpr, JaxprEqn, Var
from s2s.primitives.arithmetic import Add, Sub
from s2s.primitives.creation import DimAsValue


def distances(jaxpr: Jaxpr, numbers: Collection[Var], sizes: Mapping[Var, Size]) -> dict[Var, Size]:
    """The distance of each variable from `numbers`, which are alike, where it is a size.

    `sizes` has the inputs that are sizes.
    """
    known = dict(sizes)

    def size(atom: Atom) -> Size | None:
        if isinstance(atom, Var):
            return known.get(atom)
        return int(atom.value) if atom.aval.dtype.kind in "iu" else None

    def distance(eqn: JaxprEqn) -> Size | None:
        if not isinstance(eqn.primitive, (Add, Sub)):
            return None
        x, y = eqn.invars
        if isinstance(eqn.primitive, Add) and y in numbers:
            x, y = y, x
        found = size(y) if x in numbers else None
        return -found if found is not None and isinstance(eqn.primitive, Sub) else found

    result: dict[Var, Size] = dict.fromkeys(numbers, 0)
    for eqn in jaxpr.eqns:
        if isinstance(eqn.primitive, DimAsValue):
            known[eqn.outvars[0]] = eqn.primitive.dim
        found = distance(eqn)
        if found is not None:
            result[eqn.outvars[0]] = found
    return result
