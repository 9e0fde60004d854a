"""Loops, branches and calls as text: what they compute, and how they read."""

from typing import Any

import numpy as np
import pytest

from s2s.ir.jaxpr import ClosedJaxpr
from s2s.passes.jvp import jvp
from s2s.passes.linearize import vjp
from s2s.passes.pipeline import optimise
from s2s.passes.vmap import vmap
from s2s.trace import evaluate
from s2s_codegen.numpy_source import compile_jaxpr
from tests.control.programs import POINTS, PROGRAMS, traced
from tests.control.test_nesting import gradient

# The text sums and multiplies in another order than the equations one by one.
CLOSE = {"rtol": 1e-10, "atol": 1e-12}


def transformed(closed: ClosedJaxpr) -> dict[str, tuple[ClosedJaxpr, list[Any]]]:
    """The transformations of a program, each with further arguments."""
    random = np.random.default_rng(3)
    pair = [random.standard_normal(3) for _ in range(2)]
    first = gradient(closed)
    backward, _ = vjp(closed, [True, True], [True])
    again, _ = vjp(first, [True, True], [True, True])
    return {
        "itself": (closed, []),
        "jvp": (jvp(closed, [True, True])[0], pair),
        "vjp": (backward, [1.5]),
        "jvp of the gradient": (jvp(first, [True, True])[0], pair),
        "vjp of the gradient": (again, pair),
    }


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_text_computes_what_the_equations_do(name: str) -> None:
    for closed, rest in transformed(traced(name)).values():
        run = compile_jaxpr(optimise(closed))
        for at in POINTS:
            before = [a.copy() for a in at]
            compare(run(*at, *rest), evaluate(closed, *at, *rest))
            for a, b in zip(at, before, strict=True):
                np.testing.assert_array_equal(a, b, "an argument was written to")


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_text_of_batches(name: str) -> None:
    programs = transformed(traced(name))
    w, x = (np.stack(pair) for pair in zip(*POINTS, strict=True))
    for what in ("itself", "vjp", "vjp of the gradient"):
        closed, rest = programs[what]
        in_axes = [0, 0, *[None] * len(rest)]
        batch, _ = vmap(closed, 2, in_axes, [0] * len(closed.out_avals))
        compare(compile_jaxpr(optimise(batch))(w, x, *rest), evaluate(batch, w, x, *rest))


def compare(found: list[Any], wanted: list[Any]) -> None:
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, **CLOSE)
