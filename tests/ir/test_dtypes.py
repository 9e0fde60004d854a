"""Element types: promotion is what NumPy's own operations give."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from s2s.ir.dtypes import (
    BY_SHORT_NAME,
    PYTHON_SCALARS,
    SHORT_NAMES,
    DType,
    is_inexact,
    promote,
)

PYTHON: list[Any] = [True, 1, 1.0, 1j]
KINDS: list[tuple[DType, bool]] = [
    *((dtype, False) for dtype in SHORT_NAMES),
    *((dtype, True) for dtype in PYTHON_SCALARS.values()),
]


def operand(kind: tuple[DType, bool]) -> Any:
    """An array, or a Python scalar."""
    dtype, weak = kind
    if not weak:
        return np.ones(2, dtype)
    return next(value for value in PYTHON if PYTHON_SCALARS[type(value)] == dtype)


@pytest.mark.parametrize("first", KINDS)
def test_two_operands(first: tuple[DType, bool]) -> None:
    for second in KINDS:
        a, b = operand(first), operand(second)
        dtype, weak = promote(first, second)
        assert weak == (first[1] and second[1])
        # where, unlike add, does not have a meaning of its own for booleans.
        assert np.where(True, a, b).dtype == dtype
        if dtype.kind != "b":
            assert np.add(a, b).dtype == dtype
        if weak:
            assert type(dtype.type(0).item()) in (type(a), type(b))


@pytest.mark.parametrize("first", SHORT_NAMES)
def test_three_operands(first: DType) -> None:
    for second, third in itertools.product(KINDS, repeat=2):
        kinds = ((first, False), second, third)
        dtype, weak = promote(*kinds)
        assert not weak
        if dtype.kind in "iuf":
            low, high = map(operand, kinds[1:])
            assert np.clip(operand(kinds[0]), low, high).dtype == dtype
        for order in itertools.permutations(kinds):
            assert promote(*order) == (dtype, False)


def test_one_operand_keeps_its_type() -> None:
    for kind in KINDS:
        assert promote(kind) == kind


def test_short_names() -> None:
    assert SHORT_NAMES[np.dtype(np.float64)] == "f64"
    assert set(BY_SHORT_NAME) == {
        *("bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"),
        *("f16", "f32", "f64", "c64", "c128"),
    }
    assert all(BY_SHORT_NAME[name] == dtype for dtype, name in SHORT_NAMES.items())


def test_python_scalars_are_numpy_s_defaults() -> None:
    for value in PYTHON:
        assert PYTHON_SCALARS[type(value)] == np.asarray(value).dtype


def test_what_has_derivatives() -> None:
    assert {name for name, dtype in BY_SHORT_NAME.items() if is_inexact(dtype)} == {
        *("f16", "f32", "f64", "c64", "c128"),
    }
