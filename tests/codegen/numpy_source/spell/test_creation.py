"""Values made of sizes."""

import numpy as np

from s2s import lax
from s2s.ir.dims import dimension
from tests.codegen.numpy_source.bodies import expression, f64

N, M = dimension("n"), dimension("m")
I64, F64 = np.dtype(np.int64), np.dtype(np.float64)


def test_numbers_of_places() -> None:
    def columns(x):
        return lax.mul(x, lax.convert_element_type(lax.broadcasted_iota(I64, (N, M), 1), F64))

    def rows(x):
        return lax.mul(x, lax.convert_element_type(lax.broadcasted_iota(I64, (N, M), 0), F64))

    assert expression(columns, f64("n", "m")) == "x * np.arange(m)"
    assert expression(rows, f64("n", "m")) == "x * np.arange(n)[:, None]"


def test_sizes() -> None:
    def scaled(size):
        def function(x):
            number = lax.convert_element_type(lax.dim_as_value(size), F64)
            return lax.div(x, number)

        return function

    assert expression(scaled(N), f64("n", "m")) == "x / n"
    assert expression(scaled(M * N), f64("n", "m")) == "x / (n * m)"
    assert expression(scaled(2 * N - 1), f64("n", "m")) == "x / (2 * n - 1)"
    assert expression(scaled(N * N), f64("n", "m")) == "x / n**2"
    assert expression(scaled(N // 2), f64("n", "m")) == "x / (n // 2)"
