"""jacfwd, jacrev and hessian."""

import jax
import numpy as np
import pytest

import s2s
from s2s.errors import UserError
from tests.api.functions import Point, distance, field, loss, network, network_arguments
from tests.api.test_derivatives import CLOSE, assert_trees_close, in_jax

X = np.array([0.4, 1.2, -0.7])
MATRIX = np.random.default_rng(3).normal(size=(2, 3))

FORMS = [(s2s.jacfwd, jax.jacfwd), (s2s.jacrev, jax.jacrev)]


@pytest.mark.parametrize(("ours", "theirs"), FORMS)
def test_of_a_vector(ours, theirs):
    np.testing.assert_allclose(ours(field)(X), theirs(in_jax(field))(X), **CLOSE)


@pytest.mark.parametrize(("ours", "theirs"), FORMS)
def test_of_a_matrix(ours, theirs):
    def fun(m):
        return np.tanh(m @ m.T) * 2.0

    np.testing.assert_allclose(ours(fun)(MATRIX), theirs(in_jax(fun))(MATRIX), **CLOSE)


@pytest.mark.parametrize(("ours", "theirs"), FORMS)
def test_of_containers(ours, theirs):
    params, x = network_arguments()

    def fun(params, x):
        return {"value": network(params, x), "double": x * params["scale"]}

    def expected(params, x):
        return {"value": in_jax(network)(params, x), "double": x * params["scale"]}

    assert_trees_close(ours(fun)(params, x), theirs(expected)(params, x))
    assert_trees_close(ours(fun, (0, 1))(params, x), theirs(expected, (0, 1))(params, x))


@pytest.mark.parametrize(("ours", "theirs"), FORMS)
def test_of_scalars(ours, theirs):
    found = ours(distance)(Point(3.0, 4.0), Point(0.0, 0.0))
    np.testing.assert_allclose(found, (0.6, 0.8), rtol=1e-15)


def test_hessian():
    def fun(x):
        return np.sum(field(x) ** 2)

    def expected(x):
        return (in_jax(field)(x) ** 2).sum()

    np.testing.assert_allclose(s2s.hessian(fun)(X), jax.hessian(expected)(X), rtol=1e-11)


def test_hessian_of_two_arguments():
    w, x = np.ones(3), np.random.default_rng(4).normal(size=(5, 3))
    found = s2s.hessian(loss, (0, 1))(w, x)
    assert_trees_close_loosely(found, jax.hessian(in_jax(loss), (0, 1))(w, x))


def assert_trees_close_loosely(found, expected):
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        # Second derivatives sum many terms that cancel.
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def test_independent_blocks_are_zero():
    found = s2s.jacrev(lambda x, y: (2.0 * x, 3.0 * y), argnums=(0, 1))(X, X)
    np.testing.assert_array_equal(found[0][0], 2.0 * np.eye(3))
    np.testing.assert_array_equal(found[0][1], np.zeros((3, 3)))
    np.testing.assert_array_equal(found[1][1], 3.0 * np.eye(3))


def test_auxiliary_values():
    found, aux = s2s.jacrev(lambda x: (x**2, x.shape[0]), has_aux=True)(X)
    np.testing.assert_allclose(found, np.diag(2 * X))
    assert aux == 3


def test_errors():
    with pytest.raises(UserError, match="needs floating-point values, but the function returns"):
        s2s.jacfwd(lambda x: np.floor(x).astype(np.int64))(X)
