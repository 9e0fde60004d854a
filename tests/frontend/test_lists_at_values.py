"""Lists of numbers of which items are put at indices that are values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import s2s
from s2s.ir.jaxpr import ShapedArray
from s2s.trace import evaluate
from tests.frontend.tracing import FLOAT, f64, refusal, traced

INT = ShapedArray((), np.dtype(np.int64), weak_type=True)
X = np.array([0.1, 0.4, 0.55, 0.9, 0.2])


def sums(x, size):
    found = [0] * size
    for v in x:
        found[int(size * v)] += v
    return found


def row_known_by_a_name(x):
    table = [[0.0] * len(x) for _ in range(len(x))]
    for i in range(len(x)):
        row = table[i]
        for j in range(len(x)):
            row[j] += x[i] * x[j]
    return table[1][2] + table[2][2]


def slice_stays_what_it_was(x):
    found = [v * 2.0 for v in x]
    part, same = found[1:], list(found)
    found[1] = 7.0
    part[0] += 1.0
    return found[1] + 10.0 * part[0] + 100.0 * same[1]


def array_stays_what_it_was(x):
    found = [v * 2.0 for v in x]
    array = np.asarray(found)
    found[1] = 7.0
    array[2] = 5.0
    return found[1] + 10.0 * array[1] + 100.0 * found[2]


def appended_afterwards(x):
    found = [0.0] * 3
    for v in x:
        found[int(3 * v)] += v
    found.append(x[0])
    found.insert(0, x[1])
    return found[0] + 2.0 * found[1] + 3.0 * found[-1] + len(found)


def through_a_function(x):
    def put(items, k, v):
        items[k] += v

    found = [0.0] * 3
    for v in x:
        put(found, int(3 * v), v)
    return found[0] + 2.0 * found[1]


def in_a_dict(x):
    state = {"sums": [0.0] * 3, "count": 0}
    for v in x:
        state["sums"][int(3 * v)] += v
        state["count"] += 1
    return state["sums"][1] / state["count"]


def nested_loops(x):
    found = [0.0] * 3
    for v in x:
        for w in x:
            found[int(1.5 * (v + w))] += v * w
        found[0] += 1.0
    return found[0] + 2.0 * found[1]


def whole_numbers_become_floats_in_a_loop(x):
    found = [0, 1, 2]
    for v in x:
        found[int(3 * v)] = found[int(3 * v)] * v
    return found[0] + 2 * found[1] + 3 * found[2]


def truth_values(x):
    seen = [False] * 3
    again = 0.0
    for v in x:
        k = int(3 * v)
        if seen[k]:
            again += v
        seen[k] = True
    return again


def iterated_while_it_changes(x):
    found = [v * 1.0 for v in x]
    for i, v in enumerate(found):
        found[i] = v * v
    return sum(found)


@pytest.mark.parametrize(
    "function",
    [
        row_known_by_a_name,
        slice_stays_what_it_was,
        array_stays_what_it_was,
        appended_afterwards,
        through_a_function,
        in_a_dict,
        nested_loops,
        whole_numbers_become_floats_in_a_loop,
        truth_values,
        iterated_while_it_changes,
    ],
)
def test_as_python(function) -> None:
    found = evaluate(traced(function, f64(5)).closed, X)
    assert float(found[0]) == float(function(X))
    namespace: dict[str, Any] = {}
    exec(s2s.source(function, X), namespace)
    for x in X, X[:4]:
        assert namespace[function.__name__](x) == function(x)


def test_the_list_may_be_returned() -> None:
    found = evaluate(traced(sums, f64(5), 3).closed, X)
    np.testing.assert_array_equal(found, sums(X, 3))


def test_numbers_of_lists_adapt_to_other_types() -> None:
    """A float of Python's times one of f32 is one of f32, also from a list that is an array."""

    def weighted(x):
        weights = [0.1, 0.2, 0.3]
        weights[int(3 * x[0])] = 0.5
        return weights[int(3 * x[1])] * x

    x = X.astype(np.float32)
    (found,) = evaluate(traced(weighted, ShapedArray((5,), x.dtype)).closed, x)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, weighted(x))


def test_a_list_of_unknown_length_is_refused() -> None:
    def repeated(x, n):
        found = [x] * n
        return found[0]

    assert "how often the items of this list are repeated" in str(refusal(repeated, FLOAT, INT))


def test_numbers_of_another_type_are_refused() -> None:
    def mixed(x, k):
        found = [x, np.float32(1.0)]
        found[k] = 2.0
        return found[0]

    assert "of different types" in str(refusal(mixed, FLOAT, INT))
