"""Random programs of assignments, updates and views: values as Python's, slopes as differences."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import s2s


class Program:
    """A random function of a vector x of 4 elements and a matrix a of shape (3, 4)."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.vectors, self.matrices = ["x"], ["a"]
        self.lines = ["import numpy as np", "", "", "def program(x, a):"]
        for number in range(self.random.randrange(3, 10)):
            self.lines += [f"    {line}" for line in self.statement(number)]
        v, w, m = self.vector(), self.vector(), self.matrix()
        total = f"np.sum({v} * {w}) + np.sum(x * {v}) + np.sum(np.sin({m}))"
        self.lines += [f"    return {total}, ({w}, {m})", ""]

    def choice(self, *texts: str) -> str:
        return self.random.choice(texts)

    def vector(self) -> str:
        return self.random.choice(self.vectors)

    def matrix(self) -> str:
        return self.random.choice(self.matrices)

    def row(self) -> str:
        """An expression of shape (4,)."""
        v, w, m = self.vector(), self.vector(), self.matrix()
        return self.choice(
            *(v, f"{v} * {w}", f"{m}[-1]", f"{m}.sum(axis=0)", f"np.sin({v})", f"{v}[::-1]"),
            *(f"{v} - 0.5 * {w}", f"{v}[[3, 0, 1, 1]]", f"{m}[:, 1].sum() + {v}"),
        )

    def table(self) -> str:
        """An expression of shape (3, 4)."""
        m, n, v = self.matrix(), self.matrix(), self.vector()
        return self.choice(m, f"{m} * {v}", f"{m} - {n}", f"{m}[::-1]", f"{m}[[2, 0, 0]]")

    def statement(self, number: int) -> list[str]:
        v, w, m = self.vector(), self.vector(), self.matrix()
        put = self.choice("=", "=", "+=", "-=", "*=")
        update = self.choice("+=", "-=", "*=")
        to, source = self.random.choice(
            [("1:", ":-1"), (":-1", "1:"), ("::2", "1::2"), ("1:3", "2:"), ("-2:", ":2")]
        )
        kinds: list[list[str]] = [
            [f"v{number} = {self.row()}{self.choice('', ' * 1.5')}"],
            [f"m{number} = {self.table()}{self.choice('', ' + 0.1')}"],
            [f"m{number} = {m}.copy()"],
            [f"v{number} = {m}[{self.choice('0', '1', '-1')}]"],
            [f"v{number} = {v}[{self.choice('::-1', ':', '...')}]"],
            [f"{v}[{self.choice('0', '2', '-1')}] {put} {w}[{self.choice('0', '1', '3')}]"],
            [f"{v}[{to}] {put} {w}[{source}]"],
            [f"{v} {update} {self.row()}"],
            [f"{m} {update} {self.choice(self.row(), self.table())}"],
            [f"{m}[{self.choice('1', '1:', ':2', '0:1', '[0, 2]', '[1, 1]')}] {put} {self.row()}"],
            [f"{m}[:, {self.choice('1', '::2', '1:3')}] {put} {self.choice('0.5', '2.0')}"],
            [f"{v}[{w} > 0.3] = {self.choice('0.25', f'{w}[1]')}"],
            [f"{v}[[0, 2, 0]] {put} {w}[1:]"],
            [f"t = {m}.T", f"t[{self.choice('0', '2', '-1')}] {put} {self.choice('0.5', 't[0]')}"],
        ]
        kind = self.random.randrange(len(kinds))
        if kind in (0, 3, 4):
            self.vectors.append(f"v{number}")
        elif kind in (1, 2):
            self.matrices.append(f"m{number}")
        return kinds[kind]

    def function(self, directory: Path) -> Callable[..., Any]:
        file = directory / "user_program.py"
        file.write_text("\n".join(self.lines), encoding="utf-8")
        return function_in(file)


def function_in(file: Path) -> Callable[..., Any]:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [f for f in vars(module).values() if getattr(f, "__module__", "") == file.stem][-1]


def generated(function: Callable[..., Any], directory: Path) -> Callable[..., Any]:
    file = directory / "generated_program.py"
    text = s2s.source(function, np.zeros(4), np.zeros((3, 4)))
    file.write_text(text, encoding="utf-8")
    return function_in(file)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_as_python(seed: int, tmp_path: Path) -> None:
    function = Program(seed).function(tmp_path)
    normal = np.random.default_rng(seed).normal
    x, a, dx, da = normal(size=4), normal(size=(3, 4)), normal(size=4), normal(size=(3, 4))
    value, (v, m) = function(x.copy(), a.copy())
    expected = value, v, m
    if not all(np.all(np.abs(value) < 1e6) for value in expected):
        pytest.skip("the numbers grow too large for differences")
    given = x.copy(), a.copy()
    value, (v, m) = generated(function, tmp_path)(*given)
    for found, wanted in zip((value, v, m), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(given[0], x)
    np.testing.assert_array_equal(given[1], a)

    gradient = generated(s2s.grad(function, (0, 1), has_aux=True), tmp_path)
    (x_bar, a_bar), _ = gradient(x, a)
    h = 1e-6
    above, below = (function(x + s * h * dx, a + s * h * da)[0] for s in (1.0, -1.0))
    slope = np.sum(x_bar * dx) + np.sum(a_bar * da)
    np.testing.assert_allclose(slope, (above - below) / (2.0 * h), rtol=1e-4, atol=1e-3)
