"""Comparisons of a loop's number that its least value decides."""

import numpy as np
import pytest

from s2s import lax
from s2s.control.known_tests import with_known_tests
from s2s.ir.jaxpr import Literal, ShapedArray
from tests.codegen.numpy_source.bodies import jaxpr

NUMBER = ShapedArray((), np.dtype(np.int64))


@pytest.mark.parametrize(
    ("test", "known"),
    [
        (lambda k: lax.eq(k, 2), False),
        (lambda k: lax.eq(k, 3), None),
        (lambda k: lax.ne(k, 2), True),
        (lambda k: lax.ne(k, 4), None),
        (lambda k: lax.lt(k, 3), False),
        (lambda k: lax.lt(k, 4), None),
        (lambda k: lax.le(k, 2), False),
        (lambda k: lax.le(k, 3), None),
        (lambda k: lax.gt(k, 2), True),
        (lambda k: lax.gt(k, 3), None),
        (lambda k: lax.ge(k, 3), True),
        (lambda k: lax.ge(k, 4), None),
    ],
)
def test_what_the_least_number_decides(test, known: bool | None) -> None:
    closed = jaxpr(lambda i: test(lax.add(lax.mul(i, 2), 3)), NUMBER)
    found = with_known_tests(closed, {closed.jaxpr.invars[0]: 0})
    (result,) = found.jaxpr.outvars
    assert (found is closed) == (known is None)
    assert known is None or (isinstance(result, Literal) and result.value == known)


def test_what_may_be_less_decides_nothing() -> None:
    closed = jaxpr(lambda i: lax.eq(lax.mul(i, -1), 3), NUMBER)
    assert with_known_tests(closed, {closed.jaxpr.invars[0]: 0}) is closed
    assert with_known_tests(closed, {}) is closed
