"""Reductions over axes and along one axis. reduce_sum is in `core`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from s2s.ir.dims import Size
from s2s.ir.dtypes import BOOL, DType
from s2s.ir.jaxpr import ShapedArray
from s2s.primitive import BatchAxis, Precedence, Primitive, Value, Zero
from s2s.primitives.arithmetic import div, mul
from s2s.primitives.core import (
    AxesReduction,
    Structural,
    broadcast_in_dim,
    convert_element_type,
    reduce_sum,
    sum_dtype,
)
from s2s.primitives.layout import pad, slice
from s2s.primitives.logic import eq
from s2s.trace import aval, bind, phase


class NonlinearReduction(AxesReduction):
    """A reduction whose tangent is the sum of t times a weight of each element."""

    def weight(self, x: Value, z: Value) -> Value:
        """The derivative of the result by each element."""
        self.missing("weight")

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        (x,), (t,) = primals, tangents
        z = bind(self, x)
        if isinstance(t, Zero):
            return z, Zero(aval(z))
        with phase("tangent"):
            return z, reduce_sum(mul(t, self.weight(x, z)), self.axes)

    def spread(self, z: Value, like: Value) -> Value:
        """A result repeated along the axes that were reduced."""
        shape = aval(like).shape
        return broadcast_in_dim(z, shape, [a for a in range(len(shape)) if a not in self.axes])


class ReduceExtremum(NonlinearReduction):
    """The largest or smallest element over `axes`; elements that are equal share the derivative."""

    def weight(self, x: Value, z: Value) -> Value:
        hit = convert_element_type(eq(x, self.spread(z, x)), aval(x).dtype)
        return div(hit, self.spread(reduce_sum(hit, self.axes), x))


@dataclass(frozen=True)
class ReduceMax(ReduceExtremum):
    """The largest element over `axes`; elements that are equal share the derivative."""

    axes: tuple[int, ...]

    name = "reduce_max"
    numpy = "np.max"


@dataclass(frozen=True)
class ReduceMin(ReduceExtremum):
    """The smallest element over `axes`; elements that are equal share the derivative."""

    axes: tuple[int, ...]

    name = "reduce_min"
    numpy = "np.min"


@dataclass(frozen=True)
class ReduceProd(NonlinearReduction):
    """The product over `axes`; its derivative is right where elements are zero."""

    axes: tuple[int, ...]

    name = "reduce_prod"
    numpy = "np.prod"

    def dtype(self, dtype: DType) -> DType:
        return sum_dtype(dtype)

    def weight(self, x: Value, z: Value) -> Value:
        """The product of the other elements: those before it times those behind it."""
        if not self.axes:
            return aval(x).dtype.type(1)
        axis = self.axes[-1]
        others = _product_of_others(x, axis)
        if len(self.axes) == 1:
            return others
        inner, outer = ReduceProd((axis,)), ReduceProd(self.axes[:-1])
        rows = bind(inner, x)
        return mul(others, inner.spread(outer.weight(rows, z), x))


def _product_of_others(x: Value, axis: int) -> Value:
    shape = aval(x).shape
    one = aval(x).dtype.type(1)
    starts: list[Size] = [0] * len(shape)
    nothing: list[tuple[Size, Size, int]] = [(0, 0, 0)] * len(shape)
    before_end = (*shape[:axis], shape[axis] - 1, *shape[axis + 1 :])
    before = pad(
        slice(x, tuple(starts), before_end), one, [*nothing[:axis], (1, 0, 0), *nothing[axis + 1 :]]
    )
    starts[axis] = 1
    after = pad(
        slice(x, tuple(starts), shape), one, [*nothing[:axis], (0, 1, 0), *nothing[axis + 1 :]]
    )
    return mul(cumprod(before, axis), cumprod(after, axis, reverse=True))


def reduce_max(operand: Value, axes: Sequence[int]) -> Value:
    """The largest element of `operand` over `axes`."""
    return bind(ReduceMax(tuple(axes)), operand) if axes else operand


def reduce_min(operand: Value, axes: Sequence[int]) -> Value:
    """The smallest element of `operand` over `axes`."""
    return bind(ReduceMin(tuple(axes)), operand) if axes else operand


def reduce_prod(operand: Value, axes: Sequence[int]) -> Value:
    """The product of `operand` over `axes`."""
    return bind(ReduceProd(tuple(axes)), operand) if axes else operand


# -- along one axis -------------------------------------------------------------------------------


class Cumulative(Primitive):
    """A running reduction along `axis`, from its end with `reverse`."""

    axis: int
    reverse: bool

    def abstract(self, x: ShapedArray) -> ShapedArray:
        if not 0 <= self.axis < x.ndim:
            raise TypeError(f"{self.name} along axis {self.axis} of a value of type {x}")
        return ShapedArray(x.shape, self.dtype(x.dtype))

    def dtype(self, dtype: DType) -> DType:
        """The element type of the result."""
        return dtype

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, BatchAxis]:
        (x,), (batch,) = args, dims
        assert batch is not None
        axis = self.axis + (self.axis >= batch)
        return bind(type(self)(axis, self.reverse), x), batch  # type: ignore[call-arg]

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        axis = "" if avals[0].ndim == 1 and "accumulate" not in self.numpy else f", axis={self.axis}"
        if not self.reverse:
            return f"{self.numpy}({operands[0]}{axis})"
        index = ", ".join([":"] * self.axis + ["::-1"])
        return f"{self.numpy}({operands[0]}[{index}]{axis})[{index}]"

    def operand_precedence(self, position: int) -> Precedence:
        return Precedence.ATOM if self.reverse else Precedence.CONDITIONAL


@dataclass(frozen=True)
class CumSum(Cumulative, Structural):
    """The running sum along `axis`."""

    axis: int
    reverse: bool = False

    is_cheap = False
    name = "cumsum"
    numpy = "np.cumsum"

    def dtype(self, dtype: DType) -> DType:
        return sum_dtype(dtype)

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        return [cumsum(cts[0], self.axis, not self.reverse)]


@dataclass(frozen=True)
class CumProd(Cumulative):
    """The running product along `axis`; its derivative is right where elements are zero."""

    axis: int
    reverse: bool = False

    name = "cumprod"
    numpy = "np.cumprod"

    def dtype(self, dtype: DType) -> DType:
        return sum_dtype(dtype)


def cumsum(operand: Value, axis: int = 0, reverse: bool = False) -> Value:
    """The running sum of `operand` along `axis`."""
    return bind(CumSum(axis, reverse), operand)


def cumprod(operand: Value, axis: int = 0, reverse: bool = False) -> Value:
    """The running product of `operand` along `axis`."""
    return bind(CumProd(axis, reverse), operand)
