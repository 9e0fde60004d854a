"""grad and value_and_grad, against JAX's on the same functions and against differences."""

import jax
import numpy as np
import pytest

import s2s
from s2s.errors import UserError
from tests.api.functions import (
    Point,
    Spring,
    distance,
    loss,
    network,
    network_arguments,
    stretched,
    with_auxiliary,
)

RANDOM = np.random.default_rng(0)
W, X = RANDOM.normal(size=3), RANDOM.normal(size=(5, 3))

# The same operations in another order: a few units in the last place.
CLOSE = {"rtol": 1e-12, "atol": 1e-14}


def in_jax(fun):
    """The function with jax.numpy in place of numpy."""
    import types

    import jax.numpy as jnp

    return types.FunctionType(fun.__code__, {**fun.__globals__, "np": jnp}, fun.__name__)


def assert_trees_close(found, expected):
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, **CLOSE)


def test_gradient():
    np.testing.assert_allclose(s2s.grad(loss)(W, X), jax.grad(in_jax(loss))(W, X), **CLOSE)


def test_value_and_gradient():
    value, gradient = s2s.value_and_grad(loss)(W, X)
    assert value == loss(W, X)
    np.testing.assert_allclose(gradient, s2s.grad(loss)(W, X), **CLOSE)


@pytest.mark.parametrize("argnums", [1, "x", (0, 1), ["w", "x"], (1, 0), -1, (0,)])
def test_argnums(argnums):
    names = ["w", "x"]

    def number(one):
        return names.index(one) if isinstance(one, str) else one % 2

    by_number = number(argnums) if isinstance(argnums, (int, str)) else tuple(map(number, argnums))
    expected = jax.grad(in_jax(loss), by_number)(W, X)
    assert_trees_close(s2s.grad(loss, argnums)(W, X), expected)


def test_nested_containers():
    params, x = network_arguments()
    assert_trees_close(s2s.grad(network)(params, x), jax.grad(in_jax(network))(params, x))


def test_named_tuples_and_dataclasses():
    gradient = s2s.grad(distance)(Point(3.0, 4.0), Point(0.0, 0.0))
    assert gradient == Point(0.6, 0.8)
    assert s2s.grad(stretched)(Spring(2.0, 1.0), 4.0) == Spring(4.5, -6.0)
    assert s2s.grad(stretched, argnums="length")(Spring(2.0, 1.0), 4.0) == 6.0


def test_auxiliary_values():
    gradient, aux = s2s.grad(with_auxiliary, has_aux=True)(W, X)
    expected, _ = jax.grad(in_jax(with_auxiliary), has_aux=True)(W, X)
    np.testing.assert_allclose(gradient, expected, **CLOSE)
    np.testing.assert_array_equal(aux["prediction"], X @ W)
    assert aux["count"] == 5
    (value, aux), gradient = s2s.value_and_grad(with_auxiliary, has_aux=True)(W, X)
    assert value == np.mean((X @ W) ** 2)
    np.testing.assert_allclose(gradient, expected, **CLOSE)


def test_keyword_arguments_and_defaults():
    def scaled(x, factor=2.0, power=3):
        return factor * x**power

    assert s2s.grad(scaled)(2.0) == 24.0
    assert s2s.grad(scaled)(2.0, power=2) == 8.0
    assert s2s.grad(scaled, argnums="factor")(2.0, factor=1.0) == 8.0


def test_arguments_of_other_types_are_traced_anew():
    f = s2s.grad(lambda x: np.sum(x * x))
    np.testing.assert_array_equal(f(np.arange(3.0)), 2 * np.arange(3.0))
    np.testing.assert_array_equal(f(np.ones((2, 2))), 2 * np.ones((2, 2)))
    single = f(np.ones(2, np.float32))
    assert single.dtype == np.float32


@pytest.mark.parametrize("order", range(1, 6))
def test_higher_derivatives(order):
    f = g = lambda x: np.sin(x) * np.exp(2.0 * x)
    expected = in_jax(f)
    for _ in range(order):
        f, expected = s2s.grad(f), jax.grad(expected)
    np.testing.assert_allclose(f(0.3), expected(0.3), rtol=1e-12)
    assert f is not g


def test_grad_inside_of_a_function():
    def norm_of_gradient(w, x):
        return np.sum(s2s.grad(loss)(w, x) ** 2)

    def expected(w, x):
        import jax.numpy as jnp

        return jnp.sum(jax.grad(in_jax(loss))(w, x) ** 2)

    np.testing.assert_allclose(s2s.grad(norm_of_gradient)(W, X), jax.grad(expected)(W, X), **CLOSE)


def test_no_perturbation_confusion():
    # d/dx (x * d/dy (x * y)) = d/dx x**2 at 3.
    f = s2s.grad(lambda x: x * s2s.grad(lambda y: x * y)(2.0))
    assert f(3.0) == 6.0


def test_a_constant_gradient_is_a_number_to_the_function_around():
    slope = s2s.grad(lambda x: 3.0 * x)
    f = s2s.grad(lambda x: x * np.sin(slope(x)))
    assert f(2.0) == np.sin(3.0)


def test_stop_gradient():
    assert s2s.grad(lambda x: x * s2s.stop_gradient(x))(3.0) == 3.0
    assert s2s.stop_gradient(3.0) == 3.0


def test_the_callers_arrays_are_not_touched():
    w, x = W.copy(), X.copy()
    gradient = s2s.grad(lambda w, x: np.sum(w * 1.0) + np.sum(x), argnums=(0, 1))(w, x)
    gradient[0][:] = 7.0
    np.testing.assert_array_equal(w, W)
    np.testing.assert_array_equal(x, X)


def test_a_result_that_does_not_depend_on_the_argument():
    np.testing.assert_array_equal(s2s.grad(lambda x, y: np.sum(y))(W, X), np.zeros(3))


def test_errors():
    with pytest.raises(UserError, match=r"needs a single number as its value.*jacrev"):
        s2s.grad(lambda x: x * 2.0)(W)
    with pytest.raises(UserError, match="there is no parameter 'v'"):
        s2s.grad(loss, argnums="v")(W, X)
    with pytest.raises(UserError, match="there is no parameter number 2"):
        s2s.grad(loss, argnums=2)(W, X)
    with pytest.raises(UserError, match=r"needs floating-point values.*i64"):
        s2s.grad(loss)(np.arange(3), X)
    with pytest.raises(UserError, match="must return a pair"):
        s2s.grad(loss, has_aux=True)(W, X)
    with pytest.raises(TypeError, match="missing a required argument"):
        s2s.grad(loss)(W)


def test_positions_count_the_values_of_star_args():
    def weighted(scale, *xs):
        return scale * np.sum(xs[0] ** 2) * xs[1]

    args = (2.0, np.arange(3.0), 5.0)
    gradients = jax.grad(weighted, argnums=(0, 1, 2))(*args)
    assert_trees_close(s2s.grad(weighted, argnums=(0, 1, 2))(*args), gradients)
    assert_trees_close(s2s.grad(weighted, argnums=-1)(*args), gradients[2])
    assert_trees_close(s2s.grad(weighted, argnums="xs")(*args), gradients[1:])
    assert_trees_close(
        s2s.hessian(weighted, argnums=(1, 2))(*args), jax.hessian(weighted, (1, 2))(*args)
    )
    assert s2s.grad(lambda *xs: xs[0] * xs[1])(2.0, 3.0) == 3.0
    with pytest.raises(UserError, match=r"there is no parameter number 3; .* scale, xs\[0\]"):
        s2s.grad(weighted, argnums=3)(*args)
