"""Solvers as users write them, with while_loop and scan."""

from typing import Any

import numpy as np

from s2s import lax


def newton(a: float, b: float) -> float:
    """The root of x**3 + a * x - b by Newton's iteration."""

    def unsolved(state: Any) -> Any:
        _, step, count = state
        return (np.abs(step) > 1e-12) & (count < 50)

    def improve(state: Any) -> Any:
        x, _, count = state
        step = (x**3 + a * x - b) / (3.0 * x**2 + a)
        return x - step, step, count + 1

    x, _, _ = lax.while_loop(unsolved, improve, (1.0, np.inf, 0))
    return x


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


def adaptive(rate: float, start: float, end: float) -> Any:
    """y' = sin(t) - rate * y from 0 to `end`, by Heun's method in steps that it chooses."""

    def slope(t: Any, y: Any) -> Any:
        return -rate * y + np.sin(t)

    def going(state: Any) -> Any:
        t, _, _ = state
        return t < end

    def advance(state: Any) -> Any:
        t, y, h = state
        h = np.minimum(h, end - t)
        first = slope(t, y)
        second = slope(t + h, y + h * first)
        error = np.abs(0.5 * h * (second - first))
        accepted = error < 1e-4
        t = np.where(accepted, t + h, t)
        y = np.where(accepted, y + 0.5 * h * (first + second), y)
        return t, y, h * np.clip(0.9 * np.sqrt(1e-4 / (error + 1e-12)), 0.2, 4.0)

    _, y, _ = lax.while_loop(going, advance, (0.0, start, 0.1))
    return y


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
