"""Functions of scipy.linalg under tracing: SciPy's values, central differences' derivatives, by
NumPy and by XLA."""

import numpy as np
import pytest
import scipy.linalg

import s2s
from s2s.errors import UserError

RANDOM = np.random.default_rng(0)
A = RANDOM.normal(size=(4, 4)) + 4.0 * np.eye(4)
S = A @ A.T
b = RANDOM.normal(size=4)
B = RANDOM.normal(size=(4, 2))

FUNCTIONS = {
    "cholesky": lambda s: scipy.linalg.cholesky(s),
    "cholesky_lower": lambda s: scipy.linalg.cholesky(s, lower=True, check_finite=False),
    "cho_solve": lambda s: scipy.linalg.cho_solve(scipy.linalg.cho_factor(s), b),
    "cho_solve_lower": lambda s: scipy.linalg.cho_solve(scipy.linalg.cho_factor(s, lower=True), B),
    "cho_solve_outside": lambda s: scipy.linalg.cho_solve(scipy.linalg.cho_factor(S), s),
    "log_det": lambda s: np.sum(np.log(np.diag(scipy.linalg.cho_factor(s)[0]))),
    "triangular": lambda s: scipy.linalg.solve_triangular(s, b),
    "triangular_lower": lambda s: scipy.linalg.solve_triangular(s, B, lower=True),
    "triangular_transposed": lambda s: scipy.linalg.solve_triangular(s, B, trans="T", lower=True),
    "triangular_unit": lambda s: scipy.linalg.solve_triangular(s / 9, b, unit_diagonal=True),
    "triangular_unit_transposed": lambda s: scipy.linalg.solve_triangular(
        s / 9, s[0], 1, True, True
    ),
    "solve": lambda s: scipy.linalg.solve(s + A, s[:, :2], overwrite_a=True),
    "solve_transposed": lambda s: scipy.linalg.solve(s + A, b, transposed=True),
    "solve_pos": lambda s: scipy.linalg.solve(s, b, assume_a="pos"),
    "lu_solve": lambda s: scipy.linalg.lu_solve(scipy.linalg.lu_factor(s + A), B),
    "lu_solve_transposed": lambda s: scipy.linalg.lu_solve(scipy.linalg.lu_factor(s + A), b, 1),
    "inv": lambda s: scipy.linalg.inv(s + A),
    "det": lambda s: scipy.linalg.det(s + A) / 1e4,
    "norm": lambda s: scipy.linalg.norm(s) + scipy.linalg.norm(s[0], 1),
    "block_diag": lambda s: scipy.linalg.block_diag(s, B * s[0, 0], s[:1]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_derivatives(name):
    fun = FUNCTIONS[name]
    expected = fun(S.copy())
    np.testing.assert_allclose(s2s.jit(fun)(S), expected, rtol=1e-11, atol=1e-13)
    direction = RANDOM.normal(size=(4, 4))
    direction = direction + direction.T
    value, slope = s2s.jvp(fun, (S,), (direction,))
    np.testing.assert_allclose(value, expected, rtol=1e-11, atol=1e-13)
    h = 1e-6
    difference = (fun(S + h * direction) - fun(S - h * direction)) / (2.0 * h)
    np.testing.assert_allclose(slope, difference, rtol=1e-6, atol=1e-7)
    gradient = s2s.grad(lambda s: np.sum(np.sin(fun(s))))
    inner = np.sum(np.cos(expected) * slope)
    np.testing.assert_allclose(np.sum(gradient(S) * direction), inner, rtol=1e-9)
    np.testing.assert_allclose(s2s.jit(gradient)(S), gradient(S), rtol=1e-9, atol=1e-11)


def test_only_what_is_read_has_a_derivative():
    upper = s2s.grad(lambda s: np.sum(scipy.linalg.cholesky(s)))(S)
    np.testing.assert_array_equal(np.tril(upper, -1), 0.0)
    lower = s2s.grad(lambda s: np.sum(scipy.linalg.solve_triangular(s, b, lower=True)))(S)
    np.testing.assert_array_equal(np.triu(lower, 1), 0.0)


REFUSED = {
    "scipy.linalg.expm: how often it squares": lambda s: scipy.linalg.expm(s),
    "scipy.linalg.eig: the eigenvalues of general": lambda s: scipy.linalg.eig(s)[0],
    "scipy.linalg.lu: use np.linalg.solve": lambda s: scipy.linalg.lu(s)[2],
    "can only be passed on to scipy.linalg.lu_solve": lambda s: scipy.linalg.lu_factor(s)[0],
    "assume_a='sym' is not supported": lambda s: scipy.linalg.solve(s, b, assume_a="sym"),
    "is of a square matrix; it was given": lambda s: scipy.linalg.inv(s[:2]),
    "does not fit the right side": lambda s: scipy.linalg.solve_triangular(s, b[:3]),
}


@pytest.mark.parametrize("message", REFUSED)
def test_refusals(message):
    with pytest.raises(UserError, match=message):
        s2s.make_jaxpr(REFUSED[message])(S)
