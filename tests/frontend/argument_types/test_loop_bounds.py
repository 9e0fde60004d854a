"""Which integers with a default stay arguments, since they only say how often loops run."""

from __future__ import annotations

import ast

import pytest

from s2s.frontend.argument_types.loop_bounds import bounds_of_loops


@pytest.mark.parametrize(
    "body",
    [
        "for _ in range(n): x = x * 2.0",
        "for k in range(1, n + 1): x = x / k",
        "for k in reversed(range(2 * n)): x = x / k",
        "dt = 1.0 / n\n    for _ in range(n): x = x + dt",
        "x = sum(x / k for k in range(1, n))",
        "for k in range(n):\n        if k < n - 1: x = x * k",
    ],
)
def test_stays_an_argument(body: str) -> None:
    assert "n" in bounds_of_loops(ast.parse(f"def f(x, n=3):\n    {body}\n    return x"))


@pytest.mark.parametrize(
    "body",
    [
        "x = x ** n",
        "x = np.zeros(n)",
        "for _ in range(n): x = np.roll(x, n)",
        "for _ in range(len(x)): x = x[n]",
        "for _ in range(n): x = f(x, k=n)",
    ],
)
def test_is_fixed(body: str) -> None:
    assert "n" not in bounds_of_loops(ast.parse(f"def f(x, n=3):\n    {body}\n    return x"))
