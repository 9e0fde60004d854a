"""How many values fall between edges."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s.ir.dtypes import FLOAT64
from s2s.numpy.arguments import as_number
from s2s.numpy.arithmetic import add, divide, subtract
from s2s.numpy.creation import linspace
from s2s.numpy.differences import diff
from s2s.numpy.logical import equal, greater_equal, less, less_equal, logical_and, where
from s2s.numpy.promotion import array_operand, aval_of_operand, convert, shape_of
from s2s.numpy.reductions import max as greatest, min as least, sum as total
from s2s.numpy.registry import counterpart, mistake
from s2s.numpy.shaping import ravel, with_axes
from s2s.numpy.slicing import sliced
from s2s.primitive import Value


@counterpart(np.histogram)
def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Value, Value]:
    """How many values, or the sum of the weights of those, lie between neighbouring edges, the last
    of which belongs to what is before it; and the edges.

    Found by comparing with all edges.
    """
    value = ravel(array_operand(a, "np.histogram"))
    edges = _edges(value, bins, range)
    last = sliced(edges, 0, -1, None)
    before, after = (with_axes(sliced(edges, 0, *part), (1,)) for part in ((None, -1), (1, None)))
    upper = where(equal(after, last), less_equal(value, after), less(value, after))
    inside = logical_and(greater_equal(value, before), upper)
    if weights is None:
        counts = total(inside, 1)
    else:
        weight = ravel(array_operand(weights, "np.histogram"))
        zero = aval_of_operand(weight).dtype.type(0)
        counts = total(where(inside, weight, zero), 1)
    if density:
        widths = convert(diff(edges), FLOAT64)
        counts = divide(divide(counts, widths), total(counts))
    return counts, edges


def _edges(value: Value, bins: Any, ends: Any) -> Value:
    if isinstance(bins, str):
        raise mistake(
            f"np.histogram with bins={bins!r}: how many there are depends on values; give a number"
        )
    given = array_operand(bins, "np.histogram")
    if shape_of(given):
        return given
    count = as_number(bins, "the number of bins of np.histogram")
    if ends is None:
        first, last = least(value), greatest(value)
        alone = equal(first, last)
        first = where(alone, subtract(first, 0.5), first)
        last = where(alone, add(last, 0.5), last)
    else:
        first, last = ends
    return linspace(first, last, count + 1)
