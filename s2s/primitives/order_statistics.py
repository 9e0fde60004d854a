"""Medians and quantiles: numbers between two elements that stand side by side in order."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from s2s.ir.dims import Dim, Size, floor_divide
from s2s.ir.dtypes import FLOAT64, INT64, DType
from s2s.ir.jaxpr import ShapedArray
from s2s.primitive import BatchAxis, Primitive, Value, Zero
from s2s.primitives.arithmetic import add, div, floor, min as least, mul, sub
from s2s.primitives.core import convert_element_type
from s2s.primitives.creation import broadcasted_iota, dim_as_value
from s2s.primitives.indexing import take_at
from s2s.primitives.joining import stack
from s2s.primitives.layout import index_in_dim
from s2s.primitives.logic import ne, select_n
from s2s.primitives.sorting import argsort, sort
from s2s.trace import aval, bind, phase

Rank = Any
"""Which element in order: a size, or a traced integer."""


class OrderStatistic(Primitive):
    """A number for each place of the other axes, found between two elements along `axis`.

    Where a NaN is among the elements, the result is NaN too.
    """

    axis: int

    def abstract(self, x: ShapedArray) -> ShapedArray:
        if not 0 <= self.axis < x.ndim or x.dtype.kind not in "iuf":
            raise TypeError(f"{self.name} along axis {self.axis} of a value of type {x}")
        rest = (*x.shape[: self.axis], *x.shape[self.axis + 1 :])
        return ShapedArray((*self.leading(), *rest), self.dtype(x.dtype))

    def leading(self) -> tuple[int, ...]:
        """The axes of the result that stand in front."""
        return ()

    def dtype(self, dtype: DType) -> DType:
        """The element type that NumPy gives the result."""
        return np.median(np.zeros(1, dtype)).dtype

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        (x,), (t,) = primals, tangents
        z = bind(self, x)
        if isinstance(t, Zero):
            return z, Zero(aval(z))
        with phase("tangent"):
            order = argsort(x, self.axis)
            return z, self._combined(lambda k: self._element(t, order, k), aval(x).shape[self.axis])

    def composition(self, *operands: Value) -> Value:
        (x,) = operands
        in_order = convert_element_type(sort(x, self.axis), self.dtype(aval(x).dtype))
        size = aval(x).shape[self.axis]
        last = self._at(in_order, size - 1)
        result = self._combined(lambda k: self._at(in_order, k), size)
        return select_n(ne(last, last), result, last) if not self.leading() else result

    def _combined(self, element: Callable[[Rank], Value], size: Size) -> Value:
        """The result, given the elements in order."""
        self.missing("jvp")

    def _at(self, x: Value, k: Rank) -> Value:
        """The elements at one index along the axis."""
        if isinstance(k, (int, Dim)):
            return index_in_dim(x, cast(int, k), self.axis)
        return take_at(x, (self.axis,), [k])

    def _element(self, t: Value, order: Value, k: Rank) -> Value:
        """The tangents of the elements that are at index `k` in order."""
        places = self._at(order, k)
        shape = aval(places).shape
        indices = [broadcasted_iota(INT64, shape, axis) for axis in range(len(shape))]
        indices.insert(self.axis, places)
        return take_at(t, range(len(indices)), indices)

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, BatchAxis]:
        (x,), (batch,) = args, dims
        assert batch is not None
        axis = self.axis + (self.axis >= batch)
        place = batch - (axis < batch) + len(self.leading())
        return bind(replace(cast(Any, self), axis=axis), x), place

    def _axis_text(self, x: ShapedArray) -> str:
        return "" if x.ndim == 1 else f", axis={self.axis}"


@dataclass(frozen=True)
class Median(OrderStatistic):
    """The median along `axis`: the element in the middle, or the mean of the two that are."""

    axis: int

    name = "median"

    def _combined(self, element: Callable[[Rank], Value], size: Size) -> Value:
        lower, upper = floor_divide(size - 1, 2), floor_divide(size, 2)
        if isinstance(size, int) and lower == upper:
            return element(lower)
        x, y = element(lower), element(upper)
        return div(add(x, y), 2.0)

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        return f"np.median({operands[0]}{self._axis_text(avals[0])})"


@dataclass(frozen=True)
class Quantile(OrderStatistic):
    """The quantile `q` along `axis`, between elements in proportion; of several q, along a new
    first axis."""

    q: float | tuple[float, ...]
    axis: int

    name = "quantile"

    def leading(self) -> tuple[int, ...]:
        return (len(self.q),) if isinstance(self.q, tuple) else ()

    def dtype(self, dtype: DType) -> DType:
        q = list(self.q) if isinstance(self.q, tuple) else self.q
        return np.quantile(np.zeros(1, dtype), q).dtype

    def _combined(self, element: Callable[[Rank], Value], size: Size) -> Value:
        if isinstance(self.q, tuple):
            return stack([self._one(q, element, size) for q in self.q], 0)
        return self._one(self.q, element, size)

    def _one(self, q: float, element: Callable[[Rank], Value], size: Size) -> Value:
        if isinstance(size, int):
            place = (size - 1) * q
            lower = math.floor(place)
            fraction = place - lower
            if fraction == 0.0:
                return element(lower)
            return self._between(element(lower), element(lower + 1), fraction)
        last = sub(dim_as_value(size), 1)
        place = mul(convert_element_type(last, FLOAT64), q)
        lower = floor(place)
        first = convert_element_type(lower, INT64)
        second = least(add(first, 1), convert_element_type(last, INT64))
        return self._between(element(first), element(second), sub(place, lower))

    def _between(self, x: Value, y: Value, fraction: Value) -> Value:
        dtype = aval(x).dtype
        if not isinstance(fraction, float):
            fraction = convert_element_type(fraction, dtype)
        return add(x, mul(sub(y, x), fraction))

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        q = list(self.q) if isinstance(self.q, tuple) else self.q
        return f"np.quantile({operands[0]}, {q}{self._axis_text(avals[0])})"


def median(operand: Value, axis: int = 0) -> Value:
    """The median of `operand` along `axis`."""
    return bind(Median(axis), operand)


def quantile(operand: Value, q: float | tuple[float, ...], axis: int = 0) -> Value:
    """The quantile, or quantiles, `q` of `operand` along `axis`, between 0 and 1."""
    return bind(Quantile(q, axis), operand)
