"""Determinants of matrices, and what their derivatives are made of.

The formulas are those of Giles, "Collected matrix derivative results for forward and reverse mode
algorithmic differentiation" (2008), section 2, but for the cofactors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s.ir.dtypes import INT64
from s2s.ir.jaxpr import ShapedArray
from s2s.primitive import Value, Zero
from s2s.primitives.arithmetic import mul, sub
from s2s.primitives.contractions import dot_general
from s2s.primitives.core import broadcast_in_dim, reduce_sum
from s2s.primitives.creation import broadcasted_iota
from s2s.primitives.decompositions import svd
from s2s.primitives.inverses import inv
from s2s.primitives.logic import bitwise_or, eq, select_n
from s2s.primitives.matrices import LinearAlgebra, along_columns, identity_like, inner, matmul, mT
from s2s.primitives.reductions import reduce_prod
from s2s.trace import aval, bind, phase


@dataclass(frozen=True)
class Det(LinearAlgebra):
    """The determinant z of matrices.

    z' = tr(c^T a') with the cofactors c, for singular matrices too; Giles (2008), 2.2.4, has
    z a^-T for c.
    """

    name = "det"
    numpy = "np.linalg.det({0})"

    def abstract(self, a: ShapedArray) -> ShapedArray:
        stack, _ = self.square(a)
        return ShapedArray(stack, a.dtype)

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        (a,), (t,) = primals, tangents
        z = bind(self, a)
        with phase("tangent"):
            return z, inner(cofactors(a), t)


def cofactors_of(a: Any) -> Any:
    """The cofactors of matrices: det(a) * inv(a).T where there is an inverse."""
    u, s, vh = np.linalg.svd(a)
    # For each singular value, the product of the others.
    others = np.prod(np.where(np.eye(s.shape[-1], dtype=bool), 1.0, s[..., None, :]), axis=-1)
    sign = np.linalg.det(u) * np.linalg.det(vh)
    return sign[..., None, None] * ((u * others[..., None, :]) @ vh)


@dataclass(frozen=True)
class Cofactors(LinearAlgebra):
    """The cofactors c of matrices: the derivatives of their determinants by their elements.

    With a = u s v^T, c = det(u) det(v) u d v^T, where d[i] is the product of the s[k] but for s[i].
    With p = u^T a' v, c' = det(u) det(v) u q v^T, where, with e[i, j] the product of the s[k] but
    for s[i] and s[j], q[i, j] = -e[i, j] p[j, i] and q[i, i] is the sum of the e[i, k] p[k, k].
    """

    name = "cofactors"

    def abstract(self, a: ShapedArray) -> ShapedArray:
        self.square(a)
        return ShapedArray(a.shape, a.dtype)

    @property
    def copied_function(self) -> Callable[..., Any]:
        return cofactors_of

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        return f"{cofactors_of.__name__}({operands[0]})"

    def evaluate(self, *arrays: Any) -> Any:
        return cofactors_of(*arrays)

    def composition(self, *operands: Value) -> Value:
        u, s, vh = svd(operands[0])
        return self._rotated(u, mul(u, along_columns(_others(s), u)), vh)

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        (a,), (t,) = primals, tangents
        c = bind(self, a)
        with phase("tangent"):
            u, s, vh = svd(a)
            p, e = matmul(mT(u), matmul(t, mT(vh))), _without_two(s)
            rank = aval(p).ndim
            stack = tuple(range(rank - 2))
            diagonal = reduce_sum(mul(p, identity_like(p)), (rank - 1,))
            sums = dot_general(e, diagonal, (((rank - 1,), (rank - 2,)), (stack, stack)))
            q = sub(mul(along_columns(sums, p), identity_like(p)), mul(e, mT(p)))
            return c, self._rotated(u, matmul(u, q), vh)

    def _rotated(self, u: Value, left: Value, vh: Value) -> Value:
        result = matmul(left, vh)
        sign = mul(det(u), det(vh))
        return mul(broadcast_in_dim(sign, aval(result).shape, range(aval(sign).ndim)), result)


def _others(s: Value) -> Value:
    """For each of some numbers, the product of the others."""
    rank = aval(s).ndim
    shape = (*aval(s).shape, aval(s).shape[-1])
    columns = broadcast_in_dim(s, shape, (*range(rank - 1), rank))
    is_own = eq(*(broadcasted_iota(INT64, shape, axis) for axis in (rank - 1, rank)))
    return reduce_prod(select_n(is_own, columns, _ones(columns)), (rank,))


def _without_two(s: Value) -> Value:
    """For each two of some numbers, the product of the others; zero for a number and itself."""
    rank, size = aval(s).ndim, aval(s).shape[-1]
    shape = (*aval(s).shape, size, size)
    factors = broadcast_in_dim(s, shape, (*range(rank - 1), rank + 1))
    first, second, own = (
        broadcasted_iota(INT64, shape, axis) for axis in (rank - 1, rank, rank + 1)
    )
    is_one = bitwise_or(eq(own, first), eq(own, second))
    products = reduce_prod(select_n(is_one, factors, _ones(factors)), (rank + 1,))
    return sub(products, mul(products, identity_like(products)))


def _ones(like: Value) -> Value:
    return broadcast_in_dim(aval(like).dtype.type(1), aval(like).shape, ())


@dataclass(frozen=True)
class Slogdet(LinearAlgebra):
    """The sign of the determinant of matrices, and the logarithm z of its magnitude.

    z' = tr(a^-1 a'); Giles (2008), 2.2.4. The sign is constant wherever it has a derivative.
    """

    name = "slogdet"
    numpy = "np.linalg.slogdet({0})"
    multiple_results = True

    def abstract(self, a: ShapedArray) -> list[ShapedArray]:
        stack, _ = self.square(a)
        return [ShapedArray(stack, a.dtype)] * 2

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Any, Any]:
        (a,), (t,) = primals, tangents
        sign, logdet = bind(self, a)
        with phase("tangent"):
            return [sign, logdet], [Zero(aval(sign)), inner(mT(inv(a)), t)]


def cofactors(a: Value) -> Value:
    """The cofactors of matrices."""
    return bind(Cofactors(), a)


def det(a: Value) -> Value:
    """The determinants of matrices."""
    return bind(Det(), a)


def slogdet(a: Value) -> tuple[Value, Value]:
    """The signs of determinants, and the logarithms of their magnitudes."""
    sign, logdet = bind(Slogdet(), a)
    return sign, logdet
