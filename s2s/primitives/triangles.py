"""The two triangles of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from s2s.ir.dims import Size
from s2s.ir.dtypes import INT64
from s2s.ir.jaxpr import ShapedArray
from s2s.primitive import BatchAxis, Producer, Value
from s2s.primitives.core import Structural, broadcast_in_dim, defined_by, move_batch_axis
from s2s.primitives.creation import broadcasted_iota
from s2s.primitives.logic import ge, select_n
from s2s.trace import aval, bind


class Triangle(Structural):
    """The elements on one side of diagonal `k` and on it, in matrices over the last two axes."""

    k: int

    def abstract(self, x: ShapedArray) -> ShapedArray:
        if x.ndim < 2:
            raise TypeError(f"a value of type {x} is no matrix, so it has no triangles")
        return ShapedArray(x.shape, x.dtype)

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        return [bind(self, cts[0])]

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, BatchAxis]:
        return bind(self, move_batch_axis(args[0], dims[0], 0)), 0

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        return (
            f"{self.numpy}({operands[0]}, {self.k})" if self.k else f"{self.numpy}({operands[0]})"
        )

    def fold(self, args: Sequence[Value], producer: Producer) -> Value | None:
        inner = defined_by(args[0], type(self), producer)
        if inner is None:
            return None
        primitive, (x,) = inner
        return bind(replace(cast(Any, self), k=self.narrower(primitive.k)), x)

    def narrower(self, k: int) -> int:
        """The diagonal at which both this triangle and that of diagonal `k` end."""
        self.missing("fold")

    def where_below(self, x: Value, k: int, inside: Value, outside: Value) -> Value:
        """`inside` on the diagonal `k` of x and below it, else `outside`."""
        shape = aval(x).shape
        matrix = shape[-2:]
        rows, columns = (broadcasted_iota(INT64, matrix, axis) for axis in (0, 1))
        # The numbers of the rows, moved so that the diagonal `k` is the main one.
        mask = ge(rows + k if k else rows, columns)
        mask = broadcast_in_dim(mask, shape, (len(shape) - 2, len(shape) - 1))
        return select_n(mask, outside, inside)


@dataclass(frozen=True)
class Tril(Triangle):
    """The elements on the diagonal `k` and below, zeros above."""

    k: int = 0

    name = "tril"
    numpy = "np.tril"

    def fold(self, args: Sequence[Value], producer: Producer) -> Value | None:
        eqn = producer(args[0])
        if self.k >= 0 and eqn is not None and eqn.primitive.name == "cholesky":
            return args[0]  # has zeros above the diagonal
        return super().fold(args, producer)

    def narrower(self, k: int) -> int:
        return min(self.k, k)

    def composition(self, *operands: Value) -> Value:
        (x,) = operands
        return self.where_below(x, self.k, x, aval(x).dtype.type(0))


@dataclass(frozen=True)
class Triu(Triangle):
    """The elements on the diagonal `k` and above, zeros below."""

    k: int = 0

    name = "triu"
    numpy = "np.triu"

    def narrower(self, k: int) -> int:
        return max(self.k, k)

    def composition(self, *operands: Value) -> Value:
        (x,) = operands
        return self.where_below(x, self.k - 1, aval(x).dtype.type(0), x)


def tril(x: Value, k: int = 0) -> Value:
    """`x` with zeros above the diagonal `k` of its matrices."""
    return bind(Tril(k), x)


def triu(x: Value, k: int = 0) -> Value:
    """`x` with zeros below the diagonal `k` of its matrices."""
    return bind(Triu(k), x)
