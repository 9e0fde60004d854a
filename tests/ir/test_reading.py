"""What a name in a parameter means, the type of the field decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal as OneOf, NamedTuple

import numpy as np
import pytest

from s2s.ir.dims import Dim, dimension
from s2s.ir.jaxpr import ClosedJaxpr, Jaxpr
from s2s.ir.reading import Name, NotOfType, Record, field_types, read_value

JAXPR = Jaxpr([], [], [], [])


class Mode(Enum):
    FAST = 1
    EXACT = 2


class Corner(NamedTuple):
    row: int
    mode: Mode


@dataclass(frozen=True)
class Plan:
    corners: tuple[Corner, ...]
    dtype: np.dtype[Any]
    shape: Shape  # pyright: ignore[reportUndefinedVariable] # noqa: F821
    body: ClosedJaxpr | None = None


def defined(name: str) -> Jaxpr | None:
    return JAXPR if name == "loop" else None


def read(value: Any, expected: Any) -> Any:
    return read_value(value, expected, defined)


@pytest.mark.parametrize(
    ("value", "expected", "result"),
    [
        (3, int, 3),
        (True, bool, True),
        (2.5, float, 2.5),
        (None, int | None, None),
        (3, int | None, 3),
        ("two words", str, "two words"),
        (Name("relu"), str, "relu"),
        (Name("float64"), np.dtype[Any], np.dtype(np.float64)),
        (Name("float64"), str, "float64"),
        (Name("Mode.EXACT"), Mode, Mode.EXACT),
        (Name("fast"), OneOf["fast", "exact"], "fast"),
        ((1, 2), tuple[int, ...], (1, 2)),
        ([1, 2], tuple[int, ...], (1, 2)),
        ((), tuple[int, ...], ()),
        ((1, (Name("a"), None)), tuple[int, tuple[str, None]], (1, ("a", None))),
        (frozenset({1}), frozenset[int], frozenset({1})),
        (Name("anything"), Any, "anything"),
        (Name("policy"), Callable[[int], bool], "policy"),
        (JAXPR, Jaxpr, JAXPR),
        (Name("loop"), Jaxpr, JAXPR),
        (
            Record("Corner", {"row": 1, "mode": Name("Mode.FAST")}),
            Corner,
            Corner(1, Mode.FAST),
        ),
    ],
)
def test_values(value: Any, expected: Any, result: Any) -> None:
    found = read(value, expected)
    assert found == result
    assert type(found) is type(result)


def test_a_name_may_be_a_size_or_a_jaxpr() -> None:
    size = read(Name("n"), int | Dim)
    assert isinstance(size, Dim)
    assert str(size) == "n"
    closed = read(Name("loop"), ClosedJaxpr)
    assert isinstance(closed, ClosedJaxpr)
    assert closed.jaxpr is JAXPR


def test_records_are_read_by_their_fields() -> None:
    corner = Record("Corner", {"mode": Name("Mode.EXACT"), "row": 2})
    fields = {
        "corners": (corner,),
        "dtype": Name("int64"),
        "shape": (3, dimension("n")),
        "body": None,
    }
    plan = read(Record("Plan", fields), Plan)
    assert plan.corners == (Corner(2, Mode.EXACT),)
    assert plan.dtype == np.int64
    assert str(plan.shape) == "(3, n)"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, int),
        (1, bool),
        (1, float),
        (1, str),
        (None, int),
        ("text", int | None),
        (Name("int46"), np.dtype[Any]),
        (Name("Mode.SLOW"), Mode),
        (Name("EXACT"), Mode),
        (Name("slow"), OneOf["fast", "exact"]),
        (Name("n"), int),
        (1, tuple[int, ...]),
        ((1, 2, 3), tuple[int, int]),
        ((1, "a"), tuple[int, ...]),
        (Name("unknown"), ClosedJaxpr),
        (Record("Corner", {"row": 1}), Corner),
        (Record("Corner", {"row": 1, "mode": Name("Mode.FAST"), "more": 1}), Corner),
        (Record("Plan", {"row": 1, "mode": Name("Mode.FAST")}), Corner),
        (Record("int", {}), int),
        (Name("f"), object),
    ],
)
def test_what_a_field_cannot_have(value: Any, expected: Any) -> None:
    with pytest.raises(NotOfType):
        read(value, expected)


def test_types_of_the_ir_are_known_without_an_import() -> None:
    assert field_types(Plan)["shape"] == tuple[int | Dim, ...]
    assert field_types(Corner) == {"row": int, "mode": Mode}
