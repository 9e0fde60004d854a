"""Linear algebra reads as np.linalg; of several results, those that are read have names."""

import pytest

from s2s import lax
from s2s.passes.pipeline import optimise
from tests.codegen.numpy_source.bodies import body, expression, f64, jaxpr


@pytest.mark.parametrize(
    ("fun", "shapes", "text"),
    [
        (lax.solve, [(3, 3), (3,)], "np.linalg.solve(x, y)"),
        (
            lambda a, b: lax.solve(lax.transpose(a, (1, 0)), b),
            [(3, 3)] * 2,
            "np.linalg.solve(x.T, y)",
        ),
        (
            lambda a, b: lax.triangular_solve(a, b, lower=True, transpose_a=True),
            [(3, 3), (3,)],
            "np.linalg.solve(x.T, y)",
        ),
        (
            lambda a, b: lax.triangular_solve(a, b, lower=True, transpose_a=True),
            [(2, 3, 3), (2, 3, 4)],
            "np.linalg.solve(x.mT, y)",
        ),
        (
            lambda a, b: lax.solve(a, lax.broadcast_in_dim(b, (2, 3, 1), (1,))),
            [(2, 3, 3), (3,)],
            "np.linalg.solve(x, y[:, None])",
        ),
        (
            lambda a, b: lax.solve(lax.broadcast_in_dim(a, (2, 3, 3), (1, 2)), b),
            [(3, 3), (2, 3, 4)],
            "np.linalg.solve(x, y)",
        ),
        (lax.inv, [(3, 3)], "np.linalg.inv(x)"),
        (lax.det, [(3, 3)], "np.linalg.det(x)"),
        (lax.pinv, [(3, 2)], "np.linalg.pinv(x)"),
        (lax.lstsq, [(3, 2), (3,)], "np.linalg.lstsq(x, y)[0]"),
        (lax.cholesky, [(3, 3)], "np.linalg.cholesky(x)"),
        (lax.tril, [(3, 3)], "np.tril(x)"),
        (lambda x: lax.triu(x, -1), [(3, 3)], "np.triu(x, -1)"),
    ],
)
def test_one_result(fun, shapes, text):
    assert expression(fun, *[f64(*shape) for shape in shapes]) == text


def statements(fun):
    return body(optimise(jaxpr(fun, f64(3, 3))))


def test_several_results_have_names_if_they_are_read():
    def weighted(x):
        u, _, vh = lax.svd(x)
        return [u, vh]

    def scaled(x):
        w, v = lax.eigh(x)
        return lax.mul(w, lax.reduce_sum(v, (0,)))

    assert statements(weighted)[0] == "u, _, vh = np.linalg.svd(x, full_matrices=False)"
    assert statements(scaled)[0] == "eigenvalues, eigenvectors = np.linalg.eigh(x)"


def test_one_of_several_results_is_picked():
    assert statements(lambda x: lax.exp(lax.slogdet(x)[1]))[0] == "logdet = np.linalg.slogdet(x)[1]"
    assert statements(lambda x: lax.exp(lax.qr(x)[1]))[0] == "r = np.linalg.qr(x)[1]"


@pytest.mark.parametrize(
    ("fun", "text"),
    [
        (lambda x: lax.eigh(x)[0], "np.linalg.eigvalsh(x)"),
        (lambda x: lax.eigh(x, lower=False)[0], 'np.linalg.eigvalsh(x, UPLO="U")'),
        (lambda x: lax.svd(x)[1], "np.linalg.svd(x, compute_uv=False)"),
    ],
)
def test_values_without_vectors_have_functions_of_their_own(fun, text):
    assert statements(fun) == [f"value = {text}", "return value"]
