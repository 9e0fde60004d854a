"""Slices whose starts are computed: dynamic_slice and dynamic_update_slice, each other's adjoints.

As in JAX, a start that is too small or too large is moved to where the slice fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from s2s.ir.dims import Shape, Size, require_at_least, same_size
from s2s.ir.jaxpr import ShapedArray
from s2s.primitive import BatchAxis, Linear, Primitive, Value, Zero
from s2s.primitives.core import instantiate, move_batch_axis
from s2s.primitives.index_layout import (
    GatherDimensionNumbers,
    GatherScatterMode,
    ScatterDimensionNumbers,
)
from s2s.primitives.indexing import Gather, Scatter
from s2s.trace import aval, bind, phase


def _check(x: ShapedArray, sizes: Shape, starts: Sequence[ShapedArray]) -> None:
    fits = len(sizes) == x.ndim == len(starts) and all(
        start.shape == () and start.dtype.kind in "iu" for start in starts
    )
    if not fits or not all(
        require_at_least(whole - size, 0, f"{whole} >= {size}")
        for whole, size in zip(x.shape, sizes, strict=True)
    ):
        raise TypeError(f"no slice of sizes {sizes} of a value of type {x} at {list(starts)}")


@dataclass(frozen=True)
class DynamicSlice(Primitive):
    """A slice of given sizes: the operands are the array and the start along each axis."""

    slice_sizes: Shape

    is_cheap = True
    name = "dynamic_slice"
    stablehlo = "dynamic_slice"

    def abstract(self, x: ShapedArray, *starts: ShapedArray) -> ShapedArray:
        _check(x, self.slice_sizes, starts)
        return ShapedArray(self.slice_sizes, x.dtype)

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        y = bind(self, *primals)
        if isinstance(tangents[0], Zero):
            return y, Zero(aval(y))
        with phase("tangent"):
            return y, bind(self, tangents[0], *primals[1:])

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        x, *starts = args
        zeros = instantiate(Zero(aval(x)))
        return [dynamic_update_slice(zeros, cts[0], starts), *[None] * len(starts)]

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, BatchAxis]:
        (x, *starts), (axis, *start_axes) = args, dims
        sizes = self.slice_sizes
        if axis is not None and all(a is None for a in start_axes):
            starts.insert(axis, 0)
            return dynamic_slice(x, starts, (*sizes[:axis], size, *sizes[axis:])), axis
        axes = tuple(range(len(sizes)))
        numbers = GatherDimensionNumbers(axes, (), axes)
        return Gather(numbers, sizes, GatherScatterMode.CLIP).batch(size, args, dims)

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        text, *starts = operands
        for axis, (start, size) in enumerate(zip(starts, self.slice_sizes, strict=True)):
            whole = avals[0].shape[axis]
            if not same_size(whole, size):
                places = f"np.clip({start}, 0, {whole - size}) + np.arange({size})"
                text = f"np.take({text}, {places}, axis={axis})"
        return text


def dynamic_slice(operand: Value, start_indices: Sequence[Value], slice_sizes: Shape) -> Value:
    """The slice of `operand` of the given sizes that begins at computed `start_indices`."""
    return bind(DynamicSlice(tuple(slice_sizes)), operand, *start_indices)


@dataclass(frozen=True)
class DynamicUpdateSlice(Primitive):
    """An array with a slice replaced: the operands are the array, the new slice, and its starts."""

    is_cheap = True
    name = "dynamic_update_slice"
    stablehlo = "dynamic_update_slice"

    def abstract(self, x: ShapedArray, update: ShapedArray, *starts: ShapedArray) -> ShapedArray:
        _check(x, update.shape, starts)
        if x.dtype != update.dtype:
            raise TypeError(f"a value of type {update} cannot be put into one of type {x}")
        return ShapedArray(x.shape, x.dtype)

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        y = bind(self, *primals)
        t_x, t_update, *_ = tangents
        if isinstance(t_x, Zero) and isinstance(t_update, Zero):
            return y, Zero(aval(y))
        with phase("tangent"):
            return y, bind(self, instantiate(t_x), instantiate(t_update), *primals[2:])

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        (ct,), (x, update, *starts) = cts, args
        results: list[Value] = [None] * len(args)
        if isinstance(x, Linear):
            results[0] = dynamic_update_slice(ct, instantiate(Zero(aval(update))), starts)
        if isinstance(update, Linear):
            results[1] = dynamic_slice(ct, starts, update.aval.shape)
        return results

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, BatchAxis]:
        (x, update, *starts), (x_axis, update_axis, *start_axes) = args, dims
        if all(axis is None for axis in start_axes):
            x = move_batch_axis(x, x_axis, 0, size)
            update = move_batch_axis(update, update_axis, 0, size)
            return dynamic_update_slice(x, update, [0, *starts]), 0
        scatter_dims = [x_axis, *start_axes, update_axis]
        return self.as_scatter(len(starts)).batch(size, [x, *starts, update], scatter_dims)

    def as_scatter(self, rank: int) -> Scatter:
        """The scatter that does the same, for an operand of the given rank."""
        axes = tuple(range(rank))
        numbers = ScatterDimensionNumbers(axes, (), axes)
        return Scatter(numbers, False, True, GatherScatterMode.CLIP)

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        (x, update, *starts), (x_aval, update_aval, *start_avals) = operands, avals
        scatter = self.as_scatter(len(starts))
        return scatter.spell([x, *starts, update], [x_aval, *start_avals, update_aval])


def dynamic_update_slice(operand: Value, update: Value, start_indices: Sequence[Value]) -> Value:
    """`operand` with the slice that begins at `start_indices`, computed integers, replaced."""
    return bind(DynamicUpdateSlice(), operand, update, *start_indices)
