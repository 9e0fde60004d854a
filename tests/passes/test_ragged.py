"""Arrays whose sizes only the run tells: in batches, and what is said of them."""

from typing import Any

import numpy as np
import pytest

import s2s
from s2s.errors import UserError
from s2s.ir.assumptions import UndecidedDimension
from s2s.ir.dims import fresh_dimension
from s2s.trace import walk

X = np.array([0.1, 0.3, -0.2, 0.9, 0.7])


def positive_ones(x: Any) -> Any:
    return np.array([v for v in x if v > 0.0])


def mean_of_positive_ones(x: Any) -> Any:
    found = [v for v in x if v > 0.0]
    return sum(found) / max(len(found), 1)


def test_examples_are_computed_one_by_one() -> None:
    batch = np.stack([X, -X, np.full(5, -1.0)])
    expected = [mean_of_positive_ones(x) for x in batch]
    np.testing.assert_allclose(s2s.vmap(mean_of_positive_ones)(batch), expected, rtol=1e-15)
    expected = [s2s.grad(mean_of_positive_ones)(x) for x in batch]
    np.testing.assert_array_equal(s2s.vmap(s2s.grad(mean_of_positive_ones))(batch), expected)
    of_all = s2s.grad(lambda xs: np.sum(s2s.vmap(mean_of_positive_ones)(xs)))
    np.testing.assert_array_equal(of_all(batch), expected)


def test_results_of_different_sizes_are_no_batch() -> None:
    with pytest.raises(UserError, match=r"another size, .*, for each example of the batch"):
        s2s.vmap(positive_ones)(np.stack([X, -X]))


def test_what_a_pass_cannot_decide_is_said_with_the_line() -> None:
    closed = s2s.make_jaxpr(lambda x: np.sum(x))(X)

    def undecided(eqn: Any, operands: Any) -> Any:
        raise UndecidedDimension("whether n == 1", ["n"])

    with pytest.raises(UserError, match=r"test_ragged\.py:\d+: .*whether n == 1 depends on"):
        walk(closed, [X], undecided)


def test_a_size_that_only_the_run_tells_is_not_asked_for() -> None:
    name = str(fresh_dimension("steps"))
    assert "a number in the types of the arguments" not in str(UndecidedDimension("?", [name]))
    assert "a number in the types of the arguments" in str(UndecidedDimension("?", ["n"]))
