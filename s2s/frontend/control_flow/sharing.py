"""Which of the arrays that two branches give may be one array, or one that there was before.

if s > 0.0:          y is x where s > 0.0, and nothing else where not: what is put into one
    y = x            after this is put into the other where s > 0.0
else:
    y = 2.0 * x
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s.frontend.control_flow.leaves import ABSENT
from s2s.frontend.control_flow.merging import Merging, Output
from s2s.frontend.control_flow.relations import (
    Where,
    either,
    holes,
    with_indices,
    without_indices,
)
from s2s.frontend.control_flow.state import array_of
from s2s.numpy import twins
from s2s.numpy.array import TracedArray, View, is_changeable
from s2s.numpy.twins import Has, Of, Relation, Test
from s2s.trace import Builder, Tracer, appending_to


@dataclass(frozen=True)
class Pair:
    """An array and another that it may be, or share elements with, and what it is to that, with
    holes in place of indices.

    Arrays of one block have keys; of those from before it, `others` are known by identity.
    """

    array: Hashable
    other: Hashable
    is_from_before: bool
    relation: Relation


def is_array(leaf: Any) -> bool:
    """Whether a leaf can be changed in place: it, or what shares elements with it."""
    return is_changeable(leaf) or isinstance(leaf, np.ndarray)


def related(
    leaves: Mapping[Any, Any], builder: Builder
) -> tuple[dict[Pair, Where], dict[Hashable, Any]]:
    """Where leaves at the end of a block are each other, or arrays from before it; and those
    arrays, by identity. `builder`, which is in force, has traced the block."""
    found: dict[Pair, Where] = {}
    others: dict[Hashable, Any] = {}
    made: dict[int, list[tuple[Hashable, Relation]]] = {}

    def find(key: Hashable, other: Hashable, before: bool, relation: Relation, test: Test) -> None:
        form, indices = without_indices(relation, builder)
        where = Where(None if form is None else test, indices)
        pair = Pair(key, other, before, form)
        found[pair] = either(found[pair], where) if pair in found else where

    for key, leaf in leaves.items():
        if not is_array(leaf):
            continue
        base, relation = base_of(leaf)
        for array, reached, where in _reached(base, relation, builder):
            if _is_from_before(array, builder):
                others[id(array)] = array
                is_known = isinstance(array, TracedArray)
                find(key, id(array), True, reached, where if is_known else None)
                continue
            for other, back in made.get(id(array), []):
                together = _through(reached, back)
                find(key, other, False, together, where)
        made.setdefault(id(base), []).append((key, relation))
    return found, others


def base_of(leaf: Any) -> tuple[Any, Relation]:
    """The array that has the elements of a leaf, and what the leaf is to it."""
    array = array_of(leaf)
    if not isinstance(array, View):
        return array, Of(())
    return array.owner, Of(array.steps) if not array.refused else None


def tell(array: Any, other: Any, relation: Relation, where: Where, name: str) -> None:
    """Tell that an array is `relation` to another where the test holds, at the indices."""
    reason, test = twins.reason(name), where.test
    relation = with_indices(relation, where.indices)
    if test is None or relation is None:
        twins.may_be_part(other, array, (), None, reason)
    elif isinstance(relation, Of) or not relation.steps:
        twins.may_be_part(other, array, relation.steps, test, reason)
    else:
        twins.may_be_part(array, other, relation.steps, test, reason)


class Sharing:
    """The arrays that outputs of two branches may be: found before these are bound, since where
    that is may be an output too, and declared after."""

    def __init__(
        self, test: Tracer, builders: Sequence[Builder], merging: Merging, arrays: Sequence[int]
    ) -> None:
        self.arrays = arrays
        self.others: dict[Hashable, Any] = {}
        """The arrays from before the branches, by identity."""
        found: dict[Pair, list[Where]] = {}
        for side, builder in enumerate(builders):
            leaves = {number: merging.outputs[number][side] for number in arrays}
            with appending_to(builder):
                pairs, others = related(leaves, builder)
            self.others.update(others)
            for pair, where in pairs.items():
                nowhere = Where(False, tuple(ABSENT for _ in holes(pair.relation)))
                found.setdefault(pair, [nowhere, nowhere])[side] = where
        self.found: dict[Pair, Where] = {}
        for pair, sides in found.items():
            tests = tuple(where.test for where in sides)
            flag = None if None in tests else merging.merge_flags(test, tests)
            rows = zip(*[where.indices for where in sides], strict=True)
            indices = () if flag is None else tuple(map(merging.output, rows))
            self.found[pair] = Where(flag, indices)

    def declare(self, results: Sequence[Any], names: dict[int, str]) -> None:
        """Tell of the arrays that the results of the branches may be."""
        for pair, where in self.found.items():
            assert isinstance(pair.array, int)
            result = results[pair.array]
            other = self.others[pair.other] if pair.is_from_before else results[pair.other]  # type: ignore[index]
            flag, *indices = [
                results[output.number] if isinstance(output, Output) else output
                for output in (where.test, *where.indices)
            ]
            name = names.get(pair.array, "another array")
            tell(result, other, pair.relation, Where(flag, tuple(indices)), name)


def _is_from_before(array: Any, builder: Builder) -> bool:
    """Whether an array is one from before the block."""
    return not isinstance(array, TracedArray) or array.builder is not builder


def _reached(
    array: Any, relation: Relation, builder: Builder
) -> Iterator[tuple[Any, Relation, Test]]:
    """The arrays that something may be which is `relation` to an array, what it is to them, and
    where. Those from before the block are the last on a way."""
    start: Test = True if relation is not None else None
    pending: list[tuple[list[Any], Relation, Test, tuple[Relation, ...]]] = [
        ([array], relation, start, ())
    ]
    while pending:
        path, relation, where, way = pending.pop()
        yield path[-1], relation, where
        if _is_from_before(path[-1], builder):
            continue
        for other, more, condition, _ in twins.neighbours(path[-1]):
            if twins.leads_on(way, more) and not any(other is a for a in path):
                both = twins.both(where, condition)
                if both is False:
                    continue
                reached = None if both is None else twins.joined(relation, more)
                pending.append(([*path, other], reached, both, (*way, more)))


def _through(first: Relation, second: Relation) -> Relation:
    """What a is to b, of which the first is `first` to an array, and the second `second`."""
    if first is None or second is None:
        return None
    back = Has(second.steps) if isinstance(second, Of) else Of(second.steps)
    return Of(()) if first == second else twins.joined(first, back)
