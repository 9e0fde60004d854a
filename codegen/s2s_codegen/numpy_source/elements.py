"""Arrays taken apart: `a, b, c = x` for the elements of `x` one after the other."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from s2s.ir.dims import same_shape
from s2s.ir.jaxpr import JaxprEqn, Var
from s2s.primitives.layout import Slice, Squeeze
from s2s_codegen.numpy_source.schedule import Placed


class Element(NamedTuple):
    """What is at one place of an axis of known size, the first axis or the second of two."""

    place: int
    array: Var
    axis: int
    size: int


def together(
    statements: Sequence[Placed], inlined: Mapping[Var, JaxprEqn]
) -> tuple[list[Placed], dict[int, int]]:
    """The statements, in which those that take all elements of an array under one line stand side
    by side; and for the position of the first of these how many they are."""
    ordered: list[Placed] = []
    counts: dict[int, int] = {}
    found = [(p, element(p.eqn, inlined)) for p in statements]
    for _, run in itertools.groupby(found, lambda pair: pair[1] and (pair[0].line,)):
        groups: dict[object, list[tuple[Element, Placed]]] = {}
        for p, taken in run:
            if taken is None:
                ordered.append(p)
            else:
                groups.setdefault(taken[1:], []).append((taken, p))
        for group in groups.values():
            group.sort(key=lambda pair: pair[0].place)
            if [taken.place for taken, _ in group] == list(range(group[0][0].size)):
                counts[len(ordered)] = len(group)
            ordered += [p for _, p in group]
    return ordered, {position: count for position, count in counts.items() if count > 1}


def element(eqn: JaxprEqn, inlined: Mapping[Var, JaxprEqn]) -> Element | None:
    """The element that an equation takes of an array, if that has a name."""
    if not isinstance(eqn.primitive, Squeeze) or len(eqn.primitive.dimensions) != 1:
        return None
    (axis,), (row,) = eqn.primitive.dimensions, eqn.invars
    taken = inlined.get(row) if isinstance(row, Var) else None
    if taken is None or not isinstance(taken.primitive, Slice):
        return None
    (array,) = taken.invars
    shape = array.aval.shape
    if (
        not isinstance(array, Var)
        or array in inlined
        or (axis, len(shape)) not in ((0, len(shape)), (1, 2))
    ):
        return None
    place, size = taken.primitive.start_indices[axis], shape[axis]
    whole = same_shape(row.aval.shape, (*shape[:axis], 1, *shape[axis + 1 :]))
    if not whole or not isinstance(place, int) or not isinstance(size, int):
        return None
    return Element(place, array, axis, size)
