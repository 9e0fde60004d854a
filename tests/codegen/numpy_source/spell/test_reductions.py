"""Reductions over axes, as functions and as methods."""

import pytest

from s2s import lax
from tests.codegen.numpy_source.bodies import at, expression, f64

MATRIX = f64("n", "m")


@pytest.mark.parametrize(
    ("fun", "text"),
    [
        (lambda x: lax.reduce_sum(x, (0, 1)), "np.sum(x)"),
        (lambda x: lax.reduce_sum(x, (1,)), "np.sum(x, axis=1)"),
        (lambda x: lax.reduce_max(lax.exp(x), (0,)), "np.max(np.exp(x), axis=0)"),
        (lambda x: lax.reduce_prod(x, (0, 1)), "np.prod(x)"),
        (lambda x: lax.cumsum(x, 1), "np.cumsum(x, axis=1)"),
    ],
)
def test_functions(fun, text: str) -> None:
    assert expression(fun, MATRIX) == text


def test_several_axes() -> None:
    assert expression(lambda x: lax.reduce_sum(x, (0, 2)), f64(2, 3, 4)) == "np.sum(x, axis=(0, 2))"


@pytest.mark.parametrize(
    ("line", "text"),
    [("return x.sum(axis=0)", "x.sum(axis=0)"), ("return np.sum(x, axis=0)", "np.sum(x, axis=0)")],
)
def test_as_the_user_says_it(line: str, text: str) -> None:
    def total(x):
        at(3, line)
        return lax.reduce_sum(x, (0,))

    assert expression(total, MATRIX) == text


def test_derivatives_use_methods_of_named_values() -> None:
    def gradient(x):
        return lax.reduce_sum(x, (0,))

    assert expression(gradient, MATRIX, in_phase="cotangent") == "x.sum(axis=0)"


def test_a_total_of_a_broadcast_counts_each_element() -> None:
    def total(x, y):
        return lax.reduce_sum(lax.exp(lax.broadcast_in_dim(y, x.aval.shape, (1,))), (0,))

    assert (
        expression(total, MATRIX, f64("m")) == "np.sum(np.broadcast_to(np.exp(y), (n, m)), axis=0)"
    )
