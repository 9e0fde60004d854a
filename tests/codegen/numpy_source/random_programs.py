"""Random jaxprs over the primitives that move, broadcast, add up and overwrite elements."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s import lax
from s2s.ir.jaxpr import ClosedJaxpr, ShapedArray, Source
from s2s.passes.dce import dce
from s2s.primitives.indexing import put_at, take_at
from s2s.trace import Tracer, aval, builder_in_force, make, named

FLOAT64 = np.dtype(np.float64)
SHAPES: list[tuple[int, ...]] = [(), (3,), (2,), (2, 3), (3, 2), (1, 3), (2, 1)]
LINES = ["x = ...", "x += 1", "return np.mean(x)", "for x in xs:"]


def random_program(seed: int) -> tuple[ClosedJaxpr, list[Any]]:
    """A jaxpr, and arguments for it: arrays of small integers."""
    source = random.Random(seed)
    shapes = [source.choice(SHAPES) for _ in range(source.randint(1, 3))]
    avals = [ShapedArray(shape, FLOAT64) for shape in shapes]
    closed = dce(make(lambda *args: _run(source, list(args)), avals, ["x", "y", "z"][: len(avals)]))
    numbers = np.random.default_rng(seed)
    return closed, [numbers.integers(-3, 4, shape).astype(float)[()] for shape in shapes]


def _run(source: random.Random, values: list[Any]) -> list[Any]:
    builder = builder_in_force()
    assert builder is not None
    line, is_backward = 1, False
    for _ in range(source.randint(3, 14)):
        line += source.random() < 0.4
        is_backward = is_backward or source.random() < 0.15
        builder.source = Source("model.py", line, source.choice(LINES))
        builder.phase = "cotangent" if is_backward else source.choice(["primal", "tangent"])
        value = source.choice(values)
        result = source.choice(STEPS)(source, value, values)
        if result is None or max(aval(result).shape, default=0) > 8:
            continue
        if source.random() < 0.55 and isinstance(result, Tracer):
            named(result, source.choice("uvwx") + ("_bar" if is_backward else ""))
        values.append(result)
    return [source.choice(values[-5:]) for _ in range(source.randint(1, 3))]


def _alike(value: Any, values: list[Any]) -> list[Any]:
    return [other for other in values if aval(other).shape == aval(value).shape]


Step = Callable[[random.Random, Any, list[Any]], Any]
STEPS: list[Step] = []


def step(function: Step) -> Step:
    STEPS.append(function)
    return function


def for_arrays(function: Step) -> Step:
    """A step that does nothing with a number."""

    def apply(source: random.Random, value: Any, values: list[Any]) -> Any:
        return function(source, value, values) if aval(value).shape else None

    return step(apply)


@step
def arithmetic(source: random.Random, value: Any, values: list[Any]) -> Any:
    numbers = [other for other in values if aval(other).shape == ()]
    other = source.choice([*_alike(value, values), *numbers, 2.0, -1.0, -2.0])
    return source.choice([lax.add, lax.sub, lax.mul])(value, other)


@step
def sum_of_derivatives(source: random.Random, value: Any, values: list[Any]) -> Any:
    return lax.add_any(value, source.choice(_alike(value, values)))


step(lambda source, value, values: lax.neg(value))
step(lambda source, value, values: lax.integer_pow(value, 2))


@step
def choice(source: random.Random, value: Any, values: list[Any]) -> Any:
    alike = _alike(value, values)
    cases = source.choice(alike), source.choice([*alike, 0.0])
    return lax.select_n(lax.gt(value, source.choice(alike)), *cases)


@step
def filled(source: random.Random, value: Any, values: list[Any]) -> Any:
    return lax.full(source.choice(SHAPES), source.choice([0.0, 1.0, 2.0]), FLOAT64)


@step
def broadcast(source: random.Random, value: Any, values: list[Any]) -> Any:
    shape, own = source.choice(SHAPES), aval(value).shape
    if len(shape) < len(own):
        return None
    axes = sorted(source.sample(range(len(shape)), len(own)))
    if any(size not in (1, shape[axis]) for size, axis in zip(own, axes, strict=True)):
        return None
    return lax.broadcast_in_dim(value, shape, tuple(axes))


@for_arrays
def total(source: random.Random, value: Any, values: list[Any]) -> Any:
    rank = aval(value).ndim
    return lax.reduce_sum(value, sorted(source.sample(range(rank), source.randint(1, rank))))


@for_arrays
def shuffled(source: random.Random, value: Any, values: list[Any]) -> Any:
    shape = aval(value).shape
    count = int(np.prod(shape))
    kind = source.randrange(3)
    if kind == 0:
        return lax.transpose(value, tuple(reversed(range(len(shape)))))
    if kind == 1:
        return lax.rev(value, [source.randrange(len(shape))])
    return lax.reshape(value, source.choice([(count,), (1, count), (count, 1), shape[::-1]]))


@for_arrays
def part(source: random.Random, value: Any, values: list[Any]) -> Any:
    shape = aval(value).shape
    starts = [source.randint(0, size - 1) for size in shape]
    limits = [source.randint(a + 1, size) for a, size in zip(starts, shape, strict=True)]
    return lax.slice(value, tuple(starts), tuple(limits), [source.choice([1, 1, 2]) for _ in shape])


@for_arrays
def padded(source: random.Random, value: Any, values: list[Any]) -> Any:
    config = [(source.randint(0, 1), source.randint(0, 1), source.choice([0, 0, 1]))
              for _ in aval(value).shape]  # fmt: skip
    return lax.pad(value, source.choice([0.0, 0.0, 0.0, 1.0]), config)


@for_arrays
def shifted_and_added(source: random.Random, value: Any, values: list[Any]) -> Any:
    shape = aval(value).shape
    if 1 in shape:
        return None
    shorter = lax.slice(value, (0,) * len(shape), tuple(size - 1 for size in shape))
    return lax.add_any(value, lax.pad(shorter, 0.0, [(1, 0, 0)] * len(shape)))


@for_arrays
def joined(source: random.Random, value: Any, values: list[Any]) -> Any:
    axis = source.randrange(aval(value).ndim)
    return lax.concatenate([value, source.choice(_alike(value, values))], axis)


@for_arrays
def contracted(source: random.Random, value: Any, values: list[Any]) -> Any:
    other = source.choice([x for x in values if aval(x).shape])
    pairs = [
        (i, j)
        for i, a in enumerate(aval(value).shape)
        for j, b in enumerate(aval(other).shape)
        if a == b
    ]
    source.shuffle(pairs)
    chosen: list[tuple[int, int]] = []
    for i, j in pairs:
        if all(i != a and j != b for a, b in chosen) and source.random() < 0.7:
            chosen.append((i, j))
    batch = source.randint(0, len(chosen))
    axes = [
        tuple(pair[k] for pair in part) for part in (chosen[batch:], chosen[:batch]) for k in (0, 1)
    ]
    return lax.dot_general(value, other, ((axes[0], axes[1]), (axes[2], axes[3])))


@for_arrays
def indexed(source: random.Random, value: Any, values: list[Any]) -> Any:
    axis = source.randrange(aval(value).ndim)
    size = aval(value).shape[axis]
    places = np.array([source.randrange(size) for _ in range(source.randint(1, 3))])
    kind = source.randrange(4)
    if kind == 0:
        return take_at(value, [axis], [np.int64(places[0])])
    if kind == 1:
        return take_at(value, [axis], [places])
    add = kind == 2
    places = places if add else np.unique(places)
    base = value if source.random() < 0.6 else lax.full(aval(value).shape, 0.0, FLOAT64)
    updates = lax.mul(take_at(value, [axis], [places]), 2.0)
    return put_at(base, [axis], [places], updates, add=add, unique_indices=not add)
