"""Control flow on values, through the command line and the API: values bit for bit, derivatives
against central differences, batches that take different branches against a loop."""

from __future__ import annotations

import inspect
import runpy
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import s2s
from s2s.cli import main
from s2s.frontend.load import load_module

FILE = Path(__file__).with_name("control_flow.py")


@pytest.fixture(scope="module")
def module() -> Any:
    return load_module(str(FILE))


FUNCTIONS = [
    node.split("(")[0]
    for node in FILE.read_text().split("\ndef ")[1:]
    if not node.startswith("helper")
]
STEP = 1e-5


def points(function: Callable[..., Any], count: int) -> list[list[Any]]:
    """Arguments away from where the functions branch."""
    generator = np.random.default_rng(7)
    scalars = [p.annotation in (float, "float") for p in parameters(function)]
    return [
        [
            float(generator.uniform(0.05, 1.2)) if s else generator.uniform(0.05, 1.2, 6)
            for s in scalars
        ]
        for _ in range(count)
    ]


def parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    return list(inspect.signature(function).parameters.values())


def moved(args: list[Any], direction: list[Any], by: float) -> list[Any]:
    found = [a + by * d for a, d in zip(args, direction, strict=True)]
    return [float(a) if np.ndim(a) == 0 else a for a in found]


def slope(function: Callable[..., Any], args: list[Any], direction: list[Any]) -> Any:
    """The central difference along a direction; its error is of the order of STEP squared."""
    up, down = (function(*moved(args, direction, by)) for by in (STEP, -STEP))
    return (np.asarray(up) - np.asarray(down)) / (2.0 * STEP)


def directions(args: list[Any]) -> list[Any]:
    generator = np.random.default_rng(3)
    return [generator.uniform(0.5, 1.0, np.shape(a)) for a in args]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_value_and_gradient(
    name: str, module: ModuleType, tmp_path: Path, monkeypatch: Any
) -> None:
    shutil.copy(FILE, tmp_path)
    monkeypatch.chdir(tmp_path)
    function = getattr(module, name)
    names = [p.name for p in parameters(function)]
    arrays = [p.name for p in parameters(function) if p.annotation not in (float, "float")]
    types = ["--args", ", ".join(f"{array}: f64[n]" for array in arrays)] if arrays else []
    command = ["value-and-grad", f"control_flow.py:{name}", "--wrt", ",".join(names), *types]
    assert main([*command, "-o", "generated.py"]) == 0
    generated = runpy.run_path("generated.py")[f"{name}_value_and_grad"]
    for args in points(function, 4):
        value, bars = generated(*args)
        assert value == function(*args)
        bars = bars if isinstance(bars, tuple) else (bars,)
        direction = directions(args)
        found = sum(np.sum(b * d) for b, d in zip(bars, direction, strict=True))
        np.testing.assert_allclose(found, slope(function, args, direction), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_other_transformations(name: str, module: ModuleType) -> None:
    function = getattr(module, name)
    wrt = tuple(range(len(parameters(function))))
    several = points(function, 4)
    gradient = s2s.grad(function, argnums=wrt)
    for args in several[:2]:
        direction = directions(args)
        value, dot = s2s.jvp(function, tuple(args), tuple(direction))
        np.testing.assert_allclose(value, function(*args), rtol=1e-14)
        np.testing.assert_allclose(dot, slope(function, args, direction), rtol=1e-6, atol=1e-6)
        _, second = s2s.jvp(gradient, tuple(args), tuple(direction))
        for k, found in enumerate(second):
            wanted = slope(lambda *xs, k=k: gradient(*xs)[k], args, direction)
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
    batch = [np.stack(column) for column in zip(*several, strict=True)]
    np.testing.assert_allclose(
        s2s.vmap(function)(*batch), [function(*args) for args in several], rtol=1e-13
    )
    bars = s2s.vmap(gradient)(*batch)
    for k, found in enumerate(bars):
        wanted = [gradient(*args)[k] for args in several]
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)
