"""Sizes that values decide, in arrays with room for the largest: XLA computes what NumPy does."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2s
from s2s.api.tracing import optimised_for_xla, trace
from s2s.ir.jaxpr import ClosedJaxpr
from s2s.passes.bound_dimensions import bound_in
from s2s_codegen.stablehlo.padded import padded
from tests.codegen.stablehlo.agreement import PROGRAM, assert_agree

X = np.random.default_rng(0).normal(size=7)
A = np.random.default_rng(1).normal(size=(7, 7)) + 4.0 * np.eye(7)


def substitution(a: Any, b: Any) -> Any:
    x = np.zeros(len(b))
    for i in range(len(b) - 1, -1, -1):
        x[i] = (b[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return np.sum(x * b)


def elimination(a: Any, b: Any) -> Any:
    lu = a.copy()
    for k in range(len(b)):
        lu[k + 1 :, k] /= lu[k, k]
        lu[k + 1 :, k + 1 :] -= np.outer(lu[k + 1 :, k], lu[k, k + 1 :])
    return np.sum(np.diag(lu) * b)


def norms(a: Any, b: Any) -> Any:
    total = 0.0
    for i in range(len(b)):
        total += np.sqrt(np.sum(a[i:, i] ** 2)) + np.max(a[i, : i + 1]) * np.prod(b[:i])
    return total


def every_other(a: Any, b: Any) -> Any:
    total = 0.0
    for i in range(len(b)):
        total += np.sum(b[i::2] * np.arange(len(b[i::2]))) + np.sum(b[:i][::-1] * b[:i] ** 2)
    return total


def order(a: Any, b: Any) -> Any:
    kept = b[b > -0.5]
    ranks = np.argsort(kept)
    return np.sum(np.sort(kept) * np.arange(len(kept))) + np.sum(kept[ranks[::-1]] ** 2 * kept)


def running(a: Any, b: Any) -> Any:
    kept = b[b < 0.8]
    total = np.cumsum(kept)
    return np.sum(total**2) + np.cumprod(kept)[-1] + kept[-2] * kept[np.argmax(kept)]


def joined(a: Any, b: Any) -> Any:
    low, high = b[b < 0.0], b[b >= 0.0]
    both = np.concatenate([high, low * 2.0, b[:2]])
    return np.sum(both[1:] * both[:-1]) + both[len(high)] * both[0]


def placed(a: Any, b: Any) -> Any:
    kept = b[b > -0.5].copy()
    kept[1:] += 2.0
    kept[0] += 3.0
    kept[:-1] = 0.5
    out = np.ones_like(b)
    out[b > -0.5] = kept
    places = np.flatnonzero(b > 0.1)
    out[places - 1] = b[places] ** 2
    np.add.at(out, places, b[places])
    return np.sum(out * b)


def of_a_matrix(a: Any, b: Any) -> Any:
    rows, columns = np.nonzero(a > 0.3)
    chosen = a[rows, columns]
    return np.min(chosen) + np.sum(chosen[1:] * columns[:-1]) + np.sum(a[b > 0.0].max(axis=0))


def passes(a: Any, b: Any) -> Any:
    """A loop over rows that are selected, in one over the rows of slices."""
    total = 0.0
    for i in range(1, len(b)):
        for v in b[:i][b[:i] > 0.0]:
            total = np.sin(total) + v * b[i]
    return total


def windows(a: Any, b: Any) -> Any:
    low, high = np.argmin(b), np.argmax(b)
    if low > high:
        low, high = high, low
    part = b[low:high]
    return np.sum(part * part) + (part[-1] * part[0] if len(part) > 1 else 0.0)


FUNCTIONS = [
    substitution,
    elimination,
    norms,
    every_other,
    order,
    running,
    joined,
    placed,
    of_a_matrix,
    passes,
    windows,
]


@pytest.mark.parametrize("fun", FUNCTIONS, ids=lambda fun: fun.__name__)
def test_as_by_numpy(fun: Callable[..., Any]) -> None:
    gradient = s2s.value_and_grad(fun, (0, 1))
    compiled = s2s.jit(gradient)
    for x in (X, -X, np.roll(X, 3)):
        value, (of_a, of_x) = compiled(A, x)
        expected, (of_a_by_numpy, of_x_by_numpy) = gradient(A, x)
        assert_agree([value, of_a, of_x], [expected, of_a_by_numpy, of_x_by_numpy], PROGRAM)


def test_a_loop_stays_a_loop() -> None:
    """Whatever the number of its steps."""
    texts = [s2s.stablehlo(s2s.grad(norms, 1), np.eye(n), np.ones(n)).text for n in (20, 80)]
    assert len(texts[0].splitlines()) == len(texts[1].splitlines())


def test_nothing_is_selected() -> None:
    """The greatest of no elements, for which NumPy raises ValueError, is less than any number, and
    an item that does not exist is NaN."""
    assert s2s.jit(lambda x: np.max(x[x > 9.0]))(X) == -np.inf
    assert np.isnan(s2s.jit(lambda x: x[x > 9.0][0])(X))


def bound(closed: ClosedJaxpr) -> list[str]:
    return list(bound_in(closed.eqns))


def test_no_dimensions_are_left() -> None:
    types = {"a": s2s.ShapedArray((7, 7), A.dtype), "b": s2s.ShapedArray((7,), X.dtype)}
    closed = optimised_for_xla(trace(s2s.grad(norms), types))
    assert bound(closed)
    assert not bound(padded(closed))
