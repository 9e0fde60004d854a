"""Choices within choices."""

from s2s import lax
from s2s.passes.choices import merge_choices
from s2s.passes.dce import dce
from tests.passes.programs import f64
from tests.passes.test_factors import backward


def merged(fun) -> str:
    return str(dce(merge_choices(backward(fun, f64(), f64(), f64()))))


def test_where_both_conditions_hold() -> None:
    found = merged(
        lambda x, y, t: lax.select_n(
            lax.gt(x, 1.0), 0.0, lax.select_n(lax.lt(y, 2.0), 0.0, lax.sin(t))
        )
    )
    assert found == (
        "{ lambda ; a:f64[] b:f64[] c:f64[]. let\n"
        "    d:bool[] = gt a 1.0:f64[]\n"
        "    e:bool[] = lt b 2.0:f64[]\n"
        "    f:f64[] = sin c\n"
        "    g:bool[] = and d e\n"
        "    h:f64[] = select_n g 0.0:f64[] f\n"
        "  in (h,) }"
    )


def test_where_neither_holds() -> None:
    found = merged(
        lambda x, y, t: lax.select_n(lax.gt(x, 1.0), lax.select_n(lax.lt(y, 2.0), t, 0.0), 0.0)
    )
    assert "or d e" in found
    assert found.count("select_n") == 1


def test_others_stay() -> None:
    def otherwise_one(x, y, t):
        return lax.select_n(lax.gt(x, 1.0), 0.0, lax.select_n(lax.lt(y, 2.0), 1.0, t))

    def other_side(x, y, t):
        return lax.select_n(lax.gt(x, 1.0), 0.0, lax.select_n(lax.lt(y, 2.0), t, 0.0))

    def read_twice(x, y, t):
        inner = lax.select_n(lax.lt(y, 2.0), 0.0, t)
        return lax.add(lax.select_n(lax.gt(x, 1.0), 0.0, inner), inner)

    for fun in (otherwise_one, other_side, read_twice):
        assert merged(fun).count("select_n") == 2
