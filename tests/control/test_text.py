"""Control flow prints as JAX prints it, and is read back."""

from __future__ import annotations

from types import SimpleNamespace

import jax
import numpy as np
import pytest

import s2s
import s2s.lax
from s2s.ir.equality import alpha_equivalent
from tests.control.programs import PROGRAMS, S2S, loss, traced
from tests.jax_jaxprs import compares_with_jax, jax_text

JAX = SimpleNamespace(
    lax=jax.lax,
    jit=jax.jit,
    checkpoint=jax.checkpoint,
    custom_jvp=jax.custom_jvp,
    custom_vjp=jax.custom_vjp,
)
X = np.ones(3)

CONSTANTS_IN_BODIES = [
    name
    for name in PROGRAMS
    if "scan" in name
    or "while" in name
    # These call `total` in a body.
    or name in ("cond(cond)", "fori(cond)", "jit(cond)", "checkpoint(cond)")
]
"""Programs whose bodies hold arrays of ones, which s2s makes by a broadcast where they are read."""


@compares_with_jax
@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in CONSTANTS_IN_BODIES])
def test_programs_print_as_in_jax(name: str) -> None:
    assert str(traced(name)) == jax_text(loss(JAX, PROGRAMS[name](JAX)), X, X)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_and_their_derivatives_are_read_back(name: str) -> None:
    fun = loss(S2S, PROGRAMS[name](S2S))
    forward = lambda w, x: s2s.jvp(lambda x: fun(w, x), (x,), (w,))  # noqa: E731
    batched = s2s.vmap(fun, in_axes=(None, 0))
    closed = [
        s2s.make_jaxpr(fun)(X, X),
        s2s.make_jaxpr(s2s.grad(fun, argnums=(0, 1)))(X, X),
        s2s.make_jaxpr(forward)(X, X),
        s2s.make_jaxpr(batched)(X, np.ones((2, 3))),
    ]
    for jaxpr in [traced(name).jaxpr, *(c.jaxpr for c in closed)]:
        text = str(jaxpr)
        read = s2s.parse_jaxpr(text)
        assert alpha_equivalent(jaxpr, read)
        assert str(read) == text
