"""What the tests of the passes share: small programs to transform, and values to run them on."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from s2s.ir.dims import dimension
from s2s.ir.jaxpr import ClosedJaxpr, ShapedArray
from s2s.trace import make

N = dimension("n")
M = dimension("m")


def f64(*shape: Any) -> ShapedArray:
    """The type of an array of float64."""
    return ShapedArray(shape, np.dtype(np.float64))


def program(
    fun: Callable[..., Any], *avals: ShapedArray, names: Sequence[str] | None = None
) -> ClosedJaxpr:
    """The jaxpr of a function of one result, or of a list of results."""

    def flat(*args: Any) -> Sequence[Any]:
        result = fun(*args)
        return result if isinstance(result, list) else [result]

    return make(flat, avals, names)


def values(avals: Sequence[ShapedArray], seed: int = 0) -> list[Any]:
    """Random arguments of these types, away from zero."""
    random = np.random.default_rng(seed)
    return [random.uniform(0.5, 1.5, a.shape).astype(a.dtype)[()] for a in avals]
