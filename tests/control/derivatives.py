"""The laws of derivatives, checked by the public functions and in generated modules."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import s2s
from s2s.tree import flatten

STEP = 1e-6
# Central differences at this step, of functions of order 1.
SLOPE = {"rtol": 1e-6, "atol": 1e-7}
# Two ways to compute the same in double precision.
EXACT = {"rtol": 1e-10, "atol": 1e-12}


def leaves(value: Any) -> list[Any]:
    """The arrays of a container."""
    return flatten(value)[0]


def slope(fun: Callable[..., Any], at: Sequence[Any], along: Sequence[Any]) -> list[np.ndarray]:
    """The central differences of all results."""
    up, down = (
        leaves(fun(*[a + sign * STEP * t for a, t in zip(at, along, strict=True)]))
        for sign in (1.0, -1.0)
    )
    return [(np.asarray(u) - np.asarray(d)) / (2 * STEP) for u, d in zip(up, down, strict=True)]


def same(found: Any, wanted: Any, **tolerance: float) -> None:
    """Check that two containers of arrays are equal up to rounding."""
    for a, b in zip(leaves(found), leaves(wanted), strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), **(tolerance or EXACT))


def weighted(fun: Callable[..., Any], args: Sequence[Any]) -> Callable[[Sequence[Any]], Any]:
    """A number made of all results of a function, as a function of the arguments in one."""
    random = np.random.default_rng(7)
    weights = [random.uniform(0.5, 1.5, np.shape(leaf)) for leaf in leaves(fun(*args))]

    def number(at: Sequence[Any]) -> Any:
        total: Any = 0.0
        for weight, leaf in zip(weights, leaves(fun(*at)), strict=True):
            total = total + np.sum(weight * leaf)
        return total

    return number


def generated(fun: Callable[..., Any], *args: Any) -> Callable[..., Any]:
    """The function of the module that s2s writes."""
    text = s2s.source(fun, *args)
    names: dict[str, Any] = {}
    exec(compile(text, "generated", "exec"), names)
    return next(value for name, value in names.items() if f"\ndef {name}(" in text)


def check_derivatives(fun: Callable[..., Any], *args: Any, order: int = 2) -> None:
    """Check tangents, gradients, batches of these, and the generated modules, for all arguments.

    Args:
        fun: a smooth function of real arrays with real results.
        args: the arguments to check it at.
        order: of how high derivatives.
    """
    random = np.random.default_rng(3)
    along = tuple(random.standard_normal(np.shape(a))[()] for a in args)
    _, tangents = s2s.jvp(fun, args, along)
    same(tangents, slope(fun, args, along), **SLOPE)

    number = weighted(fun, args)
    gradient = s2s.grad(number)
    bars = gradient(args)
    found = sum(float(np.vdot(bar, t)) for bar, t in zip(bars, along, strict=True))
    (wanted,) = slope(lambda *at: number(at), args, along)
    np.testing.assert_allclose(found, wanted, **SLOPE)
    same(generated(gradient, args)(args), bars)

    others = tuple(a + 0.01 * t for a, t in zip(args, along, strict=True))
    both = tuple(np.stack(pair) for pair in zip(args, others, strict=True))
    rows = [np.stack(pair) for pair in zip(bars, gradient(others), strict=True)]
    same(s2s.vmap(gradient)(both), rows)
    same(generated(s2s.vmap(gradient), both)(both), rows)
    if order > 1:
        check_derivatives(lambda *at: gradient(at), *args, order=order - 1)
