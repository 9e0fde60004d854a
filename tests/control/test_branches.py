"""Branches as users write them: what they compute and refuse."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import s2s
from s2s import lax
from tests.control.derivatives import check_derivatives, leaves, same

jax.config.update("jax_enable_x64", True)

X = np.array([0.5, -1.0, 2.0])


def chosen(library: Any, flag: Any) -> Any:
    return library.cond(flag, lambda x: x * 2.0, lambda x: x - 1.0, X)


def containers(library: Any, flag: Any) -> Any:
    state = {"a": X, "b": (1, 2.5)}
    return library.cond(
        flag,
        lambda s, y: {"c": s["a"] * y, "d": [s["b"][0], None]},
        lambda s, y: {"c": s["a"] - s["b"][1], "d": [s["b"][0] + 1, None]},
        state,
        3.0,
    )


def nothing_given(library: Any, flag: Any) -> Any:
    return library.cond(flag, lambda: np.ones(2), lambda: np.zeros(2))


def numbers(library: Any, flag: Any) -> Any:
    """A whole number in one branch, a real one in the other."""
    return library.cond(flag, lambda x: 1, lambda x: 2.5, X)


@pytest.mark.parametrize("program", [chosen, containers, nothing_given], ids=lambda f: f.__name__)
@pytest.mark.parametrize("flag", [True, False])
def test_values_are_jax_s(program: Callable[[Any, Any], Any], flag: bool) -> None:
    wanted = program(jax.lax, flag)
    same(program(lax, flag), wanted)
    both = s2s.vmap(lambda flag: program(lax, flag))(np.array([flag, not flag]))
    assert s2s.tree.flatten(program(lax, flag))[1] == s2s.tree.flatten(both)[1]
    for rows, value, other in zip(
        leaves(both), leaves(wanted), leaves(program(jax.lax, not flag)), strict=True
    ):
        np.testing.assert_array_equal(rows, np.stack([value, other]))
        assert rows.dtype == value.dtype


def test_numbers_take_one_type() -> None:
    for flag, wanted in ((True, 1.0), (False, 2.5)):
        found = numbers(lax, flag)
        assert found == wanted and np.asarray(found).dtype == np.float64


@pytest.mark.parametrize("index", [-3, 0, 1, 2, 9])
def test_an_index_is_clamped(index: int) -> None:
    branches = [lambda x: x, lambda x: x * 10.0, lambda x: x * 100.0]
    wanted = jax.lax.switch(index, branches, X)
    same(lax.switch(index, branches, X), wanted)
    traced = s2s.vmap(lambda i: lax.switch(i, branches, X))(np.array([index, 1]))
    same(traced, np.stack([wanted, X * 10.0]))
    one = s2s.vmap(lambda x: lax.switch(index, branches, x))(X[None])
    same(one, wanted[None])


REFUSALS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "structure": (
        lambda: lax.cond(True, lambda x: x, lambda x: (x, x), X),
        TypeError,
        "the branches of cond must return results of one structure, but one returns * and "
        "another (*, *)",
    ),
    "type": (
        lambda: lax.cond(True, lambda x: {"a": x}, lambda x: {"a": x.astype(int)}, X),
        TypeError,
        "the branches of cond return different types for the result['a']: i64[3] and f64[3]",
    ),
    "predicate": (
        lambda: lax.cond(X > 1, lambda x: x, lambda x: x, X),
        TypeError,
        "the predicate of cond must be one truth value, not bool[3]",
    ),
    "index": (
        lambda: lax.switch(0.5, [lambda x: x, lambda x: x], X),
        TypeError,
        "the index of switch must be one integer, not f64[]",
    ),
    "no branch": (lambda: lax.switch(0, [], X), ValueError, "switch needs at least one branch"),
}


@pytest.mark.parametrize("refused", REFUSALS)
def test_refusals(refused: str) -> None:
    fun, error, message = REFUSALS[refused]
    with pytest.raises(error) as caught:
        fun()
    assert str(caught.value) == message


def test_branches_close_over_traced_arrays_and_constants() -> None:
    """Also where only one of them does, and where both close over the same."""
    constant = np.array([1.0, -2.0, 0.5])

    def fun(w: Any, x: Any) -> Any:
        doubled = w * 2.0
        return lax.switch(
            np.sum(x * 0.0).astype(int) + 1,
            [lambda: doubled * constant, lambda: np.sin(doubled) * x, lambda: constant],
        )

    check_derivatives(fun, X, X + 0.3)


def test_derivatives_of_each_branch() -> None:
    def fun(i: Any, w: Any, x: Any) -> Any:
        branches = [
            lambda w, x: np.sin(w) * x,
            lambda w, x: w * w * np.exp(x),
            lambda w, x: np.cos(x) - w,
        ]
        return lax.switch(i, branches, w, x)

    for i in range(3):
        check_derivatives(lambda w, x, i=i: fun(i, w, x), X, X + 0.3)
        gradient = s2s.vmap(
            s2s.grad(lambda i, w, x: np.sum(fun(i, w, x)), argnums=(1, 2)), (0, None, None)
        )
        rows = [s2s.grad(lambda w, x, i=i: np.sum(fun(i, w, x)), (0, 1))(X, X) for i in range(3)]
        same(gradient(np.arange(3), X, X), tuple(map(np.stack, zip(*rows, strict=True))))


def test_an_example_that_does_not_index_an_array_of_nothing_reads_none_of_it() -> None:
    def element(x: Any, i: Any) -> Any:
        return lax.cond(i < x.shape[0], lambda: x[i], lambda: 0.0)

    rows = s2s.vmap(element)(np.ones((2, 0)), np.array([1, 5]))
    np.testing.assert_array_equal(rows, np.zeros(2))
    assert s2s.jit(element)(np.ones(0), 1) == 0.0
    with pytest.raises(IndexError):
        s2s.vmap(element)(np.ones((2, 0)), np.array([-1, 5]))
