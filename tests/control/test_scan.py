"""scan: what derivatives keep, batch and drop, by the equations; and its own text."""

from typing import Any

import jax
import numpy as np
import pytest

import s2s
from s2s import lax
from s2s.control.scan import Scan
from s2s.ir.check import check
from s2s.ir.dims import dimension
from s2s.ir.jaxpr import ClosedJaxpr, JaxprEqn
from s2s.passes.dce import dce
from s2s.passes.jvp import jvp
from s2s.passes.linearize import vjp
from s2s.passes.partial_eval import partial_eval
from s2s.passes.pipeline import optimise
from s2s.passes.vmap import vmap
from s2s.trace import evaluate, make
from tests.control.derivatives import check_derivatives, same
from tests.passes.programs import f64, program

jax.config.update("jax_enable_x64", True)

N, D = dimension("n"), dimension("d")


def scans(closed: ClosedJaxpr) -> list[JaxprEqn]:
    return [eqn for eqn in closed.eqns if isinstance(eqn.primitive, Scan)]


def stacked(closed: ClosedJaxpr) -> list[Any]:
    """The types of what the first scan stacks."""
    (first, *_) = scans(closed)
    return [var.aval for var in first.outvars[first.primitive.num_carry :]]


def backward(fun: Any, *avals: Any) -> ClosedJaxpr:
    closed = program(fun, *avals)
    result = optimise(vjp(closed, [True] * len(avals), [True] * len(closed.out_avals))[0])
    check(result.jaxpr)
    return result


# -- what is kept ----------------------------------------------------------------------------------


def test_one_history_of_the_carry_is_kept() -> None:
    """tanh of the new carry is what the way back needs, and it is the carry."""

    def network(w: Any, b: Any, xs: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            return lax.tanh(lax.add(lax.add(w @ h, x), b)), None

        return lax.scan(step, lax.mul(b, 0.0), xs)[0]

    closed = backward(network, f64(D, D), f64(D), f64(N, D))
    assert stacked(closed) == [f64(N, D)]


def test_what_is_cheap_is_computed_again() -> None:
    """sin, cos and exp of the carry are as far as its history, and not stacked."""

    def fun(a: Any, xs: Any) -> Any:
        def step(c: Any, x: Any) -> Any:
            return lax.mul(lax.sin(lax.exp(lax.mul(c, a))), lax.cos(x)), None

        return lax.scan(step, a, xs)[0]

    assert stacked(backward(fun, f64(), f64(N))) == [f64(N)]


def test_products_are_kept_rather_than_computed_again() -> None:
    """A product of matrices is as large as the carry: it is kept; the carry is for the weights."""

    def fun(w: Any, xs: Any) -> Any:
        def step(c: Any, x: Any) -> Any:
            return lax.add(lax.sin(w @ c), lax.mul(x, c)), None

        return lax.scan(step, xs[0], xs)[0]

    assert stacked(backward(fun, f64(D, D), f64(N, D))) == [f64(N, D), f64(N, D)]


def test_what_does_not_change_is_not_stacked() -> None:
    """exp(w) of the loop's invariants stands in front of it, once."""

    def fun(w: Any, x: Any, xs: Any) -> Any:
        def step(c: Any, x: Any) -> Any:
            return lax.mul(lax.add(c, x), lax.exp(lax.sin(w))), None

        return lax.scan(step, x, xs)[0]

    closed = backward(fun, f64(D), f64(D), f64(N, D))
    for eqn in scans(closed):
        inside = [inner.primitive.name for inner in eqn.primitive.jaxpr.eqns]
        assert "exp" not in inside and "sin" not in inside
    assert stacked(closed) == [f64(N, D)]  # the carry


def test_a_linear_loop_keeps_nothing() -> None:
    def fun(c: Any, xs: Any) -> Any:
        return lax.scan(lambda c, x: (lax.add(lax.mul(c, 0.5), x), None), c, xs)[0]

    closed = backward(fun, f64(D), f64(N, D))
    assert stacked(closed) == []


def test_nothing_but_known_parts_runs_forward() -> None:
    """The parts of a carry that no unknown value reaches are known; of the others, nothing is."""

    def fun(a: Any, b: Any, xs: Any) -> list[Any]:
        def step(carry: Any, x: Any) -> Any:
            c, d, e = carry
            return (lax.mul(c, x), lax.add(d, lax.mul(c, 2.0)), lax.mul(e, lax.sin(x))), None

        return list(lax.scan(step, (a, a, b), xs)[0])

    closed = make(fun, [f64(), f64(), f64(N)])
    parts = partial_eval(closed, [True, False, False])
    (known,) = scans(parts.known)
    (unknown,) = scans(parts.unknown)
    assert known.primitive.num_carry == 1 and unknown.primitive.num_carry == 2
    assert parts.out_unknown == [True, True, False]


# -- fixpoints -------------------------------------------------------------------------------------


def chained(a: Any, xs: Any) -> list[Any]:
    """A carry of three of which each reaches the next one a step later; a fourth is by itself."""

    def step(carry: Any, x: Any) -> Any:
        c, d, e, f = carry
        return (c, lax.add(d, c), lax.sin(lax.add(e, d)), lax.mul(f, x)), None

    return list(lax.scan(step, (a, 0.0, 0.5, 2.0), xs)[0])


def test_tangents_are_carried_where_they_can_be() -> None:
    closed = make(chained, [f64(), f64(N)])
    moved, on = jvp(closed, [True, False])
    assert list(on) == [True, True, True, False]
    (scan,) = scans(optimise(moved))
    # c does not change, and its tangent neither: both are constants of the loop.
    assert scan.primitive.num_carry == 3 + 2 and scan.primitive.num_consts == 2


def test_examples_are_carried_where_they_can_be() -> None:
    closed = make(chained, [f64(), f64(2)])
    batch, _ = vmap(closed, 4, [0, None], [0, 0, 0, 0])
    (scan,) = scans(batch)
    carried = scan.primitive.jaxpr.in_avals[scan.primitive.num_consts :][:4]
    assert [a.ndim for a in carried] == [1, 1, 1, 0]
    a, xs = np.arange(4.0), np.array([0.3, 0.9])
    rows = [evaluate(closed, one, xs) for one in a]
    same(evaluate(batch, a, xs), [np.stack(column) for column in zip(*rows, strict=True)])


def test_what_nobody_reads_is_dropped() -> None:
    def fun(a: Any, xs: Any) -> list[Any]:
        def step(carry: Any, x: Any) -> Any:
            c, unused, for_unused = carry
            new = lax.mul(c, x)
            return (new, lax.add(unused, for_unused), lax.exp(for_unused)), (lax.sin(c), unused)

        (c, unused, _), (sines, more) = lax.scan(step, (a, a, a), xs)
        return [c, unused, sines, more]

    closed = make(fun, [f64(), f64(N)])
    (scan,) = scans(dce(closed, [True, False, False, False]))
    assert len(scan.invars) == 2 and len(scan.outvars) == 1 and len(scan.primitive.jaxpr.eqns) == 1
    (scan,) = scans(dce(closed, [False, False, True, False]))
    assert scan.primitive.num_carry == 1 and len(scan.outvars) == 2
    (scan,) = scans(dce(closed, [False, True, False, False]))
    assert scan.primitive.num_carry == 2
    assert dce(closed, [False] * 4).eqns == []


# -- transposes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("reverse", [False, True])
def test_linear_transpose(reverse: bool) -> None:
    """As JAX transposes it: linear in the carry and the xs, with factors that are not."""
    factors = np.array([0.5, -2.0, 1.5])

    def fun(lax: Any) -> Any:
        def step(c: Any, row: Any) -> Any:
            x, factor = row
            new = c * factor + x
            return new, new * 2.0

        return lambda c, xs: lax.scan(step, c, (xs, factors), reverse=reverse)

    c, xs = 1.0, np.array([1.0, 2.0, 3.0])
    cts = (np.float64(0.7), np.array([0.1, -0.3, 0.9]))
    wanted = jax.linear_transpose(fun(jax.lax), c, xs)(cts)
    same(s2s.linear_transpose(fun(lax), c, xs)(cts), wanted)


def test_linear_in_a_part_of_the_carry() -> None:
    """A counter beside what is linear, which JAX transposes only by linearising."""

    def fun(c: Any, xs: Any) -> Any:
        def step(carry: Any, x: Any) -> Any:
            number, value = carry
            return (number + 1, value * 0.5 + x * number), value

        (_, last), values = lax.scan(step, (1, c), xs)
        return last, values

    c, xs = 1.0, np.array([1.0, 2.0, 3.0])
    cts = (np.float64(0.7), np.array([0.1, -0.3, 0.9]))
    bars = s2s.linear_transpose(fun, c, xs)(cts)
    same(bars, s2s.vjp(fun, c, xs)[1](cts))


# -- shapes of loops -------------------------------------------------------------------------------


@pytest.mark.parametrize("unroll", [1, 2, 3, 7])
@pytest.mark.parametrize("reverse", [False, True])
def test_reversed_and_unrolled(unroll: int, reverse: bool) -> None:
    def fun(c: Any, xs: Any) -> Any:
        return lax.scan(lambda c, x: (np.sin(c) * x, c * x), c, xs, reverse=reverse, unroll=unroll)

    check_derivatives(fun, 0.5, np.array([0.9, 1.1, 0.7, -0.3, 1.2]))


def test_axes_other_than_the_first_are_batched() -> None:
    def fun(c: Any, xs: Any) -> Any:
        return lax.scan(lambda c, x: (c * x, c + x), c, xs)

    random = np.random.default_rng(0)
    c, xs = random.standard_normal((2, 5)), random.standard_normal((3, 5, 2))
    found = s2s.vmap(fun, (1, 1), (0, 1))(c, xs)
    wanted = jax.vmap(
        lambda c, xs: jax.lax.scan(lambda c, x: (c * x, c + x), c, xs), (1, 1), (0, 1)
    )(c, xs)
    same(found, wanted)


def test_a_body_without_equations() -> None:
    def fun(c: Any, xs: Any) -> Any:
        return lax.scan(lambda c, x: (x, c), c, xs)

    check_derivatives(fun, 0.5, np.array([0.9, 1.1, 0.7]))


def test_the_body_keeps_its_lines_and_names() -> None:
    closed = s2s.make_jaxpr(
        lambda start, rows: lax.scan(lambda total, row: (total + row, total), start, rows)
    )(1.0, np.ones(3))
    (scan,) = scans(closed)
    body = scan.primitive.jaxpr
    assert [var.name for var in body.jaxpr.invars] == ["total", "row"]
    (eqn,) = body.eqns
    assert eqn.source is not None and "total + row" in eqn.source.text
