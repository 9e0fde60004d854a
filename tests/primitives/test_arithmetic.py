"""Kinks, ties and folds of arithmetic."""

from typing import Any

import numpy as np
import pytest

from s2s import lax
from s2s.ir.jaxpr import ShapedArray
from s2s.passes.dce import dce
from s2s.trace import evaluate, make, phase
from tests.primitives.derivatives import gradient, tangent

f = np.float64
F64 = np.dtype(np.float64)


def test_abs_and_sign_at_zero() -> None:
    assert tangent(lax.abs, [f(0.0)], [f(1.0)]) == 0.0
    assert tangent(lax.sign, [f(0.0)], [f(1.0)]) is None


@pytest.mark.parametrize("extremum", [lax.max, lax.min])
def test_a_tie_of_two_values_goes_to_the_first(extremum: Any) -> None:
    assert gradient(extremum, f(1.5), f(1.5)) == [1.0, 0.0]
    assert tangent(extremum, [f(1.5), f(1.5)], [None, f(1.0)]) == 0.0


@pytest.mark.parametrize("extremum", [lax.max, lax.min])
def test_a_tie_with_a_number_goes_to_the_number(extremum: Any) -> None:
    assert tangent(lambda x: extremum(x, 0.0), [f(0.0)], [f(1.0)]) == 0.0
    assert tangent(lambda x: extremum(0.0, x), [f(0.0)], [f(1.0)]) == 0.0


def test_clamp_at_its_bounds() -> None:
    assert tangent(lambda x: lax.clamp(0.0, x, 1.0), [f(1.0)], [f(1.0)]) == 0.0
    assert gradient(lax.clamp, f(0.0), f(0.0), f(1.0)) == [1.0, 0.0, 0.0]
    assert gradient(lax.clamp, f(0.0), f(1.0), f(1.0)) == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("x", [-1.5, 2.5])
@pytest.mark.parametrize("y", [-0.4, 3.0])
def test_copysign(x: float, y: float) -> None:
    assert tangent(lax.copysign, [f(x), f(y)], [f(1.0), None]) == np.sign(x) * np.sign(y)


def test_python_numbers_take_the_other_operands_type() -> None:
    single = ShapedArray((3,), np.dtype(np.float32))
    made = make(lambda x: [lax.mul(2, lax.add(x, 0.1))], [single])
    assert [str(a) for a in made.out_avals] == ["f32[3]"]


def test_numbers_are_computed_at_once() -> None:
    assert lax.mul(2.0, lax.add(1, 2)) == 6.0
    assert make(lambda: [lax.mul(2.0, 3)], []).eqns == []


@pytest.mark.parametrize(
    "x, y, message",
    [
        (ShapedArray((3,), F64), ShapedArray((4,), F64), "have different shapes"),
        (ShapedArray((3,), F64), ShapedArray((3,), np.dtype(int)), "different element types"),
    ],
)
def test_operands_that_do_not_fit(x: ShapedArray, y: ShapedArray, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        make(lambda x, y: [lax.add(x, y)], [x, y])


def test_integers_have_no_true_quotient() -> None:
    integers = ShapedArray((3,), np.dtype(int))
    with pytest.raises(TypeError, match="the operands of div, i64\\[3\\] and i64\\[3\\]"):
        make(lambda x, y: [lax.div(x, y)], [integers, integers])


def test_derivatives_of_complex_numbers_are_refused() -> None:
    with pytest.raises(TypeError, match="real and the imaginary part"):
        tangent(lax.exp, [np.complex128(1j)], [np.complex128(1.0)])


SPECIAL = np.array([0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan])

EXACT: dict[str, Any] = {
    "x * 1": lambda x: lax.mul(x, 1.0),
    "1 * x": lambda x: lax.mul(1.0, x),
    "x * -1": lambda x: lax.mul(x, -1.0),
    "x / 1": lambda x: lax.div(x, 1.0),
    "x / -1": lambda x: lax.div(x, -1.0),
    "x - 0": lambda x: lax.sub(x, 0.0),
    "x**1": lambda x: lax.pow(x, 1.0),
    "-(-x)": lambda x: lax.neg(lax.neg(x)),
    "x + -x": lambda x: lax.add(x, lax.neg(x)),
    "x - -x": lambda x: lax.sub(x, lax.neg(x)),
    "where(c, x, x)": lambda x: lax.select_n(lax.gt(x, 0.0), x, x),
}


@pytest.mark.parametrize("name", EXACT)
def test_folds_of_the_users_own_values_are_exact(name: str) -> None:
    fun = EXACT[name]
    plain = make(lambda x: [fun(x)], [ShapedArray((7,), F64)])
    folded = make(lambda x: [fun(x)], [ShapedArray((7,), F64)], folding=True)
    assert str(folded) != str(plain)
    with np.errstate(invalid="ignore"):
        (expected,), (found,) = evaluate(plain, SPECIAL), evaluate(folded, SPECIAL)
    np.testing.assert_array_equal(found, expected)
    not_nan = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found)[not_nan], np.signbit(expected)[not_nan])


def difference_of_choices(x: Any) -> Any:
    above = lax.gt(x, 0.0)
    return lax.sub(lax.select_n(above, 0.0, x), lax.select_n(above, x, 0.0))


INEXACT: dict[str, Any] = {
    "x + 0": lambda x: lax.add(x, 0.0),
    "0 + x": lambda x: lax.add_any(lax.broadcast_in_dim(0.0, (7,), ()), x),
    "x * broadcast": lambda x: lax.mul(x, lax.broadcast_in_dim(2.0, (7,), ())),
    "-(x - y)": lambda x: lax.neg(lax.sub(x, 1.5)),
    "where(c, x, 0) - where(c, 0, x)": difference_of_choices,
}


@pytest.mark.parametrize("name", INEXACT)
def test_folds_that_may_change_bits_are_for_derivatives_only(name: str) -> None:
    fun = INEXACT[name]

    def marked(x: Any) -> Any:
        with phase("tangent"):
            return [fun(x)]

    aval = ShapedArray((7,), F64)
    own = dce(make(lambda x: [fun(x)], [aval], folding=True))
    derivative = dce(make(marked, [aval], folding=True))
    assert len(own.eqns) > len(derivative.eqns)
