"""Derivatives have the element type of the argument, also where numbers are all that they are."""

from typing import Any

import numpy as np
import pytest

import s2s

OF_NUMBERS: list[Any] = [
    lambda x: 3.0 * x,
    lambda x: np.float32(3) * x,
    lambda x: x * x,
    lambda x: x + 1,
    lambda x: -x / 4,
    lambda x: 2 * x + 3 * x,
    lambda x: np.where(x > 0, 2 * x, 3 * x),
    lambda x: 2 * x if x > 0 else 3 * x,
    lambda x: x * (5 if x > 2 else 2),
]


def added(x: Any) -> Any:
    total = 0.0
    for v in x:
        total = total + 3 * v
    return total


OF_ARRAYS: list[Any] = [
    lambda x: np.sum(3.0 * x),
    lambda x: np.mean(x) + 2 * np.sum(x) / 3,
    lambda x: np.sum(x[:1] * 3 + x[1:]),
    lambda x: -x[0] * 4,
    lambda x: 2 * x[0] if x[0] > 0 else 3 * x[0],
    lambda x: np.sum(np.where(x > 0, 2 * x, 3 * x)),
    lambda x: np.sum(np.maximum(x, 0)) + np.sum(np.clip(x, 0, 1)) + np.sum(np.abs(x)),
    lambda x: np.sum(np.where(x > 0, 1.0, 2.0) * x),
    lambda x: np.sum(x[x > 0]) + np.max(x),
    lambda x: np.sum(np.heaviside(x, 0.5) * x),
    lambda x: np.sum(np.cumsum(x)) + np.sum(np.sort(x) * np.float32(2)),
    lambda x: np.sum(np.concatenate([x, 2 * x])) + np.std(x),
    lambda x: np.sum(np.float64(2.0) * x),
    added,
]

HALVES_AND_SINGLES = pytest.mark.parametrize("dtype", [np.float16, np.float32])


def assert_of_type(transformed: Any, x: Any, dtype: Any) -> None:
    by_numpy, by_xla = transformed(x), s2s.jit(transformed)(x)
    assert np.asarray(by_numpy).dtype == np.asarray(by_xla).dtype == dtype
    np.testing.assert_allclose(by_xla, by_numpy, rtol=1e-2)


@HALVES_AND_SINGLES
@pytest.mark.parametrize("fun", OF_NUMBERS)
def test_derivatives_of_numbers(fun: Any, dtype: Any) -> None:
    for transformed in (s2s.grad(fun), s2s.grad(s2s.grad(fun))):
        assert_of_type(transformed, dtype(1.5), dtype)


@HALVES_AND_SINGLES
@pytest.mark.parametrize("fun", OF_ARRAYS)
def test_derivatives_of_arrays(fun: Any, dtype: Any) -> None:
    x = np.array([1.0, 2.5, -0.5], dtype)
    for transformed in (s2s.grad(fun), s2s.hessian(fun)):
        assert_of_type(transformed, x, dtype)
    assert_of_type(s2s.vmap(s2s.grad(fun)), np.stack([x, x]), dtype)


@pytest.mark.parametrize(
    "number", [np.int8(3), np.uint64(2**62), np.float32(0.1), np.float16(1.5), np.int64(3)]
)
def test_numbers_of_an_element_type_are_results(number: Any) -> None:
    for fun in (
        lambda x: number,
        lambda x: (x, number)[1],
        lambda x: number if x > 0 else number * type(number)(2),
        lambda x: np.where(x > 0, number, number),
    ):
        by_xla, names = s2s.jit(fun)(1.0), dict[str, Any]()
        exec(s2s.source(fun, 1.0), names)
        by_numpy = names["function"](1.0)
        assert np.asarray(by_numpy).dtype == np.asarray(by_xla).dtype == number.dtype
        assert by_numpy == by_xla == number
