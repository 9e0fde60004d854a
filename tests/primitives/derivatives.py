"""Derivatives of small functions at given points, for the tests of the primitives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from s2s.ir.jaxpr import aval_of
from s2s.passes.jvp import jvp
from s2s.passes.partial_eval import partial_eval
from s2s.passes.transpose import transpose
from s2s.trace import evaluate, make


def tangent(fun: Callable[..., Any], xs: Sequence[Any], ts: Sequence[Any]) -> Any:
    """The tangent of `fun` at xs along ts; None stands for no tangent, and comes out for zero."""
    active = [t is not None for t in ts]
    traced = make(lambda *args: [fun(*args)], [aval_of(x) for x in xs])
    closed, (has_tangent,) = jvp(traced, active)
    if not has_tangent:
        return None
    return evaluate(closed, *xs, *[t for t in ts if t is not None])[1]


def gradient(fun: Callable[..., Any], *xs: Any, ct: Any = 1.0) -> list[Any]:
    """The cotangents of all operands."""
    traced = make(lambda *args: [fun(*args)], [aval_of(x) for x in xs])
    closed, _ = jvp(traced, [True] * len(xs))
    split = partial_eval(closed, [False] * len(xs) + [True] * len(xs))
    residuals = evaluate(split.known, *xs)[1:]
    adjoint = transpose(split.unknown, [False] * len(residuals) + [True] * len(xs))
    return evaluate(adjoint, *residuals, np.asarray(ct, dtype=np.float64)[()])
