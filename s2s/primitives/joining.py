"""Several arrays as one: concatenate and stack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from s2s.ir.dims import Size, require_same
from s2s.ir.jaxpr import ShapedArray
from s2s.primitive import BatchAxis, Linear, Primitive, Producer, Value, Zero
from s2s.primitives.core import instantiate, move_batch_axis
from s2s.primitives.layout import index_in_dim, slice
from s2s.trace import aval, bind, phase


@dataclass(frozen=True)
class Concatenate(Primitive):
    """The operands one after the other along the axis `dimension`."""

    dimension: int

    is_cheap = True
    name = "concatenate"
    stablehlo = "concatenate"

    def abstract(self, *avals: ShapedArray) -> ShapedArray:
        first, axis = avals[0], self.dimension
        total: Size = 0
        for x in avals:
            fits = x.ndim == first.ndim and 0 <= axis < x.ndim and x.dtype == first.dtype
            if not fits or not all(
                i == axis or require_same(a, b)
                for i, (a, b) in enumerate(zip(x.shape, first.shape, strict=True))
            ):
                names = " and ".join(map(str, avals))
                raise TypeError(f"values of types {names} cannot be joined along axis {axis}")
            total = total + x.shape[axis]
        shape = (*first.shape[:axis], total, *first.shape[axis + 1 :])
        return ShapedArray(shape, first.dtype)

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        y = bind(self, *primals)
        if all(isinstance(t, Zero) for t in tangents):
            return y, Zero(aval(y))
        with phase("tangent"):
            return y, bind(self, *map(instantiate, tangents))

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        (ct,) = cts
        shape = aval(ct).shape
        results: list[Value] = []
        start: Size = 0
        for x in args:
            limit = start + aval(x).shape[self.dimension]
            if isinstance(x, Linear):
                starts: list[Size] = [0] * len(shape)
                limits = list(shape)
                starts[self.dimension], limits[self.dimension] = start, limit
                results.append(slice(ct, tuple(starts), tuple(limits)))
            else:
                results.append(None)
            start = limit
        return results

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, BatchAxis]:
        batch = next(axis for axis in dims if axis is not None)
        moved = [move_batch_axis(x, axis, batch, size) for x, axis in zip(args, dims, strict=True)]
        return bind(Concatenate(self.dimension + (self.dimension >= batch)), *moved), batch

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        axis = f", axis={self.dimension}" if self.dimension else ""
        return f"np.concatenate([{', '.join(operands)}]{axis})"

    def fold(self, args: Sequence[Value], producer: Producer) -> Value | None:
        return args[0] if len(args) == 1 else None


def concatenate(operands: Sequence[Value], dimension: int) -> Value:
    """`operands` one after the other along the axis `dimension`."""
    return operands[0] if len(operands) == 1 else bind(Concatenate(dimension), *operands)


@dataclass(frozen=True)
class Stack(Primitive):
    """The operands, all of one shape, one after the other along a new axis."""

    axis: int

    name = "stack"
    is_cheap = True

    def abstract(self, *avals: ShapedArray) -> ShapedArray:
        first = avals[0]
        for x in avals:
            fits = x.ndim == first.ndim and x.dtype == first.dtype
            if not fits or not all(map(require_same, x.shape, first.shape)):
                raise TypeError(
                    f"values of types {' and '.join(map(str, avals))} cannot be stacked"
                )
        return ShapedArray(
            (*first.shape[: self.axis], len(avals), *first.shape[self.axis :]), first.dtype
        )

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        y = bind(self, *primals)
        if all(isinstance(t, Zero) for t in tangents):
            return y, Zero(aval(y))
        with phase("tangent"):
            return y, bind(self, *map(instantiate, tangents))

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        return [
            index_in_dim(cts[0], position, self.axis) if isinstance(x, Linear) else None
            for position, x in enumerate(args)
        ]

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, BatchAxis]:
        batch = next(axis for axis in dims if axis is not None)
        moved = [move_batch_axis(x, axis, batch, size) for x, axis in zip(args, dims, strict=True)]
        if self.axis <= batch:
            return bind(self, *moved), batch + 1
        return bind(Stack(self.axis + 1), *moved), batch

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        items = f"[{', '.join(operands)}]"
        if avals[0].shape:
            axis = f", axis={self.axis}" if self.axis else ""
            return f"np.stack({items}{axis})"
        usual = avals[0].dtype.name in ("float64", "int64", "bool")
        return f"np.array({items})" if usual else f"np.array({items}, dtype=np.{avals[0].dtype})"


def stack(operands: Sequence[Value], axis: int = 0) -> Value:
    """`operands`, all of one shape, one after the other along a new axis."""
    return bind(Stack(axis), *operands)
