"""What is added to the results of branches and loops is added inside."""

from __future__ import annotations

from typing import Any

import numpy as np

import s2s


def filtered(h: Any, x: Any) -> Any:
    out = np.zeros(len(x))
    for i in range(len(x)):
        acc = 0.0
        for j in range(len(h)):
            if i - j >= 0:
                acc += h[j] * x[i - j]
        out[i] = acc
    return out @ out


def taxed(income: float, low: float, high: float) -> float:
    if income <= 30.0:
        due = low * income
    else:
        due = low * 30.0 + high * (income - 30.0)
        if due > 0.3 * income:
            due = 0.3 * income
    return due


def code(fun: Any, *args: Any) -> str:
    """The statements of a generated function, without its comments."""
    lines = s2s.source(fun, *args).split('"""\n')[-1].splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith("#"))


def test_inner_loops_and_branches_add_to_the_sum_itself() -> None:
    text = code(s2s.grad(filtered), np.ones(3), np.ones(5))
    assert "            if i - j >= 0:\n                h_bar[j] += acc_bar * x[i - j]\n" in text
    assert "else:" not in text and text.count("np.zeros") == 2


def test_a_branch_that_does_not_matter_adds_nothing() -> None:
    text = code(s2s.grad(taxed), 50.0, 0.2, 0.4)
    assert "0.0\n" not in text.split("if at_most")[-1] and "due_bar" not in text
    for income in (20.0, 35.0, 80.0):
        slope = (taxed(income + 1e-6, 0.2, 0.4) - taxed(income - 1e-6, 0.2, 0.4)) / 2e-6
        np.testing.assert_allclose(s2s.grad(taxed)(income, 0.2, 0.4), slope, rtol=1e-8)
