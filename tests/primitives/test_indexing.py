"""Texts of indexing, repeated indices, and indices that are outside."""

from typing import Any

import numpy as np
import pytest

from s2s import lax
from s2s.ir.dims import dimension
from s2s.ir.jaxpr import ShapedArray
from s2s.passes.vmap import vmap
from s2s.trace import evaluate, make
from tests.primitives.derivatives import gradient

N, K = dimension("n"), dimension("k")


def f64(*shape: Any) -> ShapedArray:
    return ShapedArray(shape, np.dtype(np.float64))


def i64(*shape: Any) -> ShapedArray:
    return ShapedArray(shape, np.dtype(np.int64))


@pytest.mark.parametrize(
    "shape, axes, index, expected",
    [
        ((N,), [0], (), "x[i]"),
        ((N, 3), [0], (K,), "x[i]"),
        ((N, 3), [1], (K,), "x[:, i]"),
        ((N, 3), [0, 1], (K,), "x[i, j]"),
        ((2, N, 3), [0, 2], (K,), "x[i, :, j]"),
    ],
)
def test_text(shape: Any, axes: list[int], index: Any, expected: str) -> None:
    avals = [f64(*shape), *[i64(*index)] * len(axes)]
    (eqn,) = make(lambda x, *indices: [lax.take_at(x, axes, indices)], avals).eqns
    assert eqn.primitive.spell(["x", "i", "j"][: len(avals)], avals) == expected


def test_a_batch_of_arrays_and_indices_is_indexed_in_pairs() -> None:
    made = make(lambda x, i: [lax.take_at(x, [0], [i])], [f64(3), i64()])
    batched, _ = vmap(made, N, [0, 0])
    eqn = batched.eqns[-1]
    avals = [atom.aval for atom in eqn.invars]
    assert eqn.primitive.spell(["x", "rows", "i"], avals) == "x[rows, i]"


def test_of_repeated_indices_the_last_update_has_the_derivative() -> None:
    def put(x: Any, u: Any) -> Any:
        return lax.put_at(x, [0], [np.array([1, 1, -1])], u)

    x_bar, u_bar = gradient(put, np.zeros(3), np.ones(3), ct=np.array([1.0, 10.0, 100.0]))
    np.testing.assert_array_equal(x_bar, [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(u_bar, [0.0, 10.0, 100.0])


@pytest.mark.parametrize(
    "shape, index, distinct",
    [
        ((N, 3), lambda n, i: [n, i], True),
        ((N, 3), lambda n, i: [i, n], True),
        ((N, 3), lambda n, i: [i, i], False),
        ((N, 3), lambda n, i: [0, 1], True),
    ],
)
def test_indices_that_count_are_distinct(shape: Any, index: Any, distinct: bool) -> None:
    def add(x: Any, i: Any, u: Any) -> Any:
        indices = index(lax.iota(np.dtype(np.int64), (K,)), i)
        updates = lax.index_in_dim(u, 0, 0) if isinstance(indices[0], int) else u
        return [lax.put_at(x, [0, 1], indices, updates, add=True)]

    made = make(add, [f64(*shape), i64(K), f64(K)], folding=True)
    assert made.eqns[-1].primitive.unique_indices is distinct


def test_an_index_outside_raises_as_in_numpy() -> None:
    made = make(lambda x, i: [lax.take_at(x, [0], [i])], [f64(3), i64()])
    with pytest.raises(IndexError):
        evaluate(made, np.zeros(3), 3)


def test_real_numbers_are_no_indices() -> None:
    with pytest.raises(TypeError, match="f64\\[n\\] cannot be indexed by f64\\[k\\]"):
        make(lambda x, i: [lax.take_at(x, [0], [i])], [f64(N), f64(K)])
