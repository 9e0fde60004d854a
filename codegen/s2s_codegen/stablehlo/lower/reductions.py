"""Sums, products and extrema along axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2s.ir.dtypes import highest, lowest
from s2s.ir.jaxpr import ShapedArray
from s2s.primitives import core, reductions
from s2s.primitives.creation import Iota as iota
from s2s_codegen.stablehlo.emit import Emitter, Operand, lower
from s2s_codegen.stablehlo.lower.elementwise import compare, select
from s2s_codegen.stablehlo.text import function_type, tensor_type


def reduce(
    emitter: Emitter,
    op: str,
    x: Operand,
    start: Any,
    axes: Sequence[int],
    result: ShapedArray,
) -> Operand:
    """The operand combined along axes by a binary operation, from a start value."""
    init = emitter.scalar(start, x.aval.dtype)
    types = function_type([x.type, init.type], [tensor_type(result)])
    return emitter.op(
        f"stablehlo.reduce({x.name} init: {init.name}) applies stablehlo.{op} "
        f"across dimensions = {list(axes)} : {types}",
        result,
    )


@lower.register
def _(
    primitive: core.ReduceSum, emitter: Emitter, operands: list[Operand], results: list[ShapedArray]
) -> list[Operand]:
    (result,) = results
    x = emitter.convert(operands[0], result.dtype)
    return [reduce(emitter, "add", x, 0, primitive.axes, result)]


@lower.register
def _(
    primitive: reductions.ReduceProd,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    (result,) = results
    x = emitter.convert(operands[0], result.dtype)
    return [reduce(emitter, "multiply", x, 1, primitive.axes, result)]


@lower.register
def _(
    primitive: reductions.ReduceMax,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    (x,) = operands
    return [reduce(emitter, "maximum", x, lowest(x.aval.dtype), primitive.axes, results[0])]


@lower.register
def _(
    primitive: reductions.ReduceMin,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    (x,) = operands
    return [reduce(emitter, "minimum", x, highest(x.aval.dtype), primitive.axes, results[0])]


@lower.register
def _(
    primitive: reductions.ReduceAnd,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    return [reduce(emitter, "and", operands[0], True, primitive.axes, results[0])]


@lower.register
def _(
    primitive: reductions.ReduceOr,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    return [reduce(emitter, "or", operands[0], False, primitive.axes, results[0])]


@lower.register(reductions.ArgMax)
@lower.register(reductions.ArgMin)
def _(
    primitive: reductions.IndexOfExtremum,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    """The first index at which the extremum, or a NaN, is found."""
    (x,), (result,) = operands, results
    (axis,) = primitive.axes
    largest = primitive.name == "argmax"
    op, start = ("maximum", lowest) if largest else ("minimum", highest)
    best = reduce(
        emitter, op, x, start(x.aval.dtype), (axis,), ShapedArray(result.shape, x.aval.dtype)
    )
    kept = [a for a in range(x.aval.ndim) if a != axis]
    best = emitter.broadcast(best, x.aval.shape, kept)
    found = compare(emitter, "EQ", x, best)
    if x.aval.dtype.kind == "f":
        found = emitter.binary("or", found, compare(emitter, "NE", x, x))
    numbers = ShapedArray(x.aval.shape, result.dtype)
    (places,) = lower(iota(result.dtype, x.aval.shape, axis), emitter, [], [numbers])
    never = emitter.full(np.iinfo(result.dtype).max, numbers)
    places = select(emitter, found, places, never)
    return [reduce(emitter, "minimum", places, np.iinfo(result.dtype).max, (axis,), result)]
