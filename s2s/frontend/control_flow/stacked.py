"""Lists whose items are the rows of arrays: what a list is after a loop that appended to it."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np

from s2s.errors import UserError
from s2s.frontend.control_flow.identity import Copies, containers_in
from s2s.frontend.control_flow.iteration import Items, Rows
from s2s.frontend.control_flow.leaves import is_numeric
from s2s.frontend.control_flow.merging import Unlike, leaf_aval, shown
from s2s.frontend.control_flow.state import Recording, changing, loop_after
from s2s.frontend.own_arrays import as_python_number
from s2s.ir.dims import Dim
from s2s.ir.dtypes import BOOL, FLOAT64, INT64
from s2s.ir.jaxpr import ShapedArray, Source
from s2s.numpy.array import View
from s2s.numpy.registry import COUNTERPARTS, mistake
from s2s.primitives.identity import Copy
from s2s.trace import Tracer, bind, tracer_of
from s2s.tree import LEAF, TreeDef, flatten, unflatten


class Shape:
    """What the items of a list have in common: their structure, and for each of their leaves how
    many lists the list and it are, which is 2 where it is a list of rows itself."""

    def __init__(self, structure: TreeDef = LEAF, depths: tuple[int, ...] = (1,)) -> None:
        self.structure = structure
        self.depths = depths

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Shape)
            and self.structure == other.structure
            and self.depths == other.depths
        )

    def __hash__(self) -> int:
        return hash((self.structure, self.depths))

    @classmethod
    def of(cls, item: Any) -> Shape:
        leaves, structure = flatten(item)
        return cls(structure, tuple(1 + depth_of(leaf) for leaf in leaves))

    @property
    def is_of_tuples(self) -> bool:
        """Whether the items are tuples of numbers, or the like."""
        return self.structure.kind is not None

    def item(self, rows: Sequence[Any], is_weak: bool = False) -> Any:
        """An item, made of a row of each array; `is_weak` says that numbers are Python's."""
        items: list[Any] = []
        for row, depth in zip(rows, self.depths, strict=True):
            if depth > 1:
                row = StackedList([row], Shape(depths=(depth - 1,)), is_weak=is_weak)
            elif is_weak:
                row = as_python_number(row)
            items.append(row)
        return unflatten(self.structure, items)


def depth_of(leaf: Any) -> int:
    return leaf.shape.depths[0] if isinstance(leaf, StackedList) else 0


def leaves_of(item: Any) -> list[Any]:
    """The numbers and arrays in an item of a list. Raises Unlike if there is anything else."""
    leaves: list[Any] = []
    for leaf in flatten(item)[0]:
        if isinstance(leaf, StackedList) and not leaf.shape.is_of_tuples:
            leaves.append(leaf.arrays[0])
        elif is_numeric(leaf):
            leaves.append(leaf)
        else:
            raise Unlike("a list grows in it whose items are no arrays or numbers")
    return leaves


OF_COMPREHENSION = "outs"
"""What the variable of `comprehension` is called; where the user assigns the list to another one,
it is called as that."""

_HELD_EXACTLY = {(FLOAT64, INT64), (FLOAT64, BOOL), (INT64, BOOL)}
"""The types of lists and of other numbers that they may hold."""


class Widens(Exception):
    """A float is put into a list of whole numbers from before a loop: trace it with floats."""

    def __init__(self, recording: Recording, owner: StackedList) -> None:
        super().__init__()
        self.recording = recording
        self.owner = owner


class StackedList:
    """A list whose items are made of the rows of arrays, one of each."""

    stands_for = "list"

    def __init__(
        self,
        arrays: Sequence[Any],
        shape: Shape | None = None,
        originals: Sequence[Any] = (),
        is_weak: bool = False,
    ) -> None:
        self.arrays = list(arrays)
        """Nothing else changes them."""
        self.shape = Shape() if shape is None else shape
        self.originals = tuple(originals)
        """Items that were appended, where they can be changed in place."""
        self.is_weak = is_weak
        """Whether the numbers in it are Python's, not NumPy's."""

    @classmethod
    def of(cls, items: Sequence[Any]) -> StackedList:
        """The same as a list of known items. Raises Unlike if these are not of one kind."""
        shape = Shape.of(items[0])
        if any(Shape.of(item) != shape for item in items[1:]):
            raise Unlike("a list grows in it whose items are of different structures")
        stack = COUNTERPARTS[np.stack]
        columns = zip(*[leaves_of(item) for item in items], strict=True)
        return cls([stack(list(column)) for column in columns], shape, changeable_among(items))

    def named(self, name: str) -> None:
        """Let the array be called as the list is, unless it has a name."""
        if len(self.arrays) == 1:
            variable = self.arrays[0].variable
            if variable.name in (None, OF_COMPREHENSION):
                variable.name = name

    @property
    def length(self) -> Any:
        return self.arrays[0].aval.shape[0]

    @property
    def array(self) -> Any:
        """What NumPy makes of the list."""
        if not self.shape.is_of_tuples:
            return _as_it_is(self.arrays[0])
        if not all(child.kind is None for child in self.shape.structure.children):
            raise mistake("NumPy makes no array of numbers of a list of such items.")
        return COUNTERPARTS[np.stack](self.arrays, axis=1)

    def as_items(self) -> Items:
        return Items(self.length, [Rows(array) for array in self.arrays], self._item)

    def _item(self, rows: Sequence[Any]) -> Any:
        item = self.shape.item(rows, self.is_weak)
        copies = Copies()
        for original in self.originals:
            copies.add(item, original)
        return item

    def __getitem__(self, index: Any) -> Any:
        found = [array[index] for array in self.arrays]
        if not isinstance(index, slice):
            return self._item(found)
        if cast("slice[Any, Any, Any]", index).step not in (None, 1):
            # NumPy makes an array of the items of a list, which are one after the other there.
            return self._like([bind(Copy(in_order=True), array) for array in found])
        return self._like(found)

    def _like(self, arrays: Sequence[Any]) -> StackedList:
        """A list of the same kind; items that can be changed in place are in this one, too."""
        own = [*map(_as_it_is, arrays)] if self._is_of_numbers else arrays
        return StackedList(own, self.shape, self.originals, self.is_weak)

    def __iter__(self) -> Any:
        return iter(self.as_items())

    def __len__(self) -> int:
        if isinstance(self.length, Dim):
            return operator.index(self.length)
        return self.length

    # -- changes --------------------------------------------------------------------------------

    def append(self, item: Any) -> None:
        self.extend([item])

    def extend(self, items: Any) -> None:
        self._put(self + as_list(items))

    def __iadd__(self, items: Any) -> StackedList:
        self.extend(items)
        return self

    def insert(self, index: Any, item: Any) -> None:
        before, after = self[:index], self[index:]
        before.append(item)
        self._put(before + after)

    def pop(self, index: Any = -1) -> Any:
        item = self[index]
        rest = self[:-1] if type(index) is int and index == -1 else self[:index] + self[index:][1:]
        self._put(rest)
        return item

    def reverse(self) -> None:
        self._put(self[::-1])

    def clear(self) -> None:
        self._put(self[:0])

    def sort(self, *, key: Any = None, reverse: bool = False) -> None:
        if key is not None or self.shape != Shape():
            raise self._refused("sort() of this list needs to know which item is greater")
        found = COUNTERPARTS[np.sort](self.arrays[0])
        self._put(self._like([found[::-1] if reverse else found]))

    def __setitem__(self, index: Any, value: Any) -> None:
        if self._is_of_numbers and not isinstance(index, slice):
            self._put_number(index, value)
            return
        changing(self)
        if isinstance(index, slice) or Shape.of(value) != self.shape:
            raise self._refused("items of a list that a loop made cannot be replaced by these")
        copied = [np_array(array) for array in self.arrays]
        for array, leaf in zip(copied, leaves_of(value), strict=True):
            array[index] = leaf
        self.arrays = copied

    @property
    def _is_of_numbers(self) -> bool:
        return self.shape == Shape() and len(self.arrays[0].aval.shape) == 1

    def _put_number(self, index: Any, value: Any) -> None:
        """Put a number in the place of another one."""
        if not is_numeric(value) or np.ndim(value):
            raise self._refused("this puts something else in the place of a number")
        own, found = self.arrays[0].aval.dtype, leaf_aval(value)
        if (own, found.dtype) == (INT64, FLOAT64) and self.is_weak:
            self._widen()
        elif own != found.dtype and (own, found.dtype) not in _HELD_EXACTLY:
            raise self._refused(
                f"this puts a number of type {shown(found)} into a list of others, of type "
                f"{shown(ShapedArray((), own, self.is_weak))}"
            )
        self.arrays[0][index] = value

    def _widen(self) -> None:
        """Let whole numbers be floats. Raises Widens where a loop finds this in its steps."""
        array = self.arrays[0]
        if isinstance(array, View):
            raise self._refused("this puts a float into a list of whole numbers")
        recording = loop_after(array)
        if recording is not None:
            raise Widens(recording, self)
        changing(self)
        self.arrays = [array.astype(FLOAT64)]

    def _refused(self, problem: str) -> UserError:
        """The error for what a list of known items could do: it is one if its length is known."""
        if isinstance(self.length, Dim):
            operator.index(self.length)
        return mistake(f"{problem}. Use np.array(...) of the list.")

    def __delitem__(self, index: Any) -> None:
        self.pop(index)

    def _put(self, other: StackedList) -> None:
        changing(self)
        self.arrays, self.originals = other.arrays, other.originals

    # -- other lists ----------------------------------------------------------------------------

    def copy(self) -> StackedList:
        return self._like(self.arrays)

    def __add__(self, other: Any) -> StackedList:
        return self._joined(self, as_stacked(as_list(other), self.shape))

    def __radd__(self, other: Any) -> StackedList:
        return self._joined(as_stacked(as_list(other), self.shape), self)

    def _joined(self, first: StackedList | None, second: StackedList | None) -> StackedList:
        if first is None or second is None:
            return self.copy()
        concatenate = COUNTERPARTS[np.concatenate]
        pairs = zip(first.arrays, second.arrays, strict=True)
        return StackedList(
            [concatenate(list(pair)) for pair in pairs],
            self.shape,
            (*first.originals, *second.originals),
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise self._refused(f"`.{name}` of a list that a loop made is not supported")


def as_list(items: Any) -> Any:
    """The items of something that a list is extended by: a list."""
    if isinstance(items, (list, StackedList)):
        return cast("Any", items)
    if isinstance(items, Tracer):
        return StackedList([items])
    if isinstance(items, Items) and not isinstance(items.length, int):
        raise mistake("a list is extended here by items whose number is not known.")
    return list(cast("Iterable[Any]", items))


def as_stacked(items: Any, shape: Shape) -> StackedList | None:
    """A list of known items as one of rows; None if it has none."""
    if isinstance(items, StackedList):
        found = items
    elif not items:
        return None
    else:
        try:
            found = StackedList.of(items)
        except Unlike:
            found = None
    if found is None or found.shape != shape:
        raise mistake("the items of this list are of different kinds. Use a list for each kind.")
    return found


def changeable_among(items: Iterable[Any]) -> tuple[Any, ...]:
    """Those items that can be changed in place, or hold what can."""
    return tuple(item for item in items if next(containers_in(item), None) is not None)


def _as_it_is(array: Any) -> Any:
    """What is now in an array, as another one, which does not change with it."""
    return tracer_of(array.builder, array.variable)


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


def _array(rows: StackedList, dtype: Any = None, **kwargs: Any) -> Any:
    # An array of tuples is made where it is asked for.
    function = np.asarray if rows.shape.is_of_tuples else np.array
    return COUNTERPARTS[function](rows.array, dtype, **kwargs)


def np_array(array: Any) -> Any:
    return COUNTERPARTS[np.array](array)


STACKED: dict[Any, Any] = {
    np.array: _array,
    np.stack: _stack,
    np.concatenate: _concatenate,
    np.vstack: _vstack,
}
"""NumPy's functions of a sequence of arrays, for lists that a loop made."""
