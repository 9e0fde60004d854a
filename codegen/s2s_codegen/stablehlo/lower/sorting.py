"""Sorting: elements in order, with the numbers of the places they come from where these count."""

from __future__ import annotations

from s2s.ir.dtypes import BOOL, DType
from s2s.ir.jaxpr import ShapedArray
from s2s.primitives import sorting
from s2s.primitives.creation import Iota
from s2s_codegen.stablehlo.emit import Emitter, Operand, lower
from s2s_codegen.stablehlo.text import element_type, function_type


def _precedes(emitter: Emitter, left: str, right: str, dtype: DType) -> tuple[list[str], str]:
    """The operations that say whether one element comes before another, and the result's name.

    NaN comes last, and the two zeros are equal.
    """
    scalar, truth = f"tensor<{element_type(dtype)}>", f"tensor<{element_type(BOOL)}>"
    types = f"({scalar}, {scalar}) -> {truth}"
    less = emitter.fresh()
    if dtype.kind != "f":
        kind = {"i": "SIGNED", "u": "UNSIGNED", "b": "UNSIGNED"}[dtype.kind]
        return [f"{less} = stablehlo.compare LT, {left}, {right}, {kind} : {types}"], less
    number, nan, last, before = (emitter.fresh() for _ in range(4))
    lines = [
        f"{less} = stablehlo.compare LT, {left}, {right}, FLOAT : {types}",
        f"{number} = stablehlo.compare EQ, {left}, {left}, FLOAT : {types}",
        f"{nan} = stablehlo.compare NE, {right}, {right}, FLOAT : {types}",
        f"{last} = stablehlo.and {number}, {nan} : {truth}",
        f"{before} = stablehlo.or {less}, {last} : {truth}",
    ]
    return lines, before


def _sorted(
    emitter: Emitter, operands: list[Operand], dimension: int, is_stable: bool
) -> list[Operand]:
    """The operands in the order of the first."""
    arguments: list[str] = []
    keys: list[str] = []
    for x in operands:
        pair = [emitter.fresh(), emitter.fresh()]
        keys = keys or pair
        arguments += [f"{name}: tensor<{element_type(x.aval.dtype)}>" for name in pair]
    lines, before = _precedes(emitter, keys[0], keys[1], operands[0].aval.dtype)
    types = [x.type for x in operands]
    return emitter.ops(
        f'"stablehlo.sort"({", ".join(x.name for x in operands)}) '
        f"<{{dimension = {dimension} : i64, is_stable = {str(is_stable).lower()}}}> "
        f"({{ ^bb0({', '.join(arguments)}): {' '.join(lines)} "
        f"stablehlo.return {before} : tensor<{element_type(BOOL)}> }}) : "
        f"{function_type(types, types)}",
        [x.aval for x in operands],
    )


@lower.register
def _(
    primitive: sorting.Sort,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    return _sorted(emitter, operands, primitive.dimension, primitive.is_stable)


@lower.register
def _(
    primitive: sorting.ArgSort,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    (x,), (result,) = operands, results
    count = Iota(result.dtype, result.shape, primitive.dimension)
    (places,) = lower(count, emitter, [], [result])
    return _sorted(emitter, [x, places], primitive.dimension, primitive.is_stable)[1:]
