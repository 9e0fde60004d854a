"""Systems of linear equations: solutions and inverses.

A singular matrix raises NumPy's LinAlgError, in the function and in its derivatives. The formulas
are those of Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation" (2008), section 2; the others name their source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from s2s.ir.dims import Shape, Size, require_same
from s2s.ir.jaxpr import ShapedArray
from s2s.primitive import BatchAxis, Precedence, Producer, Value, Zero
from s2s.primitives.arithmetic import neg, sub
from s2s.primitives.core import move_axis, move_batch_axis, reshape
from s2s.primitives.layout import expand_dims, squeeze
from s2s.primitives.matrices import LinearAlgebra, matmul, mT
from s2s.primitives.structural import defined_by
from s2s.trace import aval, bind, phase


class LinearSystem(LinearAlgebra):
    """The solution x of `a @ x = b` for a stack of matrices b, or for a matrix a and a vector b."""

    def abstract(self, a: ShapedArray, b: ShapedArray) -> ShapedArray:
        stack, rows, columns = self.system(a)
        is_vector = a.ndim == 2 and b.ndim == 1
        fits = (
            b.dtype == a.dtype
            and (is_vector or b.ndim == a.ndim)
            and all(map(require_same, (*stack, rows), b.shape))
        )
        if not fits:
            raise TypeError(f"{self.name}: matrices of type {a} do not fit the right side {b}")
        return ShapedArray((*stack, columns, *b.shape[len(stack) + 1 :]), a.dtype)

    def system(self, a: ShapedArray) -> tuple[Shape, Size, Size]:
        """The axes before the matrices, and how many equations and unknowns they have."""
        stack, size = self.square(a)
        return stack, size, size

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, BatchAxis]:
        (a, b), (a_axis, b_axis) = args, dims
        if a_axis is None:
            assert b_axis is not None
            return self._of_more_columns(a, b, b_axis)
        a, b = move_batch_axis(a, a_axis, 0), move_batch_axis(b, b_axis, 0, size)
        if aval(b).ndim == aval(a).ndim:
            return bind(self, a, b), 0
        return squeeze(bind(self, a, expand_dims(b, (2,))), (2,)), 0

    def _of_more_columns(self, a: Value, b: Value, axis: int) -> tuple[Value, BatchAxis]:
        """The examples of b are further columns, so that each matrix is factorised once."""
        last = aval(b).ndim - 1
        b = move_axis(b, axis, last)
        shape = aval(b).shape
        if last == 1:
            return bind(self, a, b), 1
        columns = reshape(b, (*shape[:-2], shape[-2] * shape[-1]))
        x = bind(self, a, columns)
        return reshape(x, (*aval(x).shape[:-1], *shape[-2:])), last


@dataclass(frozen=True)
class Solve(LinearSystem):
    """The solution x of `a @ x = b`.

    x' = a^-1 (b' - a' x); Giles (2008), 2.3.1.
    """

    name = "solve"
    numpy = "np.linalg.solve({0}, {1})"

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        (a, b), (t_a, t_b) = primals, tangents
        x = bind(self, a, b)
        with phase("tangent"):
            return x, bind(self, a, difference(t_a, x, t_b))

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        return [None, bind(self, mT(args[0]), cts[0])]


def difference(t_a: Value, x: Value, t_b: Value) -> Value:
    """`t_b - t_a @ x`, of which one may be a symbolic zero."""
    if isinstance(t_a, Zero):
        return t_b
    moved = matmul(t_a, x)
    return neg(moved) if isinstance(t_b, Zero) else sub(t_b, moved)


@dataclass(frozen=True)
class TriangularSolve(LinearSystem):
    """The solution x of `a @ x = b`, or of `a.T @ x = b` with `transpose_a`, for a triangular `a`.

    The elements of `a` in the other triangle must be zero. Solved as `Solve` is by NumPy, which
    knows no triangular matrices.
    """

    lower: bool
    transpose_a: bool = False

    name = "triangular_solve"

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        a, b = operands
        transposed = ".T" if avals[0].ndim == 2 else ".mT"
        return f"np.linalg.solve({a}{transposed if self.transpose_a else ''}, {b})"

    def operand_precedence(self, position: int) -> Precedence:
        return Precedence.ATOM if position == 0 else Precedence.CONDITIONAL

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        (a, b), (t_a, t_b) = primals, tangents
        x = bind(self, a, b)
        with phase("tangent"):
            if self.transpose_a and not isinstance(t_a, Zero):
                t_a = mT(t_a)
            return x, bind(self, a, difference(t_a, x, t_b))

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        return [None, triangular_solve(args[0], cts[0], self.lower, not self.transpose_a)]


@dataclass(frozen=True)
class Inv(LinearAlgebra):
    """The inverse z of matrices.

    z' = -z a' z; Giles (2008), 2.2.3.
    """

    name = "inv"
    numpy = "np.linalg.inv({0})"

    def abstract(self, a: ShapedArray) -> ShapedArray:
        self.square(a)
        return ShapedArray(a.shape, a.dtype)

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        (a,), (t,) = primals, tangents
        z = bind(self, a)
        with phase("tangent"):
            return z, neg(matmul(matmul(z, t), z))

    def fold_derivative(self, args: Sequence[Value], producer: Producer) -> Value | None:
        """The inverse of an inverse."""
        inverse = defined_by(args[0], Inv, producer)
        return None if inverse is None else inverse[1][0]


def solve(a: Value, b: Value) -> Value:
    """The solution x of `a @ x = b`, for matrices b or a vector b."""
    return bind(Solve(), a, b)


def triangular_solve(a: Value, b: Value, lower: bool, transpose_a: bool = False) -> Value:
    """The solution of a triangular system; the other triangle of `a` must be zero."""
    return bind(TriangularSolve(lower, transpose_a), a, b)


def inv(a: Value) -> Value:
    """The inverses of matrices."""
    return bind(Inv(), a)
