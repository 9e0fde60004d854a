"""Texts, folds and errors of broadcast_in_dim, reduce_sum, transpose and reshape."""

from typing import Any

import numpy as np
import pytest

from s2s import lax
from s2s.ir.dims import dimension
from s2s.ir.jaxpr import ShapedArray
from s2s.passes.dce import dce
from s2s.trace import make

N, K = dimension("n"), dimension("k")


def f64(*shape: Any) -> ShapedArray:
    return ShapedArray(shape, np.dtype(np.float64))


def text(fun: Any, *avals: ShapedArray) -> str:
    """The NumPy text of the one equation of a function, its operands called x and y."""
    (eqn,) = make(lambda *xs: [fun(*xs)], avals).eqns
    return eqn.primitive.spell(["x", "y"][: len(avals)], avals)


def folded(fun: Any, aval: ShapedArray) -> list[str]:
    """The primitives that are left after folding."""
    made = dce(make(lambda x: [fun(x)], [aval], folding=True))
    return [str(eqn.primitive) for eqn in made.eqns]


@pytest.mark.parametrize(
    "fun, aval, expected",
    [
        (lambda x: lax.broadcast_in_dim(x, (N, 1), (0,)), f64(N), "x[:, None]"),
        (lambda x: lax.broadcast_in_dim(x, (1, N), (1,)), f64(N), "x[None, :]"),
        (
            lambda x: lax.broadcast_in_dim(x, (N, K), (0,)),
            f64(N),
            "np.broadcast_to(x[:, None], (n, k))",
        ),
        (lambda x: lax.broadcast_in_dim(x, (K, N), (1,)), f64(N), "np.broadcast_to(x, (k, n))"),
        (lambda x: lax.broadcast_in_dim(x, (N,), ()), f64(), "np.full(n, x)"),
        (lambda x: lax.reduce_sum(x, (0,)), f64(N), "np.sum(x)"),
        (lambda x: lax.reduce_sum(x, (0,)), f64(N, K), "np.sum(x, axis=0)"),
        (lambda x: lax.reduce_sum(x, (0, 2)), f64(N, K, 2), "np.sum(x, axis=(0, 2))"),
        (lambda x: lax.transpose(x, (1, 0)), f64(N, K), "x.T"),
        (lambda x: lax.transpose(x, (0, 2, 1)), f64(N, K, 2), "np.transpose(x, (0, 2, 1))"),
        (lambda x: lax.reshape(x, (N * K,)), f64(N, K), "np.reshape(x, k*n)"),
    ],
)
def test_text(fun: Any, aval: ShapedArray, expected: str) -> None:
    assert text(fun, aval) == expected


@pytest.mark.parametrize(
    "fun",
    [
        lambda x: lax.transpose(lax.transpose(x, (1, 0)), (1, 0)),
        lambda x: lax.reshape(lax.reshape(x, (K, N)), (N, K)),
        lambda x: lax.reshape(lax.broadcast_in_dim(x, (N, 1, K), (0, 2)), (N, K)),
        lambda x: lax.squeeze(lax.expand_dims(x, (1,)), (1,)),
    ],
)
def test_what_is_undone_is_nothing(fun: Any) -> None:
    assert folded(fun, f64(N, K)) == []


@pytest.mark.parametrize(
    "fun",
    [
        lambda x: lax.broadcast_in_dim(lax.broadcast_in_dim(x, (N, 1), (0,)), (N, K), (0, 1)),
        lambda x: lax.broadcast_in_dim(lax.reshape(x, (N, 1)), (N, K), (0, 1)),
        lambda x: lax.transpose(lax.broadcast_in_dim(x, (K, N), (1,)), (1, 0)),
    ],
)
def test_broadcasts_in_steps_are_one(fun: Any) -> None:
    assert folded(fun, f64(N)) == ["broadcast_in_dim[broadcast_dimensions=(0,) shape=(n, k)]"]


@pytest.mark.parametrize(
    "fun, message",
    [
        (
            lambda x: lax.broadcast_in_dim(x, (K, 2), (0,)),
            "f64\\[n\\] cannot be broadcast to f64\\[k,2\\]",
        ),
        (lambda x: lax.reshape(x, (2, 3)), "has n elements and cannot be reshaped to f64\\[2,3\\]"),
        (lambda x: lax.reduce_sum(x, (1,)), "over axes \\(1,\\) of a value of type f64\\[n\\]"),
        (lambda x: lax.transpose(x, (1, 0)), "axes \\(1, 0\\) of a value of type f64\\[n\\]"),
    ],
)
def test_errors(fun: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        make(lambda x: [fun(x)], [f64(N)])


@pytest.mark.parametrize(
    "dtype, expected", [("i4", "i64"), ("u1", "u64"), ("?", "i64"), ("f4", "f32")]
)
def test_sums_have_numpys_type(dtype: str, expected: str) -> None:
    aval = ShapedArray((3,), np.dtype(dtype))
    made = make(lambda x: [lax.reduce_sum(x, (0,))], [aval])
    assert str(made.out_avals[0]) == f"{expected}[]"
