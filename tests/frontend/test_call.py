"""trace_call: parameters, arguments, results, and what is known about the function."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np
import pytest

from s2s.errors import UserError
from s2s.frontend.argument_types.types import Static
from s2s.frontend.call import call_user, information, signature_of, trace_call
from s2s.ir.assumptions import Assumptions, assuming
from s2s.ir.dims import dimension
from s2s.ir.jaxpr import ShapedArray
from s2s.trace import evaluate, make
from tests.frontend.tracing import FLOAT, agrees, f64, refusal, traced


def network(params, x, *rest, rate: float = 0.1, **options):
    """Something like a network.

    With a second paragraph.
    """
    y = np.tanh(x @ params["w1"]) @ params["w2"]
    return {"out": [y * rate, *rest], "more": tuple(options.values()), "none": None}


PARAMS = {"w1": np.ones((3, 4)), "w2": np.ones(4)}
X = np.array([0.5, -1.25, 2.0])


def test_all_kinds_of_parameters() -> None:
    found = agrees(network, PARAMS, X, 1.5, X, rate=0.5, factor=2.5)
    kinds = inspect.Parameter
    assert [(p.name, p.kind, len(p.leaves)) for p in found.parameters] == [
        ("params", kinds.POSITIONAL_OR_KEYWORD, 2),
        ("x", kinds.POSITIONAL_OR_KEYWORD, 1),
        ("rest", kinds.VAR_POSITIONAL, 2),
        ("rate", kinds.KEYWORD_ONLY, 1),
        ("options", kinds.VAR_KEYWORD, 1),
    ]
    assert str(found.result) == "{'out': [*, *, *], 'more': (*,), 'none': None}"


def test_parameters_left_out_have_their_defaults() -> None:
    found = trace_call(network, {"params": {"w1": f64(3, 4), "w2": f64(4)}, "x": f64(3)})
    rate = found.parameters[3]
    assert rate.type == Static(0.1) and rate.default == 0.1 and rate.is_static
    with pytest.raises(UserError, match="no type is known for the parameter `x`"):
        trace_call(network, {"params": f64(3)})
    with pytest.raises(UserError, match="no parameter `z`; the parameters are params, x"):
        trace_call(network, {"params": f64(3), "x": f64(3), "z": f64(3)})


def test_inputs_are_named_after_keys_and_fields() -> None:
    def function(params, layers, w):
        return 0.0

    layer = {"w": FLOAT, "b": FLOAT}
    found = traced(function, {"first": FLOAT, "w": FLOAT}, [layer, layer], FLOAT)
    assert [var.name for var in found.closed.jaxpr.invars] == [
        "first",
        "params_w",
        "layers_0_w",
        "layers_0_b",
        "layers_1_w",
        "layers_1_b",
        "w",
    ]


def test_parts_of_arguments_may_be_static() -> None:
    def function(config, x):
        return np.tanh(x) if config["activation"] == "tanh" else x * config["rate"]

    types = {"activation": Static("relu"), "rate": FLOAT}
    found = trace_call(function, {"config": types, "x": f64(3)})
    assert [str(eqn.primitive) for eqn in found.closed.eqns] == ["mul"]


def test_results_may_be_constants_sizes_and_arguments() -> None:
    def function(x):
        return x, len(x), 2.0, True, np.arange(2.0), np.float32(1.5)

    found = traced(function, f64("n"))
    assert [str(aval) for aval in found.closed.out_avals] == [
        "f64[n]",
        "i64[]",
        "f64[]",
        "bool[]",
        "f64[2]",
        "f32[]",
    ]


@pytest.mark.parametrize(
    ("result", "what"),
    [
        ({"a": "text"}, "str at ['a']"),
        ([np.array(["a"])], "array of <U1 at [0]"),
        (print, "builtin_function_or_method"),
    ],
)
def test_other_results_are_refused(result: Any, what: str) -> None:
    def function(x):
        return result

    error = refusal(function, FLOAT)
    assert error.message.startswith(f"the function returns a value of type {what}. Results must")
    assert error.source is not None and error.source.text == "def function(x):"


def test_lower_bounds_of_sizes_are_kept() -> None:
    assert traced(lambda x: x[2:-1], f64("n")).minimum == {"n": 3}
    with assuming(Assumptions({"n": 5})) as assumed:
        assert len(traced(lambda x: x if len(x) > 4 else -x, f64("n")).closed.eqns) == 0
    assert assumed.minimum == {"n": 5}


def test_what_is_known_about_the_function() -> None:
    found = information(network)
    assert found.name == "network" and found.line == network.__code__.co_firstlineno
    assert found.file.endswith("test_call.py") and len(found.digest) == 16
    assert found.doc == "Something like a network.\n\nWith a second paragraph."
    assert information(functools.partial(network, x=X)).line == found.line
    assert information(np.sin).file == ""


def test_signatures() -> None:
    assert list(signature_of(network).parameters) == ["params", "x", "rest", "rate", "options"]
    assert list(signature_of(np.sin).parameters) == ["x"]
    assert list(signature_of(np.arctan2).parameters) == ["x1", "x2"]
    assert str(trace_call(np.sin, {"x": f64(3)}).closed.out_avals[0]) == "f64[3]"
    with pytest.raises(UserError, match=r"dict cannot be read\. Wrap it in a function of your"):
        signature_of(dict)


def test_calls_inside_of_a_trace() -> None:
    def helper(x):
        y = x * 2.0
        return [y, y + 1.0]

    closed = make(lambda x: call_user(helper, x), [FLOAT])
    assert [var.name for eqn in closed.eqns for var in eqn.outvars] == ["y", None]
    assert closed.eqns[0].source is not None and closed.eqns[0].source.text == "y = x * 2.0"


def test_a_trace_inside_of_a_trace_captures_what_it_reads() -> None:
    def function(x):
        y = x * 2.0

        def nested(t):
            return t * y

        closed = trace_call(nested, {"t": f64("n")}).closed
        assert [var.name for var in closed.jaxpr.constvars] == ["y"]
        assert closed.out_avals[0] == ShapedArray((dimension("n"),), np.dtype(np.float64))
        return y

    traced(function, f64("n"))


def test_arrays_changed_between_uses_are_two_constants() -> None:
    def function(x):
        table = np.loadtxt(["1.0 2.0"])
        first = np.sum(table * x)
        table[0] = 5.0
        return first + np.sum(table * x)

    found = agrees(function, np.array([0.5, 1.0]))
    assert [var.name for var in found.closed.jaxpr.constvars] == ["table", "table"]


def test_a_range_is_as_long_as_its_size_says() -> None:
    def first_ones(x):
        found = [x[i] for i in range(len(x) - 3)]
        return np.sum(x) * len(found)

    def none(x):
        found = [x[i] for i in range(len(x), 0)]
        return np.sum(x) + len(found)

    # With fewer elements, Python's range has none, and not n - 3.
    assert traced(first_ones, f64("n")).minimum == {"n": 3}
    found = traced(none, f64("n"))
    assert not found.minimum
    assert evaluate(found.closed, np.ones(2)) == [2.0]
