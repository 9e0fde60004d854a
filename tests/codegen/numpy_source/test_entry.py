"""What a generated function refuses, and that it says what it wants."""

from typing import Any

import numpy as np
import pytest

from s2s import lax
from s2s.frontend.argument_types.types import Static
from s2s.frontend.traced import Parameter, leaf_names
from s2s.ir.dims import dimension
from s2s.ir.jaxpr import ShapedArray
from s2s.primitives.indexing import put_at
from s2s.trace import make
from s2s.tree import LEAF, flatten
from s2s_codegen.numpy_source import Description, render
from tests.codegen.numpy_source.bodies import FLOAT, f64

N = dimension("n")


def module(fun: Any, **options: Any) -> str:
    """The text of a module for a function of the given parameters, by name."""
    minimum = options.pop("minimum", {})
    parameters = tuple(Parameter(name, kind) for name, kind in options.items())
    avals = [aval for parameter in parameters for aval in parameter.leaves]
    names = [name for parameter in parameters for name in leaf_names(parameter)]
    closed = make(lambda *args: [fun(*args)], avals, names)
    return render(Description("f", parameters, LEAF, "A function.", minimum=minimum), closed)


def function(text: str) -> Any:
    namespace: dict[str, Any] = {}
    exec(compile(text, "<module>", "exec"), namespace)
    return namespace["f"]


def entry(text: str) -> list[str]:
    """The lines between the docstring and the statements."""
    body = text.split('"""\n')[-1]
    return [line.strip() for line in body.split("\n\n")[0].splitlines()]


def product(x: Any, y: Any) -> Any:
    return lax.reduce_sum(lax.mul(x, y), tuple(range(x.aval.ndim)))


def test_shapes_are_compared() -> None:
    text = module(product, x=f64("n", "m"), y=f64("n", "m"))
    assert entry(text) == [
        "n, m = x.shape",
        "if y.shape != (n, m):",
        'raise ValueError("expected x: f64[n, m], y: f64[n, m]")',
    ]
    f = function(text)
    assert f(np.ones((2, 3)), np.full((2, 3), 2.0)) == 12.0
    for x, y in [((2, 3), (3,)), ((2, 3), (1, 3)), ((3,), (3,)), ((2, 3), (2, 4))]:
        with pytest.raises(ValueError, match=r"expected x: f64\[n, m\]|not enough values"):
            f(np.ones(x), np.ones(y))


def test_one_array_is_taken_apart() -> None:
    text = module(lambda x: lax.reduce_sum(x, (0,)), x=f64("n"))
    assert "    (n,) = x.shape\n" in text and "raise" not in text
    with pytest.raises(ValueError, match="unpack"):
        function(text)(np.ones((2, 2)))


def test_sizes_that_were_fixed_are_checked() -> None:
    f = function(module(lambda x: lax.reduce_sum(x, (0, 1)), x=f64("n", 3)))
    assert f(np.ones((2, 3))) == 6.0
    with pytest.raises(ValueError, match=r"expected x: f64\[n, 3\]"):
        f(np.ones((2, 4)))


def test_bounds_are_checked() -> None:
    f = function(module(lambda x: lax.reduce_sum(x, (0,)), x=f64("n"), minimum={"n": 2}))
    assert f(np.ones(2)) == 2.0
    with pytest.raises(ValueError, match="n >= 2"):
        f(np.ones(1))


def test_a_size_is_found_where_it_is_not_alone() -> None:
    double = ShapedArray((2 * N + 1,), np.dtype(np.float64))

    def count(x: Any) -> Any:
        return lax.add(
            lax.reduce_sum(x, (0,)), lax.convert_element_type(lax.dim_as_value(N), x.aval.dtype)
        )

    f = function(module(count, x=double))
    assert f(np.zeros(7)) == 3.0
    with pytest.raises(ValueError, match="expected x"):
        f(np.zeros(6))


def test_an_array_in_place_of_a_number() -> None:
    f = function(module(lambda x, s: lax.reduce_sum(lax.mul(x, s), (0,)), x=f64("n"), s=f64()))
    assert (
        f(np.ones(3), np.float64(2.0)) == f(np.ones(3), np.array(2.0)) == f(np.ones(3), 2.0) == 6.0
    )
    with pytest.raises(ValueError, match=r"s: f64\[\]"):
        f(np.ones(3), np.ones(3))


def test_an_array_in_place_of_a_python_number() -> None:
    f = function(module(lambda x, s: lax.reduce_sum(lax.mul(x, s), (0,)), x=f64("n"), s=FLOAT))
    assert f(np.ones(3), 2.0) == 6.0
    with pytest.raises(ValueError, match="s: float"):
        f(np.ones(3), np.ones(3))


def test_an_array_in_place_of_a_lone_number() -> None:
    f = function(module(lambda x, y: lax.sin(lax.mul(x, y)), x=f64(), y=f64()))
    assert f(np.float64(0.0), 2.0) == 0.0
    with pytest.raises(ValueError, match="expected x"):
        f(np.ones(3), 2.0)


def test_integers_in_place_of_floats_that_would_be_truncated() -> None:
    def put(x: Any) -> Any:
        return put_at(x, [0], [np.array([1])], lax.full((1,), 0.5, np.dtype(np.float64)))

    f = function(module(put, x=f64(3)))
    np.testing.assert_array_equal(f(np.zeros(3)), [0.0, 0.5, 0.0])
    with pytest.raises(TypeError, match=r"expected x: f64\[3\]"):
        f(np.zeros(3, int))


def test_arguments_that_nothing_reads_are_not_looked_at() -> None:
    f = function(module(lambda x, y: lax.reduce_sum(x, (0,)), x=f64("n"), y=f64("m")))
    assert f(np.ones(3), None) == 3.0


def test_numbers_need_no_numpy() -> None:
    text = module(lambda x, y: lax.mul(x, lax.exp(y)), x=FLOAT, y=FLOAT)
    assert "import math\n" in text and "numpy" not in text


def test_element_types_that_the_text_depends_on() -> None:
    single = ShapedArray((N,), np.dtype(np.float32))

    def padded(x: Any) -> Any:
        return lax.pad(x, 0.0, ((1, 0, 0),))

    f = function(module(padded, x=single))
    assert f(np.ones(2, np.float32)).dtype == np.float32
    with pytest.raises(TypeError, match=r"expected x: f32\[n\]"):
        f(np.ones(2))


def test_float32_in_float32_out() -> None:
    text = module(lambda x: lax.mul(x, 0.1), x=ShapedArray((N,), np.dtype(np.float32)))
    assert "dtype" not in text
    assert function(text)(np.ones(2, np.float32)).dtype == np.float32


def test_values_that_were_fixed() -> None:
    text = module(
        lambda x: lax.mul(2.0, x),
        x=f64("n"),
        steps=Static(3),
        name=Static("tanh"),
        flag=Static(None),
    )
    f = function(text)
    np.testing.assert_array_equal(f(np.ones(2), 3, "tanh", None), 2.0)
    for arguments, message in [
        ((4, "tanh", None), "steps=3"),
        ((3, "relu", None), "name='tanh'"),
        ((3, "tanh", 0), "flag=None"),
    ]:
        with pytest.raises(ValueError, match=f"made for {message} only"):
            f(np.ones(2), *arguments)


def test_containers_are_unpacked() -> None:
    params = {"w": f64("n"), "layers": [f64("n"), {"b": f64("n")}]}

    def total(w: Any, first: Any, b: Any) -> Any:
        return lax.add(lax.mul(w, first), b)

    text = module(total, params=params)
    assert entry(text)[:2] == [
        'w, layers_0, b = params["w"], params["layers"][0], params["layers"][1]["b"]',
        "(n,) = w.shape",
    ]
    leaves = [np.full(2, value) for value in (2.0, 3.0, 4.0)]
    given = {"w": leaves[0], "layers": [leaves[1], {"b": leaves[2]}]}
    np.testing.assert_array_equal(function(text)(given), 10.0)
    assert flatten(given)[0][0] is leaves[0]
