"""The numbers that a loop of known length runs over: the user's, or those that its body reads.

A scan counts its steps from zero. Where its body reads that number plus one, what is written is

    for t in range(1, n):          and not          for i in range(n - 1):
        out[t] = out[t - 1] * a                         t = i + 1
                                                        out[t] = out[i] * a
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from s2s.control.distances import distances
from s2s.control.scan import Scan
from s2s.ir.dims import Size, same_size
from s2s.ir.dtypes import INT64
from s2s.ir.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, ShapedArray, Var
from s2s.passes.dce import live
from s2s.primitives.arithmetic import Add, Mul
from s2s.primitives.creation import DimAsValue
from s2s_codegen.numpy_source.written_loop import WrittenLoop

Producers = Mapping[Var, JaxprEqn]


def with_range(eqn: JaxprEqn, producers: Producers) -> JaxprEqn:
    """The equation of a scan as it is written, counting from the number that suits its body."""
    loop = eqn.primitive
    assert isinstance(loop, WrittenLoop)
    if not isinstance(loop.loop, Scan):
        return eqn
    numbers = _Numbers(loop, eqn.invars, producers)
    first, stride = numbers.first(), numbers.stride
    if same_size(first, 0) and stride == 1:
        return eqn
    body = numbers.counted_from(first)
    scan = replace(loop.loop, jaxpr=body)
    primitive = replace(loop, loop=scan, body=body, first=first, stride=stride)
    return JaxprEqn(primitive, eqn.invars, eqn.outvars, eqn.source, eqn.phase)


class _Numbers:
    """The numbers that the body of a scan reads: those of a fixed distance from the step's."""

    def __init__(self, loop: WrittenLoop, operands: Sequence[Atom], producers: Producers) -> None:
        self.loop = loop
        self.body = loop.body
        jaxpr = loop.body.jaxpr
        rows = jaxpr.invars[len(jaxpr.invars) - len(loop.offsets) :]
        self.inputs = [v for v, o in zip(rows, loop.offsets, strict=True) if o is None]
        self.indices, self.stride = self._multiples()
        """The variables that have the number of the step, or all a multiple of it."""
        sizes: dict[Var, Size] = {}
        for var, atom in zip(jaxpr.invars, operands, strict=False):
            found = producers.get(atom) if isinstance(atom, Var) else None
            if found is not None and isinstance(found.primitive, DimAsValue):
                sizes[var] = found.primitive.dim
        self.distances = distances(jaxpr, self.indices, sizes)
        """The distance of each number from that of the step."""

    def _multiples(self) -> tuple[list[Var], int]:
        if len(self.inputs) != 1 or len(self.loop.offsets) > 1 or self.loop.starts:
            return self.inputs, 1
        (index,) = self.inputs
        jaxpr = self.body.jaxpr
        readers = [eqn for eqn in jaxpr.eqns if index in eqn.invars]
        if len(readers) != 1 or index in jaxpr.outvars or not isinstance(readers[0].primitive, Mul):
            return self.inputs, 1
        (other,) = (atom for atom in readers[0].invars if atom is not index)
        if not isinstance(other, Literal) or other.value == 0:
            return self.inputs, 1
        return list(readers[0].outvars), int(other.value)

    def first(self) -> Size:
        """The number of the first step: that which the user has a name for, else the one for which
        the least has to be added to numbers."""
        for var, distance in self.distances.items():
            if var.name is not None:
                return distance
        found = list(self._places())
        choices: list[Size] = [0, *found]
        return min(choices, key=lambda first: sum(not same_size(p, first) for p in found))

    def _places(self) -> Iterator[Size]:
        """The distance of each number that the statements of a step mention."""
        jaxpr = self.body.jaxpr
        for atom in (*[a for e in jaxpr.eqns for a in e.invars], *jaxpr.outvars):
            if isinstance(atom, Var) and atom in self.distances and atom not in self.indices:
                yield self.distances[atom]
        for eqn in jaxpr.eqns:
            if self.distances.keys().isdisjoint(eqn.outvars):
                yield from (0 for atom in eqn.invars if atom in self.indices)
        yield from (offset for offset in self.loop.offsets if offset is not None)
        for start in self.loop.starts:
            yield int(start is not None and not self.loop.reverse)

    def counted_from(self, first: Size) -> ClosedJaxpr:
        """The body with `first` as the number of the first step."""
        jaxpr = self.body.jaxpr
        alike = [var for var, distance in self.distances.items() if same_size(distance, first)]
        name = next((var.name for var in alike if var.name is not None), None)
        numbers = {index: Var(index.aval, name) for index in self.inputs}
        replaced: dict[Atom, Atom] = {}
        eqns: list[JaxprEqn] = []
        if numbers:
            number = next(iter(numbers.values()))
            replaced.update(dict.fromkeys(alike, number))
            for var, distance in self.distances.items():
                if var not in replaced:
                    eqns += _moved(number, distance - first, var)
        for eqn in jaxpr.eqns:
            if self.distances.keys().isdisjoint(eqn.outvars):
                invars = [replaced.get(atom, atom) for atom in eqn.invars]
                eqns.append(
                    JaxprEqn(
                        eqn.primitive, invars, eqn.outvars, eqn.source, eqn.phase, eqn.types_hold
                    )
                )
        outvars = [replaced.get(atom, atom) for atom in jaxpr.outvars]
        invars = [numbers.get(var, var) for var in jaxpr.invars]
        kept = live(eqns, outvars)
        return ClosedJaxpr(Jaxpr(jaxpr.constvars, invars, kept, outvars), self.body.consts)


def _moved(number: Var, distance: Size, var: Var) -> list[JaxprEqn]:
    """The equations that give `var` the number `number + distance`."""
    if isinstance(distance, int):
        return [JaxprEqn(Add(), [number, Literal(distance, number.aval)], [var])]
    size = Var(ShapedArray((), INT64, weak_type=True))
    return [
        JaxprEqn(DimAsValue(distance), [], [size]),
        JaxprEqn(Add(), [number, size], [var]),
    ]
