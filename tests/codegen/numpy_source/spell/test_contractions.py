"""Every layout of dot_general says what it computes, mostly with @."""

import numpy as np
import pytest

from s2s import lax
from s2s.trace import evaluate
from s2s_codegen.numpy_source import compile_jaxpr
from tests.codegen.numpy_source.bodies import expression, f64, jaxpr

NONE = ((), ())


@pytest.mark.parametrize(
    ("x", "y", "numbers", "text"),
    [
        ((3,), (3,), (((0,), (0,)), NONE), "x @ y"),
        ((2, 3), (3,), (((1,), (0,)), NONE), "x @ y"),
        ((3, 2), (3,), (((0,), (0,)), NONE), "y @ x"),
        ((3,), (3, 2), (((0,), (0,)), NONE), "x @ y"),
        ((3,), (2, 3), (((0,), (1,)), NONE), "y @ x"),
        ((2, 3), (3, 4), (((1,), (0,)), NONE), "x @ y"),
        ((2, 3), (4, 3), (((1,), (1,)), NONE), "x @ y.T"),
        ((3, 2), (3, 4), (((0,), (0,)), NONE), "x.T @ y"),
        ((3, 2), (4, 3), (((0,), (1,)), NONE), "x.T @ y.T"),
        ((5, 2, 3), (3, 4), (((2,), (0,)), NONE), "x @ y"),
        ((5, 2, 3), (3,), (((2,), (0,)), NONE), "x @ y"),
        ((5, 3, 2), (3,), (((1,), (0,)), NONE), "y @ x"),
        ((5, 3, 2), (3, 4), (((1,), (0,)), NONE), "np.tensordot(x, y, axes=(1, 0))"),
        ((2,), (3,), NONE_TWICE := (NONE, NONE), "np.outer(x, y)"),
        ((2, 5), (3,), NONE_TWICE, "x[:, :, None] * y"),
        ((2, 3), (2, 3), (((0, 1), (0, 1)), NONE), "np.vdot(x, y)"),
        ((2, 3), (3, 2), (((0, 1), (1, 0)), NONE), "np.tensordot(x, y, axes=((0, 1), (1, 0)))"),
        ((2, 5, 3), (2, 5, 4), (((0, 1), (0, 1)), NONE), "x.reshape(-1, 3).T @ y.reshape(-1, 4)"),
        ((3, 2, 5), (2, 5), (((1, 2), (0, 1)), NONE), "x.reshape(3, -1) @ y.ravel()"),
        ((6, 2, 3), (6, 3, 4), (((2,), (1,)), ((0,), (0,))), "x @ y"),
        ((6, 2, 3), (6, 4, 3), (((2,), (2,)), ((0,), (0,))), "x @ y.mT"),
        ((6, 3, 2), (6, 3, 4), (((1,), (1,)), ((0,), (0,))), "x.mT @ y"),
        ((6, 3), (6, 3), (((1,), (1,)), ((0,), (0,))), "np.vecdot(x, y)"),
        ((6, 2, 3), (6, 3), (((2,), (1,)), ((0,), (0,))), "(x @ y[:, :, None])[:, :, 0]"),
        ((6, 3), (6, 3, 2), (((1,), (1,)), ((0,), (0,))), "(y.mT @ x[:, :, None])[:, :, 0]"),
        ((6, 3), (6, 2), (NONE, ((0,), (0,))), "x[:, :, None] * y[:, None]"),
        ((2, 6, 3), (6, 3, 4), (((2,), (1,)), ((1,), (0,))), 'np.einsum("cab,abd->acd", x, y)'),
    ],
)  # fmt: skip
def test_layouts(x, y, numbers, text: str) -> None:
    def product(x, y):
        return lax.dot_general(x, y, numbers)

    assert expression(product, f64(*x), f64(*y)) == text
    closed = jaxpr(product, f64(*x), f64(*y))
    random = np.random.default_rng(0)
    arguments = [random.integers(-3, 4, shape).astype(float) for shape in (x, y)]
    (found,) = compile_jaxpr(closed)(*arguments)
    (expected,) = evaluate(closed, *arguments)
    np.testing.assert_array_equal(found, expected)


def test_sizes_of_reshaped_operands_are_named() -> None:
    def weights(x, y):
        return lax.dot_general(x, y, (((0, 1), (0, 1)), ((), ())))

    assert expression(weights, f64("n", "t", "d"), f64("n", "t", "h")) == (
        "x.reshape(-1, d).T @ y.reshape(-1, h)"
    )


def test_complex_numbers_are_not_conjugated() -> None:
    matrix = f64(2, 3)
    matrix.dtype = np.dtype(np.complex128)

    def total(x, y):
        return lax.dot_general(x, y, (((0, 1), (0, 1)), ((), ())))

    assert expression(total, matrix, matrix) == "x.ravel() @ y.ravel()"
