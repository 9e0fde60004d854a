"""The traced counterparts of functions of `scipy.linalg`, written out in those of `np.linalg`.

The generated module needs NumPy only. What SciPy reads of a matrix, one triangle, is what the
derivative is of. Whether arguments are checked or overwritten makes no difference.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from s2s.ir.dims import require_same
from s2s.numpy import linalg, norms
from s2s.numpy.arguments import shape_text
from s2s.numpy.creation import eye, zeros
from s2s.numpy.joining import block
from s2s.numpy.promotion import array_operand, aval_of_operand, convert, promoted, shape_of
from s2s.numpy.registry import counterpart, mistake, refuse
from s2s.numpy.shaping import matrix_transpose
from s2s.primitive import Value
from s2s.primitives import functions as lax
from s2s.trace import Tracer

scipy: Any = importlib.import_module("scipy.linalg")
"""SciPy itself, which has no types."""


def _matrix(a: Any, function: str) -> Value:
    """An operand as one square matrix."""
    value = linalg.matrices(a, function)
    shape = shape_of(value)
    if len(shape) != 2 or not require_same(*shape):
        raise mistake(f"{function} is of a square matrix; it was given {shape_text(shape)}")
    return value


# -- triangular matrices --------------------------------------------------------------------------

_TRANSPOSITIONS = {0: False, "N": False, 1: True, "T": True, 2: True, "C": True}


@counterpart(scipy.solve_triangular)
def solve_triangular(
    a: Any,
    b: Any,
    trans: Any = 0,
    lower: Any = False,
    unit_diagonal: Any = False,
    *,
    overwrite_b: Any = False,
    check_finite: Any = True,
) -> Value:
    """The x with `a @ x = b` for the triangle of `a` that is read."""
    value = _matrix(a, "scipy.linalg.solve_triangular")
    if unit_diagonal:
        inside = lax.tril(value, -1) if lower else lax.triu(value, 1)
        value = inside + eye(shape_of(value)[0], dtype=aval_of_operand(value).dtype)
    else:
        value = lax.tril(value) if lower else lax.triu(value)
    return _solved(value, b, bool(lower), _TRANSPOSITIONS[trans], "scipy.linalg.solve_triangular")


def _solved(a: Value, b: Any, lower: bool, transpose: bool, function: str) -> Value:
    right = linalg.real(b, function)
    shape = shape_of(right)
    if len(shape) not in (1, 2) or not require_same(shape[0], shape_of(a)[0]):
        raise mistake(
            f"{function}: a matrix of shape {shape_text(shape_of(a))} does not fit the right side "
            f"of shape {shape_text(shape)}"
        )
    dtype = promoted(a, right)
    return lax.triangular_solve(convert(a, dtype), convert(right, dtype), lower, transpose)


# -- positive definite matrices -------------------------------------------------------------------


@counterpart(scipy.cholesky)
def cholesky(
    a: Any, lower: Any = False, *, overwrite_a: Any = False, check_finite: Any = True
) -> Value:
    """The triangular factor of a positive definite matrix: the upper one unless `lower`."""
    value = _matrix(a, "scipy.linalg.cholesky")
    return lax.cholesky(value) if lower else linalg.cholesky(value, upper=True)


@counterpart(scipy.cho_factor)
def cho_factor(
    a: Any, lower: Any = False, *, overwrite_a: Any = False, check_finite: Any = True
) -> tuple[Value, bool]:
    """What `cho_solve` takes. SciPy leaves the other triangle as it is, here it is zero."""
    return cholesky(a, lower), bool(lower)


@counterpart(scipy.cho_solve)
def cho_solve(
    c_and_lower: Sequence[Any], b: Any, *, overwrite_b: Any = False, check_finite: Any = True
) -> Value:
    """The x with `a @ x = b`, of the factor of a that `cho_factor` gave."""
    c, lower = c_and_lower
    factor = _matrix(c, "scipy.linalg.cho_solve")
    factor = lax.tril(factor) if lower else lax.triu(factor)
    half = _solved(factor, b, bool(lower), not lower, "scipy.linalg.cho_solve")
    return _solved(factor, half, bool(lower), bool(lower), "scipy.linalg.cho_solve")


# -- general matrices -----------------------------------------------------------------------------


@counterpart(scipy.solve)
def solve(
    a: Any,
    b: Any,
    lower: Any = False,
    assume_a: Any = None,
    transposed: Any = False,
    *,
    overwrite_a: Any = False,
    overwrite_b: Any = False,
    check_finite: Any = True,
) -> Value:
    """The x with `a @ x = b`, where `assume_a` says what a is known to be."""
    if assume_a in (None, "gen", "general"):
        value = _matrix(a, "scipy.linalg.solve")
        return linalg.solve(matrix_transpose(value) if transposed else value, b)
    if assume_a in ("pos", "positive definite"):
        return cho_solve(cho_factor(a, lower), b)
    raise mistake(
        f"scipy.linalg.solve with assume_a={assume_a!r} is not supported; without it all of the "
        "matrix is read"
    )


class _Factors:
    """What `lu_factor` returns, which is of use to `lu_solve` only."""

    def __init__(self, matrix: Value) -> None:
        self.matrix = matrix

    def __getattr__(self, name: str) -> Any:
        raise mistake(_FACTORS_MESSAGE)

    def __getitem__(self, index: Any) -> Any:
        raise mistake(_FACTORS_MESSAGE)


_FACTORS_MESSAGE = (
    "what scipy.linalg.lu_factor returns can only be passed on to scipy.linalg.lu_solve; for "
    "determinants use np.linalg.slogdet"
)


@counterpart(scipy.lu_factor)
def lu_factor(a: Any, *, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    """What `lu_solve` takes."""
    return _Factors(_matrix(a, "scipy.linalg.lu_factor"))


@counterpart(scipy.lu_solve, creation=True)
def lu_solve(
    lu_and_piv: Any, b: Any, trans: Any = 0, *, overwrite_b: Any = False, check_finite: Any = True
) -> Value:
    """The x with `a @ x = b`, or with `a.T @ x = b`."""
    if not isinstance(lu_and_piv, _Factors):
        if isinstance(b, Tracer):
            raise mistake(
                "scipy.linalg.lu_solve is supported only of what scipy.linalg.lu_factor returned "
                "inside of the function; call it there, or use scipy.linalg.cho_solve"
            )
        return scipy.lu_solve(lu_and_piv, b, trans)
    matrix = lu_and_piv.matrix
    return linalg.solve(matrix_transpose(matrix) if _TRANSPOSITIONS[trans] else matrix, b)


@counterpart(scipy.inv)
def inv(a: Any, *, overwrite_a: Any = False, check_finite: Any = True) -> Value:
    """The inverse of a matrix."""
    return linalg.inv(_matrix(a, "scipy.linalg.inv"))


@counterpart(scipy.det)
def det(a: Any, *, overwrite_a: Any = False, check_finite: Any = True) -> Value:
    """The determinant of a matrix."""
    return linalg.det(_matrix(a, "scipy.linalg.det"))


@counterpart(scipy.norm)
def norm(
    a: Any, ord: Any = None, axis: Any = None, keepdims: Any = False, *, check_finite: Any = True
) -> Value:
    """The norm of a vector or matrix."""
    return norms.norm(a, ord, axis, keepdims)


@counterpart(scipy.block_diag)
def block_diag(*arrs: Any) -> Value:
    """The matrix with the given ones along its diagonal."""
    values = [array_operand(one, "scipy.linalg.block_diag") for one in arrs]
    if any(len(shape_of(value)) != 2 for value in values):
        raise mistake("scipy.linalg.block_diag is supported for matrices only")
    sizes = [shape_of(value) for value in values]
    rows = [
        [values[i] if i == j else zeros((rows, sizes[j][1])) for j in range(len(values))]
        for i, (rows, _) in enumerate(sizes)
    ]
    return block(rows)


refuse(
    "how often it squares depends on the values of the matrix, and it has no derivative here yet. "
    "For a symmetric matrix, write it with np.linalg.eigh: (v * np.exp(w)) @ v.T",
    scipy.expm,
)
refuse(
    "the eigenvalues of general matrices are complex numbers, which are not supported yet; "
    "np.linalg.eigh and np.linalg.eigvalsh are for symmetric matrices",
    scipy.eig,
    scipy.eigvals,
    scipy.schur,
)
refuse("use np.linalg.solve, or lu_factor with lu_solve, for systems of equations", scipy.lu)
refuse(
    "for a symmetric matrix, write it with np.linalg.eigh: (v * np.sqrt(w)) @ v.T",
    scipy.sqrtm,
)
