"""Running reductions, as reductions over windows that reach back to the start."""

from __future__ import annotations

from typing import Any

from s2s.errors import UserError
from s2s.ir.jaxpr import ShapedArray
from s2s.primitives import cumulative
from s2s_codegen.stablehlo.emit import Emitter, Operand, is_static, lower
from s2s_codegen.stablehlo.lower.reductions import highest, lowest
from s2s_codegen.stablehlo.text import element_type, function_type, tensor_type


def _running(
    emitter: Emitter,
    op: str,
    x: Operand,
    start: Any,
    primitive: cumulative.Cumulative,
    result: ShapedArray,
) -> Operand:
    if not is_static(x.aval.shape):
        raise UserError(
            f"{primitive.name} along an axis of an open size cannot be written as StableHLO; fix "
            "the size with --dims.",
            emitter.source,
        )
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
    return [_running(emitter, op, x, start, primitive, result)]
