"""Functions of every kind of control flow, one in another, for s2s and for JAX alike.

A body takes the arrays w and x, of 3 elements each, and returns one of 3 elements. A wrapper makes
a body from a body. Both get the library to write with: s2s and jax have the same names.
"""

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

import s2s
from s2s import lax
from s2s.ir.jaxpr import ClosedJaxpr
from s2s.trace import make
from tests.passes.programs import f64

Body = Callable[[Any, Any], Any]
Library = Any

ONES = np.ones(3)
ROWS = np.array([0.3, 0.7, -0.2])
WEIGHTS = np.array([1.0, 2.0, 3.0])
FLOAT = np.dtype(np.float64)
INTEGER = np.dtype(np.int64)


def total(library: Library, x: Any) -> Any:
    """The sum of a vector."""
    lax = library.lax
    if hasattr(library, "total"):
        return library.total(x)
    return lax.dot_general(x, ONES, (((0,), (0,)), ((), ())))


S2S = SimpleNamespace(
    lax=lax,
    jit=s2s.jit,
    vmap=s2s.vmap,
    checkpoint=s2s.checkpoint,
    custom_jvp=s2s.custom_jvp,
    custom_vjp=s2s.custom_vjp,
)

ANY_SIZE = SimpleNamespace(**vars(S2S), total=lambda x: lax.reduce_sum(x, (0,)))
"""The same for arrays of any size."""


def straight(library: Library) -> Body:
    """A body without control flow."""
    lax = library.lax
    return lambda w, x: lax.add(lax.tanh(lax.mul(w, x)), lax.mul(lax.sin(x), 0.5))


def in_scan(library: Library, f: Body) -> Body:
    lax = library.lax

    def body(w, x):
        def step(carry, row):
            return f(lax.mul(w, row), carry), total(library, carry)

        last, totals = lax.scan(step, x, ROWS)
        return lax.add(last, lax.mul(total(library, totals), 0.1))

    return body


def in_cond(library: Library, f: Body) -> Body:
    lax = library.lax

    def body(w, x):
        positive = lax.gt(total(library, x), 0.0)
        return lax.cond(positive, lambda z: f(w, z), lambda z: lax.mul(lax.cos(z), w), x)

    return body


def in_while(library: Library, f: Body) -> Body:
    """The number of steps depends on w and x: 2 or 3 of them on the points of the tests."""
    lax = library.lax

    def body(w, x):
        def runs(carry):
            number, value = carry
            progress = lax.convert_element_type(number, FLOAT)
            return lax.lt(lax.add(progress, lax.mul(total(library, value), 0.4)), 2.0)

        def step(carry):
            number, value = carry
            return lax.add(number, 1), f(w, value)

        return lax.while_loop(runs, step, (0, x))[1]

    return body


def in_fori(library: Library, f: Body) -> Body:
    lax = library.lax

    def body(w, x):
        def step(i, value):
            return lax.add(f(w, value), lax.mul(lax.convert_element_type(i, FLOAT), w))

        return lax.fori_loop(1, 4, step, x)

    return body


def in_jit(library: Library, f: Body) -> Body:
    """The callee is called twice, so that it stays one."""
    lax = library.lax

    def callee(w, x):
        return f(w, x)

    called = library.jit(callee)
    return lambda w, x: lax.add(called(w, x), called(x, w))


def in_checkpoint(library: Library, f: Body) -> Body:
    return library.checkpoint(f)


def in_custom_jvp(library: Library, f: Body) -> Body:
    """A rule that is right, by the function itself: the derivative of f(w, sin(x)) * w."""
    lax = library.lax

    @library.custom_jvp
    def scaled(x, w):
        return lax.mul(lax.sin(x), w)

    @scaled.defjvp
    def scaled_jvp(primals, tangents):
        (x, w), (x_dot, w_dot) = primals, tangents
        moved = lax.mul(lax.mul(lax.cos(x), x_dot), w)
        return scaled(x, w), lax.add(moved, lax.mul(lax.sin(x), w_dot))

    return lambda w, x: scaled(f(w, x), w)


def in_custom_vjp(library: Library, f: Body) -> Body:
    lax = library.lax

    @library.custom_vjp
    def scaled(x, w):
        return lax.mul(lax.sin(x), w)

    def forward(x, w):
        return scaled(x, w), (x, w)

    def backward(kept, bar):
        x, w = kept
        return lax.mul(lax.mul(bar, w), lax.cos(x)), lax.mul(bar, lax.sin(x))

    scaled.defvjp(forward, backward)
    return lambda w, x: scaled(f(w, x), w)


def in_switch(library: Library, f: Body) -> Body:
    lax = library.lax

    def body(w, x):
        which = lax.convert_element_type(lax.mul(total(library, x), 2.0), INTEGER)
        branches = [lambda z: lax.mul(lax.cos(z), w), lambda z: lax.mul(z, x), lambda z: f(w, z)]
        return lax.switch(which, branches, x)

    return body


def in_map(library: Library, f: Body) -> Body:
    lax = library.lax

    def body(w, x):
        totals = lax.map(lambda row: total(library, f(lax.mul(w, row), x)), ROWS)
        weighted = lax.dot_general(totals, ROWS, (((0,), (0,)), ((), ())))
        return lax.add(x, lax.mul(lax.mul(weighted, 0.1), w))

    return body


def in_vmap(library: Library, f: Body) -> Body:
    lax = library.lax

    def body(w, x):
        each = library.vmap(lambda row: f(lax.mul(w, row), x))(ROWS)
        return lax.dot_general(ROWS, each, (((0,), (0,)), ((), ())))

    return body


def in_associative_scan(library: Library, f: Body) -> Body:
    """The function that joins two elements is not associative: the order is that of JAX."""
    lax = library.lax

    def body(w, x):
        rows = library.vmap(lambda row: lax.add(lax.mul(w, row), x))(ROWS)
        joined = lax.associative_scan(library.vmap(f), rows)
        return lax.dot_general(ROWS, joined, (((0,), (0,)), ((), ())))

    return body


def in_counted_loop(library: Library, f: Body) -> Body:
    """The number of steps depends on x."""
    lax = library.lax

    def body(w, x):
        progress = lax.mul(lax.tanh(total(library, x)), 1.5)
        stop = lax.convert_element_type(lax.add(progress, 2.5), INTEGER)
        return lax.fori_loop(0, stop, lambda i, value: lax.add(f(w, value), w), x)

    return body


def in_both_rules(library: Library, f: Body) -> Body:
    lax = library.lax

    @library.custom_vjp
    def scaled(x, w):
        return lax.mul(lax.sin(x), w)

    def forward(x, w):
        return scaled(x, w), (x, w)

    def backward(kept, bar):
        x, w = kept
        return lax.mul(lax.mul(bar, w), lax.cos(x)), lax.mul(bar, lax.sin(x))

    def scaled_jvp(primals, tangents):
        (x, w), (x_dot, w_dot) = primals, tangents
        moved = lax.mul(lax.mul(lax.cos(x), x_dot), w)
        return scaled(x, w), lax.add(moved, lax.mul(lax.sin(x), w_dot))

    scaled.defvjp(forward, backward)
    scaled.defjvp(scaled_jvp)
    return lambda w, x: scaled(f(w, x), w)


def in_linear_solve(library: Library, f: Body) -> Body:
    lax = library.lax

    def body(w, x):
        diagonal = lax.add(lax.mul(w, w), 1.0)
        one = lax.add(lax.mul(w, 0.0), 1.0)
        return lax.custom_linear_solve(
            lambda v: lax.mul(diagonal, v),
            f(w, x),
            lambda matvec, b: lax.div(b, matvec(one)),
            symmetric=True,
        )

    return body


def in_root(library: Library, f: Body) -> Body:
    """The y with y + 0.3 * sin(y) = f(w, x), by a fixed-point iteration."""
    lax = library.lax

    def body(w, x):
        goal = f(w, x)
        one = lax.add(lax.mul(w, 0.0), 1.0)
        return lax.custom_root(
            lambda y: lax.sub(lax.add(y, lax.mul(lax.sin(y), 0.3)), goal),
            lax.mul(w, 0.0),
            lambda g, guess: lax.fori_loop(0, 60, lambda i, y: lax.sub(y, g(y)), guess),
            lambda g, y: lax.div(y, g(one)),
        )

    return body


Wrapper = Callable[[Library, Body], Body]

WRAPPERS: Mapping[str, Wrapper] = {
    "scan": in_scan,
    "cond": in_cond,
    "while": in_while,
    "fori": in_fori,
    "jit": in_jit,
    "checkpoint": in_checkpoint,
    "custom_jvp": in_custom_jvp,
    "custom_vjp": in_custom_vjp,
}

PROGRAMS: Mapping[str, Callable[[Library], Body]] = {
    "straight": straight,
    **{
        outer: lambda library, wrap=wrap: wrap(library, straight(library))
        for outer, wrap in WRAPPERS.items()
    },
    **{
        f"{outer}({inner})": lambda library, wrap=wrap, wrap_inner=wrap_inner: wrap(
            library, wrap_inner(library, straight(library))
        )
        for outer, wrap in WRAPPERS.items()
        for inner, wrap_inner in WRAPPERS.items()
    },
}

FURTHER_WRAPPERS: Mapping[str, Wrapper] = {
    "switch": in_switch,
    "map": in_map,
    "vmap": in_vmap,
    "associative_scan": in_associative_scan,
    "counted_loop": in_counted_loop,
    "both_rules": in_both_rules,
    "linear_solve": in_linear_solve,
    "root": in_root,
}

FURTHER_PROGRAMS: Mapping[str, Callable[[Library], Body]] = {
    **{
        outer: lambda library, wrap=wrap: wrap(library, straight(library))
        for outer, wrap in FURTHER_WRAPPERS.items()
    },
    **{
        f"{outer}({inner})": lambda library, wrap=wrap, wrap_inner=wrap_inner: wrap(
            library, wrap_inner(library, straight(library))
        )
        for outer, wrap in {**WRAPPERS, **FURTHER_WRAPPERS}.items()
        for inner, wrap_inner in {**WRAPPERS, **FURTHER_WRAPPERS}.items()
        if outer in FURTHER_WRAPPERS or inner in FURTHER_WRAPPERS
    },
}


def loss(library: Library, body: Body) -> Callable[[Any, Any], Any]:
    """A number made of a body's result."""
    return lambda w, x: total(library, library.lax.mul(body(w, x), WEIGHTS))


def traced(name: str) -> ClosedJaxpr:
    """The jaxpr of the loss of a program."""
    fun = loss(S2S, PROGRAMS[name](S2S))
    return make(lambda w, x: [fun(w, x)], [f64(3), f64(3)], ["w", "x"])


POINTS = (
    (np.array([0.9, 1.1, -0.7]), np.array([0.5, 0.4, 0.3])),
    (np.array([0.9, 1.1, -0.7]), np.array([-0.5, 0.1, 0.2])),
)
"""Where the laws are tried: the second one takes the other branch."""
