"""(xs, ts -> ys), linear in ts  ->  (xs, y_bars -> t_bars)"""

import numpy as np

from s2s import lax
from s2s.passes.transpose import transpose
from s2s.trace import evaluate
from tests.passes.programs import N, f64, program, values


def test_text() -> None:
    before = program(
        lambda c, t: lax.reduce_sum(lax.mul(t, c), (0,)), f64(N), f64(N), names=["c", "t_dot"]
    )
    after = transpose(before, [False, True])
    assert str(after) == (
        "{ lambda ; a:f64[n] b:f64[]. let\n"
        "    c:f64[n] = broadcast_in_dim b\n"
        "    d:f64[n] = mul c a\n"
        "  in (d,) }"
    )
    assert after.jaxpr.outvars[0].name == "t_bar"
    assert all(eqn.phase == "cotangent" for eqn in after.eqns)


def test_several_uses_are_summed() -> None:
    before = program(lambda t: lax.add(lax.mul(3.0, t), t), f64())
    after = transpose(before, [True])
    assert evaluate(after, np.float64(2.0)) == [8.0]


def test_an_unused_input_has_a_zero_cotangent() -> None:
    before = program(lambda t, u: lax.mul(3.0, t), f64(), f64(2))
    after = transpose(before, [True, True])
    t_bar, u_bar = evaluate(after, np.float64(1.0))
    assert t_bar == 3.0
    np.testing.assert_array_equal(u_bar, np.zeros(2))


def test_twice_is_the_identity() -> None:
    def fun(c, t):
        return lax.transpose(lax.mul(lax.neg(t), c), (1, 0))

    before = program(fun, f64(2, 3), f64(2, 3))
    twice = transpose(transpose(before, [False, True]), [False, True])
    c, t = values(before.in_avals)
    np.testing.assert_array_equal(evaluate(twice, c, t)[0], evaluate(before, c, t)[0])


def test_adjoint() -> None:
    def fun(w, t):
        return lax.dot_general(lax.pad(t, 0.0, ((1, 2, 0), (0, 0, 0))), w, (((1,), (0,)), ((), ())))

    before = program(fun, f64(4, 3), f64(5, 4))
    after = transpose(before, [False, True])
    w, t = values(before.in_avals)
    y = evaluate(before, w, t)[0]
    ct = np.random.default_rng(3).normal(size=y.shape)
    t_bar = evaluate(after, w, ct)[0]
    np.testing.assert_allclose(np.vdot(ct, y), np.vdot(t_bar, t), rtol=1e-13)
