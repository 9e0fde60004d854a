"""What an expert would have written: the texts of some loops, line by line."""

from typing import Any

import numpy as np

import s2s
from s2s import lax


def fixed_point(weights: Any, bias: Any) -> Any:
    """The squared length of the x with x = tanh(weights @ x + bias)."""

    def apart(pair: Any) -> Any:
        old, new = pair
        return np.max(np.abs(new - old)) > 1e-13

    def step(pair: Any) -> Any:
        _, x = pair
        return x, np.tanh(weights @ x + bias)

    x = np.zeros(bias.shape)
    _, x = lax.while_loop(apart, step, (x + 1.0, x))
    return np.sum(x**2)


def kalman(log_q: Any, log_r: Any, ys: Any) -> Any:
    """The negative logarithm of the likelihood of a trend with noise, without constants."""
    q, r = np.exp(log_q), np.exp(log_r)
    transition = np.array([[1.0, 1.0], [0.0, 1.0]])

    def step(carry: Any, y: Any) -> Any:
        mean, cov, total = carry
        mean = transition @ mean
        cov = transition @ cov @ transition.T + q * np.eye(2)
        variance = cov[0, 0] + r
        gain = cov[:, 0] / variance
        surprise = y - mean[0]
        mean = mean + gain * surprise
        cov = cov - np.outer(gain, cov[0])
        return (mean, cov, total + 0.5 * (np.log(variance) + surprise**2 / variance)), mean[0]

    (_, _, total), _ = lax.scan(step, (np.zeros(2), np.eye(2), 0.0), ys)
    return total


def test_a_shift_of_carried_values_reads_as_one() -> None:
    text = s2s.source(s2s.grad(fixed_point), np.eye(4) * 0.1, np.ones(4))
    # The condition has the name for the value that the body drops.
    assert "while np.max(np.abs(x - old)) > 1e-13:\n" in text
    assert "        old = x\n        x = x_1\n" in text


def test_a_product_with_a_row_is_a_product_of_matrices() -> None:
    text = s2s.source(s2s.grad(kalman), np.asarray(-1.0), np.asarray(0.3), np.ones(30))
    assert "identity = np.eye(2)\n" in text
    assert "cov_bar[0] -= gain @ cov_bar\n" in text


def test_a_sum_stands_under_the_line_of_its_terms() -> None:
    def loss(h: Any, w: Any) -> Any:
        def step(c: Any, _: None) -> tuple[Any, None]:
            return np.tanh(c * w) + np.sin(c), None

        return np.sum(lax.scan(step, h, None, 5)[0])

    text = s2s.source(s2s.grad(loss, argnums=(0, 1)), np.ones(3), np.ones(3))
    backward = text[text.index("in reversed(") :]
    assert "w_bar += c * product_bar\n" in backward
    assert backward.count("# ") == 1
