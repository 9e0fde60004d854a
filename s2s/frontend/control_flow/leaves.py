"""Leaves of containers that can be values of the jaxpr."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from s2s.ir.dims import Dim
from s2s.ir.dtypes import PYTHON_SCALARS, SHORT_NAMES
from s2s.trace import Tracer


class Absent:
    """The value where there is none, which nothing reads: zeros."""


ABSENT = Absent()


def is_numeric(leaf: Any) -> bool:
    """Whether a leaf can be a value of the jaxpr."""
    if isinstance(leaf, (Tracer, Dim, Absent)) or type(leaf) in PYTHON_SCALARS:
        return True
    if not isinstance(leaf, (np.ndarray, np.generic)):
        return False
    return np.result_type(cast("Any", leaf)) in SHORT_NAMES
