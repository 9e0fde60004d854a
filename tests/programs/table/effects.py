"""Checks that stay checks: `assert` and `raise` where values decide."""

import math

import numpy as np


def positive(x: float) -> float:
    """
    >>> positive(0.7)
    >>> positive(1.9)
    """
    assert x > 0.0, "x must be positive"
    return math.log(x)


def within(x: float, y: float) -> float:
    """
    >>> within(0.7, 0.2)
    >>> within(0.3, 0.4)
    """
    assert 0.0 < x + y < 2.0, f"the sum {x + y:.3f} of {x} and {y} is out of range"
    return math.log(x + y)


def no_negative_elements(x):
    """
    >>> no_negative_elements(np.array([0.4, 0.9, 1.4]))
    >>> no_negative_elements(np.array([1.4, 0.2, 0.6]))
    >>> no_negative_elements(np.array([1.4, 0.2, 0.6, 2.0]))
    """
    assert x.ndim == 1
    assert np.all(x > 0.0), "an element is not positive"
    return np.sum(np.sqrt(x))


def checked_first(x: float) -> float:
    """
    >>> checked_first(0.49)
    >>> checked_first(1.21)
    """
    if x < 0.0:
        raise ValueError("no root of a negative number")
    return math.sqrt(x)


def refused_last(x: float) -> float:
    """
    >>> refused_last(0.49)
    >>> refused_last(1.21)
    """
    if x > 0.0:
        return math.sqrt(x)
    raise ValueError(f"no root of {x}")


def by_range(x: float) -> float:
    """
    >>> by_range(0.2)
    >>> by_range(0.8)
    """
    if x < 0.5:
        y = x * x
    elif x < 1.5:
        y = 1.0 / x
    else:
        raise ValueError(f"{x} is beyond the table")
    return y + 1.0


def helper_that_checks(rate, name):
    if rate < 0.0:
        raise ValueError("the rate " + name + " is negative")
    return rate


def checked_by_a_function(x: float, y: float) -> float:
    """
    >>> checked_by_a_function(0.3, 0.5)
    >>> checked_by_a_function(0.9, 0.1)
    """
    return helper_that_checks(x, "of growth") * math.exp(-helper_that_checks(y, "of decay"))


def every_row_is_checked(x):
    """
    >>> every_row_is_checked(np.array([0.4, 0.9, 1.4]))
    >>> every_row_is_checked(np.array([1.4, 0.2, 0.6]))
    >>> every_row_is_checked(np.array([1.4, 0.2, 0.6, 2.0]))
    """
    total = 0.0
    for k, value in enumerate(x):
        if value < 0.0:
            raise ValueError(f"row {k} is {value}")
        total += np.sqrt(value)
    return total


def limited_steps(a: float) -> float:
    """
    >>> limited_steps(0.77)
    >>> limited_steps(7.1)
    """
    x = a
    steps = 0
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
        steps += 1
        if steps > 50:
            raise RuntimeError("no convergence after 50 steps")
    return x


def converged_or_not(a: float) -> float:
    """
    >>> converged_or_not(0.77)
    >>> converged_or_not(7.1)
    """
    x = 1.0
    for _ in range(60):
        new = 0.5 * (x + a / x)
        if abs(new - x) < 1e-13:
            break
        x = new
    else:
        raise RuntimeError("no convergence")
    return x


def chosen_or_refused(x: float) -> float:
    """
    >>> chosen_or_refused(0.77)
    >>> chosen_or_refused(1.3)
    """

    def fail():
        raise ArithmeticError("x is not positive")

    return math.sqrt(x) if x > 0.0 else fail()


def checked_where_it_is(x, t):
    """
    >>> checked_where_it_is(np.array([0.4, 0.9, 1.4]), 1.2)
    >>> checked_where_it_is(np.array([0.5, 0.2, 1.1]), 5.1)
    """
    i = int(t)
    if i < len(x):
        assert x[i] > 0.0, "the element is not positive"
    return np.sum(np.sqrt(x)) * t
