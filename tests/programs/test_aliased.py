"""Arrays that loops know by several names change as in NumPy, in all transformations."""

from collections.abc import Callable
from types import FunctionType
from typing import Any

import pytest

from tests.programs import aliased
from tests.programs.test_random_programs import compared

PROGRAMS = [f for f in vars(aliased).values() if isinstance(f, FunctionType)]


@pytest.mark.parametrize("function", PROGRAMS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_as_numpy(function: Callable[..., Any]) -> None:
    assert compared(function, thorough=True) == "compared"
