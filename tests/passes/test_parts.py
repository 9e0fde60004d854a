"""Cotangents of elements together."""

from s2s import lax
from s2s.passes.dce import dce
from s2s.passes.parts import stack_parts
from tests.passes.programs import f64
from tests.passes.test_factors import backward


def placed(x, place: int, size: int):
    return lax.pad(lax.broadcast_in_dim(x, (1,), ()), 0.0, ((place, size - 1 - place, 0),))


def test_a_sum_of_elements_is_a_stack() -> None:
    def fun(x, y):
        return lax.add_any(lax.add_any(placed(y, 2, 4), placed(x, 0, 4)), placed(y, 0, 4))

    assert str(dce(stack_parts(backward(fun, f64(), f64())))) == (
        "{ lambda ; a:f64[] b:f64[]. let\n"
        "    c:f64[] = add_any a b\n"
        "    d:f64[4] = stack[axis=0] c 0.0:f64[] b 0.0:f64[]\n"
        "  in (d,) }"
    )


def test_a_few_elements_of_many_stay_apart() -> None:
    before = backward(lambda x, y: lax.add_any(placed(x, 1, 5), placed(y, 3, 5)), f64(), f64())
    assert "stack" not in str(stack_parts(before))
    before = backward(lambda x, y: lax.add_any(placed(x, 1, 3), placed(y, 0, 3)), f64(), f64())
    assert "stack" in str(stack_parts(before))


def test_several_places_at_once_are_no_element() -> None:
    def fun(x, y):
        pair = lax.pad(lax.broadcast_in_dim(x, (2,), ()), 0.0, ((0, 1, 0),))
        return lax.add_any(pair, placed(y, 2, 3))

    before = backward(fun, f64(), f64())
    assert "stack" not in str(stack_parts(before))
