"""Artifacts on the command line: written, shown, run, compared and refused."""

import contextlib
import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from s2s.cli import main
from s2s.cli.artifacts import read_inputs
from s2s.errors import UserError

MODEL = """\
import numpy as np


def loss(weights, x, y):
    return np.mean((np.tanh(x @ weights["w"] + weights["b"]) - y) ** 2)
"""
TYPES = ["--args", "weights: {w: f64[d], b: float}, x: f64[n, d], y: f64[n]"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(MODEL)
    numbers = np.random.default_rng(0)
    arrays: dict[str, Any] = {
        "weights.w": numbers.normal(size=4),
        "weights.b": np.array(0.5),
        "x": numbers.normal(size=(5, 4)),
        "y": numbers.normal(size=5),
    }
    np.savez(tmp_path / "inputs.npz", **arrays)
    return tmp_path


def test_written_shown_and_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write = ["grad", "model.py:loss", *TYPES, "--stablehlo", "g.mlirbc", "-o", "g.py"]
    assert main(write) == 0
    capsys.readouterr()
    assert main(["show", "g.mlirbc"]) == 0
    shown = capsys.readouterr().out
    assert shown.splitlines()[0] == (
        "function          loss_grad(weights: {w: f64[d], b: float}, x: f64[n, d], y: f64[n]) "
        "-> {w: f64[d], b: f64[]}"
    )
    assert "open sizes        d at least 1, n at least 1" in shown
    assert "source            model.py:4" in shown
    assert "command           s2s grad model.py:loss --args 'weights: {w: f64[d]," in shown
    assert main(["run", "g.mlirbc", "--inputs", "inputs.npz", "-o", "out.npz"]) == 0
    names: dict[str, Any] = {}
    exec((folder / "g.py").read_text(), names)
    arrays = dict(np.load("inputs.npz"))
    weights = {"w": arrays["weights.w"], "b": arrays["weights.b"].item()}
    expected = names["loss_grad"](weights, arrays["x"], arrays["y"])
    found = dict(np.load("out.npz"))
    assert found.keys() == {"result.w", "result.b"}
    np.testing.assert_allclose(found["result.w"], expected["w"], rtol=1e-13)
    np.testing.assert_allclose(found["result.b"], expected["b"], rtol=1e-13)


def test_sizes_are_fixed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fixed = [*TYPES, "--stablehlo", "g.mlir", "--dims", "n=5, d=4"]
    assert main(["grad", "model.py:loss", *fixed]) == 0
    text = (folder / "g.mlir").read_text()
    assert "tensor<5x4xf64>" in text and "?" not in text.partition("{\n  func")[2]
    assert main(["grad", "model.py:loss", *fixed, "--check"]) == 0
    (folder / "g.mlir").write_text(text + "\n")
    assert main(["grad", "model.py:loss", *fixed, "--check"]) == 1
    assert "g.mlir is not what would be written" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--stablehlo", "g.txt"], "an artifact is called .mlir (text) or .mlirbc (bytecode)"),
        (["--stablehlo", "no/g.mlir"], "There is no folder no to write g.mlir to."),
        (["--stablehlo", "theirs.mlir"], "theirs.mlir was not written by s2s, so it is kept."),
        (["--stablehlo", "g.mlir", "--dims", "n"], "'n' does not say the size"),
        (["--stablehlo", "g.mlir", "--dims", "k=3"], "there is no dimension k; they are d, n."),
        (["--stablehlo", "g.mlirbc", "--stablehlo-version", "99.1.0"], "for version 99.1.0"),
        (["--stablehlo", "g.mlirbc", "--stablehlo-version", "new"], "'new' is no version"),
    ],
)
def test_refusals(
    options: list[str], message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "theirs.mlir").write_text("module {}\n")
    assert main(["grad", "model.py:loss", *TYPES, "--no-verify", *options]) == 1
    assert message in capsys.readouterr().err
    assert sorted(os.listdir(folder)) == ["inputs.npz", "model.py", "theirs.mlir"]


def test_inputs_are_checked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", "model.py:loss", *TYPES, "--stablehlo", "f.mlir", "--no-verify"]) == 0
    np.savez("few.npz", x=np.ones((5, 4)))
    assert main(["run", "f.mlir", "--inputs", "few.npz"]) == 1
    assert "the inputs have no array weights.w (f64[d]); there are x." in capsys.readouterr().err
    np.savez("many.npz", **dict(np.load("inputs.npz")), z=1.0)
    assert main(["run", "f.mlir", "--inputs", "many.npz"]) == 1
    assert "the inputs have an array z, which is no argument" in capsys.readouterr().err
    assert main(["run", "f.mlir", "--inputs", "model.py"]) == 1
    assert "--inputs model.py cannot be read as an .npz file" in capsys.readouterr().err
    np.save("one.npy", np.ones(3))
    assert main(["run", "f.mlir", "--inputs", "one.npy"]) == 1
    assert "--inputs one.npy holds one array without a name" in capsys.readouterr().err
    assert main(["run", "f.mlir", "--inputs", "none.npz"]) == 1
    assert "cannot be read as an .npz file (No such file or directory)" in capsys.readouterr().err
    np.savez("long.npz", **{**np.load("inputs.npz"), "weights.b": np.ones(3)})
    assert main(["run", "f.mlir", "--inputs", "long.npz"]) == 1
    assert "`weights['b']` must be float, but has the shape (3,)" in capsys.readouterr().err


def test_damaged_inputs_are_refused(folder: Path) -> None:
    data = Path("inputs.npz").read_bytes()
    for seed in range(300):
        chance = random.Random(seed)
        damaged = bytearray(data[: chance.choice([len(data), chance.randrange(len(data))])])
        for _ in range(min(len(damaged), 2)):
            damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
        Path("damaged.npz").write_bytes(damaged)
        with contextlib.suppress(UserError):
            read_inputs("damaged.npz")


def test_defaults_need_not_be_among_the_inputs(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("scaled.py").write_text("def scaled(x: float, by: float = 3.0):\n    return x * by\n")
    assert main(["trace", "scaled.py:scaled", "--stablehlo", "s.mlir", "--no-verify"]) == 0
    np.savez("x.npz", x=2.0)
    assert main(["run", "s.mlir", "--inputs", "x.npz"]) == 0
    assert capsys.readouterr().out == "result = 6.0\n"
    np.savez("both.npz", x=2.0, by=5)
    assert main(["run", "s.mlir", "--inputs", "both.npz"]) == 0
    assert capsys.readouterr().out == "result = 10.0\n"
