"""np.ascontiguousarray: the same array, or a copy of one that does not lie in row-major order."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s.numpy import twins
from s2s.numpy.creation import array
from s2s.numpy.registry import counterpart
from s2s.numpy.views import UNCERTAIN, axes_in_memory, inputs_in_order
from s2s.primitive import Value
from s2s.primitives.identity import Copy
from s2s.trace import Tracer, bind


@counterpart(np.ascontiguousarray)
def ascontiguousarray(a: Any, dtype: Any = None) -> Value:
    """The same array, or a new one whose elements lie in row-major order."""
    value = array(a, dtype, copy=None)
    if not isinstance(value, Tracer) or inputs_in_order(value) is not None:
        return value
    result = bind(Copy(in_order=True), value)
    if axes_in_memory(value) is None:
        twins.may_be_part(value, result, (), None, UNCERTAIN)
    return result
