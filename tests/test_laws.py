"""The laws that every primitive obeys, for each line of the table of samples.

jvp is the slope; transpose is the adjoint; batch is a loop; second derivatives too; the type is
that of the value; named sizes change nothing; NumPy computes the same bits.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from s2s.ir.check import check
from s2s.ir.dims import Assumptions, assuming, dimension, substitute
from s2s.ir.dtypes import is_inexact
from s2s.ir.jaxpr import ClosedJaxpr, JaxprEqn, ShapedArray
from s2s.passes.jvp import jvp
from s2s.passes.partial_eval import partial_eval
from s2s.passes.transpose import transpose
from s2s.passes.vmap import vmap
from s2s.primitive import registry
from s2s.primitives.effects import Effect
from s2s.trace import bind, evaluate, make, walk
from tests.samples import F32, F64, SAMPLES, Sample, types

NAMES = {3: dimension("n"), 4: dimension("m"), 5: dimension("k")}
SIZES = {"n": 3, "m": 4, "k": 5}

each_sample = pytest.mark.parametrize("sample", SAMPLES, ids=str)


def generator(sample: Sample) -> np.random.Generator:
    """The same numbers for a sample in every run."""
    return np.random.default_rng(zlib.crc32(str(sample).encode()))


def draw(sample: Sample) -> list[Any]:
    random = generator(sample)
    return [operand.draw(random) for operand in sample.operands]


def traced(sample: Sample, avals: Sequence[ShapedArray] | None = None) -> ClosedJaxpr:
    closed = make(lambda *xs: [sample.fun(*xs)], avals or types(sample))
    check(closed.jaxpr)
    return closed


def real_operands(sample: Sample) -> list[int]:
    return [i for i, o in enumerate(sample.operands) if is_inexact(o.dtype)]


def directions(sample: Sample, active: Sequence[int], seed: int = 1) -> list[Any]:
    random = np.random.default_rng(seed)
    return [random.normal(size=sample.operands[i].shape)[()] for i in active]


def differentiated(sample: Sample, active: Sequence[int]) -> ClosedJaxpr | None:
    """(xs, tangents of the active ones) -> (y, tangent of y), None if that is zero."""
    flags = [i in active for i in range(len(sample.operands))]
    closed, (has_tangent,) = jvp(traced(sample), flags)
    return closed if has_tangent else None


def subsets(items: Sequence[int]) -> Iterator[tuple[int, ...]]:
    for count in range(1, len(items) + 1):
        yield from itertools.combinations(items, count)


def shifted(xs: Sequence[Any], active: Sequence[int], ts: Sequence[Any], step: float) -> list[Any]:
    moved = list(xs)
    for i, t in zip(active, ts, strict=True):
        moved[i] = xs[i] + step * t
    return moved


def slope(fun: Any, *args: Any, step: float = 2e-3) -> Any:
    """The derivative of fun(s, *args) at s = 0: central differences, extrapolated to step**6.

    Truncation is about 1e-16 of the seventh derivative, rounding about 1e-16 / step.
    """
    once, twice, thrice = [
        (fun(k * step, *args) - fun(-k * step, *args)) / (2 * k * step) for k in (1.0, 2.0, 3.0)
    ]
    return 1.5 * once - 0.6 * twice + 0.1 * thrice


def assert_close(found: Any, expected: Any, tolerance: float) -> None:
    assert np.shape(found) == np.shape(expected)
    scale = 1.0 + np.max(np.abs(expected), initial=0.0)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * scale)


def test_every_primitive_has_a_sample() -> None:
    """But for effects, which have no results to be a law about."""
    own = {
        name
        for name, kind in registry.items()
        if kind.__module__.startswith("s2s.primitives.") and not issubclass(kind, Effect)
    }
    assert own - {sample.primitive for sample in SAMPLES} == set()


@each_sample
def test_sample_applies_its_primitive(sample: Sample) -> None:
    with assuming(Assumptions()):
        found = {eqn.primitive.name for eqn in traced(sample, types(sample, NAMES)).eqns}
    assert sample.primitive in found


@each_sample
@pytest.mark.parametrize("float_type", [F64, F32], ids=["f64", "f32"])
def test_type_is_that_of_the_value(sample: Sample, float_type: np.dtype[Any]) -> None:
    if sample.primitive in ("iota", "dim_as_value") and float_type == F32:
        pytest.skip("the sample fixes the element type")
    xs = [x.astype(float_type) if x.dtype == F64 else x for x in map(np.asarray, draw(sample))]
    xs = [x[()] for x in xs]
    avals = [ShapedArray(np.shape(x), x.dtype) for x in xs]
    closed = traced(sample, avals)

    def step(eqn: JaxprEqn, operands: Sequence[Any]) -> Sequence[Any]:
        values = [getattr(o, "value", o) for o in operands]
        result = eqn.primitive.evaluate(*values)
        results = result if eqn.primitive.multiple_results else [result]
        for one, var in zip(results, eqn.outvars, strict=True):
            if eqn.primitive.bound_dimension is None:
                assert np.shape(one) == var.aval.shape, eqn
            assert np.asarray(one).dtype == var.aval.dtype, eqn
        return results

    walk(closed, xs, step)


@each_sample
def test_numpy_computes_the_same_bits(sample: Sample) -> None:
    if sample.numpy is None:
        pytest.skip("no NumPy function is named")
    xs = draw(sample)
    (found,) = evaluate(traced(sample), *xs)
    expected = sample.numpy(*xs)
    assert np.asarray(found).dtype == np.asarray(expected).dtype
    np.testing.assert_array_equal(found, expected)


@each_sample
def test_folding_changes_no_bit(sample: Sample) -> None:
    xs = draw(sample)
    folded = make(lambda *xs: [sample.fun(*xs)], types(sample), folding=True)
    np.testing.assert_array_equal(evaluate(folded, *xs)[0], evaluate(traced(sample), *xs)[0])


@each_sample
def test_jvp_is_the_slope(sample: Sample) -> None:
    if sample.primitive == "stop_gradient":
        pytest.skip("its derivative is zero by definition")
    xs = draw(sample)
    primal = traced(sample)
    for active in subsets(real_operands(sample)):
        ts = directions(sample, active)
        closed = differentiated(sample, active)
        if not is_inexact(primal.out_avals[0].dtype):
            assert closed is None
            continue
        expected = slope(lambda s, *at: evaluate(primal, *shifted(xs, *at, s))[0], active, ts)
        if closed is None:
            assert_close(np.zeros_like(expected), expected, 1e-9)
            continue
        y, tangent = evaluate(closed, *xs, *ts)
        np.testing.assert_array_equal(y, evaluate(primal, *xs)[0])
        tolerance = 1e-9 if np.asarray(y).dtype == F64 else 1e-3
        assert_close(tangent, expected, tolerance)


@each_sample
def test_transpose_is_the_adjoint(sample: Sample) -> None:
    xs = draw(sample)
    for active in subsets(real_operands(sample)):
        closed = differentiated(sample, active)
        if closed is None:
            continue
        ts = directions(sample, active)
        split = partial_eval(closed, [False] * len(xs) + [True] * len(ts))
        residuals = evaluate(split.known, *xs)[1:]
        adjoint = transpose(split.unknown, [False] * len(residuals) + [True] * len(ts))
        tangent = evaluate(closed, *xs, *ts)[1]
        ct = np.random.default_rng(2).normal(size=np.shape(tangent)).astype(tangent.dtype)[()]
        cts = evaluate(adjoint, *residuals, ct)
        forward = np.sum(ct * tangent)
        backward = sum(np.sum(c * t) for c, t in zip(cts, ts, strict=True))
        tolerance = 1e-12 if tangent.dtype == F64 else 1e-5
        assert_close(backward, forward, tolerance)
        for c, i in zip(cts, active, strict=True):
            assert np.shape(c) == sample.operands[i].shape
            assert np.asarray(c).dtype == sample.operands[i].dtype


@each_sample
def test_batch_is_a_loop(sample: Sample) -> None:
    random = generator(sample)
    primal = traced(sample)
    size = 2
    positions = [(None, *range(min(len(o.shape), 2) + 1)) for o in sample.operands]
    for axes in itertools.product(*positions):
        if all(axis is None for axis in axes):
            continue
        xs = [
            operand.draw(random)
            if axis is None
            else np.stack([operand.draw(random) for _ in range(size)], axis)
            for operand, axis in zip(sample.operands, axes, strict=True)
        ]
        batched, (out_axis,) = vmap(primal, size, axes)
        (found,) = evaluate(batched, *xs)
        loop = [
            evaluate(
                primal,
                *[
                    x if axis is None else np.take(x, example, axis)
                    for x, axis in zip(xs, axes, strict=True)
                ],
            )[0]
            for example in range(size)
        ]
        assert out_axis is not None
        found = np.moveaxis(found, out_axis, 0)
        assert found.dtype == np.asarray(loop).dtype
        if is_inexact(found.dtype):
            assert_close(found, np.stack(loop), 1e-13 if found.dtype == F64 else 1e-6)
        else:
            np.testing.assert_array_equal(found, np.stack(loop))


@each_sample
def test_second_derivative_is_the_slope_of_the_first(sample: Sample) -> None:
    xs = draw(sample)
    active = real_operands(sample)
    closed = differentiated(sample, active) if active else None
    if closed is None:
        return
    ts, us = directions(sample, active), directions(sample, active, 3)
    flags = [i in active for i in range(len(xs))] + [False] * len(ts)
    second, (_, has_tangent) = jvp(closed, flags)
    first = evaluate(closed, *xs, *ts)[1]
    if first.dtype != F64:
        return
    expected = slope(lambda s: evaluate(closed, *shifted(xs, active, us, s), *ts)[1])
    if has_tangent:
        assert_close(evaluate(second, *xs, *ts, *us)[-1], expected, 1e-8)
    else:
        assert_close(np.zeros_like(expected), expected, 1e-8)


@each_sample
def test_named_sizes_change_nothing(sample: Sample) -> None:
    xs = draw(sample)
    with assuming(Assumptions()):
        symbolic = traced(sample, types(sample, NAMES))
        active = [is_inexact(o.dtype) for o in sample.operands]
        forward, _ = jvp(symbolic, active)
        batched, out_axes = vmap(forward, dimension("b"), [0] * len(forward.in_avals))
    ts = directions(sample, real_operands(sample))
    (expected,) = evaluate(traced(sample), *xs)
    (found,) = evaluate(with_sizes(symbolic, SIZES), *xs)
    np.testing.assert_array_equal(found, expected)
    results = evaluate(with_sizes(forward, SIZES), *xs, *ts)
    batch = [np.stack([x, x]) for x in (*xs, *ts)]
    twice = evaluate(with_sizes(batched, {**SIZES, "b": 2}), *batch)
    for one, two, axis in zip(results, twice, out_axes, strict=True):
        many = np.stack([one, one], axis) if axis is not None else one
        assert_close(two, many, 1e-13 if np.asarray(one).dtype == F64 else 1e-6)


def with_sizes(closed: ClosedJaxpr, sizes: dict[str, int]) -> ClosedJaxpr:
    """The jaxpr for given sizes of its named dimensions."""
    avals = [
        ShapedArray(tuple(substitute(size, sizes) for size in a.shape), a.dtype)
        for a in closed.in_avals
    ]

    def step(eqn: JaxprEqn, operands: Sequence[Any]) -> Sequence[Any]:
        result = bind(eqn.primitive.with_sizes(sizes), *operands)
        return result if eqn.primitive.multiple_results else [result]

    return make(lambda *xs: walk(closed, xs, step), avals)
