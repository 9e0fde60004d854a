"""Reductions over axes: products, extrema, any and all, and where the extrema stand.

reduce_sum, which the rules of all families use, is in `core`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from s2s.ir.dims import Size, known_at_least, same_size
from s2s.ir.dtypes import INT64, DType
from s2s.ir.jaxpr import ShapedArray
from s2s.primitive import Value, Zero
from s2s.primitives.arithmetic import div, mul
from s2s.primitives.core import (
    AxesReduction,
    broadcast_in_dim,
    convert_element_type,
    reduce_sum,
    sum_dtype,
)
from s2s.primitives.cumulative import cumprod
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
    if same_size(shape[axis], 0):
        return x
    one = aval(x).dtype.type(1)
    if not known_at_least(shape[axis], 1):
        # There may be no elements, of which none can be left out.
        before, after = (_shifted(x, axis, ends, one) for ends in ((1, 0), (0, 1)))
        return mul(cumprod(before, axis), cumprod(after, axis, reverse=True))
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


def _shifted(x: Value, axis: int, ends: tuple[int, int], filler: Value) -> Value:
    """The elements one place on or back along an axis."""
    shape = aval(x).shape
    config: list[tuple[Size, Size, int]] = [(0, 0, 0)] * len(shape)
    config[axis] = (*ends, 0)
    starts = tuple(ends[1] if a == axis else 0 for a in range(len(shape)))
    limits = tuple(map(lambda start, size: start + size, starts, shape))
    return slice(pad(x, filler, config), starts, limits)


def reduce_max(operand: Value, axes: Sequence[int]) -> Value:
    """The largest element of `operand` over `axes`."""
    return bind(ReduceMax(tuple(axes)), operand) if axes else operand


def reduce_min(operand: Value, axes: Sequence[int]) -> Value:
    """The smallest element of `operand` over `axes`."""
    return bind(ReduceMin(tuple(axes)), operand) if axes else operand


def reduce_prod(operand: Value, axes: Sequence[int]) -> Value:
    """The product of `operand` over `axes`."""
    return bind(ReduceProd(tuple(axes)), operand) if axes else operand


# -- any and all ----------------------------------------------------------------------------------


class BooleanReduction(AxesReduction):
    """Whether elements are true."""

    def abstract(self, x: ShapedArray) -> ShapedArray:
        if x.dtype.kind != "b":
            raise TypeError(f"{self.name} of a value of type {x}, which is not boolean")
        return super().abstract(x)


@dataclass(frozen=True)
class ReduceAnd(BooleanReduction):
    """Whether all elements over `axes` are true."""

    axes: tuple[int, ...]

    name = "reduce_and"
    numpy = "np.all"


@dataclass(frozen=True)
class ReduceOr(BooleanReduction):
    """Whether any element over `axes` is true."""

    axes: tuple[int, ...]

    name = "reduce_or"
    numpy = "np.any"


def reduce_and(operand: Value, axes: Sequence[int]) -> Value:
    """Whether all elements of `operand` over `axes` are true."""
    return bind(ReduceAnd(tuple(axes)), operand) if axes else operand


def reduce_or(operand: Value, axes: Sequence[int]) -> Value:
    """Whether any element of `operand` over `axes` is true."""
    return bind(ReduceOr(tuple(axes)), operand) if axes else operand


# -- where the extrema stand ----------------------------------------------------------------------


class IndexOfExtremum(AxesReduction):
    """The index of the first largest or smallest element along one axis."""

    axes: tuple[int, ...]
    index_dtype: DType

    def dtype(self, dtype: DType) -> DType:
        return self.index_dtype

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        z = bind(self, *primals)
        return z, Zero(aval(z))

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        axis = "" if avals[0].ndim == 1 else f", axis={self.axes[0]}"
        text = f"{self.numpy}({operands[0]}{axis})"
        if self.index_dtype == INT64:
            return text
        return f"np.asarray({text}, dtype=np.{self.index_dtype.name})"


@dataclass(frozen=True)
class ArgMax(IndexOfExtremum):
    """The index of the first largest element along one axis."""

    axes: tuple[int, ...]
    index_dtype: DType = INT64

    name = "argmax"
    numpy = "np.argmax"


@dataclass(frozen=True)
class ArgMin(IndexOfExtremum):
    """The index of the first smallest element along one axis."""

    axes: tuple[int, ...]
    index_dtype: DType = INT64

    name = "argmin"
    numpy = "np.argmin"


def argmax(operand: Value, axis: int, index_dtype: DType = INT64) -> Value:
    """The index of the first largest element of `operand` along `axis`."""
    return bind(ArgMax((axis,), np.dtype(index_dtype)), operand)


def argmin(operand: Value, axis: int, index_dtype: DType = INT64) -> Value:
    """The index of the first smallest element of `operand` along `axis`."""
    return bind(ArgMin((axis,), np.dtype(index_dtype)), operand)
