"""The texts of primitives: with minimal parentheses, and for Python floats."""

import ast
import math

import numpy as np
import pytest

from s2s.primitive import Precedence, Primitive, registry
from tests.samples import F64, SAMPLES, Sample
from tests.test_laws import draw, traced

OPERATORS: list[Primitive] = [
    kind()
    for kind in registry.values()
    if kind.__module__.startswith("s2s.primitives.")
    and kind.precedence not in (Precedence.ATOM, Precedence.CONDITIONAL)
    and "np." not in kind.numpy
    and kind.numpy
    and not hasattr(kind, "__dataclass_fields__")
]


@pytest.mark.parametrize("inner", OPERATORS, ids=lambda p: p.name)
@pytest.mark.parametrize("outer", OPERATORS, ids=lambda p: p.name)
def test_parentheses_where_they_are_needed(outer: Primitive, inner: Primitive) -> None:
    text = inner.numpy.format("a", "b")
    for position in range(outer.numpy.count("{")):
        needed = inner.precedence < outer.operand_precedence(position)
        least, most = ["c", "c"], ["c", "c"]
        least[position], most[position] = f"({text})" if needed else text, f"({text})"
        written = outer.numpy.format(*least)
        assert ast.dump(ast.parse(written)) == ast.dump(ast.parse(outer.numpy.format(*most)))


@pytest.mark.parametrize("outer", OPERATORS, ids=lambda p: p.name)
def test_no_parentheses_around_what_binds_more_tightly(outer: Primitive) -> None:
    for position in range(outer.numpy.count("{")):
        assert outer.operand_precedence(position) <= Precedence.ATOM
        if outer.precedence < Precedence.UNARY:
            assert outer.operand_precedence(position) <= Precedence.UNARY


def test_functions_of_python_floats_are_calls() -> None:
    texts = [kind.math for kind in registry.values() if kind.math]
    for text in texts:
        assert isinstance(ast.parse(text.format("a", "b"), mode="eval").body, ast.Call)


def with_math_text() -> list[Sample]:
    chosen: dict[str, Sample] = {}
    for sample in SAMPLES:
        floats = all(o.shape == () and o.dtype == F64 for o in sample.operands)
        if floats and registry[sample.primitive].math:
            chosen.setdefault(sample.primitive, sample)
    return list(chosen.values())


@pytest.mark.parametrize("sample", with_math_text(), ids=str)
def test_python_floats(sample: Sample) -> None:
    xs = [float(x) for x in draw(sample)]
    (eqn,) = traced(sample).eqns
    names = [f"x{i}" for i in range(len(xs))]
    text = eqn.primitive.math.format(*names)
    found = eval(text, {"math": math, **dict(zip(names, xs, strict=True))})
    assert type(found) in (float, bool)
    # NumPy's own functions and the C library's differ in the last bits.
    np.testing.assert_allclose(found, eqn.primitive.evaluate(*xs), rtol=1e-14)
