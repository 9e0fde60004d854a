"""Whole modules: of the models, beside what a colleague wrote by hand for the same."""

import ast
import importlib.util
import py_compile
import warnings
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import black
import numpy as np
import pytest

import s2s
from s2s.api.derivatives import JvpFunction
from s2s.api.generation import generate
from s2s.frontend.argument_types.text import parse_arguments
from s2s.tree import flatten

TESTS = Path(__file__).parents[2]
MODELS = TESTS / "models"

MLP = "params: {w1: f64[d, h], b1: f64[h], w2: f64[h, k], b2: f64[k]}, x: f64[n, d], y: f64[n, k]"
PRICE = "spot: float, strike: float, maturity: float, rate: float, vol: float"
RNN = "wx: f64[h, d], wh: f64[h, h], b: f64[h], xs: f64[t, d], targets: f64[t, h]"
SWING = (
    "angle: float, speed: float, length: float, angle_dot: float, speed_dot: float, "
    "length_dot: float, dt: float, steps=3"
)


def load(path: Path) -> ModuleType:
    specification = importlib.util.spec_from_file_location(path.stem, path)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def transformed(model: str) -> tuple[Any, str]:
    """The transformed function of a model, and the types of its arguments."""
    match model:
        case "mlp_grad":
            return s2s.grad(load(MODELS / "mlp.py").loss), MLP
        case "mlp_value_and_grad":
            return s2s.value_and_grad(load(MODELS / "mlp.py").loss), MLP
        case "call_price_grad":
            price = load(MODELS / "black_scholes.py").call_price
            return s2s.grad(price, argnums=(0, 1, 2, 3, 4)), PRICE
        case "rnn_value_and_grad":
            return s2s.value_and_grad(load(MODELS / "rnn.py").loss, argnums=(0, 1, 2)), RNN
        case "final_energy_jvp":
            return JvpFunction(load(MODELS / "pendulum.py").final_energy, (0, 1, 2)), SWING
    raise ValueError(model)


COMMANDS = {
    "mlp_grad": ("s2s", "grad", "mlp.py:loss", "--args", MLP, "-o", "mlp_grad.py"),
    "mlp_value_and_grad": ("s2s", "value-and-grad", "mlp.py:loss", "--args", MLP),
    "call_price_grad": (
        "s2s", "grad", "black_scholes.py:call_price", "--wrt", "spot,strike,maturity,rate,vol",
        "-o", "call_price_grad.py",
    ),
    "rnn_value_and_grad": (
        "s2s", "value-and-grad", "rnn.py:loss", "--wrt", "wx,wh,b", "--args", RNN,
    ),
    "final_energy_jvp": (
        "s2s", "jvp", "pendulum.py:final_energy", "--wrt", "angle,speed,length",
        "--static", "steps=3",
    ),
}  # fmt: skip
NAMES = list(COMMANDS)


def generated(name: str) -> str:
    fun, types = transformed(name)
    return generate(fun, parse_arguments(types), command=COMMANDS[name]).text


@pytest.mark.parametrize("name", NAMES)
def test_modules_of_the_models(name: str, golden: Any, tmp_path: Path) -> None:
    text = generated(name)
    golden(f"numpy_source/{name}.py", text)
    assert black.format_str(text, mode=black.Mode()) == text
    path = tmp_path / "module.py"
    path.write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        py_compile.compile(str(path), doraise=True)
    assert generated(name) == text  # the same bytes again


def operations(text: str) -> int:
    """How many calls and operators a module executes or would."""
    counted = (ast.BinOp, ast.UnaryOp, ast.Call, ast.AugAssign, ast.Compare)
    return sum(isinstance(node, counted) for node in ast.walk(ast.parse(text)))


def statements(text: str) -> int:
    (function,) = (n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef))
    return sum(isinstance(node, ast.stmt) for node in ast.walk(function))


def imports(text: str) -> set[str]:
    found = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import))
    return {alias.name for node in found for alias in node.names}


def names_of_the_user_s(text: str) -> set[str]:
    names = Counter(node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name))
    return set(names)


MLP_ARGUMENTS = (
    {
        "w1": np.random.default_rng(0).normal(size=(3, 4)),
        "b1": np.random.default_rng(1).normal(size=4),
        "w2": np.random.default_rng(2).normal(size=(4, 2)),
        "b2": np.random.default_rng(3).normal(size=2),
    },
    np.random.default_rng(4).normal(size=(5, 3)),
    np.random.default_rng(5).normal(size=(5, 2)),
)


PRICED = (90.0, 100.0, 0.7, 0.02, 0.3)

SEQUENCE = [
    np.random.default_rng(6).normal(size=shape) for shape in [(4, 2), (4, 4), (4,), (5, 2), (5, 4)]
]


@pytest.mark.parametrize(
    ("name", "function", "arguments", "user_s"),
    [
        ("mlp_grad", "loss_grad", MLP_ARGUMENTS, {"hidden", "predicted", "error", "w1", "b2"}),
        ("call_price_grad", "call_price_grad", PRICED, {"total_vol", "d1", "d2", "discount"}),
        ("rnn_value_and_grad", "loss_value_and_grad", SEQUENCE, {"h", "h_steps", "total", "xs"}),
    ],
)
def test_as_good_as_by_hand(
    name: str, function: str, arguments: Any, user_s: set[str], tmp_path: Path
) -> None:
    text = generated(name)
    by_hand = MODELS / "by_hand" / f"{name}.py"
    hand = by_hand.read_text()
    assert operations(text) <= 1.2 * operations(hand)
    assert statements(text) <= 1.2 * statements(hand)
    assert imports(text) <= imports(hand)
    assert user_s <= names_of_the_user_s(text)
    path = tmp_path / f"{name}.py"
    path.write_text(text)
    found, _ = flatten(getattr(load(path), function)(*arguments))
    expected, _ = flatten(getattr(load(by_hand), function)(*arguments))
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12)


def test_tangents_of_an_unrolled_loop(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(generated("final_energy_jvp"))
    arguments = (0.5, 0.1, 2.0, 1.0, -0.5, 0.25, 0.01, 3)
    hand = load(MODELS / "by_hand" / "final_energy_jvp.py")
    found = load(path).final_energy_jvp(*arguments)
    np.testing.assert_allclose(found, hand.final_energy_jvp(*arguments), rtol=1e-12)
