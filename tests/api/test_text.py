"""make_jaxpr prints what JAX's prints, construct by construct as JAX explains its jaxprs."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import s2s
import s2s.lax
from tests.jax_jaxprs import compares_with_jax, jax_text

S2S = SimpleNamespace(np=np, lax=s2s.lax, jit=s2s.jit)
JAX = SimpleNamespace(np=jnp, lax=jax.lax, jit=jax.jit)
Library = Any

X, Y = np.array([0.5, -1.0, 2.0]), np.array([1.0, 2.0, 3.0])
WEIGHTS = np.array([0.2, 0.3, 0.5])


def arithmetic(library: Library) -> Callable[..., Any]:
    def fun(x, y):
        wave = x + library.np.sin(y) * 3.0
        return library.np.sum(wave)

    return fun


def inlined_helper(library: Library) -> Callable[..., Any]:
    def scaled(x, factor):
        return x * factor if factor > 1 else x

    def fun(x, y):
        total = x
        for power in (1, 2, 3):
            total = total + scaled(y, float(power))
        return total

    return fun


class Pair(NamedTuple):
    left: Any
    right: Any


def containers(library: Library) -> Callable[..., Any]:
    def fun(pair, table):
        return {"both": (pair, table["rows"][1] * 2.0), "sum": pair.left + table["rows"][0]}

    return fun


def constants(library: Library) -> Callable[..., Any]:
    return lambda x: (x * WEIGHTS + 1.0) * WEIGHTS


def branches_by_number(library: Library) -> Callable[..., Any]:
    def one_of_three(index, x):
        return library.lax.switch(
            index, [lambda x: x + 1.0, lambda x: x - 2.0, lambda x: x / 3.0], x
        )

    return one_of_three


def branches(library: Library) -> Callable[..., Any]:
    return lambda x: library.lax.cond(x >= 0.0, lambda y: y + 3.0, lambda y: y - 3.0, x)


def branch_with_a_constant(library: Library) -> Callable[..., Any]:
    def fun(x, pair):
        return library.lax.cond(x >= 0.0, lambda p: p[0], lambda p: WEIGHTS * p[1] + p[0], pair)

    return fun


def branch_that_closes_over(library: Library) -> Callable[..., Any]:
    return lambda x, y: library.lax.cond(x > 0.0, lambda z: z * y, lambda z: z - y, y)


def loop_while(library: Library) -> Callable[..., Any]:
    def fun(x, scale):
        return library.lax.while_loop(
            lambda carry: carry[0] < 10, lambda carry: (carry[0] + 1, carry[1] * scale), (0, x)
        )

    return fun


def loop_with_captured_arrays(library: Library) -> Callable[..., Any]:
    def fun(x, steps):
        offset = library.np.sin(x)
        return library.lax.fori_loop(
            0, steps, lambda i, carry: carry + offset * 3.0 + x, x + offset
        )

    return fun


def loop_of_known_length(library: Library) -> Callable[..., Any]:
    return lambda x: library.lax.fori_loop(0, 5, lambda i, carry: carry * x + i, x)


def scan_with_a_free_variable(library: Library) -> Callable[..., Any]:
    def fun(rows, extra):
        def step(carry, row):
            x, y = row
            return carry + x * y + extra, carry

        return library.lax.scan(step, 0.0, (rows, rows * 2.0))

    return fun


def scan_backwards_over_nothing(library: Library) -> Callable[..., Any]:
    def fun(x):
        return library.lax.scan(lambda c, _: (c * 0.5, None), x, None, length=4, reverse=True)

    return fun


def call(library: Library) -> Callable[..., Any]:
    def fun(x):
        @library.jit
        def inner(y):
            return y + x * library.np.sin(y)

        return x + inner(x - 2.0)

    return fun


def calls_of_one_function(library: Library) -> Callable[..., Any]:
    @library.jit
    def blend(x, y):
        return (x + y) * 0.5

    @library.jit
    def smooth(x, y):
        return blend(blend(x, y), x)

    return smooth


CASES: dict[Callable[[Library], Callable[..., Any]], tuple[Any, ...]] = {
    arithmetic: (X, Y),
    inlined_helper: (X, Y),
    containers: (Pair(X, Y), {"rows": [X, 2.0]}),
    constants: (X,),
    branches_by_number: (1, 5.0),
    branches: (5.0,),
    branch_with_a_constant: (5.0, (X, Y)),
    branch_that_closes_over: (5.0, Y),
    loop_while: (X, Y),
    loop_with_captured_arrays: (X, 3),
    loop_of_known_length: (X,),
    scan_with_a_free_variable: (X, 2.0),
    scan_backwards_over_nothing: (X,),
    call: (X,),
    calls_of_one_function: (X, Y),
}


@compares_with_jax
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_text_is_jax_s(case: Callable[[Library], Callable[..., Any]]) -> None:
    args = CASES[case]
    assert str(s2s.make_jaxpr(case(S2S))(*args)) == jax_text(case(JAX), *args)
