"""Running reductions along one axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from s2s.ir.dtypes import INT64, DType
from s2s.ir.jaxpr import ShapedArray
from s2s.primitive import Precedence, Value, Zero
from s2s.primitives.contractions import dot_general
from s2s.primitives.core import Structural, broadcast_in_dim, move_axis, sum_dtype
from s2s.primitives.creation import broadcasted_iota
from s2s.primitives.indexing import take_at
from s2s.primitives.logic import eq, ge, le, select_n
from s2s.primitives.structural import AlongAxis
from s2s.trace import aval, bind, phase


class Cumulative(AlongAxis):
    """A running reduction along `axis`, from its end with `reverse`."""

    axis: int
    reverse: bool

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        axis = f", axis={self.axis}" if avals[0].ndim > 1 else ""
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

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        (x,), (t,) = primals, tangents
        z = bind(self, x)
        if isinstance(t, Zero):
            return z, Zero(aval(z))
        with phase("tangent"):
            return z, self._tangent(t, x)

    def _tangent(self, t: Value, x: Value) -> Value:
        # The derivative of result j by element i is the product up to j without x[i]. The axes i
        # and j stand side by side: this is quadratic in the length, but right for zeros.
        axis, shape = self.axis, aval(x).shape
        size = shape[axis]
        square = (*shape[:axis], size, *shape[axis:])
        elements = broadcast_in_dim(x, square, [a for a in range(len(square)) if a != axis])
        i, j = broadcasted_iota(INT64, square, axis), broadcasted_iota(INT64, square, axis + 1)
        products = cumprod(select_n(eq(i, j), elements, 1), axis + 1, self.reverse)
        counted = ge(i, j) if self.reverse else le(i, j)
        weights = select_n(counted, 0, products)
        others = [a for a in range(len(shape)) if a != axis]
        others_squared = [a for a in range(len(square)) if a not in (axis, axis + 1)]
        numbers = (((axis,), (axis,)), (tuple(others), tuple(others_squared)))
        return move_axis(dot_general(t, weights, numbers), len(shape) - 1, axis)


class CumulativeExtremum(Cumulative):
    """A running extremum; of equal elements, the derivative is that of the one met last."""

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        (x,), (t,) = primals, tangents
        z = bind(self, x)
        if isinstance(t, Zero):
            return z, Zero(aval(z))
        with phase("tangent"):
            shape = aval(x).shape
            places = broadcasted_iota(INT64, shape, self.axis)
            # The place of the element that each result is equal to.
            if self.reverse:
                never = np.iinfo(np.int64).max
                found = cummin(select_n(eq(x, z), never, places), self.axis, reverse=True)
            else:
                found = cummax(select_n(eq(x, z), 0, places), self.axis)
            indices = [
                found if axis == self.axis else broadcasted_iota(INT64, shape, axis)
                for axis in range(len(shape))
            ]
            return z, take_at(t, range(len(shape)), indices)


@dataclass(frozen=True)
class CumMax(CumulativeExtremum):
    """The running maximum along `axis`."""

    axis: int
    reverse: bool = False

    name = "cummax"
    numpy = "np.maximum.accumulate"


@dataclass(frozen=True)
class CumMin(CumulativeExtremum):
    """The running minimum along `axis`."""

    axis: int
    reverse: bool = False

    name = "cummin"
    numpy = "np.minimum.accumulate"


def cumsum(operand: Value, axis: int = 0, reverse: bool = False) -> Value:
    """The running sum of `operand` along `axis`."""
    return bind(CumSum(axis, reverse), operand)


def cumprod(operand: Value, axis: int = 0, reverse: bool = False) -> Value:
    """The running product of `operand` along `axis`."""
    return bind(CumProd(axis, reverse), operand)


def cummax(operand: Value, axis: int = 0, reverse: bool = False) -> Value:
    """The running maximum of `operand` along `axis`."""
    return bind(CumMax(axis, reverse), operand)


def cummin(operand: Value, axis: int = 0, reverse: bool = False) -> Value:
    """The running minimum of `operand` along `axis`."""
    return bind(CumMin(axis, reverse), operand)
