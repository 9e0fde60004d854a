"""Names for variables."""

import numpy as np
import pytest

from s2s import lax
from s2s.ir.jaxpr import ShapedArray, Var
from s2s_codegen.numpy_source.name import RESERVED, Names, describe
from tests.codegen.numpy_source.bodies import f64, jaxpr


def variable() -> Var:
    return Var(ShapedArray((), np.dtype(np.float64)))


def dead(_: Var) -> bool:
    return True


def alive(_: Var) -> bool:
    return False


def test_a_name_is_taken_again_when_its_value_is_not_needed() -> None:
    names = Names()
    assert names.give(variable(), "speed", alive) == "speed"
    assert names.give(variable(), "speed", dead) == "speed"


def test_a_newer_value_is_numbered_while_the_older_is_needed() -> None:
    names = Names()
    first = variable()
    names.give(first, "speed", alive)
    assert names.give(variable(), "speed", alive) == "speed_1"
    assert names.give(variable(), "speed", alive) == "speed_2"
    assert names.give(variable(), "speed", lambda var: var is not first) == "speed_2"
    assert names[first] == "speed"


@pytest.mark.parametrize("word", ["lambda", "sum", "np", "math", "_", "max"])
def test_never_a_keyword_or_a_builtin(word: str) -> None:
    assert word in RESERVED
    assert Names().give(variable(), word, dead) == f"{word}_1"


def test_what_is_reserved_stays() -> None:
    names = Names()
    names.hold(None, "loss_grad")
    assert names.reserve("n") == "n"
    assert names.give(variable(), "n", dead) == "n_1"
    assert names.give(variable(), "loss_grad", dead) == "loss_grad_1"


@pytest.mark.parametrize(
    ("fun", "phase", "operands", "name"),
    [
        (lambda x, y: lax.sqrt(x), "primal", ["maturity"], "sqrt_maturity"),
        (lambda x, y: lax.sqrt(x), "primal", [None], "sqrt"),
        (lambda x, y: lax.div(x, y), "primal", ["x", None], "ratio"),
        (lambda x, y: lax.div(x, y), "primal", ["x", "y"], "x_over_y"),
        (lambda x, y: lax.sub(1.0, x), "primal", [None, "x"], "one_minus_x"),
        (lambda x, y: lax.add(x, y), "primal", ["x", "y"], "x_plus_y"),
        (lambda x, y: lax.add(x, 0.3), "primal", ["x", None], "shifted_x"),
        (lambda x, y: lax.mul(2.0, x), "primal", [None, "x"], "twice_x"),
        (lambda x, y: lax.mul(x, 0.3), "primal", ["x", None], "scaled_x"),
        (lambda x, y: lax.div(x, 2.0), "primal", ["x", None], "half_x"),
        (lambda x, y: lax.mul(x, x), "primal", ["x", "x"], "x_squared"),
        (lambda x, y: lax.integer_pow(x, 3), "primal", ["x"], "x_cubed"),
        (lambda x, y: lax.neg(x), "primal", ["x"], "minus_x"),
        (lambda x, y: lax.mul(x, y), "cotangent", ["x", "y"], "product_bar"),
        (lambda x, y: lax.gt(x, y), "primal", ["x", "y"], "above"),
    ],
)
def test_after_the_operation(fun, phase: str, operands, name: str) -> None:
    (eqn,) = jaxpr(fun, f64("n"), f64("n"), in_phase=phase).eqns
    assert describe(eqn, False, operands, None) == name


def test_cotangents_are_called_after_what_they_are_pulled_back_through() -> None:
    (eqn,) = jaxpr(lax.mul, f64("n"), f64("n"), in_phase="cotangent").eqns
    assert describe(eqn, False, ["hidden_bar", None], "tanh") == "tanh_bar"
