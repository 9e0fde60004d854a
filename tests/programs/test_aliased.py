"""Arrays that loops know by several names change as in NumPy, in all transformations."""

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import s2s
from tests.programs import aliased
from tests.programs.test_random_programs import ARRAYS, COUNTS, arguments, compared

PROGRAMS = [f for f in vars(aliased).values() if isinstance(f, FunctionType)]


@pytest.mark.parametrize("function", PROGRAMS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_as_numpy(function: Callable[..., Any]) -> None:
    assert compared(function, thorough=True) == "compared"


BATCHED = [
    aliased.either_element,
    aliased.some_elements,
    aliased.element_by_element,
    aliased.elements_of_a_matrix,
    aliased.element_part_or_another,
    aliased.element_of_a_while,
    aliased.two_arrays_in_branches,
    aliased.rebound_or_changed,
]


@pytest.mark.parametrize("function", BATCHED)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_gradients_of_a_batch(function: Callable[..., Any]) -> None:
    gradient = s2s.grad(function, ARRAYS)
    points = [arguments(seed) for seed in range(3)]
    wanted = [gradient(*args, k) for args, k in zip(points, COUNTS, strict=True)]
    batch = [np.stack(column) for column in zip(*points, strict=True)]
    found = s2s.vmap(gradient)(*batch, np.array(COUNTS))
    for bar, bars in zip(found, zip(*wanted, strict=True), strict=True):
        np.testing.assert_allclose(bar, np.stack(bars), rtol=1e-9, atol=1e-11)
