"""Matrix products out of loops, in programs for XLA."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2s
from s2s.control.scan import Scan
from s2s.ir.jaxpr import ClosedJaxpr
from s2s.primitives.contractions import DotGeneral
from s2s_codegen.stablehlo.products import LARGEST, products_apart

RANDOM = np.random.default_rng(0)
W, V, B = RANDOM.normal(size=(3, 4)), RANDOM.normal(size=(4, 4)) / 4.0, RANDOM.normal(size=4)
XS = RANDOM.normal(size=(6, 2, 3))


def recurrent(w, v, b, xs):
    h = np.zeros((xs.shape[1], 4))
    for x in xs:
        h = np.tanh(x @ w + h @ v + b)
    return np.sum(h**2)


def by_number(w, v, b, xs):
    """A running value beside it, and the products of rows read by their numbers, backwards."""
    h, total = np.zeros((xs.shape[1], 4)), 0.0
    for t in range(xs.shape[0] - 1, -1, -1):
        h = np.tanh(xs[t] @ w - h @ v + b)
        total += np.sum(h * (xs[t] @ w)) * t
    return total


def nested(w, v, b, xs):
    total = 0.0
    for x in xs:
        h = b
        for row in x:
            h = np.tanh(row @ w + h @ v)
        total += np.sum(h)
    return total


def vectors(w, v, b, xs):
    """The gradient of `w` is a sum of outer products."""
    h = b
    for x in xs[:, 0]:
        h = np.tanh(x @ w + v @ h)
    return h @ h


PROGRAMS = [recurrent, by_number, nested, vectors]


def finished(fun: Callable[..., Any], *args: Any) -> ClosedJaxpr:
    return s2s.make_jaxpr(fun)(*args)


def products_in_loops(closed: ClosedJaxpr, in_loop: bool = False) -> int:
    """How many products the steps of loops have."""
    return sum(
        int(in_loop and isinstance(eqn.primitive, DotGeneral))
        + sum(
            products_in_loops(jaxpr, in_loop or isinstance(eqn.primitive, Scan))
            for jaxpr in eqn.primitive.jaxprs
        )
        for eqn in closed.eqns
    )


@pytest.mark.parametrize("fun", PROGRAMS, ids=lambda fun: fun.__name__)
def test_values_and_derivatives_agree(fun):
    """To 1e-13 of the largest element: the sums are in another order."""
    args = W, V, B, XS
    derivative = s2s.value_and_grad(fun, (0, 1, 2, 3))
    (value, bars), (wanted, wanted_bars) = s2s.jit(derivative)(*args), derivative(*args)
    assert value == pytest.approx(wanted, rel=1e-13)
    for found, expected in zip(bars, wanted_bars, strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * np.max(np.abs(expected)))


def test_a_product_that_needs_no_carried_value_is_outside():
    closed = finished(recurrent, W, V, B, XS)
    assert products_in_loops(closed) == 2
    assert products_in_loops(products_apart(closed)) == 1


def test_sums_of_products_are_outside():
    """Backward, a step has the one product that the next one waits for."""
    closed = finished(s2s.grad(recurrent, (0, 1)), W, V, B, XS)
    before, after = products_in_loops(closed), products_in_loops(products_apart(closed))
    assert before == 5
    assert after == 2  # one of each loop


def test_what_would_be_too_large_stays():
    rows = LARGEST // (8 * 2 * 4) + 1
    xs = np.broadcast_to(0.0, (rows, 2, 3))
    closed = finished(recurrent, W, V, B, xs)
    assert products_in_loops(products_apart(closed)) == 2
