"""Which axes of operand, indices and result belong together in gather and scatter, and how NumPy
addresses them."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from s2s.ir.dims import Shape, Size, require_same, same_shape, same_size
from s2s.ir.dtypes import INT64
from s2s.ir.jaxpr import ShapedArray
from s2s.primitive import BatchAxis, Producer, Value, registry
from s2s.primitives.core import BroadcastInDim, broadcast_in_dim, defined_by, move_batch_axis
from s2s.primitives.creation import Iota, iota
from s2s.trace import aval, known_value


class GatherScatterMode(enum.Enum):
    """What an index outside of its axis means."""

    NUMPY = "numpy"
    """Negative indices count from the end; others that are outside raise IndexError."""
    CLIP = "clip"
    """Moved to the nearest place where the window fits."""
    PROMISE_IN_BOUNDS = "promise_in_bounds"
    """There is none, and none is negative."""

    def __str__(self) -> str:
        return f"GatherScatterMode.{self.name}"


@dataclass(frozen=True)
class GatherDimensionNumbers:
    """Which axes of operand, indices and result belong together.

    The window axes of the operand, all but `collapsed_slice_dims`, become the axes `offset_dims` of
    the result; its other axes are those of the indices. Index `k` belongs to the operand's axis
    `start_index_map[k]`.
    """

    offset_dims: tuple[int, ...]
    collapsed_slice_dims: tuple[int, ...]
    start_index_map: tuple[int, ...]

    def mask_axis(self, shape: Shape, mask: Shape) -> int | None:
        """The axis of an operand at which a mask begins whose true elements the indices are the
        places of; None if it does not select in this layout, or is of other sizes."""
        axes = self.start_index_map
        first = axes[0]
        if axes != tuple(range(first, first + len(axes))):
            return None
        if self != numpy_layout(len(shape), axes, 1):
            return None
        return first if same_shape(shape[first : first + len(mask)], mask) else None

    def of_scatter(self) -> ScatterDimensionNumbers:
        """The numbers of the scatter that puts back what this gather takes."""
        return ScatterDimensionNumbers(
            self.offset_dims, self.collapsed_slice_dims, self.start_index_map
        )


@dataclass(frozen=True)
class ScatterDimensionNumbers:
    """As `GatherDimensionNumbers`, the updates standing for the result."""

    update_window_dims: tuple[int, ...]
    inserted_window_dims: tuple[int, ...]
    scatter_dims_to_operand_dims: tuple[int, ...]

    def of_gather(self) -> GatherDimensionNumbers:
        """The numbers of the gather that takes what this scatter puts."""
        return GatherDimensionNumbers(
            self.update_window_dims, self.inserted_window_dims, self.scatter_dims_to_operand_dims
        )


def numpy_layout(rank: int, axes: Sequence[int], index_rank: int) -> GatherDimensionNumbers:
    """Where NumPy puts the axes of `x[..., i, ..., j, ...]`, the indices being on `axes`."""
    collapsed = tuple(sorted(axes))
    kept = [axis for axis in range(rank) if axis not in collapsed]
    adjacent = collapsed == tuple(range(min(collapsed), max(collapsed) + 1))
    place = min(collapsed) if adjacent else 0
    offsets = tuple(i if i < place else i + index_rank for i in range(len(kept)))
    return GatherDimensionNumbers(offsets, collapsed, tuple(axes))


def index_text(
    numbers: GatherDimensionNumbers,
    mode: GatherScatterMode,
    x: ShapedArray,
    indices: Sequence[tuple[str, ShapedArray]],
    window: Sequence[Size],
) -> str:
    """What stands between the brackets of `x[...]` to address the elements, for a window size for
    each axis of x."""
    index_rank = max((i.ndim for _, i in indices), default=0)
    starts: dict[int, tuple[str, int]] = {}
    for axis, (text, i) in zip(numbers.start_index_map, indices, strict=True):
        if mode is GatherScatterMode.CLIP:
            text = f"np.clip({text}, 0, {x.shape[axis] - window[axis]})"
        starts[axis] = text, i.ndim
    whole = all(
        axis in numbers.collapsed_slice_dims
        or (axis not in starts and same_size(window[axis], x.shape[axis]))
        for axis in range(x.ndim)
    )
    if whole and starts and numbers == numpy_layout(x.ndim, numbers.start_index_map, index_rank):
        parts = [starts[axis][0] if axis in starts else ":" for axis in range(x.ndim)]
        while parts[-1] == ":":
            parts.pop()
        return ", ".join(parts)
    return _all_indices(numbers, x.ndim, index_rank, starts, window)


def _all_indices(
    numbers: GatherDimensionNumbers,
    rank: int,
    index_rank: int,
    starts: dict[int, tuple[str, int]],
    window: Sequence[Size],
) -> str:
    """An index for each axis, which broadcast together to the shape of the result."""
    result_rank = index_rank + len(numbers.offset_dims)
    batch = [axis for axis in range(result_rank) if axis not in numbers.offset_dims]
    offsets = iter(numbers.offset_dims)
    parts: list[str] = []
    for axis in range(rank):
        terms: list[str] = []
        if axis in starts:
            text, ndim = starts[axis]
            terms.append(_placed(text, batch if ndim else [], result_rank))
        if axis not in numbers.collapsed_slice_dims:
            terms.append(_placed(f"np.arange({window[axis]})", [next(offsets)], result_rank))
        parts.append(" + ".join(terms) or "0")
    return ", ".join(parts)


def _placed(text: str, axes: Sequence[int], rank: int) -> str:
    """An array whose axes shall be `axes` of `rank` ones, for broadcasting."""
    if not axes or list(axes) == list(range(rank - len(axes), rank)):
        return text
    index = [":" if axis in axes else "None" for axis in range(axes[0], rank)]
    return f"({text})[{', '.join(index)}]"


def check_indices(x: ShapedArray, indices: Sequence[ShapedArray]) -> Shape:
    """The common shape of the indices, where they are not of rank 0; TypeError if there is none."""
    shape: Shape = ()
    for index in indices:
        fits = index.dtype.kind in "iu" and (
            not index.shape
            or not shape
            or (len(shape) == index.ndim and all(map(require_same, shape, index.shape)))
        )
        if not fits:
            names = " and ".join(map(str, indices))
            raise TypeError(f"a value of type {x} cannot be indexed by {names}")
        shape = shape or index.shape
    return shape


def shifted(axes: Sequence[int], new: int) -> tuple[int, ...]:
    """Axes after a new axis was put in at `new`."""
    return tuple(axis + (axis >= new) for axis in axes)


def batched_indices(
    size: Size, indices: Sequence[Value], axes: Sequence[BatchAxis]
) -> tuple[list[Value], bool]:
    """The indices with the batch axis in front, if any has one, and whether any has."""
    if all(axis is None for axis in axes):
        return list(indices), False
    ranks = [aval(i).ndim - (a is not None) for i, a in zip(indices, axes, strict=True)]
    moved = [
        i if a is None and rank == 0 else move_batch_axis(i, a, 0, size)
        for i, a, rank in zip(indices, axes, ranks, strict=True)
    ]
    shape = max((aval(i).shape for i in moved), key=len)
    return [broadcast_in_dim(i, shape, (0,)) if aval(i).ndim == 1 else i for i in moved], True


def with_batch_axis(
    numbers: GatherDimensionNumbers, rank: int, index_rank: int, operand_too: bool
) -> tuple[GatherDimensionNumbers, int]:
    """The numbers for indices with a new first axis, and where in the result that axis stands.

    With `operand_too` the operand has a new first axis as well, which the new first index is for.
    """
    offsets = numbers.offset_dims
    collapsed, mapped = numbers.collapsed_slice_dims, numbers.start_index_map
    if operand_too:
        rank += 1
        collapsed, mapped = (0, *shifted(collapsed, 0)), (0, *shifted(mapped, 0))
    if index_rank:
        place = next(a for a in range(len(offsets) + index_rank) if a not in offsets)
    elif set(collapsed) == set(mapped):
        # The only axis of the indices: it goes where NumPy puts it.
        layout = numpy_layout(rank, mapped, 1)
        return layout, next(a for a in range(rank + 1) if a not in layout.offset_dims)
    else:
        place = 0
    return GatherDimensionNumbers(shifted(offsets, place), collapsed, mapped), place


def example_numbers(size: Size, indices: Sequence[Value]) -> Value:
    """The number of the example, as an index that goes with batched ones."""
    shape = next(aval(i).shape for i in indices if aval(i).ndim)
    return broadcast_in_dim(iota(INT64, size), shape, (0,))


def are_distinct(indices: Sequence[Value], shape: Sequence[Size], producer: Producer) -> bool:
    """Whether no two places that the indices address are the same, as far as is known.

    `shape` has the sizes of the indexed axes. The indices are known, or along each axis of theirs
    one of them has different numbers, such as 0, 1, 2, ... in some order.
    """
    known = [known_value(index) for index in indices]
    sizes = [size for size in shape if isinstance(size, int)]
    if all(index is not None for index in known) and len(sizes) == len(known):
        places = [i % n for i, n in zip(np.broadcast_arrays(*known), sizes, strict=True)]
        return len(set(zip(*[place.ravel() for place in places], strict=True))) == places[0].size
    makers = [producer(index) for index in indices]
    for maker in makers:
        # The places of the true elements of a mask, along all its axes.
        if maker is not None and maker.primitive.name == "nonzero":
            if makers.count(maker) == len(maker.outvars) - 1:
                return True
    counted: set[int] = set()
    for index in indices:
        axes: Sequence[int] = range(aval(index).ndim)
        repeated = defined_by(index, BroadcastInDim, producer)
        if repeated is not None:
            axes, (index,) = repeated[0].broadcast_dimensions, repeated[1]
        # A permutation along an axis has each number once. By name, for it is defined further on.
        for kind in (Iota, registry["argsort"], registry["nonzero"]):
            count = defined_by(index, kind, producer)
            if count is None:
                continue
            # Of the places in a matrix, it is the pairs that are different.
            if kind is not registry["nonzero"] or aval(count[1][0]).ndim == 1:
                counted.add(axes[getattr(count[0], "dimension", 0)])
    return len(counted) == max(aval(index).ndim for index in indices)
