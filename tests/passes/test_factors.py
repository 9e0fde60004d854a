"""Products of a derivative collected."""

import numpy as np

from s2s import lax
from s2s.ir.jaxpr import ClosedJaxpr
from s2s.passes.dce import dce
from s2s.passes.factors import collect_factors
from s2s.trace import evaluate, make, phase
from tests.passes.programs import N, f64, values


def backward(fun, *avals) -> ClosedJaxpr:
    """A program whose equations are those of a derivative."""

    def marked(*args):
        with phase("cotangent"):
            return [fun(*args)]

    return make(marked, avals)


def text(closed: ClosedJaxpr) -> str:
    return str(dce(collect_factors(closed)))


def test_constants_are_multiplied_out() -> None:
    before = backward(lambda x: lax.neg(lax.mul(0.5, lax.div(lax.mul(x, 3.0), 2.0))), f64(N))
    assert text(before) == "{ lambda ; a:f64[n]. let b:f64[n] = mul -0.75:f64[] a in (b,) }"


def test_numbers_come_before_arrays() -> None:
    before = backward(lambda s, x: lax.div(lax.mul(lax.mul(2.0, x), s), lax.exp(s)), f64(), f64(N))
    assert text(before) == (
        "{ lambda ; a:f64[] b:f64[n]. let\n"
        "    c:f64[] = exp a\n"
        "    d:f64[] = mul 2.0:f64[] a\n"
        "    e:f64[] = div d c\n"
        "    f:f64[n] = mul e b\n"
        "  in (f,) }"
    )


def test_a_negative_term_makes_a_difference() -> None:
    before = backward(lambda x, y: lax.add(lax.mul(-2.0, x), y), f64(), f64())
    assert text(before) == (
        "{ lambda ; a:f64[] b:f64[]. let\n"
        "    c:f64[] = mul 2.0:f64[] a\n"
        "    d:f64[] = sub b c\n"
        "  in (d,) }"
    )


def test_a_common_factor_is_taken_out() -> None:
    before = backward(lambda x, y: lax.sub(lax.mul(3.0, x), lax.mul(3.0, y)), f64(N), f64(N))
    assert len(dce(collect_factors(before)).eqns) == 2


def test_what_is_used_twice_is_computed_once() -> None:
    def fun(x):
        scaled = lax.mul(2.0, x)
        return lax.add(lax.sin(scaled), lax.reduce_sum(scaled, (0,)))

    assert text(backward(fun, f64(N))).count("mul") == 1


def test_the_users_own_products_stay() -> None:
    before = make(lambda x: [lax.mul(2.0, lax.mul(x, 0.1))], [f64()])
    after = collect_factors(before)
    assert str(after) == str(before)


def test_values_agree() -> None:
    def fun(s, x, w):
        y = lax.mul(lax.div(lax.neg(x), lax.mul(s, 2.0)), lax.broadcast_in_dim(s, (3,), ()))
        z = lax.dot_general(w, lax.mul(y, -0.5), (((1,), (0,)), ((), ())))
        return lax.add(lax.mul(z, s), lax.neg(lax.div(1.0, lax.mul(z, z))))

    before = backward(fun, f64(), f64(3), f64(3, 3))
    args = values(before.in_avals)
    # Re-association: a few units in the last place.
    np.testing.assert_allclose(
        evaluate(collect_factors(before), *args)[0], evaluate(before, *args)[0], rtol=1e-13
    )


def test_zero_factors_and_divisors_keep_their_meaning() -> None:
    before = backward(lambda x, y: lax.add(lax.mul(0.0, x), lax.div(y, 0.0)), f64(), f64())
    with np.errstate(divide="ignore"):
        found = evaluate(collect_factors(before), np.float64(1.0), np.float64(2.0))
    assert found == [np.inf]


def test_multiples_of_one_product_are_one_multiple() -> None:
    def derivative(x, t):
        half = lax.mul(0.5, x)
        with phase("tangent"):
            return [lax.add_any(lax.mul(half, t), lax.mul(lax.mul(0.5, t), x))]

    assert text(make(derivative, [f64(N), f64(N)])) == (
        "{ lambda ; a:f64[n] b:f64[n]. let c:f64[n] = mul a b in (c,) }"
    )


def test_products_with_zero_vanish_from_sums() -> None:
    before = backward(lambda x, y: lax.add_any(lax.mul(0.0, lax.exp(x)), y), f64(N), f64(N))
    assert text(before) == "{ lambda ; a:f64[n] b:f64[n]. let  in (b,) }"


def test_a_sum_of_products_is_an_inner_product() -> None:
    def fun(x, y):
        return lax.reduce_sum(lax.mul(lax.mul(2.0, x), y), (0,))

    after = collect_factors(backward(fun, f64(N), f64(N)))
    assert [eqn.primitive.name for eqn in after.eqns] == ["dot_general", "mul"]
    x, y = values([f64(4), f64(4)])
    np.testing.assert_allclose(
        evaluate(collect_factors(backward(fun, f64(4), f64(4))), x, y)[0], 2.0 * (x @ y)
    )
