"""Gradients of solvers, from the generated modules alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2s
from tests.control import solvers
from tests.control.derivatives import generated

RANDOM = np.random.default_rng(5)
CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (solvers.newton, (1.3, 2.1)),
    (solvers.newton, (0.7, -1.0)),
    (solvers.fixed_point, (RANDOM.normal(size=(4, 4)) * 0.2, RANDOM.normal(size=4))),
    (solvers.adaptive, (0.9, 1.0, 3.0)),
    (solvers.adaptive, (1.7, 0.2, 2.0)),
    (solvers.kalman, (-1.0, 0.3, RANDOM.normal(size=30))),
]


@pytest.mark.parametrize(("solver", "args"), CASES, ids=lambda part: getattr(part, "__name__", ""))
def test_gradients_agree_with_central_differences(
    solver: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    wrt = tuple(range(len(args)))
    module = generated(s2s.value_and_grad(solver, argnums=wrt), *args)
    along = tuple(RANDOM.normal(size=np.shape(a)) for a in args)
    value, bars = module(*args)
    np.testing.assert_allclose(value, solver(*args), rtol=1e-13)
    step = 1e-5
    up, down = (
        module(*[a + sign * step * t for a, t in zip(args, along, strict=True)])[0]
        for sign in (1.0, -1.0)
    )
    found = sum(np.vdot(bar, t) for bar, t in zip(bars, along, strict=True))
    np.testing.assert_allclose(found, (up - down) / (2.0 * step), rtol=1e-6)


def test_a_shift_of_carried_values_reads_as_one() -> None:
    text = s2s.source(s2s.grad(solvers.fixed_point), np.eye(4) * 0.1, np.ones(4))
    assert "while np.max(np.abs(x - old)) > 1e-13:\n" in text
    assert "        old = x\n        x = x_1\n" in text


def test_what_a_row_is_taken_away_from_is_a_row() -> None:
    args = (-1.0, 0.3, np.ones(30))
    text = s2s.source(s2s.grad(solvers.kalman), *map(np.asarray, args))
    assert "identity = np.eye(2)\n" in text
    assert "cov_bar_1[0] -= gain @ cov_bar\n" in text
