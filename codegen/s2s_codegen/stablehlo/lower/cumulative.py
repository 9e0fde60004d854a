"""Running reductions: over windows that reach back to the start, or in turn if that has no size."""

from __future__ import annotations

from typing import Any

from s2s.ir.dims import Dim
from s2s.ir.dtypes import INT64, highest, lowest
from s2s.ir.jaxpr import ShapedArray
from s2s.primitives import cumulative
from s2s_codegen.stablehlo.emit import Emitter, Operand, lower
from s2s_codegen.stablehlo.lower.control import while_
from s2s_codegen.stablehlo.lower.elementwise import compare
from s2s_codegen.stablehlo.lower.indexing import dynamic_slice, dynamic_update_slice
from s2s_codegen.stablehlo.text import element_type, function_type, tensor_type


def _running(
    emitter: Emitter,
    op: str,
    x: Operand,
    start: Any,
    primitive: cumulative.Cumulative,
    result: ShapedArray,
) -> Operand:
    axis, rank = primitive.axis, x.aval.ndim
    size = int(x.aval.shape[axis])  # pyright: ignore[reportArgumentType]
    window = [size if a == axis else 1 for a in range(rank)]
    before = [size - 1 if a == axis and not primitive.reverse else 0 for a in range(rank)]
    after = [size - 1 if a == axis and primitive.reverse else 0 for a in range(rank)]
    padding = ", ".join(f"[{b}, {a}]" for b, a in zip(before, after, strict=True))
    init = emitter.scalar(start, x.aval.dtype)
    scalar = f"tensor<{element_type(x.aval.dtype)}>"
    left, right, both = emitter.fresh(), emitter.fresh(), emitter.fresh()
    types = function_type([x.type, init.type], [tensor_type(result)])
    return emitter.op(
        f'"stablehlo.reduce_window"({x.name}, {init.name}) '
        f"<{{window_dimensions = array<i64: {', '.join(map(str, window))}>, "
        f"padding = dense<[{padding}]> : tensor<{rank}x2xi64>}}> "
        f"({{ ^bb0({left}: {scalar}, {right}: {scalar}): "
        f"{both} = stablehlo.{op} {left}, {right} : {scalar} "
        f"stablehlo.return {both} : {scalar} }}) : {types}",
        result,
    )


@lower.register(cumulative.CumSum)
@lower.register(cumulative.CumProd)
@lower.register(cumulative.CumMax)
@lower.register(cumulative.CumMin)
def _(
    primitive: cumulative.Cumulative,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    (result,) = results
    x = emitter.convert(operands[0], result.dtype)
    if x.aval.size == 0:
        return [x]
    dtype = x.aval.dtype
    op, start = {
        "cumsum": ("add", 0),
        "cumprod": ("multiply", 1),
        "cummax": ("maximum", lowest(dtype)),
        "cummin": ("minimum", highest(dtype)),
    }[primitive.name]
    if isinstance(x.aval.shape[primitive.axis], Dim):
        return [_in_turn(emitter, op, x, start, primitive)]
    return [_running(emitter, op, x, start, primitive, result)]


def _in_turn(
    emitter: Emitter, op: str, x: Operand, start: Any, primitive: cumulative.Cumulative
) -> Operand:
    """The running reduction element after element: the window of the other form is no value."""
    axis, shape, dtype = primitive.axis, x.aval.shape, x.aval.dtype
    slab = ShapedArray((*shape[:axis], 1, *shape[axis + 1 :]), dtype)
    zero = emitter.scalar(0, INT64)
    length = emitter.convert(emitter.size(shape[axis]), INT64)

    def condition(values: list[Operand]) -> Operand:
        return compare(emitter, "LT", values[0], length)

    def body(values: list[Operand]) -> list[Operand]:
        step, total, filled = values
        one = emitter.scalar(1, INT64)
        index = step
        if primitive.reverse:
            index = emitter.binary("subtract", emitter.binary("subtract", length, one), step)
        starts = [index if a == axis else zero for a in range(len(shape))]
        total = emitter.binary(op, total, dynamic_slice(emitter, x, starts, slab))
        filled = dynamic_update_slice(emitter, filled, total, starts)
        return [emitter.binary("add", step, one), total, filled]

    carry = [zero, emitter.full(start, slab), emitter.full(start, x.aval)]
    return while_(emitter, carry, condition, body)[2]
