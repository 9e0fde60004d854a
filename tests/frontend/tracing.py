"""Tracing in tests: a traced function must compute what the function itself computes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2s.errors import UserError
from s2s.frontend.argument_types.types import type_of_example
from s2s.frontend.call import trace_call
from s2s.frontend.traced import Traced
from s2s.ir.check import check
from s2s.ir.dims import dimension
from s2s.ir.jaxpr import ShapedArray
from s2s.trace import evaluate
from s2s.tree import flatten, unflatten


def f64(*shape: int | str) -> ShapedArray:
    """The type of a float64 array; a size that is a string is a named dimension."""
    sizes = tuple(dimension(size) if isinstance(size, str) else size for size in shape)
    return ShapedArray(sizes, np.dtype(np.float64))


FLOAT = ShapedArray((), np.dtype(np.float64), weak_type=True)
"""The type of a Python float."""


def traced(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Traced:
    """The traced call of a function on types, or on values for what is static."""
    bound = inspect.signature(function).bind(*args, **kwargs).arguments
    types = {
        name: value if contains_types(value) else type_of_example(value)
        for name, value in bound.items()
    }
    found = trace_call(function, types)
    check(found.closed.jaxpr)
    return found


def contains_types(value: Any) -> bool:
    return any(isinstance(leaf, ShapedArray) for leaf in flatten(value)[0])


def agrees(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Traced:
    """Fails unless the traced function gives what the function itself gives on these arguments.

    Arrays and floats are traced, integers and what is not a number are static.
    """
    found = traced(function, *args, **kwargs)
    bound = inspect.signature(function).bind(*args, **kwargs).arguments
    inputs = [
        leaf
        for name in bound
        for leaf in flatten(bound[name])[0]
        if isinstance(leaf, (np.ndarray, np.generic)) or type(leaf) is float
    ]
    result = unflatten(found.result, evaluate(found.closed, *inputs))
    expected = function(*args, **kwargs)
    leaves, structure = flatten(result)
    expected_leaves, expected_structure = flatten(expected)
    assert structure == expected_structure
    for value, wanted in zip(leaves, expected_leaves, strict=True):
        assert np.shape(value) == np.shape(wanted)
        assert np.result_type(value) == np.result_type(wanted)
        # `math`, NumPy and SciPy may differ in the last bits of a transcendental function.
        np.testing.assert_allclose(value, wanted, rtol=1e-15, atol=0)
    return found


def refusal(function: Callable[..., Any], *args: Any, **kwargs: Any) -> UserError:
    """The error that tracing the function on these types raises, which must have a line."""
    with pytest.raises(UserError) as caught:
        traced(function, *args, **kwargs)
    assert caught.value.source is not None
    return caught.value


def names(found: Traced) -> list[str | None]:
    """The names of all results of equations, in order."""
    return [var.name for eqn in found.closed.eqns for var in eqn.outvars]
