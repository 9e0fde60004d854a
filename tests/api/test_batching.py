"""vmap."""

import jax
import numpy as np
import pytest

import s2s
from s2s.errors import UserError
from tests.api.functions import field, loss, network, network_arguments
from tests.api.test_derivatives import CLOSE, assert_trees_close, in_jax

RANDOM = np.random.default_rng(2)
W = RANDOM.normal(size=(4, 3))
X = RANDOM.normal(size=(4, 5, 3))


@pytest.mark.parametrize("in_axes", [0, (0, 0), (None, 0), (0, None), (1, 2), (-1, 1)])
def test_in_axes(in_axes):
    axes = (in_axes, in_axes) if isinstance(in_axes, int) else in_axes
    w = W[0] if axes[0] is None else np.moveaxis(W, 0, axes[0])
    x = X[0] if axes[1] is None else np.moveaxis(X, 0, axes[1])
    found = s2s.vmap(loss, in_axes)(w, x)
    np.testing.assert_allclose(found, jax.vmap(in_jax(loss), in_axes)(w, x), **CLOSE)


@pytest.mark.parametrize("out_axes", [0, 1, -1])
def test_out_axes(out_axes):
    found = s2s.vmap(field, out_axes=out_axes)(W)
    np.testing.assert_allclose(found, jax.vmap(in_jax(field), out_axes=out_axes)(W), **CLOSE)


def test_axes_of_containers():
    params, x = network_arguments()
    layers = [{"w": np.stack([p["w"]] * 3), "b": p["b"]} for p in params["layers"]]
    batched = {"layers": layers, "scale": params["scale"]}
    in_axes = ({"layers": [{"w": 0, "b": None}, {"w": 0, "b": None}], "scale": None}, None)
    found = s2s.vmap(network, in_axes)(batched, x)
    np.testing.assert_allclose(found, [network(params, x)] * 3, **CLOSE)


def test_compositions():
    w, x = W[0], X[0]
    pairs = [
        (s2s.vmap(s2s.grad(loss), (None, 0)), jax.vmap(jax.grad(in_jax(loss)), (None, 0))),
        (s2s.vmap(s2s.vmap(loss, (None, 0)), (0, None)),
         jax.vmap(jax.vmap(in_jax(loss), (None, 0)), (0, None))),
        (s2s.vmap(s2s.hessian(loss), (None, 0)), jax.vmap(jax.hessian(in_jax(loss)), (None, 0))),
    ]  # fmt: skip
    for ours, theirs in pairs[:1] + pairs[2:]:
        np.testing.assert_allclose(ours(w, X), theirs(w, X), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(pairs[1][0](W, X), pairs[1][1](W, X), **CLOSE)
    batched = s2s.vmap(lambda w: loss(w, x))
    total = s2s.grad(lambda ws: np.sum(batched(ws)))
    np.testing.assert_allclose(total(W), [s2s.grad(loss)(w, x) for w in W], **CLOSE)


def test_several_results():
    found = s2s.vmap(lambda w: {"sum": np.sum(w), "double": (2.0 * w,)})(W)
    expected = jax.vmap(lambda w: {"sum": w.sum(), "double": (2.0 * w,)})(W)
    assert_trees_close(found, expected)


def test_python_scalars_are_batched_to_arrays():
    found = s2s.vmap(lambda x: 2.0 * x)(np.arange(3.0))
    np.testing.assert_array_equal(found, 2.0 * np.arange(3.0))


def test_errors():
    with pytest.raises(UserError, match="differ in size"):
        s2s.vmap(loss)(W, X[:2])
    with pytest.raises(UserError, match="needs an axis to map over"):
        s2s.vmap(loss, (None, None))(W[0], X[0])
    with pytest.raises(UserError, match="has 1 axes"):
        s2s.vmap(loss, (1, 0))(W[0], X)
    with pytest.raises(UserError, match="in_axes has 3 entries"):
        s2s.vmap(loss, (0, 0, 0))(W, X)
    with pytest.raises(UserError, match="out_axes is None"):
        s2s.vmap(loss, out_axes=None)(W, X)
