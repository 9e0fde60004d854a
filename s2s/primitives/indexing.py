"""Indexing by computed integers: gather and the scatters, each other's adjoints.

As in XLA, but with the components of the index vectors as operands of their own, which is how
NumPy has them: `x[rows, cols]` is `gather x rows cols`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from s2s.ir.dims import Shape, Size, require_same
from s2s.ir.dtypes import INT64
from s2s.ir.jaxpr import JaxprEqn, Literal, ShapedArray, Var
from s2s.primitive import BatchAxis, Linear, Precedence, Primitive, Producer, Value, Zero
from s2s.primitives.core import full, instantiate, move_batch_axis, reshape
from s2s.primitives.creation import iota
from s2s.primitives.index_layout import (
    GatherDimensionNumbers,
    GatherScatterMode,
    ScatterDimensionNumbers,
    are_distinct,
    batched_indices,
    check_indices,
    example_numbers,
    index_text,
    numpy_layout,
    shifted,
    with_batch_axis,
)
from s2s.primitives.logic import eq, select_n
from s2s.trace import aval, bind, phase


@dataclass(frozen=True)
class Gather(Primitive):
    """Windows of an array: the operands are the array and one array of indices for each indexed
    axis, all of one shape or rank 0."""

    dimension_numbers: GatherDimensionNumbers
    slice_sizes: Shape
    mode: GatherScatterMode = GatherScatterMode.NUMPY

    name = "gather"
    stablehlo = "gather"
    is_cheap = True

    def abstract(self, x: ShapedArray, *indices: ShapedArray) -> ShapedArray:
        numbers = self.dimension_numbers
        batch_shape = iter(check_indices(x, indices))
        window_shape = iter(
            size
            for axis, size in enumerate(self.slice_sizes)
            if axis not in numbers.collapsed_slice_dims
        )
        rank = max((i.ndim for i in indices), default=0) + len(numbers.offset_dims)
        shape = tuple(
            next(window_shape) if axis in numbers.offset_dims else next(batch_shape)
            for axis in range(rank)
        )
        return ShapedArray(shape, x.dtype)

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        y = bind(self, *primals)
        if isinstance(tangents[0], Zero):
            return y, Zero(aval(y))
        with phase("tangent"):
            return y, bind(self, tangents[0], *primals[1:])

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        x, *indices = args
        numbers = self.dimension_numbers.of_scatter()
        zeros = instantiate(Zero(aval(x)))
        ct = scatter_add(zeros, indices, cts[0], numbers, mode=self.mode)
        return [ct, *[None] * len(indices)]

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, BatchAxis]:
        (x, *indices), (x_axis, *axes) = args, dims
        numbers, sizes = self.dimension_numbers, self.slice_sizes
        indices, indices_batched = batched_indices(size, indices, axes)
        if not indices_batched:
            assert x_axis is not None
            # One more window axis, in front of those behind it.
            kept = [a for a in range(len(sizes)) if a not in numbers.collapsed_slice_dims]
            order = sum(axis < x_axis for axis in kept)
            place = numbers.offset_dims[order - 1] + 1 if order else 0
            offsets = [d + (d >= place) for d in numbers.offset_dims]
            offsets.insert(order, place)
            new = GatherDimensionNumbers(
                tuple(offsets),
                shifted(numbers.collapsed_slice_dims, x_axis),
                shifted(numbers.start_index_map, x_axis),
            )
            sizes = (*sizes[:x_axis], size, *sizes[x_axis:])
            return bind(Gather(new, sizes, self.mode), x, *indices), place
        index_rank = max(aval(i).ndim for i in indices) - 1
        new, place = with_batch_axis(numbers, len(sizes), index_rank, x_axis is not None)
        if x_axis is not None:
            x = move_batch_axis(x, x_axis, 0)
            indices, sizes = [example_numbers(size, indices), *indices], (1, *sizes)
        return bind(Gather(new, sizes, self.mode), x, *indices), place

    def mask_axis(self, shape: Shape, mask: Shape) -> int | None:
        """See `GatherDimensionNumbers.mask_axis`."""
        return self.dimension_numbers.mask_axis(shape, mask)

    def index(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        """What stands between the brackets."""
        indices = list(zip(operands[1:], avals[1:], strict=True))
        return index_text(self.dimension_numbers, self.mode, avals[0], indices, self.slice_sizes)

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        return f"{operands[0]}[{self.index(operands, avals)}]"

    def operand_precedence(self, position: int) -> Precedence:
        return Precedence.CONDITIONAL if position else Precedence.ATOM


# -- scatter --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scatter(Primitive):
    """An array with windows of it replaced by updates: the operands are the array, one array of
    indices for each indexed axis, and the updates. Where windows overlap, the last one stays."""

    dimension_numbers: ScatterDimensionNumbers
    indices_are_sorted: bool = False
    unique_indices: bool = False
    mode: GatherScatterMode = GatherScatterMode.NUMPY

    name = "scatter"
    stablehlo = "scatter"
    ufunc: ClassVar[str] = ""
    """What combines an update with the element that it meets: `np.add`."""

    def window(self, x: ShapedArray, updates: ShapedArray) -> list[Size]:
        """The size of the windows along each axis of the operand."""
        numbers = self.dimension_numbers
        sizes = iter(updates.shape[axis] for axis in numbers.update_window_dims)
        return [
            1 if axis in numbers.inserted_window_dims else next(sizes) for axis in range(x.ndim)
        ]

    def abstract(self, x: ShapedArray, *rest: ShapedArray) -> ShapedArray:
        *indices, updates = rest
        batch_shape = check_indices(x, indices)
        window_dims = self.dimension_numbers.update_window_dims
        found = [size for a, size in enumerate(updates.shape) if a not in window_dims]
        fits = updates.dtype == x.dtype and len(found) == len(batch_shape)
        if not fits or not all(map(require_same, found, batch_shape)):
            names = " and ".join(map(str, indices))
            raise TypeError(f"{updates} cannot be put into {x} at indices {names}")
        return ShapedArray(x.shape, x.dtype)

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        y = bind(self, *primals)
        t_x, *_, t_updates = tangents
        if isinstance(t_x, Zero) and isinstance(t_updates, Zero):
            return y, Zero(aval(y))
        with phase("tangent"):
            indices = primals[1:-1]
            return y, bind(self, instantiate(t_x), *indices, instantiate(t_updates))

    def taking(self, x: ShapedArray, updates: ShapedArray) -> Gather:
        """What takes the windows that are replaced, for operands of these types."""
        numbers = self.dimension_numbers.of_gather()
        return Gather(numbers, tuple(self.window(x, updates)), self.mode)

    def taken(self, ct: Value, indices: Sequence[Value], updates: ShapedArray) -> Value:
        """What a cotangent of the result has in the place of each update."""
        return bind(self.taking(aval(ct), updates), ct, *indices)

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        (ct,), (x, *indices, updates) = cts, args
        results: list[Value] = [None] * len(args)
        if isinstance(x, Linear):
            results[0] = bind(self, ct, *indices, instantiate(Zero(aval(updates))))
        if isinstance(updates, Linear):
            ct_updates = self.taken(ct, indices, updates.aval)
            if not self.unique_indices:
                last = self._stays(aval(ct), indices, updates.aval)
                ct_updates = select_n(last, 0, ct_updates)
            results[-1] = ct_updates
        return results

    def _stays(self, x: ShapedArray, indices: Sequence[Value], updates: ShapedArray) -> Value:
        """Where an update is not overwritten by a later one: its number is found in its place."""
        numbers = reshape(iota(INT64, updates.size), updates.shape)
        placed = bind(self, full(x.shape, 0, INT64), *indices, numbers)
        return eq(self.taken(placed, indices, updates), numbers)

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, BatchAxis]:
        (x, *indices, updates), (x_axis, *axes, updates_axis) = args, dims
        numbers = self.dimension_numbers
        indices, indices_batched = batched_indices(size, indices, axes)
        x = move_batch_axis(x, x_axis, 0, size)
        if not indices_batched:
            updates = move_batch_axis(updates, updates_axis, 0, size)
            new = ScatterDimensionNumbers(
                (0, *shifted(numbers.update_window_dims, 0)),
                shifted(numbers.inserted_window_dims, 0),
                shifted(numbers.scatter_dims_to_operand_dims, 0),
            )
            return bind(self.with_numbers(new), x, *indices, updates), 0
        index_rank = max(aval(i).ndim for i in indices) - 1
        gather_numbers, place = with_batch_axis(
            numbers.of_gather(), aval(x).ndim - 1, index_rank, operand_too=True
        )
        updates = move_batch_axis(updates, updates_axis, place, size)
        rows = example_numbers(size, indices)
        scatter_ = self.with_numbers(gather_numbers.of_scatter())
        return bind(scatter_, x, rows, *indices, updates), 0

    def fold(self, args: Sequence[Value], producer: Producer) -> Value | None:
        """Indices that are known to be distinct are marked so: their order does not matter then."""
        numbers = self.dimension_numbers
        whole = set(numbers.inserted_window_dims) == set(numbers.scatter_dims_to_operand_dims)
        indices = args[1:-1]
        if self.unique_indices or not (whole or all(aval(i).ndim == 0 for i in indices)):
            return None
        if self.mode is GatherScatterMode.CLIP or not are_distinct(
            indices,
            [aval(args[0]).shape[a] for a in numbers.scatter_dims_to_operand_dims],
            producer,
        ):
            return None
        return bind(replace(self, unique_indices=True), *args)

    def with_numbers(self, numbers: ScatterDimensionNumbers) -> Scatter:
        """The same scatter with other dimension numbers."""
        return replace(self, dimension_numbers=numbers)

    def mask_axis(self, shape: Shape, mask: Shape) -> int | None:
        """See `GatherDimensionNumbers.mask_axis`."""
        return self.dimension_numbers.of_gather().mask_axis(shape, mask)

    def index(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        """What stands between the brackets."""
        x, *indices, updates = avals
        pairs = list(zip(operands[1:-1], indices, strict=True))
        numbers = self.dimension_numbers.of_gather()
        return index_text(numbers, self.mode, x, pairs, self.window(x, updates))

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        # As an expression, for evaluation. The generator writes a statement.
        index, updates = f"np.s_[{self.index(operands, avals)}]", operands[-1]
        if self.ufunc:
            put = f"{self.ufunc}.at(result, {index}, {updates})"
        else:
            put = f"result.__setitem__({index}, {updates})"
        return f"(lambda result: {put} or result)(np.array({operands[0]}))"


@dataclass(frozen=True)
class ScatterAdd(Scatter):
    """An array with updates added to windows of it: the operands are as in `Scatter`."""

    name = "scatter-add"
    ufunc = "np.add"

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        (ct,), (x, *indices, updates) = cts, args
        results: list[Value] = [None] * len(args)
        if isinstance(x, Linear):
            results[0] = ct
        if isinstance(updates, Linear):
            results[-1] = self.taken(ct, indices, updates.aval)
        return results


def gather(
    operand: Value,
    indices: Sequence[Value],
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Shape,
    mode: GatherScatterMode = GatherScatterMode.NUMPY,
) -> Value:
    """Windows of `operand` at `indices`, one array of them for each indexed axis."""
    return bind(Gather(dimension_numbers, tuple(slice_sizes), mode), operand, *indices)


def scatter(
    operand: Value,
    indices: Sequence[Value],
    updates: Value,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    unique_indices: bool = False,
    mode: GatherScatterMode = GatherScatterMode.NUMPY,
) -> Value:
    """`operand` with windows at `indices` replaced by `updates`; of equal ones the last counts."""
    primitive = Scatter(dimension_numbers, False, unique_indices, mode)
    return bind(primitive, operand, *indices, updates)


def scatter_add(
    operand: Value,
    indices: Sequence[Value],
    updates: Value,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    unique_indices: bool = False,
    mode: GatherScatterMode = GatherScatterMode.NUMPY,
) -> Value:
    """`operand` with `updates` added to windows at `indices`; of equal indices each counts."""
    primitive = ScatterAdd(dimension_numbers, False, unique_indices, mode)
    return bind(primitive, operand, *indices, updates)


def take_at(operand: Value, axes: Sequence[int], indices: Sequence[Value]) -> Value:
    """`operand[..., i, ..., j, ...]` in NumPy's sense, with indices on `axes`, `:` on the others.

    The indices are of one shape or of rank 0.
    """
    shape = aval(operand).shape
    numbers = numpy_layout(len(shape), axes, max(aval(i).ndim for i in indices))
    sizes = tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    return gather(operand, indices, numbers, sizes)


def put_at(
    operand: Value,
    axes: Sequence[int],
    indices: Sequence[Value],
    updates: Value,
    *,
    add: bool = False,
    unique_indices: bool = False,
) -> Value:
    """`operand` after `operand[..., i, ..., j, ...] = updates`, indexed as in `take_at`.

    With `add`, after `np.add.at(operand, (..., i, ..., j, ...), updates)`. The updates have the
    shape that `take_at` gives.
    """
    rank = aval(operand).ndim
    numbers = numpy_layout(rank, axes, max(aval(i).ndim for i in indices)).of_scatter()
    function = scatter_add if add else scatter
    return function(operand, indices, updates, numbers, unique_indices=unique_indices)


def mask_of(eqn: JaxprEqn, makers: Mapping[Var, JaxprEqn]) -> tuple[JaxprEqn, int] | None:
    """Where an equation reads or writes at all places where a mask is true: the `nonzero` that made
    these, among the `makers` of its indices, and the axis at which the mask begins."""
    primitive = eqn.primitive
    if type(primitive) not in (Gather, Scatter, ScatterAdd):
        return None
    assert isinstance(primitive, (Gather, Scatter))
    indices = eqn.invars[1 : len(eqn.invars) - isinstance(primitive, Scatter)]
    maker = None if isinstance(indices[0], Literal) else makers.get(indices[0])
    if maker is None or list(indices) != list(maker.outvars[1:]):
        return None
    axis = primitive.mask_axis(eqn.invars[0].aval.shape, maker.invars[0].aval.shape)
    return None if axis is None else (maker, axis)
