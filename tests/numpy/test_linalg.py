"""np.linalg: values, results with names, and what errors say."""

from typing import Any

import numpy as np
import pytest

import s2s
from s2s.ir.jaxpr import aval_of
from s2s.numpy import COUNTERPARTS
from s2s.trace import evaluate, make
from tests.numpy.agreement import assert_expression_agrees

MATRICES = {
    "a": np.random.default_rng(1).normal(size=(4, 4)) + 3.0 * np.eye(4),
    "b": np.random.default_rng(2).normal(size=(4, 2)),
    "r": np.random.default_rng(3).normal(size=(5, 3)),
    "y": np.random.default_rng(4).normal(size=5),
    "e": np.random.default_rng(5).normal(size=4),
    "d": np.random.default_rng(6).normal(size=(2, 4, 4)) + 3.0 * np.eye(4),
    "x": np.random.default_rng(7).normal(size=(2, 3, 6)),
    "whole": np.array([[2, 1], [1, 3]]),
}
MATRICES["p"] = MATRICES["a"] @ MATRICES["a"].T
MATRICES["single"] = MATRICES["p"].astype(np.float32)

ROUNDING = 1e-14
"""What is computed of factors in another order than NumPy's differs in its last bits."""


@pytest.mark.parametrize(
    "text",
    [
        "np.linalg.solve(a, b)",
        "np.linalg.solve(a, e)",
        "np.linalg.solve(d, e)",
        "np.linalg.solve(d, b)",
        "np.linalg.solve(a, d)",
        "np.linalg.solve(whole, [1, 2])",
        "np.linalg.solve(single, b)",
        "np.linalg.inv(d)",
        "np.linalg.inv(single)",
        "np.linalg.tensorinv(d.reshape(2, 4, 4, 1)[0].reshape(2, 2, 4))",
        "np.linalg.tensorsolve(a.reshape(2, 2, 4), b[:, 0].reshape(2, 2))",
        "np.linalg.tensorsolve(a.reshape(2, 4, 2), e.reshape(2, 2), axes=(1,))",
        "np.linalg.pinv(r)",
        "np.linalg.lstsq(r, y)[0]",
        "np.linalg.lstsq(r.T, b[:3, 0], rcond=None)[0]",
        "np.linalg.det(a)",
        "np.linalg.det(d)",
        "np.linalg.det(whole)",
        "np.linalg.slogdet(d).logabsdet",
        "np.linalg.slogdet(-a).sign",
        "list(np.linalg.slogdet(a))",
        "np.linalg.cholesky(p)",
        "np.linalg.cholesky(single)",
        "np.linalg.cholesky(d @ d.mT)",
        "list(np.linalg.qr(r))",
        "np.linalg.qr(x).Q",
        "list(np.linalg.qr(a, mode='complete'))",
        "list(np.linalg.eigh(p))",
        "np.linalg.eigh(p).eigenvalues",
        "np.linalg.eigh(d, UPLO='U')[1]",
        "list(np.linalg.svd(r, full_matrices=False))",
        "np.linalg.svd(x, full_matrices=False).U",
        "np.linalg.svd(a).Vh",
        "np.linalg.matrix_power(a, 0)",
        "np.linalg.matrix_power(a, 1)",
        "np.linalg.matrix_power(d, 2)",
        "np.linalg.matrix_power(d, 3)",
        "np.linalg.matrix_power(a, 11)",
        "np.linalg.matrix_power(whole, 4)",
        "np.linalg.multi_dot([r.T, r])",
        "np.linalg.multi_dot([y, r, r.T, r])",
        "np.linalg.multi_dot([r, r.T, y])",
        "np.linalg.multi_dot([b.T, a, p, b, b.T])",
        "np.linalg.vector_norm(r)",
        "np.linalg.vector_norm(r, axis=1)",
        "np.linalg.vector_norm(r, axis=0, ord=1, keepdims=True)",
        "np.linalg.matrix_norm(d)",
        "np.linalg.matrix_norm(d, ord=1)",
    ],
)
def test_values(text):
    assert_expression_agrees(text, **MATRICES)


@pytest.mark.parametrize(
    "text",
    [
        "np.linalg.lstsq(r, y)[1]",
        "np.linalg.lstsq(r, np.stack([y, y + 1], 1))[1]",
        "np.linalg.cholesky(p, upper=True)",
        "np.linalg.qr(r, mode='r')",
        "np.linalg.eigvalsh(p)",
        "np.linalg.eigvalsh(d, 'U')",
        "np.linalg.svd(r, compute_uv=False)",
        "np.linalg.svdvals(x)",
        "np.linalg.matrix_power(a, -2)",
        "np.linalg.norm(r, 2)",
        "np.linalg.norm(x, -2, axis=(0, 2))",
        "np.linalg.norm(x, 'nuc', axis=(2, 1), keepdims=True)",
        "np.linalg.cond(r)",
        "np.linalg.cond(d, -2)",
        "np.linalg.cond(a, 1)",
        "np.linalg.cond(d, 'fro')",
    ],
)
def test_values_up_to_rounding(text):
    assert_expression_agrees(text, relative=ROUNDING, **MATRICES)


@pytest.mark.parametrize(
    "function, fields",
    [
        (np.linalg.eigh, ("eigenvalues", "eigenvectors")),
        (np.linalg.qr, ("Q", "R")),
        (np.linalg.slogdet, ("sign", "logabsdet")),
        (np.linalg.svd, ("U", "S", "Vh")),
    ],
)
def test_results_are_of_numpys_classes(function, fields):
    found = []

    def fun(a):
        result = COUNTERPARTS[function](a)
        found.append(result)
        return list(result)

    make(fun, [aval_of(MATRICES["a"])])
    assert type(found[0]) is type(function(MATRICES["a"])) and found[0]._fields == fields


@pytest.mark.parametrize("function", [np.linalg.inv, np.linalg.cholesky])
def test_what_has_no_result_raises_numpys_error(function):
    closed = make(lambda a: [COUNTERPARTS[function](a)], [aval_of(MATRICES["a"])])
    with pytest.raises(np.linalg.LinAlgError):
        evaluate(closed, np.zeros((4, 4)))


SQUARES = {
    "regular": np.random.default_rng(0).normal(size=(3, 3)),
    "of rank 2": np.array([[1.0, 2.0, -1.0], [0.5, 0.0, 3.0], [1.5, 2.0, 2.0]]),
    "of rank 1": np.outer([1.0, -2.0, 0.5], [0.3, 1.0, 2.0]),
    "zero": np.zeros((3, 3)),
    "of one element": np.zeros((1, 1)),
    "with equal singular values": np.diag([1.0, 1.0, 0.0, 1.0]),
}


@pytest.mark.parametrize("a", SQUARES.values(), ids=SQUARES)
def test_derivatives_of_determinants(a: Any) -> None:
    """The determinant is linear in each element, and so is each minor: differences are exact."""

    def minor(i: int, j: int, a: Any) -> Any:
        return (-1) ** (i + j) * np.linalg.det(np.delete(np.delete(a, i, 0), j, 1))

    def minors(a: Any) -> Any:
        return np.array([[minor(i, j, a) for j in range(len(a))] for i in range(len(a))])

    def determinant(a: Any) -> Any:
        return np.linalg.det(a)

    first, second = s2s.grad(determinant), s2s.hessian(determinant)
    units = np.eye(a.size).reshape(*a.shape, *a.shape)
    slopes = [[minors(a + unit) - minors(a) for unit in row] for row in units]
    for gradient, hessian in [(first, second), (s2s.jit(first), s2s.jit(second))]:
        np.testing.assert_allclose(gradient(a), minors(a), rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(hessian(a), slopes, rtol=1e-12, atol=1e-13)
