"""The types of a transformed function's arguments, from those of the user's function."""

import numpy as np
import pytest

from s2s.api import grad, jacrev, vmap
from s2s.api.derivatives import JvpFunction, VjpFunction
from s2s.cli.types import are_of_types, outer_types, users_function
from s2s.errors import UserError
from s2s.frontend.argument_types.text import parse_arguments
from s2s.frontend.argument_types.types import render


def loss(w, x, y, steps=3):
    return w


INNER = "w: f64[d], x: f64[d], y: float, steps=3"


def outer(fun, given=""):
    said = parse_arguments(given)
    types = outer_types(fun, {**parse_arguments(INNER), **said}, frozenset(said))
    return ", ".join(f"{name}: {render(argument)}" for name, argument in types.items())


def test_derivatives_keep_the_types():
    assert outer(loss) == outer(grad(jacrev(loss))) == "w: f64[d], x: f64[d], y: float, steps: 3"


def test_vmap_adds_an_axis():
    assert outer(vmap(loss, in_axes=(None, 0, 0))) == (
        "w: f64[d], x: f64[batch, d], y: f64[batch], steps: 3"
    )
    assert outer(vmap(loss, in_axes=(None, 1, 0))) == (
        "w: f64[d], x: f64[d, batch], y: f64[batch], steps: 3"
    )
    assert outer(vmap(loss, in_axes=(-1, None))) == (
        "w: f64[d, batch], x: f64[d], y: float, steps: 3"
    )


def test_two_vmaps_add_two():
    fun = vmap(vmap(grad(loss), in_axes=(None, 0, 0)), in_axes=(0, None, None))
    assert outer(fun) == "w: f64[batch2, d], x: f64[batch, d], y: f64[batch], steps: 3"


def test_what_args_says_is_about_the_generated_function():
    assert outer(vmap(loss, in_axes=(None, 0, 0)), "x: f64[n, d]") == (
        "w: f64[d], x: f64[n, d], y: f64[n], steps: 3"
    )


def test_jvp_adds_directions_before_defaults():
    assert outer(JvpFunction(loss, ("w", "y"))) == (
        "w: f64[d], x: f64[d], y: float, w_dot: f64[d], y_dot: float, steps: 3"
    )
    assert outer(vmap(JvpFunction(loss, "w"), in_axes=(None, 0, 0, 0))) == (
        "w: f64[d], x: f64[batch, d], y: f64[batch], w_dot: f64[batch, d], steps: 3"
    )


def test_vjp_under_vmap_wants_the_type_of_the_cotangent():
    fun = vmap(VjpFunction(loss, "w"))
    with pytest.raises(UserError) as caught:
        outer(fun)
    assert str(caught.value) == (
        'vmap of `loss_vjp` needs the type of y_bar; give it with --args "y_bar: ..."'
    )
    assert outer(fun, "y_bar: f64[n, d]").startswith("w: f64[n, d], x: f64[n, d], y: f64[n]")


def test_users_function():
    assert users_function(vmap(grad(loss))) is loss


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"w": np.ones(3), "x": np.ones((4, 3)), "y": 1.0, "steps": 3}, True),
        ({"w": np.ones(3), "x": np.ones((4, 3)), "y": 1.0, "steps": 4}, False),
        ({"w": np.ones(3), "x": np.ones((4, 3)), "y": 1.0}, False),
        ({"w": np.ones(3), "x": np.ones((4, 2)), "y": 1.0, "steps": 3}, False),
        ({"w": np.ones(3), "x": np.ones(3), "y": 1.0, "steps": 3}, False),
        ({"w": np.ones(3, np.float32), "x": np.ones((4, 3)), "y": 1.0, "steps": 3}, False),
        ({"w": np.ones(3), "x": np.ones((4, 3)), "y": np.float64(1.0), "steps": 3}, False),
        ({"w": [np.ones(3)], "x": np.ones((4, 3)), "y": 1.0, "steps": 3}, False),
    ],
)
def test_whether_values_are_of_types(values, expected):
    types = parse_arguments("w: f64[d], x: f64[n, 3], y: float, steps=3")
    assert are_of_types(values, types) is expected
