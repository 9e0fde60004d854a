"""How near what XLA computes comes to what NumPy does, in units in the last place.

The units are those of the largest element of each result. XLA's elementary functions are good to 4
units of their own result; sums are taken in another order, and products are contracted to fused
ones, so a longer computation has more of both.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

PRIMITIVE = 16
"""Of each primitive."""

LOOP = 64
"""Of branches and loops, their tangents and cotangents."""

DERIVATIVE = 1024
"""Of the derivatives of each primitive, the second ones and batches too: what loses the most digits
are quotients of differences, such as those of a decomposition."""

PROGRAM = 4096
"""Of examples, models and users' programs, their derivatives and batches."""


def assert_agree(found: Sequence[Any], expected: Sequence[Any], ulps: float = PRIMITIVE) -> None:
    """Results are of the same types and as near as that; integers and truth values are equal."""
    assert len(found) == len(expected)
    for ours, theirs in zip(map(np.asarray, found), map(np.asarray, expected), strict=True):
        assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
        if theirs.dtype.kind not in "fc":
            np.testing.assert_array_equal(ours, theirs)
            continue
        finite = np.abs(theirs[np.isfinite(theirs)])
        unit = np.finfo(theirs.dtype).eps * np.max(finite, initial=1.0)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=ulps * unit, equal_nan=True)
