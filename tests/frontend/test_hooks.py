"""What is refused, with the line and a way out."""

from __future__ import annotations

import numpy as np
import pytest

from s2s.ir.jaxpr import ShapedArray
from tests.frontend.tracing import FLOAT, agrees, f64, refusal, traced

ARRAY = np.arange(3.0)


# -- values that Python asks for their truth ------------------------------------------------------


def branch(x):
    if x > 0.0:
        return x
    return -x


def conditional(x):
    return x if x > 0.0 else -x


def loop(x):
    while x > 1.0:
        x = x / 2.0
    return x


def both(x):
    return x > 0.0 and x < 1.0


def chained(x):
    return 0.0 < x < 1.0


def negated(x):
    return not x


def keys(x):
    return {y: 1.0 for y in (1, 2) if x > y}


def filtered(x):
    return [y for y in [x] if y > 0.0]


@pytest.mark.parametrize(
    ("function", "line", "instead"),
    [
        (keys, "return {y: 1.0 for y in (1, 2) if x > y}", "np.where"),
    ],
)
def test_truth_of_a_traced_value_is_refused(function, line: str, instead: str) -> None:
    error = refusal(function, FLOAT)
    assert error.source is not None and error.source.text == line
    assert error.message.startswith("whether this is true depends on the values of the arguments")
    assert instead in error.message and "--static" in error.message


def test_truth_of_an_array_is_refused_as_numpy_does() -> None:
    error = refusal(branch, f64(3))
    assert "an array of type bool[3] is neither true nor false" in error.message


def test_truth_of_what_depends_on_constants_only_is_known() -> None:
    def function(x):
        return x if np.all(np.zeros(3) < 1.0) and not np.any(np.ones(2) < 1.0) else -x

    agrees(function, 0.5)


def test_a_refusal_is_no_error_of_the_users_to_handle() -> None:
    def function(x):
        try:
            return filtered(x)
        except Exception:
            return 0.0

    assert "how many items this has depends on the values" in refusal(function, FLOAT).message


def test_named_sizes_can_be_compared_where_the_answer_is_known() -> None:
    def function(x):
        return x * 2.0 if len(x) >= 1 and x.shape[0] == len(x) else x

    assert len(traced(function, f64("n")).closed.eqns) == 1


# -- changes in place -----------------------------------------------------------------------------


def assigns_to_captured_array(x):
    ARRAY[0] = x[0]
    return ARRAY


def adds_to_captured_array(x):
    captured = ARRAY
    captured += x
    return captured


def deletes(x):
    del x[0]
    return x


def sets_shape(x):
    x.shape = (3, 1)
    return x


@pytest.mark.parametrize(
    ("function", "line", "message"),
    [
        (assigns_to_captured_array, "ARRAY[0] = x[0]", "a value that depends on the arguments"),
        (adds_to_captured_array, "captured += x", "a value that depends on the arguments"),
        (deletes, "del x[0]", "elements of an array cannot be deleted"),
        (sets_shape, "x.shape = (3, 1)", "this sets the attribute `shape` of an array"),
    ],
)
def test_changing_an_array_is_refused(function, line: str, message: str) -> None:
    error = refusal(function, f64(3))
    assert error.source is not None and error.source.text == line
    assert error.message.startswith(message)


def test_in_place_operators_on_scalars_bind_anew() -> None:
    def function(x, y):
        z = x
        x += y
        x *= 2.0
        x -= np.sum(y)
        return x, z

    agrees(function, 0.5, 1.5)
    agrees(function, np.float64(0.5), np.float32(1.5))


def test_arrays_made_inside_may_be_changed_to_what_is_static() -> None:
    def function(x):
        weights = np.array([1.0, 2.0, 3.0]) if isinstance(ARRAY, list) else ARRAY.copy()
        weights[0] = 5.0
        before = np.sum(weights * x)
        weights += 1.0
        return before + np.sum(weights * x)

    agrees(function, np.array([0.5, 1.0, 2.0]))


def test_steps_of_a_loop_must_be_known() -> None:
    def by_value(x):
        return [x for _ in range(x)]

    def by_size(x):
        return [x[i] for i in range(len(x))]

    whole = ShapedArray((), np.dtype(np.int64), weak_type=True)
    assert "the function returns a list whose length is steps" in refusal(by_value, whole).message
    message = refusal(by_size, f64("n")).message
    assert message.startswith("the function returns a list whose length is n")
    assert len(traced(by_size, f64(3)).closed.jaxpr.outvars) == 3
