"""What --wrt, --in-axes and --has-aux ask for."""

import pytest

from s2s.api.batching import Vmap
from s2s.cli.options import parse
from s2s.cli.transformed import transformed
from s2s.errors import UserError


def loss(w, x, scale=1.0):
    return w * x * scale


def nothing():
    return 1.0


def made(*words):
    return transformed(parse([words[0], "model.py:loss", *words[1:]]), loss)


def test_trace_is_the_function_itself():
    assert made("trace") is loss


@pytest.mark.parametrize(
    ("words", "argnums"),
    [
        ((), "w"),
        (("--wrt", "x"), "x"),
        (("--wrt", "x,w"), ["x", "w"]),
        (("--wrt", " x , w "), ["x", "w"]),
        (("--wrt", "x,"), ["x"]),
        (("--wrt", "0,2"), ["w", "scale"]),
    ],
)
@pytest.mark.parametrize("command", ["grad", "value-and-grad", "jvp", "vjp", "jacfwd", "jacrev"])
def test_wrt(command, words, argnums):
    assert made(command, *words).argnums == argnums


def test_has_aux():
    for command in ("value-and-grad", "jvp", "vjp", "hessian"):
        assert made(command, "--has-aux").has_aux
        assert not made(command).has_aux


@pytest.mark.parametrize(
    ("words", "in_axes"),
    [
        ((), {"w": 0, "x": 0}),
        (("--in-axes", "None, 0"), {"w": None, "x": 0}),
        (("--in-axes", "-1"), {"w": -1, "x": -1}),
        (("--in-axes=-1,",), {"w": -1}),
        (("--in-axes", "x=1, w={'a': 0}"), {"x": 1, "w": {"a": 0}}),
    ],
)
def test_in_axes(words, in_axes):
    fun = made("vmap", *words)
    assert isinstance(fun, Vmap) and fun.in_axes == in_axes


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("grad", "--wrt", "w,y"),
            "--wrt w,y: loss has no parameter y; its parameters are w, x, scale.",
        ),
        (
            ("grad", "--wrt", "7"),
            "--wrt 7: loss has no parameter 7; its parameters are w, x, scale.",
        ),
        (("grad", "--wrt", ","), "--wrt names no parameter; give for example --wrt w,b."),
        (
            ("vmap", "--in-axes", "y=0"),
            "--in-axes 'y=0': loss has no parameter y; its parameters are `w`, `x` and `scale`.",
        ),
        (
            ("vmap", "--in-axes", "0, 0, 0, 0"),
            "--in-axes '0, 0, 0, 0' has 4 axes, but loss has 3 parameters.",
        ),
        (
            ("vmap", "--in-axes", "0, n"),
            "--in-axes '0, n' cannot be read; give an axis or None for each parameter, as in "
            "--in-axes 'None, 0, 0', or by name, as in --in-axes 'x=0, y=0'.",
        ),
        (
            ("vmap", "--in-axes", "0) + (1"),
            "--in-axes '0) + (1' cannot be read; give an axis or None for each parameter, as in "
            "--in-axes 'None, 0, 0', or by name, as in --in-axes 'x=0, y=0'.",
        ),
    ],
)
def test_errors(words, message):
    with pytest.raises(UserError) as caught:
        made(*words)
    assert str(caught.value) == message


def test_a_function_without_parameters():
    with pytest.raises(UserError) as caught:
        transformed(parse(["grad", "model.py:nothing"]), nothing)
    assert str(caught.value) == "nothing has no parameters to differentiate."
