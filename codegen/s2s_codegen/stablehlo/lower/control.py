"""Branches as `case`, loops as `while`, calls as calls.

Loops that keep all their steps are not met here: see `s2s_codegen.stablehlo.histories`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from s2s.control import checkpoint, cond, jit, scan, while_loop
from s2s.ir.dtypes import INT64
from s2s.ir.jaxpr import ClosedJaxpr, ShapedArray
from s2s.primitives import counts
from s2s_codegen.stablehlo.emit import Emitter, Operand, call, lower
from s2s_codegen.stablehlo.lower.elementwise import compare
from s2s_codegen.stablehlo.lower.indexing import dynamic_slice, dynamic_update_slice
from s2s_codegen.stablehlo.text import tensor_type

INT32 = np.dtype(np.int32)


@lower.register
def _(
    primitive: cond.Cond, emitter: Emitter, operands: list[Operand], results: list[ShapedArray]
) -> list[Operand]:
    index, *rest = operands
    # `case` takes the last branch for what is out of range; cond's index is clamped before.
    index = emitter.convert(index, INT32)
    regions: list[str] = []
    for branch in primitive.branches:
        with emitter.captured() as lines:
            values = emitter.inline(branch, rest)
            emitter.line(_return(values))
        regions.append("{\n" + "\n".join(lines) + "\n" + emitter.indentation + "}")
    types = ", ".join(map(tensor_type, results))
    text = f'"stablehlo.case"({index.name}) ({", ".join(regions)}) : (tensor<i32>) -> ({types})'
    return emitter.ops(text, results)


def _return(values: Sequence[Operand]) -> str:
    names = ", ".join(value.name for value in values)
    types = ", ".join(value.type for value in values)
    return f"stablehlo.return {names} : {types}" if values else "stablehlo.return"


def while_(
    emitter: Emitter,
    carry: Sequence[Operand],
    condition: Callable[[list[Operand]], Operand],
    body: Callable[[list[Operand]], Sequence[Operand]],
) -> list[Operand]:
    """A loop that carries values: `condition` and `body` write what they compute from them."""
    avals = [x.aval for x in carry]
    names = [f"%carry{emitter.fresh()[1:]}" for _ in carry]
    inside = [Operand(name, a) for name, a in zip(names, avals, strict=True)]
    with emitter.captured() as tests:
        emitter.line(_return([condition(inside)]))
    with emitter.captured() as steps:
        emitter.line(_return(body(inside)))
    bound = ", ".join(f"{name} = {x.name}" for name, x in zip(names, carry, strict=True))
    types = ", ".join(map(tensor_type, avals))
    indent = emitter.indentation
    text = (
        f"stablehlo.while({bound}) : {types}\n{indent}cond {{\n"
        + "\n".join(tests)
        + f"\n{indent}}} do {{\n"
        + "\n".join(steps)
        + f"\n{indent}}}"
    )
    return emitter.ops(text, avals)


def _row(emitter: Emitter, stacked: Operand, index: Operand) -> Operand:
    """One element along the first axis."""
    shape = stacked.aval.shape
    zero = emitter.scalar(0, INT64)
    starts = [index, *[zero] * (len(shape) - 1)]
    row = dynamic_slice(emitter, stacked, starts, ShapedArray((1, *shape[1:]), stacked.aval.dtype))
    return emitter.reshape(row, shape[1:])


def _with_row(emitter: Emitter, stacked: Operand, index: Operand, row: Operand) -> Operand:
    """The stacked values with one of them replaced."""
    zero = emitter.scalar(0, INT64)
    update = emitter.reshape(row, (1, *row.aval.shape))
    return dynamic_update_slice(emitter, stacked, update, [index, *[zero] * row.aval.ndim])


@lower.register
def _(
    primitive: scan.Scan, emitter: Emitter, operands: list[Operand], results: list[ShapedArray]
) -> list[Operand]:
    _, consts, carry, xs = primitive.parts(operands)
    length = emitter.convert(emitter.size(primitive.length), INT64)
    num_carry = primitive.num_carry
    stacks = [emitter.full(0, aval) for aval in results[num_carry:]]
    start = emitter.scalar(0, INT64)

    def condition(values: list[Operand]) -> Operand:
        return compare(emitter, "LT", values[0], length)

    def body(values: list[Operand]) -> list[Operand]:
        step, *rest = values
        one = emitter.scalar(1, INT64)
        index = step
        if primitive.reverse:
            last = emitter.binary("subtract", length, one)
            index = emitter.binary("subtract", last, step)
        rows = [_row(emitter, x, index) for x in xs]
        out = emitter.inline(primitive.jaxpr, [*consts, *rest[:num_carry], *rows])
        filled = [
            _with_row(emitter, stack, index, row)
            for stack, row in zip(rest[num_carry:], out[num_carry:], strict=True)
        ]
        return [emitter.binary("add", step, one), *out[:num_carry], *filled]

    return while_(emitter, [start, *carry, *stacks], condition, body)[1:]


@lower.register
def _(
    primitive: while_loop.While,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    cond_consts, body_consts, carry = primitive.parts(operands)

    def condition(values: list[Operand]) -> Operand:
        return emitter.inline(primitive.cond_jaxpr, [*cond_consts, *values])[0]

    def body(values: list[Operand]) -> list[Operand]:
        return emitter.inline(primitive.body_jaxpr, [*body_consts, *values])

    return while_(emitter, carry, condition, body)


@lower.register
def _(
    primitive: jit.Jit, emitter: Emitter, operands: list[Operand], results: list[ShapedArray]
) -> list[Operand]:
    return call(emitter, primitive.callee, primitive.jaxpr, operands, results)


@lower.register
def _(
    primitive: checkpoint.Remat,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    if not operands:
        return emitter.inline(primitive.jaxpr, operands)
    # A barrier, so that what is computed again is not found to be there already.
    names = ", ".join(x.name for x in operands)
    types = ", ".join(x.type for x in operands)
    kept = emitter.ops(
        f"stablehlo.optimization_barrier {names} : {types}", [x.aval for x in operands]
    )
    return emitter.inline(primitive.jaxpr, kept)


@lower.register
def _(
    primitive: checkpoint.Name,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    return operands


@lower.register
def _(
    primitive: counts.RowsOfSteps,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    return operands[1:]


__all__ = ["ClosedJaxpr", "while_"]
