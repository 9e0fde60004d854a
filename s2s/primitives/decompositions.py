"""Decompositions of matrices: cholesky, qr, eigh, svd.

Where a matrix has no such decomposition, NumPy's LinAlgError is raised. What cholesky and eigh do
not read of a matrix, its other triangle, has the derivative zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from s2s.ir.dims import Size, same_size
from s2s.ir.jaxpr import JaxprEqn, ShapedArray
from s2s.primitive import Primitive, Value
from s2s.primitives.arithmetic import div, mul, neg, sub
from s2s.primitives.core import reduce_sum
from s2s.primitives.families import add_any
from s2s.primitives.inverses import triangular_solve
from s2s.primitives.layout import slice as slice_of
from s2s.primitives.matrices import (
    LinearAlgebra,
    along_columns,
    along_rows,
    inverse_gaps,
    matmul,
    mT,
    symmetric,
)
from s2s.primitives.powers import integer_pow
from s2s.primitives.triangles import tril
from s2s.trace import aval, bind, phase


@dataclass(frozen=True)
class Cholesky(LinearAlgebra):
    """The lower triangular z with `z @ z.T = a`; only the lower triangle of a is read.

    z' = z phi(z^-1 a' z^-T), where phi is the lower triangle with half of the diagonal; Murray,
    "Differentiation of the Cholesky decomposition" (2016), equation 8.
    """

    name = "cholesky"
    numpy = "np.linalg.cholesky({0})"

    def abstract(self, a: ShapedArray) -> ShapedArray:
        self.square(a)
        return ShapedArray(a.shape, a.dtype)

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        (a,), (t,) = primals, tangents
        z = bind(self, a)
        with phase("tangent"):
            left = triangular_solve(z, symmetric(t), lower=True)
            both = triangular_solve(z, mT(left), lower=True)
            phi = mul(0.5, add_any(tril(both), tril(both, -1)))
            return z, matmul(z, phi)


@dataclass(frozen=True)
class Qr(LinearAlgebra):
    """The q with orthonormal columns and the upper triangular r with `q @ r = a`.

    With c = q^T a' r^-1 and its antisymmetric part w, which has the same lower triangle:
    q' = a' r^-1 + q (w - c) and r' = (c - w) r; Seeger et al., "Auto-differentiating linear
    algebra" (2017), section 4.3. Where a has more columns than rows, q is that of the first ones.
    """

    name = "qr"
    numpy = "np.linalg.qr({0})"
    multiple_results = True

    def abstract(self, a: ShapedArray) -> list[ShapedArray]:
        stack, rows, columns = self.shape(a)
        size = smaller(rows, columns)
        q, r = (*stack, rows, size), (*stack, size, columns)
        return [ShapedArray(q, a.dtype), ShapedArray(r, a.dtype)]

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Any, Any]:
        (a,), (t,) = primals, tangents
        q, r = bind(self, a)
        with phase("tangent"):
            size = aval(r).shape[-2]
            first, t_first = _first_columns(r, size), _first_columns(t, size)
            scaled = mT(triangular_solve(first, mT(t_first), lower=False, transpose_a=True))
            c = matmul(mT(q), scaled)
            below = tril(c, -1)
            upper = add_any(sub(c, below), mT(below))
            t_q = sub(scaled, matmul(q, upper))
            if same_size(size, aval(r).shape[-1]):
                return [q, r], [t_q, matmul(upper, r)]
            return [q, r], [t_q, add_any(matmul(mT(t_q), a), matmul(mT(q), t))]


def _first_columns(x: Value, count: Size) -> Value:
    shape = aval(x).shape
    if same_size(count, shape[-1]):
        return x
    return slice_of(x, (0,) * len(shape), (*shape[:-1], count))


@dataclass(frozen=True)
class Eigh(LinearAlgebra):
    """The eigenvalues w, in ascending order, and the eigenvectors v of symmetric matrices.

    Only the lower triangle is read, or the upper one. w' = diag(v^T a' v) and
    v' = v (f * (v^T a' v)) with f[i, j] = 1 / (w[j] - w[i]) and zeros on its diagonal; Giles
    (2008), section 3.1. Eigenvectors have no derivative where two eigenvalues are equal.
    """

    lower: bool = True

    name = "eigh"
    multiple_results = True

    def abstract(self, a: ShapedArray) -> list[ShapedArray]:
        stack, size = self.square(a)
        return [ShapedArray((*stack, size), a.dtype), ShapedArray(a.shape, a.dtype)]

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Any, Any]:
        (a,), (t,) = primals, tangents
        w, v = bind(self, a)
        with phase("tangent"):
            moved = matmul(symmetric(t, self.lower), v)
            t_w = reduce_sum(mul(v, moved), (aval(v).ndim - 2,))
            turned = mul(matmul(mT(v), moved), inverse_gaps(w))
            return [w, v], [t_w, matmul(v, turned)]

    def dce(self, eqn: JaxprEqn, used: Sequence[bool]) -> JaxprEqn:
        return eqn if used[1] else only_result(eqn, 0, Eigvalsh(self.lower))

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        return f"np.linalg.eigh({operands[0]}{_triangle_text(self.lower)})"


@dataclass(frozen=True)
class Eigvalsh(LinearAlgebra):
    """The eigenvalues of symmetric matrices, as `eigh` has them."""

    lower: bool = True

    name = "eigvalsh"

    def abstract(self, a: ShapedArray) -> ShapedArray:
        return Eigh(self.lower).abstract(a)[0]

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        w = bind(self, *primals)
        _, (t, _) = Eigh(self.lower).jvp(primals, tangents)
        return w, t

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        return f"np.linalg.eigvalsh({operands[0]}{_triangle_text(self.lower)})"


def _triangle_text(lower: bool) -> str:
    return "" if lower else ', UPLO="U"'


def only_result(eqn: JaxprEqn, position: int, primitive: Primitive) -> JaxprEqn:
    """The equation that computes one of the results of another, by a primitive for that alone."""
    outvars = [eqn.outvars[position]]
    return JaxprEqn(primitive, eqn.invars, outvars, eqn.source, eqn.phase, eqn.types_hold)


@dataclass(frozen=True)
class Svd(LinearAlgebra):
    """The reduced decomposition `a = (u * s) @ vh`, the singular values s in descending order.

    With p = u^T a' v, f[i, j] = 1 / (s[j]^2 - s[i]^2) and zeros on its diagonal:
    s' = diag(p), u' = u (f * (p s + s p^T)) + (1 - u u^T) a' v / s and
    v' = v (f * (s p + p^T s)) + (1 - v v^T) a'^T u / s; Townsend, "Differentiating the singular
    value decomposition" (2016), equations 10 to 24. Singular vectors have no derivative where two
    singular values are equal, or one is zero.
    """

    name = "svd"
    numpy = "np.linalg.svd({0}, full_matrices=False)"
    multiple_results = True

    def abstract(self, a: ShapedArray) -> list[ShapedArray]:
        stack, rows, columns = self.shape(a)
        size = smaller(rows, columns)
        shapes = (*stack, rows, size), (*stack, size), (*stack, size, columns)
        return [ShapedArray(shape, a.dtype) for shape in shapes]

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Any, Any]:
        (a,), (t,) = primals, tangents
        u, s, vh = bind(self, a)
        with phase("tangent"):
            moved = matmul(t, mT(vh))
            t_s = reduce_sum(mul(u, moved), (aval(u).ndim - 2,))
            p = matmul(mT(u), moved)
            f = inverse_gaps(integer_pow(s, 2))
            scaled, own = mul(p, along_columns(s, p)), mul(p, along_rows(s, p))
            t_u = matmul(u, mul(add_any(scaled, mT(scaled)), f))
            t_vh = neg(matmul(mul(add_any(own, mT(own)), f), vh))
            rows, columns = aval(a).shape[-2:]
            if not same_size(rows, aval(s).shape[-1]):
                outside = sub(moved, matmul(u, p))
                t_u = add_any(t_u, div(outside, along_columns(s, outside)))
            if not same_size(columns, aval(s).shape[-1]):
                moved = matmul(mT(u), t)
                outside = sub(moved, matmul(p, vh))
                t_vh = add_any(t_vh, div(outside, along_rows(s, outside)))
            return [u, s, vh], [t_u, t_s, t_vh]

    def dce(self, eqn: JaxprEqn, used: Sequence[bool]) -> JaxprEqn:
        return eqn if used[0] or used[2] else only_result(eqn, 1, Svdvals())


@dataclass(frozen=True)
class Svdvals(LinearAlgebra):
    """The singular values of matrices, as `svd` has them."""

    name = "svdvals"
    numpy = "np.linalg.svd({0}, compute_uv=False)"

    def abstract(self, a: ShapedArray) -> ShapedArray:
        return Svd().abstract(a)[1]

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        s = bind(self, *primals)
        _, (_, t, _) = Svd().jvp(primals, tangents)
        return s, t


def smaller(rows: Size, columns: Size) -> Size:
    """The smaller one of two sizes; sizes that cannot be compared are an error that names them."""
    if same_size(rows, columns):
        return rows
    return rows if rows <= columns else columns


def larger(rows: Size, columns: Size) -> Size:
    """The larger one of two sizes."""
    return columns if same_size(smaller(rows, columns), rows) else rows


def cholesky(a: Value) -> Value:
    """The lower triangular factors of positive definite matrices."""
    return bind(Cholesky(), a)


def qr(a: Value) -> tuple[Value, Value]:
    """The orthonormal and the upper triangular factors of matrices, the first with as many columns
    as the smaller side."""
    q, r = bind(Qr(), a)
    return q, r


def eigh(a: Value, lower: bool = True) -> tuple[Value, Value]:
    """The eigenvalues and eigenvectors of symmetric matrices, of which one triangle is read."""
    w, v = bind(Eigh(lower), a)
    return w, v


def svd(a: Value) -> tuple[Value, Value, Value]:
    """The factors u, s, vh of the reduced singular value decompositions of matrices."""
    u, s, vh = bind(Svd(), a)
    return u, s, vh
