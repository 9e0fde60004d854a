"""Which of the arrays that a loop carries are one, or one that there was before the loop."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from s2s.frontend.control_flow.carried import Carried, Step
from s2s.frontend.control_flow.growing import Growing
from s2s.frontend.control_flow.merging import Unlike
from s2s.frontend.control_flow.relations import Where, holes
from s2s.frontend.control_flow.sharing import Pair, base_of, is_array, related, tell
from s2s.frontend.control_flow.state import MISSING, Contents, Recording, is_kept_in
from s2s.numpy.array import TracedArray
from s2s.numpy.twins import Test
from s2s.trace import Tracer, appending_to
from s2s.tree import flatten


@dataclass(eq=False)
class Alias:
    """Where an array that is carried is another, or a part of it: carried along with it.

    u = x                   u is x in the first step, and an array of its own in the others
    for _ in range(n):
        u[0] = 0.5          x changes with u where u is x
        u = 2.0 * u
    """

    pair: Pair
    other: Any
    """The other array if it is one from before the loop."""
    name: str
    indices: tuple[PartIndex, ...]
    test: Any = MISSING

    def read(self) -> Any:
        return self.test

    def write(self, value: Any) -> None:
        self.test = value


@dataclass(eq=False)
class PartIndex:
    """An index of the part of another array that an array is, carried along with where it is."""

    name: str
    index: Any = MISSING

    def read(self) -> Any:
        return self.index

    def write(self, value: Any) -> None:
        self.index = value


Place = tuple[int, int]
"""A leaf that is carried: the slot, and the number of the leaf in it."""


@dataclass(frozen=True)
class Item:
    """A leaf of what a step appends at one place to the list in a slot."""

    holder: int
    place: int
    number: int


MANY = 8
"""As what one array may be another, at most: a step that takes a part of a part has no end."""


class Aliases:
    """The pairs of arrays that are one in some step, of a loop that carries what is in `carried`.

    Where a pair is one is carried along, as a truth value.
    """

    def __init__(
        self,
        recording: Recording,
        carried: dict[int, Carried],
        growing: dict[int, Growing],
        sole: set[int],
    ) -> None:
        self.recording = recording
        self.carried = carried
        self.growing = growing
        self.sole = sole
        """The variables with arrays that nothing else knows."""
        self.known: dict[Pair, Alias] = {}
        self._kept: set[tuple[Hashable, int]] = set()
        """Arrays that are also the last item of a list that grows, and the slot of that."""

    def is_array(self, key: int) -> bool:
        """Whether the slot is an array that is changed in place."""
        slot = self.recording.slots.get(key)
        return isinstance(slot, Contents) and isinstance(slot.owner, Tracer)

    def places(self, values: Mapping[int, Any], groups: Mapping[int, Carried]) -> dict[Place, Any]:
        """The arrays in slots of the given values that are carried by a name."""
        return {
            (key, number): leaf
            for key, carried in groups.items()
            if not self.is_array(key) and key in values
            for number, leaf in enumerate(carried.flatten(values[key])[0])
            if carried.avals[number] is not None and is_array(leaf)
        }

    def find(self) -> None:
        """Carry along which arrays are those that they are before the loop, and others know."""
        before = {key: self.recording.before[key] for key in self.carried}
        for place, leaf in self.places(before, self.carried).items():
            if place[0] not in self.sole:
                base, relation = base_of(leaf)
                pair = Pair(place, id(base), True, relation)
                if pair not in self.known:
                    self._add(pair, base, None if relation is None else True)

    def _add(self, pair: Pair, other: Any, before: Test) -> Alias:
        """Carry along where a pair is one, which it is as told before the loop; or it is not known
        in any step, None."""
        name = self.recording.slots[cast(Place, pair.array)[0]].name
        indices = tuple(PartIndex(f"{name}_index") for _ in holes(pair.relation))
        alias = Alias(pair, other, f"is_{name}", indices)
        self.known[pair] = alias
        self._tell(alias, before)
        return alias

    def _tell(self, alias: Alias, before: Test) -> None:
        self._set(alias, before)
        for index in alias.indices:
            self._set(index, None if before is None else 0)

    def _set(self, slot: Alias | PartIndex, before: Any) -> None:
        key = id(slot)
        self.recording.slots[key] = slot
        self.recording.before[key] = before
        slot.write(before)
        self.carried.pop(key, None)
        if before is not None:
            self.carried[key] = Carried.of(before)

    def forget(self, key: int) -> None:
        """Forget what is known of the arrays in a slot."""
        for pair, alias in [*self.known.items()]:
            if key in {
                cast(Place, place)[0]
                for place in (pair.array, pair.other)
                if isinstance(place, tuple)
            }:
                del self.known[pair]
                for slot in (alias, *alias.indices):
                    del self.recording.slots[id(slot)], self.recording.before[id(slot)]
                    self.carried.pop(id(slot), None)

    def declare(self, arrays: Mapping[Place, Any]) -> None:
        """Tell which of the arrays at these places are one, as it stands in the slots now."""
        for pair, alias in self.known.items():
            other = alias.other if pair.is_from_before else arrays.get(cast(Place, pair.other))
            array = arrays.get(cast(Place, pair.array))
            if array is None or other is None or alias.test is MISSING:
                continue
            is_plain = not isinstance(other, TracedArray) and alias.test is not False
            name = self.recording.slots[cast(Place, pair.array)[0]].name
            where = Where(None if is_plain else alias.test, tuple(i.index for i in alias.indices))
            tell(array, other, pair.relation, where, name)

    def declare_kept(self, arrays: Mapping[Place, Any], lists: Mapping[int, Any]) -> None:
        """Tell which of the arrays at these places are items of lists that grow, too."""
        for place, holder in self._kept:
            if place in arrays:
                is_kept_in(lists[holder], [arrays[cast(Place, place)]])

    def settle(self, step: Step) -> bool:
        """Find which arrays are one at the end of the step; or whether the step must be traced
        again, since that was not thought of."""
        found, others = self._related(step, self.carried)
        changed = False
        for pair, where in found.items():
            if isinstance(pair.array, Item):
                changed = self._keep(pair.array.holder, pair) or changed
            elif pair not in self.known:
                if (pair := self._one_of_many(pair)) not in self.known:
                    known = where.test is not None and pair.relation is not None
                    self._add(pair, others.get(pair.other), False if known else None)
                    changed = True
            elif where.test is None and self.recording.before[id(self.known[pair])] is not None:
                self._tell(self.known[pair], None)
                changed = True
        for pair, alias in self.known.items():
            if id(alias) in self.carried:
                where = found.get(pair, Where(False))
                step.after[id(alias)] = where.test
                for slot, index in zip(alias.indices, where.indices, strict=False):
                    step.after[id(slot)] = index
        return changed

    def _one_of_many(self, pair: Pair) -> Pair:
        """The pair; without what one is to the other if that may be too much."""
        unknown = replace(pair, relation=None)
        known = [replace(other, relation=None) for other in self.known]
        is_one = unknown in self.known or known.count(unknown) >= MANY
        return unknown if is_one else pair

    def _related(
        self, step: Step, groups: Mapping[int, Carried]
    ) -> tuple[dict[Pair, Where], dict[Hashable, Any]]:
        """Which arrays in the slots, and items of lists that grow, are one at the end of the step,
        or are one from before it; and those."""
        leaves: dict[Any, Any] = dict(self.places({**step.start, **step.after}, groups))
        leaves.update(
            (Item(holder, place, number), leaf)
            for holder, growing in self.growing.items()
            for place, (_, item) in enumerate(growing.places)
            for number, leaf in enumerate(flatten(item)[0])
        )
        with appending_to(step.builder):
            found, others = related(leaves, step.builder)
        return {pair: where for pair, where in found.items() if where.test is not False}, others

    def of_fresh(self, step: Step, fresh: Mapping[int, Carried]) -> dict[int, Carried]:
        """Where arrays are another one that have no value before the loop, found at its end."""
        found, others = self._related(step, {**self.carried, **fresh})
        carried: dict[int, Carried] = {}
        for pair, where in found.items():
            if isinstance(pair.array, Item):
                self._keep(pair.array.holder, pair)
            elif pair not in self.known:
                alias = self._add(pair, others.get(pair.other), None)
                ends = (where.test, *where.indices)
                for slot, end in zip((alias, *alias.indices), ends, strict=True):
                    step.after[id(slot)] = end
                    if isinstance(end, Tracer):
                        carried[id(slot)] = Carried.of(end)
        return carried

    def _keep(self, holder: int, pair: Pair) -> bool:
        """The item that a step appends to a list is an array that other steps know, too: whether
        that is new. Raises Unlike if they change it."""
        if pair.is_from_before and self.is_array(cast(int, pair.other)):
            raise Unlike(
                "a list grows in it by an array that it changes in place, so all of its items are "
                "one array: append a copy, y.copy()"
            )
        is_other_item = isinstance(pair.other, Item)
        if pair.is_from_before or is_other_item or (pair.other, holder) in self._kept:
            return False
        self._kept.add((pair.other, holder))
        return True
