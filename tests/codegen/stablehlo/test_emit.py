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
from tests.codegen.stablehlo.agreement import LOOP, assert_agree
from tests.control.programs import POINTS, PROGRAMS, traced
from tests.samples import SAMPLES, Sample, types


def by_xla(closed: ClosedJaxpr, arrays: Sequence[Any]) -> list[Any]:
    return compile_jaxpr(closed, "sample")(arrays)


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
        assert_agree(by_xla(closed, point), evaluate(closed, *point), LOOP)


@pytest.mark.parametrize("name", PROGRAMS)
def test_tangents_of_control_flow(name: str) -> None:
    both, _ = jvp(traced(name), [True, True])
    closed = optimise(both)
    for point in POINTS:
        arrays = [*point, np.array([1.0, -0.5, 0.25]), np.array([0.3, 0.2, -1.0])]
        assert_agree(by_xla(closed, arrays), evaluate(closed, *arrays), LOOP)


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_of_control_flow(name: str) -> None:
    both, _ = vjp(traced(name), [True, True], [True])
    closed = optimise(both)
    for point in POINTS:
        arrays = [*point, np.float64(1.0)]
        assert_agree(by_xla(closed, arrays), evaluate(closed, *arrays), LOOP)
