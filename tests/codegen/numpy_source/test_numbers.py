"""Numbers are replaced, arrays without axes are written into: which is which."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import s2s


def total(x: Any, xs: Any) -> Any:
    y = x * x if x > 0.0 else x
    for a in xs:
        y = y + np.where(x > a, x, 2.0)
    return y + x


def pulled_back(x: Any, xs: Any, y_bar: Any) -> Any:
    _, pullback = s2s.vjp(lambda x: total(x, xs), x)
    return pullback(y_bar)


@pytest.mark.parametrize("steps", [0, 7])
@pytest.mark.parametrize("x", [0.5, -0.5, 2.0])
def test_arguments_without_axes_stay_as_they_are(x: float, steps: int) -> None:
    text = s2s.source(pulled_back, np.float64(x), np.ones(7), np.float64(1.0))
    namespace: dict[str, Any] = {}
    exec(text, namespace)
    given, y_bar = np.array(x), np.array(3.0)
    first = namespace["pulled_back"](given, np.ones(steps), y_bar)
    assert namespace["pulled_back"](given, np.ones(steps), y_bar) == first
    assert (given, y_bar) == (x, 3.0)


def copied(x: Any) -> Any:
    y = np.array(x)
    y += 1.0
    z = np.array(y)
    z *= 2.0
    return x * y + z


def test_a_copy_of_an_argument_without_axes_is_changed_alone() -> None:
    namespace: dict[str, Any] = {}
    exec(s2s.source(s2s.value_and_grad(copied), np.array(0.5)), namespace)
    for _ in range(2):
        x = np.array(0.5)
        assert namespace["copied_value_and_grad"](x) == (copied(0.5), 4.0)
        assert x == 0.5
