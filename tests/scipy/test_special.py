"""Functions of scipy.special under tracing: SciPy's values and types, JAX's derivatives."""

import functools

import jax
import jax.numpy as jnp
import jax.scipy.special
import numpy as np
import pytest
import scipy.special as special

import s2s
from s2s.errors import UserError
from tests.numpy.agreement import same_bits

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(3, 4))
P = RANDOM.uniform(0.05, 0.95, size=(3, 4))

EXACT = [
    (special.erf, X),
    (special.erfc, X),
    (special.erfinv, P),
    (special.expit, X),
    (special.gammaln, P),
    (special.digamma, P),
    (special.psi, P),
]

WRITTEN_OUT = [
    (special.logit, P),
    (special.log_expit, X),
    (special.ndtr, X),
    (special.softmax, X),
    (special.log_softmax, X),
    (special.logsumexp, X),
]


def in_jax(fun):
    """JAX's function, over all axes where there are axes to choose."""
    if fun is special.log_expit:
        return jax.nn.log_sigmoid
    if fun in (special.softmax, special.log_softmax):
        return functools.partial(getattr(jax.nn, fun.__name__), axis=(0, 1))
    return getattr(jax.scipy.special, "digamma" if fun is special.psi else fun.__name__)


@pytest.mark.parametrize(("fun", "x"), EXACT, ids=lambda value: getattr(value, "__name__", ""))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_are_scipys(fun, x, dtype):
    x = x.astype(dtype)
    closed = s2s.make_jaxpr(fun)(x)
    assert closed.out_avals[0].dtype == dtype
    assert same_bits(fun(x), s2s.vmap(fun)(x))


@pytest.mark.parametrize(
    ("fun", "x"), WRITTEN_OUT, ids=lambda value: getattr(value, "__name__", "")
)
def test_values_agree_with_scipys(fun, x):
    found = s2s.vmap(fun)(x)
    expected = np.stack([fun(row) for row in x])
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("fun", "x"), [*EXACT, *WRITTEN_OUT], ids=lambda value: getattr(value, "__name__", "")
)
def test_derivatives_are_jaxs(fun, x):
    theirs = in_jax(fun)
    found = s2s.grad(lambda x: np.sum(np.sin(fun(x))))(x)
    expected = jax.grad(lambda x: jnp.sum(jnp.sin(theirs(x))))(x)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_axes_of_logsumexp(axis, keepdims):
    found = s2s.jit(lambda x: special.logsumexp(x, axis=axis, keepdims=keepdims))(X)
    expected = special.logsumexp(X, axis=axis, keepdims=keepdims)
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_factors_of_logsumexp():
    found = s2s.vmap(lambda x, b: special.logsumexp(x, b=b))(X, P)
    np.testing.assert_allclose(found, special.logsumexp(X, axis=1, b=P), rtol=1e-14)


def test_logsumexp_of_infinities():
    x = np.array([-np.inf, 0.0, -np.inf])
    assert s2s.grad(special.logsumexp)(x).tolist() == [0.0, 1.0, 0.0]
    with np.errstate(divide="ignore", invalid="ignore"):
        assert s2s.value_and_grad(special.logsumexp)(np.full(2, -np.inf))[0] == -np.inf


@pytest.mark.parametrize("fun", [special.xlogy, special.xlog1py])
def test_products_with_logarithms_vanish_at_zero(fun):
    x, y = np.array([0.0, 2.0, 0.0]), np.array([0.0, 3.0, np.nan])
    closed = s2s.vmap(fun)
    assert same_bits(fun(x, y), closed(x, y))
    assert s2s.grad(fun, argnums=(0, 1))(2.0, 3.0)[1] == pytest.approx(
        jax.grad(getattr(jax.scipy.special, fun.__name__), 1)(2.0, 3.0)
    )
    assert np.isfinite(s2s.grad(fun)(0.0, 0.5))


def test_polygamma():
    found = s2s.grad(lambda x: special.polygamma(1, x))(1.5)
    assert found == special.polygamma(2, 1.5)
    with pytest.raises(UserError, match=r"the order of scipy\.special\.polygamma"):
        s2s.make_jaxpr(lambda n, x: special.polygamma(n, x))(np.ones(2), 1.5)


def test_others_are_refused_by_name():
    with pytest.raises(UserError, match=r"scipy\.special\.jv"):
        s2s.grad(lambda x: special.jv(0, x))(1.5)
