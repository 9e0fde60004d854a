"""(xs -> ys)  ->  (xs, x_dots -> ys, y_dots)"""

import numpy as np
import pytest

from s2s import lax
from s2s.ir.jaxpr import Literal
from s2s.passes.jvp import jvp
from s2s.trace import evaluate
from tests.passes.programs import N, f64, program, values


def test_text() -> None:
    before = program(lambda x: lax.mul(x, lax.sin(x)), f64(N))
    after, out_active = jvp(before, [True])
    assert str(after) == (
        "{ lambda ; a:f64[n] b:f64[n]. let\n"
        "    c:f64[n] = sin a\n"
        "    d:f64[n] = cos a\n"
        "    e:f64[n] = mul b d\n"
        "    f:f64[n] = mul a c\n"
        "    g:f64[n] = mul b c\n"
        "    h:f64[n] = mul a e\n"
        "    i:f64[n] = add_any g h\n"
        "  in (f, i) }"
    )
    assert out_active == [True]


def test_what_does_not_depend_on_an_active_input_has_no_tangent() -> None:
    before = program(lambda x, y: [lax.sin(x), lax.cos(y)], f64(), f64())
    after, out_active = jvp(before, [False, True])
    assert out_active == [False, True]
    assert len(after.in_avals) == 3
    assert len(after.out_avals) == 3


def test_names_and_phases_are_handed_on() -> None:
    def fun(x):
        y = lax.sin(x)
        y.variable.name = "wave"
        return lax.exp(y)

    after, _ = jvp(program(fun, f64(), names=["angle"]), [True])
    by_name = {var.name: eqn for eqn in after.eqns for var in eqn.outvars if var.name}
    assert after.jaxpr.invars[1].name == "angle_dot"
    assert by_name["wave"].phase == "primal"
    assert by_name["wave_dot"].phase == "tangent"


def test_a_literal_result_has_no_tangent() -> None:
    before = program(lambda x: [x, 2.0], f64())
    after, out_active = jvp(before, [True])
    assert out_active == [True, False]
    assert isinstance(after.jaxpr.outvars[1], Literal)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_repeated_derivatives_of_a_power(order: int) -> None:
    closed = program(lambda x: lax.integer_pow(x, 5), f64())
    for _ in range(order):
        inputs = len(closed.in_avals)
        derived, _ = jvp(closed, [True] + [False] * (inputs - 1))

        def last(*xs, closed=derived):
            from s2s.trace import inline

            return inline(closed, *xs, 1.0)[-1]

        closed = program(last, f64())
    expected = {1: 5 * 1.3**4, 2: 20 * 1.3**3, 3: 60 * 1.3**2}[order]
    np.testing.assert_allclose(evaluate(closed, np.float64(1.3))[0], expected, rtol=1e-14)


def test_values_agree_with_differences() -> None:
    def fun(x, w):
        return lax.reduce_sum(lax.tanh(lax.dot_general(x, w, (((1,), (0,)), ((), ())))), (0, 1))

    before = program(fun, f64(3, 4), f64(4, 2))
    after, _ = jvp(before, [True, True])
    x, w = values(before.in_avals)
    x_dot, w_dot = values(before.in_avals, seed=1)
    h = 1e-6
    above = evaluate(before, x + h * x_dot, w + h * w_dot)[0]
    below = evaluate(before, x - h * x_dot, w - h * w_dot)[0]
    # Central differences: the error is of the order of h**2 and of rounding over h.
    np.testing.assert_allclose(
        evaluate(after, x, w, x_dot, w_dot)[1], (above - below) / (2 * h), rtol=1e-8
    )
