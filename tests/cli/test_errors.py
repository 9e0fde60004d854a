"""What a user is told: one paragraph, with the line, what is wrong, and what to do."""

import sys

import pytest

from s2s.cli import main
from s2s.frontend import load

MODEL = """\
import math
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = Annotated[np.ndarray, "f64[n]"]
total = 0.0


class Config:
    scale = 1.0


config = Config()


class Params(NamedTuple):
    w: np.ndarray
    b: float


def untyped(w, x, rate=0.1, steps=3): ...
def half_typed(params: Params, x: NDArray[np.float32]): ...
def vector_valued(x: Vector): return 2.0 * x
def of_integer(n: int, x: float): return n * x
def of_static(x: float, steps: int = 3): return x * steps
def product(w, x): return np.sum(x @ w)
def total_of(w, x): return np.sum(w + x)
def on_random(x: float): return x * np.random.normal()
def on_union(x: Vector): return np.sum(np.union1d(x, x))
def on_masks(x: Vector): return np.sum(x[x > 0.0] * x[x > 1.0])
def on_unknown(x: Vector): return np.sum(np.i0(x))
def on_global(x: float):
    global total
    total = total + x
    return total
def on_attribute(x: float):
    config.scale = x
    return x * config.scale
def raises(x: float): return x + {}["missing"]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(load, "_loaded", {})
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "model", raising=False)
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "syntax.py").write_text("def f(x):\n    return x +* 2\n")
    (tmp_path / "fails.py").write_text("import math\n\ntable = math.sqrt(-1.0)\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def line_of(text):
    return next(i for i, line in enumerate(MODEL.splitlines(), 1) if text in line)


def message(capsys, *words):
    """What the command says; it must be one paragraph of s2s's, and nothing else."""
    assert main(list(words)) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("s2s: ") and err.endswith("\n")
    assert err.count("\n") == 1 and "Traceback" not in err
    return err.removeprefix("s2s: ").rstrip("\n")


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("missing.py:loss", "there is no file missing.py."),
        ("modle.py:loss", "there is no file modle.py. Did you mean model.py?"),
        ("model.py:untypd", "there is no function `untypd` in model.py. Did you mean untyped?"),
        ("model.py", "say which function of model.py, as in model.py:loss. It defines untyped, "),
        ("syntax.py:f", "syntax.py:2: `return x +* 2`: invalid syntax."),
        (
            "fails.py:f",
            "fails.py:3: `table = math.sqrt(-1.0)`: importing fails.py raises ValueError: ",
        ),
    ],
)
def test_files_and_functions(capsys, target, expected):
    assert message(capsys, "grad", target).startswith(expected)


def test_missing_types_come_with_the_line_to_complete(capsys):
    assert message(capsys, "grad", "model.py:untyped") == (
        "The types of w and x in untyped are not known. Complete and add "
        '--args "w: f64[...], x: f64[...]", where float stands for a Python number, or show a '
        "call with --example 'untyped(..., ..., ..., ...)'."
    )
    assert message(capsys, "grad", "model.py:half_typed") == (
        "The types of params and x in half_typed are not known (NDArray says f32, but not the "
        'shape). Complete and add --args "params: Params(w=f64[...], b=float), x: f32[...]", '
        "where float stands for a Python number, or show a call with "
        "--example 'half_typed(..., ...)'."
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--wrt", "z"], "--wrt z: untyped has no parameter z; its parameters are w, x, rate, "),
        (["--args", "w: f63[n]"], '--args "w: f63[n]", at column 4, `f63[n]`: there is no element'),
        (["--args", "u: f64[n]"], "untyped has no parameter u; its parameters are w, x, rate, "),
        (["--static", "steps"], "--static steps: expected a name and a value, such as steps=50."),
        (["--example", "foo"], "--example 'foo' raises NameError: name 'foo' is not defined."),
        (["--example", "(1.0,)"], "--example '(1.0,)' does not fit untyped: missing a required "),
        (["--record", "train.py"], "--record 'train.py' names no script that is there."),
        (["-o", "model.py"], "model.py was not written by s2s, so it is kept."),
        (["-o", "no/out.py"], "There is no folder no to write out.py to."),
    ],
)
def test_options(capsys, words, expected):
    assert message(capsys, "grad", "model.py:untyped", *words).startswith(expected)


@pytest.mark.parametrize(
    ("function", "line", "parts"),
    [
        ("vector_valued", "def vector_valued", ["needs a single number", "f64[n]", "jacrev"]),
        ("of_integer", "def of_integer", ["with respect to `n`", "i64[]", "--wrt"]),
        ("on_random", "np.random.normal", ["np.random.normal", "pass them in as an argument"]),
        ("on_union", "np.union1d", ["np.union1d", "np.where"]),
        ("on_masks", "x[x > 1.0]", ["shapes (?,) and (?,)", "give the mask a name"]),
        ("on_unknown", "np.i0", ["np.i0", "not supported"]),
        ("on_global", "total = total + x", ["`total`", "Return the value instead"]),
        ("on_attribute", "config.scale = x", ["`scale`", "Return the value instead"]),
        ("raises", '{}["missing"]', ["raises KeyError: 'missing'"]),
    ],
)
def test_the_users_line_is_named(capsys, function, line, parts):
    found = message(capsys, "grad", f"model.py:{function}")
    assert found.startswith(f"model.py:{line_of(line)}: `")
    assert line in found
    for part in parts:
        assert part in found


def test_a_static_argument_has_no_derivative(capsys):
    found = message(capsys, "grad", "model.py:of_static", "--wrt", "steps")
    assert "with respect to `steps`" in found and "3, which is fixed" in found


@pytest.mark.parametrize("function", ["product", "total_of"])
def test_shapes_that_do_not_match(capsys, function):
    command = ["grad", f"model.py:{function}"]
    named = message(capsys, *command, "--args", "w: f64[d], x: f64[n, k]")
    assert named.startswith(f"model.py:{line_of(f'def {function}')}: `")
    assert "(n, k)" in named and "(d,)" in named
    # The example's own sizes are what the user knows.
    numbers = message(capsys, *command, "--example", "(np.ones(3), np.ones((2, 4)))")
    assert "(2, 4)" in numbers and "(3,)" in numbers
