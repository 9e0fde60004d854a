"""Windows of histories: some consecutive rows of a value with a row for each step of a loop."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from s2s.ir.dims import Size
from s2s.ir.dtypes import INT64
from s2s.ir.jaxpr import ShapedArray
from s2s.primitive import Primitive, Value
from s2s.primitives import core, creation, joining, layout
from s2s.primitives.arithmetic import add, sub
from s2s.primitives.contractions import DotGeneral
from s2s.primitives.conversion import ConvertElementType
from s2s.primitives.core import broadcast_in_dim, convert_element_type, full, reshape
from s2s.primitives.creation import iota
from s2s.primitives.cumulative import Cumulative
from s2s.primitives.dynamic import dynamic_slice, dynamic_update_slice
from s2s.primitives.families import Elementwise
from s2s.primitives.indexing import Gather
from s2s.primitives.logic import bitwise_and, eq, ge, lt, select_n
from s2s.trace import Tracer, aval, bind

ROWS = 4096
"""How many rows a window has at most."""

BYTES = 1 << 24
"""How many bytes the windows of a loop have at most, where that leaves them `FEWEST` rows."""

FEWEST = 16
"""How many rows a window has at least."""


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps of one loop: how many it makes, and the rows of a window of its histories."""

    name: str
    count: Value
    rows: int


@dataclass(frozen=True, eq=False)
class Place:
    """The row of a history at which a window begins: `base + offset`."""

    base: Value
    offset: int = 0

    @property
    def row(self) -> Value:
        """The number of the row."""
        return add(self.base, self.offset) if self.offset else self.base

    def moved(self, by: int) -> Place:
        """The place so many rows further on."""
        return Place(self.base, self.offset + by)


class Together:
    """Histories that come from one run of a loop: their windows at a place are made once."""

    def __init__(self, run: Callable[[Place], Sequence[Value]]) -> None:
        self._run = run
        self._made: dict[tuple[Any, int], Sequence[Value]] = {}

    def windows(self, place: Place) -> Sequence[Value]:
        """The windows at a place, whose base belongs to the builder in force."""
        if not isinstance(place.base, Tracer):
            return self._run(place)
        key = (place.base.variable, place.offset)
        if key not in self._made:
            self._made[key] = self._run(place)
        return self._made[key]


@dataclass(frozen=True, eq=False)
class History:
    """A value with a row for each step of a loop, and some more or less, of which only windows are
    made. What stands in a window where the value has no row is arbitrary."""

    steps: Steps
    extra: int
    """How many more rows than steps there are."""
    sources: Together
    index: int = 0

    def window(self, place: Place) -> Value:
        """As many rows as a window has, from a place on."""
        return self.sources.windows(place)[self.index]

    @property
    def size(self) -> Value:
        """The number of rows."""
        return add(self.steps.count, self.extra) if self.extra else self.steps.count


def histories_among(operands: Sequence[Any]) -> list[History]:
    return [operand for operand in operands if isinstance(operand, History)]


# -- what is made of histories --------------------------------------------------------------------


def derivation(
    primitive: Primitive,
    steps: Steps,
    extra: int,
    operands: Sequence[Any],
    number: Callable[[Size], Value],
) -> Callable[[Place], Value] | None:
    """How to make a window of what a primitive makes of histories; None if that is not known.
    `number` gives a size as a value."""
    rows = steps.rows

    def at(place: Place) -> list[Value]:
        return [o.window(place) if isinstance(o, History) else o for o in operands]

    if _is_row_by_row(primitive, operands):
        sized = primitive.with_sizes({steps.name: rows - extra})
        return lambda place: bind(sized, *at(place))
    if isinstance(primitive, creation.Iota) and primitive.dimension == 0:
        shape = (rows, *primitive.shape[1:])
        return lambda place: broadcast_in_dim(
            convert_element_type(row_numbers(place, rows), primitive.dtype), shape, (0,)
        )
    if isinstance(primitive, layout.Slice) and primitive.steps()[0] == 1:
        start = primitive.start_indices[0]
        rest = layout.Slice(
            (0, *primitive.start_indices[1:]),
            (rows, *primitive.limit_indices[1:]),
            primitive.strides,
        )
        if isinstance(start, int):
            return lambda place: bind(rest, *at(place.moved(start)))
    if isinstance(primitive, layout.Rev) and isinstance(operands[0], History):
        (history,) = operands
        # The last of these rows is the first of those that are reversed.
        return lambda place: bind(
            primitive, history.window(Place(sub(history.size, add(place.row, rows))))
        )
    if isinstance(primitive, layout.Pad):
        return _padded(primitive, operands, steps.rows, number)
    if isinstance(primitive, joining.Concatenate) and primitive.dimension == 0:
        return _joined(operands, rows)
    return None


def _is_row_by_row(primitive: Primitive, operands: Sequence[Any]) -> bool:
    """Whether each row of the result is made of those rows of the operands alone."""
    match primitive:
        case Elementwise() | ConvertElementType():
            return True
        case core.BroadcastInDim(_, axes):
            return not histories_among(operands) or axes[0] == 0
        case core.Transpose(axes):
            return axes[0] == 0
        case core.Reshape() | layout.Squeeze():
            return True  # The first axis of both is that of the rows.
        case core.AxesReduction():
            return 0 not in primitive.axes
        case layout.Rev(axes):
            return 0 not in axes
        case Cumulative():
            return primitive.axis != 0
        case DotGeneral(((summed, _), (batch, _))):
            x, y = operands
            rows_stay = isinstance(x, History) and not isinstance(y, History)
            return rows_stay and not batch and 0 not in summed
        case creation.Iota():
            return primitive.dimension != 0
        case joining.Stack():
            return primitive.axis != 0 and _are_all_histories(operands)
        case Gather():
            x, *indices = operands
            rows_stay = 0 not in primitive.dimension_numbers.offset_dims
            return rows_stay and not isinstance(x, History) and _are_all_histories(indices)
        case _:
            return False


def _are_all_histories(operands: Sequence[Any]) -> bool:
    return len(histories_among(operands)) == len(operands)


def _padded(
    primitive: layout.Pad, operands: Sequence[Any], rows: int, number: Callable[[Size], Value]
) -> Callable[[Place], Value] | None:
    """A history, or some rows, with rows of one value before and after."""
    history, filler = operands
    (low, _, between), *others = primitive.padding_config
    if between or isinstance(filler, History):
        return None
    inside = layout.Pad(((0, 0, 0), *others))
    if not isinstance(history, History):
        return _rows_among(bind(inside, history, filler), number(low), filler, rows)
    if not isinstance(low, int):
        return None

    def window(place: Place) -> Value:
        moved = place.moved(-low)
        found = bind(inside, history.window(moved), filler)
        numbers = row_numbers(moved, rows)
        is_row = bitwise_and(ge(numbers, 0), lt(numbers, history.size))
        outside = broadcast_in_dim(filler, aval(found).shape, ())
        return select_n(along_rows(is_row, found), outside, found)

    return window


def _joined(operands: Sequence[Any], rows: int) -> Callable[[Place], Value] | None:
    """One history with rows in front of it and behind it."""
    before = list(itertools.takewhile(lambda o: not isinstance(o, History), operands))
    history, *after = operands[len(before) :]
    if histories_among(after):
        return None
    heights = [aval(part).shape[0] for part in (*before, *after)]
    if not all(isinstance(height, int) for height in heights):
        return None
    number = sum(map(int, heights[: len(before)]))

    def window(place: Place) -> Value:
        moved = place.moved(-number)
        result = history.window(moved)
        in_front = [INT64.type(i - number) for i in range(number)]
        behind = [add(history.size, i) for i in range(sum(map(int, heights[len(before) :])))]
        singles = [row for part in (*before, *after) for row in _rows(part)]
        return _with_singles(result, moved, [*in_front, *behind], singles)

    return window


def _rows_among(
    part: Value, first: Value, filler: Value, rows: int
) -> Callable[[Place], Value] | None:
    """Some rows, the first of which has this number, and one value in all others."""
    shape = aval(part).shape
    if not isinstance(shape[0], int):
        return None
    singles = _rows(part)
    numbers = [add(first, i) for i in range(len(singles))]

    def window(place: Place) -> Value:
        empty = broadcast_in_dim(filler, (rows, *shape[1:]), ())
        return _with_singles(empty, place, numbers, singles)

    return window


def _rows(part: Value) -> list[Value]:
    return [layout.index_in_dim(part, i, 0) for i in range(int(aval(part).shape[0]))]


def _with_singles(
    window: Value, place: Place, numbers: Sequence[Value], singles: Sequence[Value]
) -> Value:
    """A window with other rows where the rows have these numbers."""
    shape = aval(window).shape
    own = row_numbers(place, int(shape[0]))
    for number, single in zip(numbers, singles, strict=True):
        repeated = broadcast_in_dim(single, shape, tuple(range(1, len(shape))))
        window = select_n(along_rows(eq(own, number), window), window, repeated)
    return window


# -- rows -----------------------------------------------------------------------------------------


def rows_for(avals: Sequence[ShapedArray]) -> int:
    """How many rows the windows of a loop have that keeps values of these types: a power of 2."""
    sizes = [a.size for a in avals]
    known = [size if isinstance(size, int) else ROWS for size in sizes]
    each = sum(size * a.dtype.itemsize for size, a in zip(known, avals, strict=True))
    rows = ROWS
    while rows > FEWEST and rows * each > BYTES:
        rows //= 2
    return rows


def row_numbers(place: Place, rows: int) -> Value:
    """Which row of the history each row of a window is."""
    return add(iota(INT64, rows), broadcast_in_dim(place.row, (rows,), ()))


def along_rows(flags: Value, like: Value) -> Value:
    """A flag for each row as one for each element."""
    return broadcast_in_dim(flags, aval(like).shape, (0,))


def empty_windows(avals: Sequence[ShapedArray], rows: int) -> list[Value]:
    return [full((rows, *a.shape), 0, a.dtype) for a in avals]


def row_of(window: Value, number: Value) -> Value:
    shape = aval(window).shape
    starts = [number, *[INT64.type(0)] * (len(shape) - 1)]
    return reshape(dynamic_slice(window, starts, (1, *shape[1:])), shape[1:])


def with_rows(windows: Sequence[Value], number: Value, rows: Sequence[Value]) -> list[Value]:
    """The windows with one of their rows replaced: the nearest one if they have none of that
    number, which is written again when it is reached."""
    filled: list[Value] = []
    for window, row in zip(windows, rows, strict=True):
        shape = aval(window).shape
        starts = [number, *[INT64.type(0)] * (len(shape) - 1)]
        filled.append(dynamic_update_slice(window, reshape(row, (1, *shape[1:])), starts))
    return filled
