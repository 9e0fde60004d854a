"""Sums of products: `x @ y` wherever a transposition or an axis of size 1 makes it one.

NumPy's matmul calls BLAS; einsum without it is the last resort.
"""

from __future__ import annotations

from collections.abc import Sequence

from s2s.ir.dims import Shape, known_at_least, product
from s2s.ir.jaxpr import JaxprEqn
from s2s.primitives.contractions import DotGeneral
from s2s_codegen.numpy_source.expression import (
    Expression,
    attribute,
    binary,
    call,
    index,
    method,
)
from s2s_codegen.numpy_source.scope import Scope
from s2s_codegen.numpy_source.spell.dispatch import spell


@spell.register
def spell_dot_general(primitive: DotGeneral, eqn: JaxprEqn, scope: Scope) -> Expression:
    (x_sum, _), (x_batch, y_batch) = primitive.dimension_numbers
    x, y = scope.whole(eqn.invars[0]), scope.whole(eqn.invars[1])
    shapes = eqn.invars[0].aval.shape, eqn.invars[1].aval.shape
    ranks = len(shapes[0]), len(shapes[1])
    is_real = eqn.outvars[0].aval.dtype.kind != "c"
    if not x_batch:
        if not x_sum:
            return _outer(x, y, ranks)
        if len(x_sum) == 1:
            return _matmul(primitive, x, y, ranks)
        return _over_many_axes(primitive, x, y, shapes, scope, is_real)
    leading = tuple(range(len(x_batch)))
    if x_batch == leading and y_batch == leading and len(x_sum) <= 1:
        found = _batched(primitive, x, y, ranks, is_real)
        if found is not None:
            return found
    return _einsum(primitive, x, y, ranks)


def _outer(x: Expression, y: Expression, ranks: tuple[int, int]) -> Expression:
    if ranks == (1, 1):
        return call("np.outer", x, y)
    return binary("*", index(x, [":"] * ranks[0] + ["None"] * ranks[1]), y)


def _matmul(
    primitive: DotGeneral, x: Expression, y: Expression, ranks: tuple[int, int]
) -> Expression:
    """One axis of each summed over."""
    (x_sum, y_sum), _ = primitive.dimension_numbers
    # Counted from the end, where matmul sums: over the last axis of x, and the last but one of y.
    a, b = x_sum[0] - ranks[0], y_sum[0] - ranks[1]
    if ranks[1] == 1 and a >= -2:
        return binary("@", x, y) if a == -1 else binary("@", y, x)
    if ranks[0] == 1 and b >= -2:
        return binary("@", y, x) if b == -1 else binary("@", x, y)
    if ranks[1] == 2 and (a == -1 or ranks[0] == 2):
        left = x if a == -1 else attribute(x, "T")
        right = y if b == -2 else attribute(y, "T")
        return binary("@", left, right)
    return call("np.tensordot", x, y, f"axes=({x_sum[0]}, {y_sum[0]})")


def _over_many_axes(
    primitive: DotGeneral,
    x: Expression,
    y: Expression,
    shapes: tuple[Shape, Shape],
    scope: Scope,
    is_real: bool,
) -> Expression:
    """Several axes summed over: all of them, or as one axis where they stand together."""
    (x_sum, y_sum), _ = primitive.dimension_numbers
    x_free, y_free = primitive.free(len(shapes[0]), len(shapes[1]))
    if not x_free and not y_free and x_sum == y_sum and is_real:
        return call("np.vdot", x, y)
    left = _as_matrix(x, shapes[0], x_sum, x_free, scope, summed_last=True)
    right = _as_matrix(y, shapes[1], y_sum, y_free, scope, summed_last=False)
    if left is None or right is None:
        return call("np.tensordot", x, y, f"axes=({x_sum}, {y_sum})")
    return binary("@", left, right)


def _as_matrix(
    x: Expression,
    shape: Shape,
    axes: Sequence[int],
    free: Sequence[int],
    scope: Scope,
    summed_last: bool,
) -> Expression | None:
    """`x` with the summed axes as one, the last or the first; None if they stand apart.

    At most one axis is free, so that the product needs no reshaping.
    """
    if len(free) > 1 or list(axes) != sorted(axes):
        return None
    if not free:
        return method(x, "ravel")
    if free[0] not in (0, len(shape) - 1):
        return None
    is_last = free[0] == 0
    size, rest = scope.size(shape[free[0]]).text, "-1"
    if not known_at_least(shape[free[0]], 1):  # -1 is no number where the other one is 0
        rest = scope.size(product([shape[axis] for axis in axes])).text
    matrix = method(x, "reshape", *((size, rest) if is_last else (rest, size)))
    return matrix if is_last == summed_last else attribute(matrix, "T")


def _batched(
    primitive: DotGeneral, x: Expression, y: Expression, ranks: tuple[int, int], is_real: bool
) -> Expression | None:
    """Matmul over leading batch axes; a vector is made a matrix of one row or column."""
    (x_sum, y_sum), (x_batch, _) = primitive.dimension_numbers
    batch = len(x_batch)
    x_rank, y_rank = ranks[0] - batch, ranks[1] - batch
    every = [":"] * batch
    if not x_sum:
        items = [*every, *[":"] * x_rank, *["None"] * y_rank]
        other = [*every, *["None"] * x_rank, *[":"] * y_rank]
        left = index(x, items) if y_rank else x
        right = index(y, other) if x_rank else y
        return binary("*", left, right)
    if max(x_rank, y_rank) > 2:
        return None
    x_last, y_last = x_sum[0] == ranks[0] - 1, y_sum[0] == ranks[1] - 1
    if x_rank == y_rank == 1 and not is_real:
        return None
    if x_rank == y_rank == 1:
        return call("np.vecdot", x, y)
    if x_rank == y_rank == 2:
        return binary("@", x if x_last else attribute(x, "mT"), attribute(y, "mT") if y_last else y)
    if y_rank == 1:
        matrix, column = (x if x_last else attribute(x, "mT")), y
    else:
        matrix, column = (y if y_last else attribute(y, "mT")), x
    product = binary("@", matrix, index(column, [*every, ":", "None"]))
    return index(product, [*every, ":", "0"])


def _einsum(
    primitive: DotGeneral, x: Expression, y: Expression, ranks: tuple[int, int]
) -> Expression:
    """`np.einsum("bij,bkj->bik", x, y)`"""
    (x_sum, y_sum), (x_batch, y_batch) = primitive.dimension_numbers
    x_free, y_free = primitive.free(*ranks)
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    x_text, y_text = [""] * ranks[0], [""] * ranks[1]
    for a, b in zip((*x_batch, *x_sum), (*y_batch, *y_sum), strict=True):
        x_text[a] = y_text[b] = next(letters)
    for a in x_free:
        x_text[a] = next(letters)
    for b in y_free:
        y_text[b] = next(letters)
    result = "".join([x_text[a] for a in (*x_batch, *x_free)] + [y_text[b] for b in y_free])
    formula = f'"{"".join(x_text)},{"".join(y_text)}->{result}"'
    return call("np.einsum", formula, x, y)
