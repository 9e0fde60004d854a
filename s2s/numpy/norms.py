"""Norms of vectors and matrices, and condition numbers.

With NumPy's steps in NumPy's order, so that their values are NumPy's to the last bit, but for the
2-norm of an array that is not row-major in memory, since NumPy sums in memory order, and for what
is made of singular values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s.ir.dims import product
from s2s.ir.dtypes import FLOAT64
from s2s.numpy.arguments import as_axes
from s2s.numpy.arithmetic import absolute, divide, multiply
from s2s.numpy.elementary import sqrt
from s2s.numpy.indexing import getitem
from s2s.numpy.linalg import inv, matrices
from s2s.numpy.powers import power
from s2s.numpy.promotion import array_operand, aval_of_operand, convert, shape_of
from s2s.numpy.reductions import max as greatest, min as least, sum as total, with_kept_axes
from s2s.numpy.registry import counterpart, mistake
from s2s.numpy.shaping import moveaxis, with_axes
from s2s.primitive import Value
from s2s.primitives import functions as lax


@counterpart(np.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Value:
    """The norm of vectors (of order 1, 2, inf, -inf, 0 or a number), or of matrices ('fro', 1, inf,
    -inf, -1, 2, -2, 'nuc')."""
    value = array_operand(x, "np.linalg.norm")
    if aval_of_operand(value).dtype.kind in "biu":
        value = convert(value, FLOAT64)
    shape = shape_of(value)
    if axis is None and (
        ord is None or (ord in ("f", "fro") and len(shape) == 2) or (ord == 2 and len(shape) == 1)
    ):
        flat = lax.reshape(value, (product(shape),))
        result = sqrt(lax.dot_general(flat, flat, (((0,), (0,)), ((), ()))))
        return with_kept_axes(result, tuple(range(len(shape))), keepdims)
    axes = as_axes(axis, len(shape), "np.linalg.norm")
    if len(axes) == 1:
        return _vector_norm(value, ord, axes, keepdims)
    if len(axes) == 2:
        return _matrix_norm(value, ord, axes, keepdims)
    raise mistake("np.linalg.norm is of vectors or of matrices; give one axis or two")


def _vector_norm(value: Value, order: Any, axes: tuple[int, ...], keepdims: Any) -> Value:
    if order is None or (not isinstance(order, str) and order == 2):
        return sqrt(total(multiply(value, value), axes, keepdims=keepdims))
    if isinstance(order, str):
        raise mistake(f"np.linalg.norm: {order!r} is not a norm of vectors")
    if order == np.inf:
        return greatest(absolute(value), axes, keepdims=keepdims)
    if order == -np.inf:
        return least(absolute(value), axes, keepdims=keepdims)
    dtype = aval_of_operand(value).dtype
    if order == 0:
        nonzero = convert(lax.ne(value, dtype.type(0)), dtype)
        return total(nonzero, axes, keepdims=keepdims)
    if order == 1:
        return total(absolute(value), axes, keepdims=keepdims)
    summed = total(power(absolute(value), order), axes, keepdims=keepdims)
    return power(summed, np.reciprocal(order, dtype=dtype))


def _matrix_norm(value: Value, order: Any, axes: tuple[int, ...], keepdims: Any) -> Value:
    if order in (None, "fro", "f"):
        return sqrt(total(multiply(value, value), axes, keepdims=keepdims))
    if order in (2, -2, "nuc"):
        return _norm_of_singular_values(value, order, axes, keepdims)
    row, column = axes
    summed, compared = (row, column) if order in (1, -1) else (column, row)
    if isinstance(order, str) or order not in (1, -1, np.inf, -np.inf):
        raise mistake(f"np.linalg.norm: {order!r} is not a norm of matrices")
    sums = total(absolute(value), summed, keepdims=True)
    result = (greatest if order > 0 else least)(sums, compared, keepdims=True)
    return result if keepdims else lax.squeeze(result, tuple(sorted(axes)))


def _norm_of_singular_values(
    value: Value, order: Any, axes: tuple[int, ...], keepdims: Any
) -> Value:
    _, s, _ = lax.svd(matrices(moveaxis(value, axes, (-2, -1)), "np.linalg.norm"))
    # They come in descending order.
    result = total(s, -1) if order == "nuc" else getitem(s, (..., 0 if order > 0 else -1))
    return with_axes(result, tuple(sorted(axes))) if keepdims else result


@counterpart(np.linalg.vector_norm)
def vector_norm(x: Any, *, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> Value:
    """The norm of vectors; without an axis, of all elements as one vector."""
    value = array_operand(x, "np.linalg.vector_norm")
    rank = len(shape_of(value))
    if axis is None:
        flat = lax.reshape(value, (product(shape_of(value)),))
        return with_kept_axes(norm(flat, ord, 0), tuple(range(rank)), keepdims)
    axes = as_axes(axis, rank, "np.linalg.vector_norm")
    if len(axes) != 1:
        raise mistake("np.linalg.vector_norm over several axes is not supported; reshape to one")
    return norm(value, ord, axes[0], keepdims)


@counterpart(np.linalg.matrix_norm)
def matrix_norm(x: Any, *, keepdims: Any = False, ord: Any = "fro") -> Value:
    """The norm of the matrices over the last two axes."""
    return norm(x, ord, (-2, -1), keepdims)


@counterpart(np.linalg.cond)
def cond(x: Any, p: Any = None) -> Value:
    """The condition numbers of matrices: their norm times that of their inverse."""
    value = matrices(x, "np.linalg.cond")
    if p is None or (not isinstance(p, str) and p in (2, -2)):
        _, s, _ = lax.svd(value)
        ends = getitem(s, (..., 0)), getitem(s, (..., -1))
        return divide(*(ends if p != -2 else reversed(ends)))
    return multiply(norm(value, p, (-2, -1)), norm(inv(value), p, (-2, -1)))
