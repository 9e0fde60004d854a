"""Broadcasting that NumPy does by itself, and indexing where it does not."""

import numpy as np
import pytest

from s2s import lax
from s2s.ir.assumptions import Assumptions, assuming
from s2s.ir.dims import dimension
from tests.codegen.numpy_source.bodies import body, called, expression, f64, jaxpr


class LargeEnough(Assumptions):
    """Takes any size for as large as it needs to be."""

    def decide_sign(self, question, difference) -> bool:
        return True


N, M = dimension("n"), dimension("m")
MATRIX = f64("n", "m")
VECTORS = f64("n"), f64("m")


def broadcast(x, axes):
    return lax.broadcast_in_dim(x, (N, M), axes)


def outer_of_exp(x, y):
    return lax.mul(broadcast(lax.exp(x), (0,)), broadcast(y, (1,)))


@pytest.mark.parametrize(
    ("fun", "avals", "text"),
    [
        (lambda x, y: lax.add(x, broadcast(y, (1,))), (MATRIX, f64("m")), "x + y"),
        (lambda x, y: lax.add(x, broadcast(y, (0,))), (MATRIX, f64("n")), "x + y[:, None]"),
        (lambda x, y: lax.mul(broadcast(x, (0,)), broadcast(y, (1,))), VECTORS, "x[:, None] * y"),
        (lambda x, y: lax.add(x, broadcast(lax.exp(y), (1,))), (MATRIX, f64("m")), "x + np.exp(y)"),
        (outer_of_exp, VECTORS, "np.exp(x)[:, None] * y"),
        (lambda x: lax.transpose(x, (1, 0)), (MATRIX,), "x.T"),
        (lambda x: lax.transpose(x, (0, 2, 1)), (f64(2, "n", "m"),), "x.mT"),
        (lambda x: lax.transpose(x, (1, 0, 2)), (f64(2, "n", "m"),), "x.transpose(1, 0, 2)"),
        (lambda x: lax.reshape(x, (N * M,)), (MATRIX,), "x.ravel()"),
        (lambda x: lax.reshape(x, (N, 1)), (f64("n"),), "x[:, None]"),
        (lambda x: lax.reshape(x, (N,)), (f64("n", 1),), "x[:, 0]"),
        (lambda x: lax.reshape(x, (M, 2)), (f64(2, "m"),), "x.reshape(-1, 2)"),
        (lambda x: lax.reshape(x, (M, N)), (MATRIX,), "x.reshape(m, n)"),
        (lambda x: lax.rev(x, (1,)), (MATRIX,), "x[:, ::-1]"),
    ],
)  # fmt: skip
def test_axes(fun, avals, text: str) -> None:
    assert expression(fun, *avals) == text


@pytest.mark.parametrize(
    ("start", "limit", "step", "text"),
    [
        (0, N - 1, 1, "x[:-1]"),
        (1, N, 1, "x[1:]"),
        (1, N - 1, 1, "x[1:-1]"),
        (0, N, 2, "x[::2]"),
        (N - 1, N, 1, "x[-1:]"),
        (0, M, 1, "x[:m]"),
        (0, 2 * M - 1, 1, "x[: 2 * m - 1]"),
        (M, N, 3, "x[m::3]"),
        (2, 5, 1, "x[2:5]"),
    ],
)
def test_slices(start, limit, step, text: str) -> None:
    """Counted from the end where that needs no name."""

    def part(x, y):
        return lax.exp(lax.slice(x, (start,), (limit,), (step,)))

    with assuming(LargeEnough()):
        closed = jaxpr(part, f64("n"), f64("m"))
    assert body(closed)[0] == f"value = np.exp({text})"


def test_row_of_a_matrix() -> None:
    def row(x):
        return lax.sin(lax.squeeze(lax.slice(x, (1, 0), (2, M)), (0,)))

    with assuming(LargeEnough()):
        assert expression(row, MATRIX) == "np.sin(x[1])"


def test_conversion_is_implicit_where_numpy_promotes_the_same_way() -> None:
    i64 = f64("n")
    i64.dtype = np.dtype(np.int64)

    def converted(x, y):
        return lax.mul(lax.convert_element_type(x, np.dtype(np.float64)), y)

    assert expression(converted, i64, f64("n")) == "x * y"
    assert expression(lambda x: lax.convert_element_type(x, np.dtype(np.float32)), i64) == (
        "x.astype(np.float32)"
    )


def test_identity_matrix() -> None:
    def eye(x):
        rows, columns = (lax.broadcasted_iota(np.dtype(np.int64), (N, N), a) for a in (0, 1))
        return lax.add(x, lax.convert_element_type(lax.eq(rows, columns), np.dtype(np.float64)))

    assert expression(eye, f64("n", "n")) == "x + np.eye(n)"


def test_what_is_read_as_a_whole_is_broadcast() -> None:
    def joined(x, y):
        return lax.concatenate([x, broadcast(y, (1,))], 0)

    assert expression(joined, MATRIX, f64("m")) == "np.concatenate([x, np.broadcast_to(y, (n, m))])"


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.0, "np.zeros((n, m))"), (1.0, "np.ones((n, m))"), (2.5, "np.full((n, m), 2.5)")],
)
def test_filled_arrays(number: float, text: str) -> None:
    closed = jaxpr(lambda x: lax.full((N, M), number, np.dtype(np.float64)), MATRIX)
    assert body(closed) == [f"value = {text}", "return value"]


def test_a_zero_cotangent_has_the_shape_of_its_argument() -> None:
    def zeros(x):
        return called("x_bar", lax.full((N, M), 0.0, np.dtype(np.float64)))

    closed = jaxpr(zeros, MATRIX, in_phase="cotangent")
    assert body(closed) == ["x_bar = np.zeros(x.shape)", "return x_bar"]


def test_keepdims() -> None:
    def centred(x):
        total = lax.reduce_sum(x, (1,))
        return lax.sub(x, broadcast(lax.broadcast_in_dim(total, (N, 1), (0,)), (0, 1)))

    assert expression(centred, MATRIX) == "x - np.sum(x, axis=1, keepdims=True)"
