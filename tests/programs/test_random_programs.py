"""Random programs: values as Python's to the bit, derivatives as differences away from kinks,
batches as loops."""

from __future__ import annotations

import atexit
import linecache
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest

import s2s
from s2s.errors import UserError
from tests.programs.random_programs import programs

STEP = 1e-5

BUDGET = hypothesis.settings.default.max_examples
PROGRAMS = BUDGET if BUDGET > 1000 else BUDGET // 5
"""Each is transformed four times, so the short search looks at a fifth of what others do."""


def defined(text: str, name: str = "program") -> Callable[..., Any]:
    """The function that a text defines, in a file of its own, where s2s finds its lines."""
    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
        file.write(text)
    try:
        namespace: dict[str, Any] = {"__name__": "random_program"}
        exec(compile(text, file.name, "exec"), namespace)
        # The lines are read now, and remembered.
        linecache.getlines(file.name)
        return namespace[name]
    finally:
        atexit.register(Path(file.name).unlink)


def arguments(seed: int) -> tuple[Any, Any, Any]:
    normal = np.random.default_rng(seed).normal
    return normal(size=4) * 0.6, normal(size=(3, 4)) * 0.6, float(normal() * 0.6)


def slope(function: Callable[..., Any], args: Any, direction: Any) -> float | None:
    """The slope along a direction; None where one-sided and central differences say that the
    function has a kink or a jump nearby."""

    def at(h: float) -> float:
        return float(function(*[x + h * d for x, d in zip(args, direction, strict=True)]))

    middle = at(0.0)
    found: list[float] = []
    for h in (STEP, 8 * STEP):
        found += [(at(h) - middle) / h, (middle - at(-h)) / h]
    size = max(1.0, *map(abs, found))
    # The one-sided ones differ by h times the second derivative, which is moderate.
    if not np.all(np.isfinite(found)) or max(found) - min(found) > 2e-2 * size:
        return None
    return (at(STEP) - at(-STEP)) / (2.0 * STEP)


def check(text: str) -> str:
    """Compare all that s2s makes of a program with Python; says what could be compared."""
    function = defined(text)

    def value(x: Any, a: Any, s: Any) -> Any:
        return function(x.copy(), a.copy(), s)

    points = [arguments(seed) for seed in range(3)]
    try:
        generated = defined(s2s.source(function, *points[0]))
    except UserError as error:
        assert "fault of s2s" not in str(error)
        return "refused"
    for args in points:
        np.testing.assert_array_equal(generated(*args), value(*args))
    gradient = defined(s2s.source(s2s.grad(function, (0, 1, 2)), *points[0]), "program_grad")
    forward = s2s.jvp(function, points[0], tuple(arguments(7)))
    compared = 0
    for args in points:
        direction = arguments(7)
        expected = slope(value, args, direction)
        if expected is None:
            continue
        compared += 1
        bars = gradient(*args)
        found = sum(float(np.sum(b * d)) for b, d in zip(bars, direction, strict=True))
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
        if args is points[0]:
            np.testing.assert_allclose(forward[1], expected, rtol=1e-4, atol=1e-4)
            np.testing.assert_allclose(forward[1], found, rtol=1e-8, atol=1e-10)
    batch = [np.stack(column) for column in zip(*points, strict=True)]
    values = [value(*args) for args in points]
    np.testing.assert_allclose(s2s.vmap(function)(*batch), values, rtol=1e-10, atol=1e-12)
    return "compared" if compared else "at kinks"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@hypothesis.given(programs())
@hypothesis.settings(
    max_examples=PROGRAMS,
    # A smaller seed is no smaller program.
    phases=[hypothesis.Phase.generate],
    suppress_health_check=list(hypothesis.HealthCheck),
)
def test_as_python(text: str) -> None:
    hypothesis.event(check(text))
