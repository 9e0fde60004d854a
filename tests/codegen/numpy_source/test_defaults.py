"""Arguments that are left out have in the generated function what they have in the user's."""

# ruff: noqa: B006, B008 -- such defaults are what is tested

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2s

X = np.array([0.3, 0.7])
LARGE = np.arange(100.0)


def array(x, w=np.array([1.0, 2.0])):
    return np.sum(w * x**2)


def pair(x, w=[1.0, 2.0]):
    return w[0] * x[0] ** 2 + w[1] * x[1]


def settings(x, s={"rate": 0.1, "layers": (1, 0), "kind": "mean", "w": [np.ones(2), None]}):
    return s["rate"] * x[s["layers"][0]] ** 2 * s["w"][0][1]


def endless(x, most=np.inf, least=-np.inf, unknown=float("nan")):
    return np.sum(np.clip(x, least, most) ** 2)


def number_of_numpy(x, scale=np.float64(2.0)):
    return np.sum(x * x) * scale


def made(function: Callable[..., Any], *args: Any) -> Callable[..., Any]:
    namespace: dict[str, Any] = {}
    exec(s2s.source(s2s.value_and_grad(function), *args), namespace)
    return namespace[f"{function.__name__}_value_and_grad"]


@pytest.mark.parametrize("function", [array, pair, settings, endless, number_of_numpy])
def test_what_is_left_out(function) -> None:
    generated = made(function, X)
    value, bar = generated(X)
    assert value == function(X)
    defaults = function.__defaults__
    np.testing.assert_array_equal(generated(X, *defaults)[1], bar)


def test_what_cannot_be_written_must_be_given() -> None:
    def scaled(x, w=LARGE):
        return np.sum(w) * np.sum(x)

    generated = made(scaled, X, LARGE)
    assert generated(X, LARGE)[0] == scaled(X)
    with pytest.raises(ValueError, match=r"expected x: f64\[n\], w: f64\[m\]"):
        generated(X)


def test_none_where_an_array_is_expected() -> None:
    def weighted(x, w=None):
        return np.sum(x if w is None else x * w)

    with pytest.raises(ValueError, match="expected x"):
        made(weighted, X, X)(X)
