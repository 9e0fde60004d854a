"""Values made from sizes alone: iota, empty and dim_as_value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from s2s.ir.dims import Dim, Shape, Size
from s2s.ir.dtypes import INT64, DType
from s2s.ir.jaxpr import ShapedArray
from s2s.primitive import Primitive, Producer, Value
from s2s.primitives.core import shape_text
from s2s.trace import bind


@dataclass(frozen=True)
class Iota(Primitive):
    """0, 1, 2, ... along the axis `dimension` of an array of shape `shape`."""

    dtype: DType
    shape: Shape
    dimension: int

    is_cheap = True
    name = "iota"
    stablehlo = "iota"

    def abstract(self, *avals: ShapedArray) -> ShapedArray:
        return ShapedArray(self.shape, self.dtype)

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        dtype = "" if self.dtype == np.int64 else f", dtype=np.{self.dtype.name}"
        text = f"np.arange({self.shape[self.dimension]}{dtype})"
        if len(self.shape) == 1:
            return text
        index = [":", *["None"] * (len(self.shape) - 1 - self.dimension)]
        column = text if len(index) == 1 else f"{text}[{', '.join(index)}]"
        return f"np.broadcast_to({column}, {shape_text(self.shape)})"


def iota(dtype: DType, shape: Shape | Size, dimension: int = 0) -> Value:
    """0, 1, 2, ... along the axis `dimension` of an array of shape `shape`, or of a given size."""
    sizes = shape if isinstance(shape, tuple) else (shape,)
    return bind(Iota(np.dtype(dtype), sizes, dimension))


broadcasted_iota = iota


@dataclass(frozen=True)
class Empty(Primitive):
    """A value that nothing reads, of the given type."""

    dtype: DType
    shape: Shape

    is_cheap = True
    name = "empty"

    def abstract(self, *avals: ShapedArray) -> ShapedArray:
        return ShapedArray(self.shape, self.dtype)

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        return f"np.zeros({shape_text(self.shape)}, dtype=np.{self.dtype.name})"


@dataclass(frozen=True)
class DimAsValue(Primitive):
    """A dimension as a value: a Python int."""

    dim: Size

    is_cheap = True
    name = "dim_as_value"

    def abstract(self, *avals: ShapedArray) -> ShapedArray:
        return ShapedArray((), INT64, weak_type=True)

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        text = str(self.dim)
        return text if text.isidentifier() or text.isdecimal() else f"({text})"

    def fold(self, args: Sequence[Value], producer: Producer) -> Value | None:
        return self.dim if isinstance(self.dim, int) else None


def dim_as_value(dim: Size) -> Value:
    """A dimension as a value: a Python int, traced where the dimension has a name."""
    return bind(DimAsValue(dim)) if isinstance(dim, Dim) else dim
