"""Types from annotations, as objects and as text."""

# ruff: noqa: F722, F821, UP045

import dataclasses
import typing
from typing import Annotated, NamedTuple, Optional, TypedDict

import numpy as np
import pytest
from numpy.typing import NDArray

from s2s.errors import UserError
from s2s.frontend.argument_types.annotations import type_of_annotation
from s2s.frontend.argument_types.types import render


class Float64:
    """The form of jaxtyping's classes: `Float64[np.ndarray, "n d"]` has `dtypes` and `dim_str`."""

    dtypes = ("float64",)

    def __class_getitem__(cls, item):
        return type("Float64[...]", (), {"dtypes": cls.dtypes, "dim_str": item[1]})


class Float(Float64):
    dtypes = ("bfloat16", "float16", "float32", "float64")


class Int32(Float64):
    dtypes = ("int32",)


class Shaped(Float64):
    dtypes = object()


@dataclasses.dataclass
class Layer:
    weight: Float64[np.ndarray, "d k"]
    bias: "Float64[np.ndarray, 'k']"
    rate: float


class Pair(NamedTuple):
    left: Annotated[np.ndarray, "f64[n]"]
    right: Layer


class Options(TypedDict):
    scale: float
    table: Annotated[np.ndarray, "i32[3]"]


NAMESPACE = {"np": np, "Float64": Float64, "Annotated": Annotated, "Layer": Layer}


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (float, "float"),
        (int, "int"),
        (bool, "bool"),
        (complex, "complex"),
        (None, "None"),
        (np.float32, "f32[]"),
        (np.bool_, "bool[]"),
        (Float64[np.ndarray, "n d"], "f64[n, d]"),
        (Float64[np.ndarray, ""], "f64[]"),
        (Float64[np.ndarray, "3 n+1 rows=4"], "f64[3, n + 1, 4]"),
        (Float[np.ndarray, "n"], "f64[n]"),
        (Shaped[np.ndarray, "n"], "f64[n]"),
        (Int32[np.ndarray, "n"], "i32[n]"),
        (Annotated[np.ndarray, "f64[n, d]"], "f64[n, d]"),
        (Annotated[float, 3], "float"),
        (Optional[float], "float"),
        (float | None, "float"),
        (tuple[float, Float64[np.ndarray, "n"]], "(float, f64[n])"),
        (Layer, "Layer(weight=f64[d, k], bias=f64[k], rate=float)"),
        (Pair, "Pair(left=f64[n], right=Layer(weight=f64[d, k], bias=f64[k], rate=float))"),
        (Options, "{scale: float, table: i32[3]}"),
        ("float", "float"),
        ("Layer", "Layer(weight=f64[d, k], bias=f64[k], rate=float)"),
        ("Float64[np.ndarray, 'n d']", "f64[n, d]"),
    ],
)
def test_annotations(annotation, expected):
    assert render(type_of_annotation(annotation, NAMESPACE)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('Float64[np.ndarray, "n d"]', "f64[n, d]"),
        ('jaxtyping.Float32[Array, "n"]', "f32[n]"),
        ('Float[Array, "n"]', "f64[n]"),
        ('Int[Array, "n"]', "i64[n]"),
        ('Bool[Array, "n"]', "bool[n]"),
        ('Annotated[ndarray, "f64[n, d]"]', "f64[n, d]"),
        ("NDArray[np.float32]", "f32[...]"),
    ],
)
def test_text_is_read_where_its_names_are_not_defined(text, expected):
    assert render(type_of_annotation(text, {})) == expected


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (np.ndarray, "f64[...]"),
        (NDArray[np.float32], "f32[...]"),
        (NDArray[typing.Any], "f64[...]"),
        (dict[str, float], "f64[...]"),
        (list[float], "f64[...]"),
        (float | str, "f64[...]"),
        (Float64[np.ndarray, "*batch d"], "f64[...]"),
        (Float64[np.ndarray, "..."], "f64[...]"),
        (tuple[float, NDArray[np.float64]], "(float, f64[...])"),
        (typing.Any, "f64[...]"),
        ("Unheard[of]", "f64[...]"),
        ("not Python", "f64[...]"),
    ],
)
def test_what_is_not_said_is_left_to_complete(annotation, expected):
    assert render(type_of_annotation(annotation, NAMESPACE)) == expected


def test_a_shape_that_cannot_be_read_is_an_error():
    with pytest.raises(UserError, match=r"the annotation .n/2.* expected a comma or the end"):
        type_of_annotation(Float64[np.ndarray, "n/2"], {})
