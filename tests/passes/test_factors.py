"""Products of a derivative collected."""

import numpy as np

from s2s import lax
from s2s.ir.jaxpr import ClosedJaxpr, ShapedArray
from s2s.passes.dce import dce
from s2s.passes.factors import collect_factors
from s2s.primitives.families import add_any
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


def test_a_number_before_two_terms_of_a_longer_sum_is_taken_out() -> None:
    def fun(s, x, y, z):
        return add_any(add_any(x, lax.mul(s, y)), lax.mul(s, z))

    found = dce(collect_factors(backward(fun, f64(), f64(N), f64(N), f64(N))))
    assert [eqn.primitive.name for eqn in found.eqns] == ["add_any", "mul", "add_any"]


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


def test_powers_of_one_value_are_collected_if_it_is_a_denominator() -> None:
    def fun(x, y):
        cube = lax.integer_pow(x, 3)
        return lax.div(lax.div(lax.mul(-3.0, lax.integer_pow(x, 2)), cube), cube)

    before = backward(fun, f64(N), f64(N))
    assert text(before) == (
        "{ lambda ; a:f64[n] b:f64[n]. let\n"
        "    c:f64[n] = integer_pow[y=4] a\n"
        "    d:f64[n] = div -3.0:f64[] c\n"
        "  in (d,) }"
    )
    # y / x**2 could be 0 / 0 where y / x / x is not.
    assert "integer_pow" not in text(
        backward(lambda x, y: lax.div(lax.div(y, x), x), f64(N), f64(N))
    )


def test_a_reciprocal_that_is_read_once_is_a_denominator() -> None:
    before = backward(lambda x, y: lax.mul(lax.mul(2.0, y), lax.div(1.5, x)), f64(N), f64(N))
    assert text(before) == (
        "{ lambda ; a:f64[n] b:f64[n]. let\n"
        "    c:f64[n] = mul 3.0:f64[] b\n"
        "    d:f64[n] = div c a\n"
        "  in (d,) }"
    )


def test_small_arrays_are_multiplied_before_they_are_repeated() -> None:
    def fun(x, row, scale):
        def repeated(value):
            return lax.broadcast_in_dim(value, (N, 4), (1,))

        return lax.div(lax.mul(lax.mul(2.0, x), repeated(row)), repeated(scale))

    before = backward(fun, f64(N, 4), f64(4), f64(4))
    assert text(before) == (
        "{ lambda ; a:f64[n,4] b:f64[4] c:f64[4]. let\n"
        "    d:f64[4] = mul 2.0:f64[] b\n"
        "    e:f64[4] = div d c\n"
        "    f:f64[n,4] = broadcast_in_dim[broadcast_dimensions=(1,)] e\n"
        "    g:f64[n,4] = mul f a\n"
        "  in (g,) }"
    )


def test_multiples_of_two_choices_by_one_condition_are_one_choice() -> None:
    def fun(c, x, y):
        first = lax.mul(lax.select_n(c, 0.0, x), 2.0)
        second = lax.mul(lax.select_n(c, y, 0.0), y)
        return lax.add_any(first, second)

    before = backward(fun, ShapedArray((N,), np.dtype(bool)), f64(N), f64(N))
    after = dce(collect_factors(before))
    assert [eqn.primitive.name for eqn in after.eqns] == ["mul", "mul", "select_n"]
    arguments = [np.array([True, False]), np.array([3.0, 4.0]), np.array([5.0, 6.0])]
    np.testing.assert_array_equal(evaluate(after, *arguments)[0], [6.0, 36.0])


def test_equal_terms_of_a_longer_sum_are_joined() -> None:
    def fun(x, y):
        term = lax.mul(0.1, x)
        return lax.add_any(lax.add_any(y, term), lax.mul(0.1, x))

    assert text(backward(fun, f64(N), f64(N))) == (
        "{ lambda ; a:f64[n] b:f64[n]. let\n"
        "    c:f64[n] = mul 0.2:f64[] a\n"
        "    d:f64[n] = add_any b c\n"
        "  in (d,) }"
    )


def test_constants_of_the_user_s_cancel() -> None:
    def fun(s):
        scaled = lax.mul(4.0, s)
        return lax.mul(4.0, lax.div(0.5, scaled))

    assert text(backward(fun, f64())) == (
        "{ lambda ; a:f64[]. let b:f64[] = div 0.5:f64[] a in (b,) }"
    )


def test_a_row_that_is_a_factor_twice_stays_once_in_an_inner_product() -> None:
    def fun(h, b):
        rows = lax.broadcast_in_dim(b, (2, 3), (1,))
        return lax.reduce_sum(lax.mul(lax.mul(rows, h), rows), (1,))

    before = backward(fun, f64(2, 3), f64(3))
    h, b = np.array([[0.5, -1.25, 2.0], [1.5, 0.25, -0.75]]), np.array([0.5, -2.0, 3.0])
    after = dce(collect_factors(before))
    assert "dot_general" in str(after)
    np.testing.assert_allclose(evaluate(after, h, b)[0], np.sum(h * b * b, axis=1), rtol=1e-14)


def test_of_a_choice_that_is_a_factor_twice_one_stays() -> None:
    def fun(c, x, y):
        p, q = lax.select_n(c, 0.0, x), lax.select_n(c, x, 0.0)
        return add_any(lax.mul(lax.mul(p, p), y), lax.mul(lax.mul(q, q), y))

    before = backward(fun, ShapedArray((3,), np.dtype(bool)), f64(3), f64(3))
    args = np.array([True, False, True]), np.array([0.5, -2.0, 3.0]), np.array([1.5, 2.5, -1.0])
    after = dce(collect_factors(before))
    np.testing.assert_allclose(evaluate(after, *args)[0], args[1] ** 2 * args[2], rtol=1e-14)
