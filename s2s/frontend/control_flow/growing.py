"""Lists to which the steps of a loop append."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from s2s.errors import UserError
from s2s.frontend.control_flow.leaves import ABSENT
from s2s.frontend.control_flow.merging import Unlike
from s2s.frontend.control_flow.stacked import (
    Shape,
    StackedList,
    as_list,
    changeable_among,
    leaves_of,
)
from s2s.frontend.control_flow.state import changing, is_kept_in
from s2s.ir.bounds import bounds
from s2s.ir.dims import Size, fresh_dimension
from s2s.ir.jaxpr import Literal, Source
from s2s.numpy.registry import COUNTERPARTS
from s2s.primitives.counts import NonZero
from s2s.primitives.indexing import take_at
from s2s.trace import Tracer, bind, known_value, named, tracer_of
from s2s.tree import flatten, unflatten

Place = tuple[Any, Any]
"""What a step appends at one place of the user's, if it is given: the item and whether it is, as
(is_given, item). `is_given` is True, False, or a traced truth value."""


class Traits:
    """What is known of a list that grows, whatever branches are taken."""

    def __init__(self, name: str) -> None:
        self.name = name
        """The user's name of the list."""
        self.at_front: bool | None = None
        """Whether items are put before the others; None if there are none yet."""
        self.counter: tuple[Tracer, int] | None = None
        """What counts the steps of the loop one by one, and where it starts."""
        self.one_a_step = False
        """Whether each step is taken to append one item."""
        self.ends_early = False
        """Whether the last step appends nothing."""
        self.places: Sequence[Place] = ()
        """What a whole step appends."""


class Earlier:
    """The items that earlier steps have appended to a list that grows."""


class Growing:
    """A list in a loop whose steps append to it, and read no items but the first and the last.

    `latest` are the last items now, at least as many as steps read.
    """

    stands_for = "list"

    def __init__(self, initial: list[Any] | StackedList, name: str) -> None:
        self.initial = initial
        self.latest: list[Any] = []
        self.places: list[Place] = []
        self.number: Any = None
        """How many items there are, where steps ask for it."""
        self.earlier = Earlier()
        self.traits = Traits(name)

    def begin(self) -> None:
        """A step is traced."""
        self.places = []

    # -- changes --------------------------------------------------------------------------------

    def append(self, item: Any) -> None:
        self._put(item, at_front=False)

    def insert(self, index: Any, item: Any) -> None:
        if index != 0:
            raise Unlike("a list grows in it by an item in its middle")
        self._put(item, at_front=True)

    def extend(self, items: Any) -> None:
        found = as_list(items)
        if isinstance(found, StackedList):
            raise Unlike("a list grows in it by items of a list or array: append them one by one")
        for item in found:
            self.append(item)

    def __iadd__(self, items: Any) -> Growing:
        self.extend(items)
        return self

    def _put(self, item: Any, at_front: bool) -> None:
        leaves_of(item)
        if self.traits.at_front not in (None, at_front):
            raise Unlike("a list grows in it at both ends")
        changing(self)
        self.traits.at_front = at_front
        self.places = [*self.places, (True, item)]
        self.latest = [*self.latest, item]
        if self.number is not None:
            self.number = self.number + 1

    # -- reading --------------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, Tracer):
            index = self._from_the_end(index)
        if isinstance(index, slice):
            return self._last(cast("slice[Any, Any, Any]", index))
        if type(index) is not int:
            raise Unlike("a list grows in it, of which it also reads other items than the last")
        if self.traits.at_front:
            index = -index - 1
        if 0 <= index < self.least_initial:
            return self.initial[index]
        if index >= 0 or -index > self.least_length:
            raise Unlike(
                f"it reads the item {index} of a list that grows in it, of which there may not be "
                f"as many: it starts with {self.initial_length}"
            )
        if -index > len(self.latest):
            raise Wider(self, -index - len(self.latest))
        return self.latest[index]

    @property
    def least_length(self) -> int:
        """How many items there are at least."""
        return self.least_initial + sum(is_given is True for is_given, _ in self.places)

    @property
    def initial_length(self) -> Size:
        """How many items there were before the loop."""
        return self.initial.length if isinstance(self.initial, StackedList) else len(self.initial)

    @property
    def least_initial(self) -> int:
        """How many items there were at least before the loop."""
        return bounds(self.initial_length)[0] or 0

    def last_initial(self, width: int) -> list[Any]:
        """The last items before the loop."""
        return [self.initial[number] for number in range(-width, 0)]

    def _last(self, index: slice[Any, Any, Any]) -> list[Any]:
        """The items of `[-k:]`."""
        start = index.start
        is_of_last = type(start) is int and start < 0 and index.stop is None
        if not is_of_last or index.step not in (None, 1) or -start > self.least_length:
            raise Unlike("a list grows in it, of which it also reads other items than the last")
        return [self[number] for number in range(start, 0)]

    def _from_the_end(self, index: Tracer) -> int | None:
        """An index that keeps its distance to the number of the step, as one from the end."""
        known = known_value(index)
        if known is not None:
            return int(known)
        if self.traits.counter is None:
            return None
        counter, start = self.traits.counter
        distance = distance_between(index, counter)
        if distance is None:
            return None
        self.traits.one_a_step = True
        found = distance + start - len(self.places) - self.initial_length
        if not isinstance(found, int):
            return None
        if found >= 0:
            raise Unlike("it reads an item of a list before it is appended")
        return found

    @property
    def length(self) -> Any:
        """How many items there are now."""
        if self.number is None:
            raise Counted(self)
        return self.number

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise Unlike(f"it calls `.{name}` of a list that grows in it")

    def __len__(self) -> int:
        raise Unlike("a list grows in it, which it also reads")

    def __iter__(self) -> Any:
        raise Unlike("a list grows in it, which it also reads")

    # -- what becomes of it ---------------------------------------------------------------------

    def appended_leaves(self) -> list[Any]:
        """What a step appends, to be stacked: the leaves of its items."""
        self.traits.places = self.places
        if not self.places:
            return []
        items = [item for _, item in self.places]
        if any(Shape.of(item) != Shape.of(items[0]) for item in items[1:]):
            raise Unlike("a list grows in it whose items are of different structures")
        columns = zip(*map(leaves_of, items), strict=True)
        return [together(column) for column in columns]

    def number_of_leaves(self) -> int:
        places = self.traits.places
        return len(leaves_of(places[0][1])) if places else 0

    def flags(self) -> tuple[Any, ...]:
        """Which of the items of a step are given; none if all are."""
        flags = tuple(is_given for is_given, _ in self.traits.places)
        is_selected = not self.traits.ends_early and any(flag is not True for flag in flags)
        return flags if is_selected else ()

    def after(self, rows: Sequence[Any], indices: Any) -> Any:
        """The list after a loop whose steps appended `rows`, of which those at `indices` are given,
        if that is not None."""
        items = [item for _, item in self.traits.places]
        if not items:
            return self.initial
        if isinstance(self.initial, StackedList):
            known, before = self.initial.originals, self.initial.arrays
        else:
            known = changeable_among(self.initial)
            before = [leaf for item in self.initial for leaf in flatten(item)[0]]
        name = self.traits.name
        for row in rows if indices is not None else ():
            named(row, f"{name}_steps")
        rows = [in_one(row, len(items)) for row in rows]
        if self.traits.ends_early:
            rows = [row[: -len(items)] for row in rows]
        if indices is not None:
            rows = [take_at(row, (0,), [indices]) for row in rows]
        for row in rows:
            named(row, name)
        made = StackedList(rows, Shape.of(items[0]), (*known, *changeable_among(items)))
        made = made[::-1] + self.initial if self.traits.at_front else self.initial + made
        is_kept_in(made, [*before, *[leaf for item in items for leaf in flatten(item)[0]]])
        return made


def together(values: Sequence[Any]) -> Any:
    """What several places of a step append, as one."""
    return values[0] if len(values) == 1 else COUNTERPARTS[np.stack](list(values))


def in_one(rows: Any, places: int) -> Any:
    """The rows of all steps, of which each made one for each place."""
    if places == 1:
        return rows
    steps, _, *shape = rows.aval.shape
    return COUNTERPARTS[np.reshape](rows, (steps * places, *shape))


def indices_of_given(flags: Any, places: int) -> Any:
    """The indices of the rows of all steps that are given, for the flags of all steps."""
    rows = in_one(named(flags, "is_kept_steps"), places)
    return bind(NonZero(fresh_dimension("steps")), rows)[1]


def aligned(states: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The contents of a list that grows as branches leave them, with the same places in each, and
    the same number of latest items."""
    most: list[Place] = max((state["places"] for state in states), key=len)
    absent = [(False, _absent(item)) for _, item in most]
    known = min(len(state["latest"]) for state in states)
    return [
        {
            **state,
            "places": [*state["places"], *absent[len(state["places"]) :]],
            "latest": state["latest"][len(state["latest"]) - known :],
        }
        for state in states
    ]


def _absent(item: Any) -> Any:
    """What stands for an item where there is none."""
    leaves, structure = flatten(item)
    return unflatten(structure, [ABSENT] * len(leaves))


def distance_between(index: Any, counter: Tracer) -> int | None:
    """The number c of an index that is `counter + c`; None if it is not one."""
    if not isinstance(index, Tracer):
        return None
    if index.variable is counter.variable:
        return 0
    builder = index.builder
    eqn = builder.producer(index)
    if eqn is None:
        captured = dict(zip(builder.constvars, builder.consts, strict=True))
        return distance_between(captured.get(index.variable), counter)
    if eqn.primitive.name not in ("add", "sub"):
        return None
    first, second = (
        atom if isinstance(atom, Literal) else tracer_of(builder, atom) for atom in eqn.invars
    )
    added = known_value(second)
    if added is None and eqn.primitive.name == "add":
        first, added = second, known_value(first)
    distance = None if added is None else distance_between(first, counter)
    if distance is None or added is None:
        return None
    return distance + int(added) if eqn.primitive.name == "add" else distance - int(added)


class Grows(UserError):
    """A list has other items in one branch than in another, and is refused unless it is one to
    which steps of a loop append."""

    def __init__(self, message: str, line: Source | None, owner: Any) -> None:
        super().__init__(message, line)
        # Not the list itself: it must stay known by the user's variable only.
        self.owner_id = id(owner)


class Wider(Exception):
    """A step reads more of the last items of a list than were thought: trace it again."""

    def __init__(self, growing: Growing, more: int) -> None:
        super().__init__(growing, more)
        self.growing = growing
        self.more = more


class Counted(Exception):
    """A step asks for the number of the items of a list: trace it again."""

    def __init__(self, growing: Growing) -> None:
        super().__init__(growing)
        self.growing = growing


@dataclass(eq=False)
class Latest:
    """The last items of a list that grows, as something that a loop carries."""

    growing: Growing
    name: str
    width: int = 0

    def read(self) -> Any:
        return self.growing.latest[-self.width :]

    def write(self, value: Any) -> None:
        self.growing.latest = value


@dataclass(eq=False)
class Number:
    """The number of the items of a list that grows, as something that a loop carries."""

    growing: Growing
    name: str

    def read(self) -> Any:
        return self.growing.number

    def write(self, value: Any) -> None:
        self.growing.number = value
