"""Rounding to whole numbers, or to decimals."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s.numpy.arguments import as_number
from s2s.numpy.broadcasting import another
from s2s.numpy.promotion import array_operand, aval_of_operand
from s2s.numpy.registry import counterpart, mistake
from s2s.numpy.ufuncs import Emission, emission, ufunc
from s2s.primitive import Primitive, Value
from s2s.primitives import functions as lax
from s2s.primitives.arithmetic import Ceil, Floor, Round, Trunc


def _unless_whole(primitive: Primitive) -> Emission:
    """The emission of a rounding that leaves integers and booleans as they are."""
    rounded = emission(primitive)

    def emit(x: Value) -> Value:
        return rounded(x) if aval_of_operand(x).dtype.kind == "f" else another(x, x)

    return emit


floor = ufunc(np.floor, _unless_whole(Floor()))
ceil = ufunc(np.ceil, _unless_whole(Ceil()))
trunc = ufunc(np.trunc, _unless_whole(Trunc()))
rint = ufunc(np.rint, emission(Round()))


@counterpart(np.round, np.around)
def round(a: Any, decimals: Any = 0) -> Value:
    """The nearest number of the given decimals, the even one of two that are equally near."""
    value = array_operand(a, "np.round")
    dtype = aval_of_operand(value).dtype
    places = as_number(decimals, "the number of decimals of np.round")
    if dtype.kind == "b":
        raise mistake("np.round of booleans is not supported; convert them first")
    if dtype.kind != "f":
        if places < 0:
            raise mistake("np.round of integers to negative decimals is not supported")
        return another(value, value)
    if places == 0:
        return lax.round(value)
    scale = dtype.type(10.0 ** abs(places))
    if places > 0:
        return lax.div(lax.round(lax.mul(value, scale)), scale)
    return lax.mul(lax.round(lax.div(value, scale)), scale)


@counterpart(np.fix)
def fix(x: Any) -> Value:
    """The integer part."""
    return trunc(x)
