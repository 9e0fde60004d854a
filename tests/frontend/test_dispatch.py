"""Which function is called for which: NumPy's by identity, libraries' as they are."""

from __future__ import annotations

import collections
import copy
import functools
import itertools
import json
import operator
import statistics
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.special
from numpy import tanh as th

from s2s.ir.dims import dimension
from tests.frontend.tracing import FLOAT, agrees, f64, refusal, traced

X = np.array([0.5, -1.25, 2.0])
WEIGHTS = np.array([1.0, 2.0, 3.0])
np_sum = np.sum


@pytest.mark.parametrize(
    "function",
    [
        lambda x: th(x) + np_sum(x),
        lambda x: np.add.reduce(x) * np.multiply.outer(x, x),
        lambda x: np.array([x[0], 2.0, x[1]]) * np.stack([x, WEIGHTS]).sum(axis=0),
        lambda x: WEIGHTS.dot(x) + WEIGHTS.reshape(3, 1) * x,
        lambda x: np.ndarray.sum(x) + np.ndarray.dot(WEIGHTS, x),
        lambda x: WEIGHTS * x + np.float64(2.0) * x,
        lambda x: np.linalg.norm(WEIGHTS) * x,
        lambda x: x * np.cov(WEIGHTS),
        lambda x: np.finfo(x.dtype).eps * x if np.issubdtype(x.dtype, np.floating) else x,
    ],
)
def test_numpy_functions_are_found_by_identity(function: Any) -> None:
    agrees(function, X)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: functools.reduce(lambda a, b: np.logaddexp(a, b), x),
        lambda x: functools.reduce(operator.mul, list(x), 2.0),
        lambda x: list(itertools.accumulate(x)) + list(itertools.chain([x[0]], [x[1]])),
        lambda x: [a * b for a, b in itertools.product([x[0]], [x[1], x[2]])],
        lambda x: list(itertools.starmap(lambda a, b: a * b, [(x[0], x[1])])),
        lambda x: copy.deepcopy({"a": [x]})["a"][0] + copy.copy([x])[0],
        lambda x: collections.OrderedDict(a=x)["a"] * len(collections.deque([x])),
        lambda x: collections.defaultdict(float, a=x)["a"] + collections.defaultdict(float)["b"],
        lambda x: functools.partial(np.where, x > 0.0)(x, -x),
        lambda x: operator.itemgetter(0)(x) + operator.attrgetter("T")(x),
    ],
)
def test_libraries_are_called_as_they_are(function: Any) -> None:
    agrees(function, X)


def test_functions_of_numpy_take_named_sizes() -> None:
    def function(x):
        return np.zeros(x.shape) + x, np.ones((2, len(x))), np.prod(x.shape) * x

    shapes = [aval.shape for aval in traced(function, f64("n")).closed.out_avals]
    n = dimension("n")
    assert shapes == [(n,), (2, n), (n,)]


def test_what_depends_on_nothing_traced_is_computed_at_once() -> None:
    found = traced(lambda x: x * np.linalg.det(np.diag(WEIGHTS)), FLOAT)
    assert len(found.closed.eqns) == 1


@functools.singledispatch
def described(x):
    return x * 2.0


@described.register
def _(x: np.ndarray):
    return np.sum(x)


@described.register
def _(x: float):
    return np.sin(x)


def test_single_dispatch_is_by_the_class_that_a_value_stands_for() -> None:
    agrees(lambda x: described(x), X)
    agrees(lambda x: described(x), 0.5)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda x: np.i0(x), "np.i0"),
        (lambda x: np.spacing(x), "np.spacing"),
        (lambda x: scipy.special.gammainc(1.0, x), "scipy.special.gammainc"),
        (lambda x: scipy.linalg.toeplitz(x), "scipy.linalg.toeplitz"),
    ],
)
def test_unknown_numerical_functions_are_refused_by_name(function: Any, name: str) -> None:
    error = refusal(function, f64(3))
    assert error.message.startswith(f"{name} of a value that depends on the arguments is not")


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda x: np.intersect1d(x, x), "np.intersect1d"),
        (lambda x: np.union1d(x, x), "np.union1d"),
        (lambda x: np.trim_zeros(x), "np.trim_zeros"),
    ],
)
def test_shapes_that_depend_on_values_are_refused_by_name(function: Any, name: str) -> None:
    error = refusal(function, f64(3))
    assert name in error.message and "np.where" in error.message


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: json.dumps(x), "json.dumps raises TypeError"),
        (lambda x: statistics.mean([x, 1.0]), "statistics.mean raises TypeError"),
        (lambda x: "abc".find(x), "str.find cannot take a value that depends on the arguments"),
        (lambda x: x(1.0), "raises TypeError: a value that depends on the arguments is not"),
    ],
)
def test_libraries_that_cannot_take_traced_values_are_named(function: Any, message: str) -> None:
    assert refusal(function, FLOAT).message.startswith(message)
