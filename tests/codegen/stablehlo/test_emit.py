"""What XLA computes from the StableHLO of jaxprs agrees with NumPy."""

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from s2s.ir.jaxpr import ClosedJaxpr
from s2s.passes.jvp import jvp
from s2s.passes.linearize import vjp
from s2s.passes.pipeline import optimise
from s2s.trace import evaluate, make
from s2s_codegen.stablehlo.compile import compile_jaxpr
from tests.control.programs import POINTS, PROGRAMS, traced
from tests.samples import SAMPLES, Sample, types

ULPS = 16
"""Units in the last place, of the largest element, by which XLA may differ from NumPy.

Its elementary functions are good to 4 of their own result; sums are taken in another order, and
products are contracted to fused ones.
"""


def by_xla(closed: ClosedJaxpr, arrays: Sequence[Any]) -> list[Any]:
    return compile_jaxpr(closed, "sample")(arrays)


def assert_agree(found: Sequence[Any], expected: Sequence[Any], ulps: float = ULPS) -> None:
    assert len(found) == len(expected)
    for ours, theirs in zip(found, map(np.asarray, expected), strict=True):
        assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
        if theirs.dtype.kind not in "fc":
            np.testing.assert_array_equal(ours, theirs)
            continue
        finite = np.abs(theirs[np.isfinite(theirs)])
        unit = np.finfo(theirs.dtype).eps * np.max(finite, initial=1.0)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=ulps * unit, equal_nan=True)


def draw(sample: Sample) -> list[Any]:
    random = np.random.default_rng(zlib.crc32(str(sample).encode()))
    return [operand.draw(random) for operand in sample.operands]


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_each_primitive(sample: Sample) -> None:
    closed = make(lambda *xs: [sample.fun(*xs)], types(sample))
    xs = draw(sample)
    assert_agree(by_xla(closed, xs), evaluate(closed, *xs))


@pytest.mark.parametrize("name", PROGRAMS)
def test_control_flow(name: str) -> None:
    closed = optimise(traced(name))
    for point in POINTS:
        assert_agree(by_xla(closed, point), evaluate(closed, *point), ulps=64)


@pytest.mark.parametrize("name", PROGRAMS)
def test_tangents_of_control_flow(name: str) -> None:
    both, _ = jvp(traced(name), [True, True])
    closed = optimise(both)
    for point in POINTS:
        arrays = [*point, np.array([1.0, -0.5, 0.25]), np.array([0.3, 0.2, -1.0])]
        assert_agree(by_xla(closed, arrays), evaluate(closed, *arrays), ulps=64)


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_of_control_flow(name: str) -> None:
    both, _ = vjp(traced(name), [True, True], [True])
    closed = optimise(both)
    for point in POINTS:
        arrays = [*point, np.float64(1.0)]
        assert_agree(by_xla(closed, arrays), evaluate(closed, *arrays), ulps=64)
