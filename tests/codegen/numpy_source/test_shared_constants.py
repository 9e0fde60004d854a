"""Arrays of the user's module that several functions of a generated module read."""

from typing import Any

import numpy as np

import s2s
from s2s import lax

OFFSET = np.array([0.1, 0.2, 0.3])
ROWS = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


@s2s.jit
def smooth(x: Any, y: Any) -> Any:
    def step(carry: Any, row: Any) -> Any:
        return np.tanh(carry * row + OFFSET * y), None

    return lax.scan(step, x + OFFSET, ROWS)[0]


def loss(x: Any, y: Any) -> Any:
    return np.sum(smooth(x, y) * smooth(y, x) + OFFSET)


def test_functions_share_the_constants_of_the_module() -> None:
    x, y = np.array([0.5, -1.0, 2.0]), np.array([1.0, 0.2, -0.3])
    text = s2s.source(s2s.value_and_grad(loss), x, y)
    assert text.count("np.array(") == 2
    assert "OFFSET = np.array([0.1, 0.2, 0.3])\n" in text and "def smooth_forward(x, y):" in text
    names: dict[str, Any] = {}
    exec(text, names)
    for found, wanted in zip(
        names["loss_value_and_grad"](x, y), s2s.value_and_grad(loss)(x, y), strict=True
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-13)
