"""Lists to which each step of a loop appends: afterwards, the rows of an array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from s2s.errors import UserError
from s2s.frontend.control_flow.iteration import Items, Rows
from s2s.frontend.control_flow.merging import ABSENT, Unlike, is_numeric
from s2s.frontend.control_flow.state import changing, is_kept_in
from s2s.ir.dims import Dim
from s2s.ir.jaxpr import Source
from s2s.numpy.registry import COUNTERPARTS, mistake
from s2s.trace import Tracer


class Earlier:
    """The items that earlier steps have appended to a list that grows."""


class Growing:
    """A list in a loop that appends one item to it in each step, and reads no items but the last.

    `latest` are as many of the last items as steps read, as they were when the step began.
    """

    stands_for = "list"

    def __init__(self, initial: list[Any]) -> None:
        self.initial = initial
        self.latest: list[Any] = []
        self.depth = 1
        """How many lists are in each other: 2 where each item is a list."""
        self.is_given: Any = False
        """Whether the step has appended its item: True, False, or a traced truth value."""
        self.item: Any = ABSENT
        self.earlier = Earlier()
        self.ends_early = False
        """Whether the last step appends nothing."""

    def begin(self) -> None:
        """A step is traced."""
        self.is_given, self.item = False, ABSENT

    def append(self, item: Any) -> None:
        changing(self)
        if self.is_given is not False:
            raise Unlike("a list grows in it by more than one item a step")
        if isinstance(item, StackedList):
            self.depth = item.depth + 1
            item = item.array
        if not is_numeric(item):
            raise Unlike("a list grows in it whose items are no arrays or numbers")
        self.is_given, self.item = True, item

    def known(self) -> list[Any]:
        """The last items now."""
        return self.latest if self.is_given is False else [*self.latest, self.item]

    def __getitem__(self, index: Any) -> Any:
        if type(index) is not int or isinstance(self.is_given, Tracer):
            raise Unlike("a list grows in it, of which it also reads other items than the last")
        if 0 <= index < len(self.initial):
            return self.initial[index]
        known = self.known()
        if index < -len(self.initial) - len(known) + len(self.latest) or index >= 0:
            raise Unlike(
                f"it reads the item {index} of a list that grows in it, of which there may not be "
                f"as many: it starts with {len(self.initial)}"
            )
        if -index > len(known):
            raise Wider(self, -index - len(known) + len(self.latest))
        return known[index]

    def __getattr__(self, name: str) -> Any:
        raise Unlike("a list grows in it, which it also reads")

    def __len__(self) -> int:
        raise Unlike("a list grows in it, which it also reads")

    def __iter__(self) -> Any:
        raise Unlike("a list grows in it, which it also reads")


class Grows(UserError):
    """A list has other items in one branch than in another, and is refused unless it is one to
    which steps of a loop append."""

    def __init__(self, message: str, line: Source | None, owner: list[Any]) -> None:
        super().__init__(message, line)
        # Not the list itself: it must stay known by the user's variable only.
        self.owner_id = id(owner)


class Wider(Exception):
    """A step reads more of the last items of a list than were thought: trace it again."""

    def __init__(self, growing: Growing, width: int) -> None:
        super().__init__(growing, width)
        self.growing = growing
        self.width = width


@dataclass(eq=False)
class Latest:
    """The last items of a list that grows, as something that a loop carries."""

    growing: Growing
    name: str
    width: int = 0

    def read(self) -> Any:
        return self.growing.known()[-self.width :]

    def write(self, value: Any) -> None:
        self.growing.latest = value


class StackedList:
    """A list whose items are the rows of an array; with `depth`, lists of the rows of these."""

    def __init__(self, array: Tracer, depth: int = 1) -> None:
        self.array = array
        self.depth = depth

    @classmethod
    def after(cls, growing: Growing, rows: Tracer) -> StackedList:
        """The list after a loop that appended `rows` to it."""
        if growing.initial:
            initial = [with_arrays(item) for item in growing.initial]
            stack, concatenate = COUNTERPARTS[np.stack], COUNTERPARTS[np.concatenate]
            rows = concatenate([stack(initial), rows])
        result = cls(rows, growing.depth)
        is_kept_in(result, [*growing.initial, growing.item])
        return result

    @property
    def length(self) -> Any:
        return self.array.aval.shape[0]

    def as_items(self) -> Items:
        return Items(self.length, [Rows(self.array)], lambda values: self._item(values[0]))

    def _item(self, row: Any) -> Any:
        return row if self.depth == 1 else StackedList(row, self.depth - 1)

    def append(self, item: Any) -> None:
        item = with_arrays(item)
        concatenate, stack = COUNTERPARTS[np.concatenate], COUNTERPARTS[np.stack]
        self.array = concatenate([self.array, stack([item])])

    def __getitem__(self, index: Any) -> Any:
        found = cast("Any", self.array)[index]
        return StackedList(found, self.depth) if isinstance(index, slice) else self._item(found)

    def __iter__(self) -> Any:
        return iter(self.as_items())

    def __len__(self) -> int:
        if isinstance(self.length, Dim):
            raise mistake("the length of this list is a size that is not known here.")
        return self.length

    def __getattr__(self, name: str) -> Any:
        raise mistake(
            f"`.{name}` of a list that a loop made is not supported. Use np.array(...) of it."
        )


def with_arrays(value: Any) -> Any:
    """An argument of a NumPy function, with arrays in place of such lists."""
    if isinstance(value, StackedList):
        return value.array
    if type(value) in (list, tuple) and any(isinstance(item, StackedList) for item in value):
        return type(value)(map(with_arrays, value))
    return value


def with_lists(value: Any, line: Source | None) -> Any:
    """A result of a function, with Python's lists in place of such lists. `line` is the
    function's."""
    if isinstance(value, (StackedList, Items)):
        items = value.as_items() if isinstance(value, StackedList) else value
        if not isinstance(items.length, int):
            size = f"is {items.length}, which is not known here"
            if isinstance(items.length, Tracer):
                size = "depends on the values of the arguments"
            raise UserError(
                f"the function returns a list whose length {size}. Return np.array(...) of it.",
                line,
            )
        return [with_lists(item, line) for item in items]
    if type(value) is tuple:
        return tuple(with_lists(item, line) for item in cast("tuple[Any, ...]", value))
    if type(value) is dict:
        entries = cast("dict[Any, Any]", value)
        return {key: with_lists(item, line) for key, item in entries.items()}
    return value


def _stack(rows: StackedList, axis: int = 0) -> Any:
    return COUNTERPARTS[np.moveaxis](rows.array, 0, axis) if axis else np_array(rows.array)


def _concatenate(rows: StackedList, axis: int = 0) -> Any:
    shape = rows.array.aval.shape
    if axis != 0 or len(shape) < 2:
        raise mistake("np.concatenate along this axis of a list that a loop made.")
    return COUNTERPARTS[np.reshape](rows.array, (shape[0] * shape[1], *shape[2:]))


def _vstack(rows: StackedList) -> Any:
    return _concatenate(rows) if len(rows.array.aval.shape) > 2 else np_array(rows.array)


def np_array(array: Any) -> Any:
    return COUNTERPARTS[np.array](array)


STACKED: dict[Any, Any] = {np.stack: _stack, np.concatenate: _concatenate, np.vstack: _vstack}
"""NumPy's functions of a sequence of arrays, for lists that a loop made."""
