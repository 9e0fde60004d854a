"""Examples, models and programs: what XLA computes agrees with what NumPy does."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import s2s
from s2s.api.derivatives import JvpFunction, VjpFunction
from s2s.errors import UserError
from s2s.tree import flatten
from tests.codegen.stablehlo.agreement import PROGRAM, assert_agree
from tests.conftest import ROOT
from tests.programs.checks import (
    TABLE,
    Program,
    batch_of,
    identifier,
    programs,
    random_like,
    stacked,
)


def weights(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).normal(size=shape)


MLP = {"w1": weights(4, 8), "b1": weights(8), "w2": weights(8, 3), "b2": weights(3)}

RNN = weights(3, 2), weights(3, 3), weights(3), weights(6, 2), weights(6, 3)
PATIENTS = weights(4), 0.3, weights(7, 4), (weights(7) > 0) * 1.0

PROGRAMS: list[tuple[str, tuple[Any, ...]]] = [
    ("tests/models/mlp.py:loss", (MLP, weights(5, 4), weights(5, 3))),
    ("tests/models/rnn.py:loss", RNN),
    ("tests/models/black_scholes.py:call_price", (100.0, 95.0, 0.5, 0.02, 0.3)),
    ("examples/mlp.py:loss", (MLP, weights(5, 4), weights(5, 3))),
    ("examples/breast_cancer.py:loss", PATIENTS),
    ("examples/cluster.py:energy", (weights(5, 3) * 2.0,)),
    ("examples/kalman.py:surprise", (0.1, -2.0, np.cumsum(weights(9)), 1.0)),
    ("examples/option_price.py:price", (100.0, 95.0, 80.0, 0.5, 0.03, 0.25)),
    ("examples/robot_arm.py:miss", (weights(4), np.abs(weights(4)), weights(3))),
    ("examples/shooting.py:miss", (np.array([20.0, 20.0]), 0.01, np.array([50.0, 5.0]), 3.0)),
    ("tests/models/pendulum.py:final_energy", (0.5, 0.1, 1.5)),
]  # fmt: skip

REFUSALS = {"accepted_steps": "a list to which only some steps"}
"""Programs that only a NumPy module can compute, and what is said of them."""

TABLE_OF_PROGRAMS = programs(*sorted(TABLE.glob("*.py")))


@pytest.mark.parametrize("transform", [s2s.grad, s2s.value_and_grad, s2s.jacfwd])
@pytest.mark.parametrize(("program", "args"), PROGRAMS, ids=[name for name, _ in PROGRAMS])
def test_programs(program: str, args: tuple[Any, ...], transform: Any) -> None:
    path, _, name = program.partition(":")
    assert_as_by_numpy(transform(s2s.load(f"{ROOT / path}:{name}")), args)


def assert_as_by_numpy(fun: Any, args: Sequence[Any]) -> None:
    expected, structure = flatten(fun(*args))
    found, of_xla = flatten(s2s.jit(fun)(*args))
    assert structure == of_xla
    assert_agree(found, expected, PROGRAM)


@pytest.mark.parametrize("program", TABLE_OF_PROGRAMS, ids=identifier)
def test_table_of_programs(program: Program) -> None:
    """The value and the gradient at all points of one set of sizes, one by one and as a batch."""
    points = batch_of(program)
    value = program.value(points[0])
    is_scalar = not isinstance(value, dict) and np.shape(value) == ()
    derivative = s2s.value_and_grad if is_scalar else s2s.jacrev
    fun = derivative(program.function, program.argnums)
    if program.name in REFUSALS:
        with pytest.raises(UserError, match=REFUSALS[program.name]):
            s2s.jit(fun)(*points[0])
        return
    for args in points:
        assert_as_by_numpy(fun, args)
    axes = tuple(0 if k in program.wrt else None for k in range(len(program.parameters)))
    stacks = [
        stacked([args[k] for args in points]) if k in program.wrt else arg
        for k, arg in enumerate(points[0])
    ]
    assert_as_by_numpy(s2s.vmap(fun, in_axes=axes), stacks)


FURTHER = [
    pytest.param(program, id=identifier(program), marks=[pytest.mark.slow] if number % 16 else [])
    for number, program in enumerate(TABLE_OF_PROGRAMS)
    if program.name not in REFUSALS
]
"""One of 16 in the ordinary suite, with --long all."""


@pytest.mark.parametrize("program", FURTHER)
def test_further_derivatives(program: Program) -> None:
    """Along a direction, of the function and of its gradient."""
    args = program.points[-1]
    value = program.value(args)
    pullback = VjpFunction(program.function, program.argnums)
    dots = random_like([args[k] for k in program.wrt], seed=2)
    assert_as_by_numpy(JvpFunction(program.function, program.argnums), [*args, *dots])
    ct = random_like(value, seed=5)
    assert_as_by_numpy(JvpFunction(pullback, program.argnums), [*args, ct, *dots])
