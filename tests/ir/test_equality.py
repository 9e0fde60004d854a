"""Two jaxprs are the same up to their variables, and only up to these."""

from __future__ import annotations

import numpy as np
import pytest

from s2s.ir.equality import alpha_equivalent
from s2s.ir.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, ShapedArray, Source, Var
from s2s.language import parse_jaxpr
from s2s.primitives.arithmetic import Mul, Neg

F64 = np.dtype(np.float64)
TEXT = """
{ lambda a:f64[3]; b:f64[n,3] c:f64[]. let
    d:f64[n,3] = mul b 2.0:f64[]
    e:f64[n,3] = broadcast_in_dim[broadcast_dimensions=(1,)] a
    f:f64[n,3] = sub d e
    g:f64[3] = reduce_sum[axes=(0,)] f
    h:f64[] = cond[
      branches=(
        { lambda ; i:f64[]. let j:f64[] = sin i in (j,) }
        { lambda ; k:f64[]. let  in (0.0:f64[],) }
      )
    ] 1:i32[] c
    l:f64[3] = jit[name=f jaxpr={ lambda ; g:f64[3]. let l:f64[3] = neg g in (l,) }] g
  in (h, l) }
"""


def test_a_jaxpr_is_the_same_with_other_names() -> None:
    other = TEXT.replace("d:", "x:").replace("sub d e", "sub x e").replace("i:f64", "y:f64")
    other = other.replace("sin i", "sin y")
    assert alpha_equivalent(parse_jaxpr(TEXT), parse_jaxpr(TEXT))
    assert alpha_equivalent(parse_jaxpr(TEXT), parse_jaxpr(other))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("lambda a:f64[3]; b:f64[n,3]", "lambda ; a:f64[3] b:f64[n,3]"),
        ("c:f64[]. let", "c:f64[] x:f64[]. let"),
        ("2.0:f64[]", "-2.0:f64[]"),
        ("1:i32[]", "0:i32[]"),
        ("mul b", "add b"),
        ("sub d e", "sub e d"),
        ("sub d e", "sub d d"),
        ("sub d e", "sub d 1.0:f64[]"),
        ("broadcast_dimensions=(1,)", "broadcast_dimensions=(0,)"),
        ("a:f64[3]; b:f64[n,3]", "a:f64[n]; b:f64[n,n]"),
        ("sin i", "cos i"),
        ("sin i in (j,)", "sin i in (i,)"),
        ("0.0:f64[]", "-0.0:f64[]"),
        ("name=f", "name=g"),
        ("in (h, l)", "in (l, h)"),
        ("in (h, l)", "in (h,)"),
        ("in (h, l)", "in (h, g)"),
        ("f64[3]. let l:f64[3] = neg g in", "f64[3]. let l:f64[3] = neg g; m:f64[3] = neg g in"),
    ],
)
def test_any_other_change_makes_another_jaxpr(old: str, new: str) -> None:
    assert old in TEXT
    changed = TEXT.replace(old, new)
    if "f64[n,n]" in new:
        # Other types throughout, so that it is still well formed.
        changed = TEXT.replace("f64[n,3]", "f64[n,n]").replace("f64[3]", "f64[n]")
    if "broadcast" in old:
        changed = changed.replace("a:f64[3];", "a:f64[n];")
    original, other = parse_jaxpr(TEXT), parse_jaxpr(changed)
    assert not alpha_equivalent(original, other)
    assert not alpha_equivalent(other, original)


def test_what_the_text_does_not_show_makes_no_difference() -> None:
    weak = ShapedArray((), F64, weak_type=True)
    x, y = Var(weak, "x"), Var(weak, "y")
    source = Source("model.py", 3, "y = -x")
    a = Jaxpr([], [x], [JaxprEqn(Neg(), [x], [y], source, "tangent")], [y, Literal(1.0, weak)])
    b = parse_jaxpr("{ lambda ; a:f64[]. let b:f64[] = neg a in (b, 1.0:f64[]) }")
    assert alpha_equivalent(a, b)


def test_sizes_are_compared_by_their_normal_forms() -> None:
    a = parse_jaxpr("{ lambda ; a:f64[n + n,m*n]. let  in (a,) }")
    assert alpha_equivalent(a, parse_jaxpr("{ lambda ; a:f64[2*n,n*m]. let  in (a,) }"))
    assert not alpha_equivalent(a, parse_jaxpr("{ lambda ; a:f64[2*n,n^2]. let  in (a,) }"))


def test_a_variable_may_occur_in_more_than_one_jaxpr() -> None:
    vector = ShapedArray((3,), F64)
    x, y, z = (Var(vector) for _ in range(3))
    inner = Jaxpr([], [x], [JaxprEqn(Neg(), [x], [y])], [y])
    call = (
        parse_jaxpr(TEXT)
        .eqns[-1]
        .primitive.from_printed({"name": "f", "jaxpr": ClosedJaxpr(inner)}, [vector])
    )
    shared = Jaxpr(
        [], [y, x], [JaxprEqn(call, [x], [z]), JaxprEqn(Mul(), [y, z], [Var(vector)])], [x]
    )
    assert alpha_equivalent(shared, parse_jaxpr(str(shared)))
