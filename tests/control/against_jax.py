"""Functions written once for s2s and for JAX, and compared, also as they are generated."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import s2s
from s2s import lax
from tests.control.derivatives import generated, same

Library = Any

_NAMES = (
    "jit",
    "grad",
    "vmap",
    "jvp",
    "vjp",
    "hessian",
    "jacfwd",
    "checkpoint",
    "custom_jvp",
    "custom_vjp",
    "closure_convert",
    "linear_transpose",
)

S2S = SimpleNamespace(
    np=np, lax=lax, SymbolicZero=s2s.SymbolicZero, **{name: getattr(s2s, name) for name in _NAMES}
)
JAX = SimpleNamespace(
    np=jnp,
    lax=jax.lax,
    SymbolicZero=jax.custom_derivatives.SymbolicZero,
    **{name: getattr(jax, name) for name in _NAMES},
)


def check_against_jax(case: Callable[[Library], Callable[..., Any]], *args: Any) -> None:
    """Check that what `case` makes of s2s, and the module generated for it, compute what it makes
    of JAX computes."""
    wanted = case(JAX)(*args)
    fun = case(S2S)
    found = fun(*args)
    same(found, wanted)
    same(generated(fun, *args)(*args), found)
