"""Where the range of a loop ends, when its number of steps is what is left of another."""

from typing import Any

import numpy as np
import pytest

import s2s
from s2s.errors import UserError
from s2s.frontend.control_flow import loops


def after_the_first(x: Any) -> Any:
    """A sum over the positive elements but the first two and the last, each times its number."""
    kept = x[x > 0.0]
    rows = kept[1:][1:]
    return sum((row * k for k, row in enumerate(rows[:-1], start=2)), 0.0)


def from_one(x: Any) -> Any:
    kept = np.flatnonzero(x > 0.0)
    total = 0.0
    for i in range(1, len(kept) - 1):
        total = total + x[kept[i]] * x[kept[i + 1]]
    return total


def from_an_end(x: Any) -> Any:
    kept = x[x > 0.0]
    total = 0.0
    for i in range(len(kept)):
        for j in range(i + 1, len(kept) - 1):
            total = total + kept[i] * kept[j]
    return total


ARRAYS = [
    np.array(values)
    for values in (
        [1.2, -2.0, 0.3, 0.5, 0.7, 0.9],
        [-1.0, -2.0, -3.0, -4.0, -1.0, -2.0],
        [-1.0, 2.0, -3.0, -4.0, -1.0, -2.0],
        [-1.0, 2.0, -3.0, 4.0, -1.0, -2.0],
        [1.0, 2.0, 3.0, -4.0, -1.0, -2.0],
    )
]


@pytest.mark.parametrize("fun", [after_the_first, from_one, from_an_end])
def test_ranges_over_what_a_mask_leaves(fun: Any) -> None:
    names = dict[str, Any]()
    exec(s2s.source(fun, ARRAYS[0]), names)
    for x in ARRAYS:
        np.testing.assert_allclose(names[fun.__name__](x), fun(x), rtol=1e-14)
        np.testing.assert_allclose(s2s.jit(fun)(x), fun(x), rtol=1e-14)


def test_a_step_less_than_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """`range(1, max(count - 1, 0))` is not `range(1, count)`; here there surely is a first step."""
    monkeypatch.setattr(loops, "_may_have_a_step", lambda length: True)

    def neighbours(x: Any, total: float) -> Any:
        kept = np.flatnonzero(x > 0.0)
        for i in range(len(kept) - 1):
            total = total + x[kept[i]] * x[kept[i + 1]]
        return total

    x, names = ARRAYS[0].astype(np.float32), dict[str, Any]()
    exec(s2s.source(neighbours, x, 0.5), names)
    np.testing.assert_allclose(names["neighbours"](x, 0.5), neighbours(x, 0.5), rtol=1e-6)


def test_a_first_step_that_there_may_not_be_does_not_stand_before_the_loop() -> None:
    """It would be made of elements that do not exist, or be one too many."""

    def added(x: Any, total: float) -> Any:
        for value in x[x > 0.0]:
            total = total + value
        return total

    with pytest.raises(UserError, match=r"`total` changes its type from float to f32\[\]"):
        s2s.source(added, np.ones(3, np.float32), 0.5)
    names = dict[str, Any]()
    exec(s2s.source(added, np.ones(3), 0.5), names)
    assert names["added"](-np.ones(3), 0.5) == 0.5
