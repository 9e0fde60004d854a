"""The order of a function's equations, and the line of the user's that each stands under.

Forward, the equations keep the user's order. Values that only the backward part reads and that the
user gave no name (`1 - h**2`, a term of the returned expression) go to where they are read first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from s2s.ir.jaxpr import Atom, Jaxpr, JaxprEqn, Literal, Source, Var
from s2s.passes.bound_dimensions import reads_of
from s2s.primitives.families import Elementwise


@dataclass(frozen=True, slots=True)
class Placed:
    """An equation at its place: in which part, and under which line of the user's function."""

    eqn: JaxprEqn
    line: Source | None
    backward: bool


class Lines:
    """The line of the user's that a comment above an equation says.

    It is one of the transformed function, or of a helper that it calls where that has several.
    """

    def __init__(self, jaxpr: Jaxpr) -> None:
        self._lines: dict[tuple[Source, int], set[int]] = {}
        """The lines of each function called, by the line that calls it and its first line."""
        self._said: dict[Source, Source] = {}
        self._collect(jaxpr)

    def of(self, eqn: JaxprEqn) -> Source | None:
        """The line to say above an equation; None if it comes from none."""
        if eqn.source is None:
            return None
        said = self._said.get(eqn.source)
        if said is None:
            said = self._said[eqn.source] = self._choose(eqn.source)
        return said

    def _choose(self, source: Source) -> Source:
        while source.caller is not None:
            if len(self._lines[source.caller, source.function]) > 1:
                return source
            source = source.caller
        return source

    def _collect(self, jaxpr: Jaxpr) -> None:
        for eqn in jaxpr.eqns:
            source = eqn.source
            while source is not None and source.caller is not None:
                self._lines.setdefault((source.caller, source.function), set()).add(source.line)
                source = source.caller
            for body in eqn.primitive.jaxprs:
                self._collect(body.jaxpr)


def schedule(jaxpr: Jaxpr, lines: Lines) -> list[Placed]:
    """The equations in the order in which they are written: the forward part, then the backward."""
    return _with_lines(_near_readers(_in_order(jaxpr, lines)))


def _near_readers(placed: list[Placed]) -> list[Placed]:
    """The equations, with an operation of the user's that a derivative needed earlier, and needs no
    more, back at the one line that reads it."""
    readers: dict[Atom, list[int]] = {}
    for number, p in enumerate(placed):
        for atom in p.eqn.invars:
            readers.setdefault(atom, []).append(number)
    moved: dict[int, list[int]] = {}
    on_line = Counter(p.line for p in placed)
    for number, p in enumerate(placed):
        eqn = p.eqn
        if eqn.phase != "primal" or p.backward or not isinstance(eqn.primitive, Elementwise):
            continue
        found = readers.get(eqn.outvars[0], [])
        if len(found) != 1 or eqn.outvars[0].name is not None:
            continue
        reader = placed[found[0]]
        elsewhere = reader.line != p.line and reader.eqn.phase == "primal" and not reader.backward
        if elsewhere and on_line[p.line] > 1:  # a line keeps its last statement
            on_line[p.line] -= 1
            moved.setdefault(found[0], []).append(number)
    gone = {number for numbers in moved.values() for number in numbers}

    def with_moved(number: int) -> Iterator[Placed]:
        for other in moved.get(number, ()):
            for p in with_moved(other):
                yield Placed(p.eqn, placed[number].line, p.backward)
        yield placed[number]

    return [p for number in range(len(placed)) if number not in gone for p in with_moved(number)]


def _with_lines(placed: list[Placed]) -> list[Placed]:
    """Put what comes from no line of the user's under the line before it."""
    for number in range(1, len(placed)):
        p, previous = placed[number], placed[number - 1]
        if p.line is None and p.backward == previous.backward:
            placed[number] = Placed(p.eqn, previous.line, p.backward)
    return placed


Reads = Callable[[JaxprEqn], list[Var]]


def _in_order(jaxpr: Jaxpr, lines: Lines) -> list[Placed]:
    reads = reads_of(jaxpr.eqns)
    backward = _backward_equations(jaxpr, reads)
    if not any(backward):
        return [Placed(eqn, lines.of(eqn), False) for eqn in jaxpr.eqns]
    forward, deferred = _split(jaxpr, backward, reads)
    placed = [Placed(eqn, lines.of(eqn), False) for eqn in forward]
    for eqn, is_backward in zip(jaxpr.eqns, backward, strict=True):
        if is_backward:
            line = lines.of(eqn)
            for needed in _take(eqn, deferred, reads):
                placed.append(Placed(needed, line, True))
            placed.append(Placed(eqn, line, True))
    rest = dict(sorted(deferred.values(), key=lambda item: item[0]))
    return [*placed, *[Placed(eqn, lines.of(eqn), True) for eqn in rest.values()]]


def _backward_equations(jaxpr: Jaxpr, reads: Reads) -> list[bool]:
    """Which equations compute cotangents or depend on one."""
    flags: list[bool] = []
    found: set[Var] = set()
    for eqn in jaxpr.eqns:
        is_backward = eqn.phase == "cotangent" or not found.isdisjoint(reads(eqn))
        flags.append(is_backward)
        if is_backward:
            found.update(eqn.outvars)
    return flags


def _split(
    jaxpr: Jaxpr, backward: Sequence[bool], reads: Reads
) -> tuple[list[JaxprEqn], dict[Var, tuple[int, JaxprEqn]]]:
    """The forward equations, and by their results those that wait for the backward part, numbered.

    Forward are the values that the user named, the results, and what these are computed from.
    """
    results = {atom for atom in jaxpr.outvars if not isinstance(atom, Literal)}
    inputs: set[Var] = set()
    forward: list[JaxprEqn] = []
    deferred: dict[Var, tuple[int, JaxprEqn]] = {}
    for number in reversed(range(len(jaxpr.eqns))):
        eqn = jaxpr.eqns[number]
        if backward[number]:
            continue
        # Loops and branches stay where the user has them.
        is_user_s = eqn.phase == "primal" and (
            eqn.primitive.multiple_results
            or any(
                var in results if var.name is None else not var.name.endswith("_bar")
                for var in eqn.outvars
            )
        )
        if is_user_s or eqn.primitive.has_effect or not inputs.isdisjoint(eqn.outvars):
            forward.append(eqn)
            inputs.update(reads(eqn))
        else:
            deferred.update(dict.fromkeys(eqn.outvars, (number, eqn)))
    forward.reverse()
    return forward, deferred


def _take(eqn: JaxprEqn, deferred: dict[Var, tuple[int, JaxprEqn]], reads: Reads) -> list[JaxprEqn]:
    """The waiting equations that `eqn` reads, directly or not, in the user's order."""
    taken: list[tuple[int, JaxprEqn]] = []
    pending = [eqn]
    while pending:
        for needed in reads(pending.pop()):
            found = deferred.get(needed)
            if found is not None:
                for var in found[1].outvars:
                    deferred.pop(var, None)
                taken.append(found)
                pending.append(found[1])
    taken.sort(key=lambda item: item[0])
    return [found for _, found in taken]
