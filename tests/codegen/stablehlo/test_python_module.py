"""Modules that run by jaxlib alone: as the NumPy module computes, and nothing else imported."""

from pathlib import Path

import numpy as np
import pytest

from s2s.cli import main
from tests.isolation import IsolatedRun

MODEL = '''\
import numpy as np


def loss(p, x, y, steps=2, kind="tanh"):
    """Mean squared error."""
    h = x @ p["w"]
    for _ in range(steps):
        h = np.tanh(h) if kind == "tanh" else h
    return np.mean((h - y) ** 2) * p["s"]
'''
TYPES = ["--args", "p: {w: f64[d], s: float}, x: f64[n, d], y: f64[n]"]

PROGRAM = """
result = [module.loss_value_and_grad(p, x, y, steps) for steps in (2, 0, 5)]
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
    module.loss_value_and_grad(p, x, y, kind="none")
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
    results = isolated_run(tmp_path / "by_xla.py", PROGRAM, inputs, packages=packages)
    found, refusals = results[:3], results[3:]
    by_numpy = "result = [module.loss_value_and_grad(p, x, y, steps) for steps in (2, 0, 5)]"
    expected = isolated_run(tmp_path / "by_numpy.py", by_numpy, inputs)
    for (ours, our_bars), (value, bars) in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, value, rtol=1e-14)
        np.testing.assert_allclose(our_bars["w"], bars["w"], rtol=1e-13)
        np.testing.assert_allclose(our_bars["s"], bars["s"], rtol=1e-13)
    assert refusals == [
        "x must be an array of float64 of shape (5, 4), not of float32 of shape (5, 4)",
        "x must be an array of float64 of shape (5, 4), not of float64 of shape (4, 5)",
        "p['s'] must be an array of float64 of shape (), not of float64 of shape (5,)",
        "made for kind='tanh' only",
    ]


def test_linear_algebra_runs_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, isolated_run: IsolatedRun
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(
        "import numpy as np\n\n\ndef f(a, b):\n    return b @ np.linalg.solve(a, b)\n"
    )
    command = ["grad", "model.py:f", "--args", "a: f64[3, 3], b: f64[3]", "--wrt", "b"]
    assert main([*command, "--target", "xla", "-o", "by_xla.py"]) == 0
    a, b = np.array([[0.0, 2.0, 1.0], [1.0, 0.0, 0.0], [3.0, 1.0, 1.0]]), np.array([1.0, 2.0, 4.0])
    packages = ("numpy", "jaxlib", "ml_dtypes", "scipy")
    program = "result = module.f_grad(a, b)"
    found = isolated_run(tmp_path / "by_xla.py", program, {"a": a, "b": b}, packages=packages)
    expected = np.linalg.solve(a, b) + np.linalg.solve(a.T, b)
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_sizes_are_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(MODEL)
    assert main(["grad", "model.py:loss", *TYPES, "--target", "xla", "-o", "g.py"]) == 1
    message = "--target xla needs all sizes; give them by --dims d=...,n=..."
    assert message in capsys.readouterr().err
    assert not (tmp_path / "g.py").exists()
