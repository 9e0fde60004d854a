"""Changes in place within branches and loops: followed, or refused where they cannot be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import s2s
from tests.frontend.tracing import FLOAT, agrees, f64, refusal, traced

KEPT = [1.0]
ROWS = np.linspace(0.1, 0.9, 7)


class Total:
    def __init__(self) -> None:
        self.total = 0.0
        self.count = 0

    def add(self, x):
        if x > 0.5:
            self.total = self.total + x
        self.count += 1


def attributes(xs):
    total = Total()
    for x in xs:
        total.add(x)
    return total.total * total.count


def entries(xs):
    found = {"a": xs[0]}
    if xs[0] > 0.5:
        found["a"] = xs[1] * 2.0
    return found["a"]


def array_of_loop(xs):
    total = np.zeros(3)
    for x in xs:
        total += x
    return np.sum(total**2)


def list_that_is_read(xs):
    out = [xs[0]]
    for x in xs:
        out.append(out[-1] * 0.5 + x)
    return np.sum(np.array(out))


def list_of_two_names(xs):
    out = []
    other = out
    for x in xs:
        out.append(x * 2.0)
    return np.sum(np.array(other))


def lists_in_lists(xs):
    rows = []
    for i in range(7):
        row = []
        for j in range(6):
            row.append(xs[i] * j)
        rows.append(np.array(row))
    return np.sum(np.array(rows) ** 2)


def variable_of_closure(xs):
    total = 0.0

    def add(x):
        nonlocal total
        total = total + x

    for x in xs:
        add(x * 2.0)
    return total


def draws(xs):
    generator = np.random.default_rng(0)
    total = 0.0
    for x in xs:
        total += x * generator.normal()
    return total


@pytest.mark.parametrize(
    "function",
    [
        attributes,
        entries,
        array_of_loop,
        list_that_is_read,
        list_of_two_names,
        lists_in_lists,
        variable_of_closure,
        draws,
    ],
)
@pytest.mark.parametrize("xs", [ROWS, ROWS[::-1].copy()], ids=["up", "down"])
def test_changes_are_followed(function: Any, xs: np.ndarray) -> None:
    agrees(function, xs)


def unbound(x):
    if x > 0.0:
        y = x
    return y


def other_dtype(x):
    y = np.ones(3, dtype=np.float32) if x > 0.0 else np.ones(3)
    return np.sum(y)


def global_list(x):
    if x > 0.0:
        KEPT.append(2.0)
    return x


def iterator(x):
    values = iter([1.0, 2.0])
    if x > 0.0:
        x = x * next(values)
    return x


def leaves_finally(x):
    try:
        y = 3.0 * x
    finally:
        if x > 0.0:
            return x  # noqa: B012
    return y


@pytest.mark.parametrize(
    ("function", "line", "message"),
    [
        (unbound, "return y", "`y` is not assigned where the condition is false"),
        (other_dtype, "y = np.ones(3, dtype=np.float32)", "f32[3] where the condition is true"),
        (
            global_list,
            "if x > 0.0:",
            "a list has 2 items where the condition is true and 1 where it is false",
        ),
        (iterator, "x = x * next(values)", "s2s cannot follow such a change"),
        (leaves_finally, "if x > 0.0:", "Put the `if` outside of it"),
    ],
)
def test_what_cannot_be_followed_is_refused(function: Any, line: str, message: str) -> None:
    error = refusal(function, FLOAT)
    assert error.source is not None and error.source.text.startswith(line)
    assert message in error.message
    assert KEPT == [1.0]


def test_a_loop_of_symbolic_length_stays_one() -> None:
    for function in (attributes, array_of_loop):
        found = traced(function, f64("n"))
        assert "scan" in [eqn.primitive.name for eqn in found.closed.eqns]


def test_a_loop_is_unrolled_where_that_is_asked_for() -> None:
    def unrolled(x):
        for k in s2s.unroll(range(6)):
            x = x * x + k
        return x

    def kept(x):
        for k in range(6):
            x = x * x + k
        return x

    assert len(agrees(unrolled, 0.5).closed.eqns) == 12
    assert [eqn.primitive.name for eqn in agrees(kept, 0.5).closed.eqns] == ["iota", "scan"]


def until_it_is_small(x):
    history = [x]
    while True:
        x = x * 0.7
        if x < 0.1:
            break
        history.append(x)
    return sum(history) * len(history)


@pytest.mark.parametrize("x", [0.9, 0.12])
def test_a_list_does_not_grow_in_the_step_that_leaves_the_loop(x: float) -> None:
    agrees(until_it_is_small, x)
