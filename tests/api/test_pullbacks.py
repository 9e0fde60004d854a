"""jvp, vjp, linearize, linear_transpose."""

import jax
import numpy as np
import pytest

import s2s
from s2s.errors import UserError
from tests.api.functions import field, loss, network, network_arguments
from tests.api.test_derivatives import CLOSE, assert_trees_close, in_jax

X = np.array([0.4, 1.2, -0.7])
DX = np.array([0.3, -1.0, 0.5])


def test_jvp():
    found = s2s.jvp(field, (X,), (DX,))
    assert_trees_close(found, jax.jvp(in_jax(field), (X,), (DX,)))


def test_jvp_of_nested_containers():
    arguments = network_arguments()
    directions = network_arguments(seed=1)
    found = s2s.jvp(network, arguments, directions)
    assert_trees_close(found, jax.jvp(in_jax(network), arguments, directions))


def test_vjp():
    value, pull = s2s.vjp(field, X)
    expected_value, expected_pull = jax.vjp(in_jax(field), X)
    ct = np.array([1.0, -2.0, 0.5, 3.0])
    np.testing.assert_array_equal(value, field(X))
    np.testing.assert_allclose(value, expected_value, **CLOSE)
    assert_trees_close(pull(ct), expected_pull(ct))


def test_vjp_of_several_arguments():
    params, x = network_arguments()
    _, pull = s2s.vjp(network, params, x)
    _, expected = jax.vjp(in_jax(network), params, x)
    assert_trees_close(pull(2.0), expected(2.0))


def test_linearize():
    value, push = s2s.linearize(field, X)
    expected = jax.jvp(in_jax(field), (X,), (DX,))
    np.testing.assert_allclose(value, expected[0], **CLOSE)
    np.testing.assert_allclose(push(DX), expected[1], **CLOSE)
    np.testing.assert_allclose(push(2.0 * DX), 2.0 * expected[1], **CLOSE)


def test_auxiliary_values():
    def fun(x):
        return np.sum(x**2), x.shape[0]

    assert s2s.jvp(fun, (X,), (DX,), has_aux=True)[2] == 3
    assert s2s.vjp(fun, X, has_aux=True)[2] == 3
    np.testing.assert_allclose(s2s.vjp(fun, X, has_aux=True)[1](1.0)[0], 2 * X)
    assert s2s.linearize(fun, X, has_aux=True)[2] == 3


def test_linear_transpose():
    a = np.arange(6.0).reshape(2, 3)

    def fun(x, y):
        return a @ x + 2.0 * y

    x_bar, y_bar = s2s.linear_transpose(fun, np.zeros(3), np.zeros(2))(np.array([1.0, 2.0]))
    np.testing.assert_array_equal(x_bar, a.T @ [1.0, 2.0])
    np.testing.assert_array_equal(y_bar, [2.0, 4.0])


def test_inside_of_a_function():
    def directional(x):
        _, y_dot = s2s.jvp(field, (x,), (DX,))
        _, pull = s2s.vjp(field, x)
        _, push = s2s.linearize(field, x)
        return np.sum(y_dot**2) + np.sum(pull(y_dot)[0]) + np.sum(push(x))

    def expected(x):
        import jax.numpy as jnp

        f = in_jax(field)
        _, y_dot = jax.jvp(f, (x,), (DX,))
        _, pull = jax.vjp(f, x)
        _, push = jax.linearize(f, x)
        return jnp.sum(y_dot**2) + jnp.sum(pull(y_dot)[0]) + jnp.sum(push(x))

    np.testing.assert_allclose(
        s2s.grad(directional)(X), jax.grad(expected)(X), rtol=1e-11, atol=1e-12
    )


def test_errors():
    with pytest.raises(UserError, match="a tangent for each of the 1 arguments"):
        s2s.jvp(field, (X,), (X, X))
    with pytest.raises(UserError, match="shapes must be the same"):
        s2s.jvp(field, (X,), (np.ones(2),))
    with pytest.raises(UserError, match="a tangent or cotangent of type tuple"):
        s2s.vjp(loss, np.ones(2), np.ones((2, 2)))[1]((1.0, 2.0))
    with pytest.raises(UserError, match="must be shaped like its value"):
        s2s.vjp(lambda x: (x, x), np.ones(2))[1](1.0)
