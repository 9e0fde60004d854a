"""Control flow in control flow: every transformation, two deep, in every pair."""

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
import pytest

from s2s.ir.jaxpr import ClosedJaxpr
from s2s.passes.jvp import jvp
from s2s.passes.linearize import vjp
from s2s.passes.pipeline import optimise
from s2s.passes.vmap import vmap
from s2s.trace import evaluate, inline, make
from tests.control.programs import POINTS, PROGRAMS, loss, traced

JAX = SimpleNamespace(
    lax=jax.lax,
    jit=jax.jit,
    checkpoint=jax.checkpoint,
    custom_jvp=jax.custom_jvp,
    custom_vjp=jax.custom_vjp,
)

STEP = 1e-6
# Central differences of a smooth function at this step are good to about STEP**2 in truncation and
# 1e-16 / STEP in rounding.
CLOSE = {"rtol": 1e-6, "atol": 1e-8}
# The second derivative is a difference of exact first ones: as good.
SECOND = {"rtol": 1e-5, "atol": 1e-7}
# Two ways to compute the same in double precision.
EXACT = {"rtol": 1e-11, "atol": 1e-12}

Arrays = Sequence[np.ndarray]


def gradient(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The gradient of a function of w and x with one number as its result."""
    both, _ = vjp(closed, [True, True], [True])
    return make(lambda w, x: inline(both, w, x, 1.0)[1:], closed.in_avals, ["w", "x"])


def run(closed: ClosedJaxpr) -> Callable[..., list[Any]]:
    return lambda *args: evaluate(closed, *args)


def slope(fun: Callable[..., list[Any]], at: Arrays, along: Arrays) -> list[Any]:
    up = fun(*[a + STEP * t for a, t in zip(at, along, strict=True)])
    down = fun(*[a - STEP * t for a, t in zip(at, along, strict=True)])
    return [(u - d) / (2 * STEP) for u, d in zip(up, down, strict=True)]


def inner(a: Arrays, b: Arrays) -> float:
    return sum(float(np.vdot(x, y)) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives(name: str) -> None:
    """The tangent is the slope, the gradient its adjoint; and again for the gradient."""
    random = np.random.default_rng(1)
    closed = traced(name)
    forward, _ = jvp(closed, [True, True])
    backward, _ = vjp(closed, [True, True], [True])
    first = gradient(closed)
    forward_again, _ = jvp(first, [True, True])
    backward_again, _ = vjp(first, [True, True], [True, True])
    for at in POINTS:
        along = [random.standard_normal(3) for _ in at]
        (value,) = run(closed)(*at)
        (wanted,) = slope(run(closed), at, along)
        found = run(forward)(*at, *along)
        np.testing.assert_allclose(found[0], value, **EXACT)
        np.testing.assert_allclose(found[1], wanted, **CLOSE)
        for program in (backward, optimise(backward)):
            found = run(program)(*at, 1.0)
            np.testing.assert_allclose(found[0], value, **EXACT)
            np.testing.assert_allclose(inner(found[1:], along), wanted, **CLOSE)

        second = slope(run(first), at, along)
        for a, b in zip(run(forward_again)(*at, *along)[2:], second, strict=True):
            np.testing.assert_allclose(a, b, **SECOND)
        bars = [random.standard_normal(3) for _ in at]
        for program in (backward_again, optimise(backward_again)):
            found = run(program)(*at, *bars)[2:]
            np.testing.assert_allclose(inner(found, along), inner(bars, second), **SECOND)


AXES = [(None, 0), (0, None), (0, 0)]


@pytest.mark.parametrize(
    ("name", "axes"),
    # Of a pair, what batches its parts batches the whole.
    [(name, axes) for name in PROGRAMS for axes in (AXES[2:] if "(" in name else AXES)],
)
def test_batches(name: str, axes: tuple[int | None, int | None]) -> None:
    """A batch is a loop: of the function, its gradient, and the gradient of its gradient."""
    random = np.random.default_rng(2)
    closed = traced(name)
    backward, _ = vjp(closed, [True, True], [True])
    again, _ = vjp(gradient(closed), [True, True], [True, True])
    w, x = (
        np.concatenate([[a], [b], random.uniform(-1, 1, (2, 3))])
        for a, b in zip(*POINTS, strict=True)
    )
    args = [a if axis == 0 else a[0] for a, axis in zip((w, x), axes, strict=True)]
    bars = [random.standard_normal(3) for _ in args]
    for program, rest in ((closed, []), (backward, [1.0]), (again, bars)):
        in_axes = [*axes, *[None] * len(rest)]
        batch, _ = vmap(program, 4, in_axes, [0] * len(program.out_avals))
        rows = [
            run(program)(
                *[a[i] if ax == 0 else a for a, ax in zip((*args, *rest), in_axes, strict=True)]
            )
            for i in range(4)
        ]
        for optimised in (batch, optimise(batch)):
            for found, *wanted in zip(run(optimised)(*args, *rest), *rows, strict=True):
                np.testing.assert_allclose(found, np.stack(wanted), **EXACT)

    # The gradient of a batch is the batch of gradients.
    batch, _ = vmap(closed, 4, axes, [0])
    backward_of_batch, _ = vjp(batch, [True, True], [True])
    weights = random.standard_normal(4)
    found = run(backward_of_batch)(*args, weights)[1:]
    each = [
        run(backward)(
            *[a[i] if ax == 0 else a for a, ax in zip(args, axes, strict=True)], weights[i]
        )[1:]
        for i in range(4)
    ]
    for bar, axis, *wanted in zip(found, axes, *each, strict=True):
        rows = np.stack(wanted)
        np.testing.assert_allclose(bar, rows if axis == 0 else rows.sum(axis=0), **EXACT)


@pytest.mark.parametrize("name", PROGRAMS)
def test_against_jax(name: str) -> None:
    """Values, gradients and their tangents are JAX's, where JAX has them."""
    fun = loss(JAX, PROGRAMS[name](JAX))
    closed = traced(name)
    w, x = (np.stack(pair) for pair in zip(*POINTS, strict=True))
    along = np.array([0.3, -1.0, 0.7]), np.array([1.1, 0.2, -0.4])
    if "while" in name:
        forward, _ = jvp(closed, [True, True])
        batch, _ = vmap(forward, 2, [0, 0, None, None], [0, 0])
        if "custom_vjp" in name:
            wanted = [jax.jit(jax.vmap(fun))(w, x)]
        else:
            wanted = jax.jit(jax.vmap(lambda w, x: jax.jvp(fun, (w, x), along)))(w, x)
        found = run(batch)(w, x, *along)[: len(wanted)]
    else:
        first = gradient(closed)
        again, _ = vjp(first, [True, True], [True, True])
        batch, _ = vmap(again, 2, [0, 0, None, None], [0] * 4)

        def both(w: Any, x: Any) -> Any:
            bars, pull = jax.vjp(jax.grad(fun, (0, 1)), w, x)
            return *bars, *pull(along)

        wanted = jax.jit(jax.vmap(both))(w, x)
        found = run(batch)(w, x, *along)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, **EXACT)
