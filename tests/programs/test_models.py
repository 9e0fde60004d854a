"""The models through the command line, as they are: modules as good as those written by hand."""

import ast
import contextlib
import importlib.util
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from s2s.cli import main
from s2s.tree import flatten
from tests.codegen.numpy_source.test_module import operations, statements
from tests.programs.checks import directory

MODELS = Path(__file__).parents[1] / "models"
RANDOM = np.random.default_rng(3)


def normal(*shape: int) -> Any:
    return RANDOM.normal(size=shape)


MLP = ({"w1": normal(3, 4), "b1": normal(4), "w2": normal(4, 2), "b2": normal(2)},)
MLP_TYPES = "params: {w1: f64[d, h], b1: f64[h], w2: f64[h, k], b2: f64[k]}"
RNN_TYPES = "wx: f64[h, d], wh: f64[h, h], b: f64[h], xs: f64[t, d], targets: f64[t, h]"
ROD_TYPES = "initial: f64[n], conductivity: f64[], observed: f64[n]"
PER_EXAMPLE = ["compile", "logistic.py", "vmap(grad(loss), in_axes=(None, 0, 0))"]

WANTED: dict[str, tuple[list[str], tuple[Any, ...]]] = {
    "mlp_grad": (
        ["grad", "mlp.py:loss", "--args", f"{MLP_TYPES}, x: f64[n, d], y: f64[n, k]"],
        (*MLP, normal(5, 3), normal(5, 2)),
    ),
    "call_price_grad": (
        ["grad", "black_scholes.py:call_price", "--wrt", "spot,strike,maturity,rate,vol"],
        (90.0, 100.0, 0.7, 0.02, 0.3),
    ),
    "rnn_value_and_grad": (
        ["value-and-grad", "rnn.py:loss", "--wrt", "wx,wh,b", "--args", RNN_TYPES],
        (normal(4, 2), normal(4, 4), normal(4), normal(5, 2), normal(5, 4)),
    ),
    "root_grad": (["grad", "newton.py:root"], (3.0,)),
    "misfit_grad": (
        ["grad", "heat.py:misfit", "--wrt", "initial,conductivity", "--args", ROD_TYPES],
        (normal(6), np.float64(0.2), normal(6), 7),
    ),
    "loss_grad_one_example": (
        ["grad", "logistic.py:loss", "--args", "w: f64[d], x: f64[d], y: f64[]"],
        (normal(3), normal(3), np.float64(1.0)),
    ),
    "loss_per_example_grad": (
        [*PER_EXAMPLE, "--args", "w: f64[d], x: f64[n, d], y: f64[n]"],
        (normal(3), 3.0 * normal(5, 3), np.array([0.0, 1.0, 1.0, 0.0, 1.0])),
    ),
    "final_energy_jvp": (
        ["jvp", "pendulum.py:final_energy", "--wrt", "angle,speed,length"],
        (0.5, 0.1, 2.0, 1.0, -0.5, 0.25, 0.01, 30),
    ),
}


def generated(*command: str) -> str:
    with directory(MODELS), contextlib.redirect_stdout(io.StringIO()) as output:
        assert main(command) == 0
    return output.getvalue()


def function_in(text: str, file: Path) -> Any:
    file.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [f for f in vars(module).values() if getattr(f, "__module__", "") == file.stem][-1]


def without_checks(text: str) -> str:
    """A module without what a generated function does on entry, which those by hand leave out: it
    reads the sizes from the shapes, and raises if they do not fit."""
    tree = ast.parse(text)
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef))
    checks = [isinstance(s, ast.If) and isinstance(s.body[0], ast.Raise) for s in function.body]
    if any(checks):
        last = max(number for number, is_check in enumerate(checks) if is_check)
        del function.body[1 : last + 1]
    return ast.unparse(tree)


def arrays_kept(text: str) -> int:
    """How many arrays and lists are made before a loop, for all of its steps."""
    made = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Assign)]
    lists = sum(isinstance(value, ast.List) for value in made)
    calls = [ast.unparse(value.func) for value in made if isinstance(value, ast.Call)]
    return lists + calls.count("np.empty")


@pytest.mark.parametrize("name", WANTED)
def test_as_good_as_by_hand(name: str, tmp_path: Path) -> None:
    command, arguments = WANTED[name]
    text = generated(*command)
    hand = (MODELS / "by_hand" / f"{name}.py").read_text(encoding="utf-8")
    ours = function_in(text, tmp_path / f"{name}.py")
    theirs = function_in(hand, tmp_path / f"{name}_by_hand.py")
    pairs = zip(flatten(ours(*arguments))[0], flatten(theirs(*arguments))[0], strict=True)
    for found, wanted in pairs:
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-15)
    assert operations(without_checks(text)) <= 1.2 * operations(without_checks(hand))
    assert statements(without_checks(text)) <= 1.2 * statements(without_checks(hand))
    assert arrays_kept(text) == arrays_kept(hand)


@pytest.mark.parametrize("target", ["heat.py:misfit", "pendulum.py:final_energy"])
def test_the_number_of_steps_stays_an_argument(target: str) -> None:
    options = ["--args", ROD_TYPES] if target.startswith("heat") else []
    text = generated("grad", target, *options)
    function = next(n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef))
    assert "steps" in [argument.arg for argument in function.args.args]
    assert "range(steps)" in text


LOOP = '''
import numpy as np


def energy(x, drag):
    """
    >>> energy(np.array([0.3, 0.2]), 0.1)
    """
    v = np.zeros(2)
    for _ in range(97):
        v = v - 0.01 * (x + drag * v)
        x = x + 0.01 * v
        if v[0] > 5.0:
            break
    return x @ x
'''


@pytest.mark.parametrize("command", ["grad", "jvp", "vmap"])
def test_the_text_of_a_million_steps_is_that_of_a_few(command: str, tmp_path: Path) -> None:
    texts: list[str] = []
    for steps in ("97", "1000000"):
        folder = tmp_path / steps
        folder.mkdir()
        (folder / "model.py").write_text(LOOP.replace("97)", f"{steps})"), encoding="utf-8")
        with directory(folder), contextlib.redirect_stdout(io.StringIO()) as output:
            assert main([command, "model.py:energy", "--no-verify"]) == 0
        text = output.getvalue().replace(steps, "STEPS")
        texts.append("\n".join(line for line in text.splitlines() if "digest" not in line))
    assert texts[0] == texts[1]


COUNTED = '''
from pathlib import Path

with Path("runs.txt").open("a") as runs:
    runs.write("run\\n")


def square(x):
    """
    >>> square(2.0)
    """
    return x * x
'''


@pytest.mark.parametrize("command", ["grad", "vmap", "hessian"])
def test_a_file_is_run_once_and_left_as_it_is(command: str, tmp_path: Path) -> None:
    file = tmp_path / "counted.py"
    file.write_text(COUNTED, encoding="utf-8")
    before = file.stat()
    with directory(tmp_path), contextlib.redirect_stdout(io.StringIO()):
        assert main([command, "counted.py:square"]) == 0
    assert (tmp_path / "runs.txt").read_text(encoding="utf-8") == "run\n"
    assert file.read_text(encoding="utf-8") == COUNTED
    assert file.stat().st_mtime_ns == before.st_mtime_ns
    assert {path.name for path in tmp_path.iterdir()} <= {"counted.py", "runs.txt"}
