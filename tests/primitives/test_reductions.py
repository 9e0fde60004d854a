"""Products with zeros and extrema with ties."""

import numpy as np
import pytest

from s2s import lax
from tests.primitives.derivatives import gradient


@pytest.mark.parametrize(
    "x, expected",
    [
        ([2.0, 3.0, 4.0], [12.0, 8.0, 6.0]),
        ([2.0, 0.0, 4.0], [0.0, 8.0, 0.0]),
        ([0.0, 0.0, 4.0], [0.0, 0.0, 0.0]),
        ([5.0], [1.0]),
    ],
)
def test_product(x: list[float], expected: list[float]) -> None:
    (found,) = gradient(lambda x: lax.reduce_prod(x, (0,)), np.array(x))
    np.testing.assert_array_equal(found, expected)


def test_product_over_two_axes_with_a_zero() -> None:
    x = np.array([[2.0, 0.0], [3.0, 5.0]])
    (found,) = gradient(lambda x: lax.reduce_prod(x, (0, 1)), x)
    np.testing.assert_array_equal(found, [[0.0, 30.0], [0.0, 0.0]])


def test_running_product_with_a_zero() -> None:
    x = np.array([2.0, 0.0, 3.0])
    (found,) = gradient(lambda x: lax.cumprod(x), x, ct=np.ones(3))
    np.testing.assert_array_equal(found, [1.0, 2.0 + 6.0, 0.0])


def test_second_derivative_of_a_product_with_a_zero() -> None:
    # x y z has the mixed derivative z, also where x is zero.
    def by_x(x, y, z):
        factors = lax.stack([x, y, z])
        return lax.reduce_prod(lax.slice(factors, (1,), (3,)), (0,))

    found = gradient(by_x, np.float64(0.0), np.float64(0.0), np.float64(7.0))
    assert found == [0.0, 7.0, 0.0]


@pytest.mark.parametrize("extremum", [lax.reduce_max, lax.reduce_min])
def test_equal_elements_share(extremum) -> None:
    (found,) = gradient(lambda x: extremum(x, (0,)), np.array([1.0, 1.0]))
    np.testing.assert_array_equal(found, [0.5, 0.5])


def test_no_elements() -> None:
    (found,) = gradient(lambda x: lax.reduce_prod(x, (0,)), np.zeros(0))
    assert found.shape == (0,)
