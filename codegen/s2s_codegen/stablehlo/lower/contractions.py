"""dot_general."""

from __future__ import annotations

from s2s.ir.jaxpr import ShapedArray
from s2s.primitives import contractions
from s2s_codegen.stablehlo.emit import Emitter, Operand, lower
from s2s_codegen.stablehlo.text import function_type, tensor_type


@lower.register
def _(
    primitive: contractions.DotGeneral,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    x, y = operands
    (x_contract, y_contract), (x_batch, y_batch) = primitive.dimension_numbers
    batching = f"batching_dims = {list(x_batch)} x {list(y_batch)}, " if x_batch else ""
    contracting = f"contracting_dims = {list(x_contract)} x {list(y_contract)}"
    types = function_type([x.type, y.type], [tensor_type(results[0])])
    text = f"stablehlo.dot_general {x.name}, {y.name}, {batching}{contracting} : {types}"
    return [emitter.op(text, results[0])]
