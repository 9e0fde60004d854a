"""check finds each way in which a jaxpr can be wrong, and only those."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from s2s.ir.check import JaxprTypeError, check, check_closed
from s2s.ir.dims import dimension
from s2s.ir.jaxpr import (
    Atom,
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Literal,
    ShapedArray,
    Var,
)
from s2s.language import parse_jaxpr
from s2s.primitive import Primitive
from s2s.primitives.arithmetic import Mul, Neg
from s2s.trace import make

F64, F32, I64 = (np.dtype(kind) for kind in (np.float64, np.float32, np.int64))
SCALAR, VECTOR = ShapedArray((), F64), ShapedArray((3,), F64)
TWO = Literal(np.float64(2), SCALAR)


def vector(aval: ShapedArray = VECTOR) -> Var:
    return Var(aval)


def with_equation(
    primitive: Primitive,
    invars: Sequence[Atom],
    outvars: Sequence[Var],
    defined: Sequence[Var],
    results: Sequence[Atom] = (),
) -> Jaxpr:
    return Jaxpr([], defined, [JaxprEqn(primitive, invars, outvars)], results)


def test_what_is_well_formed() -> None:
    x, y, constant = vector(), vector(), vector()
    eqns = [JaxprEqn(Mul(), [x, TWO], [y]), JaxprEqn(Mul(), [y, constant], [vector()])]
    jaxpr = Jaxpr([constant], [x], eqns, [y, x, TWO, constant])
    assert check(jaxpr) is jaxpr
    assert check(Jaxpr([], [], [], []))
    assert check_closed(ClosedJaxpr(jaxpr, (np.zeros(3),))).jaxpr is jaxpr


def test_a_weak_type_agrees_with_a_strong_one() -> None:
    x = Var(ShapedArray((), F64, weak_type=True))
    assert check(with_equation(Neg(), [x], [Var(SCALAR)], [x]))
    assert check(with_equation(Neg(), [Literal(2.0, SCALAR)], [Var(SCALAR)], []))


X = vector()


@pytest.mark.parametrize(
    ("jaxpr", "message"),
    [
        (Jaxpr([], [X, X], [], []), "a variable of type f64[3] is defined twice:\nin the jaxpr's"),
        (Jaxpr([X], [X], [], []), "a variable of type f64[3] is defined twice:\nin the jaxpr's"),
        (
            with_equation(Neg(), [X], [X], [X]),
            "a variable of type f64[3] is defined twice:\na:f64[3] = neg a",
        ),
        (
            with_equation(Neg(), [X], [vector()], []),
            "a variable of type f64[3] is used but not defined before:\na:f64[3] = neg b",
        ),
        (
            with_equation(Neg(), [X], [X], []),
            "a variable of type f64[3] is used but not defined before:\na:f64[3] = neg a",
        ),
        (Jaxpr([], [], [], [X]), "a variable of type f64[3] is used but not defined before:\nin"),
        (
            with_equation(Neg(), [X], [vector(SCALAR)], [X]),
            "the results have the types [f64[3]], not [f64[]]:\nb:f64[] = neg a",
        ),
        (
            with_equation(Neg(), [X], [vector(ShapedArray((3,), F32))], [X]),
            "the results have the types [f64[3]], not [f32[3]]:\nb:f32[3] = neg a",
        ),
        (
            with_equation(Neg(), [X], [vector(ShapedArray((dimension("n"),), F64))], [X]),
            "the results have the types [f64[3]], not [f64[n]]:\nb:f64[n] = neg a",
        ),
        (
            with_equation(Neg(), [X], [vector(), vector()], [X]),
            "the results have the types [f64[3]], not [f64[3], f64[3]]:\nb:f64[3] c:f64[3] = neg a",
        ),
        (
            with_equation(Neg(), [X], [], [X]),
            "the results have the types [f64[3]], not []:\nneg a",
        ),
        (
            with_equation(Mul(), [X, Literal(1, ShapedArray((), I64))], [vector()], [X]),
            "the operands do not fit: ",
        ),
        (
            with_equation(Neg(), [Literal(1, SCALAR)], [vector(SCALAR)], []),
            "a literal of type f64[] is a int:\na:f64[] = neg 1:f64[]",
        ),
        (
            with_equation(Neg(), [Literal(np.float32(1), SCALAR)], [vector(SCALAR)], []),
            "a literal of type f64[] is a float32:",
        ),
        (Jaxpr([], [], [], [Literal(2.0, VECTOR)]), "a literal of type f64[3] is a float:\nin the"),
        (Jaxpr([], [], [], [Literal(np.zeros(3), SCALAR)]), "a literal of type f64[] is a ndarray"),
        (
            Jaxpr([], [vector(ShapedArray((3,), F64, weak_type=True))], [], []),
            "a Python scalar has the shape f64[3]",
        ),
    ],
)
def test_what_is_not(jaxpr: Jaxpr, message: str) -> None:
    with pytest.raises(JaxprTypeError) as error:
        check(jaxpr)
    assert str(error.value).startswith(message)
    # Finding it wrong is not forgotten, nor taken for having found it right.
    with pytest.raises(JaxprTypeError):
        check(jaxpr)


def test_operands_that_do_not_fit() -> None:
    y = vector(ShapedArray((4,), F64))
    with pytest.raises(JaxprTypeError, match=r"the operands do not fit(.|\n)*c:f64\[3\] = mul a b"):
        check(with_equation(Mul(), [X, y], [vector()], [X, y]))


def test_the_order_of_equations() -> None:
    x, y, z = vector(), vector(), vector()
    first, second = JaxprEqn(Neg(), [x], [y]), JaxprEqn(Neg(), [y], [z])
    assert check(Jaxpr([], [x], [first, second], [z]))
    with pytest.raises(JaxprTypeError, match=r"not defined before:\nb:f64\[3\] = neg c"):
        check(Jaxpr([], [x], [second, first], []))


@dataclass(frozen=True, eq=False)
class Hold(Primitive):
    """A primitive of the tests that holds a jaxpr."""

    jaxpr: ClosedJaxpr

    name = "hold"

    @property
    def jaxprs(self) -> list[ClosedJaxpr]:
        return [self.jaxpr]

    def abstract(self, *args: Any, **kwargs: Any) -> ShapedArray:
        return VECTOR


def test_jaxprs_in_parameters() -> None:
    x = vector()
    outer = vector()
    inside = {
        "not defined before": with_equation(Neg(), [vector()], [vector()], []),
        "used but not defined": with_equation(Neg(), [outer], [vector()], []),
        "the results have the types": with_equation(Neg(), [x], [vector(SCALAR)], [x]),
    }
    for message, jaxpr in inside.items():
        inner = with_equation(Hold(ClosedJaxpr(jaxpr)), [], [vector()], [])
        for wrong in (inner, with_equation(Hold(ClosedJaxpr(inner)), [], [vector()], [outer])):
            with pytest.raises(JaxprTypeError, match=message):
                check(wrong)
    right = ClosedJaxpr(with_equation(Neg(), [x], [vector()], [x]))
    assert check(with_equation(Hold(right), [], [vector()], []))


def test_values_of_constvars() -> None:
    constant = vector()
    jaxpr = Jaxpr([constant], [], [], [constant])
    with pytest.raises(JaxprTypeError, match="1 constvars have 0 values"):
        check_closed(ClosedJaxpr(jaxpr))
    with pytest.raises(JaxprTypeError, match=r"type f64\[3\] has a value of type f64\[4\]"):
        check_closed(ClosedJaxpr(jaxpr, (np.zeros(4),)))
    with pytest.raises(JaxprTypeError, match=r"type f64\[3\] has a value of type i64\[3\]"):
        check_closed(ClosedJaxpr(jaxpr, (np.zeros(3, int),)))

    def with_tracer(tracer: Any) -> list[Any]:
        check_closed(ClosedJaxpr(jaxpr, (tracer,)))
        return []

    make(with_tracer, [VECTOR])
    with pytest.raises(JaxprTypeError, match=r"has a value of type f64\[\]"):
        make(with_tracer, [SCALAR])


def test_texts_are_checked() -> None:
    with pytest.raises(JaxprTypeError) as error:
        parse_jaxpr("{ lambda ; a:f64[n,3]. let b:f64[n] = sin a; c:f64[n] = neg b in (c,) }")
    assert str(error.value) == (
        "the results have the types [f64[n,3]], not [f64[n]]:\nb:f64[n] = sin a"
    )
