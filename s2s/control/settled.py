"""What a loop wrote into an array, and never again: it is in the array when the loop has ended.

    for t in range(1, n):
        out[t] = a * out[t - 1]

The backward loop reads `out[t - 1]` again, in `out` as it is at the end: each row is written once,
before it is read. Nothing has to be kept of each step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from s2s.control.bodies import split_at
from s2s.control.distances import distances
from s2s.ir.jaxpr import Atom, Jaxpr, JaxprEqn, Literal, Var
from s2s.primitive import Producer, Value
from s2s.primitives.creation import Iota
from s2s.primitives.functions import add
from s2s.primitives.indexing import Gather, GatherScatterMode, Scatter
from s2s.trace import Tracer, bind, tracer_of

if TYPE_CHECKING:
    from s2s.control.scan import Scan


@dataclass(frozen=True)
class Settled:
    """What each step read or wrote: `gather` of `array`, as the loop left it, at `indices`: numbers
    that stay, or distances from the number of the step."""

    array: Value
    gather: Gather
    indices: Sequence[Literal | int]

    def row(self, array: Value, number: Value) -> Value:
        """It, for the step of a number."""

        def index(place: Literal | int) -> Value:
            if isinstance(place, Literal):
                return place
            return add(number, place) if place else number

        return bind(self.gather, array, *map(index, self.indices))


def settled(rows: Mapping[Var, Value], producer: Producer, kind: type[Scan]) -> dict[Var, Settled]:
    """Of the `rows` that a loop runs over, those that an earlier one, a scan, left in an array."""
    found: dict[Var, Settled] = {}
    loops: dict[int, dict[Var, Settled]] = {}
    for var, stacked in rows.items():
        eqn = producer(stacked)
        if eqn is None or not isinstance(eqn.primitive, kind) or not isinstance(stacked, Tracer):
            continue
        if id(eqn) not in loops:
            loops[id(eqn)] = _settled_in(eqn, eqn.primitive, stacked, producer)
        if stacked.variable in loops[id(eqn)]:
            found[var] = loops[id(eqn)][stacked.variable]
    return found


@dataclass
class _Version:
    """A carried array after some of a step's updates: the rows that these write."""

    carried: int
    written: list[int] = field(default_factory=list[int])


def _settled_in(eqn: JaxprEqn, scan: Scan, like: Tracer, producer: Producer) -> dict[Var, Settled]:
    """The stacked results of a loop that are rows of its carried arrays at the end."""
    body = scan.jaxpr.jaxpr
    _, _, _, xs = scan.parts(eqn.invars)
    carry_vars, xs_vars = split_at(body.invars[scan.num_consts :], scan.num_carry)
    numbers = [v for v, x in zip(xs_vars, xs, strict=True) if _is_number(x, like, producer)]
    steps = _Steps(body, numbers)
    versions = steps.versions(carry_vars)
    carry_outs, ys = split_at(body.outvars, scan.num_carry)
    ends = {
        position: version
        for position, end in enumerate(carry_outs)
        if isinstance(end, Var)
        and (version := versions.get(end)) is not None
        and version.carried == position
    }
    found: dict[Var, Settled] = {}
    places = steps.places(versions)
    for result, y in zip(eqn.outvars[scan.num_carry :], ys, strict=True):
        for version, gather, indices in places.get(y, ()) if isinstance(y, Var) else ():
            end = ends.get(version.carried)
            if end is not None and _stays(version, end, indices, gather, scan.reverse):
                array = tracer_of(like.builder, eqn.outvars[version.carried])
                found[result] = Settled(array, gather, indices)
    return found


def _is_number(x: Atom, like: Tracer, producer: Producer) -> bool:
    eqn = None if isinstance(x, Literal) else producer(tracer_of(like.builder, x))
    return eqn is not None and isinstance(eqn.primitive, Iota) and x.aval.ndim == 1


def _stays(
    version: _Version,
    end: _Version,
    indices: Sequence[Literal | int],
    gather: Gather,
    reverse: bool,
) -> bool:
    """Whether the row at `indices` is not written after `version`, in this step or a later one."""
    row = indices[gather.dimension_numbers.start_index_map.index(0)]
    if isinstance(row, Literal) or row < 0 or min(end.written) < 0:
        return False  # a negative index counts from the end
    if row in end.written[len(version.written) :]:
        return False
    return all(w <= row if reverse else w >= row for w in end.written)


Place = tuple[_Version, Gather, Sequence["Literal | int"]]
"""Where a value is: in an array after some updates, taken by a gather at indices."""


class _Steps:
    """The steps of a loop that indexes its arrays by the number of the step."""

    def __init__(self, body: Jaxpr, numbers: Sequence[Var]) -> None:
        self.body = body
        self.distances = distances(body, numbers, {})

    def versions(self, carried: Sequence[Var]) -> dict[Var, _Version]:
        """The carried arrays through updates of one row each."""
        found = {var: _Version(position) for position, var in enumerate(carried)}
        for eqn in self.body.eqns:
            array = eqn.invars[0] if isinstance(eqn.primitive, Scatter) else None
            if isinstance(array, Var) and array in found:
                row = self._row(*_taking(eqn))
                if row is not None:
                    version = found[array]
                    written = [*version.written, row]
                    found[eqn.outvars[0]] = _Version(version.carried, written)
        return found

    def places(self, versions: Mapping[Var, _Version]) -> dict[Var, list[Place]]:
        """Where each value is that is read of a carried array, or put into it."""
        found: dict[Var, list[Place]] = {}
        for eqn in self.body.eqns:
            if isinstance(eqn.primitive, Gather):
                array, value = eqn.invars[0], eqn.outvars[0]
                gather, given = eqn.primitive, eqn.invars[1:]
            elif type(eqn.primitive) is Scatter:
                array, value = eqn.outvars[0], eqn.invars[-1]
                gather, given = _taking(eqn)
            else:
                continue
            indices = self._indices(gather, given)
            version = versions.get(array) if isinstance(array, Var) else None
            if version is not None and isinstance(value, Var) and indices is not None:
                found.setdefault(value, []).append((version, gather, indices))
        return found

    def _row(self, gather: Gather, given: Sequence[Atom]) -> int | None:
        """The distance of the one row of the array that is indexed."""
        axes = gather.dimension_numbers.start_index_map
        if 0 not in axes or 0 not in gather.dimension_numbers.collapsed_slice_dims:
            return None
        if gather.mode is GatherScatterMode.CLIP:
            return None
        index = given[axes.index(0)]
        distance = self.distances.get(index) if isinstance(index, Var) else None
        return distance if isinstance(distance, int) else None

    def _indices(self, gather: Gather, given: Sequence[Atom]) -> list[Literal | int] | None:
        """The indices, where they are numbers or distances."""
        if self._row(gather, given) is None:
            return None
        found: list[Literal | int] = []
        for index in given:
            distance = self.distances.get(index) if isinstance(index, Var) else index
            if index.aval.shape or not isinstance(distance, (int, Literal)):
                return None
            found.append(distance)
        return found


def _taking(eqn: JaxprEqn) -> tuple[Gather, Sequence[Atom]]:
    """What takes the elements that a scatter puts into an array, and its indices."""
    primitive = eqn.primitive
    assert isinstance(primitive, Scatter)
    x, *indices, updates = eqn.invars
    return primitive.taking(x.aval, updates.aval), indices
