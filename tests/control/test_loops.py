"""Loops as users write them: what they compute and refuse."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import s2s
from s2s import lax
from s2s.ir.dims import dimension
from tests.control.derivatives import check_derivatives, leaves, same
from tests.passes.programs import f64

jax.config.update("jax_enable_x64", True)

X = np.array([0.5, -1.0, 2.0])
ROWS = np.array([[0.3, 0.7], [-0.2, 0.4], [0.9, -0.5]])


def sums(library: Any) -> Any:
    return library.scan(lambda c, x: (c + x, c * x), 0.0, X)


def sums_backwards(library: Any) -> Any:
    return library.scan(lambda c, x: (c + x, c * x), 0.0, X, reverse=True)


def unrolled(library: Any) -> Any:
    return library.scan(lambda c, x: (c * 0.5 + x, {"c": c}), 1.0, X, unroll=2)


def containers(library: Any) -> Any:
    def step(carry, row):
        number, state = carry
        return (number + 1, {"a": state["a"] * row[0], "b": state["a"]}), (row[1], None, number)

    return library.scan(step, (0, {"a": 1.0, "b": 0.0}), (X, ROWS))


def no_rows(library: Any) -> Any:
    return library.scan(lambda c, _: (c * 1.5, c), 2.0, None, length=4)


def no_steps(library: Any) -> Any:
    return library.scan(lambda c, x: (c + x, (c, x)), 1.0, np.zeros((0,)))


def a_scalar_that_becomes_real(library: Any) -> Any:
    return library.scan(lambda c, x: (c + x, c), 0, X)


def a_counter(library: Any) -> Any:
    return library.scan(lambda c, x: ((c[0] + 1, c[1] + c[0] * x), c[0]), (0, 0.0), X)


def mapped(library: Any) -> Any:
    return library.map(lambda row: (row[0] * row[1], {"row": row}), ROWS)


def counted(library: Any) -> Any:
    return library.fori_loop(2, 5, lambda i, c: c * i, 1)


def counted_to_nowhere(library: Any) -> Any:
    return library.fori_loop(5, 2, lambda i, c: c * i, 1.5)


def counted_to_a_value(library: Any) -> Any:
    return library.fori_loop(np.int64(1), np.int64(4), lambda i, c: c + i * 0.5, 1.0)


def halved(library: Any) -> Any:
    return library.while_loop(lambda c: c[1] > 0.1, lambda c: (c[0] + 1, c[1] * 0.5), (0, 3.0))


def never(library: Any) -> Any:
    return library.while_loop(lambda c: c > 5.0, lambda c: c * 0.5, 3.0)


def a_scalar_that_becomes_real_while(library: Any) -> Any:
    return library.while_loop(lambda c: c < 3, lambda c: c + 0.5, 0)


PROGRAMS = [
    sums,
    sums_backwards,
    unrolled,
    containers,
    no_rows,
    no_steps,
    a_scalar_that_becomes_real,
    a_counter,
    mapped,
    counted,
    counted_to_nowhere,
    counted_to_a_value,
    halved,
    never,
    a_scalar_that_becomes_real_while,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_values_are_jax_s(program: Callable[[Any], Any]) -> None:
    """Traced and not, with the same structure and types."""
    wanted = program(jax.lax)
    eager = program(lax)
    traced = s2s.eval_shape(lambda: program(lax))
    same(eager, wanted)
    jitted = s2s.vmap(lambda _: program(lax))(np.zeros(2))
    for found, shape, rows, value in zip(
        *map(leaves, (eager, traced, jitted, wanted)), strict=True
    ):
        assert (np.shape(found), np.asarray(found).dtype) == (value.shape, value.dtype)
        assert (shape.shape, shape.dtype) == (value.shape, value.dtype)
        np.testing.assert_allclose(rows, np.stack([value, value]), rtol=1e-12)


def scan_of(step: Callable[..., Any], init: Any, xs: Any = X, **options: Any) -> Callable[[], Any]:
    return lambda: lax.scan(step, init, xs, **options)


def while_of(runs: Callable[..., Any], step: Callable[..., Any], init: Any) -> Callable[[], Any]:
    return lambda: lax.while_loop(runs, step, init)


KEEPS = "a value that is carried from one step to the next keeps its type"
STATE = {"a": 1.0, "b": X}

REFUSALS = {
    "element type": (
        scan_of(lambda c, x: ({"a": c["a"], "b": c["b"].astype(int)}, None), STATE),
        f"the body of scan changes the type of carry['b'] from f64[3] to i64[3]; {KEEPS}",
    ),
    "shape": (
        scan_of(lambda c, x: (({"a": c[0]["a"], "b": np.zeros(4)}, 1), None), (STATE, 1)),
        f"the body of scan changes the type of carry[0]['b'] from f64[3] to f64[4]; {KEEPS}",
    ),
    "structure": (
        scan_of(lambda c, x: ((c, c), None), 1.0),
        "the body of scan must return the carried values in the structure in which it gets them: "
        "it gets * and returns (*, *)",
    ),
    "no pair": (
        scan_of(lambda c, x: c, 1.0),
        "the body of scan must return a pair, the next carry and a result y",
    ),
    "lengths": (
        scan_of(lambda c, x: (c, None), 1.0, (X, np.zeros(4))),
        "scan runs over an array of type f64[4], which has 4 rows, but another array has 3",
    ),
    "length": (
        scan_of(lambda c, x: (c, None), 1.0, X, length=4),
        "scan runs over an array of type f64[3], which has 3 rows, but `length` is 4",
    ),
    "no length": (
        scan_of(lambda c, x: (c, None), 1.0, None),
        "scan needs `length` if there are no `xs`",
    ),
    "a number": (
        scan_of(lambda c, x: (c, None), 1.0, 3.0),
        "scan runs over the first axis of arrays, and f64[] has none",
    ),
    "condition": (
        while_of(lambda c: c, lambda c: c + 1, 0.0),
        "the condition of while_loop must return one truth value, not f64[]",
    ),
    "conditions": (
        while_of(lambda c: c > 0, lambda c: c + 1, X),
        "the condition of while_loop must return one truth value, not bool[3]",
    ),
    "shape of a while": (
        while_of(lambda c: c[0] < 3, lambda c: (c[0] + 1, np.zeros(2)), (0, X)),
        f"the body of while_loop changes the type of carry[1] from f64[3] to f64[2]; {KEEPS}",
    ),
    "bounds": (
        lambda: lax.fori_loop(0.0, 3, lambda i, c: c, 1.0),
        "the bounds of fori_loop must be integers, not f64[]",
    ),
}


@pytest.mark.parametrize("refused", REFUSALS)
def test_refusals(refused: str) -> None:
    fun, message = REFUSALS[refused]
    with pytest.raises(TypeError) as caught:
        fun()
    assert str(caught.value) == message


def test_a_named_length_may_be_zero() -> None:
    """One jaxpr for all lengths, whose derivative works for none of the rows as well."""

    def product(a: Any, xs: Any) -> Any:
        last, all_of_them = lax.scan(lambda c, x: (c * x, c), a, xs)
        return last + np.sum(all_of_them)

    n = dimension("n")
    closed = s2s.make_jaxpr(product)(f64(), f64(n))
    (scan,) = [eqn.primitive for eqn in closed.eqns if eqn.primitive.name == "scan"]
    assert scan.parameters()["length"] == n
    for steps in range(4):
        xs = np.linspace(0.5, 1.5, steps)
        check_derivatives(product, 0.7, xs)
    assert s2s.grad(product)(0.7, np.zeros(0)) == 1.0


def test_a_named_number_of_steps() -> None:
    def power(a: Any, xs: Any) -> Any:
        return lax.fori_loop(0, xs.shape[0], lambda i, c: c * a + xs[i], 1.0)

    text = str(s2s.make_jaxpr(power)(f64(), f64(dimension("n"))))
    assert "length=n" in text and "while" not in text
    check_derivatives(power, 0.8, X)


def test_integers_are_carried_beside_what_is_differentiated() -> None:
    def polynomial(a: Any, xs: Any) -> Any:
        def step(carry, x):
            number, total, flag = carry
            return (number + 2, total * a + x * number, ~flag), total

        (number, total, _), all_of_them = lax.scan(step, (1, 0.0, np.True_), xs)
        return total * number + np.sum(all_of_them)

    check_derivatives(polynomial, 0.7, X)


def test_bodies_are_converted() -> None:
    """Python's own control flow works in the functions that map and fori_loop call."""

    def clipped(x: Any) -> Any:
        if x > 0.0:
            return x * x
        return 0.0 * x

    def counted_up(i: Any, total: Any) -> Any:
        if total > 1.0:
            total = total * 0.5
        return total + i

    def fun(xs: Any, n: Any) -> Any:
        return lax.map(clipped, xs), lax.fori_loop(0, 4, counted_up, n * 1.0)

    squares, total = s2s.vmap(fun)(np.stack([X, -X]), np.array([1, 2]))
    same(squares, np.stack([np.maximum(X, 0.0) ** 2, np.maximum(-X, 0.0) ** 2]))
    for found, wanted in zip(total, (1.0, 2.0), strict=True):
        for i in range(4):
            wanted = counted_up(i, wanted)
        assert found == wanted
