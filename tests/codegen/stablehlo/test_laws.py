"""What the laws speak of, by XLA: the tangent and the cotangents of one sample of each primitive;
with --long of every sample, and the second derivative, and batches, all in one program."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from s2s.ir.jaxpr import ClosedJaxpr, ShapedArray
from s2s.passes.jvp import jvp
from s2s.passes.partial_eval import partial_eval
from s2s.passes.pipeline import optimise
from s2s.passes.transpose import transpose
from s2s.passes.vmap import vmap
from s2s.primitive import Value
from s2s.trace import evaluate, inline, make
from tests.codegen.stablehlo.agreement import DERIVATIVE, assert_agree
from tests.codegen.stablehlo.test_emit import by_xla
from tests.samples import SAMPLES, Sample
from tests.test_laws import differentiated, directions, draw, real_operands, traced

Program = Callable[..., Sequence[Value]]


def by_rows(count: int) -> list[int | None]:
    return [0] * count


def programs_of(sample: Sample) -> list[tuple[Program, list[Any]]]:
    """Functions of flat arguments, and arguments for them."""
    primal, xs = traced(sample), draw(sample)
    active = real_operands(sample)
    tangent = differentiated(sample, active) if active else None
    found: list[tuple[Program, list[Any]]] = [of(vmap(primal, 2, by_rows(len(xs)))[0], stacks(xs))]
    if tangent is None:
        return [] if not xs else found
    ts, us = directions(sample, active), directions(sample, active, 3)
    arguments = [*xs, *ts]
    found.append(of(tangent, arguments))
    found.append(of(vmap(tangent, 2, by_rows(len(arguments)))[0], stacks(arguments)))
    split = partial_eval(tangent, [False] * len(xs) + [True] * len(ts))
    number = len(split.known.out_avals) - 1
    adjoint = transpose(split.unknown, [False] * number + [True] * len(ts))
    ct = np.asarray(evaluate(tangent, *arguments)[1])[()]

    def cotangents(*values: Value) -> Sequence[Value]:
        *operands, ct = values
        return inline(adjoint, *inline(split.known, *operands)[1:], ct)

    found.append((cotangents, [*xs, ct]))
    flags = [i in active for i in range(len(xs))] + [False] * len(ts)
    found.append(of(jvp(tangent, flags)[0], [*arguments, *us]))
    return found


def of(closed: ClosedJaxpr, arguments: list[Any]) -> tuple[Program, list[Any]]:
    return lambda *values: inline(closed, *values), arguments


def stacks(values: Sequence[Any]) -> list[Any]:
    return [np.stack([value, value]) for value in values]


ONE_OF_EACH = {sample.primitive: sample for sample in reversed(SAMPLES)}.values()


@pytest.mark.parametrize("sample", ONE_OF_EACH, ids=str)
def test_tangents_and_cotangents(sample: Sample) -> None:
    programs = programs_of(sample)
    assert_as_by_numpy(programs[1:2] + programs[3:4])


@pytest.mark.slow
@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_laws(sample: Sample) -> None:
    assert_as_by_numpy(programs_of(sample))


def assert_as_by_numpy(programs: Sequence[tuple[Program, list[Any]]]) -> None:
    arguments = [argument for _, given in programs for argument in given]

    def all_of_them(*values: Value) -> list[Value]:
        rest = iter(values)
        return [y for f, given in programs for y in f(*[next(rest) for _ in given])]

    avals = [ShapedArray(np.shape(a), np.asarray(a).dtype) for a in arguments]
    closed = optimise(make(all_of_them, avals))
    assert_agree(by_xla(closed, arguments), evaluate(closed, *arguments), DERIVATIVE)
