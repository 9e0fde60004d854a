"""cond: what its derivatives keep, compute and skip, and batches of predicates."""

from typing import Any

import numpy as np
import pytest

import s2s
from s2s import lax
from s2s.ir.jaxpr import ClosedJaxpr, JaxprEqn
from s2s.passes.dce import dce
from s2s.passes.linearize import vjp
from s2s.passes.partial_eval import partial_eval
from s2s.passes.pipeline import optimise
from s2s.trace import evaluate, make
from tests.control.derivatives import generated, same
from tests.passes.programs import f64, program

BOOL = s2s.ShapedArray((), np.dtype(np.bool_))


def equations(closed: ClosedJaxpr, name: str) -> list[JaxprEqn]:
    return [eqn for eqn in closed.eqns if eqn.primitive.name == name]


def names(closed: ClosedJaxpr) -> list[str]:
    return [eqn.primitive.name for eqn in closed.eqns]


def by_sign(x: Any) -> Any:
    return lax.cond(x > 0.0, lambda x: np.sqrt(x) * np.log(x), lambda x: x * 0.5, x)


XS = np.array([-1.0, 0.0, 4.0, 0.25])


@pytest.mark.parametrize("text", [False, True], ids=["evaluated", "generated"])
def test_the_branch_not_taken_puts_no_nan_into_derivatives(text: bool) -> None:
    """The derivatives of the root and the logarithm are NaN or infinite where it is not taken."""
    gradient = s2s.grad(lambda xs: np.sum(s2s.vmap(by_sign)(xs)))
    hessian = s2s.jacfwd(gradient)
    tangents = s2s.jacfwd(lambda xs: s2s.vmap(by_sign)(xs))
    each = s2s.vmap(s2s.grad(by_sign))
    funs = [generated(f, XS) if text else f for f in (gradient, each, hessian, tangents)]
    x = XS[2:]
    slopes = np.concatenate([[0.5, 0.5], (0.5 * np.log(x) + 1.0) / np.sqrt(x)])
    bends = np.concatenate([[0.0, 0.0], -0.25 * np.log(x) / x**1.5])
    with np.errstate(invalid="ignore", divide="ignore"):
        same(funs[0](XS), slopes)
        same(funs[1](XS), slopes)
        same(funs[2](XS), np.diag(bends))
        same(funs[3](XS), np.diag(slopes))


def test_captured_values_are_guarded_as_well() -> None:
    def fun(w: Any, x: Any) -> Any:
        return lax.cond(x > 0.0, lambda: np.sqrt(x) / w, lambda: x)

    gradient = s2s.grad(lambda w, xs: np.sum(s2s.vmap(lambda x: fun(w, x))(xs)), argnums=(0, 1))
    w, xs = 2.0, np.array([0.0, 4.0])
    with np.errstate(invalid="ignore", divide="ignore"):
        same(gradient(w, xs), (-0.5, np.array([1.0, 0.125])))


def test_a_loop_in_the_branch_not_taken_does_not_run() -> None:
    """It would never end there."""

    def halvings(x: Any) -> Any:

        def loop(x: Any) -> Any:
            def step(carry: Any) -> Any:
                return carry[0] / 2, carry[1] * carry[0]

            return lax.while_loop(lambda carry: carry[0] > 1.0, step, (x, x))[1]

        return lax.cond(x > 0.0, loop, lambda x: loop(np.inf * x + np.inf), x)

    xs = np.array([8.0, 3.0])
    wanted = np.array([float(halvings(x)) for x in xs])
    same(s2s.vmap(halvings)(xs), wanted)
    same(generated(s2s.vmap(halvings), xs)(xs), wanted)


def test_only_the_branch_taken_computes_what_is_kept() -> None:
    """Both branches give the way back what it needs, in the same place if of the same type."""

    def fun(flag: Any, x: Any) -> Any:
        return lax.cond(
            flag, lambda x: lax.exp(lax.exp(x)), lambda x: lax.sin(lax.tanh(lax.mul(x, 2.0))), x
        )

    closed = program(fun, BOOL, f64(3))
    backward = optimise(vjp(closed, [False, True], [True])[0])
    first, second = equations(backward, "cond")
    # The first keeps its value and exp(x), the other tanh(2 x); its value it does not need.
    assert len(first.outvars) == 2
    assert first.invars[0] == second.invars[0]
    for flag in (True, False):
        x = np.array([0.1, -0.3, 0.5])
        value, bar = evaluate(backward, flag, x, np.ones(3))
        if flag:
            wanted = np.exp(np.exp(x)) * np.exp(x)
        else:
            wanted = np.cos(np.tanh(2 * x)) * (1 - np.tanh(2 * x) ** 2) * 2
        same((value, bar), (fun(flag, x), wanted))


def test_an_unknown_predicate_leaves_all_unknown() -> None:
    closed = program(lambda flag, x: lax.cond(flag, lax.sin, lax.cos, x), BOOL, f64())
    parts = partial_eval(closed, [True, False])
    assert names(parts.known) == []


def test_operands_that_one_branch_reads_are_kept() -> None:
    def fun(flag: Any, x: Any, y: Any, z: Any) -> list[Any]:
        return list(lax.cond(flag, lambda: (x, lax.sin(y)), lambda: (lax.exp(z), lax.cos(x))))

    closed = make(fun, [BOOL, f64(), f64(), f64()])
    (first,) = equations(dce(closed, [True, False]), "cond")
    assert len(first.outvars) == 1 and len(first.invars) == 3  # the predicate, x and z
    (both,) = equations(dce(closed, [True, True]), "cond")
    assert len(both.outvars) == 2 and len(both.invars) == 4
    assert dce(closed, [False, False]).eqns == []


def test_a_known_predicate_leaves_no_branch() -> None:
    one = program(lambda x: lax.cond(True, lax.sin, lax.cos, x), f64())
    assert names(one) == ["cond"] and names(optimise(one)) == ["sin"]
    other = program(lambda x: lax.switch(7, [lax.sin, lax.cos], x), f64())
    assert names(optimise(other)) == ["cos"]


def test_results_that_are_no_tangents_have_no_cotangents() -> None:
    """Of a pair, only the one that depends on the argument has a tangent."""

    def fun(flag: Any, x: Any, y: Any) -> list[Any]:
        return list(lax.cond(flag, lambda: (lax.sin(x), y), lambda: (x, lax.exp(y))))

    closed = make(fun, [BOOL, f64(), f64()])
    backward = optimise(vjp(closed, [False, True, False], [True, True])[0])
    for branch in equations(backward, "cond")[-1].primitive.branches:
        assert "exp" not in names(branch)
