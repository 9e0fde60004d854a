"""Covariances and correlations, with the same steps in the same order as NumPy's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s.ir.dims import Dim
from s2s.ir.dtypes import FLOAT64
from s2s.numpy.arithmetic import clip, divide, multiply, subtract
from s2s.numpy.elementary import sqrt
from s2s.numpy.joining import concatenate
from s2s.numpy.linear import diagonal, dot
from s2s.numpy.promotion import array_operand, aval_of_operand, convert, element_type, shape_of
from s2s.numpy.registry import counterpart, mistake
from s2s.numpy.shaping import atleast_2d, squeeze, transpose, with_axes
from s2s.numpy.statistics import mean
from s2s.primitive import Value
from s2s.primitives import functions as lax


@counterpart(np.cov)
def cov(
    m: Any,
    y: Any = None,
    rowvar: Any = True,
    bias: Any = False,
    ddof: Any = None,
    *,
    dtype: Any = None,
) -> Value:
    """The covariances of the rows of a matrix, and of a second one if there is one; of the columns
    without `rowvar`."""
    return squeeze(_covariances(m, y, rowvar, bias, ddof, dtype, "np.cov"))


def _covariances(
    m: Any, y: Any, rowvar: Any, bias: Any, ddof: Any, dtype: Any, function: str
) -> Value:
    given = [array_operand(value, function) for value in (m, y) if value is not None]
    if any(len(shape_of(value)) > 2 for value in given):
        raise mistake(f"{function} of an array of more than two axes")
    if dtype is None:
        kind = np.result_type(FLOAT64, *[aval_of_operand(value).dtype for value in given])
    else:
        kind = element_type(dtype)
    rows: list[Value] = []
    for place, value in enumerate(given):
        matrix = atleast_2d(convert(value, kind))
        is_vector = len(shape_of(value)) == 1 or (place == 1 and shape_of(matrix)[0] == 1)
        rows.append(matrix if rowvar or is_vector else transpose(matrix))
    observed = concatenate(rows) if len(rows) > 1 else rows[0]
    count = shape_of(observed)[1]
    freedom = count - (int(not bias) if ddof is None else ddof)
    if isinstance(freedom, Dim):
        freedom = lax.dim_as_value(freedom)
    centred = subtract(observed, with_axes(mean(observed, 1), (1,)))
    return multiply(dot(centred, transpose(centred)), divide(1, freedom))


@counterpart(np.corrcoef)
def corrcoef(x: Any, y: Any = None, rowvar: Any = True, *, dtype: Any = None) -> Value:
    """The correlations of the rows of a matrix, and of a second one if there is one."""
    found = _covariances(x, y, rowvar, False, None, dtype, "np.corrcoef")
    if all(size == 1 for size in shape_of(found)):
        return divide(squeeze(found), squeeze(found))
    deviations = sqrt(diagonal(found))
    found = divide(divide(found, with_axes(deviations, (1,))), deviations)
    return clip(found, -1, 1)
