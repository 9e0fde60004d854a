"""The family of the operations of linear algebra, and the products their rules are written with.

Matrices are over the last two axes of an operand; the axes before them number the matrices of a
stack, each of which is treated as if it were alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from s2s.ir.dims import Shape, Size, require_same
from s2s.ir.dtypes import INT64
from s2s.ir.jaxpr import ShapedArray
from s2s.primitive import BatchAxis, Primitive, Value
from s2s.primitives.arithmetic import add, div, mul, sub
from s2s.primitives.contractions import dot_general
from s2s.primitives.core import (
    broadcast_in_dim,
    convert_element_type,
    move_batch_axis,
    reduce_sum,
    transpose,
)
from s2s.primitives.creation import broadcasted_iota
from s2s.primitives.families import add_any
from s2s.primitives.logic import eq
from s2s.primitives.triangles import tril, triu
from s2s.trace import aval, bind

DTYPES = (np.dtype(np.float32), np.dtype(np.float64))
"""The element types that LAPACK computes with, but for the complex ones."""


class LinearAlgebra(Primitive):
    """An operation on stacks of matrices of real numbers."""

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, Any]:
        moved = [move_batch_axis(x, axis, 0, size) for x, axis in zip(args, dims, strict=True)]
        result = bind(self, *moved)
        return result, [0] * len(result) if self.multiple_results else 0

    def shape(self, x: ShapedArray) -> tuple[Shape, Size, Size]:
        """The axes before the matrices, and the rows and columns of these."""
        if x.ndim < 2 or x.dtype not in DTYPES:
            self.refuse(x)
        return x.shape[:-2], x.shape[-2], x.shape[-1]

    def square(self, x: ShapedArray) -> tuple[Shape, Size]:
        """The axes before the matrices, and the size of these, which are square."""
        stack, rows, columns = self.shape(x)
        if not require_same(rows, columns):
            self.refuse(x, " of square matrices")
        return stack, rows

    def refuse(self, x: ShapedArray, of: str = " of matrices of float32 or float64") -> NoReturn:
        """Raise the error for an operand that does not fit."""
        raise TypeError(f"{self.name} is{of}; it was given a value of type {x}")


def mT(x: Value) -> Value:
    """The transposes of the matrices of a stack."""
    rank = aval(x).ndim
    return transpose(x, (*range(rank - 2), rank - 1, rank - 2))


def matmul(x: Value, y: Value) -> Value:
    """The products of the matrices of two stacks, or of those of a stack and a stack of vectors."""
    rank = aval(x).ndim
    stack = tuple(range(rank - 2))
    return dot_general(x, y, (((rank - 1,), (rank - 2,)), (stack, stack)))


def symmetric(x: Value, lower: bool = True) -> Value:
    """The symmetric matrices that have the lower (or the upper) triangles of given ones."""
    if lower:
        return add_any(tril(x), mT(tril(x, -1)))
    return add_any(triu(x), mT(triu(x, 1)))


def identity_like(x: Value) -> Value:
    """The identity matrices of the type of a stack of square matrices."""
    shape, dtype = aval(x).shape, aval(x).dtype
    rank = len(shape)
    rows, columns = (broadcasted_iota(INT64, shape[-2:], axis) for axis in (0, 1))
    identity = convert_element_type(eq(rows, columns), dtype)
    return broadcast_in_dim(identity, shape, (rank - 2, rank - 1))


def inverse_gaps(x: Value) -> Value:
    """For numbers x, all different, the matrix of 1 / (x[j] - x[i]), with zeros on its diagonal."""
    own = aval(x).shape
    shape = (*own, own[-1])
    rank = len(shape)
    columns = broadcast_in_dim(x, shape, (*range(rank - 2), rank - 1))
    rows = broadcast_in_dim(x, shape, tuple(range(rank - 1)))
    gaps = sub(columns, rows)
    identity = identity_like(gaps)
    return sub(div(1.0, add(gaps, identity)), identity)


def inner(x: Value, y: Value) -> Value:
    """The sum of the products of the elements, for each pair of matrices of two stacks."""
    rank = aval(x).ndim
    return reduce_sum(mul(x, y), (rank - 2, rank - 1))


def along_columns(scales: Value, x: Value) -> Value:
    """Numbers for the columns of matrices, as large as these: `scales[..., None, :]`."""
    rank = aval(x).ndim
    return broadcast_in_dim(scales, aval(x).shape, (*range(rank - 2), rank - 1))


def along_rows(scales: Value, x: Value) -> Value:
    """Numbers for the rows of matrices, as large as these: `scales[..., :, None]`."""
    return broadcast_in_dim(scales, aval(x).shape, tuple(range(aval(x).ndim - 1)))
