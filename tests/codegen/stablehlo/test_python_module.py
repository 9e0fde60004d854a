"""Modules that run by jaxlib alone: as the NumPy module computes, and nothing else imported."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from s2s.cli import main
from tests.codegen.stablehlo.test_modules import OTHERS
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


OPEN = '''\
from dataclasses import dataclass

import numpy as np


@dataclass
class Layer:
    w: np.ndarray
    b: float


def loss(layer, xs, y, *, scale=1.0):
    """Mean squared error, summed up as it goes."""
    x, shift = xs
    h = np.tanh(np.cumsum(x @ layer.w) + layer.b + shift)
    return scale * np.mean((h - y) ** 2)
'''
OPEN_TYPES = [
    "--args",
    "layer: Layer(w=f64[d], b=float), xs: (f64[n, d], f64[n]), y: f64[n], scale: float",
]
OPEN_PROGRAM = """
class Layer:
    def __init__(self, w, b):
        self.w, self.b = w, b

result = []
for w, x, shift, y in cases:
    result.append(module.loss_value_and_grad(Layer(w, 0.5), (x, shift), y, scale=2.0))
w, x, shift, y = cases[0]
none = x[:0], shift[:0], y[:0]
for args in (w, x, y[:2], y), (w[:2], x, shift, y), (w, y, shift, y), (w, *none):
    try:
        module.loss_value_and_grad(Layer(args[0], 0.5), (args[1], args[2]), args[3])
    except (TypeError, ValueError) as error:
        result.append(str(error))
"""


def test_open_sizes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, isolated_run: IsolatedRun
) -> None:
    """Made for each set of sizes that it is called with; the same signature as the NumPy module."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(OPEN)
    command = ["value-and-grad", "model.py:loss", *OPEN_TYPES]
    assert main([*command, "--target", "xla", "-o", "by_xla.py"]) == 0
    assert main([*command, "-o", "by_numpy.py"]) == 0
    signatures = [
        next(line for line in (tmp_path / name).read_text().split("\n") if line.startswith("def "))
        for name in ("by_xla.py", "by_numpy.py")
    ]
    assert signatures[0] == signatures[1]
    random = np.random.default_rng(0)
    cases = [
        tuple(random.normal(size=shape) for shape in ((d,), (n, d), (n,), (n,)))
        for n, d in ((5, 4), (2, 3), (5, 4), (1, 1))
    ]
    packages = ("numpy", "jaxlib", "ml_dtypes")
    inputs = {"cases": cases}
    results = isolated_run(tmp_path / "by_xla.py", OPEN_PROGRAM, inputs, packages=packages)
    numpy_program = OPEN_PROGRAM.partition("w, x, shift, y = cases[0]")[0]
    expected = isolated_run(tmp_path / "by_numpy.py", numpy_program, inputs)
    for (ours, our_bars), (value, bars) in zip(results[:4], expected, strict=True):
        np.testing.assert_allclose(ours, value, rtol=1e-13)
        np.testing.assert_allclose(our_bars["w"], bars["w"], rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(our_bars["b"], bars["b"], rtol=1e-12)
    assert results[4:] == [
        "xs[1] must be an array of float64 of shape (5,), not of float64 of shape (2,)",
        "layer.w must be an array of float64 of shape (4,), not of float64 of shape (2,)",
        "xs[0] must be an array with 2 axes and no size 0, not of shape (5,)",
        "xs[0] must be an array with 2 axes and no size 0, not of shape (0, 4)",
    ]


@pytest.mark.parametrize("python", OTHERS, ids=str)
def test_another_python_runs_it(
    python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(OPEN)
    command = ["value-and-grad", "model.py:loss", *OPEN_TYPES, "--target", "xla", "-o", "f.py"]
    assert main(command) == 0
    program = (
        "import sys, types, f, numpy as np\n"
        "layer = types.SimpleNamespace(w=np.array([0.5, -1.0]), b=0.5)\n"
        "xs = np.arange(6.0).reshape(3, 2), np.ones(3)\n"
        "print(f.loss_value_and_grad(layer, xs, np.ones(3))[0])\n"
        "assert not {'jax', 's2s'} & sys.modules.keys()\n"
    )
    done = subprocess.run(
        [str(python), "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    w, x = np.array([0.5, -1.0]), np.arange(6.0).reshape(3, 2)
    h = np.tanh(np.cumsum(x @ w) + 1.5)
    np.testing.assert_allclose(float(done.stdout), np.mean((h - 1.0) ** 2), rtol=1e-13)


def test_linear_algebra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, isolated_run: IsolatedRun
) -> None:
    """LAPACK's routines are made known before they are called."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text(
        "import numpy as np\n\n\ndef f(a, b):\n    return np.sum(np.linalg.solve(a, b))\n"
    )
    command = ["grad", "m.py:f", "--args", "a: f64[n, n], b: f64[n]", "--target", "xla"]
    assert main([*command, "-o", "g.py"]) == 0
    a = np.random.default_rng(0).normal(size=(4, 4)) + 4 * np.eye(4)
    b = np.arange(4.0)
    packages = ("numpy", "jaxlib", "ml_dtypes", "scipy")
    found = isolated_run(
        tmp_path / "g.py", "result = module.f_grad(a, b)", {"a": a, "b": b}, packages=packages
    )
    expected = -np.outer(np.linalg.solve(a.T, np.ones(4)), np.linalg.solve(a, b))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def _program(x: float):", "_program: the function cannot be called `_program` in a"),
        ("def MODULE(x: float):", "which has that name itself; give it another one by --name."),
        ("def f(x: float, tuple: float):", "f: a parameter cannot be called `tuple` in a module"),
        ("def f(x: float, _checked: float):", "which has that name itself; rename it."),
    ],
)
def test_names_that_the_module_has_itself_are_refused(
    source: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(f"{source}\n    return x\n")
    name = source.removeprefix("def ").partition("(")[0]
    assert main(["trace", f"model.py:{name}", "--target", "xla", "-o", "by_xla.py"]) == 1
    assert message in capsys.readouterr().err


def test_letters_of_all_languages_and_axes_of_no_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, isolated_run: IsolatedRun
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(
        "import numpy as np\n\n\ndef größe(α, leer):\n"
        "    return np.sum(α) + np.sum(leer, axis=0)\n",
        encoding="utf-8",
    )
    types = ["--args", "α: f64[ν], leer: f64[0, ν]"]
    assert main(["trace", "model.py:größe", *types, "--target", "xla", "-o", "by_xla.py"]) == 0
    packages = ("numpy", "jaxlib", "ml_dtypes")
    inputs = {"α": np.ones(3), "leer": np.zeros((0, 3))}
    program = "result = module.größe(α, leer)"
    found = isolated_run(tmp_path / "by_xla.py", program, inputs, packages=packages)
    np.testing.assert_array_equal(found, [3.0] * 3)


FORKED = """
import os, warnings

warnings.simplefilter("ignore")
result = [module.double(1.5)]
reader, writer = os.pipe()
child = os.fork()
if child == 0:
    try:
        said = str(module.double(1.5))
    except RuntimeError as error:
        said = str(error)
    os.write(writer, said.encode())
    os._exit(0)
os.waitpid(child, 0)
result.append(os.read(reader, 1000).decode())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_forked_processes_are_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, isolated_run: IsolatedRun
) -> None:
    """They would wait for threads that they have not, with arrays for which XLA uses threads."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text("def double(x: float):\n    return 2.0 * x\n")
    assert main(["trace", "model.py:double", "--target", "xla", "-o", "by_xla.py"]) == 0
    packages = ("numpy", "jaxlib", "ml_dtypes")
    value, said = isolated_run(tmp_path / "by_xla.py", FORKED, {}, packages=packages)
    assert value == 3.0 and said.startswith("this process was forked from one that had used XLA")
