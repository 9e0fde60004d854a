"""Random numbers are refused by name, unless the function seeds their generator itself."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from tests.frontend.tracing import agrees, f64, refusal

GENERATOR = np.random.default_rng(0)
RANDOM = random.Random(0)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda x: x + np.random.randn(3), "np.random.randn"),
        (lambda x: x + np.random.normal(size=3), "np.random.normal"),
        (lambda x: x + np.random.default_rng().normal(size=3), "np.random.default_rng"),
        (lambda x: x + np.random.RandomState(None).rand(3), "np.random.RandomState"),
        (lambda x: x + GENERATOR.normal(size=3), "np.random.Generator.normal"),
        (lambda x: np.random.seed(0) or x, "np.random.seed"),
        (lambda x: x * random.random(), "random.random"),
        (lambda x: x * random.uniform(0.0, 1.0), "random.uniform"),
        (lambda x: x * RANDOM.random(), "random.Random.random"),
        (lambda x: x * random.Random().random(), "random.Random"),
    ],
)
def test_random_numbers_are_refused(function: Any, name: str) -> None:
    error = refusal(function, f64(3))
    assert error.message.startswith(f"{name} gives other numbers at each call")
    assert "pass them in as an argument" in error.message


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + np.random.default_rng(7).normal(size=3),
        lambda x: x + np.random.RandomState(seed=7).rand(3),
        lambda x: x + np.random.Generator(np.random.PCG64(7)).uniform(size=3),
        lambda x: x * random.Random(7).random(),
    ],
)
def test_generators_that_the_function_seeds_are_allowed(function: Any) -> None:
    agrees(function, np.array([0.5, 1.0, 2.0]))
