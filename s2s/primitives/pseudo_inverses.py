"""Pseudo-inverses and least squares, for matrices whose rank does not change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from s2s.ir.dims import Shape, Size
from s2s.ir.jaxpr import ShapedArray
from s2s.primitive import BatchAxis, Value, Zero
from s2s.primitives.arithmetic import div, mul, sub
from s2s.primitives.core import broadcast_in_dim, move_batch_axis, times_size
from s2s.primitives.decompositions import larger, svd
from s2s.primitives.families import add_any
from s2s.primitives.inverses import LinearSystem, difference
from s2s.primitives.logic import le, select_n
from s2s.primitives.matrices import LinearAlgebra, along_rows, matmul, mT
from s2s.primitives.reductions import reduce_max
from s2s.trace import aval, bind, phase, scalar

PINV_LIMIT = 1e-15
"""What np.linalg.pinv takes for zero: singular values of less than this times the largest."""


@dataclass(frozen=True)
class Pinv(LinearAlgebra):
    """The pseudo-inverse p of matrices, where their rank does not change.

    p' = -p a' p + p p^T a'^T (1 - a p) + (1 - p a) a'^T p^T p; Golub & Pereyra, "The
    differentiation of pseudo-inverses and nonlinear least squares problems whose variables
    separate" (1973), equation 4.12.
    """

    name = "pinv"
    numpy = "np.linalg.pinv({0})"

    def abstract(self, a: ShapedArray) -> ShapedArray:
        stack, rows, columns = self.shape(a)
        return ShapedArray((*stack, columns, rows), a.dtype)

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        (a,), (t,) = primals, tangents
        p = bind(self, a)
        with phase("tangent"):
            along = matmul(matmul(p, mT(p)), mT(t))
            across = matmul(mT(t), matmul(mT(p), p))
            outside = sub(along, matmul(along, matmul(a, p)))
            within = sub(across, matmul(matmul(p, a), across))
            return p, add_any(sub(outside, matmul(matmul(p, t), p)), within)

    def composition(self, *operands: Value) -> Value:
        u, s, vh = svd(operands[0])
        weights = _reciprocals(s, PINV_LIMIT)
        return matmul(mT(vh), mul(mT(u), along_rows(weights, mT(u))))


@dataclass(frozen=True)
class Lstsq(LinearSystem):
    """The x of least magnitude that makes `a @ x - b` least, where the rank of a does not change.

    With p the pseudo-inverse of a and r = b - a x, from the derivative of p:
    x' = p (b' - a' x) + p p^T a'^T r + (1 - p a) a'^T p^T x.
    """

    name = "lstsq"
    numpy = "np.linalg.lstsq({0}, {1})[0]"

    def system(self, a: ShapedArray) -> tuple[Shape, Size, Size]:
        if a.ndim != 2:
            self.refuse(a, " of one matrix")
        return self.shape(a)

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        (a, b), (t_a, t_b) = primals, tangents
        x = bind(self, a, b)
        with phase("tangent"):
            p = pinv(a)
            t = matmul(p, difference(t_a, x, t_b))
            if isinstance(t_a, Zero):
                return x, t
            residual = sub(b, matmul(a, x))
            across = matmul(mT(t_a), matmul(mT(p), x))
            t = add_any(t, matmul(p, matmul(mT(p), matmul(mT(t_a), residual))))
            return x, add_any(t, sub(across, matmul(p, matmul(a, across))))

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        return [None, matmul(mT(pinv(args[0])), cts[0])]

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, BatchAxis]:
        if dims[0] is None:
            return super().batch(size, args, dims)
        # NumPy has it for one matrix only.
        a, b = (move_batch_axis(x, axis, 0, size) for x, axis in zip(args, dims, strict=True))
        return matmul(pinv(a), b), 0

    def composition(self, *operands: Value) -> Value:
        a, b = operands
        u, s, vh = svd(a)
        longer = times_size(scalar(np.finfo(aval(a).dtype).eps, aval(a)), larger(*aval(a).shape))
        parts = matmul(mT(u), b)
        weights = broadcast_in_dim(_reciprocals(s, longer), aval(parts).shape, (0,))
        return matmul(mT(vh), mul(parts, weights))


def _reciprocals(s: Value, limit: Value) -> Value:
    """1 / s, and zero where s is at most `limit` times the largest."""
    axis = aval(s).ndim - 1
    largest = broadcast_in_dim(reduce_max(s, (axis,)), aval(s).shape, tuple(range(axis)))
    is_zero = le(s, mul(largest, limit))
    return select_n(is_zero, div(1.0, select_n(is_zero, s, 1.0)), 0.0)


def pinv(a: Value) -> Value:
    """The pseudo-inverses of matrices."""
    return bind(Pinv(), a)


def lstsq(a: Value, b: Value) -> Value:
    """The solution of least squares of `a @ x = b`, for a matrix or a vector b."""
    return bind(Lstsq(), a, b)
