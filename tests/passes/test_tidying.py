"""dce, cse, simplify and the pipeline: the same values from fewer equations."""

import numpy as np

from s2s import lax
from s2s.passes.cse import cse
from s2s.passes.dce import dce
from s2s.passes.pipeline import optimise
from s2s.passes.simplify import simplify
from s2s.trace import evaluate, make, phase
from tests.passes.programs import f64, program, values

INNER = (((0, 1), (0, 1)), ((), ()))
"""The sum of the products of all elements of two matrices."""


def test_dce_drops_what_no_used_result_needs() -> None:
    before = program(lambda x: [lax.sin(x), lax.cos(lax.exp(x))], f64())
    after = dce(before, [True, False])
    assert str(after) == "{ lambda ; a:f64[]. let b:f64[] = sin a in (b,) }"


def test_dce_keeps_inputs_and_drops_constants() -> None:
    before = program(lambda x, y: [x, lax.add(y, np.ones(2))], f64(), f64(2))
    after = dce(before, [True, False])
    assert len(after.in_avals) == 2
    assert after.consts == ()


def test_cse_computes_nothing_twice() -> None:
    before = program(lambda x, y: lax.mul(lax.mul(x, y), lax.mul(y, x)), f64(), f64())
    assert str(cse(before)) == (
        "{ lambda ; a:f64[] b:f64[]. let c:f64[] = mul a b; d:f64[] = mul c c in (d,) }"
    )


def test_cse_tells_literals_and_parameters_apart() -> None:
    def fun(x):
        return [lax.mul(x, 0.0), lax.mul(x, -0.0), lax.integer_pow(x, 2), lax.integer_pow(x, 3)]

    assert len(cse(program(fun, f64())).eqns) == 4


def test_cse_makes_a_cotangent_of_its_transpose() -> None:
    def fun(x, y):
        numbers = (((1,), (0,)), ((), ()))
        with phase("cotangent"):
            exchanged = (((0,), (1,)), ((), ()))
            return [lax.dot_general(x, y, numbers), lax.dot_general(y, x, exchanged)]

    found = cse(program(fun, f64(2, 3), f64(3, 4)))
    assert [eqn.primitive.name for eqn in found.eqns] == ["dot_general", "transpose"]
    x, y = values([f64(2, 3), f64(3, 4)])
    product, transposed = evaluate(found, x, y)
    np.testing.assert_allclose(product, x @ y)
    np.testing.assert_array_equal(transposed, product.T)


def test_cse_leaves_the_product_of_a_cotangent_with_itself() -> None:
    def fun(x):
        with phase("cotangent"):
            return [lax.dot_general(x, x, (((1,), (1,)), ((), ()))), lax.dot_general(x, x, INNER)]

    before = program(fun, f64(2, 2))
    assert str(cse(before)) == str(before)


def test_cse_keeps_the_users_own_values_exact() -> None:
    def fun(x):
        with phase("cotangent"):
            y = lax.mul(x, x)
        return [y, lax.mul(x, x)]

    (eqn,) = cse(program(fun, f64())).eqns
    assert eqn.phase == "primal"


def test_cse_keeps_the_zeros_of_derivatives_apart() -> None:
    """The user's `h = np.zeros(3)` is not what the cotangent of h begins with."""

    def fun():
        mine = lax.full((3,), 0.0, np.dtype(np.float64))
        with phase("cotangent"):
            return [mine, *[lax.full((3,), 0.0, np.dtype(np.float64)) for _ in range(2)]]

    assert [eqn.phase for eqn in cse(program(fun)).eqns] == ["primal", "cotangent"]


def test_simplify_leaves_the_users_arithmetic_alone() -> None:
    # -(x - y) is -0.0 and y - x is 0.0 for equal x and y: not the same to the last bit.
    def fun(x, y):
        return [lax.neg(lax.sub(x, y))]

    def derivative(x, y):
        with phase("cotangent"):
            return fun(x, y)

    assert len(dce(simplify(make(fun, [f64(), f64()]))).eqns) == 2
    assert len(dce(simplify(make(derivative, [f64(), f64()]))).eqns) == 1


def test_optimise_keeps_values() -> None:
    def fun(x, y):
        z = lax.mul(lax.neg(lax.neg(x)), 1.0)
        w = lax.transpose(lax.transpose(lax.mul(z, y), (1, 0)), (1, 0))
        return [lax.reduce_sum(lax.add(w, lax.mul(y, x)), (0,)), lax.exp(y)]

    before = program(fun, f64(3, 2), f64(3, 2))
    after = optimise(before)
    args = values(before.in_avals)
    for found, expected in zip(evaluate(after, *args), evaluate(before, *args), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert len(after.eqns) < len(before.eqns)
