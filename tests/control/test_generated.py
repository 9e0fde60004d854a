"""Every kind of control flow in every other, through the functions that are written for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from s2s.ir.dims import dimension
from s2s.ir.dtypes import FLOAT64
from s2s.ir.jaxpr import ClosedJaxpr, ShapedArray
from s2s.passes.jvp import jvp
from s2s.passes.linearize import vjp
from s2s.passes.pipeline import optimise
from s2s.passes.vmap import vmap
from s2s.primitives.functions import mul, reduce_sum
from s2s.trace import make
from s2s_codegen.numpy_source.module import compile_jaxpr
from tests.control.programs import (
    ANY_SIZE,
    FURTHER_PROGRAMS,
    POINTS,
    PROGRAMS,
    S2S,
    Body,
    loss,
)
from tests.control.test_nesting import CLOSE, EXACT, SECOND, gradient, inner, slope

ALL = {**PROGRAMS, **FURTHER_PROGRAMS}
DIRECTION = np.array([0.3, -1.0, 0.7]), np.array([1.1, 0.2, -0.4])


def written(closed: ClosedJaxpr) -> Callable[..., list[Any]]:
    """The function that is written for a jaxpr."""
    return compile_jaxpr(optimise(closed))


def of_three(name: str) -> ClosedJaxpr:
    fun = loss(S2S, ALL[name](S2S))
    aval = ShapedArray((3,), FLOAT64)
    return make(lambda w, x: [fun(w, x)], [aval, aval], ["w", "x"])


def of_any_size(name: str) -> ClosedJaxpr:
    body: Body = ALL[name](ANY_SIZE)
    aval = ShapedArray((dimension("n"),), FLOAT64)

    def fun(w: Any, x: Any) -> list[Any]:
        y = body(w, x)
        return [reduce_sum(mul(y, y), (0,))]

    return make(fun, [aval, aval], ["w", "x"])


@pytest.mark.parametrize("name", ALL)
def test_derivatives(name: str) -> None:
    """Tangent, gradient, and the tangent of the gradient are slopes; a batch of these is a loop."""
    closed = of_three(name)
    again = check(closed, POINTS, DIRECTION)
    rows = [written(again)(*at, *DIRECTION) for at in POINTS]
    batch, _ = vmap(again, 2, [0, 0, None, None], [0] * 4)
    w, x = (np.stack(pair) for pair in zip(*POINTS, strict=True))
    for found, *wanted in zip(written(batch)(w, x, *DIRECTION), *rows, strict=True):
        np.testing.assert_allclose(found, np.stack(wanted), **EXACT)


DIFFERENT = {"scan", "cond", "while", "vmap", "jit"}


@pytest.mark.parametrize(
    "name", [name for name in ALL if "(" not in name or set(name[:-1].split("(")) <= DIFFERENT]
)
def test_derivatives_for_any_size(name: str) -> None:
    w, x = (np.resize(a, 5) for a in DIRECTION)
    check(of_any_size(name), [tuple(np.resize(a, 5) * 0.8 for a in at) for at in POINTS], (w, x))


def check(
    closed: ClosedJaxpr, points: Sequence[Sequence[np.ndarray]], along: Sequence[np.ndarray]
) -> ClosedJaxpr:
    """Compare derivatives with slopes. Returns the tangent of the gradient."""
    again, _ = jvp(gradient(closed), [True, True])
    forward = written(jvp(closed, [True, True])[0])
    backward = written(vjp(closed, [True, True], [True])[0])
    second = written(again)
    zeros = [np.zeros_like(a) for a in along]
    for at in points:
        (wanted,) = slope(lambda *at: backward(*at, 1.0)[:1], at, along)
        value, tangent = forward(*at, *along)
        np.testing.assert_allclose(tangent, wanted, **CLOSE)
        found = backward(*at, 1.0)
        np.testing.assert_allclose(found[0], value, **EXACT)
        np.testing.assert_allclose(inner(found[1:], along), wanted, **CLOSE)
        tangents = second(*at, *along)[2:]
        slopes = slope(lambda *at: second(*at, *zeros)[:2], at, along)
        for a, b in zip(tangents, slopes, strict=True):
            np.testing.assert_allclose(a, b, **SECOND)
    return again
