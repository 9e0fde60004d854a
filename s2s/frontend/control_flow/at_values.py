"""Lists of numbers whose items are put at indices that are values: they become rows of an array.

sums = [0.0] * 3                sums = np.zeros(3)
for v in x:                     for v in x:
    sums[int(v)] += v               sums[int(v)] += v

A loop that finds this takes the list for a `StackedList` from before its first step on. Elsewhere
the list stays one, and each item is what was put where the index is its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from s2s.frontend import leaks
from s2s.frontend.control_flow.leaves import is_numeric
from s2s.frontend.control_flow.merging import Unlike, as_result, joined
from s2s.frontend.control_flow.stacked import Shape, StackedList
from s2s.frontend.control_flow.state import Recording, changing, loop_that_knows
from s2s.frontend.own_arrays import as_python_number
from s2s.ir.dims import Dim
from s2s.ir.dtypes import BOOL, INT64
from s2s.ir.jaxpr import ShapedArray
from s2s.numpy.array import is_changeable
from s2s.numpy.indexing import getitem
from s2s.numpy.registry import COUNTERPARTS, mistake
from s2s.primitives.core import convert_element_type
from s2s.trace import Tracer


class AtValue(Exception):
    """An item of a list is put at an index that is a value, in a loop that can take the list for
    rows of an array: trace it again."""

    def __init__(self, recording: Recording, owner: list[Any]) -> None:
        super().__init__()
        self.recording = recording
        # Not the list itself: it must stay known by the user's variable only.
        self.owner_id = id(owner)


def is_index(index: Any) -> bool:
    """Whether an index of a list is a value."""
    return isinstance(index, Tracer) and index.aval.shape == ()


def repeated(items: list[Any], count: Any) -> Any:
    """`items * count`, of which `count` is a size or a value."""
    if isinstance(count, Tracer):
        raise mistake(
            "how often the items of this list are repeated depends on the values of the arguments, "
            "of which only the types are known. Give the number where the function is transformed "
            "(--static name=value), or compute it from the shapes of arrays."
        )
    if not items or not all(map(_is_number, items)):
        return items * int(count)
    rows = in_array(items)
    if len(items) == 1:
        rows.arrays = [COUNTERPARTS[np.full]((count,), items[0], rows.arrays[0].dtype)]
    else:
        rows.arrays = [COUNTERPARTS[np.tile](rows.arrays[0], count)]
    return rows


def put_at(items: list[Any], index: Tracer, value: Any) -> None:
    """`items[index] = value`."""
    require_held(items)
    if not all(map(_is_number, [*items, value])):
        raise mistake(
            "which item of the list this puts depends on the values of the arguments, and they are "
            "not all numbers. Use an array: x[i] = ..."
        )
    try:
        wanted = joined([*items, value], lambda number: f"at {number}")
    except Unlike as error:
        raise mistake(
            "which item of the list this puts depends on the values of the arguments, and they are "
            f"of different types: {error}."
        ) from None
    rows = _stacked(items, wanted)
    rows[as_index(index)] = value
    changing(items)
    items[:] = [_item(rows[number], wanted) for number in range(len(items))]
    leaks.stored(items, "a list")


def require_held(items: list[Any]) -> None:
    """Raise AtValue if there is a loop that can take the list for rows of an array."""
    recording = loop_that_knows(items)
    if recording is not None and _depth(items):
        raise AtValue(recording, items)


def in_array(items: list[Any]) -> StackedList:
    """A list of numbers, or of such lists, as one of rows of an array. Raises Unlike."""
    if all(map(_is_number, items)):
        wanted = joined(items, lambda number: f"at {number}")
        return StackedList([_stacked(items, wanted)], is_weak=wanted.weak_type)
    rows = [in_array(item) for item in items]
    depth = 1 + rows[0].shape.depths[0]
    if any(row.is_weak != rows[0].is_weak for row in rows):
        raise Unlike("the items of a list are of different types")
    array = COUNTERPARTS[np.stack]([row.arrays[0] for row in rows])
    return StackedList([_own(array)], Shape(depths=(depth,)), is_weak=rows[0].is_weak)


def as_index(index: Tracer) -> Tracer:
    """An index of a list: a truth value is a number there, and a mask in NumPy."""
    if index.aval.dtype != BOOL:
        return index
    return convert_element_type(index, INT64, weak_type=True)


def _stacked(items: Sequence[Any], wanted: ShapedArray) -> Any:
    """An array of numbers, which can be changed in place."""
    first = items[0]
    if all(not isinstance(item, Tracer) and item == first for item in items):
        return COUNTERPARTS[np.full]((len(items),), first, wanted.dtype)
    strong = ShapedArray((), wanted.dtype)
    return _own(COUNTERPARTS[np.stack]([as_result(item, strong) for item in items]))


def _own(array: Any) -> Any:
    return COUNTERPARTS[np.array](array)


def _is_number(item: Any) -> bool:
    return is_numeric(item) and not is_changeable(item) and np.shape(item) == ()


def _depth(items: Any) -> int:
    """How many lists a list of numbers is, each in the one before and of one length; 0 if it is
    something else."""
    if type(items) is not list or not items:
        return 0
    known = cast("list[Any]", items)
    if all(map(_is_number, known)):
        return 1
    depths = {_depth(item) for item in known}
    lengths = {len(cast("list[Any]", item)) for item in known if type(item) is list}
    return 1 + depths.pop() if len(depths) == len(lengths) == 1 and 0 not in depths else 0


def chosen(items: Sequence[Any], index: Tracer) -> Any:
    """The item of a list, all numbers or arrays of one type, at an index that is a value."""
    try:
        if not all(map(is_numeric, items)):
            if type(items) is list:
                require_held(cast("list[Any]", items))
            raise Unlike("not all of them are numbers or arrays")
        wanted = joined(items, lambda number: f"at {number}")
    except Unlike as error:
        kind = type(cast("object", items)).__name__
        raise mistake(
            f"which item of the {kind} this is depends on the values of the arguments, and its "
            f"items cannot be rows of one array: {error}. Choose one by `if`."
        ) from None
    strong = ShapedArray(wanted.shape, wanted.dtype)
    if any(isinstance(item, (Tracer, Dim)) for item in items):
        rows = COUNTERPARTS[np.stack]([as_result(item, strong) for item in items])
    else:
        rows = np.array(items, wanted.dtype)
    return _item(getitem(rows, as_index(index)), wanted)


def _item(row: Any, wanted: ShapedArray) -> Any:
    return as_python_number(row) if wanted.weak_type else row
