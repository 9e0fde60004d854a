"""Examples and models: what XLA computes agrees with the generated NumPy code."""

from typing import Any

import numpy as np
import pytest

import s2s
from s2s.tree import flatten
from tests.conftest import ROOT


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
]  # fmt: skip


@pytest.mark.parametrize("transform", [s2s.grad, s2s.value_and_grad, s2s.jacfwd])
@pytest.mark.parametrize(("program", "args"), PROGRAMS, ids=[name for name, _ in PROGRAMS])
def test_programs(program: str, args: tuple[Any, ...], transform: Any) -> None:
    """To 1e-12 of the largest element: sums are in another order, products are fused."""
    path, _, name = program.partition(":")
    fun = transform(s2s.load(f"{ROOT / path}:{name}"))
    expected, structure = flatten(fun(*args))
    found, of_xla = flatten(s2s.jit(fun)(*args))
    assert structure == of_xla
    for ours, theirs in zip(found, expected, strict=True):
        assert type(ours) is type(theirs)
        scale = np.max(np.abs(theirs), initial=1.0)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12 * scale)
