"""Linear algebra: LAPACK's routines where jaxlib has them, and what is made of their results.

LAPACK says that a matrix is singular, or not positive definite, by a number beside the results.
Where NumPy raises LinAlgError the results are NaN, as they are in JAX.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from s2s.control.loops import fori_loop
from s2s.ir.dims import Shape, Size, same_size
from s2s.ir.jaxpr import ShapedArray
from s2s.primitive import Value
from s2s.primitives import decompositions, determinants, functions as lax, inverses, matrices
from s2s.primitives.triangles import Tril
from s2s.trace import aval, make
from s2s_codegen.stablehlo.emit import Emitter, Operand, is_static, lower
from s2s_codegen.stablehlo.lapack import INTEGER, call_text, target_of
from s2s_codegen.stablehlo.text import function_type

INT32 = np.dtype(np.int32)


def _call(
    emitter: Emitter, routine: str, operands: Sequence[Operand], options: str = ""
) -> list[Operand]:
    """The results of a routine of LAPACK; the first operand has the matrices."""
    *stack, m, n = operands[0].aval.shape
    dtype = operands[0].aval.dtype
    open_sizes = not is_static((*stack, m, n))
    letter = "s" if dtype == np.float32 else "d"
    text, kinds = call_text(letter, routine, tuple(stack), m, n, options, open_sizes)
    results = [
        ShapedArray((*stack, *shape), INT32 if element == INTEGER else dtype)
        for shape, element in kinds
    ]
    shapes = [emitter.shape(result.shape) for result in results] if open_sizes else []
    names = ", ".join(x.name for x in (*operands, *shapes))
    return emitter.ops(
        f"stablehlo.custom_call @{target_of(letter, routine)}({names}) {text}", results
    )


def _inline(
    emitter: Emitter, fun: Callable[..., Sequence[Value]], operands: Sequence[Operand]
) -> list[Operand]:
    """What a function of values computes from operands."""
    return emitter.inline(make(fun, [x.aval for x in operands]), operands)


def _checked(emitter: Emitter, info: Operand, *results: Operand) -> list[Operand]:
    """The results, NaN for the matrices whose `info` is not zero."""

    def fun(info: Value, *values: Value) -> list[Value]:
        failed = lax.ne(info, INT32.type(0))
        return [_chosen(failed, aval(x).dtype.type(np.nan), x) for x in values]

    return _inline(emitter, fun, [info, *results])


def _chosen(which: Value, inside: Value, outside: Value) -> Value:
    """`inside` for the matrices of a stack for which `which` is true."""
    shape = aval(outside).shape
    mask = lax.broadcast_in_dim(which, shape, tuple(range(aval(which).ndim)))
    return lax.select_n(mask, outside, inside)


# -- systems of equations ------------------------------------------------------------------------


@lower.register
def _(
    primitive: inverses.TriangularSolve,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    a, b = operands
    columns = b if b.aval.ndim == a.aval.ndim else emitter.reshape(b, (*b.aval.shape, 1))
    transposed = "TRANSPOSE" if primitive.transpose_a else "NO_TRANSPOSE"
    lower_ = str(primitive.lower).lower()
    types = function_type([a.type, columns.type], [columns.type])
    x = emitter.op(
        f'"stablehlo.triangular_solve"({a.name}, {columns.name}) <{{left_side = true, '
        f"lower = {lower_}, transpose_a = #stablehlo<transpose {transposed}>, "
        f"unit_diagonal = false}}> : {types}",
        columns.aval,
    )
    return [x if columns is b else emitter.reshape(x, b.aval.shape)]


@lower.register
def _(
    primitive: inverses.Solve, emitter: Emitter, operands: list[Operand], results: list[ShapedArray]
) -> list[Operand]:
    a, b = operands
    return _solved(emitter, a, b)


@lower.register
def _(
    primitive: inverses.Inv, emitter: Emitter, operands: list[Operand], results: list[ShapedArray]
) -> list[Operand]:
    def identity(a: Value) -> list[Value]:
        return [matrices.identity_like(a)]

    return _solved(emitter, operands[0], *_inline(emitter, identity, operands))


def _solved(emitter: Emitter, a: Operand, b: Operand) -> list[Operand]:
    """The solution of `a @ x = b`, by the decomposition of a with exchanged rows."""
    factors, pivots, info = _call(emitter, "getrf", [a])

    def fun(factors: Value, pivots: Value, b: Value) -> list[Value]:
        lower_factor = lax.add(lax.tril(factors, -1), matrices.identity_like(factors))
        exchanged = _rows(b, _permutation(pivots))
        half = lax.triangular_solve(lower_factor, exchanged, lower=True)
        return [lax.triangular_solve(lax.triu(factors), half, lower=False)]

    (x,) = _inline(emitter, fun, [factors, pivots, b])
    return _checked(emitter, info, x)


def _permutation(pivots: Value) -> Value:
    """The row of the matrix that each row of its factors is, from the exchanges made in turn:
    in step i, of the rows i and `pivots[i] - 1`."""
    shape = aval(pivots).shape
    axis = len(shape) - 1
    places = lax.broadcasted_iota(INT32, shape, axis)

    def at(values: Value, place: Value) -> Value:
        """The value at a place of each row, along the row."""
        found = lax.select_n(lax.eq(places, place), INT32.type(0), values)
        summed = lax.convert_element_type(lax.reduce_sum(found, (axis,)), INT32)
        return lax.broadcast_in_dim(summed, shape, tuple(range(axis)))

    def exchange(i: Value, rows: Value) -> Value:
        here = lax.broadcast_in_dim(lax.convert_element_type(i, INT32), shape, ())
        there = lax.sub(at(pivots, here), INT32.type(1))
        mine, other = at(rows, here), at(rows, there)
        moved = lax.select_n(lax.eq(places, there), rows, mine)
        return lax.select_n(lax.eq(places, here), moved, other)

    return fori_loop(0, shape[axis], exchange, places)


def _rows(b: Value, rows: Value) -> Value:
    """The rows of each matrix (or the elements of a vector) in another order."""
    axes = range(aval(rows).ndim)
    shape = aval(rows).shape
    indices = [lax.broadcasted_iota(INT32, shape, axis) for axis in axes[:-1]]
    return lax.take_at(b, list(axes), [*indices, rows])


# -- determinants ----------------------------------------------------------------------------------


@lower.register
def _(
    primitive: determinants.Slogdet,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    factors, pivots, _ = _call(emitter, "getrf", operands)
    return _inline(emitter, _sign_and_log, [factors, pivots])


def _sign_and_log(factors: Value, pivots: Value) -> list[Value]:
    diagonal, sign = _diagonal_and_sign(factors, pivots)
    axis = aval(diagonal).ndim - 1
    sign = lax.mul(sign, _product(lax.sign(diagonal)))
    return [sign, lax.reduce_sum(lax.log(lax.abs(diagonal)), (axis,))]


@lower.register
def _(
    primitive: determinants.Det,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    def fun(factors: Value, pivots: Value) -> list[Value]:
        diagonal, sign = _diagonal_and_sign(factors, pivots)
        return [lax.mul(sign, _product(diagonal))]

    factors, pivots, _ = _call(emitter, "getrf", operands)
    return _inline(emitter, fun, [factors, pivots])


def _diagonal_and_sign(factors: Value, pivots: Value) -> tuple[Value, Value]:
    """The diagonal of the upper factor, and the sign of the exchange of rows."""
    shape, dtype = aval(pivots).shape, aval(factors).dtype
    axis = len(shape) - 1
    on_diagonal = lax.mul(factors, matrices.identity_like(factors))
    own = lax.add(lax.broadcasted_iota(INT32, shape, axis), INT32.type(1))
    signs = lax.select_n(lax.eq(pivots, own), dtype.type(-1), dtype.type(1))
    return lax.reduce_sum(on_diagonal, (axis,)), _product(signs)


def _product(x: Value) -> Value:
    return lax.reduce_prod(x, (aval(x).ndim - 1,))


# -- decompositions ------------------------------------------------------------------------------


@lower.register
def _(
    primitive: decompositions.Cholesky,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    factor, info = _call(emitter, "potrf", operands, "L")
    return _checked(emitter, info, *lower(Tril(), emitter, [factor], [factor.aval]))


@lower.register
def _(
    primitive: decompositions.Qr,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    factors, scales = _call(emitter, "geqrf", operands)
    size = scales.aval.shape[-1]

    def first_columns(x: Value) -> list[Value]:
        return [_part(x, None, size)]

    def upper_part(x: Value) -> list[Value]:
        return [lax.triu(_part(x, size, None))]

    (q,) = _call(emitter, "orgqr", [*_inline(emitter, first_columns, [factors]), scales])
    return [q, *_inline(emitter, upper_part, [factors])]


def _part(x: Value, rows: Size | None, columns: Size | None) -> Value:
    """The first rows and columns of matrices."""
    shape = aval(x).shape
    limits: Shape = (*shape[:-2], rows or shape[-2], columns or shape[-1])
    if all(map(same_size, limits, shape)):
        return x
    return lax.slice(x, (0,) * len(shape), limits)


@lower.register(decompositions.Eigh)
@lower.register(decompositions.Eigvalsh)
def _(
    primitive: decompositions.Eigh | decompositions.Eigvalsh,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    triangle = "L" if primitive.lower else "U"
    both = isinstance(primitive, decompositions.Eigh)
    v, w, info = _call(emitter, "syevd", operands, ("V" if both else "N") + triangle)
    return _checked(emitter, info, *([w, v] if both else [w]))


@lower.register
def _(
    primitive: decompositions.Svd,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    _, s, u, vh, info = _call(emitter, "gesdd", operands, "S")
    return _checked(emitter, info, u, s, vh)


@lower.register
def _(
    primitive: decompositions.Svdvals,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    _, s, *_, info = _call(emitter, "gesdd", operands, "N")
    return _checked(emitter, info, s)
