"""Evenly spaced numbers between two others: linspace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from s2s.ir.dims import Size, same_size
from s2s.ir.dtypes import DType
from s2s.ir.jaxpr import ShapedArray
from s2s.primitive import BatchAxis, Linear, Primitive, Value, Zero
from s2s.primitives.arithmetic import add, div, max, mul, sub
from s2s.primitives.core import (
    broadcast_in_dim,
    convert_element_type,
    instantiate,
    move_batch_axis,
    reduce_sum,
)
from s2s.primitives.creation import dim_as_value, iota
from s2s.primitives.families import harmonized
from s2s.primitives.logic import eq, select_n
from s2s.trace import aval, bind, phase


@dataclass(frozen=True)
class Linspace(Primitive):
    """`num` numbers from start on in equal steps, the last one being stop with `endpoint`."""

    num: Size
    endpoint: bool = True

    name = "linspace"

    def abstract(self, start: ShapedArray, stop: ShapedArray) -> ShapedArray:
        if start.shape or stop.shape or start.dtype != stop.dtype or start.dtype.kind != "f":
            raise TypeError(f"linspace is between two real numbers, not {start} and {stop}")
        return ShapedArray((self.num,), start.dtype)

    def steps(self, dtype: DType) -> Value:
        """The number of steps from start to stop, but at least 1."""
        steps = self.num - 1 if self.endpoint else self.num
        if isinstance(steps, int):
            return dtype.type(steps or 1)
        return max(convert_element_type(dim_as_value(steps), dtype), dtype.type(1))

    def composed(self, start: Value, stop: Value, batch: Sequence[Size] = ()) -> Value:
        """The result by arithmetic; start and stop have the shape `batch`, or are of rank 0."""
        dtype = aval(start).dtype
        shape = (*batch, self.num)
        places = iota(dtype, shape, len(batch))
        steps = self.steps(dtype)
        step = div(sub(stop, start), steps)
        start, stop, step = (
            broadcast_in_dim(x, shape, range(len(batch))) if aval(x).shape else x
            for x in (start, stop, step)
        )
        result = add(mul(places, step), start)
        # Of a single number, the place is 0, which is start.
        last = self.endpoint and not same_size(self.num, 1)
        return select_n(eq(places, steps), result, stop) if last else result

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        y = bind(self, *primals)
        if all(isinstance(t, Zero) for t in tangents):
            return y, Zero(aval(y))
        with phase("tangent"):
            return y, bind(self, *map(instantiate, tangents))

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        (ct,), (start, stop) = cts, args
        dtype = aval(ct).dtype
        share = mul(ct, div(iota(dtype, self.num), self.steps(dtype)))
        ct_stop = reduce_sum(share, [0])
        ct_start = sub(reduce_sum(ct, [0]), ct_stop) if isinstance(start, Linear) else None
        return [ct_start, ct_stop if isinstance(stop, Linear) else None]

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, BatchAxis]:
        ends = [move_batch_axis(x, axis, 0, size) for x, axis in zip(args, dims, strict=True)]
        return self.composed(*ends, batch=(size,)), 0

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        endpoint = "" if self.endpoint else ", endpoint=False"
        dtype = "" if avals[0].dtype == np.float64 else f", dtype=np.{avals[0].dtype.name}"
        return f"np.linspace({operands[0]}, {operands[1]}, {self.num}{endpoint}{dtype})"


def linspace(start: Value, stop: Value, num: Size, *, endpoint: bool = True) -> Value:
    """`num` evenly spaced numbers from `start` to `stop`, two real numbers of one type."""
    return bind(Linspace(num, endpoint), *harmonized([start, stop]))
