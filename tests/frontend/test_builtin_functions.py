"""Python's builtins on traced values compute what they compute on values."""

from __future__ import annotations

import math
import types
import warnings
from typing import Any

import numpy as np
import pytest

import s2s
from s2s.ir.jaxpr import ShapedArray
from tests.frontend.tracing import FLOAT, agrees, f64, refusal, traced

X = np.array([0.5, -1.25, 2.0])


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: max(a, b) + min(a, b, 0.75),
        lambda a, b: max([a, b, 0.0]) - min((a, b)),
        lambda a, b: max(v * 2.0 for v in (a, b)),
        lambda a, b: abs(-a) + pow(a, 2) + pow(b, a),
        lambda a, b: sum([a, b]) + sum((a, b), 1.0),
        lambda a, b: float(a) * float(3) + float(b),
        lambda a, b: divmod(b, a),
        lambda a, b: [v for v in map(math.sin, (a, b))],
        lambda a, b: [v for v in map(lambda t: math.cos(t), (a, b))],
        lambda a, b: list(map(float, [a, b])),
        lambda a, b: [i * v for i, v in enumerate(reversed([a, b]))],
        lambda a, b: [v for v in filter(lambda t: isinstance(t, float), (a, 1, b))],
        lambda a, b: a if type(a) is float and isinstance(b, (int, float)) else -a,
        lambda a, b: a if any([True, False]) and all(isinstance(v, float) for v in (a, b)) else b,
        lambda a, b: [v for _, v in sorted([(2, a), (1, b)], key=lambda pair: pair[0])],
        lambda a, b: getattr({"a": a}, "get")("a") * len([a, b]),  # noqa: B009
        lambda a, b: round(a * 10.0) + round(b * 10.0),
        lambda a, b: dict(zip("ab", (a, b)))["a"] + list(zip((a,), (b,)))[0][1],
        lambda a, b: math.prod([a, b]) * math.prod((a,), start=2.0),
    ],
)
def test_on_python_floats(function: Any) -> None:
    agrees(function, 0.5, 1.5)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: max(x) - min(x),
        lambda x: max(x[0], 1.0) + max(x[1], x[2]) + min(x[0], 1),
        lambda x: sum(x) + sum(v * v for v in x),
        lambda x: abs(x) * len(x),
        lambda x: [i * v for i, v in enumerate(x)],
        lambda x: [a * b for a, b in zip(x, X)],
        lambda x: list(reversed(list(x))),
        lambda x: x if isinstance(x, np.ndarray) and not isinstance(x, float) else -x,
        lambda x: x if isinstance(np.sum(x), np.floating) and type(x) is np.ndarray else -x,
        lambda x: round(x[0], 1),
        lambda x: [x[k] for k in range(len(x) - 1, -1, -2)],
        lambda x: divmod(x, 0.5),
    ],
)
def test_on_arrays(function: Any) -> None:
    agrees(function, X)


def test_integers_stay_integers() -> None:
    whole = ShapedArray((), np.dtype(np.int64), weak_type=True)
    for function in (lambda k: int(k) + 1, lambda k: max(k, 3), lambda k: abs(k)):
        (result,) = traced(function, whole).closed.out_avals
        assert str(result) == "i64[]" and result.weak_type
    (result,) = traced(lambda k: max(k, 3.0), whole).closed.out_avals
    assert str(result) == "f64[]" and result.weak_type


def test_named_sizes_are_integers() -> None:
    def function(x):
        n = len(x)
        assert isinstance(n, int) and type(n) is int and int(n) is n and round(n) == n
        assert abs(n) == n and abs(-n) == n
        return float(n) * x / sum([n, 1])

    assert str(traced(function, f64("n")).closed.out_avals[0]) == "f64[n]"


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: float(x + np.ones(2)), "float() takes a single number, not an array of type"),
        (lambda x: bool(x > np.ones(2)), "an array of type bool[2] is neither true nor false"),
        (lambda x: range(int(x)), "the function returns a list whose length depends on the values"),
        (lambda x: complex(x, x), "complex numbers are not supported yet"),
        (lambda x: sorted([x, 1.0]), "sorted() needs to know which value is greater"),
        (lambda x: len(x), "len() of a value that has no axes"),
        (lambda x: pow(x, 2, 3), "pow() with a modulus"),
    ],
)
def test_what_needs_the_value_is_refused(function: Any, message: str) -> None:
    error = refusal(function, f64())
    assert error.message.startswith(message)


def test_extrema_of_arrays_are_refused() -> None:
    assert "Use np.maximum" in refusal(lambda x: max(x, X), f64(3)).message
    assert "Use np.minimum" in refusal(lambda x: min(x, x), f64(3)).message


def test_rounding_python_floats_to_digits_is_refused() -> None:
    assert "round() to a number of digits" in refusal(lambda x: round(x, 2), FLOAT).message


def test_print_of_traced_values_is_left_out_with_a_note() -> None:
    def function(x):
        print("x is", x)
        return x

    with pytest.warns(UserWarning, match="left out of the generated function") as caught:
        traced(function, FLOAT)
    assert caught[0].filename.endswith("test_builtin_functions.py")


def test_print_of_static_values_prints(capsys: pytest.CaptureFixture[str]) -> None:
    def function(x):
        print(x.shape)
        return x

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        traced(function, f64(3))
    assert capsys.readouterr().out == "(3,)\n"


def test_builtins_are_found_under_any_name() -> None:
    greatest, real = max, float
    agrees(lambda a, b: greatest(real(a), b), 0.5, 1.5)


ORDERS = [(np.nan, 1.0), (1.0, np.nan), (2.0, 2.0), (0.0, -0.0), (-0.0, 0.0), (1.0, 3.0)]


@pytest.mark.parametrize("function", [lambda x, y: max(x, y), lambda x, y: min(x, y)])
def test_extrema_of_what_cannot_be_compared_are_the_first(function: Any) -> None:
    """As in Python, where NumPy's functions would give NaN; in batches and in XLA too."""
    wanted = [function(x, y) for x, y in ORDERS]
    text = s2s.source(function, 1.0, 2.0)
    namespace: dict[str, Any] = {}
    exec(text, namespace)
    (generated,) = (f for f in namespace.values() if isinstance(f, types.FunctionType))
    np.testing.assert_array_equal([generated(x, y) for x, y in ORDERS], wanted)
    np.testing.assert_array_equal(s2s.vmap(function)(*np.transpose(ORDERS)), wanted)
    compiled = s2s.jit(function)
    np.testing.assert_array_equal([compiled(x, y) for x, y in ORDERS], wanted)
    x_bars = [s2s.grad(function)(x, y) for x, y in ORDERS]
    assert x_bars[:5] == [1.0] * 5
    assert x_bars[5] == (function(1.0, 3.0) == 1.0)
