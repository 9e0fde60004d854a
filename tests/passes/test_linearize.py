"""Reverse mode, from jaxpr to jaxpr."""

import numpy as np

from s2s import lax
from s2s.passes.linearize import linearize, vjp
from s2s.passes.pipeline import optimise
from s2s.trace import evaluate
from tests.passes.programs import N, f64, program, values


def test_text() -> None:
    before = program(lambda x: lax.reduce_sum(lax.sin(x), (0,)), f64(N), names=["x"])
    after, depends = vjp(before, [True], [True])
    assert str(optimise(after)) == (
        "{ lambda ; a:f64[n] b:f64[]. let\n"
        "    c:f64[n] = sin a\n"
        "    d:f64[n] = cos a\n"
        "    e:f64[] = reduce_sum[axes=(0,)] c\n"
        "    f:f64[n] = mul b d\n"
        "  in (e, f) }"
    )
    assert depends == [True]
    assert after.jaxpr.outvars[1].name == "x_bar"


def test_linearize_agrees_with_differences() -> None:
    def fun(x, y):
        return [lax.mul(lax.exp(x), y), lax.div(x, y)]

    before = program(fun, f64(4), f64(4))
    lin = linearize(before, [True, True])
    args = values(before.in_avals)
    dots = values(before.in_avals, seed=5)
    known = evaluate(lin.known, *args)
    y_dots = evaluate(lin.linear, *known[2:], *dots)
    h = 1e-6
    above = evaluate(before, *[x + h * t for x, t in zip(args, dots, strict=True)])
    below = evaluate(before, *[x - h * t for x, t in zip(args, dots, strict=True)])
    for found, up, down in zip(y_dots, above, below, strict=True):
        np.testing.assert_allclose(found, (up - down) / (2 * h), rtol=1e-8)


def test_an_output_without_cotangent_counts_as_constant() -> None:
    before = program(lambda x: [lax.sin(x), lax.exp(x)], f64())
    after, _ = vjp(before, [True], [False, True])
    x = np.float64(0.7)
    sine, exponential, x_bar = evaluate(after, x, np.float64(2.0))
    assert (sine, exponential) == (np.sin(x), np.exp(x))
    np.testing.assert_allclose(x_bar, 2.0 * np.exp(x), rtol=1e-15)


def test_an_output_that_does_not_depend_on_the_input() -> None:
    before = program(lambda x, y: [lax.sin(y), lax.mul(x, 3.0)], f64(), f64())
    after, depends = vjp(before, [True, False], [True, True])
    assert depends == [False, True]
    assert evaluate(after, 1.0, 2.0, 5.0, 7.0)[2] == 21.0
