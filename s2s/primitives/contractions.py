"""Sums of products: dot_general."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from s2s.ir.dims import Size, require_same
from s2s.ir.jaxpr import ShapedArray
from s2s.primitive import BatchAxis, Linear, Precedence, Primitive, Producer, Value, Zero
from s2s.primitives.arithmetic import is_same, mul
from s2s.primitives.core import (
    BroadcastInDim,
    Transpose,
    broadcast_in_dim,
    defined_by,
    reduce_sum,
    transpose,
)
from s2s.primitives.families import add_any
from s2s.trace import aval, bind, phase, scalar

Axes: TypeAlias = "tuple[int, ...]"
DotDimensionNumbers: TypeAlias = "tuple[tuple[Axes, Axes], tuple[Axes, Axes]]"
"""((contracted axes of x, of y), (batch axes of x, of y))."""


@dataclass(frozen=True)
class DotGeneral(Primitive):
    """The sum of products of x and y over the contracted axes, for each index of the batch axes.

    The axes of the result are the batch axes, then the free axes of x, then those of y.
    """

    dimension_numbers: DotDimensionNumbers

    name = "dot_general"
    precedence = Precedence.PRODUCT
    stablehlo = "dot_general"

    def abstract(self, x: ShapedArray, y: ShapedArray) -> ShapedArray:
        (x_sum, y_sum), (x_batch, y_batch) = self.dimension_numbers
        fits = x.dtype == y.dtype and all(
            require_same(x.shape[a], y.shape[b])
            for a, b in zip((*x_sum, *x_batch), (*y_sum, *y_batch), strict=True)
        )
        if not fits:
            raise TypeError(f"values of types {x} and {y} cannot be multiplied as matrices")
        x_free, y_free = self.free(x.ndim, y.ndim)
        shape = (
            *[x.shape[a] for a in x_batch],
            *[x.shape[a] for a in x_free],
            *[y.shape[a] for a in y_free],
        )
        return ShapedArray(shape, x.dtype)

    def free(self, x_rank: int, y_rank: int) -> tuple[list[int], list[int]]:
        """The axes of x and of y that are neither contracted nor batch axes."""
        (x_sum, y_sum), (x_batch, y_batch) = self.dimension_numbers
        return (
            [a for a in range(x_rank) if a not in x_sum and a not in x_batch],
            [a for a in range(y_rank) if a not in y_sum and a not in y_batch],
        )

    def printed_parameters(self) -> Mapping[str, Any]:
        (x_sum, y_sum), (x_batch, y_batch) = self.dimension_numbers
        lists = (list(x_sum), list(y_sum)), (list(x_batch), list(y_batch))
        return {"dimension_numbers": lists}

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        (x, y), (t_x, t_y) = primals, tangents
        z = bind(self, x, y)
        with phase("tangent"):
            zero = Zero(aval(z))
            if is_same(x, y) and not isinstance(t_x, Zero) and self._is_square(aval(x)):
                return z, mul(scalar(2.0, aval(z)), bind(self, x, t_x))
            return z, add_any(
                zero if isinstance(t_x, Zero) else bind(self, t_x, y),
                zero if isinstance(t_y, Zero) else bind(self, x, t_y),
            )

    def _is_square(self, x: ShapedArray) -> bool:
        """Whether the product of a value and itself is a sum of squares: `x @ x`."""
        (x_sum, y_sum), (x_batch, y_batch) = self.dimension_numbers
        return x_sum == y_sum and x_batch == y_batch and len(x_sum) + len(x_batch) == x.ndim

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        (ct,), (x, y) = cts, args
        (x_sum, y_sum), (x_batch, y_batch) = self.dimension_numbers
        x_free, y_free = self.free(aval(x).ndim, aval(y).ndim)
        batch = tuple(range(len(x_batch)))
        behind = len(batch) + len(x_free)
        if isinstance(x, Linear):
            ct_y_free = tuple(range(behind, behind + len(y_free)))
            result = dot_general(ct, y, ((ct_y_free, tuple(y_free)), (batch, y_batch)))
            summed = [a for _, a in sorted(zip(y_sum, x_sum, strict=True))]
            return [_put_back(result, [*x_batch, *x_free, *summed]), None]
        ct_x_free = tuple(range(len(batch), behind))
        result = dot_general(x, ct, ((tuple(x_free), ct_x_free), (x_batch, batch)))
        summed = [b for _, b in sorted(zip(x_sum, y_sum, strict=True))]
        return [None, _put_back(result, [*y_batch, *summed, *y_free])]

    def exchanged(self, x: ShapedArray, y: ShapedArray) -> tuple[DotGeneral, tuple[int, ...]]:
        """The product of y and x, and which permutation of its axes gives that of x and y."""
        (x_sum, y_sum), (x_batch, y_batch) = self.dimension_numbers
        x_free, y_free = map(len, self.free(x.ndim, y.ndim))
        batch, behind = range(len(x_batch)), len(x_batch) + y_free
        permutation = (*batch, *range(behind, behind + x_free), *range(len(x_batch), behind))
        return DotGeneral(((y_sum, x_sum), (y_batch, x_batch))), permutation

    def swapped(self, operands: Sequence[Value], permutation: tuple[int, ...]) -> Value | None:
        """The product with its result's axes permuted, if exchanging the operands gives that."""
        x, y = operands
        other, own = self.exchanged(aval(x), aval(y))
        inverse = tuple(own.index(axis) for axis in range(len(own)))
        return bind(other, y, x) if permutation == inverse else None

    def fold(self, args: Sequence[Value], producer: Producer) -> Value | None:
        """A matrix that is a transpose is read along its other axis."""
        (x_sum, y_sum), (x_batch, y_batch) = self.dimension_numbers
        x, x_sum = _untransposed(args[0], x_sum, x_batch, producer)
        y, y_sum = _untransposed(args[1], y_sum, y_batch, producer)
        if x is args[0] and y is args[1]:
            return None
        return dot_general(x, y, ((x_sum, y_sum), (x_batch, y_batch)))

    def fold_derivative(self, args: Sequence[Value], producer: Producer) -> Value | None:
        """A product with an array whose elements are all the same is a sum."""
        (x, y), (sums, batches) = args, self.dimension_numbers
        x_free, y_free = self.free(aval(x).ndim, aval(y).ndim)
        shape = self.abstract(aval(x), aval(y)).shape
        for filled, other, axes, own in (
            (x, y, sums[1], [*batches[1], *[None] * len(x_free), *y_free]),
            (y, x, sums[0], [*batches[0], *x_free]),
        ):
            found = defined_by(filled, BroadcastInDim, producer)
            kept = [axis for axis in range(aval(other).ndim) if axis not in axes]
            places = [own.index(axis) for axis in kept]
            is_filled = found is not None and not found[0].broadcast_dimensions
            if found is not None and is_filled and places == sorted(places):
                total = mul(found[1][0], reduce_sum(other, sorted(axes)))
                return broadcast_in_dim(total, shape, places)
        return None

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, BatchAxis]:
        (x, y), (x_axis, y_axis) = args, dims
        (x_sum, y_sum), (x_batch, y_batch) = self.dimension_numbers
        x_free, y_free = self.free(
            aval(x).ndim - (x_axis is not None), aval(y).ndim - (y_axis is not None)
        )
        x_sum, x_batch = _shifted(x_sum, x_axis), _shifted(x_batch, x_axis)
        y_sum, y_batch = _shifted(y_sum, y_axis), _shifted(y_batch, y_axis)
        if x_axis is not None and y_axis is not None:
            batch = ((x_axis, *x_batch), (y_axis, *y_batch))
            return dot_general(x, y, ((x_sum, y_sum), batch)), 0
        # The batch axis of one operand is one more free axis of it.
        if x_axis is not None:
            before = sum(axis < x_axis for axis in _shifted(x_free, x_axis))
            return dot_general(x, y, ((x_sum, y_sum), (x_batch, y_batch))), len(x_batch) + before
        assert y_axis is not None
        if not y_free:
            return dot_general(y, x, ((y_sum, x_sum), (y_batch, x_batch))), len(x_batch)
        before = sum(axis < y_axis for axis in _shifted(y_free, y_axis))
        result = dot_general(x, y, ((x_sum, y_sum), (x_batch, y_batch)))
        return result, len(x_batch) + len(x_free) + before

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        x, y = (f"({text})" if not text.isidentifier() else text for text in operands)
        ranks = avals[0].ndim, avals[1].ndim
        (x_sum, y_sum), (x_batch, y_batch) = self.dimension_numbers
        if x_batch:
            stacked = x_batch == y_batch == tuple(range(len(x_batch)))
            if stacked and len(x_sum) == 1 and ranks == (len(x_batch) + 2,) * 2:
                # NumPy multiplies stacks of matrices as it does here, to the last bit.
                x += "" if x_sum[0] == ranks[0] - 1 else ".mT"
                return f"{x} @ {y}" + ("" if y_sum[0] == ranks[1] - 2 else ".mT")
            return self._einsum(operands, ranks)
        if not x_sum:
            outer = "np.outer" if ranks == (1, 1) else "np.multiply.outer"
            return f"{outer}({operands[0]}, {operands[1]})"
        if len(x_sum) == 1 and ranks[1] <= 2:
            if x_sum == (ranks[0] - 1,):
                return f"{x} @ {y}" if y_sum == (0,) else f"{x} @ {y}.T"
            if ranks == (2, 1):
                return f"{y} @ {x}"
            if ranks == (2, 2):
                return f"{x}.T @ {y}" if y_sum == (0,) else f"{x}.T @ {y}.T"
        axes = (x_sum[0], y_sum[0]) if len(x_sum) == 1 else (x_sum, y_sum)
        return f"np.tensordot({operands[0]}, {operands[1]}, axes={axes})"

    def _einsum(self, operands: Sequence[str], ranks: tuple[int, int]) -> str:
        (x_sum, y_sum), (x_batch, y_batch) = self.dimension_numbers
        x_free, y_free = self.free(*ranks)
        letters = iter("abcdefghijklmnopqrstuvwxyz")
        x_text, y_text = [""] * ranks[0], [""] * ranks[1]
        for a, b in zip((*x_batch, *x_sum), (*y_batch, *y_sum), strict=True):
            x_text[a] = y_text[b] = next(letters)
        for a in x_free:
            x_text[a] = next(letters)
        for b in y_free:
            y_text[b] = next(letters)
        result = [x_text[a] for a in (*x_batch, *x_free)] + [y_text[b] for b in y_free]
        formula = f"{''.join(x_text)},{''.join(y_text)}->{''.join(result)}"
        return f'np.einsum("{formula}", {operands[0]}, {operands[1]})'


def _shifted(axes: Sequence[int], new: BatchAxis) -> Axes:
    """Axes of an operand after a new axis was put in at `new`."""
    return tuple(axes) if new is None else tuple(axis + (axis >= new) for axis in axes)


def _untransposed(matrix: Value, sums: Axes, batch: Axes, producer: Producer) -> tuple[Value, Axes]:
    """What a transposed matrix, or stack of them, is the transpose of, and its axis summed over."""
    rank, depth = aval(matrix).ndim, len(batch)
    if len(sums) != 1 or rank != depth + 2 or batch != tuple(range(depth)):
        return matrix, sums
    found = defined_by(matrix, Transpose, producer)
    if found is None or found[0].permutation != (*range(depth), depth + 1, depth):
        return matrix, sums
    return found[1][0], (2 * depth + 1 - sums[0],)


def _put_back(result: Value, axes: Sequence[int]) -> Value:
    """The axes of `result`, which are `axes` of the wanted array, in the order of that array."""
    return transpose(result, [list(axes).index(axis) for axis in range(len(axes))])


def dot_general(x: Value, y: Value, dimension_numbers: DotDimensionNumbers) -> Value:
    """The sum of products of x and y: `dimension_numbers` are as in `DotGeneral`."""
    (x_sum, y_sum), (x_batch, y_batch) = dimension_numbers
    if aval(x).ndim == 0 or aval(y).ndim == 0:
        return mul(x, y)
    numbers = ((tuple(x_sum), tuple(y_sum)), (tuple(x_batch), tuple(y_batch)))
    return bind(DotGeneral(numbers), x, y)
