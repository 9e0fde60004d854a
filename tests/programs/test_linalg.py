"""Programs with linear algebra: gradients agree with JAX, and nothing is decomposed twice."""

import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import s2s

RANDOM = np.random.default_rng(0)


def filtered(a: Any, log_noise: Any, h: Any, y: Any) -> Any:
    """Kalman filter: the negative log-likelihood of measurements y, but for a constant."""
    mean = np.zeros(a.shape[0])
    covariance = np.eye(a.shape[0])
    total = 0.0
    for t in range(y.shape[0]):
        mean = a @ mean
        covariance = a @ covariance @ a.T + 0.1 * np.eye(a.shape[0])
        spread = h @ covariance @ h.T + np.exp(log_noise) * np.eye(h.shape[0])
        inverse = np.linalg.inv(spread)
        error = y[t] - h @ mean
        total = total + 0.5 * (np.linalg.slogdet(spread)[1] + error @ inverse @ error)
        gain = covariance @ h.T @ inverse
        mean = mean + gain @ error
        covariance = covariance - gain @ h @ covariance
    return total


def projected(x: Any, y: Any) -> Any:
    """Principal components: how well the first two explain y."""
    u, s, _ = np.linalg.svd(x, full_matrices=False)
    return np.sum((u[:, :2].T @ y) ** 2 * s[:2])


def fitted(x: Any, y: Any) -> Any:
    """Least squares by orthogonal factors."""
    q, r = np.linalg.qr(x)
    return np.sum(np.linalg.solve(r, q.T @ y) ** 2)


def relaxed(x: Any, y: Any) -> Any:
    """A function of the symmetric matrix of x by its eigenvalues, applied to y."""
    w, v = np.linalg.eigh(x.T @ x)
    return y @ (v * np.sqrt(w)) @ v.T @ y


TALL, MEASURED = RANDOM.normal(size=(6, 3)), RANDOM.normal(size=6)
CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "filtered": (
        filtered,
        (
            0.9 * np.eye(3) + 0.1 * RANDOM.normal(size=(3, 3)),
            -1.0,
            RANDOM.normal(size=(2, 3)),
            RANDOM.normal(size=(5, 2)),
        ),
    ),
    "projected": (projected, (TALL, MEASURED)),
    "fitted": (fitted, (TALL, MEASURED)),
    "relaxed": (relaxed, (TALL, MEASURED[:3])),
}


def in_jax(fun: Callable[..., Any]) -> Callable[..., Any]:
    """The same function on JAX's arrays."""
    names = {**fun.__globals__, "np": jnp}
    return type(fun)(fun.__code__, names)


@pytest.mark.parametrize("name", CASES)
def test_gradients(name: str) -> None:
    fun, args = CASES[name]
    found = s2s.grad(fun, argnums=(0, 1))(*args)
    expected = jax.grad(in_jax(fun), argnums=(0, 1))(*map(jnp.asarray, args))
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_decomposed_twice(name: str) -> None:
    fun, args = CASES[name]
    text = s2s.source(s2s.value_and_grad(fun), *args)
    lines = [line for line in text.split("\n") if not line.lstrip().startswith("#")]
    calls = re.findall(r"np\.linalg\.(inv|slogdet|svd|qr|eigh)\(", "\n".join(lines))
    assert sorted(calls) == sorted(set(calls))
