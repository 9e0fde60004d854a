"""What the backward loop reads in the array that the forward loop left, and what it must keep."""

from collections.abc import Callable

import numpy as np
import pytest

import s2s


def previous(x):
    """Each element from the one before it."""
    out = np.zeros(5)
    out[0] = x[0]
    for t in range(1, 5):
        out[t] = x[t] * out[t - 1] ** 2
    return np.sum(out**3)


def two_before(x):
    out = np.zeros(5)
    out[:2] = x[:2]
    for t in range(2, 5):
        out[t] = x[t] * out[t - 1] * out[t - 2]
    return np.sum(out**3)


def own(x):
    """What a step has written itself is read."""
    out = np.zeros(5)
    total = 0.0
    for t in range(5):
        out[t] = x[t] ** 2
        total = total * 0.5 + out[t] ** 3
    return total


def downwards(x):
    out = x.copy()
    for t in range(3, -1, -1):
        out[t] = out[t] + x[t] * out[t + 1] ** 2
    return np.sum(out)


def rows(x):
    out = np.ones((5, 2))
    for t in range(1, 5):
        out[t] = np.array([x[t], 1.0]) * out[t - 1] ** 2
    return np.sum(out**2)


def ahead(x):
    """A row is read that a later step writes."""
    out = x.copy()
    for t in range(1, 4):
        out[t] = out[t + 1] ** 2 * x[t]
    return np.sum(out**3)


def before_itself(x):
    """A row is read before the same step writes it."""
    out = x.copy()
    for t in range(1, 5):
        out[t] = out[t] ** 2 * x[t - 1]
    return np.sum(out)


def around_the_end(x):
    """Index -1 in the first step is the last row, which a later step writes."""
    out = x.copy()
    for t in range(4):
        out[t + 1] = out[t - 1] ** 2 * x[t]
    return np.sum(out**3)


def twice(x):
    """A later step writes the row again."""
    out = x.copy()
    for t in range(1, 4):
        out[t] = out[t - 1] ** 2 * x[t]
        out[t - 1] = x[t] ** 2
    return np.sum(out**3)


LEFT = [previous, two_before, own, downwards, rows]
KEPT = [ahead, before_itself, around_the_end, twice]
POINT = np.array([0.7, 1.2, -0.4, 0.9, 1.1])


def text(fun: Callable[..., object]) -> str:
    return s2s.source(s2s.grad(fun), POINT)


@pytest.mark.parametrize("fun", [*LEFT, *KEPT], ids=lambda fun: fun.__name__)
def test_derivative(fun):
    found = s2s.grad(fun)(POINT)
    for place, step in enumerate(1e-5 * np.eye(5)):
        wanted = (fun(POINT + step) - fun(POINT - step)) / 2e-5
        assert found[place] == pytest.approx(wanted, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("fun", LEFT, ids=lambda fun: fun.__name__)
def test_nothing_is_kept_of_each_step(fun):
    assert "_steps" not in text(fun)


@pytest.mark.parametrize("fun", KEPT, ids=lambda fun: fun.__name__)
def test_what_is_overwritten_is_kept(fun):
    assert "_steps" in text(fun)
