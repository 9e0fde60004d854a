"""Where elements stand: squeeze, rev, slice and pad, each other's adjoint.

broadcast_in_dim, transpose and reshape, which the rules of all families use, are in `core`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from s2s.ir.dims import Shape, Size, floor_divide, require_at_least, require_same, same_size
from s2s.ir.dtypes import BOOL
from s2s.ir.jaxpr import ShapedArray
from s2s.primitive import BatchAxis, Linear, Precedence, Primitive, Producer, Value, Zero
from s2s.primitives.arithmetic import sub
from s2s.primitives.core import (
    BroadcastInDim,
    Reshape,
    Structural,
    broadcast_in_dim,
    defined_by,
    full,
    instantiate,
    move_batch_axis,
    reduce_sum,
    reshape,
)
from s2s.primitives.logic import select_n
from s2s.trace import aval, bind, phase


@dataclass(frozen=True)
class Squeeze(Structural):
    """The operand without some axes of size 1."""

    dimensions: tuple[int, ...]

    name = "squeeze"

    def abstract(self, x: ShapedArray) -> ShapedArray:
        for axis in self.dimensions:
            if not 0 <= axis < x.ndim or not require_same(x.shape[axis], 1):
                raise TypeError(f"axis {axis} of a value of type {x} does not have size 1")
        kept = [size for axis, size in enumerate(x.shape) if axis not in self.dimensions]
        return ShapedArray(tuple(kept), x.dtype)

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        return [expand_dims(cts[0], self.dimensions)]

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, BatchAxis]:
        (x,), (batch,) = args, dims
        assert batch is not None
        axes = [axis + (axis >= batch) for axis in self.dimensions]
        return squeeze(x, axes), batch - sum(axis < batch for axis in axes)

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        axes: object = self.dimensions[0] if len(self.dimensions) == 1 else self.dimensions
        return f"np.squeeze({operands[0]}, axis={axes})"

    def fold(self, args: Sequence[Value], producer: Producer) -> Value | None:
        first = defined_by(args[0], Squeeze, producer)
        if first is not None:
            (x,) = first[1]
            kept = [axis for axis in range(aval(x).ndim) if axis not in first[0].dimensions]
            return squeeze(x, sorted([*first[0].dimensions, *[kept[a] for a in self.dimensions]]))
        reshaped = defined_by(args[0], Reshape, producer)
        if reshaped is not None:
            return reshape(reshaped[1][0], self.abstract(aval(args[0])).shape)
        inner = defined_by(args[0], BroadcastInDim, producer)
        if inner is None or not set(self.dimensions).isdisjoint(inner[0].broadcast_dimensions):
            return None
        shape, axes = inner[0].shape, inner[0].broadcast_dimensions
        kept = [axis for axis in range(len(shape)) if axis not in self.dimensions]
        return broadcast_in_dim(
            inner[1][0], tuple(shape[a] for a in kept), [kept.index(axis) for axis in axes]
        )


def squeeze(operand: Value, dimensions: Sequence[int]) -> Value:
    """`operand` without the axes `dimensions`, which have size 1."""
    return bind(Squeeze(tuple(dimensions)), operand) if dimensions else operand


def expand_dims(operand: Value, dimensions: Sequence[int]) -> Value:
    """`operand` with new axes of size 1, which are the axes `dimensions` of the result."""
    shape = list(aval(operand).shape)
    for axis in sorted(dimensions):
        shape.insert(axis, 1)
    kept = [axis for axis in range(len(shape)) if axis not in set(dimensions)]
    return broadcast_in_dim(operand, tuple(shape), kept)


@dataclass(frozen=True)
class Rev(Structural):
    """The elements in reverse order along some axes."""

    dimensions: tuple[int, ...]

    name = "rev"
    stablehlo = "reverse"

    def abstract(self, x: ShapedArray) -> ShapedArray:
        if any(not 0 <= axis < x.ndim for axis in self.dimensions):
            raise TypeError(f"a value of type {x} has no axes {self.dimensions} to reverse")
        return ShapedArray(x.shape, x.dtype)

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        return [rev(cts[0], self.dimensions)]

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, BatchAxis]:
        (x,), (batch,) = args, dims
        assert batch is not None
        return rev(x, [axis + (axis >= batch) for axis in self.dimensions]), batch

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        index = ["::-1" if a in self.dimensions else ":" for a in range(max(self.dimensions) + 1)]
        return f"{operands[0]}[{', '.join(index)}]"

    def operand_precedence(self, position: int) -> Precedence:
        return Precedence.ATOM

    def fold(self, args: Sequence[Value], producer: Producer) -> Value | None:
        repeated = defined_by(args[0], BroadcastInDim, producer)
        if repeated is not None and not repeated[0].broadcast_dimensions:
            return args[0]
        inner = defined_by(args[0], Rev, producer)
        if inner is None:
            return None
        return rev(inner[1][0], sorted(set(self.dimensions) ^ set(inner[0].dimensions)))


def rev(operand: Value, dimensions: Sequence[int]) -> Value:
    """`operand` in reverse order along the axes `dimensions`."""
    return bind(Rev(tuple(dimensions)), operand) if dimensions else operand


# -- slice and pad, each other's adjoint ----------------------------------------------------------


@dataclass(frozen=True)
class Slice(Structural):
    """The elements from `start_indices` up to `limit_indices`, in steps of `strides`."""

    start_indices: Shape
    limit_indices: Shape
    strides: tuple[int, ...] | None = None

    name = "slice"
    stablehlo = "slice"

    def steps(self) -> tuple[int, ...]:
        """The step along each axis."""
        return self.strides or (1,) * len(self.start_indices)

    def abstract(self, x: ShapedArray) -> ShapedArray:
        if len(self.start_indices) != x.ndim:
            raise TypeError(f"a slice with {len(self.start_indices)} axes of a value of type {x}")
        shape: list[Size] = []
        for start, limit, step, size in zip(
            self.start_indices, self.limit_indices, self.steps(), x.shape, strict=True
        ):
            if isinstance(start, int) and isinstance(limit, int) and isinstance(size, int):
                inside = 0 <= start <= limit <= size
            else:
                inside = (
                    require_at_least(start, 0, f"{start} >= 0")
                    and require_at_least(limit - start, 0, f"{limit} >= {start}")
                    and require_at_least(size - limit, 0, f"{size} >= {limit}")
                )
            if not inside:
                raise TypeError(f"the slice {start}:{limit} is not within an axis of size {size}")
            shape.append(floor_divide(limit - start + step - 1, step))
        return ShapedArray(tuple(shape), x.dtype)

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        (ct,), (x,) = cts, args
        config: list[tuple[Size, Size, int]] = []
        for start, step, kept, size in zip(
            self.start_indices, self.steps(), aval(ct).shape, aval(x).shape, strict=True
        ):
            span = (kept - 1) * step + 1 if not same_size(kept, 0) else 0
            config.append((start, size - start - span, step - 1))
        return [pad(ct, aval(ct).dtype.type(0), config)]

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, BatchAxis]:
        (x,), (b,) = args, dims
        assert b is not None
        starts, limits, steps = self.start_indices, self.limit_indices, self.strides
        return slice(
            x,
            (*starts[:b], 0, *starts[b:]),
            (*limits[:b], size, *limits[b:]),
            None if steps is None else (*steps[:b], 1, *steps[b:]),
        ), b

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        index = [
            slice_text(start, limit, step, size)
            for start, limit, step, size in zip(
                self.start_indices, self.limit_indices, self.steps(), avals[0].shape, strict=True
            )
        ]
        while len(index) > 1 and index[-1] == ":":
            index.pop()
        return f"{operands[0]}[{', '.join(index)}]"

    def operand_precedence(self, position: int) -> Precedence:
        return Precedence.ATOM

    def fold(self, args: Sequence[Value], producer: Producer) -> Value | None:
        (x,) = args
        whole = all(
            same_size(start, 0) and same_size(limit, size) and step == 1
            for start, limit, step, size in zip(
                self.start_indices, self.limit_indices, self.steps(), aval(x).shape, strict=True
            )
        )
        if whole:
            return x
        inner = defined_by(x, Slice, producer)
        if inner is not None and inner[0].strides is None:
            first, (operand,) = inner
            return slice(
                operand,
                tuple(a + b for a, b in zip(first.start_indices, self.start_indices, strict=True)),
                tuple(a + b for a, b in zip(first.start_indices, self.limit_indices, strict=True)),
                self.strides,
            )
        repeated = defined_by(x, BroadcastInDim, producer)
        if repeated is not None:
            # Of the operand, the slice along each axis that is not stretched.
            (primitive, (operand,)), shape = repeated, aval(repeated[1][0]).shape
            axes = primitive.broadcast_dimensions
            own = [same_size(n, primitive.shape[a]) for n, a in zip(shape, axes, strict=True)]
            pairs = list(zip(axes, own, shape, strict=True))
            part = Slice(
                tuple(self.start_indices[a] if kept else 0 for a, kept, _ in pairs),
                tuple(self.limit_indices[a] if kept else n for a, kept, n in pairs),
                tuple(self.steps()[a] if kept else 1 for a, kept, _ in pairs),
            )
            return broadcast_in_dim(
                slice(operand, part.start_indices, part.limit_indices, part.strides),
                self.abstract(aval(x)).shape,
                axes,
            )
        return None

    def fold_derivative(self, args: Sequence[Value], producer: Producer) -> Value | None:
        """An index into a row of x is an index into x."""
        inner = defined_by(args[0], Squeeze, producer)
        if inner is None:
            return None
        squeezed, (x,) = inner
        starts, limits, steps = (
            list(self.start_indices),
            list(self.limit_indices),
            list(self.steps()),
        )
        for axis in sorted(squeezed.dimensions):
            starts.insert(axis, 0)
            limits.insert(axis, 1)
            steps.insert(axis, 1)
        return squeeze(slice(x, tuple(starts), tuple(limits), steps), squeezed.dimensions)


def slice_text(start: Size, limit: Size, step: int, size: Size) -> str:
    """A slice of an axis of a given size, counted from the end where the size is symbolic."""

    def position(index: Size) -> str:
        behind = size - index
        from_end = isinstance(behind, int) and behind > 0 and not isinstance(index, int)
        return f"-{behind}" if from_end else str(index)

    first = "" if same_size(start, 0) else position(start)
    last = "" if same_size(limit, size) else position(limit)
    return f"{first}:{last}" if step == 1 else f"{first}:{last}:{step}"


def slice(
    operand: Value,
    start_indices: Shape,
    limit_indices: Shape,
    strides: Sequence[int] | None = None,
) -> Value:
    """The elements of `operand` from `start_indices` up to `limit_indices`, by positive steps."""
    if not start_indices:
        return operand
    steps = None if strides is None or all(step == 1 for step in strides) else tuple(strides)
    return bind(Slice(tuple(start_indices), tuple(limit_indices), steps), operand)


PaddingConfig: TypeAlias = "tuple[tuple[Size, Size, int], ...]"


@dataclass(frozen=True)
class Pad(Primitive):
    """An array with a given value before, after and between its elements.

    For each axis `padding_config` has how many before the first element, after the last one, and
    between two elements; none is negative.
    """

    padding_config: PaddingConfig

    is_cheap = True
    name = "pad"
    stablehlo = "pad"

    def abstract(self, x: ShapedArray, value: ShapedArray) -> ShapedArray:
        if value.shape or value.dtype != x.dtype or len(self.padding_config) != x.ndim:
            raise TypeError(f"a value of type {x} cannot be padded with {value}")
        shape: list[Size] = []
        for (low, high, between), size in zip(self.padding_config, x.shape, strict=True):
            inside = require_at_least(low, 0, f"{low} >= 0") and require_at_least(
                high, 0, f"{high} >= 0"
            )
            if not inside or between < 0:
                raise TypeError(f"the padding of a value of type {x} is negative")
            gaps = (size - 1) * between if not same_size(size, 0) else 0
            shape.append(low + size + gaps + high)
        return ShapedArray(tuple(shape), x.dtype)

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        y = bind(self, *primals)
        if all(isinstance(t, Zero) for t in tangents):
            return y, Zero(aval(y))
        with phase("tangent"):
            t, t_value = tangents
            number = aval(primals[1]).dtype.type(0) if isinstance(t_value, Zero) else t_value
            return y, bind(self, instantiate(t), number)

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        (ct,), (x, value) = cts, args
        inner = self._inside(ct, aval(x).shape)
        ct_value = None
        if isinstance(value, Linear):
            everything = reduce_sum(ct, range(aval(ct).ndim))
            ct_value = sub(everything, reduce_sum(inner, range(aval(inner).ndim)))
        return [inner if isinstance(x, Linear) else None, ct_value]

    def _inside(self, padded: Value, shape: Shape) -> Value:
        """The elements of a padded array that stand where the operand's do."""
        starts = tuple(low for low, _, _ in self.padding_config)
        steps = tuple(between + 1 for _, _, between in self.padding_config)
        limits = tuple(
            start + ((size - 1) * step + 1 if not same_size(size, 0) else 0)
            for start, size, step in zip(starts, shape, steps, strict=True)
        )
        return slice(padded, starts, limits, steps)

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, BatchAxis]:
        (x, value), (x_axis, value_axis) = args, dims
        config = self.padding_config
        if value_axis is None:
            assert x_axis is not None
            return pad(x, value, (*config[:x_axis], (0, 0, 0), *config[x_axis:])), x_axis
        x = move_batch_axis(x, x_axis, 0, size)
        config = ((0, 0, 0), *config)
        padded = pad(x, aval(x).dtype.type(0), config)
        mask = pad(full(aval(x).shape, False, BOOL), True, config)
        return select_n(mask, padded, broadcast_in_dim(value, aval(padded).shape, (0,))), 0

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        text, value = operands
        for axis, (_, _, between) in enumerate(self.padding_config):
            if between:
                size = avals[0].shape[axis]
                places = f"np.repeat(np.arange(1, {size}), {between})"
                text = f"np.insert({text}, {places}, {value}, axis={axis})"
        ends = [(low, high) for low, high, _ in self.padding_config]
        if all(same_size(end, 0) for pair in ends for end in pair):
            return text
        widths = ", ".join(f"({low}, {high})" for low, high in ends)
        widths = f"({widths},)" if len(ends) == 1 else f"({widths})"
        return f"np.pad({text}, {widths}, constant_values={value})"

    def fold(self, args: Sequence[Value], producer: Producer) -> Value | None:
        nothing = all(
            same_size(low, 0) and same_size(high, 0) and between == 0
            for low, high, between in self.padding_config
        )
        return args[0] if nothing else None


def pad(
    operand: Value, padding_value: Value, padding_config: Sequence[tuple[Size, Size, int]]
) -> Value:
    """`operand` with `padding_value` around and between its elements, as `Pad` says."""
    config = tuple((low, high, between) for low, high, between in padding_config)
    dtype = aval(operand).dtype
    if aval(padding_value).weak_type:
        padding_value = dtype.type(padding_value)
    return bind(Pad(config), operand, padding_value)


def index_in_dim(operand: Value, index: int, axis: int) -> Value:
    """The elements of `operand` at `index`, not negative, along an axis that the result lacks."""
    shape = aval(operand).shape
    starts, limits = [0] * len(shape), list(shape)
    starts[axis], limits[axis] = index, index + 1
    return squeeze(slice(operand, tuple(starts), tuple(limits)), [axis])
