"""Ufuncs and operators: values and types of NumPy's, over all kinds of operands."""

import itertools
import operator

import numpy as np
import pytest

from s2s.errors import UserError
from tests.numpy.agreement import VALUES, assert_agrees, assert_expression_agrees, traced

OPERANDS = ["m", "o", "f", "i", "j", "g", "b", "s", "sf", "si", "w", "k", "yes", "h"]


OPERATORS = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.lt,
    operator.le,
    operator.eq,
    operator.ne,
    operator.gt,
    operator.ge,
    operator.and_,
    operator.or_,
    operator.xor,
]


@pytest.mark.parametrize("function", OPERATORS)
def test_an_operator_gives_what_numpy_gives(function):
    for x, y in itertools.product(OPERANDS, OPERANDS):
        assert_agrees_or_both_refuse(function, VALUES[x], VALUES[y])


@pytest.mark.parametrize("function", [operator.lshift, operator.rshift])
def test_a_shift_gives_what_numpy_gives(function):
    for x, y in itertools.product(["i", "j", "g", "si", "k"], ["si", "k"]):
        assert_agrees_or_both_refuse(function, VALUES[x], VALUES[y])


def assert_agrees_or_both_refuse(function, *args):
    try:
        with np.errstate(all="ignore"):
            function(*args)
    except TypeError:
        with pytest.raises((UserError, TypeError)):
            traced(function, *args)
    else:
        assert_agrees(function, *args)


BINARY = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "floor_divide",
    "remainder",
    "fmod",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "arctan2",
    "hypot",
    "logaddexp",
    "logaddexp2",
    "copysign",
    "heaviside",
    "nextafter",
    "less",
    "less_equal",
    "equal",
    "not_equal",
    "greater",
    "greater_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
]


@pytest.mark.parametrize("name", BINARY)
def test_a_binary_ufunc_gives_what_numpy_gives(name):
    for x, y in itertools.product(OPERANDS, OPERANDS):
        assert_agrees_or_both_refuse(getattr(np, name), VALUES[x], VALUES[y])


@pytest.mark.parametrize(
    "name", ["maximum", "minimum", "fmax", "fmin", "heaviside", "fmod", "remainder"]
)
def test_a_binary_ufunc_treats_special_values_as_numpy_does(name):
    z = VALUES["z"]
    assert_agrees(getattr(np, name), z[:, None], z)


UNARY = [
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sqrt",
    "cbrt",
    "square",
    "sin",
    "cos",
    "tan",
    "arcsin",
    "arccos",
    "arctan",
    "sinh",
    "cosh",
    "tanh",
    "arcsinh",
    "arccosh",
    "arctanh",
    "deg2rad",
    "rad2deg",
    "degrees",
    "radians",
    "absolute",
    "fabs",
    "sign",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "negative",
    "positive",
    "isnan",
    "isinf",
    "isfinite",
    "signbit",
    "logical_not",
    "conjugate",
    "sinc",
    "nan_to_num",
    "real",
    "imag",
]


@pytest.mark.parametrize("name", UNARY)
def test_a_unary_ufunc_gives_what_numpy_gives(name):
    for x in [*OPERANDS, "z"]:
        assert_agrees_or_both_refuse(getattr(np, name), VALUES[x])


@pytest.mark.parametrize(
    "text",
    [
        "-m",
        "+m",
        "abs(m)",
        "-f",
        "-i",
        "~i",
        "~b",
        "-w",
        "+k",
        "abs(w2)",
        "-yes",
        "abs(k)",
        "~k",
        "np.reciprocal(m)",
        "np.reciprocal(f)",
        "np.reciprocal(s)",
        "np.divmod(m, v)",
        "divmod(m, 0.3)",
        "divmod(7.5, m)",
        "divmod(k, 2)",
        "m / [1.0, 2.0, 3.0, 4.0]",
        "[1, 2, 3, 4] * f",
        "(1.0, 2.0, 3.0, 4.0) - m",
        "2.0 / m",
        "2 // i",
        "7 % i",
        "1 - f",
        "np.float64(2.0) * f",
        "np.float32(2.0) * m",
        "np.int64(2) * f",
        "np.arange(4.0) + m",
        "m - np.arange(4)",
        "np.ones((3, 4), np.float32) / f",
        "i / i",
        "j / 2",
        "np.add(m, v, dtype=np.float32)",
        "np.multiply(f, fv, dtype=np.float64)",
        "np.exp(j, dtype=np.float32)",
        "b + b",
        "b * b",
        "np.add(yes, yes)",
        "k / 2",
        "k // 2",
        "k % 2",
        "7 // k",
        "k + yes",
        "w // 0.3",
        "w2 % 0.4",
        "np.clip(m, -1, 1)",
        "np.clip(m, v, 2.0)",
        "m.clip(0.0)",
        "m.clip(max=0.0)",
        "np.clip(i, -2, 2)",
        "np.clip(i, 0.5, 2)",
        "np.clip(f, np.float64(-1), 1)",
        "np.clip(m, None, 0.5)",
        "np.clip(w, 0.0, 0.5)",
        "np.where(m > 0, m, 0)",
        "np.where(b, m, f)",
        "np.where(bv, v, m)",
        "np.where(b, 1, 2)",
        "np.where(i, 1.0, f)",
        "np.where(m > v, s, w)",
        "np.where(w > 0.5, m, -m)",
        "np.where(b, np.float32(1), 2)",
        "np.round(m, 1)",
        "np.round(m * 10, -1)",
        "m.round()",
        "np.round(i)",
        "np.around(f, 2)",
        "np.select([m > 1, m > 0], [m, 2 * m], 7.0)",
        "np.isposinf(z)",
        "np.isneginf(z)",
        "np.isclose(m, m + 1e-9)",
        "np.allclose(m, m)",
        "np.array_equal(m, m)",
        "np.nan_to_num(z, nan=2.0, posinf=3.0)",
        "m.conj()",
        "m.real",
        "m.imag",
        "np.sinc(i)",
    ],
)
def test_other_elementwise_functions(text):
    assert_expression_agrees(text)


@pytest.mark.parametrize(
    "text",
    [
        "m**2",
        "f**2",
        "i**2",
        "j**2",
        "s**2",
        "w**2",
        "k**2",
        "sf**2",
        "m**3",
        "p**3",
        "f**3",
        "i**3",
        "w**3",
        "p**0.5",
        "p**-0.5",
        "p**1.7",
        "p**-1",
        "p**-2",
        "p**2.0",
        "p**3.0",
        "p**1",
        "p**0",
        "i**0",
        "w**0",
        "s**0",
        "s**0.5",
        "w**0.5",
        "s**-1",
        "w**-1",
        "k**-1",
        "k**-2",
        "i**2.0",
        "i**0.5",
        "p**np.float64(2)",
        "f**np.float64(2)",
        "f**np.float32(3)",
        "p**v",
        "p**f",
        "p**s",
        "p**w",
        "2.0**m",
        "2**m",
        "2**f",
        "w**m",
        "p**i",
        "2.5**i",
        "w**k",
        "np.power(p, 2)",
        "np.power(p, 0.5)",
        "np.power(p, 3)",
        "np.power(p, v)",
        "np.power(s, 2)",
        "np.power(s, 0.5)",
        "np.power(s, -1.0)",
        "np.power(w, 2)",
        "np.power(i, 2)",
        "np.power(f, 2)",
        "np.power(2.0, m)",
        "np.power(s, 3)",
        "yes**2",
        "k**0",
        "i**np.array([0, 1, 2, 3])",
        "np.square(j)",
        "np.power(k, 2)",
        "h**2",
    ],
)
def test_powers(text):
    assert_expression_agrees(text)


def test_a_float_power_is_right_to_its_last_bits():
    # NumPy has no shortcut for squares here, unlike in its other powers.
    assert_expression_agrees("np.float_power(p, 2)", relative=1e-15)
    assert_expression_agrees("np.float_power(f, 2)", relative=1e-15)


def test_powers_are_exact_for_many_numbers():
    x = np.abs(VALUES["l"]) + 1e-3
    for exponent in (2, 3, 5, -2, 0.5, 2.0, -0.5, 1.5):
        assert_agrees(lambda x, e=exponent: x**e, x)
        assert_agrees(lambda x, e=exponent: x**e, x.astype(np.float32))
        for number in x[:200]:
            assert_agrees(lambda x, e=exponent: x**e, number)
            assert_agrees(lambda x, e=exponent: x**e, float(number))
            # For scalars, `**` is the C library's power and np.power the SIMD kernel of arrays: on
            # some processors they differ in the last bit, and s2s has one spelling for both.
            assert_agrees(lambda x, e=exponent: np.power(x, e), number, relative=2.3e-16)
