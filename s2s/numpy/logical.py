"""Comparisons, logical and bitwise ufuncs, and the choice between values."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s.ir.dims import require_same
from s2s.ir.dtypes import BOOL
from s2s.numpy.arithmetic import absolute, add, multiply, subtract
from s2s.numpy.broadcasting import common_shape, stretched
from s2s.numpy.elementary import isfinite
from s2s.numpy.places import nonzero
from s2s.numpy.promotion import (
    array_operand,
    aval_of_operand,
    convert,
    operand,
    promoted,
    shape_of,
)
from s2s.numpy.reductions import all as all_hold, as_truth
from s2s.numpy.registry import counterpart, mistake
from s2s.numpy.ufuncs import emission, ufunc
from s2s.primitive import Value
from s2s.primitives import functions as lax, logic

equal = ufunc(np.equal, emission(logic.Eq()), "eq")
not_equal = ufunc(np.not_equal, emission(logic.Ne()), "ne")
less = ufunc(np.less, emission(logic.Lt()), "lt")
less_equal = ufunc(np.less_equal, emission(logic.Le()), "le")
greater = ufunc(np.greater, emission(logic.Gt()), "gt")
greater_equal = ufunc(np.greater_equal, emission(logic.Ge()), "ge")

bitwise_and = ufunc(np.bitwise_and, emission(logic.And()), "and_")
bitwise_or = ufunc(np.bitwise_or, emission(logic.Or()), "or_")
bitwise_xor = ufunc(np.bitwise_xor, emission(logic.Xor()), "xor")
left_shift = ufunc(np.left_shift, emission(logic.ShiftLeft()), "lshift")
right_shift = ufunc(np.right_shift, emission(logic.ShiftRightArithmetic()), "rshift")
invert = ufunc(np.invert, emission(logic.Not()), "invert")


def _as_boolean(value: Any, function: str) -> Value:
    return as_truth(array_operand(value, function))


@counterpart(np.logical_and)
def logical_and(x1: Any, x2: Any) -> Value:
    """Whether both elements differ from zero."""
    return bitwise_and(_as_boolean(x1, "np.logical_and"), _as_boolean(x2, "np.logical_and"))


@counterpart(np.logical_or)
def logical_or(x1: Any, x2: Any) -> Value:
    """Whether either element differs from zero."""
    return bitwise_or(_as_boolean(x1, "np.logical_or"), _as_boolean(x2, "np.logical_or"))


@counterpart(np.logical_xor)
def logical_xor(x1: Any, x2: Any) -> Value:
    """Whether one of the elements differs from zero and the other does not."""
    return bitwise_xor(_as_boolean(x1, "np.logical_xor"), _as_boolean(x2, "np.logical_xor"))


@counterpart(np.logical_not)
def logical_not(x: Any) -> Value:
    """Whether the element is zero."""
    return invert(_as_boolean(x, "np.logical_not"))


@counterpart(np.where)
def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """`x` where the condition holds and `y` elsewhere; without these, the places where it holds."""
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise mistake("np.where takes a condition alone, or a condition and two values")
    which = _as_boolean(condition, "np.where")
    chosen, other = operand(x, "np.where"), operand(y, "np.where")
    if aval_of_operand(chosen).weak_type and aval_of_operand(other).weak_type:
        chosen, other = array_operand(chosen), array_operand(other)
    dtype = promoted(chosen, other)
    chosen, other = convert(chosen, dtype), convert(other, dtype)
    shapes = [shape_of(value) for value in (which, chosen, other)]
    shape = common_shape("np.where", shapes)
    which, chosen, other = (
        stretched(value, shape) if own else value
        for value, own in zip((which, chosen, other), shapes, strict=True)
    )
    return lax.select_n(which, other, chosen)


@counterpart(np.isclose)
def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Value:
    """Whether |a - b| <= atol + rtol |b|, or both are the same."""
    if equal_nan:
        raise mistake("np.isclose with equal_nan=True is not supported")
    x, y = array_operand(a, "np.isclose"), array_operand(b, "np.isclose")
    bound = add(atol, multiply(rtol, absolute(y)))
    near = less_equal(absolute(subtract(x, y)), bound)
    return bitwise_or(bitwise_and(near, isfinite(y)), equal(x, y))


@counterpart(np.allclose)
def allclose(
    a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False
) -> Value:
    """Whether all elements are close, as np.isclose says."""
    close = all_hold(isclose(a, b, rtol, atol, equal_nan))
    return lax.convert_element_type(close, BOOL, weak_type=True)


@counterpart(np.array_equal)
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    """Whether two arrays have the same shape and elements."""
    if equal_nan:
        raise mistake("np.array_equal with equal_nan=True is not supported")
    x, y = array_operand(a1, "np.array_equal"), array_operand(a2, "np.array_equal")
    own, other = shape_of(x), shape_of(y)
    same = len(own) == len(other)
    for size, wanted in zip(own, other, strict=False):
        same = same and require_same(size, wanted)
    if not same:
        return False
    return lax.convert_element_type(all_hold(equal(x, y)), BOOL, weak_type=True)
