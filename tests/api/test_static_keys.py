"""Static arguments that were changed since the last call are other arguments."""

import enum
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2s
from s2s.api.static_keys import static_key
from s2s.errors import UserError


class Model:
    def __init__(self, w: Any) -> None:
        self.w = w

    def apply(self, x: Any) -> Any:
        return self.w * x


class Slots:
    __slots__ = ("__hidden", "rest")

    def __init__(self, hidden: Any) -> None:
        self.__hidden = hidden


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


TRANSFORMATIONS: list[Callable[[Callable[..., Any]], Callable[..., Any]]] = [
    s2s.jit,
    functools.partial(s2s.grad, argnums=1),
    lambda f: s2s.vmap(f, (None, None, 0)),
]


@pytest.mark.parametrize("transformation", TRANSFORMATIONS)
def test_an_object_that_was_changed_is_read_again(transformation: Any) -> None:
    def loss(model: Model, x: Any, y: Any) -> Any:
        return np.sum(model.apply(x) * model.w[1] * y)

    model = Model([2.0, 1.0])
    model.apply = lambda x: model.w[0] * x  # type: ignore[method-assign]
    arguments = (np.ones(2), np.ones(2))
    compiled = transformation(loss)
    first = compiled(model, *arguments)
    model.w[0] = 3.0
    np.testing.assert_array_equal(compiled(model, *arguments), 1.5 * first)
    model.w = [2.0, 1.0]
    np.testing.assert_array_equal(compiled(model, *arguments), first)


def test_static_containers_and_arrays_that_were_changed() -> None:
    compiled = s2s.jit(lambda x, k: x * k["a"][0], static_argnames="k")
    settings = {"a": np.array([2.0])}
    assert compiled(1.0, settings) == 2.0
    settings["a"][0] = 3.0
    assert compiled(1.0, settings) == 3.0


DIFFERENT = [
    1,
    1.0,
    True,
    0.0,
    -0.0,
    float("nan"),
    1j,
    "1",
    b"1",
    None,
    (1,),
    [1],
    [1.0],
    {"a": 1, "b": 2},
    {"b": 2, "a": 1},
    {1},
    frozenset({1}),
    np.float64(1),
    np.float32(1),
    np.array(1.0),
    np.array([1.0]),
    np.arange(1000.0),
    np.arange(1000.0) + 1,
    np.array([1, "a"], dtype=object),
    Model(1),
    Model(1.0),
    Model(Model(1)),
    Slots(1),
    Slots(2),
    Model(1).apply,
    Model(2).apply,
    functools.partial(np.sum, axis=0),
    functools.partial(np.sum, axis=1),
    np.sum,
    Model,
    Colour.RED,
    Colour.BLUE,
    np.dtype("float64"),
]


def test_what_is_different_has_another_key() -> None:
    keys = [static_key(value) for value in DIFFERENT]
    assert len(set(keys)) == len(keys)


def test_what_is_equal_has_the_same_key() -> None:
    loop: list[Any] = [1.0]
    loop.append(loop)
    for value in (*DIFFERENT, loop):
        assert static_key(value) == static_key(value)
    assert static_key(Model([1.0])) == static_key(Model([1.0]))
    assert static_key(np.arange(3)) == static_key(np.arange(3))


def test_what_cannot_be_told_is_refused() -> None:
    with pytest.raises(UserError, match="a value of type bytearray cannot be a static argument"):
        static_key(bytearray(b"1"))
    with pytest.raises(UserError, match="a value of type memoryview cannot be a static argument"):
        static_key(memoryview(bytearray(b"1")))
