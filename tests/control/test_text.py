"""Control flow prints as JAX prints it, and is read back."""

from __future__ import annotations

from types import SimpleNamespace

import jax
import numpy as np
import pytest

import s2s
from s2s import lax
from s2s.ir.equality import alpha_equivalent
from s2s.trace import evaluate, make
from tests.control.programs import FURTHER_PROGRAMS, PROGRAMS, S2S, WRAPPERS, loss
from tests.jax_jaxprs import compares_with_jax, jax_text
from tests.passes.programs import f64

JAX = SimpleNamespace(
    lax=jax.lax,
    jit=jax.jit,
    checkpoint=jax.checkpoint,
    custom_jvp=jax.custom_jvp,
    custom_vjp=jax.custom_vjp,
)
X = np.ones(3)


ALIKE = {*WRAPPERS, "switch", "map", "counted_loop"}
"""What prints in s2s as in JAX, also inside of one another."""

COMPARED = {
    **PROGRAMS,
    **{
        name: program
        for name, program in FURTHER_PROGRAMS.items()
        if set(name.removesuffix(")").split("(")) <= ALIKE
    },
}
# JAX traces the condition of all such loops once, and so prints it in front.
del COMPARED["counted_loop(counted_loop)"]


@compares_with_jax
@pytest.mark.parametrize("name", COMPARED)
def test_programs_print_as_in_jax(name: str) -> None:
    fun = loss(S2S, COMPARED[name](S2S))
    found = make(lambda w, x: [fun(w, x)], [f64(3), f64(3)])
    assert str(found) == jax_text(loss(JAX, COMPARED[name](JAX)), X, X)


READ = {**PROGRAMS, **{name: p for name, p in FURTHER_PROGRAMS.items() if "(" not in name}}


@pytest.mark.parametrize("name", READ)
def test_programs_and_their_derivatives_are_read_back(name: str) -> None:
    fun = loss(S2S, READ[name](S2S))
    forward = lambda w, x: s2s.jvp(lambda x: fun(w, x), (x,), (w,))  # noqa: E731
    batched = s2s.vmap(fun, in_axes=(None, 0))
    closed = [
        s2s.make_jaxpr(fun)(X, X),
        s2s.make_jaxpr(s2s.grad(fun, argnums=(0, 1)))(X, X),
        s2s.make_jaxpr(forward)(X, X),
        s2s.make_jaxpr(batched)(X, np.ones((2, 3))),
    ]
    for jaxpr in [c.jaxpr for c in closed]:
        text = str(jaxpr)
        read = s2s.parse_jaxpr(text)
        assert alpha_equivalent(jaxpr, read)
        assert str(read) == text


def test_an_array_is_one_constant_in_all_bodies_until_it_changes() -> None:
    weights = np.array([1.0, 2.0, 3.0])

    def step(carry, _):
        return lax.mul(carry, weights), None

    def fun(x):
        first = lax.cond(True, lambda: lax.mul(x, weights), lambda: x)
        second = lax.scan(step, first, None, 2)[0]
        weights[0] = 5.0
        return [lax.scan(step, second, None, 2)[0]]

    closed = make(fun, [f64(3)])
    assert [const.tolist() for const in closed.consts] == [[1.0, 2.0, 3.0], [5.0, 2.0, 3.0]]
    np.testing.assert_array_equal(evaluate(closed, np.ones(3))[0], [25.0, 32.0, 243.0])
