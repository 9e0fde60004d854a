"""NumPy's functions that call Python functions for parts of arrays, or run over elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.frontend.tracing import agrees, f64, refusal, traced

X = np.array([0.5, -1.25, 2.0, 4.0, -3.0, 0.25])
M = np.arange(12.0).reshape(3, 4) - 5.0
T = np.arange(24.0).reshape(2, 3, 4) - 7.0


def leaky(x: float, slope: float = 0.5) -> float:
    return x if x > 0.0 else slope * x


@np.vectorize
def cut(x: float, low: float) -> float:
    return max(x, low) ** 2


def softmax(row: np.ndarray, scale: float = 1.0) -> np.ndarray:
    powers = np.exp(scale * (row - row.max()))
    return powers / powers.sum()


@pytest.mark.parametrize("x", [X, M, T, X[:1], np.float64(0.5), 0.5])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.vectorize(leaky)(x),
        lambda x: cut(x, -1.0),
        lambda x: np.vectorize(lambda t: isinstance(t, float) * t, otypes=[float])(x),
    ],
)
def test_functions_of_numbers(function: Callable[..., Any], x: Any) -> None:
    agrees(function, x)


def test_functions_of_numbers_of_several_arrays() -> None:
    agrees(lambda x, y: cut(x, y), M, M[0])
    agrees(lambda x, y: cut(x, y), M, M[:, :1] + 1.0)
    agrees(lambda x, y: cut(x, y), X[0], M)
    agrees(lambda x: cut(np.array([1.0, -2.0]), x[:2]), X)
    agrees(lambda x: np.vectorize(leaky, otypes=[np.float32])(x), np.float32([0.5, -1.5]))


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
@pytest.mark.parametrize(
    "function",
    [np.sum, np.cumsum, softmax, lambda row: row[:2, None] * row[-3:], lambda row: row @ row],
)
def test_functions_of_vectors(function: Callable[..., Any], axis: int) -> None:
    agrees(lambda x: np.apply_along_axis(function, axis, x), T)


def test_functions_of_vectors_with_more_arguments() -> None:
    agrees(lambda x, s: np.apply_along_axis(softmax, 0, x, scale=s), M, 0.5)
    agrees(lambda x, s: np.apply_along_axis(softmax, 0, x, s), X, 0.5)


@pytest.mark.parametrize("x", [X, M, np.float64(0.5), np.array([3, -1, 0])])
def test_functions_of_parts(x: Any) -> None:
    agrees(lambda x: np.piecewise(x, [x < 0], [lambda t: t**2]), x)
    agrees(lambda x: np.piecewise(x, [x < 0, x > 1], [np.abs, lambda t: 2 * t, 7]), x)
    agrees(lambda x: np.piecewise(x, [x < 1], [lambda t, s: s * t, lambda t, s: t - s], 3), x)
    agrees(lambda x: np.piecewise(x, x < 1, [lambda t: -t, lambda t: t]), X)
    agrees(lambda x: np.piecewise(x, [x < 1, x < 2], [1, lambda t: t + 1]), x)


def test_elements_with_their_indices() -> None:
    def weighted(x: np.ndarray) -> Any:
        total = 0.0
        for index, element in np.ndenumerate(x):
            total += element * (index[0] + 10 * index[-1]) + x[index]
        return total

    def shifted(x: np.ndarray) -> Any:
        out = np.zeros(x.shape)
        for index in np.ndindex(x.shape):
            out[index] = x[index] * index[0]
        for i, *_ in np.ndindex(*x.shape):
            out[i] += 1.0
        return out

    for x in (X, M, T):
        agrees(weighted, x)
        agrees(shifted, x)


def test_a_loop_over_the_indices_of_any_shape_is_one_loop() -> None:
    def total(x: np.ndarray) -> Any:
        total = 0.0
        for i, j in np.ndindex(x.shape):
            total += x[i, j] ** 2
        return total

    assert len(traced(total, f64("n", "m")).closed.jaxpr.eqns) < 8


def test_what_is_run_over() -> None:
    agrees(lambda x: np.fromiter((v * v for v in x), float), X)
    agrees(lambda x: np.fromiter([x[0], x[1]], dtype=np.float32), X)


@pytest.mark.parametrize(
    ("function", "part"),
    [
        (lambda x: np.vectorize(softmax, signature="(n)->(n)")(x), "with a signature"),
        (lambda x: cut(x, low=0.0), "arguments by name"),
        (lambda x: np.vectorize(lambda t: (t, t))(x), "of several results"),
        (lambda x: cut(x.astype(np.float32), 0.0), "otypes=[float]"),
        (lambda x: np.piecewise(x, [x < 0], [1, 2, 3]), "a function for each condition"),
        (lambda x: np.fromiter(x, float, 2), "with a count"),
    ],
)
def test_what_they_cannot_do_is_refused(function: Callable[..., Any], part: str) -> None:
    assert part in refusal(function, f64(3)).message
