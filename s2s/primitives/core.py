"""The few primitives that the rules of all others are written with.

broadcast_in_dim and reduce_sum, each other's adjoint; transpose and reshape, each their own; and on
them what moves a batch axis, sums a cotangent down to its operand, and writes a zero out.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from s2s.ir.dims import Shape, Size, product, require_same, same_shape, same_size
from s2s.ir.dtypes import BOOL, FLOAT64, INT64, DType
from s2s.ir.jaxpr import Literal, ShapedArray
from s2s.primitive import BatchAxis, Precedence, Primitive, Producer, Value, Zero
from s2s.primitives.conversion import (
    PYTHON_TYPE as PYTHON_TYPE,
    ConvertElementType as ConvertElementType,
    convert_element_type as convert_element_type,
)
from s2s.primitives.structural import (
    Structural as Structural,
    defined_by as defined_by,
    hand_on_name,
    is_number as is_number,
    number as number,
    operands_of as operands_of,
)
from s2s.trace import aval, bind

# -- broadcast and sum, each other's adjoint ------------------------------------------------------


@dataclass(frozen=True)
class BroadcastInDim(Structural):
    """The operand repeated along new axes; its own axes become `broadcast_dimensions`."""

    shape: Shape
    broadcast_dimensions: tuple[int, ...]

    name = "broadcast_in_dim"
    stablehlo = "broadcast_in_dim"

    def abstract(self, x: ShapedArray) -> ShapedArray:
        fits = len(self.broadcast_dimensions) == x.ndim and all(
            same_size(size, 1) or require_same(size, self.shape[axis])
            for size, axis in zip(x.shape, self.broadcast_dimensions, strict=True)
        )
        if not fits:
            shape = ShapedArray(self.shape, x.dtype)
            raise TypeError(f"a value of type {x} cannot be broadcast to {shape}")
        return ShapedArray(self.shape, x.dtype)

    def printed_parameters(self) -> Mapping[str, Any]:
        axes = self.broadcast_dimensions
        return {"broadcast_dimensions": axes} if axes else {}

    @classmethod
    def from_printed(
        cls, printed: Mapping[str, Any], out_avals: Sequence[ShapedArray]
    ) -> BroadcastInDim:
        return cls(out_avals[0].shape, printed.get("broadcast_dimensions", ()))

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        shape = aval(args[0]).shape
        kept = [
            axis
            for size, axis in zip(shape, self.broadcast_dimensions, strict=True)
            if same_size(size, self.shape[axis])
        ]
        repeated = [
            axis
            for axis, size in enumerate(self.shape)
            if axis not in kept and not same_size(size, 1)
        ]
        return [reshape(reduce_sum(cts[0], repeated), shape)]

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, BatchAxis]:
        x = move_batch_axis(args[0], dims[0], 0)
        axes = (0, *[axis + 1 for axis in self.broadcast_dimensions])
        return broadcast_in_dim(x, (size, *self.shape), axes), 0

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        (x,), (x_aval,) = operands, avals
        axes = self.broadcast_dimensions
        if x_aval.ndim == 0:
            given = x_aval.dtype in (FLOAT64, INT64, BOOL)
            dtype = "" if given else f", dtype=np.{x_aval.dtype.name}"
            return f"np.full({shape_text(self.shape)}, {x}{dtype})"
        grown: list[Size] = [1] * len(self.shape)
        for size, axis in zip(x_aval.shape, axes, strict=True):
            grown[axis] = size
        repeats = not same_shape(grown, self.shape)
        # broadcast_to adds axes in front by itself.
        first = axes[0] if repeats else 0
        index = [":" if axis in axes else "None" for axis in range(first, len(self.shape))]
        if "None" in index:
            x = f"{x}[{', '.join(index)}]"
        return f"np.broadcast_to({x}, {shape_text(self.shape)})" if repeats else x

    def operand_precedence(self, position: int) -> Precedence:
        return Precedence.ATOM

    def fold(self, args: Sequence[Value], producer: Producer) -> Value | None:
        (x,) = args
        if same_shape(aval(x).shape, self.shape) and self.broadcast_dimensions == tuple(
            range(len(self.shape))
        ):
            return x
        inner = defined_by(x, BroadcastInDim, producer)
        if inner is not None:
            primitive, (operand,) = inner
            if primitive.adds_axes_of_size_1(aval(operand)):
                hand_on_name(x, operand)
            axes = tuple(self.broadcast_dimensions[axis] for axis in primitive.broadcast_dimensions)
            return broadcast_in_dim(operand, self.shape, axes)
        reshaped = producer(x)
        if reshaped is not None and reshaped.primitive.name in ("reshape", "squeeze"):
            (operand,) = operands_of(x, reshaped)
            source = producer(operand)
            if reshaped.primitive.name == "squeeze" and (
                source is None or source.primitive.name in ("slice", "dynamic_slice")
            ):
                # An item of an array is written x[0], not x[:1].
                return None
            axes = self._axes_before_reshape(aval(operand).shape, aval(x).shape)
            if axes is not None:
                hand_on_name(x, operand)
                return broadcast_in_dim(operand, self.shape, axes)
        return None

    def _axes_before_reshape(self, before: Shape, after: Shape) -> list[int] | None:
        """Which axes of the result those of an operand are, if it was reshaped from `before` to
        `after` by axes of size 1 that came or went; None if it was not, or there is no place."""
        longer = [axis for axis, size in enumerate(after) if not same_size(size, 1)]
        if not same_shape(
            [size for size in before if not same_size(size, 1)], [after[axis] for axis in longer]
        ):
            return None
        places = [self.broadcast_dimensions[axis] for axis in longer]
        axes: list[int] = []
        for size in before:
            is_one = same_size(size, 1)
            axes.append(axes[-1] + 1 if is_one and axes else 0 if is_one else places.pop(0))
        increasing = all(a < b for a, b in itertools.pairwise(axes))
        return axes if increasing and axes[-1:] < [len(self.shape)] else None

    def adds_axes_of_size_1(self, x: ShapedArray) -> bool:
        """Whether no element of an operand of type `x` is repeated."""
        new = set(range(len(self.shape))) - set(self.broadcast_dimensions)
        return all(same_size(self.shape[axis], 1) for axis in new) and all(
            same_size(size, self.shape[axis])
            for size, axis in zip(x.shape, self.broadcast_dimensions, strict=True)
        )


def broadcast_in_dim(operand: Value, shape: Shape, broadcast_dimensions: Sequence[int]) -> Value:
    """`operand` broadcast to `shape`, its axes becoming `broadcast_dimensions`."""
    shape, axes = tuple(shape), tuple(broadcast_dimensions)
    if len(axes) == len(shape) and axes == tuple(range(len(axes))):
        if same_shape(aval(operand).shape, shape):
            return operand
    return bind(BroadcastInDim(shape, axes), operand)


def sum_dtype(dtype: DType) -> DType:
    """NumPy's element type of a sum: that of the operand, but at least 64 bits for integers."""
    if dtype.kind in "bi":
        return INT64
    return np.dtype(np.uint64) if dtype.kind == "u" else dtype


class AxesReduction(Primitive):
    """The reduction of an operand over `axes`, which the result no longer has."""

    axes: tuple[int, ...]

    def abstract(self, x: ShapedArray) -> ShapedArray:
        if any(not 0 <= axis < x.ndim for axis in self.axes):
            raise TypeError(f"{self.name} over axes {self.axes} of a value of type {x}")
        shape = tuple(size for axis, size in enumerate(x.shape) if axis not in self.axes)
        return ShapedArray(shape, self.dtype(x.dtype))

    def dtype(self, dtype: DType) -> DType:
        """The element type of the result."""
        return dtype

    def over(self, axes: tuple[int, ...]) -> Primitive:
        """The same reduction over other axes."""
        return replace(cast(Any, self), axes=axes)

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, BatchAxis]:
        (x,), (batch,) = args, dims
        assert batch is not None
        axes = tuple(axis + (axis >= batch) for axis in self.axes)
        return bind(self.over(axes), x), batch - sum(axis < batch for axis in axes)

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        axes: object = self.axes[0] if len(self.axes) == 1 else self.axes
        axis = "" if len(self.axes) == avals[0].ndim else f", axis={axes}"
        return f"{self.numpy}({operands[0]}{axis})"

    def fold(self, args: Sequence[Value], producer: Producer) -> Value | None:
        (x,) = args
        return x if not self.axes and self.dtype(aval(x).dtype) == aval(x).dtype else None


@dataclass(frozen=True)
class ReduceSum(AxesReduction, Structural):
    """The sum over `axes`; integers are summed in 64 bits, as in NumPy."""

    axes: tuple[int, ...]

    is_cheap = False
    name = "reduce_sum"
    numpy = "np.sum"

    def dtype(self, dtype: DType) -> DType:
        return sum_dtype(dtype)

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        shape = aval(args[0]).shape
        kept = [axis for axis in range(len(shape)) if axis not in self.axes]
        return [broadcast_in_dim(cts[0], shape, kept)]

    def fold_derivative(self, args: Sequence[Value], producer: Producer) -> Value | None:
        inner = defined_by(args[0], ReduceSum, producer)
        if inner is not None:
            primitive, (x,) = inner
            kept = [axis for axis in range(aval(x).ndim) if axis not in primitive.axes]
            return reduce_sum(x, sorted([*primitive.axes, *[kept[axis] for axis in self.axes]]))
        shape = aval(args[0]).shape
        if all(same_size(shape[axis], 1) for axis in self.axes):
            kept = [size for axis, size in enumerate(shape) if axis not in self.axes]
            return reshape(args[0], tuple(kept))
        repeated = defined_by(args[0], BroadcastInDim, producer)
        return None if repeated is None else self._of_repeated(*repeated, shape)

    def _of_repeated(
        self, primitive: BroadcastInDim, operands: Sequence[Value], shape: Shape
    ) -> Value | None:
        """The sum of equal terms is one of them times their number."""
        (x,), places = operands, primitive.broadcast_dimensions
        own = [axis for axis, place in enumerate(places) if place in self.axes]
        if not all(same_size(aval(x).shape[axis], shape[places[axis]]) for axis in own):
            return None
        count = product([shape[axis] for axis in self.axes if axis not in places])
        kept = [axis for axis in range(len(shape)) if axis not in self.axes]
        return broadcast_in_dim(
            times_size(reduce_sum(x, own), count),
            tuple(shape[axis] for axis in kept),
            [kept.index(place) for place in places if place in kept],
        )


def reduce_sum(operand: Value, axes: Sequence[int]) -> Value:
    """The sum of `operand` over `axes`."""
    return bind(ReduceSum(tuple(axes)), operand) if axes else operand


# -- transpose and reshape ------------------------------------------------------------------------


@dataclass(frozen=True)
class Transpose(Structural):
    """The axes in another order: axis `i` of the result is axis `permutation[i]` of the operand."""

    permutation: tuple[int, ...]

    name = "transpose"
    stablehlo = "transpose"

    def abstract(self, x: ShapedArray) -> ShapedArray:
        if sorted(self.permutation) != list(range(x.ndim)):
            raise TypeError(f"transpose with axes {self.permutation} of a value of type {x}")
        return ShapedArray(tuple(x.shape[axis] for axis in self.permutation), x.dtype)

    def inverse(self) -> tuple[int, ...]:
        """The permutation that undoes this one."""
        return tuple(self.permutation.index(axis) for axis in range(len(self.permutation)))

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        return [transpose(cts[0], self.inverse())]

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, BatchAxis]:
        (x,), (batch,) = args, dims
        assert batch is not None
        # The batch axis stays where it is if the result is then not moved at all.
        rest = [axis + (axis >= batch) for axis in self.permutation]
        return transpose(x, (batch, *rest)), 0

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        if self.permutation == tuple(reversed(range(len(self.permutation)))):
            return f"{operands[0]}.T"
        return f"np.transpose({operands[0]}, {self.permutation})"

    def operand_precedence(self, position: int) -> Precedence:
        return Precedence.ATOM

    def fold(self, args: Sequence[Value], producer: Producer) -> Value | None:
        (x,) = args
        if self.permutation == tuple(range(len(self.permutation))):
            return x
        inner = defined_by(x, Transpose, producer)
        if inner is not None:
            primitive, (operand,) = inner
            order = tuple(primitive.permutation[axis] for axis in self.permutation)
            return transpose(operand, order)
        repeated = defined_by(x, BroadcastInDim, producer)
        if repeated is not None:
            primitive, (operand,) = repeated
            places = [self.permutation.index(axis) for axis in primitive.broadcast_dimensions]
            if places == sorted(places):
                shape = tuple(primitive.shape[axis] for axis in self.permutation)
                return broadcast_in_dim(operand, shape, places)
        return None

    def fold_derivative(self, args: Sequence[Value], producer: Producer) -> Value | None:
        """The transpose of a product is the product of the factors the other way round.

        A product that has a name is one that is needed itself too.
        """
        eqn = producer(args[0])
        if eqn is None or eqn.primitive.name != "dot_general" or eqn.outvars[0].name is not None:
            return None
        return cast(Any, eqn.primitive).swapped(operands_of(args[0], eqn), self.permutation)


def transpose(operand: Value, permutation: Sequence[int]) -> Value:
    """`operand` with its axes in the order `permutation`."""
    if tuple(permutation) == tuple(range(len(permutation))):
        return operand
    return bind(Transpose(tuple(permutation)), operand)


@dataclass(frozen=True)
class Reshape(Structural):
    """The elements in row-major order as an array of another shape."""

    new_sizes: Shape
    dimensions: None = None

    name = "reshape"
    stablehlo = "reshape"

    def abstract(self, x: ShapedArray) -> ShapedArray:
        if not require_same(x.size, product(self.new_sizes)):
            shape = ShapedArray(self.new_sizes, x.dtype)
            raise TypeError(
                f"a value of type {x} has {x.size} elements and cannot be reshaped to {shape}"
            )
        return ShapedArray(self.new_sizes, x.dtype)

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        return [reshape(cts[0], aval(args[0]).shape)]

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, BatchAxis]:
        return reshape(move_batch_axis(args[0], dims[0], 0), (size, *self.new_sizes)), 0

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        return f"np.reshape({operands[0]}, {shape_text(self.new_sizes)})"

    def fold(self, args: Sequence[Value], producer: Producer) -> Value | None:
        (x,) = args
        if same_shape(aval(x).shape, self.new_sizes):
            return x
        if aval(x).ndim == 0:
            return broadcast_in_dim(x, self.new_sizes, ())
        inner = defined_by(x, Reshape, producer)
        if inner is not None:
            return reshape(inner[1][0], self.new_sizes)
        grown = defined_by(x, BroadcastInDim, producer)
        if grown is not None and grown[0].adds_axes_of_size_1(aval(grown[1][0])):
            return reshape(grown[1][0], self.new_sizes)
        if grown is not None and not grown[0].broadcast_dimensions:
            return broadcast_in_dim(grown[1][0], self.new_sizes, ())
        return None

    def fold_derivative(self, args: Sequence[Value], producer: Producer) -> Value | None:
        """Without some axes of size 1: said so, other folds see through it."""
        from s2s.primitives.layout import squeeze

        shape = aval(args[0]).shape
        kept, dropped = list(self.new_sizes), list[int]()
        for axis, size in enumerate(shape):
            if kept and same_size(size, kept[0]):
                del kept[0]
            elif same_size(size, 1):
                dropped.append(axis)
            else:
                return None
        return None if kept else squeeze(args[0], dropped)


def reshape(operand: Value, new_sizes: Shape) -> Value:
    """The elements of `operand`, in row-major order, as an array of shape `new_sizes`."""
    if same_shape(aval(operand).shape, new_sizes):
        return operand
    return bind(Reshape(tuple(new_sizes)), operand)


# -- what rules are written with ------------------------------------------------------------------


def full(shape: Shape, number: Any, dtype: DType) -> Value:
    """An array of `shape` whose elements are all `number`."""
    return broadcast_in_dim(Literal(dtype.type(number), ShapedArray((), dtype)), shape, ())


def instantiate(value: Value) -> Value:
    """A symbolic zero written out as an array of zeros; anything else as it is."""
    return full(value.aval.shape, 0, value.aval.dtype) if isinstance(value, Zero) else value


def fill(value: Value, shape: Shape) -> Value:
    """A rank-0 value repeated over `shape`; an array as it is."""
    return broadcast_in_dim(value, shape, ()) if shape and aval(value).ndim == 0 else value


def times_size(value: Value, size: Size) -> Value:
    """`value` times a number of elements."""
    # Here, since these modules are written with this one.
    from s2s.primitives.arithmetic import mul
    from s2s.primitives.creation import dim_as_value

    return mul(value, convert_element_type(dim_as_value(size), aval(value).dtype))


def unbroadcast(ct: Value, operand: ShapedArray) -> Value:
    """The cotangent of an operand of an elementwise primitive: summed up for one of rank 0."""
    ndim = aval(ct).ndim
    return reduce_sum(ct, range(ndim)) if ndim > operand.ndim else ct


def move_axis(value: Value, source: int, destination: int) -> Value:
    """`value` with one axis moved, the others in their order."""
    if source == destination:
        return value
    axes = [axis for axis in range(aval(value).ndim) if axis != source]
    axes.insert(destination, source)
    return transpose(value, axes)


def move_batch_axis(
    value: Value, source: BatchAxis, destination: int, size: Size | None = None
) -> Value:
    """`value` with its batch axis at `destination`; one without is repeated `size` times."""
    if source is not None:
        return move_axis(value, source, destination)
    assert size is not None
    shape = aval(value).shape
    batched = (*shape[:destination], size, *shape[destination:])
    kept = [axis for axis in range(len(batched)) if axis != destination]
    return broadcast_in_dim(value, batched, kept)


def shape_text(shape: Shape) -> str:
    """A shape as NumPy functions take it: `n` or `(n, 3)`."""
    return str(shape[0]) if len(shape) == 1 else f"({', '.join(map(str, shape))})"
