"""Products of vectors, matrices and tensors.

Sums of products are added in an order that the linear algebra library chooses. It is the same
order as in the NumPy call, but for np.dot, np.inner and np.tensordot of arrays of more than two
dimensions, np.vdot, np.vecdot and np.einsum, whose last bits may differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from s2s.ir.dims import Shape, Size, require_same, same_size
from s2s.ir.dtypes import PYTHON_SCALARS
from s2s.ir.jaxpr import Literal
from s2s.numpy.arguments import as_axes, as_axis, as_number, shape_text
from s2s.numpy.arithmetic import multiply, subtract
from s2s.numpy.broadcasting import common_shape, stretched
from s2s.numpy.creation import counted, on_diagonal
from s2s.numpy.indexing import getitem
from s2s.numpy.joining import stack
from s2s.numpy.promotion import array_operand, convert, promoted, shape_of
from s2s.numpy.reductions import sum as total
from s2s.numpy.registry import counterpart, mistake
from s2s.numpy.shaping import moveaxis, ravel, with_axes
from s2s.primitive import Value
from s2s.primitives import functions as lax
from s2s.trace import Tracer


def _operands(function: str, *args: Any) -> list[Value]:
    """The operands as arrays of one element type."""
    values = [array_operand(arg, function) for arg in args]
    dtype = promoted(*values)
    return [convert(value, dtype) for value in values]


def _require_equal(function: str, x: Value, y: Value, a: int, b: int) -> None:
    if not require_same(shape_of(x)[a], shape_of(y)[b]):
        raise mistake(
            f"{function}: shapes {shape_text(shape_of(x))} and {shape_text(shape_of(y))} do not "
            f"match: {shape_of(x)[a]} (axis {a}) and {shape_of(y)[b]} (axis {b})"
        )


def contracted(x: Value, y: Value, x_axes: Sequence[int], y_axes: Sequence[int]) -> Value:
    """The sum of products over pairs of axes."""
    return lax.dot_general(x, y, ((tuple(x_axes), tuple(y_axes)), ((), ())))


def infix_matmul(x: Any, y: Any) -> Value:
    """`x @ y`, where one of the two is traced."""
    for value in (x, y):
        if type(value) in PYTHON_SCALARS or (
            not isinstance(value, (Tracer, np.ndarray, np.generic, list, tuple, Literal))
        ):
            return NotImplemented
    return matmul(x, y)


@counterpart(np.matmul, np.linalg.matmul)
def matmul(x1: Any, x2: Any) -> Value:
    """The matrix product over the last two axes; the other axes are broadcast."""
    x, y = _operands("np.matmul", x1, x2)
    rank_x, rank_y = len(shape_of(x)), len(shape_of(y))
    if not rank_x or not rank_y:
        raise mistake("np.matmul needs arrays of at least one dimension; use * for numbers")
    last, first = rank_x - 1, max(rank_y - 2, 0)
    _require_equal("np.matmul", x, y, last, first)
    if rank_y <= 2:
        return contracted(x, y, (last,), (first,))
    if rank_x == 1:
        # The vector is summed over with each matrix of the stack.
        return contracted(y, x, (first,), (0,))
    batch = common_shape("np.matmul", [shape_of(x)[:-2], shape_of(y)[:-2]])
    x = stretched(x, (*batch, *shape_of(x)[-2:]))
    y = stretched(y, (*batch, *shape_of(y)[-2:]))
    shared = tuple(range(len(batch)))
    numbers = (((len(batch) + 1,), (len(batch),)), (shared, shared))
    return lax.dot_general(x, y, numbers)


@counterpart(np.dot)
def dot(a: Any, b: Any) -> Value:
    """The sum of products over the last axis of `a` and the last but one (or only) axis of `b`."""
    x, y = _operands("np.dot", a, b)
    rank_x, rank_y = len(shape_of(x)), len(shape_of(y))
    if not rank_x or not rank_y:
        return multiply(x, y)
    last, first = rank_x - 1, max(rank_y - 2, 0)
    _require_equal("np.dot", x, y, last, first)
    return contracted(x, y, (last,), (first,))


@counterpart(np.inner)
def inner(a: Any, b: Any) -> Value:
    """The sum of products over the last axes."""
    x, y = _operands("np.inner", a, b)
    rank_x, rank_y = len(shape_of(x)), len(shape_of(y))
    if not rank_x or not rank_y:
        return multiply(x, y)
    _require_equal("np.inner", x, y, rank_x - 1, rank_y - 1)
    return contracted(x, y, (rank_x - 1,), (rank_y - 1,))


@counterpart(np.vdot)
def vdot(a: Any, b: Any) -> Value:
    """The sum of products of all elements."""
    x, y = (ravel(value) for value in _operands("np.vdot", a, b))
    _require_equal("np.vdot", x, y, 0, 0)
    return contracted(x, y, (0,), (0,))


@counterpart(np.vecdot, np.linalg.vecdot)
def vecdot(x1: Any, x2: Any, *, axis: Any = -1) -> Value:
    """The sum of products along one axis; the other axes are broadcast."""
    x, y = _operands("np.vecdot", x1, x2)
    x, y = moveaxis(x, axis, -1), moveaxis(y, axis, -1)
    _require_equal("np.vecdot", x, y, len(shape_of(x)) - 1, len(shape_of(y)) - 1)
    shape = common_shape("np.vecdot", [shape_of(x), shape_of(y)])
    shared = tuple(range(len(shape) - 1))
    summed = (len(shape) - 1,)
    return lax.dot_general(
        stretched(x, shape), stretched(y, shape), ((summed, summed), (shared, shared))
    )


@counterpart(np.outer, np.linalg.outer)
def outer(a: Any, b: Any) -> Value:
    """The products of each element of `a` with each of `b`, as a matrix."""
    x, y = ravel(a), ravel(b)
    return multiply(with_axes(x, (1,)), with_axes(y, (0,)))


@counterpart(np.tensordot, np.linalg.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Value:
    """The sum of products over the last axes of `a` and the first of `b`, or over given pairs."""
    x, y = _operands("np.tensordot", a, b)
    rank_x, rank_y = len(shape_of(x)), len(shape_of(y))
    if not isinstance(axes, (tuple, list)):
        count = as_number(axes, "the number of axes of np.tensordot")
        x_axes, y_axes = tuple(range(rank_x - count, rank_x)), tuple(range(count))
    else:
        first, second = cast("Sequence[Any]", axes)
        x_axes = as_axes(first, rank_x, "np.tensordot")
        y_axes = as_axes(second, rank_y, "np.tensordot")
    if len(x_axes) != len(y_axes) or len(x_axes) > min(rank_x, rank_y):
        raise mistake("np.tensordot: the arrays are summed over different numbers of axes")
    for a_axis, b_axis in zip(x_axes, y_axes, strict=True):
        _require_equal("np.tensordot", x, y, a_axis, b_axis)
    return contracted(x, y, x_axes, y_axes)


@counterpart(np.kron)
def kron(a: Any, b: Any) -> Value:
    """Each element of `a` replaced by that element times `b`."""
    x, y = array_operand(a, "np.kron"), array_operand(b, "np.kron")
    rank = max(len(shape_of(x)), len(shape_of(y)))
    if not shape_of(x) or not shape_of(y):
        return multiply(x, y)
    x = with_axes(x, tuple(range(rank - len(shape_of(x)))))
    y = with_axes(y, tuple(range(rank - len(shape_of(y)))))
    shape: Shape = tuple(m * n for m, n in zip(shape_of(x), shape_of(y), strict=True))
    x = with_axes(x, tuple(range(1, 2 * rank, 2)))
    y = with_axes(y, tuple(range(0, 2 * rank, 2)))
    return lax.reshape(multiply(x, y), shape)


@counterpart(np.cross)
def cross(
    a: Any, b: Any, axisa: Any = -1, axisb: Any = -1, axisc: Any = -1, axis: Any = None
) -> Value:
    """The vector product of vectors of three elements along an axis."""
    if axis is not None:
        axisa = axisb = axisc = axis
    x = moveaxis(array_operand(a, "np.cross"), axisa, -1)
    y = moveaxis(array_operand(b, "np.cross"), axisb, -1)
    if not (require_same(shape_of(x)[-1], 3) and require_same(shape_of(y)[-1], 3)):
        raise mistake("np.cross is of vectors of three elements")
    dtype = promoted(x, y)
    x0, x1, x2 = _components(convert(x, dtype))
    y0, y1, y2 = _components(convert(y, dtype))
    parts = [
        subtract(multiply(x1, y2), multiply(x2, y1)),
        subtract(multiply(x2, y0), multiply(x0, y2)),
        subtract(multiply(x0, y1), multiply(x1, y0)),
    ]
    rank = len(shape_of(parts[0])) + 1
    return stack(parts, axis=as_axis(axisc, rank, "np.cross"))


@counterpart(np.linalg.cross)
def _cross_along(x1: Any, x2: Any, *, axis: Any = -1) -> Value:
    """The vector product of vectors of three elements along an axis."""
    return cross(x1, x2, axis=axis)


def _components(value: Value) -> list[Value]:
    return [getitem(value, (..., place)) for place in range(3)]


# -- parts of matrices -----------------------------------------------------------------------------


@counterpart(np.diagonal)
def diagonal(a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Value:
    """The elements on a diagonal of two axes, along a new last axis."""
    value = array_operand(a, "np.diagonal")
    rank = len(shape_of(value))
    if rank < 2:
        raise mistake("np.diagonal needs an array of at least two dimensions")
    first, second = as_axis(axis1, rank, "np.diagonal"), as_axis(axis2, rank, "np.diagonal")
    k = as_number(offset, "the offset of np.diagonal")
    value = moveaxis(value, (first, second), (-2, -1))
    size, width = shape_of(value)[-2:]
    rows = columns = counted((_diagonal_length(size, width, k),), 0)
    return getitem(value, (..., rows - k if k < 0 else rows, columns + k if k > 0 else columns))


def _diagonal_length(rows: Size, columns: Size, k: int) -> Size:
    rows, columns = rows - max(-k, 0), columns - max(k, 0)
    if isinstance(rows, int) and isinstance(columns, int):
        return max(min(rows, columns), 0)
    if same_size(rows, columns):
        return rows
    return rows if rows <= columns else columns


@counterpart(np.trace)
def trace(a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None) -> Value:
    """The sum of a diagonal of two axes."""
    return total(diagonal(a, offset, axis1, axis2), -1, dtype)


@counterpart(np.linalg.diagonal)
def _last_diagonal(x: Any, *, offset: Any = 0) -> Value:
    """The elements on a diagonal of the last two axes."""
    return diagonal(x, offset, -2, -1)


@counterpart(np.linalg.trace)
def _last_trace(x: Any, *, offset: Any = 0, dtype: Any = None) -> Value:
    """The sum of a diagonal of the last two axes."""
    return trace(x, offset, -2, -1, dtype)


@counterpart(np.diag)
def diag(v: Any, k: Any = 0) -> Value:
    """The diagonal of a matrix, or the matrix with a vector on a diagonal and zeros elsewhere."""
    value = array_operand(v, "np.diag")
    shape = shape_of(value)
    if len(shape) == 2:
        return diagonal(value, k)
    if len(shape) != 1:
        raise mistake("np.diag needs an array of one or two dimensions")
    offset = as_number(k, "the diagonal of np.diag")
    size = shape[0] + abs(offset)
    dtype = promoted(value)
    # The vector stands in the rows from -offset on.
    before, after = max(-offset, 0), max(offset, 0)
    padded = lax.pad(value, dtype.type(0), [(before, after, 0)]) if offset else value
    spread = lax.broadcast_in_dim(padded, (size, size), (0,))
    return lax.select_n(on_diagonal(size, size, offset), dtype.type(0), spread)


@counterpart(np.diagflat)
def diagflat(v: Any, k: Any = 0) -> Value:
    """The matrix with all elements on a diagonal and zeros elsewhere."""
    return diag(ravel(v), k)


def _triangle(m: Any, k: Any, function: str, keep_below: bool) -> Value:
    value = array_operand(m, function)
    shape = shape_of(value)
    if not shape:
        raise mistake(f"{function} needs an array of at least one dimension")
    if len(shape) == 1:
        # NumPy makes each row of the result of the vector.
        value = stretched(value, (*shape, *shape))
        shape = shape_of(value)
    triangle = lax.tril if keep_below else lax.triu
    return triangle(value, as_number(k, f"the diagonal of {function}"))


@counterpart(np.tril)
def tril(m: Any, k: Any = 0) -> Value:
    """The elements on and below the diagonal `k`, zeros above."""
    return _triangle(m, k, "np.tril", keep_below=True)


@counterpart(np.triu)
def triu(m: Any, k: Any = 0) -> Value:
    """The elements on and above the diagonal `k`, zeros below."""
    return _triangle(m, k, "np.triu", keep_below=False)
