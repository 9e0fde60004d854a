"""Derivative rules of users', with all that JAX's custom_jvp and custom_vjp take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2s
from s2s.errors import UserError
from tests.control.against_jax import Library, check_against_jax
from tests.control.derivatives import check_derivatives, generated, same

X = np.array([0.5, -1.0, 2.0])


def fixed_arguments_of_a_jvp_rule(lib: Library) -> Callable[..., Any]:
    def apply(f, x, times):
        return f(x) * times

    applied = lib.custom_jvp(apply, nondiff_argnums=(0, 2))

    @applied.defjvp
    def rule(f, times, primals, tangents):
        (x,), (x_dot,) = primals, tangents
        return applied(f, x, times), 10.0 * x_dot * times

    return lib.grad(lambda x: lib.np.sum(applied(lib.np.sin, x, 3) * x))


def fixed_arguments_of_a_vjp_rule(lib: Library) -> Callable[..., Any]:
    clipped = lib.custom_vjp(lambda low, high, x: x, nondiff_argnums=(0, 1))

    def forward(low, high, x):
        return x, None

    def backward(low, high, kept, x_bar):
        return (lib.np.clip(x_bar, low, high),)

    clipped.defvjp(forward, backward)
    return lib.grad(lambda x: lib.np.sum(clipped(-1.0, 1.0, x) ** 3))


def containers(lib: Library) -> Callable[..., Any]:
    @lib.custom_vjp
    def f(parts, y):
        return {"product": parts["x"] * y, "rest": (lib.np.sin(y),)}

    def forward(parts, y):
        return f(parts, y), (parts, y)

    def backward(kept, bars):
        _, y = kept
        x_bar = bars["product"] * y * 2.0
        return {"unused": lib.np.zeros(3), "x": x_bar}, bars["rest"][0] * lib.np.cos(y)

    f.defvjp(forward, backward)

    def loss(x):
        found = f({"x": x, "unused": x}, x * 2.0)
        return lib.np.sum(found["product"]) + lib.np.sum(found["rest"][0])

    return lib.grad(loss)


def one_rule_for_each_argument(lib: Library) -> Callable[..., Any]:
    @lib.custom_jvp
    def f(x, y):
        return lib.np.sin(x) * y

    f.defjvps(
        lambda x_dot, result, x, y: 2.0 * lib.np.cos(x) * x_dot * y,
        lambda y_dot, result, x, y: lib.np.sin(x) * y_dot,
    )
    return lib.grad(lambda x: lib.np.sum(f(x, x * 2.0)))


def no_rule_for_one_argument(lib: Library) -> Callable[..., Any]:
    @lib.custom_jvp
    def f(x, y):
        return lib.np.sin(x) * y

    f.defjvps(None, lambda y_dot, result, x, y: lib.np.sin(x) * y_dot)
    return lambda x: (lib.grad(lambda x: lib.np.sum(f(x, x * 2.0)))(x), lib.jvp(f, (x, x), (x, x)))


def symbolic_zeros_of_a_jvp_rule(lib: Library) -> Callable[..., Any]:
    """The rule is another one where a tangent is zero."""

    @lib.custom_jvp
    def f(x, y):
        return x * y

    def rule(primals, tangents):
        (x, y), (x_dot, y_dot) = primals, tangents
        total = lib.np.zeros(3)
        if not isinstance(x_dot, lib.SymbolicZero):
            total = total + 100.0 * x_dot * y
        if not isinstance(y_dot, lib.SymbolicZero):
            total = total + x * y_dot
        return f(x, y), total

    f.defjvp(rule, symbolic_zeros=True)
    total = lib.np.sum
    return lambda x: [
        lib.grad(lambda x: total(f(x, X)))(x),
        lib.grad(lambda x: total(f(X, x)))(x),
        lib.grad(lambda x: total(f(x, x)))(x),
    ]


def symbolic_zeros_of_a_vjp_rule(lib: Library) -> Callable[..., Any]:
    @lib.custom_vjp
    def f(x, y):
        return x * y, lib.np.sin(x)

    def forward(x, y):
        assert x.perturbed
        return f(x.value, y.value), y.value

    def backward(y, bars):
        x_bar = lib.np.zeros(3)
        if not isinstance(bars[0], lib.SymbolicZero):
            x_bar = x_bar + bars[0] * y
        if not isinstance(bars[1], lib.SymbolicZero):
            x_bar = x_bar + 7.0 * bars[1]
        return x_bar, lib.np.zeros(3)

    f.defvjp(forward, backward, symbolic_zeros=True)
    total = lib.np.sum
    return lambda x: [
        lib.grad(lambda x: total(f(x, X)[0]))(x),
        lib.grad(lambda x: total(f(x, X)[1]))(x),
    ]


def a_rule_that_closes_over_a_traced_value(lib: Library) -> Callable[..., Any]:
    def loss(x, w):
        @lib.custom_jvp
        def f(x):
            return lib.np.sin(x) * 3.0

        @f.defjvp
        def rule(primals, tangents):
            return f(primals[0]), tangents[0] * 5.0 * w

        return lib.np.sum(f(x))

    return lambda x: lib.grad(loss)(x, 2.0)


def rules_in_loops_and_batches(lib: Library) -> Callable[..., Any]:
    @lib.custom_vjp
    def f(x):
        return lib.np.sin(x)

    f.defvjp(lambda x: (f(x), x), lambda x, bar: (bar * 2.0 * lib.np.cos(x),))

    def last(x):
        return lib.lax.scan(lambda c, _: (f(c), c), x, None, 3)[0]

    def chosen(x):
        return lib.lax.cond(x[0] > 0.0, f, lambda x: x * x, x)

    return lambda x: [
        lib.grad(lambda x: lib.np.sum(last(x)))(x),
        lib.vmap(lib.grad(lambda x: lib.np.sum(chosen(x))))(lib.np.stack([x, -x])),
    ]


@pytest.mark.parametrize(
    "case",
    [
        fixed_arguments_of_a_jvp_rule,
        fixed_arguments_of_a_vjp_rule,
        containers,
        one_rule_for_each_argument,
        no_rule_for_one_argument,
        symbolic_zeros_of_a_jvp_rule,
        symbolic_zeros_of_a_vjp_rule,
        a_rule_that_closes_over_a_traced_value,
        rules_in_loops_and_batches,
    ],
)
def test_rules_are_used_as_in_jax(case: Callable[[Library], Callable[..., Any]]) -> None:
    check_against_jax(case, X)


def test_an_argument_that_is_an_integer_has_no_cotangent() -> None:
    @s2s.custom_vjp
    def f(count, x):
        return x * count

    f.defvjp(lambda count, x: (f(count, x), count), lambda count, bar: (None, bar * count * 2.0))
    same(s2s.grad(lambda x: np.sum(f(3, x)))(X), np.full(3, 6.0))


def both_rules() -> Any:
    """sin, whose forward rule and whose backward rule are each recognised by a factor."""

    @s2s.custom_vjp
    def f(x):
        return np.sin(x)

    f.defvjp(lambda x: (f(x), x), lambda x, bar: (3.0 * bar * np.cos(x),))
    f.defjvp(lambda primals, dots: (f(*primals), 2.0 * dots[0] * np.cos(primals[0])))
    return f


def test_with_both_rules_each_mode_uses_its_own() -> None:
    f = both_rules()
    same(s2s.jvp(f, (X,), (X,))[1], 2.0 * X * np.cos(X))
    same(s2s.jacfwd(f)(X), np.diag(2.0 * np.cos(X)))
    same(s2s.grad(lambda x: np.sum(f(x)))(X), 3.0 * np.cos(X))
    # The tangent of the gradient is that of 3 * cos.
    hessian = s2s.hessian(lambda x: np.sum(f(x)))
    same(hessian(X), np.diag(-3.0 * np.sin(X)))
    same(generated(hessian, X)(X), hessian(X))
    same(s2s.vmap(s2s.grad(f))(X), 3.0 * np.cos(X))
    steps = s2s.jacfwd(lambda x: s2s.lax.fori_loop(0, 2, lambda i, c: f(c), x))
    same(steps(X), np.diag(4.0 * np.cos(np.sin(X)) * np.cos(X)))


def test_with_both_rules_right_all_laws_hold() -> None:
    @s2s.custom_vjp
    def f(x, w):
        return np.sin(x) * w

    def backward(kept, bar):
        x, w = kept
        return bar * np.cos(x) * w, bar * np.sin(x)

    def tangent(primals, dots):
        (x, w), (x_dot, w_dot) = primals, dots
        return f(x, w), np.cos(x) * w * x_dot + np.sin(x) * w_dot

    f.defvjp(lambda x, w: (f(x, w), (x, w)), backward)
    f.defjvp(tangent)
    check_derivatives(f, X, X + 0.3)


def test_the_tangent_of_a_function_with_a_backward_rule_is_its_transpose() -> None:
    @s2s.custom_vjp
    def f(x):
        return np.sin(x)

    f.defvjp(lambda x: (f(x), x), lambda x, bar: (3.0 * bar * np.cos(x),))
    same(s2s.jvp(f, (X,), (X,))[1], 3.0 * X * np.cos(X))
    same(s2s.jacfwd(f)(X), np.diag(3.0 * np.cos(X)))


NOT_LINEAR: dict[str, Callable[[Any, Any], Any]] = {
    "mul": lambda x, x_dot: x_dot * x_dot,
    "div": lambda x, x_dot: x / x_dot,
    "exp": lambda x, x_dot: np.exp(x_dot),
}


@pytest.mark.parametrize("name", NOT_LINEAR)
def test_a_rule_that_is_not_linear_is_refused(name: str) -> None:
    f = s2s.custom_jvp(np.sin)
    f.defjvp(lambda primals, dots: (f(*primals), NOT_LINEAR[name](primals[0], dots[0])))
    with pytest.raises(UserError, match=f"`{name}` is applied in a way that is not linear"):
        s2s.grad(lambda x: np.sum(f(x)))(X)
    with pytest.raises(UserError, match="not linear"):
        s2s.linear_transpose(lambda x: NOT_LINEAR[name](2.0, x), X)(X)
