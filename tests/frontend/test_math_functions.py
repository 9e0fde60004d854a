"""The math module on traced values: the same numbers, as Python floats."""

from __future__ import annotations

import math
from collections.abc import Callable
from math import tanh as th

import numpy as np
import pytest

from s2s.frontend.dispatch import counterparts
from s2s.ir.jaxpr import ShapedArray
from tests.frontend.tracing import FLOAT, agrees, f64, refusal, traced

ONE = [
    *("acos", "asin", "asinh", "atan", "atanh", "cbrt", "cos", "cosh", "degrees", "erf", "erfc"),
    *("exp", "exp2", "expm1", "fabs", "lgamma", "log", "log10", "log1p", "log2", "radians", "sin"),
    *("sinh", "sqrt", "tan", "tanh", "isfinite", "isinf", "isnan", "floor", "ceil", "trunc"),
]
TWO = ["atan2", "copysign", "fmod", "hypot", "log", "pow"]


@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_number(name: str) -> None:
    function: Callable[[float], float] = getattr(math, name)
    found = agrees(lambda x: function(x), 0.625)
    assert found.closed.out_avals[0].weak_type


def test_functions_of_greater_numbers() -> None:
    agrees(lambda x: math.acosh(x), 1.5)
    agrees(lambda x: [math.floor(x), math.ceil(x), math.trunc(x), math.floor(-x)], 2.5)


@pytest.mark.parametrize("name", TWO)
def test_functions_of_two_numbers(name: str) -> None:
    function: Callable[[float, float], float] = getattr(math, name)
    agrees(lambda x, y: function(x, y), 0.625, 2.5)
    agrees(lambda x: function(x, 2.5), 0.625)
    agrees(lambda x: function(2.5, x), 0.625)


def test_all_that_is_supported_is_tested() -> None:
    names = {function.__name__ for function in counterparts if function.__module__ == "math"}
    assert names == {*ONE, *TWO, "acosh", "prod"}


def test_scalars_of_numpy_become_python_floats() -> None:
    found = agrees(lambda x, y: math.sin(x) + math.exp(y), np.float32(0.5), np.float64(1.5))
    assert str(found.closed.out_avals[0]) == "f64[]" and found.closed.out_avals[0].weak_type
    found = traced(lambda k: math.sqrt(k), ShapedArray((), np.dtype(np.int64), weak_type=True))
    assert str(found.closed.out_avals[0]) == "f64[]"


def test_named_sizes() -> None:
    def function(x):
        return x / math.sqrt(len(x)), math.floor(len(x))

    assert [str(aval) for aval in traced(function, f64("n")).closed.out_avals] == [
        "f64[n]",
        "i64[]",
    ]


def test_constants_are_computed_by_math_itself() -> None:
    found = traced(lambda x: x * math.sin(0.5), FLOAT)
    assert str(math.sin(0.5)) in str(found.closed)


def test_functions_are_found_under_any_name() -> None:
    agrees(lambda x: th(x), 0.5)


def test_arrays_are_refused() -> None:
    message = refusal(lambda x: math.sin(x), f64(3)).message
    assert message == "math.sin takes a single number, not an array of type f64[3]. Use np.sin."


@pytest.mark.parametrize("name", ["gamma", "fsum", "modf", "remainder"])
def test_others_are_refused_by_name(name: str) -> None:
    function = getattr(math, name)
    arguments = {"fsum": lambda x: ([x],), "remainder": lambda x: (x, x)}.get(name, lambda x: (x,))
    error = refusal(lambda x: function(*arguments(x)), FLOAT)
    assert error.message.startswith(f"math.{name} of a value that depends on the arguments")
