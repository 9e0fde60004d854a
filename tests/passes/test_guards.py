"""Which extrema are constants to a derivative, and that the derivatives are the function's."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import s2s
from s2s.ir.check import check
from s2s.ir.jaxpr import ClosedJaxpr
from s2s.passes.guards import stop_guards
from s2s.trace import evaluate

X = np.random.default_rng(0).normal(size=(4, 3))


def softmax(x, np=np):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def log_sum_exp(x, np=np):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


def log_softmax(x, np=np):
    shifted = x - np.max(x, axis=1)[:, None]
    return shifted - np.log(np.sum(np.exp(shifted), axis=1))[:, None]


def columns(x, np=np):
    e = np.exp(x.T - np.max(x, axis=0)[:, None]).T
    return e / np.sqrt(np.sum(e * e, axis=0))


def attention(x, np=np):
    return softmax(x @ x.T, np) @ x


def unnormalised_attention(x, np=np):
    scores = x @ x.T
    e = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    return (e @ x) / np.sum(e, axis=1, keepdims=True)


def attention_twice(x, np=np):
    return attention(attention(x, np), np)


def log_add_exp(x, np=np):
    a, b = x[0], x[1]
    m = np.maximum(a, b)
    return m + np.log(np.exp(a - m) + np.exp(b - m))


def smallest(x, np=np):
    return np.log(np.sum(np.exp(-2.0 * (x - np.min(x))))) / -2.0 + np.min(x)


def tempered(x, np=np):
    e = np.exp((x - np.max(x)) / 0.5)
    return e**2 / np.sum(e) ** 2


GUARDED = [
    softmax,
    log_sum_exp,
    log_softmax,
    columns,
    attention,
    unnormalised_attention,
    attention_twice,
    log_add_exp,
    smallest,
    tempered,
]


def one_returned(x, np=np):
    m = np.max(x)
    return m, np.exp(x - m)


def unnormalised(x, np=np):
    return np.exp(x - np.max(x))


def normalised_over_the_other_axis(x, np=np):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e / np.sum(e, axis=0)


def added_twice(x, np=np):
    m = np.max(x)
    return 2.0 * m + np.log(np.sum(np.exp(x - m)))


def scaled(x, np=np):
    return (x - np.min(x)) / (np.max(x) - np.min(x))


def softened(x, np=np):
    e = np.exp(x - np.max(x))
    return e / (1.0 + np.sum(e))


def compared(x, np=np):
    m = np.max(x)
    e = np.exp(x - m)
    return np.where(x == m, 0.0, 1.0) * e / np.sum(e)


def of_another_power(x, np=np):
    e = np.exp(x - np.max(x))
    return e / np.sum(e * e)


def summed_over(x, np=np):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return (e.T @ x) / np.sum(e)


NOT_GUARDED = [
    one_returned,
    unnormalised,
    normalised_over_the_other_axis,
    added_twice,
    scaled,
    softened,
    compared,
    of_another_power,
    summed_over,
]


def stops(closed: ClosedJaxpr) -> int:
    return sum(eqn.primitive.name == "stop_gradient" for eqn in closed.eqns)


@pytest.mark.parametrize("fun", GUARDED)
def test_an_extremum_that_cancels_is_a_constant(fun):
    closed = s2s.make_jaxpr(fun)(X)
    stopped = stop_guards(closed)
    check(stopped.jaxpr)
    assert stops(stopped) == (2 if fun is attention_twice else 1)
    np.testing.assert_array_equal(evaluate(stopped, X)[0], fun(X))


@pytest.mark.parametrize("fun", NOT_GUARDED)
def test_any_other_is_left_alone(fun):
    closed = s2s.make_jaxpr(fun)(X)
    assert stop_guards(closed) is closed


@pytest.mark.parametrize("fun", [*GUARDED, *NOT_GUARDED])
def test_derivatives_are_those_of_the_function(fun):
    def loss(x, np=np):
        value = fun(x, np)
        return np.sum(np.sin(3.0 * (value[1] if isinstance(value, tuple) else value)))

    def expected(x):
        return loss(x, jnp)

    gradient, hessian = s2s.grad(loss)(X), s2s.hessian(loss)(X)
    np.testing.assert_allclose(gradient, jax.grad(expected)(X), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(hessian, jax.hessian(expected)(X), rtol=1e-9, atol=1e-11)


def test_the_gradient_of_a_softmax_has_no_trace_of_the_maximum():
    text = s2s.source(s2s.grad(lambda x: np.sum(softmax(x) ** 2)), X)
    code = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    assert str(code).count("np.max") == 1 and "==" not in text
