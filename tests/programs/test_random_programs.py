"""Random programs: values as Python's to the bit, derivatives as differences away from kinks,
batches as loops, XLA as NumPy."""

from __future__ import annotations

import atexit
import linecache
import re
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

import s2s
from s2s.errors import UserError
from tests.programs import found_programs
from tests.programs.random_programs import program_of

STEP = 1e-5

DEFAULT = hypothesis.settings.default
assert DEFAULT is not None
BUDGET = DEFAULT.max_examples
PROGRAMS = BUDGET if BUDGET > 1000 else BUDGET // 5
"""Each is transformed four times, so the short search looks at a fifth of what others do."""

ARRAYS = (0, 1, 2)
"""The arguments that are differentiated."""

STEPS = np.int64(3)
"""The last argument, a number of steps."""

COUNTS = [np.int64(1), np.int64(2), np.int64(4)]
"""Others, one for each point."""


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


def arguments(seed: int, rows: int = 3, columns: int = 4) -> tuple[Any, Any, Any]:
    normal = np.random.default_rng(seed).normal
    return normal(size=columns) * 0.6, normal(size=(rows, columns)) * 0.6, float(normal() * 0.6)


def moved(args: Any, direction: Any, h: float) -> Any:
    return [x + h * d for x, d in zip(args, direction, strict=True)]


def slope(function: Callable[..., Any], args: Any, direction: Any) -> float | None:
    """The slope along a direction; None where one-sided and central differences say that the
    function has a kink or a jump nearby."""

    def at(h: float) -> float:
        return float(function(*moved(args, direction, h)))

    middle = at(0.0)
    found: list[float] = []
    for h in (STEP, 8 * STEP):
        found += [(at(h) - middle) / h, (middle - at(-h)) / h]
    size = max(1.0, *map(abs, found))
    # The one-sided ones differ by h times the second derivative, which is moderate.
    if not np.all(np.isfinite(found)) or max(found) - min(found) > 2e-2 * size:
        return None
    return (at(STEP) - at(-STEP)) / (2.0 * STEP)


def refusal(error: UserError) -> str:
    """What an error says, without the line and the names."""
    message = str(error)
    assert "fault of s2s" not in message, message
    return "refused: " + re.sub(r"`[^`]*`", "`_`", message.split("`: ", 1)[-1])[:90]


def outcome(text: str, thorough: bool = False) -> str:
    """Compare what s2s makes of a program with Python; says what could be compared."""
    try:
        return compared(defined(text), thorough)
    except UserError as error:
        return refusal(error)


def compared(function: Callable[..., Any], thorough: bool) -> str:
    name = function.__name__

    def value(x: Any, a: Any, s: Any, k: Any = STEPS) -> Any:
        return function(x.copy(), a.copy(), s, k)

    def along(x: Any, a: Any, s: Any) -> Any:
        return function(x, a, s, STEPS)

    points = [arguments(seed) for seed in range(3)]
    generated = defined(s2s.source(function, *points[0], STEPS), name)
    for args, k in zip(points, COUNTS, strict=True):
        np.testing.assert_array_equal(generated(*args, k), value(*args, k))
    source = s2s.source(s2s.grad(function, ARRAYS), *points[0], STEPS)
    gradient = defined(source, f"{name}_grad")
    direction = arguments(7)
    number = 0
    for args in points:
        expected = slope(value, args, direction)
        if expected is None:
            continue
        found = inner(gradient(*args, STEPS), direction)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
        if not number:
            forward = s2s.jvp(along, args, direction)[1]
            np.testing.assert_allclose(forward, found, rtol=1e-8, atol=1e-10)
        number += 1
    if thorough:
        compare_batch(function, value, points)
        compare_other_sizes(generated, value)
        compare_second_derivative(function, value, gradient, points[1])
        compiled = s2s.jit(function)(*points[1], STEPS)
        np.testing.assert_allclose(compiled, value(*points[1]), rtol=1e-9, atol=1e-11)
    return "compared" if number else "at kinks"


def inner(bars: Any, direction: Any) -> Any:
    parts: list[Any] = [np.sum(b * d) for b, d in zip(bars, direction, strict=True)]
    return sum(parts)


def compare_batch(function: Callable[..., Any], value: Callable[..., Any], points: Any) -> None:
    """A batch whose elements take other branches and numbers of steps."""
    batch = [np.stack(column) for column in zip(*points, strict=True)]
    wanted = [value(*args, k) for args, k in zip(points, COUNTS, strict=True)]
    found = s2s.vmap(function)(*batch, np.array(COUNTS))
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


def compare_other_sizes(generated: Callable[..., Any], value: Callable[..., Any]) -> None:
    """What was made for open sizes, where the program allows others than those of the example."""
    args = arguments(5, rows=4, columns=6)
    try:
        wanted, found = value(*args), generated(*args, STEPS)
    except (ValueError, IndexError):
        return
    np.testing.assert_array_equal(found, wanted)


def compare_second_derivative(
    function: Callable[..., Any], value: Callable[..., Any], gradient: Callable[..., Any], args: Any
) -> None:
    """The gradient of the gradient along one direction, along another."""
    first, second = arguments(7), arguments(8)

    def along(x: Any, a: Any, s: Any, k: Any) -> Any:
        return inner(s2s.grad(function, ARRAYS)(x, a, s, k), first)

    def gradient_along(x: Any, a: Any, s: Any) -> Any:
        return inner(gradient(x, a, s, STEPS), first)

    if slope(value, args, second) is None:
        return
    expected = slope(gradient_along, args, second)
    if expected is not None:
        found = inner(s2s.grad(along, ARRAYS)(*args, STEPS), second)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


FOUND = [f for f in vars(found_programs).values() if isinstance(f, FunctionType)]


@pytest.mark.parametrize("function", FOUND)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_was_found(function: Callable[..., Any]) -> None:
    assert compared(function, thorough=True) == "compared"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_as_python() -> None:
    """Each tenth is looked at thoroughly. Most programs are not refused, or there is no test."""
    outcomes: Counter[str] = Counter()

    @hypothesis.given(st.integers(0, 2**32 - 1))
    @hypothesis.settings(
        max_examples=PROGRAMS,
        # A smaller seed is no smaller program.
        phases=[hypothesis.Phase.generate],
        suppress_health_check=[hypothesis.HealthCheck.too_slow],
    )
    def search(seed: int) -> None:
        found = outcome(program_of(seed), thorough=seed % 10 == 0)
        hypothesis.event(found)
        outcomes[found.partition(":")[0]] += 1

    search()
    assert outcomes["refused"] <= 0.25 * outcomes.total(), outcomes
    assert outcomes["compared"] >= 0.6 * outcomes.total(), outcomes
