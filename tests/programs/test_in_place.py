"""Functions that change arrays in place, through the command line: values, derivatives, batches."""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from s2s.cli import main
from tests.programs import masks, sorting, ufunc_at, views

PROGRAMS = {
    name: program
    for module in (masks, sorting, ufunc_at, views)
    for name, program in vars(module).items()
    if callable(program) and program.__module__ == module.__name__ and not name.startswith("_")
}
X = np.array([0.3, -1.2, 0.9, 0.7])
A = np.array([[0.4, -0.3, 1.1, 0.2], [0.6, 0.8, -0.7, 0.5], [-0.2, 0.1, 0.35, 0.9]])
TYPES = "x: f64[4], a: f64[3, 4]"


@pytest.fixture
def generated(tmp_path: Path) -> Callable[..., Any]:
    """The function that the command line writes for a program."""

    def generate(command: str, name: str, types: str, *options: str) -> Callable[..., Any]:
        target = tmp_path / f"{name}_{command}.py"
        file = inspect.getsourcefile(PROGRAMS[name])
        arguments = [command, f"{file}:{name}", "--args", types, "-o", str(target), *options]
        assert main(arguments) == 0
        spec = importlib.util.spec_from_file_location(target.stem, target)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        functions = [
            f for f in vars(module).values() if getattr(f, "__module__", "") == target.stem
        ]
        return functions[-1]

    return generate


def slope(function: Callable[..., Any], dx: np.ndarray, da: np.ndarray, h: float) -> Any:
    above = function(X + h * dx, A + h * da)
    return (above - function(X - h * dx, A - h * da)) / (2.0 * h)


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_derivatives(name: str, generated: Callable[..., Any]) -> None:
    function = PROGRAMS[name]
    x, a = X.copy(), A.copy()
    value = generated("trace", name, TYPES)(x, a)
    assert value == function(X.copy(), A.copy())
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(a, A)

    random = np.random.default_rng(0)
    dx, da = random.normal(size=4), random.normal(size=(3, 4))
    expected = slope(function, dx, da, 1e-6)
    gradient = generated("grad", name, TYPES, "--wrt", "x,a")
    x_bar, a_bar = gradient(X, A)
    np.testing.assert_allclose(np.sum(x_bar * dx) + np.sum(a_bar * da), expected, rtol=1e-6)
    found, tangent = generated("jvp", name, TYPES, "--wrt", "x,a")(X, A, dx, da)
    assert found == value
    np.testing.assert_allclose(tangent, expected, rtol=1e-6)


@pytest.mark.parametrize("name", PROGRAMS)
def test_batches_and_second_derivatives(name: str, generated: Callable[..., Any]) -> None:
    function = PROGRAMS[name]
    xs, stacked = np.stack([X, -X, X[::-1]]), np.stack([A, A * 0.9, A[::-1]])
    batched = generated("vmap", name, "x: f64[3, 4], a: f64[3, 3, 4]")(xs, stacked)
    rows = [function(x.copy(), a.copy()) for x, a in zip(xs, stacked, strict=True)]
    np.testing.assert_allclose(batched, rows, rtol=1e-14)

    gradient = generated("grad", name, TYPES, "--wrt", "x")
    hessian = generated("hessian", name, TYPES, "--wrt", "x")(X, A)
    direction = np.array([0.5, -0.25, 1.0, 0.75])
    expected = slope(lambda x, a: gradient(x, a), direction, np.zeros((3, 4)), 1e-6)
    np.testing.assert_allclose(hessian @ direction, expected, rtol=1e-5, atol=1e-7)
