"""What is computed of arrays of float32 and numbers has the element type that NumPy gives it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2s


def over_ones(x: Any) -> Any:
    return np.exp(x / np.ones(2)).sum()


def over_repeated_ones(x: Any) -> Any:
    scale = np.ones(2)
    return np.sum(((x[:, None] - x) / scale) ** 2) * 0.1


def times_a_number_of_numpy(x: Any) -> Any:
    return np.exp(x[0] * np.float64(0.1))


def times_a_number_of_python(x: Any) -> Any:
    return np.exp(x[0] * 0.1)


def below_a_number_of_numpy(x: Any) -> Any:
    return np.where(x <= np.float64(0.1), x[::-1], x).sum() + (x[0] == np.float64(0.1))


def between_constant_arrays(x: Any) -> Any:
    return np.sum(np.maximum(x, np.full(2, 0.3)) * 0.1 + np.full(2, 0.7) ** x)


def scaled_by_what_a_loop_carries(x: Any) -> Any:
    scale, total = np.float64(0.5), 0.0
    for _ in range(10):
        total = total + (scale * x).sum() * 0.1
        scale = scale * 0.9
    return total


@pytest.mark.parametrize(
    "function",
    [
        over_ones,
        over_repeated_ones,
        times_a_number_of_numpy,
        times_a_number_of_python,
        below_a_number_of_numpy,
        between_constant_arrays,
        scaled_by_what_a_loop_carries,
    ],
)
def test_constants_of_float64_make_results_of_float64(function: Callable[..., Any]) -> None:
    x = np.array([0.1, 0.7], np.float32)
    found, x_bar = s2s.value_and_grad(function)(x)
    wanted = function(x)
    assert np.asarray(found).dtype == np.asarray(wanted).dtype
    assert found == wanted
    assert x_bar.dtype == np.float32


def far_ones(p: Any) -> Any:
    total = np.zeros_like(p)
    for i in range(len(p)):
        row = p[i]
        squares = row @ row
        if squares > 2.25:
            continue
        total[i] += 24 * squares * row
    return total.sum()


def test_a_cotangent_that_is_zero_in_a_branch_is_of_float32() -> None:
    p = np.array([[0.0, 2.0], [1.0, 0.25], [0.5, 1.0]], np.float32)
    found = s2s.grad(far_ones)(p)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, s2s.grad(far_ones)(p.astype(float)), rtol=1e-6)


@pytest.mark.parametrize("rounded", [np.rint, np.floor, np.ceil, np.trunc])
def test_integers_that_are_converted_and_rounded_are_floats(rounded: Callable[..., Any]) -> None:
    def function(k: Any) -> Any:
        return rounded(k.astype(float)) * 3

    k = np.array([1, -2, 3])
    namespace: dict[str, Any] = {}
    exec(s2s.source(function, k), namespace)
    assert namespace["function"](k).dtype == np.float64
