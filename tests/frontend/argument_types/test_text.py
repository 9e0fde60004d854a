"""The language of `--args`: what it reads, and what it says where it cannot."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from s2s.errors import UserError
from s2s.frontend.argument_types.text import parse_arguments, parse_type
from s2s.frontend.argument_types.types import Static, render
from s2s.ir.dims import dimension
from s2s.ir.dtypes import BOOL, FLOAT64, INT64
from s2s.ir.jaxpr import ShapedArray


class Params(NamedTuple):
    w: Any
    b: Any


n, d, k = map(dimension, "ndk")


def f64(*shape):
    return ShapedArray(shape, FLOAT64)


def test_arrays():
    found = parse_arguments(
        "w: f64[d, k], x: float32[n,d], y: i64[3], flag: bool[n], s: f64[], t: f64"
    )
    assert found == {
        "w": f64(d, k),
        "x": ShapedArray((n, d), np.dtype(np.float32)),
        "y": ShapedArray((3,), INT64),
        "flag": ShapedArray((n,), BOOL),
        "s": f64(),
        "t": f64(),
    }


def test_python_scalars_are_weak():
    found = parse_arguments("a: float, b: int, c: bool, d: complex")
    assert [leaf.weak_type for leaf in found.values()] == [True] * 4
    assert [leaf.dtype.kind for leaf in found.values()] == ["f", "i", "b", "c"]


def test_sizes_are_polynomials():
    found = parse_type("f64[n+1, 2*n - 1, n*d, (n + 1)*2, n**2, n//2, 0]", "a test")
    assert found == f64(n + 1, 2 * n - 1, n * d, 2 * n + 2, n * n, n // 2, 0)


def test_containers():
    found = parse_arguments(
        "p: {a: f64[n], 'b c': [i32[], f32[2]]}, q: (f64[3], None), r: (f64[n],), s: (float)"
    )
    assert found["p"]["a"] == f64(n)
    assert [str(leaf) for leaf in found["p"]["b c"]] == ["i32[]", "f32[2]"]
    assert found["q"] == (f64(3), None)
    assert found["r"] == (f64(n),)
    assert found["s"] == ShapedArray((), FLOAT64, weak_type=True)


def test_classes_of_the_users_module():
    found = parse_arguments("p: Params(b=float, w=f64[n])", namespace={"Params": Params})
    assert found["p"] == Params(f64(n), ShapedArray((), FLOAT64, weak_type=True))


def test_static_values():
    found = parse_arguments(
        "steps=50, count: 3, name: 'tanh', rate: -1e-3, on: True, sizes=[1, (2, 3)], f=np.tanh, "
        "a=1, b: f64",
    )
    assert found == {
        "steps": Static(50),
        "count": Static(3),
        "name": Static("tanh"),
        "rate": Static(-1e-3),
        "on": Static(True),
        "sizes": Static([1, (2, 3)]),
        "f": Static(np.tanh),
        "a": Static(1),
        "b": f64(),
    }


def test_what_holds_nothing_traced_is_one_static_value():
    assert parse_arguments("p: {a: 3, b: ['x', None]}")["p"] == Static({"a": 3, "b": ["x", None]})


@pytest.mark.parametrize(
    "text",
    [
        "f64[d, k]",
        "f32[n + 1, 2*n - 1]",
        "{a: f64[n], 'b c': [i32[], float]}",
        "(f64[3],)",
        "(f64[3], None)",
        "Params(w=f64[n], b=int)",
        "bool[n]",
        "bool",
        "complex",
        "50",
        "'tanh'",
    ],
)
def test_render_writes_what_parse_reads(text):
    assert render(parse_type(text, "a test", {"Params": Params})) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "w: f63[d]",
            '--args "w: f63[d]", at column 4, `f63[d]`: there is no element type f63; there are '
            "bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64, c64, c128.",
        ),
        (
            "w f64",
            '--args "w f64", at column 3, `f64`: expected a colon and a type after w, '
            "as in `w: f64[n]`.",
        ),
        ("w: f64[n", '--args "w: f64[n", at the end: expected a comma or ].'),
        ("w: f64[n]]", '--args "w: f64[n]]", at column 10, `]`: expected a comma or the end.'),
        (
            "w: f64[n], w: f64",
            '--args "w: f64[n], w: f64", at column 12, `w: f64`: w is given twice.',
        ),
        (
            "w: float[3]",
            '--args "w: float[3]", at column 4, `float[3]`: `float` is a Python number; '
            "an array is f64[...] or float64[...].",
        ),
        (
            "w: f64[...]",
            '--args "w: f64[...]", at column 8, `...]`: `...` stands for the sizes that you are '
            "to fill in, such as n, d.",
        ),
        (
            "w: ...",
            '--args "w: ...", at column 4, `...`: `...` stands for what you are to fill in, '
            "such as f64[n, d].",
        ),
        (
            "w: f64[n.5]",
            '--args "w: f64[n.5]", at column 9, `.5]`: expected a comma or ].',
        ),
        (
            "w: f64[1.5]",
            '--args "w: f64[1.5]", at column 8, `1.5]`: expected a size: a number, a name '
            "such as n, or 2*n + 1.",
        ),
        (
            "w: f64[lambda]",
            '--args "w: f64[lambda]", at column 8, `lambda]`: `lambda` cannot be the name of a '
            "dimension.",
        ),
        (
            "w: P(a=f64)",
            '--args "w: P(a=f64)", at column 4, `P(a=f64)`: the module has no dataclass or '
            "NamedTuple called P.",
        ),
        (
            "w: Params(a=f64)",
            '--args "w: Params(a=f64)", at column 16, `)`: the fields of Params are w, b.',
        ),
        (
            "f=foo",
            "--args \"f=foo\", at column 3, `foo`: `foo` raises NameError: name 'foo' is not "
            "defined.",
        ),
    ],
)
def test_errors_say_where_and_what(text, message):
    with pytest.raises(UserError) as caught:
        parse_arguments(text, namespace={"Params": Params})
    assert str(caught.value) == message
