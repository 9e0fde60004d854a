"""Compositions written as text: what they stand for, and that nothing else is evaluated."""

import numpy as np
import pytest

from s2s.api.batching import Vmap
from s2s.api.derivatives import Grad, JvpFunction
from s2s.cli.expression import composition
from s2s.errors import UserError


def loss(w, x):
    return np.sum(w * x)


class Model:
    @staticmethod
    def energy(x):
        return np.sum(x)


MODULE = globals()


def test_a_composition():
    fun = composition("vmap(grad(loss), in_axes=(None, 0), out_axes=-1)", MODULE, "model.py")
    assert isinstance(fun, Vmap)
    assert (fun.in_axes, fun.out_axes) == ((None, 0), -1)
    assert isinstance(fun.fun, Grad)
    assert fun.fun.fun is loss
    assert fun.__name__ == "loss_grad_vmap"


@pytest.mark.parametrize(
    "text", ["grad(loss, 1)", "s2s.grad(loss, argnums=1)", " jax.grad(loss, 1) "]
)
def test_arguments_by_position_name_and_module(text):
    fun = composition(text, MODULE, "model.py")
    assert isinstance(fun, Grad) and fun.argnums == 1


def test_functions_in_classes_and_without_a_transformation():
    assert composition("Model.energy", MODULE, "model.py") is Model.energy
    assert isinstance(composition("jvp(Model.energy)", MODULE, "model.py"), JvpFunction)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("vmap(grad(loss)", "`vmap(grad(loss)` is not a Python expression: '(' was never closed."),
        (
            "gradd(loss)",
            "In `gradd(loss)`: `gradd` is no transformation; these are grad, value_and_grad, jvp, "
            "vjp, vmap, jacfwd, jacrev, hessian.",
        ),
        ("grad(lossy)", "In `grad(lossy)`: model.py has no function lossy; its functions are "),
        (
            "grad(lambda x: x)",
            "In `grad(lambda x: x)`: a lambda cannot stand here; write a function in model.py "
            "instead.",
        ),
        ("grad", "In `grad`: grad wants a function, as in grad(...)."),
        ("grad()", "In `grad()`: grad wants a function first, as in grad(f)."),
        ("grad(*loss)", "In `grad(*loss)`: grad wants a function first, as in grad(f)."),
        ("grad(loss, **{})", "In `grad(loss, **{})`: `**` cannot stand here."),
        ("grad(3)", "In `grad(3)`: `3` is not a function of model.py."),
        (
            "grad(loss, argnums=x)",
            "In `grad(loss, argnums=x)`: `x` must be a literal, such as 0, 'w' or (None, 0).",
        ),
        (
            "grad(loss, arg=0)",
            "In `grad(loss, arg=0)`: grad() got an unexpected keyword argument 'arg'.",
        ),
        ("__import__('os')", "In `__import__('os')`: `__import__` is no transformation; these are"),
    ],
)
def test_errors(text, message):
    with pytest.raises(UserError) as caught:
        composition(text, MODULE, "model.py")
    assert str(caught.value).startswith(message)
