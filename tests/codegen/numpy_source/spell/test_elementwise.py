"""Arithmetic as one writes it."""

import numpy as np
import pytest

from s2s import lax
from s2s.ir.jaxpr import ShapedArray
from tests.codegen.numpy_source.bodies import FLOAT, body, expression, f64, jaxpr

N = f64("n")
F64 = np.dtype(np.float64)
F32 = ShapedArray((3,), np.dtype(np.float32))


@pytest.mark.parametrize(
    ("fun", "text"),
    [
        (lambda x, y: lax.add(x, lax.mul(y, 2.0)), "x + y * 2.0"),
        (lambda x, y: lax.mul(lax.add(x, y), y), "(x + y) * y"),
        (lambda x, y: lax.mul(x, lax.mul(y, x)), "x * (y * x)"),
        (lambda x, y: lax.sub(x, lax.sub(y, x)), "x - (y - x)"),
        (lambda x, y: lax.add(x, lax.neg(y)), "x - y"),
        (lambda x, y: lax.add(x, lax.neg(lax.mul(x, y))), "x - x * y"),
        (lambda x, y: lax.sub(x, lax.mul(-2.0, y)), "x + 2.0 * y"),
        (lambda x, y: lax.add(lax.neg(x), y), "-x + y"),
        (lambda x, y: lax.neg(lax.mul(x, y)), "-x * y"),
        (lambda x, y: lax.neg(lax.add(x, y)), "-(x + y)"),
        (lambda x, y: lax.neg(lax.integer_pow(x, 2)), "-(x**2)"),
        (lambda x, y: lax.neg(lax.mul(lax.integer_pow(x, 2), y)), "-(x**2) * y"),
        (lambda x, y: lax.neg(lax.div(lax.mul(2.0, x), y)), "-2.0 * x / y"),
        (lambda x, y: lax.integer_pow(lax.neg(x), 3), "(-x) ** 3"),
        (lambda x, y: lax.integer_pow(lax.sin(x), -2), "np.sin(x) ** -2"),
        (lambda x, y: lax.pow(x, 0.5), "x**0.5"),
        (lambda x, y: lax.select_n(lax.gt(x, y), y, -1.0), "np.where(x > y, -1.0, y)"),
        (lambda x, y: lax.max(lax.neg(x), 0.0), "np.maximum(-x, 0.0)"),
        (lambda x, y: lax.mul(x, lax.convert_element_type(lax.lt(x, y), F64)), "x * (x < y)"),
    ],
)  # fmt: skip
def test_primal(fun, text: str) -> None:
    assert expression(fun, N, N) == text


@pytest.mark.parametrize(
    ("fun", "text"),
    [
        (lambda x, y: lax.mul(x, 2.0), "2.0 * x"),
        (lambda x, y: lax.mul(x, lax.mul(y, x)), "x * y * x"),
        (lambda x, y: lax.add(lax.neg(x), y), "y - x"),
        (lambda x, y: lax.add(x, lax.add(y, x)), "x + y + x"),
        (lambda x, y: lax.mul(-1.0, lax.add(x, y)), "-(x + y)"),
    ],
)
def test_derivative(fun, text: str) -> None:
    """The terms and factors of a derivative have no order that must be kept."""
    assert expression(fun, N, N, in_phase="cotangent") == text


def test_a_number_is_not_multiplied_into_an_array_twice() -> None:
    closed = jaxpr(lambda x, y: lax.mul(x, lax.mul(2.0, y)), N, f64(), in_phase="cotangent")
    assert body(closed) == ["value = x * (2.0 * y)", "return value"]


@pytest.mark.parametrize(
    ("fun", "text"),
    [
        (lambda x, y: lax.sqrt(lax.add(x, y)), "math.sqrt(x + y)"),
        (lambda x, y: lax.abs(x), "abs(x)"),
        (lambda x, y: lax.select_n(lax.gt(x, y), y, x), "x if x > y else y"),
        (lambda x, y: lax.mul(lax.select_n(lax.gt(x, y), y, x), x), "(x if x > y else y) * x"),
        (lambda x, y: lax.exp(lax.mul(-0.5, lax.integer_pow(x, 2))), "math.exp(-0.5 * x**2)"),
    ],
)
def test_python_numbers(fun, text: str) -> None:
    assert expression(fun, FLOAT, FLOAT) == text


def test_numbers_take_the_element_type_of_what_they_meet() -> None:
    assert expression(lambda x: lax.mul(x, 0.1), F32) == "x * 0.1"


def test_infinite_numbers() -> None:
    assert expression(lambda x: lax.min(x, np.inf), N) == "np.minimum(x, np.inf)"
    assert expression(lambda x: lax.add(x, -np.inf), N) == "x - np.inf"


def test_negation_is_never_the_operand_itself() -> None:
    """-(-x) folded to x would return the caller's own array."""
    assert expression(lambda x: lax.neg(lax.neg(x)), N) == "-(-x)"
