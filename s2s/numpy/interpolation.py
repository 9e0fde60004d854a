"""Places in sorted tables, and linear interpolation between their entries."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s.ir.dtypes import FLOAT64
from s2s.numpy.arithmetic import add, clip, divide, multiply, subtract
from s2s.numpy.indexing import getitem
from s2s.numpy.logical import equal, greater, greater_equal, less, where
from s2s.numpy.promotion import array_operand, convert, operand, shape_of
from s2s.numpy.reductions import sum as total
from s2s.numpy.registry import counterpart, mistake
from s2s.numpy.shaping import with_axes
from s2s.numpy.slicing import sliced
from s2s.primitive import Value


@counterpart(np.searchsorted)
def searchsorted(a: Any, v: Any, side: Any = "left") -> Value:
    """How many entries of a sorted vector are less than each value, or with `side="right"` at most
    equal to it: the place to insert it at. Found by comparing with all entries."""
    table, value = array_operand(a, "np.searchsorted"), array_operand(v, "np.searchsorted")
    if len(shape_of(table)) != 1:
        raise mistake("np.searchsorted looks in a vector")
    if side not in ("left", "right"):
        raise mistake("np.searchsorted: side is 'left' or 'right'")
    compared = with_axes(value, (len(shape_of(value)),))
    return total((greater if side == "left" else greater_equal)(compared, table), -1)


@counterpart(np.interp)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Value:
    """The values at `x` of the piecewise linear function through points (xp, fp), xp increasing;
    beyond these `left` and `right`, by default the values at the ends."""
    values = [array_operand(value, "np.interp") for value in (x, xp, fp)]
    point, places, heights = (convert(value, FLOAT64) for value in values)
    if len(shape_of(places)) != 1 or len(shape_of(heights)) != 1:
        raise mistake("np.interp: xp and fp are vectors")
    count = shape_of(places)[0]
    before = clip(subtract(searchsorted(places, point, "right"), 1), 0, count - 2)
    slopes = divide(
        subtract(sliced(heights, 0, 1, None), sliced(heights, 0, None, -1)),
        subtract(sliced(places, 0, 1, None), sliced(places, 0, None, -1)),
    )
    start, base = getitem(places, before), getitem(heights, before)
    inside = add(multiply(getitem(slopes, before), subtract(point, start)), base)
    # NumPy takes an entry as it is, so that the slope beside it does not matter.
    inside = where(equal(point, start), base, inside)
    first, last = getitem(heights, 0), getitem(heights, -1)
    below = first if left is None else operand(left, "np.interp")
    above = last if right is None else operand(right, "np.interp")
    result = where(greater_equal(point, getitem(places, -1)), last, inside)
    result = where(greater(point, getitem(places, -1)), above, result)
    return where(less(point, getitem(places, 0)), below, result)
