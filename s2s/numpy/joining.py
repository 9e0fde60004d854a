"""Arrays joined, split, repeated and padded."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from s2s.ir.dims import Dim, Shape, Size, require_at_least, require_same, same_size
from s2s.numpy.arguments import as_axis, as_number, as_sequence, as_size, shape_text, static
from s2s.numpy.broadcasting import another, common_shape, stretched
from s2s.numpy.indexing import take
from s2s.numpy.promotion import (
    array_operand,
    aval_of_operand,
    convert,
    element_type,
    operand,
    shape_of,
)
from s2s.numpy.registry import counterpart, mistake
from s2s.numpy.shaping import (
    at_least_vector,
    atleast_1d,
    atleast_2d,
    atleast_3d,
    moveaxis,
    ravel,
    with_axes,
)
from s2s.numpy.slicing import sliced
from s2s.primitive import Value
from s2s.primitives import functions as lax

# -- joined ----------------------------------------------------------------------------------------


def _sequence(arrays: Any, function: str) -> list[Value]:
    """The arrays of a sequence, or the rows of an array."""
    items: list[Any] = list(arrays)
    if not items:
        raise mistake(f"{function} needs at least one array")
    return [array_operand(item, function) for item in items]


def _same_type(values: Sequence[Value], dtype: Any = None) -> list[Value]:
    if dtype is None:
        kind = np.result_type(*[aval_of_operand(value).dtype for value in values])
    else:
        kind = element_type(dtype)
    return [convert(value, kind) for value in values]


@counterpart(np.concatenate)
def concatenate(arrays: Any, axis: Any = 0, *, dtype: Any = None) -> Value:
    """The arrays one after the other along an axis, or in row-major order without one."""
    values = _same_type(_sequence(arrays, "np.concatenate"), dtype)
    if axis is None:
        values, axis = [ravel(value) for value in values], 0
    first = shape_of(values[0])
    if not first:
        raise mistake("np.concatenate needs arrays of at least one dimension; use np.stack")
    place = as_axis(axis, len(first), "np.concatenate")
    for value in values[1:]:
        shape = shape_of(value)
        fits = len(shape) == len(first) and all(
            other == place or require_same(a, b)
            for other, (a, b) in enumerate(zip(shape, first, strict=True))
        )
        if not fits:
            raise mistake(
                f"np.concatenate: shapes {shape_text(first)} and {shape_text(shape)} differ "
                f"elsewhere than along axis {place}"
            )
    # NumPy's result is a new array also where there is one operand.
    return another(lax.concatenate(values, place), values[0])


@counterpart(np.stack)
def stack(arrays: Any, axis: Any = 0, *, dtype: Any = None) -> Value:
    """The arrays, of one shape, along a new axis."""
    values = _same_type(_sequence(arrays, "np.stack"), dtype)
    first = shape_of(values[0])
    for value in values[1:]:
        shape = shape_of(value)
        if len(shape) != len(first) or not all(map(require_same, shape, first)):
            raise mistake(
                f"np.stack: the arrays have different shapes, {shape_text(first)} and "
                f"{shape_text(shape)}"
            )
    return stacked(values, as_axis(axis, len(first) + 1, "np.stack"))


def stacked(values: Sequence[Value], axis: int) -> Value:
    """Values of one type along a new axis."""
    return lax.stack(values, axis)


@counterpart(np.vstack)
def vstack(tup: Any, *, dtype: Any = None) -> Value:
    """The arrays below each other; vectors are rows."""
    rows = [atleast_2d(value) for value in _sequence(tup, "np.vstack")]
    return concatenate(rows, 0, dtype=dtype)


@counterpart(np.hstack)
def hstack(tup: Any, *, dtype: Any = None) -> Value:
    """The arrays beside each other: along axis 1, vectors along axis 0."""
    parts = [atleast_1d(value) for value in _sequence(tup, "np.hstack")]
    return concatenate(parts, 0 if len(shape_of(parts[0])) == 1 else 1, dtype=dtype)


@counterpart(np.dstack)
def dstack(tup: Any) -> Value:
    """The arrays behind each other, along axis 2."""
    return concatenate([atleast_3d(value) for value in _sequence(tup, "np.dstack")], 2)


@counterpart(np.column_stack)
def column_stack(tup: Any) -> Value:
    """Vectors as the columns of a matrix; matrices beside each other."""
    values = _sequence(tup, "np.column_stack")
    columns = [
        with_axes(atleast_1d(value), (1,)) if len(shape_of(value)) < 2 else value
        for value in values
    ]
    return concatenate(columns, 1)


@counterpart(np.append)
def append(arr: Any, values: Any, axis: Any = None) -> Value:
    """One array behind the other, in row-major order without an axis."""
    if axis is None:
        return concatenate([ravel(arr), ravel(values)])
    return concatenate([arr, values], axis)


@counterpart(np.block)
def block(arrays: Any) -> Value:
    """The array that nested lists of blocks make: the innermost are joined along the last axis."""
    depth: int = 0
    inner = arrays
    while isinstance(inner, list):
        depth, inner = depth + 1, cast("list[Any]", inner)[0]
    leaves = _leaves(arrays, depth)
    rank = max(depth, *[len(shape_of(array_operand(leaf, "np.block"))) for leaf in leaves])
    return another(_joined_blocks(arrays, depth, rank), inner)


def _leaves(item: Any, depth: int) -> list[Any]:
    if depth == 0:
        return [item]
    if not isinstance(item, list) or not item:
        raise mistake("np.block: the nested lists have different depths, or one is empty")
    entries = cast("list[Any]", item)
    return [leaf for entry in entries for leaf in _leaves(entry, depth - 1)]


def _joined_blocks(item: Any, depth: int, rank: int) -> Value:
    if depth == 0:
        value = array_operand(item, "np.block")
        return with_axes(value, tuple(range(rank - len(shape_of(value)))))
    return concatenate([_joined_blocks(entry, depth - 1, rank) for entry in item], -depth)


@counterpart(np.meshgrid)
def meshgrid(
    *xi: Any, indexing: str = "xy", sparse: bool = False, copy: bool = True
) -> tuple[Value, ...]:
    """For each vector, its coordinate at each point of the grid that the vectors span."""
    if indexing not in ("xy", "ij"):
        raise mistake("np.meshgrid: indexing is 'xy' or 'ij'")
    vectors = [ravel(x) for x in xi]
    rank = len(vectors)
    order = list(range(rank))
    if indexing == "xy" and rank > 1:
        order[0], order[1] = 1, 0
    grids = [
        with_axes(vector, [axis for axis in range(rank) if axis != order[place]])
        for place, vector in enumerate(vectors)
    ]
    if sparse or not grids:
        return tuple(grids)
    shape = common_shape("np.meshgrid", [shape_of(grid) for grid in grids])
    return tuple(stretched(grid, shape) for grid in grids)


# -- split -----------------------------------------------------------------------------------------


def _sections(value: Value, sections: Any, axis: int, even: bool, name: str) -> list[Value]:
    size = shape_of(value)[axis]
    if isinstance(sections, np.ndarray):
        sections = sections.tolist()
    if isinstance(sections, (list, tuple)):
        ends = [as_size(end, f"an end of {name}") for end in as_sequence(sections)]
        bounds: list[Any] = [0, *ends, None]
        return [sliced(value, axis, start, stop) for start, stop in itertools.pairwise(bounds)]
    count = as_number(sections, f"the number of sections of {name}")
    if count < 1:
        raise mistake(f"{name}: the number of sections must be larger than 0")
    each, extra = size // count, size % count
    if not same_size(extra, 0) and (even or isinstance(extra, Dim)):
        raise mistake(f"{name}: an axis of size {size} cannot be divided into {count} equal parts")
    start: Size = 0
    parts: list[Value] = []
    for place in range(count):
        stop = start + each + (1 if isinstance(extra, int) and place < extra else 0)
        parts.append(sliced(value, axis, start, stop))
        start = stop
    return parts


@counterpart(np.split)
def split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> list[Value]:
    """Equal parts along an axis, or the parts between given places."""
    value = array_operand(ary, "np.split")
    place = as_axis(axis, len(shape_of(value)), "np.split")
    return _sections(value, indices_or_sections, place, True, "np.split")


@counterpart(np.array_split)
def array_split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> list[Value]:
    """Parts along an axis of sizes as equal as possible, or the parts between given places."""
    value = array_operand(ary, "np.array_split")
    place = as_axis(axis, len(shape_of(value)), "np.array_split")
    return _sections(value, indices_or_sections, place, False, "np.array_split")


@counterpart(np.hsplit)
def hsplit(ary: Any, indices_or_sections: Any) -> list[Value]:
    """Parts along axis 1; of a vector along axis 0."""
    return split(ary, indices_or_sections, 0 if len(shape_of(array_operand(ary))) == 1 else 1)


@counterpart(np.vsplit)
def vsplit(ary: Any, indices_or_sections: Any) -> list[Value]:
    """Parts along axis 0."""
    return split(ary, indices_or_sections, 0)


@counterpart(np.dsplit)
def dsplit(ary: Any, indices_or_sections: Any) -> list[Value]:
    """Parts along axis 2."""
    return split(ary, indices_or_sections, 2)


def unstack(x: Any, /, *, axis: Any = 0) -> tuple[Value, ...]:
    """The parts of an array along an axis, without that axis."""
    value = array_operand(x, "np.unstack")
    place = as_axis(axis, len(shape_of(value)), "np.unstack")
    return tuple(moveaxis(value, place, 0))


if hasattr(np, "unstack"):
    counterpart(np.unstack)(unstack)


# -- repeated --------------------------------------------------------------------------------------


@counterpart(np.tile)
def tile(A: Any, reps: Any) -> Value:
    """The array repeated as a whole, so often along each axis."""
    value = array_operand(A, "np.tile")
    counts = static(reps, "the repetitions of np.tile")
    counts = as_sequence(counts.tolist() if isinstance(counts, np.ndarray) else counts)
    times: list[Size] = [as_size(count, "the repetitions of np.tile") for count in counts]
    rank = max(len(times), len(shape_of(value)))
    value = with_axes(value, tuple(range(rank - len(shape_of(value)))))
    times = [1] * (rank - len(times)) + times
    shape = shape_of(value)
    repeated = [axis for axis in range(rank) if not same_size(times[axis], 1)]
    if repeated:
        # Each repeated axis gets one for its repetitions in front of it.
        sizes: list[Size] = []
        own: list[int] = []
        for axis in range(rank):
            if axis in repeated:
                sizes.append(times[axis])
            own.append(len(sizes))
            sizes.append(shape[axis])
        final: Shape = tuple(size * count for size, count in zip(shape, times, strict=True))
        value = lax.reshape(lax.broadcast_in_dim(value, tuple(sizes), tuple(own)), final)
    return another(value, A)


@counterpart(np.repeat)
def repeat(a: Any, repeats: Any, axis: Any = None) -> Value:
    """Each element repeated, along an axis or in row-major order."""
    value, axis = at_least_vector(array_operand(a, "np.repeat"), axis)
    place = as_axis(axis, len(shape_of(value)), "np.repeat")
    counts = static(repeats, "the number of repetitions of np.repeat")
    counts = as_sequence(counts.tolist() if isinstance(counts, np.ndarray) else counts)
    shape = shape_of(value)
    if len(counts) != 1:
        if not require_same(shape[place], len(counts)):
            raise mistake(
                f"np.repeat: {len(counts)} repetitions for an axis of size {shape[place]}"
            )
        return take(value, np.repeat(np.arange(len(counts)), counts), place)
    count = as_size(counts[0], "the number of repetitions of np.repeat")
    between = (*shape[: place + 1], count, *shape[place + 1 :])
    own = [axis for axis in range(len(between)) if axis != place + 1]
    final = (*shape[:place], shape[place] * count, *shape[place + 1 :])
    return another(lax.reshape(lax.broadcast_in_dim(value, between, own), final), value)


# -- padded ----------------------------------------------------------------------------------------


@counterpart(np.pad)
def pad(array: Any, pad_width: Any, mode: Any = "constant", *, constant_values: Any = 0) -> Value:
    """The array with elements around it: constants, or the nearest elements of the array
    ("edge"), or these mirrored at the edge ("reflect", "symmetric"), or from the other end
    ("wrap")."""
    value = array_operand(array, "np.pad")
    rank = len(shape_of(value))
    widths = _pairs(static(pad_width, "the width of np.pad"), rank, "the width of np.pad")
    pairs = [(as_size(low, "a width"), as_size(high, "a width")) for low, high in widths]
    if mode == "constant":
        return another(_padded_with(value, pairs, constant_values), value)
    if mode not in ("edge", "reflect", "symmetric", "wrap"):
        raise mistake(f"np.pad with mode={mode!r} is not supported; join arrays instead")
    result = value
    for axis, (low, high) in enumerate(pairs):
        size = shape_of(result)[axis]
        parts = [_edge(result, axis, low, size, mode, True), result]
        parts.append(_edge(result, axis, high, size, mode, False))
        result = lax.concatenate([part for part in parts if part is not None], axis)
    return another(result, value)


def _pairs(widths: Any, rank: int, what: str) -> list[tuple[Any, Any]]:
    """A number, a pair, or a pair for each axis, as a pair for each axis."""
    if isinstance(widths, dict):
        raise mistake(f"{what} as a dict is not supported; give a pair for each axis")
    if isinstance(widths, np.ndarray):
        widths = widths.tolist()
    items = as_sequence(widths)
    if not any(isinstance(item, (tuple, list)) for item in items):
        return [(items[0], items[-1])] * rank
    pairs = [(pair[0], pair[-1]) for pair in items]
    if len(pairs) not in (1, rank):
        raise mistake(f"{what} has {len(pairs)} pairs for {rank} axes")
    return pairs * rank if len(pairs) == 1 else pairs


def _padded_with(value: Value, pairs: Sequence[tuple[Size, Size]], constants: Any) -> Value:
    dtype = aval_of_operand(value).dtype
    if isinstance(constants, (tuple, list, np.ndarray)):
        each = _pairs(constants, len(pairs), "the values of np.pad")
    else:
        number = convert(operand(constants, "np.pad"), dtype)
        return lax.pad(value, number, [(low, high, 0) for low, high in pairs])
    for axis, ((low, high), (before, after)) in enumerate(zip(pairs, each, strict=True)):
        for count, constant, front in ((low, before, True), (high, after, False)):
            if not same_size(count, 0):
                config: list[tuple[Size, Size, int]] = [(0, 0, 0)] * len(pairs)
                config[axis] = (count, 0, 0) if front else (0, count, 0)
                value = lax.pad(value, convert(operand(constant, "np.pad"), dtype), config)
    return value


def _edge(value: Value, axis: int, width: Size, size: Size, mode: str, front: bool) -> Value | None:
    """The elements that np.pad puts before or behind an axis."""
    if same_size(width, 0):
        return None
    shape = list(shape_of(value))
    if mode == "edge":
        end = sliced(value, axis, 0 if front else size - 1, 1 if front else size)
        shape[axis] = width
        return stretched(end, tuple(shape))
    if mode == "wrap":
        available, start = size, size - width if front else 0
    elif mode == "symmetric":
        available, start = size, 0 if front else size - width
    else:
        available, start = size - 1, 1 if front else size - 1 - width
    if not require_at_least(available, width, f"{available} >= {width}") or (  # type: ignore[arg-type]
        isinstance(width, Dim)
    ):
        raise mistake(
            f"np.pad with mode={mode!r}: a width of {width} is more than an axis of size {size} has"
        )
    part = sliced(value, axis, start, start + width)
    return part if mode == "wrap" else lax.rev(part, (axis,))
