"""What a function changes outside of itself is refused, with the line that does it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import s2s
from s2s.errors import UserError
from s2s.trace import make
from tests.frontend.tracing import FLOAT, agrees, f64, refusal, traced

WEIGHTS = np.arange(3.0)
CACHE: dict[str, Any] = {}
HISTORY: list[Any] = []
total = 0.0
latest = None


class Model:
    scale = 1.0
    slots = 0

    def __init__(self):
        self.calls = 0
        self.last = None
        self.size = None

    def counts(self, x):
        self.calls += 1
        return x

    def keeps(self, x):
        self.last = x * 2.0
        return x

    def remembers_size(self, x):
        self.size = 3
        return x * self.size


MODEL = Model()


def assigns_global(x):
    global total
    total = total + x
    return x


def counts_in_global(x):
    global total
    total += 1.0
    return x


def keeps_in_global_that_is_none(x):
    global latest
    latest = x
    return x


def keeps_entry(x):
    CACHE["x"] = x
    return x


def appends(x):
    HISTORY.append([x])
    return x


def extends(x):
    local = HISTORY
    local += [x]
    return x


def keeps_attribute(x):
    return MODEL.keeps(x)


def counts_in_attribute(x):
    return MODEL.counts(x)


def sets_attribute_of_class(x):
    Model.scale = x
    return x


def sets_attribute_by_name(x):
    setattr(MODEL, "other", x)  # noqa: B010
    return x


def sets_attribute_of_module(x):
    math.kept = x  # type: ignore[attr-defined]
    return x


def unpacks_into_attribute(x):
    MODEL.last, y = x, 2.0
    return y


def changes_captured_array(x):
    WEIGHTS[0] = 2.0
    return x * WEIGHTS[0]


def sorts_captured_array(x):
    WEIGHTS.sort()
    return x


def loop_variable_is_global(x):
    global total
    for total in [x]:
        pass
    return x


@pytest.mark.parametrize(
    ("function", "line", "what"),
    [
        (assigns_global, "total = total + x", "kept in the variable `total`"),
        (counts_in_global, "total += 1.0", "changes the variable `total`"),
        (keeps_in_global_that_is_none, "latest = x", "kept in the variable `latest`"),
        (loop_variable_is_global, "for total in [x]:", "kept in the variable `total`"),
        (keeps_entry, 'CACHE["x"] = x', "kept in a dict"),
        (appends, "HISTORY.append([x])", "kept in a list"),
        (extends, "local += [x]", "kept in a list"),
        (keeps_attribute, "self.last = x * 2.0", "kept in the attribute `last`"),
        (counts_in_attribute, "self.calls += 1", "changes the attribute `calls`"),
        (sets_attribute_of_class, "Model.scale = x", "kept in the attribute `scale`"),
        (unpacks_into_attribute, "MODEL.last, y = x, 2.0", "kept in the attribute `last`"),
        (sets_attribute_by_name, 'setattr(MODEL, "other", x)  # noqa: B010', "`other`"),
        (sets_attribute_of_module, "math.kept = x  # type: ignore[attr-defined]", "`kept`"),
        (changes_captured_array, "WEIGHTS[0] = 2.0", "changes an array"),
        (sorts_captured_array, "WEIGHTS.sort()", "changes an array"),
    ],
)
def test_changes_that_outlive_the_call_are_refused(function, line: str, what: str) -> None:
    try:
        error = refusal(function, FLOAT)
    finally:
        CACHE.clear()
        HISTORY.clear()
        MODEL.__dict__.update(calls=0, last=None)
        MODEL.__dict__.pop("other", None)
        math.__dict__.pop("kept", None)
        Model.scale = 1.0
        WEIGHTS[:] = np.arange(3.0)
    assert error.source is not None
    assert line.startswith(error.source.text) and error.source.file.endswith("test_leaks.py")
    assert what in error.message


def make_counter():
    count = 0

    def counts(x):
        nonlocal count
        count += 1
        return x * count

    return counts


def test_variables_of_functions_outside_are_refused() -> None:
    error = refusal(make_counter(), FLOAT)
    assert "changes the variable `count`" in error.message
    agrees(lambda x: make_counter()(x), 0.5)


def test_first_values_that_do_not_depend_on_the_arguments_are_allowed() -> None:
    agrees(MODEL.remembers_size, 0.5)
    assert MODEL.size == 3


def test_what_is_made_inside_may_be_changed() -> None:
    def function(x):
        model = Model()
        model.keeps(model.counts(x))
        model.calls = 5
        history = [x]
        history.append(x * 2.0)
        table = {"a": [x]}
        table["a"][0] = x + 1.0
        table.update(b=x)
        array = np.array([1.0, 2.0, 3.0]) * 1.0 if model.calls else WEIGHTS.copy()
        array.sort()
        return model.last * history[-1] + table["a"][0] * table["b"] + model.calls

    agrees(function, 0.5)


def test_values_in_cycles_are_not_taken_for_kept() -> None:
    def function(x):
        def recursive(values, depth):
            values.append(x * depth)
            return recursive(values, depth - 1) if depth else values

        return sum(recursive([], 3))

    agrees(function, 0.5)


def test_arguments_may_be_changed_entry_by_entry() -> None:
    def function(params):
        params["w"] = params["w"] * 2.0
        return params["w"] + params["b"]

    assert len(traced(function, {"w": f64(3), "b": FLOAT}).closed.eqns) == 2


def test_values_of_a_trace_that_has_ended_are_refused() -> None:
    def function(x):
        kept = []

        def inner(t):
            kept.append(t * 2.0)
            return [t]

        make(inner, [FLOAT])
        return x * kept[0]

    error = refusal(function, FLOAT)
    assert "was computed inside of a function whose trace has ended" in error.message
    assert error.source is not None and error.source.text == "return x * kept[0]"


def added_up_in_a_list(x):
    totals = TOTALS
    for v in x:
        totals[0] += v
    return totals[0]


def put_into_a_list(x):
    totals = TOTALS
    totals[int(x[0])] = 1.0
    return totals[0]


def put_into_a_list_in_a_loop(x):
    totals = TOTALS
    for v in x:
        totals[int(v)] += v
    return totals[0]


def added_up_in_an_object(x):
    for v in x:
        METER.total += v
    return METER.total


def changed_in_a_branch(x):
    if x[0] > 0.0:
        METER.total = x[1]
    return METER.total


class Meter:
    def __init__(self) -> None:
        self.total = 0.0


TOTALS: list[Any] = []
METER: Any = None


@pytest.mark.parametrize(
    "function",
    [
        added_up_in_a_list,
        put_into_a_list,
        put_into_a_list_in_a_loop,
        added_up_in_an_object,
        changed_in_a_branch,
    ],
)
def test_what_blocks_leave_in_objects_outside_is_refused(function, monkeypatch) -> None:
    monkeypatch.setitem(globals(), "TOTALS", [0.0, 0.0])
    monkeypatch.setitem(globals(), "METER", Meter())
    error = refusal(function, f64("n"))
    assert "which outlives the call" in error.message
    monkeypatch.setitem(globals(), "TOTALS", [0.0, 0.0])
    monkeypatch.setitem(globals(), "METER", Meter())
    with pytest.raises(UserError, match="which outlives the call"):
        s2s.source(function, np.array([0.2, 0.5]))
