"""Solutions of equations, and what is converted, transposed and computed again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2s
from tests.control.against_jax import Library, check_against_jax
from tests.control.derivatives import check_derivatives, generated, same

X = np.array([0.5, -1.0, 2.0])
WEIGHTS = np.array([1.0, 2.0, 3.0])
MATRIX = np.array([[4.0, 1.0, 0.0], [0.0, 3.0, 1.0], [1.0, 0.0, 5.0]])

Case = Callable[[Library], Callable[..., Any]]


def system(lib: Library) -> Callable[..., Any]:
    """A matrix that is not symmetric and depends on x, solved by an iteration."""

    def solve(matvec, b):
        return lib.lax.fori_loop(0, 120, lambda i, y: y + (b - matvec(y)) * 0.15, b * 0.0)

    def loss(x):
        matrix = MATRIX + lib.np.outer(x, x) * 0.1
        y = lib.lax.custom_linear_solve(
            lambda v: matrix @ v, lib.np.sin(x), solve, transpose_solve=solve
        )
        return lib.np.sum(y**2)

    batch = lib.vmap(lib.grad(loss))
    return lambda x: [lib.grad(loss)(x), lib.hessian(loss)(x), batch(lib.np.stack([x, x * 0.3]))]


def system_with_more_results(lib: Library) -> Callable[..., Any]:
    def loss(x):
        diagonal = 2.0 + x**2

        def solve(matvec, b):
            return b / diagonal, lib.np.sum(b)

        y, total = lib.lax.custom_linear_solve(
            lambda v: v * diagonal, lib.np.sin(x), solve, solve, has_aux=True
        )
        return lib.np.sum(y**2) + total

    return lib.grad(loss)


def root(lib: Library) -> Callable[..., Any]:
    """The cube root, by Newton's iteration."""

    def newton(f, y):
        return lib.lax.while_loop(
            lambda y: lib.np.abs(f(y)) > 1e-12, lambda y: y - f(y) / (3.0 * y**2), y
        )

    def cube_root(a):
        one = lib.np.ones(())
        return lib.lax.custom_root(lambda y: y**3 - a, one, newton, lambda g, y: y / g(1.0))

    return lambda x: [
        lib.grad(cube_root)(x[0]),
        lib.grad(lib.grad(cube_root))(x[0]),
        lib.vmap(lib.grad(cube_root))(lib.np.abs(x)),
    ]


def converted_closures(lib: Library) -> Callable[..., Any]:
    def scaled(f, x, *values):
        @lib.custom_vjp
        def g(x, *values):
            return f(x, *values) * 2.0

        def backward(kept, bar):
            x, values = kept
            return (bar * x, *[3.0 * bar * value for value in values])

        g.defvjp(lambda x, *values: (g(x, *values), (x, values)), backward)
        return g(x, *values)

    def loss(w, x):
        f, values = lib.closure_convert(lambda x: lib.np.sin(x) * w, x)
        return lib.np.sum(scaled(lambda x, *values: f(x, *values), x, *values))

    return lambda x: [lib.grad(loss)(x, x * 2.0), lib.grad(loss, 1)(x, x * 2.0)]


def transposes(lib: Library) -> Callable[..., Any]:
    """Every kind of control flow, linear in what it is given."""

    def linear(x):
        np, lax = lib.np, lib.lax
        y = lax.fori_loop(0, 3, lambda i, c: c * WEIGHTS + x, x)
        y = lib.checkpoint(lambda a: a * WEIGHTS + np.cumsum(a))(y)
        y = lib.jit(lambda a: a[::-1] * 2.0)(y)
        c, ys = lax.scan(lambda c, r: (c * 0.5 + r, c * WEIGHTS), y, np.outer(WEIGHTS, x))
        y = lax.switch(1, [lambda a: a, lambda a: a * WEIGHTS], c) + np.sum(ys, axis=0)
        y = lax.cond(True, lambda a: a + x, lambda a: a * 2.0, lax.map(lambda r: r * 2.0, y))
        y = lax.custom_linear_solve(
            lambda v: v * WEIGHTS, y, lambda matvec, b: b / WEIGHTS, symmetric=True
        )
        y = lax.associative_scan(lambda a, b: a + 2.0 * b, y)
        return lib.vmap(lambda a: a * 3.0)(y)

    return lambda x: lib.linear_transpose(linear, x)(x)[0]


def transposed_rules(lib: Library) -> Callable[..., Any]:
    @lib.custom_jvp
    def doubled(x):
        return x * 2.0

    @doubled.defjvp
    def rule(primals, tangents):
        return doubled(*primals), tangents[0] * 2.0

    def linear(x):
        return doubled(x) + lib.lax.cond(True, doubled, lambda x: x, x)

    return lambda x: lib.linear_transpose(linear, x)(x)[0]


@pytest.mark.parametrize(
    "case",
    [
        system,
        system_with_more_results,
        root,
        converted_closures,
        transposes,
        transposed_rules,
    ],
)
def test_as_in_jax(case: Case) -> None:
    check_against_jax(case, np.abs(X) if case is root else X)


def test_a_while_loop_with_a_fixed_number_of_steps_is_transposed() -> None:
    def linear(x):
        return s2s.lax.while_loop(
            lambda c: c[0] < 3, lambda c: (c[0] + 1, np.cumsum(c[1]) * WEIGHTS), (0, x)
        )[1]

    matrix = s2s.jacfwd(linear)(X)
    same(s2s.linear_transpose(linear, X)(X)[0], matrix.T @ X)


def block(w: Any, x: Any) -> Any:
    first = s2s.checkpoint_name(np.tanh(w @ x), "first")
    again = s2s.checkpoint_name(first, "again")
    return np.sin(w @ again) + np.exp(again)


POLICIES = s2s.checkpoint_policies
COMPUTED_AGAIN = {
    "nothing": (None, 1, 2),
    "nothing, said": (POLICIES.nothing_saveable, 1, 2),
    "everything": (POLICIES.everything_saveable, 0, 0),
    "products": (POLICIES.dots_saveable, 1, 0),
    "a name": (POLICIES.save_only_these_names("first"), 0, 1),
    "another name": (POLICIES.save_only_these_names("again", "other"), 0, 1),
}
"""For each policy how often the backward part computes tanh and w @ x or w @ first."""


@pytest.mark.parametrize("name", COMPUTED_AGAIN)
def test_a_policy_says_what_the_backward_part_computes_again(name: str) -> None:
    policy, tanhs, products = COMPUTED_AGAIN[name]
    kept = s2s.checkpoint(block, policy=policy)
    w = np.eye(3) * 0.5 + 0.1

    def loss(w, x):
        return np.sum(kept(w, x) ** 3)

    plain = s2s.value_and_grad(lambda w, x: np.sum(block(w, x) ** 3))
    function = s2s.value_and_grad(loss)
    same(function(w, X), plain(w, X))
    same(generated(function, w, X)(w, X), plain(w, X))
    text = s2s.source(function, w, X)
    backward = [line for line in text[text.index("# Backward") :].splitlines() if "#" not in line]
    assert sum(line.count("np.tanh(") for line in backward) == tanhs
    assert sum(line.count("w @") for line in backward) == products


def test_checkpoints_obey_the_laws() -> None:
    for policy, *_ in COMPUTED_AGAIN.values():
        check_derivatives(s2s.checkpoint(block, policy=policy), np.eye(3) * 0.5, X, order=1)
