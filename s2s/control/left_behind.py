"""What a step of a loop reads of an array and no later one writes: it is there when the loop ends.

    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]

The steps after the one that reads `x[i + 1 :]` write in front of `i`. So the backward loop reads it
in `x` as it is at the end, and no copy of `x` is kept for each step.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Mapping, Sequence

from s2s.control.regions import (
    Region,
    Sizes,
    apart,
    reads,
    sizes_in,
    taking,
    with_sizes,
    written,
)
from s2s.ir.dims import BOUND_BY_EQUATIONS, Size, dimension, fresh_dimension, substitute
from s2s.ir.jaxpr import Atom, JaxprEqn, Var
from s2s.passes.bound_dimensions import bound_in, counts_of


class LeftBehind:
    """The arrays that a loop carries, as they are in its steps and when it ends.

    `fixed` are the variables that are the same in each step, and `sizes` those of them that are
    sizes. `ends` has for each array that is read at the end, by its position among what is carried,
    the variable that stands for it.
    """

    def __init__(
        self,
        eqns: Sequence[JaxprEqn],
        carried: Sequence[tuple[Var, Atom]],
        fixed: Collection[Var],
        sizes: Sizes,
        reverse: bool,
    ) -> None:
        self.ends: dict[int, Var] = {}
        self._sizes = sizes_in(eqns, sizes)
        self._later: dict[Var, tuple[int, list[Region]]] = {}
        """For each version of an array its position, and what is written after it."""
        self._put: dict[Var, list[JaxprEqn]] = {}
        """For what is put into an array, the equations that take it from there."""
        own = [name for name, value in counts_of(eqns).items() if value not in fixed]
        if not own:
            return
        inner = [n for eqn in eqns for body in eqn.primitive.jaxprs for n in bound_in(body.eqns)]
        in_this = _others(inner, {})
        in_later = _others([*own, *inner], dict.fromkeys(own, -1 if reverse else 1))
        for position, (entry, end) in enumerate(carried):
            made = written(end, eqns, self._sizes) if entry.aval.shape else None
            if made is None or made.start is not entry:
                continue
            later = [
                with_sizes(region, in_later) for _, regions in made.versions for region in regions
            ]
            for version, regions in [*made.versions[::-1], (entry, ())]:
                self._later[version] = position, list(later)
                later += [with_sizes(region, in_this) for region in regions]
        producers = {var: eqn for eqn in eqns for var in eqn.outvars}
        for version in self._later:
            taken = taking(producers[version], producers) if version in producers else []
            if taken:
                self._put[taken[-1].outvars[0]] = taken

    def reading(self, eqn: JaxprEqn) -> JaxprEqn:
        """The equation, which reads arrays as they are at the end where it reads the same there."""
        operands: list[Atom] = [
            self._end(atom, reads(eqn, atom, self._sizes)) or atom
            if isinstance(atom, Var)
            else atom
            for atom in eqn.invars
        ]
        if all(map(operator.is_, operands, eqn.invars)):
            return eqn
        return JaxprEqn(eqn.primitive, operands, eqn.outvars, eqn.source, eqn.phase)

    def giving(self, eqn: JaxprEqn) -> list[JaxprEqn]:
        """The equations that give the results of one: read in an array where they were put, else
        the equation itself with its operands read there."""
        first, *rest = self._put.get(eqn.outvars[0], [eqn]) if len(eqn.outvars) == 1 else [eqn]
        read = self.reading(first)
        return [read, *rest] if read is not first else [self.reading(eqn)]

    def _end(self, array: Var, regions: Iterable[Region]) -> Var | None:
        """What stands for an array at the end, if it is the same there in some regions."""
        if array not in self._later:
            return None
        position, later = self._later[array]
        if not all(apart(region, other) for region in regions for other in later):
            return None
        return self.ends.setdefault(position, Var(array.aval, array.name))


def _others(names: Sequence[str], directions: Mapping[str, int]) -> dict[str, Size]:
    """Other dimensions for some, with the same limits: their values in another step.

    Those that count in the direction given, 1 or -1 times their step, are those of a later one.
    """
    found: dict[str, Size] = {}
    for name in sorted(dict.fromkeys(names), key=lambda name: BOUND_BY_EQUATIONS[name].order):
        limits = BOUND_BY_EQUATIONS[name]
        at_least = [substitute(limit, found) for limit in limits.at_least]
        at_most = [substitute(limit, found) for limit in limits.at_most]
        step = limits.step * directions.get(name, 0)
        if step > 0:
            at_least.append(dimension(name) + step)
        elif step < 0:
            at_most.append(dimension(name) + step)
        found[name] = fresh_dimension("later", at_least, at_most)
    return found
