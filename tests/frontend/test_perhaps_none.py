"""Variables that are None in some branches or steps: what is done with them where they are None."""

from __future__ import annotations

import numpy as np
import pytest

import s2s
from tests.programs.test_random_programs import defined


def best_of_positive(x, s):
    best = None
    for v in x:
        if v > s and (best is None or v < best):
            best = v
    return 2.0 * best


def asserted(x, s):
    found = np.max(x) if s > 0.0 else None
    assert found is not None
    return found * s if found is not None else 0.0


def asserted_in_steps(x, s, k):
    found = np.max(x) if s > 0.0 else None
    for _ in range(k):
        assert found is not None
    return 1.0 if found is None else found


def given_in_steps(x, s, k):
    found = np.max(x) if s > 0.0 else None
    total = 0.0
    for _ in range(k):
        total += found * s
    return total if found is None else found


def returned_or_none(x, s):
    if s > 0.0:
        return x * s
    return None


X = np.array([0.3, -0.2, 0.7])


def test_what_is_used_is_not_none() -> None:
    function = defined(s2s.source(best_of_positive, X, 0.1), "best_of_positive")
    assert function(X, 0.1) == best_of_positive(X, 0.1)
    with pytest.raises(TypeError, match="`best` is None here"):
        function(X, 2.0)


def test_what_is_asserted_is_known_after_it() -> None:
    source = s2s.source(asserted, X, 0.1)
    assert "is None here" not in source
    function = defined(source, "asserted")
    assert function(X, 0.1) == asserted(X, 0.1)
    with pytest.raises(AssertionError):
        function(X, -0.1)


@pytest.mark.parametrize("function", [asserted_in_steps, given_in_steps])
def test_what_a_step_asserts_is_not_known_after_a_loop_that_may_make_none(function) -> None:
    generated = defined(s2s.source(function, X, 0.1, np.int64(2)), function.__name__)
    for s, k in [(0.1, 2), (0.1, 0), (-0.1, 0)]:
        assert generated(X, s, np.int64(k)) == function(X, s, k)
    with pytest.raises((AssertionError, TypeError)):
        generated(X, -0.1, np.int64(2))


def test_a_result_is_not_none() -> None:
    function = defined(s2s.source(returned_or_none, X, 0.1), "returned_or_none")
    np.testing.assert_array_equal(function(X, 0.1), returned_or_none(X, 0.1))
    with pytest.raises(TypeError, match="is None here"):
        function(X, -0.1)
