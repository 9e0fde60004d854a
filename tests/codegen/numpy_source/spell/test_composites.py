"""Functions of several equations come back as themselves."""

import numpy as np
import pytest

from s2s import lax
from s2s.ir.dims import dimension
from tests.codegen.numpy_source.bodies import at, expression, f64

N, M = dimension("n"), dimension("m")


def mean(line: str, axes=(0, 1), count=N * M):
    def function(x):
        at(3, line)
        number = lax.convert_element_type(lax.dim_as_value(count), np.dtype(np.float64))
        return lax.div(lax.reduce_sum(x, axes), number)

    return function


@pytest.mark.parametrize(
    ("fun", "text"),
    [
        (mean("return np.mean(x)"), "np.mean(x)"),
        (mean("return x.mean()"), "x.mean()"),
        (mean("return np.mean(x, axis=0)", (0,), N), "np.mean(x, axis=0)"),
        (mean("return np.sum(x) / x.size"), "np.sum(x) / (n * m)"),
        (mean("return np.mean(x) / n", (0, 1), N), "np.sum(x) / n"),
    ],
)
def test_mean(fun, text: str) -> None:
    commented = expression(fun, f64("n", "m"))
    assert commented == text


def test_norm() -> None:
    def norm(x):
        at(3, "return np.linalg.norm(x)")
        return lax.sqrt(lax.dot_general(x, x, (((0,), (0,)), ((), ()))))

    assert expression(norm, f64("n")) == "np.linalg.norm(x)"
