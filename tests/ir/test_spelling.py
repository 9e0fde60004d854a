"""Sizes, types, literals and values of parameters are spelled as JAX spells them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from jax import export, lax

from s2s.ir.dims import dimension
from s2s.ir.jaxpr import Literal, ShapedArray
from s2s.ir.spelling import spell_literal, spell_size, spell_type, spell_value
from tests.jax_jaxprs import compares_with_jax

F64 = np.dtype(np.float64)
N, K, B = export.symbolic_shape("n, k, b")

SIZES: list[Callable[[Any, Any, Any], Any]] = [
    lambda n, k, b: 5 - n,
    lambda n, k, b: n * k + k * k * 3 - 2,
    lambda n, k, b: n * n + n * k + k * k + n + k + 1,
    lambda n, k, b: 2 * n * n - 3 * k + b * n,
    lambda n, k, b: b * n - k * n - k * b,
    lambda n, k, b: -n * n + n,
    lambda n, k, b: n * n * n - k * k + b,
    lambda n, k, b: n // 2,
    lambda n, k, b: (n + 1) // 2 * k,
    lambda n, k, b: 3 * (n // 2) + n // 3,
    lambda n, k, b: n // k - k // (n + 1),
    lambda n, k, b: -(k // 2) + n // 2,
    lambda n, k, b: (n // 2) * (n // 2) + n * (k // 2),
    lambda n, k, b: (n // 2) // 2 * 5 - 6,
]


@compares_with_jax
@pytest.mark.parametrize("index", range(len(SIZES)))
def test_a_size_is_spelled_as_jax_does(index: int) -> None:
    size = SIZES[index]
    ours = size(dimension("n"), dimension("k"), dimension("b"))
    assert spell_size(ours) == str(size(N, K, B))


def test_types() -> None:
    shape = (dimension("n") + 1, 3)
    assert spell_type(ShapedArray((), F64)) == "f64[]"
    assert spell_type(ShapedArray(shape, np.dtype(np.bool_))) == "bool[n + 1,3]"
    assert spell_type(ShapedArray((), F64, weak_type=True)) == "f64[]"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.0, "2.0:f64[]"),
        (-0.0, "-0.0:f64[]"),
        (np.float32(0.1), "0.10000000149011612:f32[]"),
        (np.float64(np.inf), "inf:f64[]"),
        (np.int8(-3), "-3:i8[]"),
        (True, "True:bool[]"),
        (np.False_, "False:bool[]"),
        (1 + 2j, "(1+2j):c128[]"),
    ],
)
def test_literals(value: Any, text: str) -> None:
    aval = ShapedArray((), np.asarray(value).dtype)
    assert spell_literal(Literal(value, aval)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("relu", "relu"),
        ("<lambda>", "<lambda>"),
        ("f.<locals>.g", "f.<locals>.g"),
        ("", "''"),
        ("two words", "'two words'"),
        ("None", "'None'"),
        ("inf", "'inf'"),
        (("a", "b"), "('a', 'b')"),
        (np.float64(0.1), "0.1"),
        (float("nan"), "nan"),
        (F64, "float64"),
        ((F64, None), "(float64, None)"),
        ((dimension("n"), 3), "(n, 3)"),
        (frozenset({"y", "x"}), "frozenset({'x', 'y'})"),
        (lax.GatherScatterMode.CLIP, "GatherScatterMode.CLIP"),
        (ShapedArray.strong, "strong"),
    ],
)
def test_values_of_parameters(value: Any, text: str) -> None:
    assert spell_value(value) == text
