"""The traced counterparts of functions of `scipy.special`, of real arguments.

Where a function is a primitive, the generated module calls SciPy as the user does. The others are
written out, and the module needs NumPy only.
"""

from __future__ import annotations

import importlib
import math
from typing import Any

from s2s.numpy import elementary, logical, reductions, shaping
from s2s.numpy.promotion import array_operand
from s2s.numpy.registry import counterpart, mistake
from s2s.numpy.ufuncs import ufunc
from s2s.primitive import Value
from s2s.primitives import functions as lax

special: Any = importlib.import_module("scipy.special")
"""SciPy itself, which has no types."""

# -- primitives -----------------------------------------------------------------------------------

ufunc(special.erf, lax.erf)
ufunc(special.erfc, lax.erfc)
ufunc(special.erfinv, lax.erf_inv)
ufunc(special.expit, lax.logistic)
ufunc(special.gammaln, lax.lgamma)
psi = ufunc(special.psi, lax.digamma)


@counterpart(special.polygamma)
def polygamma(n: Any, x: Any) -> Value:
    """The n-th derivative of digamma; n is an integer known now."""
    if not isinstance(n, int):
        raise mistake("the order of scipy.special.polygamma must be one integer known now")
    value = array_operand(x, "scipy.special.polygamma")
    return psi(value) if n == 0 else lax.polygamma(n, value)


# -- written out ----------------------------------------------------------------------------------


def _logit(x: Any) -> Value:
    """log(x / (1 - x))"""
    return elementary.log(x) - elementary.log1p(-x)


def _log_expit(x: Any) -> Value:
    """log(1 / (1 + exp(-x)))"""
    return -elementary.logaddexp(0.0, -x)


def _xlogy(x: Any, y: Any) -> Value:
    """x * log(y), and 0 where x is 0 and y is a number."""
    vanishes = _is_zero_times_number(x, y)
    return logical.where(vanishes, 0.0, x * elementary.log(logical.where(vanishes, 1.0, y)))


def _xlog1py(x: Any, y: Any) -> Value:
    """x * log(1 + y), and 0 where x is 0 and y is a number."""
    vanishes = _is_zero_times_number(x, y)
    return logical.where(vanishes, 0.0, x * elementary.log1p(logical.where(vanishes, 0.0, y)))


def _is_zero_times_number(x: Any, y: Any) -> Value:
    return logical.logical_and(x == 0.0, y == y)


def _ndtr(x: Any) -> Value:
    """The area under the standard normal density to the left of x: erfc(-x / sqrt(2)) / 2."""
    return 0.5 * lax.erfc(x * -math.sqrt(0.5))


ufunc(special.logit, _logit)
ufunc(special.log_expit, _log_expit)
ufunc(special.xlogy, _xlogy)
ufunc(special.xlog1py, _xlog1py)
ufunc(special.ndtr, _ndtr)


@counterpart(special.softmax)
def softmax(x: Any, axis: Any = None) -> Value:
    """exp(x) over its sum along axes."""
    exponentials = elementary.exp(x - reductions.max(x, axis, keepdims=True))
    return exponentials / reductions.sum(exponentials, axis, keepdims=True)


@counterpart(special.log_softmax)
def log_softmax(x: Any, axis: Any = None) -> Value:
    """The logarithm of the softmax."""
    shifted = x - _finite_maximum(x, axis)
    total = reductions.sum(elementary.exp(shifted), axis, keepdims=True)
    return shifted - elementary.log(total)


@counterpart(special.logsumexp)
def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: Any = False) -> Value:
    """The logarithm of the sum of exponentials along axes, with factors `b` if these are given."""
    value = array_operand(a, "scipy.special.logsumexp")
    maximum = _finite_maximum(value, axis)
    terms = elementary.exp(value - maximum)
    if b is not None:
        terms = b * terms
    total = elementary.log(reductions.sum(terms, axis, keepdims=True)) + maximum
    return total if keepdims else shaping.squeeze(total, axis)


def _finite_maximum(x: Any, axis: Any) -> Value:
    """The maximum along axes where it is finite, else 0; constant, since the results do not depend
    on it."""
    maximum = reductions.max(x, axis, keepdims=True)
    return lax.stop_gradient(logical.where(elementary.isfinite(maximum), maximum, 0.0))
