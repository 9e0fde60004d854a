"""Arrays of plain numbers that a function makes, and then puts traced values in."""

from __future__ import annotations

import numpy as np
import pytest

from tests.frontend.tracing import agrees, f64, refusal

ARRAY = np.arange(4.0)
X = np.array([0.3, -1.2, 2.5, 0.7])


def from_a_list(x):
    weights = np.array([1.0, 2.0, 3.0])
    alias = weights
    weights[1] = 5.0
    weights[0] = x[1]
    return weights, alias


def from_arithmetic(x):
    weights = ARRAY * 2.0
    weights[1:] += x[1:]
    opposite = -ARRAY
    opposite *= x
    return weights, opposite


def from_a_copy(x):
    weights = ARRAY.copy()
    part = weights[::2]
    part[:] = x[:2]
    return weights, part


def made_by(count):
    return np.array([1.0] * count)


def from_another_function(x):
    first, second = made_by(4), made_by(4)
    first[0] = x[0]
    return first, second


def within_try(x):
    try:
        weights = ARRAY[[3, 2, 1, 0]]
        weights += x
    except Exception:
        weights = ARRAY
    return weights


@pytest.mark.parametrize(
    "function", [from_a_list, from_arithmetic, from_a_copy, from_another_function, within_try]
)
def test_are_traced_from_the_beginning(function) -> None:
    agrees(function, X.copy())


def test_arrays_from_outside_are_not_changed() -> None:
    def captured(x):
        ARRAY[0] = x[0]
        return ARRAY

    def under_another_name(x):
        array = np.asarray(ARRAY)
        array += x
        return array

    def view(x):
        row = ARRAY[1:]
        row[0] = x[0]
        return row

    for function in (captured, under_another_name, view):
        assert "lives on outside of the function" in refusal(function, f64(4)).message
    np.testing.assert_array_equal(ARRAY, np.arange(4.0))
