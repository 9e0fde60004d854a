"""Slopes by differences, and what is said about their error."""

import numpy as np
import pytest

from s2s.verify.differences import slope, slope_nearby
from s2s.verify.findings import Disagreement, Findings


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda h: np.array([np.exp(1.0 + h)]), [np.exp(1.0)]),
        (lambda h: np.array([np.sin(5.0 * h), 3.0]), [5.0, 0.0]),
        (lambda h: np.array([1e8 + 3.0 * h]), [3.0]),
    ],
)
def test_smooth_functions(function, expected):
    found = slope(function)
    np.testing.assert_allclose(found.value, expected, rtol=1e-6)
    assert np.all(np.abs(found.value - expected) <= 30.0 * found.error + 1e-12)


def test_steps_out_of_the_domain_are_left_out():
    with np.errstate(all="ignore"):
        found = slope(lambda h: np.array([np.log(0.01 + h)]))
    np.testing.assert_allclose(found.value, [100.0], rtol=1e-6)


def test_errors_of_arithmetic_are_steps_out_of_the_domain():
    import math

    found = slope(lambda h: np.array([math.sqrt(0.01 + h)]))
    np.testing.assert_allclose(found.value, [5.0], rtol=1e-6)


def test_a_near_kink_is_passed_with_smaller_steps():
    found = slope(lambda h: np.array([abs(0.01 + h)]))
    np.testing.assert_allclose(found.value, [1.0], rtol=1e-9)


def test_at_a_kink_the_error_is_large():
    found = slope(lambda h: np.array([max(h, 0.0) ** 0.5]))
    assert found.error[0] > 0.01 * abs(found.value[0])


def test_where_nothing_is_finite_nothing_is_known():
    found = slope(lambda h: np.array([np.nan]))
    assert np.isinf(found.error[0])


def test_the_rounding_of_what_cancels_is_part_of_the_error():
    x = np.array([0.3, -1.7, 2.9])
    found = slope(lambda h: np.array([np.sum((x + h) - np.mean(x + h))]))
    assert abs(found.value[0]) <= 30.0 * found.error[0] < 1e-9


def jumping(h: float) -> np.ndarray:
    """The exponential function, which falls a little at each ninth of a thousandth."""
    return np.array([np.exp(h) - 1e-6 * np.floor(9000.0 * h + 0.5)])


def test_between_jumps_the_slope_is_that_of_small_steps():
    found = slope_nearby(jumping)
    np.testing.assert_allclose(found.value, [1.0], rtol=1e-9)
    assert found.error[0] < 1e-7


def test_a_derivative_between_jumps_is_right_and_another_one_is_not():
    extrapolated = slope(jumping)
    assert abs(extrapolated.value[0] - 1.0) > 100.0 * extrapolated.error[0]
    Findings().compare_slopes("the slope", np.array([1.0]), jumping, 8)
    with pytest.raises(Disagreement):
        Findings().compare_slopes("the slope", np.array([1.0 + 1e-4]), jumping, 8)
