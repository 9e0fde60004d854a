"""Linear algebra by LAPACK under XLA: what is singular, open sizes, and calls in files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import s2s
from s2s.errors import UserError
from s2s.ir.dims import dimension
from s2s.ir.jaxpr import ShapedArray

N = dimension("n")
RANDOM = np.random.default_rng(0)
PIVOTED = RANDOM.normal(size=(2, 7, 7))
RIGHT = RANDOM.normal(size=(2, 7, 3))
SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])


def surprise(covariance: Any, y: Any) -> Any:
    """The negative logarithm of a normal density, but for a constant."""
    factor = np.linalg.cholesky(covariance)
    whitened = np.linalg.solve(factor, y)
    return 0.5 * whitened @ whitened + np.sum(np.log(np.diag(factor)))


def decompositions(a: Any, b: Any) -> Any:
    w, v = np.linalg.eigh(a)
    u, s, vh = np.linalg.svd(a)
    q, r = np.linalg.qr(a)
    inverse = np.linalg.solve(a, b), np.linalg.slogdet(a).logabsdet, np.linalg.pinv(a)
    return (v * w) @ v.T, (u * s) @ vh, q @ r, np.linalg.cholesky(a), *inverse


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_are_exchanged_as_the_pivots_say(dtype: Any) -> None:
    a, b = PIVOTED.astype(dtype), RIGHT.astype(dtype)
    tolerance = 1e-11 if dtype == np.float64 else 1e-2
    for found, expected in (
        (s2s.jit(np.linalg.solve)(a, b), np.linalg.solve(a, b)),
        (s2s.jit(np.linalg.inv)(a), np.linalg.inv(a)),
        (s2s.jit(np.linalg.det)(a), np.linalg.det(a)),
        (s2s.jit(np.linalg.slogdet)(a).sign, np.linalg.slogdet(a).sign),
    ):
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
        assert found.dtype == dtype


def test_what_numpy_raises_for_is_nan() -> None:
    ones = np.ones(2)
    assert np.isnan(s2s.jit(np.linalg.solve)(SINGULAR, ones)).all()
    assert np.isnan(s2s.jit(np.linalg.inv)(SINGULAR)).all()
    assert np.isnan(s2s.jit(surprise)(-SINGULAR, ones))
    mixed = np.stack([np.eye(2), -np.eye(2)])
    factors = s2s.jit(np.linalg.cholesky)(mixed)
    np.testing.assert_array_equal(factors[0], np.eye(2))
    assert np.isnan(np.diag(factors[1])).all()
    assert np.isnan(s2s.jit(np.linalg.eigvalsh)(np.full((2, 2), np.nan))).all()


def test_determinant_of_a_singular_matrix_is_zero() -> None:
    assert s2s.jit(np.linalg.det)(SINGULAR) == 0.0
    sign, logdet = s2s.jit(np.linalg.slogdet)(SINGULAR)
    assert sign == 0.0 and logdet == -np.inf


def test_gradient() -> None:
    covariance = PIVOTED[0] @ PIVOTED[0].T + np.eye(7)
    found = s2s.jit(s2s.grad(surprise))(covariance, RIGHT[0, :, 0])
    inverse = np.linalg.inv(covariance)
    weights = inverse @ RIGHT[0, :, 0]
    symmetric = 0.5 * (inverse - np.outer(weights, weights))
    # The function reads one triangle, so each pair of elements counts below the diagonal.
    expected = np.tril(symmetric) + np.tril(symmetric, -1)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.fixture(scope="module")
def open_artifact() -> Any:
    float64 = np.dtype(np.float64)
    return s2s.stablehlo(decompositions, ShapedArray((N, N), float64), ShapedArray((N,), float64))


@pytest.mark.parametrize("suffix", [".mlir", ".mlirbc"])
def test_open_sizes(open_artifact: Any, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    open_artifact.save(path)
    call = s2s.load_artifact(path).compile()
    for size in (1, 2, 5):
        x = RANDOM.normal(size=(size, size))
        a, b = x @ x.T + np.eye(size), np.ones(size)
        for found, expected in zip(call(a, b), decompositions(a, b), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tensor<3x3xf64>, tensor<i32>", "tensor<2x2xf64>, tensor<i32>"),
        ("uplo = 76 : ui8", "uplo = 85 : ui8"),
        ("lapack_dpotrf_ffi", "lapack_spotrf_ffi"),
        ("lapack_dpotrf_ffi", "lapack_dgetrf_ffi"),
        ("operand_layouts = [dense<[0, 1]>", "operand_layouts = [dense<[1, 0]>"),
        ("lapack_dpotrf_ffi", "lapack_dgees_ffi"),
    ],
)
def test_calls_that_do_not_fit_are_refused(tmp_path: Path, old: str, new: str) -> None:
    def fun(a: Any) -> Any:
        return np.linalg.cholesky(a)[0, 0]

    text = s2s.stablehlo(fun, np.eye(3)).text
    path = tmp_path / "a.mlir"
    path.write_text(text)
    assert s2s.load_artifact(path).compile()(4.0 * np.eye(3)) == 2.0
    lines = text.split("\n")
    place = next(i for i, line in enumerate(lines) if "lapack_" in line)
    assert old in lines[place]
    # What reads the factor takes it of the other size too.
    lines[place] = lines[place].replace(old, new)
    path.write_text("\n".join(lines))
    with pytest.raises(UserError, match=r"calls code outside of itself|is damaged"):
        s2s.load_artifact(path)


def test_sizes_that_do_not_fit_are_refused_when_they_are_given(
    open_artifact: Any, tmp_path: Path
) -> None:
    path = tmp_path / "a.mlir"
    open_artifact.save(path)
    text = path.read_text()
    place = text.index("lapack_dpotrf_ffi")
    end = text.index("\n", place)
    call = text[place:end]
    assert "uplo = 76 : ui8" in call
    path.write_text(text[:place] + call.replace("uplo = 76", "uplo = 85") + text[end:])
    loaded = s2s.load_artifact(path)
    with pytest.raises(UserError, match="with other arrays than it takes"):
        loaded.compile()(np.eye(3), np.ones(3))
