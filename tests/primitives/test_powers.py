"""Powers, roots, exponentials and logarithms at the points where a formula may fail."""

import math

import numpy as np
import pytest

from s2s import lax
from tests.primitives.derivatives import tangent

f = np.float64


@pytest.mark.parametrize(
    "x, y, by_x",
    [
        (0.0, 0.0, 0.0),
        (0.0, 1.0, 1.0),
        (0.0, 2.0, 0.0),
        (0.0, 3.5, 0.0),
        (2.0, 0.0, 0.0),
        (-2.0, 3.0, 12.0),
        (-2.0, 2.0, -4.0),
        (2.0, -1.0, -0.25),
    ],
)
def test_pow_by_its_base(x: float, y: float, by_x: float) -> None:
    assert tangent(lax.pow, [f(x), f(y)], [f(1.0), None]) == by_x
    of_number = tangent(lambda x: lax.pow(x, y), [f(x)], [f(1.0)])
    assert (0.0 if of_number is None else of_number) == by_x


@pytest.mark.parametrize("x, y, by_y", [(0.0, 2.0, 0.0), (0.0, 0.0, 0.0), (1.0, 3.0, 0.0)])
def test_pow_by_its_exponent_where_the_logarithm_of_the_base_is_no_use(
    x: float, y: float, by_y: float
) -> None:
    assert tangent(lax.pow, [f(x), f(y)], [None, f(1.0)]) == by_y
    assert tangent(lambda y: lax.pow(x, y), [f(y)], [f(1.0)]) == by_y


@pytest.mark.parametrize("x", [-1.5, 0.0, 2.0])
@pytest.mark.parametrize("y", [0, 1, 2, 3])
def test_integer_pow(x: float, y: int) -> None:
    found = tangent(lambda x: lax.integer_pow(x, y), [f(x)], [f(1.0)])
    assert (0.0 if found is None else found) == (y * x ** (y - 1) if y else 0.0)


def test_sqrt_has_infinite_slope_at_zero() -> None:
    with np.errstate(divide="ignore"):
        assert tangent(lax.sqrt, [f(0.0)], [f(1.0)]) == math.inf


def test_expm1_keeps_its_digits_far_left() -> None:
    assert tangent(lax.expm1, [f(-50.0)], [f(1.0)]) == np.exp(-50.0)


def test_log1p_keeps_its_digits_near_zero() -> None:
    assert tangent(lax.log1p, [f(1e-20)], [f(1.0)]) == 1.0


@pytest.mark.parametrize("y, by_x", [(-np.inf, 1.0), (-800.0, 1.0), (0.0, 0.5), (800.0, 0.0)])
def test_logaddexp_saturates(y: float, by_x: float) -> None:
    assert tangent(lax.logaddexp, [f(0.0), f(y)], [f(1.0), None]) == by_x


def test_hypot_does_not_overflow() -> None:
    assert tangent(lax.hypot, [f(3e200), f(4e200)], [f(1.0), None]) == pytest.approx(0.6, rel=1e-15)
