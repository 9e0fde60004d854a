"""Which of all that the user says about an argument counts, and what is said if nothing does."""

import importlib.util
import inspect

import pytest

from s2s.errors import UserError
from s2s.frontend.argument_types.collect import argument_types, bind
from s2s.frontend.argument_types.types import render

MODEL = '''\
from __future__ import annotations

from typing import Annotated, Optional, TYPE_CHECKING
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from jaxtyping import Float64

def plain(w, x):
    """
    >>> plain(np.ones(3), np.ones((2, 3)))
    """

def bare(w, x, y=2.0): ...

def annotated(w: Float64[np.ndarray, "d"], x: Annotated[np.ndarray, "f64[n, d]"], rate: float):
    """
    >>> annotated(np.ones(3), np.ones((2, 3)), 0.1)
    """

def defaults(x: float, dt: float = 0.1, steps: int = 50, name: str = "euler",
             at: float | None = None, table=np.ones(3), single=np.float32(1),
             deep=False, counts=(1, 2)): ...

def half(w: NDArray[np.float32], x: tuple[float, NDArray[np.float64]], activation): ...

def variadic(x: float, /, *rest, key: float, **options): ...
'''


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    file = tmp_path_factory.mktemp("collect") / "model.py"
    file.write_text(MODEL)
    spec = importlib.util.spec_from_file_location("model_of_test_collect", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def found(function, **options):
    types = argument_types(function, **options).types
    return ", ".join(f"{name}: {render(argument)}" for name, argument in types.items())


def test_a_doctest(model):
    assert found(model.plain) == "w: f64[3], x: f64[2, 3]"


def test_args_come_before_a_doctest(model):
    assert found(model.plain, args="x: f32[n, 3]") == "w: f64[3], x: f32[n, 3]"


def test_an_example_comes_before_a_doctest(model):
    assert found(model.plain, example="(1.0, np.ones(4))") == "w: float, x: f64[4]"


def test_annotations_come_before_a_doctest(model):
    assert found(model.annotated) == "w: f64[d], x: f64[n, d], rate: float"


def test_an_example_comes_before_annotations(model):
    assert found(model.annotated, example="(1.0, 2.0, 3.0)") == "w: float, x: float, rate: float"


def test_integers_of_an_example_are_static(model):
    assert found(model.bare, example="(3, [1, 2.0])") == "w: 3, x: [1, float], y: float"


def test_defaults(model):
    assert found(model.defaults) == (
        "x: float, dt: float, steps: 50, name: 'euler', at: None, table: f64[3], "
        "single: f32[], deep: False, counts: (1, 2)"
    )


def test_args_come_before_defaults(model):
    types = found(model.defaults, args="steps: int, dt=0.5, at: float", static=["name='rk4'"])
    assert types.startswith("x: float, dt: 0.5, steps: int, name: 'rk4', at: float")


def test_variadic_parameters(model):
    types = argument_types(
        model.variadic, args="x: float, rest: (f64[n], f64[n]), key: float, options: {a: float}"
    ).types
    args, kwargs = bind(inspect.signature(model.variadic), types)
    assert list(map(render, args)) == ["float", "f64[n]", "f64[n]"]
    assert {name: render(leaf) for name, leaf in kwargs.items()} == {"key": "float", "a": "float"}
    assert found(model.variadic, args="key: float") == "x: float, rest: (), key: float, options: {}"


def test_only_what_comes_from_the_example_is_to_be_generalised(model):
    arguments = argument_types(model.plain, args="x: f64[n, d]")
    assert arguments.types["w"] is arguments.examples["w"]
    assert render(arguments.examples["x"]) == "f64[2, 3]"
    assert render(arguments.types["x"]) == "f64[n, d]"
    assert argument_types(model.annotated).examples == {}
    assert render(argument_types(model.defaults).examples["table"]) == "f64[3]"


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        (
            "bare",
            {},
            "The types of w and x in bare are not known. Complete and add "
            '--args "w: f64[...], x: f64[...]", where float stands for a Python number, '
            "or show a call with --example 'bare(..., ..., ...)'.",
        ),
        (
            "bare",
            {"args": "x: f64[n]"},
            "The type of w in bare is not known. Complete and add "
            '--args "w: f64[...]", where float stands for a Python number, '
            "or show a call with --example 'bare(..., ..., ...)'.",
        ),
        (
            "half",
            {},
            "The types of w, x and activation in half are not known (NDArray says f32, but not "
            "the shape; NDArray says f64, but not the shape). Complete and add "
            '--args "w: f32[...], x: (float, f64[...]), activation: f64[...]", where float '
            "stands for a Python number, or show a call with --example 'half(..., ..., ...)'.",
        ),
        (
            "half",
            {"args": "activatoin=np.tanh"},
            "half has no parameter activatoin; its parameters are w, x, activation. "
            "Did you mean activation?",
        ),
        (
            "bare",
            {"static": ["steps"]},
            "--static steps: expected a name and a value, such as steps=50.",
        ),
        (
            "bare",
            {"static": ["w=relu"]},
            "--static w=relu: `relu` raises NameError: name 'relu' is not defined.",
        ),
        ("bare", {"static": ["z=1"]}, "bare has no parameter z; its parameters are w, x, y."),
        (
            "bare",
            {"example": "(np.array(['a']), 1.0)"},
            "The example for w of bare: arrays of <U1 cannot be traced, only arrays of numbers.",
        ),
    ],
)
def test_what_is_said_where_types_are_missing_or_wrong(model, function, options, message):
    with pytest.raises(UserError) as caught:
        argument_types(getattr(model, function), **options)
    assert str(caught.value) == message
