"""Which of the arrays that two branches give may be one array, or one that there was before.

if s > 0.0:          y is x where s > 0.0, and nothing else where not: what is put into one
    y = x            after this is put into the other where s > 0.0
else:
    y = 2.0 * x
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from s2s.frontend.control_flow.merging import Merging, Output
from s2s.frontend.control_flow.state import array_of
from s2s.numpy import twins
from s2s.numpy.array import TracedArray, View, is_changeable
from s2s.numpy.twins import Has, Of, Relation, Test
from s2s.trace import Builder, Tracer, appending_to

_OUTPUT = "output"


def is_array(leaf: Any) -> bool:
    """Whether a leaf can be changed in place: it, or what shares elements with it."""
    return is_changeable(leaf) or isinstance(leaf, np.ndarray)


class Sharing:
    """The arrays that outputs of two branches may be: found before these are bound, since where
    that is may be an output too, and declared after."""

    def __init__(
        self, test: Tracer, builders: Sequence[Builder], merging: Merging, arrays: Sequence[int]
    ) -> None:
        self.arrays = arrays
        self.others: dict[int, Any] = {}
        """The arrays from before the branches, by identity."""
        found: dict[tuple[int, str, int, Relation], list[Test]] = {}
        for side, builder in enumerate(builders):
            leaves = {number: merging.outputs[number][side] for number in arrays}
            with appending_to(builder):
                for number, kind, other, relation, where in self._pairs(leaves, builder):
                    tests = found.setdefault((number, kind, other, relation), [False, False])
                    tests[side] = twins.either(tests[side], where)
        self.found = {
            pair: None if None in tests else merging.merge_flags(test, tuple(tests))
            for pair, tests in found.items()
        }

    def _pairs(
        self, leaves: dict[int, Any], builder: Builder
    ) -> Iterator[tuple[int, str, int, Relation, Test]]:
        """What the leaves of one branch are to each other, and to arrays from before it."""
        made: dict[int, list[tuple[int, Relation]]] = {}
        for number, leaf in leaves.items():
            if not is_array(leaf):
                continue
            base, steps = _base(leaf)
            known = not any(step.reads for step in steps)
            start: Relation = Of(steps) if known else None
            if isinstance(array_of(leaf), View) and array_of(leaf).refused:
                start = None
            for array, relation, where in _reached(base, start, builder):
                if _is_from_before(array, builder):
                    self.others[id(array)] = array
                    is_known = relation is not None and isinstance(array, TracedArray)
                    yield number, "", id(array), relation, where if is_known else None
                    continue
                for other, back in made.get(id(array), []):
                    together = _through(relation, back)
                    yield number, _OUTPUT, other, together, None if together is None else where
            made.setdefault(id(base), []).append((number, start))

    def declare(self, results: Sequence[Any], names: dict[int, str]) -> None:
        """Tell of the arrays that the results of the branches may be."""
        for (number, kind, other_number, relation), flag in self.found.items():
            result = results[number]
            other = results[other_number] if kind == _OUTPUT else self.others[other_number]
            where = results[flag.number] if isinstance(flag, Output) else flag
            reason = twins.reason(names.get(number, "another array"))
            if where is None or relation is None:
                twins.may_be_part(other, result, (), None, reason)
            elif isinstance(relation, Of) or not relation.steps:
                twins.may_be_part(other, result, relation.steps, where, reason)
            else:
                twins.may_be_part(result, other, relation.steps, where, reason)


def _base(leaf: Any) -> tuple[Any, Any]:
    array = array_of(leaf)
    return (array.owner, array.steps) if isinstance(array, View) else (array, ())


def _is_from_before(array: Any, builder: Builder) -> bool:
    """Whether an array is one from before the branch."""
    return not isinstance(array, TracedArray) or array.builder is not builder


def _reached(
    array: Any, relation: Relation, builder: Builder
) -> Iterator[tuple[Any, Relation, Test]]:
    """The arrays that something may be which is `relation` to an array, what it is to them, and
    where. Those from before the branch are the last on a way."""
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
