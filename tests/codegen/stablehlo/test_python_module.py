"""Modules that run by jaxlib alone: as the NumPy module computes, and nothing else imported."""

from pathlib import Path

import numpy as np
import pytest

from s2s.cli import main
from tests.isolation import IsolatedRun

MODEL = '''\
import numpy as np


def loss(p, x, y, steps=2):
    """Mean squared error."""
    h = x @ p["w"]
    for _ in range(steps):
        h = np.tanh(h)
    return np.mean((h - y) ** 2) * p["s"]
'''
TYPES = ["--args", "p: {w: f64[d], s: float}, x: f64[n, d], y: f64[n]"]

PROGRAM = """
result = [module.loss_value_and_grad(p, x, y)]
for name, args in {
    "dtype": (p, x.astype("float32"), y),
    "shape": (p, x.T, y),
    "key": ({**p, "s": y}, x, y),
}.items():
    try:
        module.loss_value_and_grad(*args)
    except TypeError as error:
        result.append(str(error))
try:
    module.loss_value_and_grad(p, x, y, steps=3)
except ValueError as error:
    result.append(str(error))
"""


def test_runs_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, isolated_run: IsolatedRun
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(MODEL)
    command = ["value-and-grad", "model.py:loss", *TYPES]
    assert main([*command, "--target", "xla", "--dims", "n=5,d=4", "-o", "by_xla.py"]) == 0
    assert main([*command, "-o", "by_numpy.py"]) == 0
    random = np.random.default_rng(0)
    x, y = random.normal(size=(5, 4)), random.normal(size=5)
    inputs = {"p": {"w": random.normal(size=4), "s": 1.5}, "x": x, "y": y}
    packages = ("numpy", "jaxlib", "ml_dtypes")
    found, *refusals = isolated_run(tmp_path / "by_xla.py", PROGRAM, inputs, packages=packages)
    by_numpy = "result = module.loss_value_and_grad(p, x, y)"
    value, bars = isolated_run(tmp_path / "by_numpy.py", by_numpy, inputs)
    np.testing.assert_allclose(found[0], value, rtol=1e-14)
    np.testing.assert_allclose(found[1]["w"], bars["w"], rtol=1e-13)
    np.testing.assert_allclose(found[1]["s"], bars["s"], rtol=1e-13)
    assert refusals == [
        "x must be an array of float64 of shape (5, 4), not of float32 of shape (5, 4)",
        "x must be an array of float64 of shape (5, 4), not of float64 of shape (4, 5)",
        "p['s'] must be an array of float64 of shape (), not of float64 of shape (5,)",
        "made for steps=2 only",
    ]


def test_sizes_are_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(MODEL)
    assert main(["grad", "model.py:loss", *TYPES, "--target", "xla", "-o", "g.py"]) == 1
    message = "--target xla needs all sizes; give them by --dims d=...,n=..."
    assert message in capsys.readouterr().err
    assert not (tmp_path / "g.py").exists()
