"""What generated loops keep, how long their text is, and that solvers have right gradients."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import s2s
from s2s import lax
from s2s.api.generation import generate
from s2s.frontend.argument_types.text import parse_arguments
from tests.codegen.numpy_source.test_module import MODELS, SEQUENCE, load, operations, statements

SIZES = "wx: f64[h, d], wh: f64[h, h], b: f64[h], xs: f64[t, d], targets: f64[t, h]"


def recurrent(wx, wh, b, xs, targets):
    """The recurrent network of the models, by a scan."""

    def step(carry, row):
        h, total = carry
        x, target = row
        h = np.tanh(wx @ x + wh @ h + b)
        total = total + np.sum((h - target) ** 2)
        return (h, total), None

    (_, total), _ = lax.scan(step, (np.zeros(b.shape), 0.0), (xs, targets))
    return total


def checkpointed(wx, wh, b, xs, targets):
    """The same, of which the backward part computes all again but the carry."""

    def step(carry, row):
        h, total = carry
        x, target = row
        h = np.tanh(np.sin(wx @ x) + np.cos(wh @ h) + b)
        total = total + np.sum((h - target) ** 2)
        return (h, total), None

    (_, total), _ = lax.scan(s2s.checkpoint(step), (np.zeros(b.shape), 0.0), (xs, targets))
    return total


def module(text: str, tmp_path: Path) -> ModuleType:
    path = tmp_path / "module.py"
    path.write_text(text)
    return load(path)


def test_a_scan_is_as_good_as_the_loop_by_hand(tmp_path: Path) -> None:
    text = generate(s2s.value_and_grad(recurrent, argnums=(0, 1, 2)), parse_arguments(SIZES)).text
    by_hand = MODELS / "by_hand" / "rnn_value_and_grad.py"
    hand = by_hand.read_text()
    assert operations(text) <= 1.2 * operations(hand)
    assert statements(text) <= 1.2 * statements(hand)
    value, bars = module(text, tmp_path).recurrent_value_and_grad(*SEQUENCE)
    wanted, wanted_bars = load(by_hand).loss_value_and_grad(*SEQUENCE)
    for a, b in zip((value, *bars), (wanted, *wanted_bars), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def peak(run: Callable[..., Any], *args: Any) -> int:
    """The most memory, in bytes, that a call takes beside its arguments."""
    run(*args)
    tracemalloc.start()
    try:
        run(*args)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_one_history_of_the_carry_is_kept(tmp_path: Path) -> None:
    steps, size = 10_000, 16
    random = np.random.default_rng(0)
    shapes = [(size, 2), (size, size), (size,), (steps, 2), (steps, size)]
    arguments = [0.1 * random.normal(size=shape) for shape in shapes]
    text = generate(s2s.value_and_grad(recurrent, argnums=(0, 1, 2)), parse_arguments(SIZES)).text
    found = peak(module(text, tmp_path).recurrent_value_and_grad, *arguments)
    hand = load(MODELS / "by_hand" / "rnn_value_and_grad.py").loss_value_and_grad
    assert found <= 1.2 * peak(hand, *arguments)
    history = (steps + 1) * size * 8
    assert history <= found <= 1.1 * history


def test_a_checkpoint_keeps_nothing_but_the_carry() -> None:
    types = parse_arguments(SIZES)
    with_checkpoint = generate(s2s.grad(checkpointed, argnums=(0, 1, 2)), types).text
    assert with_checkpoint.count("np.empty(") == 1
    assert "h_steps = np.empty((t, *h.shape))" in with_checkpoint
    # What is computed again stands in the backward part.
    backward = with_checkpoint[with_checkpoint.index("# Backward") :]
    statements = [line for line in backward.splitlines() if "#" not in line]
    assert any("wx @" in line for line in statements)
    assert any("wh @" in line for line in statements)


def test_without_checkpoint_products_are_kept() -> None:
    def plain(wx, wh, b, xs):
        def step(h, x):
            h = np.tanh(np.sin(wx @ x) + np.cos(wh @ h) + b)
            return h, None

        return np.sum(lax.scan(step, np.zeros(b.shape), xs)[0])

    types = "wx: f64[h, d], wh: f64[h, h], b: f64[h], xs: f64[t, d]"
    text = generate(s2s.grad(plain), parse_arguments(types)).text
    backward = text[text.index("# Backward") :]
    assert text.count("np.empty(") == 2  # for wx @ x and wh @ h
    statements = [line for line in backward.splitlines() if "#" not in line]
    assert not any("wx @" in line or "wh @" in line for line in statements)


def test_the_text_of_a_long_loop_is_that_of_a_short_one() -> None:
    def texts(steps: int) -> str:
        types = parse_arguments(SIZES.replace("t,", f"{steps},"))
        return generate(s2s.value_and_grad(recurrent, argnums=(0, 1, 2)), types).text

    short, long = texts(2), texts(1000)
    assert len(short.splitlines()) == len(long.splitlines())
    # The number of steps, and of entries of the history.
    assert short.replace("2", "#").replace("3", "#") != long
    assert long.replace("1000", "2").replace("1001", "3") == short


# -- solvers, each against central differences of the user's own function -------------------------


def newton(a: float, b: float) -> float:
    """The real root of x**3 + a x = b."""
    return lax.while_loop(
        lambda x: abs(x**3 + a * x - b) > 1e-13,
        lambda x: x - (x**3 + a * x - b) / (3.0 * x**2 + a),
        1.0,
    )


def fixed_point(w, x):
    """The state at which a network of tanh units comes to rest."""

    def moves(state):
        _, moved = state
        return np.max(np.abs(moved)) > 1e-14

    def relax(state):
        z, _ = state
        new = np.tanh(0.4 * w @ z + x)
        return new, new - z

    z, _ = lax.while_loop(moves, relax, (np.zeros(x.shape), x))
    return np.sum(z * x)


def adaptive(rate, start, duration: float):
    """The logistic equation, by Euler's method with steps as long as Heun's agrees with it."""

    def unfinished(state):
        time, _, _ = state
        return time < duration

    def attempt(state):
        time, y, step = state
        step = np.minimum(step, duration - time)
        first = rate * y * (1.0 - y)
        moved = y + step * first
        second = rate * moved * (1.0 - moved)
        error = 0.5 * step * np.max(np.abs(second - first))
        accepted = error < 1e-3
        y = np.where(accepted, y + 0.5 * step * (first + second), y)
        time = np.where(accepted, time + step, time)
        return time, y, step * np.where(accepted, 1.2, 0.5)

    _, y, _ = lax.while_loop(unfinished, attempt, (0.0, start, 0.1))
    return np.sum(y**2)


def kalman(log_drift, log_noise, positions):
    """The prediction errors of a Kalman filter for a random walk."""

    def measure(state, position):
        mean, variance = state
        variance = variance + np.exp(log_drift)
        error = position - mean
        spread = variance + np.exp(log_noise)
        gain = variance / spread
        return (mean + gain * error, (1.0 - gain) * variance), np.log(spread) + error**2 / spread

    _, terms = lax.scan(measure, (0.0, 1.0), positions)
    return np.mean(terms)


RANDOM = np.random.default_rng(7)
SOLVERS = {
    "newton": (newton, "a: float, b: float", [0.7, 2.5], 2),
    "fixed_point": (
        fixed_point,
        "w: f64[n, n], x: f64[n]",
        [RANDOM.normal(size=(4, 4)) / 2, RANDOM.normal(size=4)],
        2,
    ),
    "adaptive": (
        adaptive,
        "rate: f64[], start: f64[n], duration: float",
        [1.3, np.array([0.1, 0.2, 0.35]), 2.0],
        2,
    ),
    "kalman": (
        kalman,
        "log_drift: f64[], log_noise: f64[], positions: f64[n]",
        [-1.0, -0.5, np.cumsum(RANDOM.normal(size=30))],
        2,
    ),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_gradients_of_solvers(name: str, tmp_path: Path) -> None:
    fun, types, arguments, num = SOLVERS[name]
    arguments_types = parse_arguments(types)
    wrt = tuple(range(num))
    text = generate(s2s.value_and_grad(fun, argnums=wrt), arguments_types).text
    made = module(text, tmp_path)
    assert "s2s" not in vars(made) and "lax" not in vars(made)
    run = getattr(made, f"{name}_value_and_grad")
    value, bars = run(*arguments)
    assert value == pytest.approx(float(fun(*arguments)), rel=1e-13)
    random = np.random.default_rng(8)
    for _ in range(3):
        along = [random.standard_normal(np.shape(a)) for a in arguments[:num]]

        def at(scale: float, along: list[Any] = along) -> float:
            moved = [a + scale * t for a, t in zip(arguments, along, strict=False)]
            return run(*moved, *arguments[num:])[0]

        slope = (at(1e-6) - at(-1e-6)) / 2e-6
        found = sum(np.vdot(bar, t) for bar, t in zip(bars, along, strict=True))
        assert found == pytest.approx(slope, rel=1e-6)
