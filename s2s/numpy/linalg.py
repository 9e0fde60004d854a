"""np.linalg: systems of equations, inverses, determinants, decompositions.

Integers are converted to float64, as NumPy does. What NumPy reads of a matrix that it takes for
symmetric, one triangle, is what the derivative is of. A singular matrix, or one that is not
positive definite, raises NumPy's LinAlgError when the generated function meets it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2s.ir.dims import Size, product, require_same
from s2s.ir.dtypes import FLOAT64
from s2s.numpy.arguments import as_axes, as_number, shape_text
from s2s.numpy.arithmetic import subtract
from s2s.numpy.broadcasting import common_shape, stretched
from s2s.numpy.creation import eye
from s2s.numpy.elementary import square
from s2s.numpy.linear import matmul
from s2s.numpy.promotion import array_operand, aval_of_operand, convert, promoted, shape_of
from s2s.numpy.reductions import sum as total
from s2s.numpy.registry import counterpart, mistake
from s2s.numpy.shaping import matrix_transpose, moveaxis, with_axes
from s2s.primitive import Value
from s2s.primitives import functions as lax
from s2s.primitives.matrices import DTYPES

_ONE = np.eye(1)
_EighResult: Any = type(np.linalg.eigh(_ONE))
_QRResult: Any = type(np.linalg.qr(_ONE))
_SlogdetResult: Any = type(np.linalg.slogdet(_ONE))
_SVDResult: Any = type(np.linalg.svd(_ONE))


def real(a: Any, function: str) -> Value:
    """An operand in an element type that LAPACK computes with."""
    value = array_operand(a, function)
    dtype = aval_of_operand(value).dtype
    if dtype.kind in "biu":
        return convert(value, FLOAT64)
    if dtype not in DTYPES:
        raise mistake(f"{function} is of float32 or float64; it was given {dtype.name}")
    return value


def matrices(a: Any, function: str) -> Value:
    """An operand as a matrix or a stack of matrices."""
    value = real(a, function)
    if len(shape_of(value)) < 2:
        raise mistake(
            f"{function} needs an array of at least two dimensions; it was given one of shape "
            f"{shape_text(shape_of(value))}"
        )
    return value


def _square(a: Any, function: str) -> Value:
    value = matrices(a, function)
    rows, columns = shape_of(value)[-2:]
    if not require_same(rows, columns):
        raise mistake(
            f"{function} is of square matrices; it was given an array of shape "
            f"{shape_text(shape_of(value))}"
        )
    return value


# -- systems of equations ------------------------------------------------------------------------


@counterpart(np.linalg.solve)
def solve(a: Any, b: Any) -> Value:
    """The x with `a @ x = b`: b is a vector if it has one dimension, else a stack of matrices."""
    x, y = _square(a, "np.linalg.solve"), real(b, "np.linalg.solve")
    dtype = promoted(x, y)
    x, y = convert(x, dtype), convert(y, dtype)
    if not shape_of(y) or not require_same(shape_of(y)[-2:][0], shape_of(x)[-1]):
        raise mistake(
            f"np.linalg.solve: matrices of shape {shape_text(shape_of(x))} do not fit the right "
            f"side of shape {shape_text(shape_of(y))}"
        )
    if len(shape_of(y)) == 1:
        if len(shape_of(x)) == 2:
            return lax.solve(x, y)
        columns = stretched(with_axes(y, (1,)), (*shape_of(x)[:-1], 1))
        return lax.squeeze(lax.solve(x, columns), (len(shape_of(x)) - 1,))
    stack = common_shape("np.linalg.solve", [shape_of(x)[:-2], shape_of(y)[:-2]])
    x = stretched(x, (*stack, *shape_of(x)[-2:]))
    return lax.solve(x, stretched(y, (*stack, *shape_of(y)[-2:])))


@counterpart(np.linalg.inv)
def inv(a: Any) -> Value:
    """The inverses of square matrices."""
    return lax.inv(_square(a, "np.linalg.inv"))


@counterpart(np.linalg.tensorsolve)
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Value:
    """The x with `np.tensordot(a, x, x.ndim) = b`."""
    x, y = real(a, "np.linalg.tensorsolve"), real(b, "np.linalg.tensorsolve")
    if axes is not None:
        moved = as_axes(axes, len(shape_of(x)), "np.linalg.tensorsolve")
        last = len(shape_of(x))
        x = moveaxis(x, moved, tuple(range(last - len(moved), last)))
    unknown = shape_of(x)[len(shape_of(y)) :]
    rows, columns = product(shape_of(y)), product(unknown)
    flat = lax.reshape(x, (rows, columns))
    return lax.reshape(solve(flat, lax.reshape(y, (rows,))), unknown)


@counterpart(np.linalg.tensorinv)
def tensorinv(a: Any, ind: Any = 2) -> Value:
    """The inverse for np.tensordot over the first `ind` axes."""
    value = real(a, "np.linalg.tensorinv")
    count = as_number(ind, "the number of axes of np.linalg.tensorinv")
    if count <= 0:
        raise mistake("np.linalg.tensorinv: the number of axes must be positive")
    before, behind = shape_of(value)[:count], shape_of(value)[count:]
    flat = lax.reshape(value, (product(before), product(behind)))
    return lax.reshape(inv(flat), (*behind, *before))


@counterpart(np.linalg.pinv)
def pinv(a: Any) -> Value:
    """The pseudo-inverses of matrices, with NumPy's limit of what counts as zero.

    The derivative takes the rank for constant.
    """
    return lax.pinv(matrices(a, "np.linalg.pinv"))


class _NotComputed:
    """A result of np.linalg.lstsq that is not computed; using it is an error that says so."""

    def __init__(self, what: str) -> None:
        self.message = (
            f"{what} of np.linalg.lstsq cannot be used under tracing; compute it from the solution "
            "or with np.linalg.svd"
        )

    def __getattr__(self, name: str) -> Any:
        raise mistake(self.message)


def _refuse_use(result: _NotComputed, *args: Any, **kwargs: Any) -> Any:
    raise mistake(result.message)


_OPERATORS = (
    *("array", "array_ufunc", "array_function", "bool", "int", "float", "index", "len", "iter"),
    *("getitem", "eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs", "add", "radd", "sub"),
    *("rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv", "mod", "pow", "rpow", "matmul"),
)
for _operator in _OPERATORS:
    setattr(_NotComputed, f"__{_operator}__", _refuse_use)


@counterpart(np.linalg.lstsq)
def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """The least squares solution for a matrix of full rank, and the sums of squared residuals where
    there are more equations than unknowns; the rank and the singular values are not computed."""
    if rcond is not None:
        raise mistake("np.linalg.lstsq with `rcond` is not supported; leave it out")
    x, y = matrices(a, "np.linalg.lstsq"), real(b, "np.linalg.lstsq")
    dtype = promoted(x, y)
    x, y = convert(x, dtype), convert(y, dtype)
    fits = len(shape_of(x)) == 2 and len(shape_of(y)) in (1, 2)
    if not fits or not require_same(shape_of(x)[0], shape_of(y)[0]):
        raise mistake(
            f"np.linalg.lstsq: a matrix of shape {shape_text(shape_of(x))} does not fit the right "
            f"side of shape {shape_text(shape_of(y))}"
        )
    solution = lax.lstsq(x, y)
    residuals: Any = _NotComputed("the residuals")
    difference = shape_of(x)[0] - shape_of(x)[1]
    if isinstance(difference, int) and difference > 0:
        squares = total(square(subtract(y, matmul(x, solution))), 0)
        residuals = squares if len(shape_of(y)) == 2 else with_axes(squares, (0,))
    others = _NotComputed("the rank"), _NotComputed("the singular values")
    return solution, residuals, *others


# -- determinants --------------------------------------------------------------------------------


@counterpart(np.linalg.det)
def det(a: Any) -> Value:
    """The determinants of square matrices."""
    return lax.det(_square(a, "np.linalg.det"))


@counterpart(np.linalg.slogdet)
def slogdet(a: Any) -> Any:
    """The signs of determinants, and the logarithms of their magnitudes."""
    return _SlogdetResult(*lax.slogdet(_square(a, "np.linalg.slogdet")))


# -- decompositions ------------------------------------------------------------------------------


@counterpart(np.linalg.cholesky)
def cholesky(a: Any, *, upper: Any = False) -> Value:
    """The triangular factors of positive definite matrices, of which one triangle is read."""
    value = _square(a, "np.linalg.cholesky")
    if upper:
        return matrix_transpose(lax.cholesky(matrix_transpose(value)))
    return lax.cholesky(value)


@counterpart(np.linalg.qr)
def qr(a: Any, mode: str = "reduced") -> Any:
    """The factors q and r of matrices: both, or r alone."""
    value = matrices(a, "np.linalg.qr")
    if mode not in ("reduced", "complete", "r"):
        raise mistake(f'np.linalg.qr with mode={mode!r} is not supported; use "reduced" or "r"')
    if mode == "complete" and not require_same(*shape_of(value)[-2:]):
        raise mistake(
            'np.linalg.qr with mode="complete" is not supported for matrices that are not square: '
            'the further columns of q have no derivative. Use mode="reduced"'
        )
    q, r = lax.qr(value)
    return r if mode == "r" else _QRResult(q, r)


def _reads_lower(UPLO: Any, function: str) -> bool:
    if str(UPLO).upper() not in ("L", "U"):
        raise mistake(f"{function}: UPLO must be 'L' or 'U', not {UPLO!r}")
    return str(UPLO).upper() == "L"


@counterpart(np.linalg.eigh)
def eigh(a: Any, UPLO: Any = "L") -> Any:
    """The eigenvalues and eigenvectors of symmetric matrices, of which one triangle is read."""
    lower = _reads_lower(UPLO, "np.linalg.eigh")
    return _EighResult(*lax.eigh(_square(a, "np.linalg.eigh"), lower))


@counterpart(np.linalg.eigvalsh)
def eigvalsh(a: Any, UPLO: Any = "L") -> Value:
    """The eigenvalues of symmetric matrices."""
    lower = _reads_lower(UPLO, "np.linalg.eigvalsh")
    return lax.eigh(_square(a, "np.linalg.eigvalsh"), lower)[0]


@counterpart(np.linalg.svd)
def svd(a: Any, full_matrices: Any = True, compute_uv: Any = True) -> Any:
    """The factors u, s, vh of matrices, or the singular values s alone."""
    value = matrices(a, "np.linalg.svd")
    if compute_uv and full_matrices and not require_same(*shape_of(value)[-2:]):
        raise mistake(
            "np.linalg.svd: the further columns that u or vh has with full_matrices=True, the "
            "default, have no derivative; write full_matrices=False"
        )
    u, s, vh = lax.svd(value)
    return _SVDResult(u, s, vh) if compute_uv else s


@counterpart(np.linalg.svdvals)
def svdvals(x: Any) -> Value:
    """The singular values of matrices, in descending order."""
    return svd(x, compute_uv=False)


# -- products ------------------------------------------------------------------------------------


@counterpart(np.linalg.matrix_power)
def matrix_power(a: Any, n: Any) -> Value:
    """The product of square matrices with themselves, or of their inverses where n is negative."""
    value = array_operand(a, "np.linalg.matrix_power")
    count = as_number(n, "the exponent of np.linalg.matrix_power")
    shape = shape_of(value)
    if len(shape) < 2 or not require_same(*shape[-2:]):
        raise mistake(
            "np.linalg.matrix_power is of square matrices; it was given an array of shape "
            f"{shape_text(shape)}"
        )
    if count == 0:
        return stretched(eye(shape[-1], dtype=aval_of_operand(value).dtype), shape)
    if count < 0:
        value, count = inv(value), -count
    if count == 3:
        return matmul(matmul(value, value), value)
    result: Value | None = None
    while True:
        count, is_odd = divmod(count, 2)
        if is_odd:
            result = value if result is None else matmul(result, value)
        if not count:
            return result
        value = matmul(value, value)


@counterpart(np.linalg.multi_dot)
def multi_dot(arrays: Sequence[Any]) -> Value:
    """The product of several matrices in the order of fewest operations, where their sizes are
    numbers, and from left to right otherwise; the first and the last may be vectors."""
    values = [array_operand(array, "np.linalg.multi_dot") for array in arrays]
    ranks = [len(shape_of(value)) for value in values]
    if len(values) < 2 or any(
        rank not in ((1, 2) if end else (2,))
        for rank, end in zip(ranks, [True, *[False] * (len(values) - 2), True], strict=True)
    ):
        raise mistake("np.linalg.multi_dot is of two or more matrices; the ends may be vectors")
    # Row i of the chain has the sizes[i] rows and sizes[i + 1] columns.
    sizes: list[Size] = [1 if ranks[0] == 1 else shape_of(values[0])[0]]
    sizes += [shape_of(value)[0] for value in values[1:]]
    sizes.append(1 if ranks[-1] == 1 else shape_of(values[-1])[1])
    known = [size for size in sizes if isinstance(size, int)]
    splits = _splits(known) if len(known) == len(sizes) else {}

    def product_of(first: int, last: int) -> Value:
        if first == last:
            return values[first]
        split = splits.get((first, last), last - 1)
        return matmul(product_of(first, split), product_of(split + 1, last))

    return product_of(0, len(values) - 1)


def _splits(sizes: Sequence[int]) -> dict[tuple[int, int], int]:
    """For each run of matrices, after which of them to split its product for least operations.

    Cormen et al., "Introduction to Algorithms", chapter 15.2.
    """
    count = len(sizes) - 1
    costs = {(place, place): 0 for place in range(count)}
    splits: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for first in range(count - length):
            last = first + length
            choices = [
                (
                    costs[first, split]
                    + costs[split + 1, last]
                    + sizes[first] * sizes[split + 1] * sizes[last + 1],
                    split,
                )
                for split in range(first, last)
            ]
            costs[first, last], splits[first, last] = min(choices)
    return splits
