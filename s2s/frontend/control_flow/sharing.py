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

from s2s.frontend.control_flow.merging import Merging, Output
from s2s.frontend.control_flow.state import array_of
from s2s.numpy import twins
from s2s.numpy.array import TracedArray, View, is_changeable
from s2s.numpy.twins import Has, Of, Relation, Test
from s2s.trace import Builder, Tracer, appending_to


@dataclass(frozen=True)
class Pair:
    """An array and another that it may be, or share elements with, and what it is to that.

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
) -> tuple[dict[Pair, Test], dict[Hashable, Any]]:
    """Where leaves at the end of a block are each other, or arrays from before it; and those
    arrays, by identity. `builder`, which is in force, has traced the block."""
    found: dict[Pair, Test] = {}
    others: dict[Hashable, Any] = {}
    made: dict[int, list[tuple[Hashable, Relation]]] = {}

    def find(pair: Pair, where: Test) -> None:
        found[pair] = twins.either(found.get(pair, False), where)

    for key, leaf in leaves.items():
        if not is_array(leaf):
            continue
        base, relation = base_of(leaf, builder)
        for array, reached, where in _reached(base, relation, builder):
            if _is_from_before(array, builder):
                others[id(array)] = array
                is_known = reached is not None and isinstance(array, TracedArray)
                find(Pair(key, id(array), True, reached), where if is_known else None)
                continue
            for other, back in made.get(id(array), []):
                together = _through(reached, back)
                find(Pair(key, other, False, together), None if together is None else where)
        made.setdefault(id(base), []).append((key, relation))
    return found, others


def base_of(leaf: Any, block: Builder | None = None) -> tuple[Any, Relation]:
    """The array that has the elements of a leaf, and what the leaf is to it: not known after the
    block if it is a view at an index that the block has computed."""
    array = array_of(leaf)
    if not isinstance(array, View):
        return array, Of(())
    is_lasting = not any(step.reads and step.builder is block for step in array.steps)
    return array.owner, Of(array.steps) if is_lasting and not array.refused else None


def tell(array: Any, other: Any, relation: Relation, test: Test, name: str) -> None:
    """Tell that an array is `relation` to another where the test holds."""
    reason = twins.reason(name)
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
        found: dict[Pair, list[Test]] = {}
        for side, builder in enumerate(builders):
            leaves = {number: merging.outputs[number][side] for number in arrays}
            with appending_to(builder):
                pairs, others = related(leaves, builder)
            self.others.update(others)
            for pair, where in pairs.items():
                found.setdefault(pair, [False, False])[side] = where
        self.found = {
            pair: None if None in tests else merging.merge_flags(test, tuple(tests))
            for pair, tests in found.items()
        }

    def declare(self, results: Sequence[Any], names: dict[int, str]) -> None:
        """Tell of the arrays that the results of the branches may be."""
        for pair, flag in self.found.items():
            assert isinstance(pair.array, int)
            result = results[pair.array]
            other = self.others[pair.other] if pair.is_from_before else results[pair.other]  # type: ignore[index]
            where = results[flag.number] if isinstance(flag, Output) else flag
            tell(result, other, pair.relation, where, names.get(pair.array, "another array"))


def _is_from_before(array: Any, builder: Builder) -> bool:
    """Whether an array is one from before the block."""
    return not isinstance(array, TracedArray) or array.builder is not builder


def _reached(
    array: Any, relation: Relation, builder: Builder
) -> Iterator[tuple[Any, Relation, Test]]:
    """The arrays that something may be which is `relation` to an array, what it is to them, and
    where. Those from before the block are the last on a way."""
    start: Test = True if relation is not None else None
    pending: list[tuple[list[Any], Relation, Test, bool]] = [([array], relation, start, False)]
    while pending:
        path, relation, where, is_same = pending.pop()
        yield path[-1], relation, where
        if _is_from_before(path[-1], builder):
            continue
        for other, more, condition, _ in twins.neighbours(path[-1]):
            if not (is_same and twins.is_one(more)) and not any(other is a for a in path):
                both = twins.both(where, condition)
                if both is False:
                    continue
                reached = None if both is None else twins.joined(relation, more)
                pending.append(([*path, other], reached, both, twins.is_one(more)))


def _through(first: Relation, second: Relation) -> Relation:
    """What a is to b, of which the first is `first` to an array, and the second `second`."""
    if first is None or second is None:
        return None
    back = Has(second.steps) if isinstance(second, Of) else Of(second.steps)
    return Of(()) if first == second else twins.joined(first, back)
