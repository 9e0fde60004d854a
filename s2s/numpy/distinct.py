"""What is different in an array: np.unique. How many elements that are, only values tell."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s.ir.dtypes import INT64
from s2s.numpy.arithmetic import subtract
from s2s.numpy.creation import ones, zeros
from s2s.numpy.indexing import take
from s2s.numpy.joining import concatenate
from s2s.numpy.logical import equal, logical_and, not_equal
from s2s.numpy.masks import places
from s2s.numpy.promotion import array_operand, aval_of_operand, shape_of
from s2s.numpy.reductions import cumsum
from s2s.numpy.registry import counterpart, mistake
from s2s.numpy.shaping import ravel
from s2s.numpy.slicing import sliced
from s2s.numpy.sorting import argsort, sort
from s2s.primitive import Value
from s2s.primitives import functions as lax


@counterpart(np.unique)
def unique(
    ar: Any,
    return_index: Any = False,
    return_inverse: Any = False,
    return_counts: Any = False,
    axis: Any = None,
    *,
    equal_nan: Any = True,
) -> Any:
    """The different elements in order; and if asked for, the index of the first one of each, the
    index of each element's value among them, and how often each is there."""
    if axis is not None:
        raise mistake(
            "np.unique with the argument `axis` is not supported; it needs a number for each row "
            "that tells rows apart"
        )
    value = array_operand(ar, "np.unique")
    if aval_of_operand(value).dtype.kind not in "biuf":
        raise mistake("np.unique of complex numbers is not supported")
    flat = ravel(value)
    order = None
    if return_index or return_inverse:
        order = argsort(flat, kind="stable" if return_index else None)
    ordered = sort(flat) if order is None else take(flat, order)
    is_first = _differs_from_the_one_before(ordered, bool(equal_nan))
    firsts = places(is_first)[0]
    results = [take(ordered, firsts)]
    numbers = subtract(cumsum(is_first), 1)
    if order is not None and return_index:
        results.append(take(order, firsts))
    if order is not None and return_inverse:
        unordered = zeros(shape_of(flat), INT64)
        inverse = lax.put_at(unordered, (0,), [order], numbers, unique_indices=True)
        results.append(lax.reshape(inverse, shape_of(value)))
    if return_counts:
        none = zeros(shape_of(firsts), INT64)
        results.append(lax.put_at(none, (0,), [numbers], ones(shape_of(flat), INT64), add=True))
    return tuple(results) if len(results) > 1 else results[0]


def _differs_from_the_one_before(ordered: Value, equal_nan: bool) -> Value:
    """Where an array in order has another element than before. NaNs, which come last, are one."""
    before, after = sliced(ordered, 0, None, -1), sliced(ordered, 0, 1, None)
    differs = not_equal(after, before)
    if equal_nan and aval_of_operand(ordered).dtype.kind == "f":
        differs = logical_and(differs, equal(before, before))
    return concatenate([ones(1, bool), differs])
