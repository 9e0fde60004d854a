"""Axes, slices, and what is put together from parts."""

from __future__ import annotations

from s2s.ir.jaxpr import ShapedArray
from s2s.primitives import conversion, core, creation, identity, joining, layout, spacing, updates
from s2s_codegen.stablehlo.emit import Emitter, Operand, composition, is_static, lower
from s2s_codegen.stablehlo.text import function_type, tensor_type


@lower.register
def _(
    primitive: core.BroadcastInDim,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    return [emitter.broadcast(operands[0], results[0].shape, primitive.broadcast_dimensions)]


@lower.register(core.Reshape)
@lower.register(layout.Squeeze)
def _(
    primitive: core.Reshape | layout.Squeeze,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    return [emitter.reshape(operands[0], results[0].shape)]


@lower.register
def _(
    primitive: core.Transpose, emitter: Emitter, operands: list[Operand], results: list[ShapedArray]
) -> list[Operand]:
    (x,) = operands
    dims = ", ".join(map(str, primitive.permutation))
    types = function_type([x.type], [tensor_type(results[0])])
    return [emitter.op(f"stablehlo.transpose {x.name}, dims = [{dims}] : {types}", results[0])]


@lower.register
def _(
    primitive: conversion.ConvertElementType,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    return [emitter.convert(operands[0], results[0].dtype)]


@lower.register
def _(
    primitive: layout.Rev, emitter: Emitter, operands: list[Operand], results: list[ShapedArray]
) -> list[Operand]:
    (x,) = operands
    dims = ", ".join(map(str, primitive.dimensions))
    return [emitter.op(f"stablehlo.reverse {x.name}, dims = [{dims}] : {x.type}", x.aval)]


@lower.register
def _(
    primitive: layout.Slice, emitter: Emitter, operands: list[Operand], results: list[ShapedArray]
) -> list[Operand]:
    (x,) = operands
    strides = primitive.strides or (1,) * x.aval.ndim
    bounds = (primitive.start_indices, primitive.limit_indices)
    if is_static((*x.aval.shape, *bounds[0], *bounds[1])):
        ranges = ", ".join(
            f"{start}:{limit}" if step == 1 else f"{start}:{limit}:{step}"
            for start, limit, step in zip(*bounds, strides, strict=True)
        )
        types = function_type([x.type], [tensor_type(results[0])])
        return [emitter.op(f"stablehlo.slice {x.name} [{ranges}] : {types}", results[0])]
    parts = [x, emitter.shape(bounds[0]), emitter.shape(bounds[1]), emitter.shape(strides)]
    names = ", ".join(part.name for part in parts)
    types = function_type([part.type for part in parts], [tensor_type(results[0])])
    return [emitter.op(f"stablehlo.real_dynamic_slice {names} : {types}", results[0])]


@lower.register
def _(
    primitive: layout.Pad, emitter: Emitter, operands: list[Operand], results: list[ShapedArray]
) -> list[Operand]:
    x, filler = operands
    low, high, interior = zip(*primitive.padding_config, strict=True)
    if is_static((*x.aval.shape, *low, *high)):
        edges = ", ".join(
            f"{what} = [{', '.join(map(str, sizes))}]"
            for what, sizes in (("low", low), ("high", high), ("interior", interior))
        )
        types = function_type([x.type, filler.type], [tensor_type(results[0])])
        text = f"stablehlo.pad {x.name}, {filler.name}, {edges} : {types}"
        return [emitter.op(text, results[0])]
    parts = [x, filler, emitter.shape(low), emitter.shape(high), emitter.shape(interior)]
    names = ", ".join(part.name for part in parts)
    types = function_type([part.type for part in parts], [tensor_type(results[0])])
    return [emitter.op(f"stablehlo.dynamic_pad {names} : {types}", results[0])]


@lower.register
def _(
    primitive: joining.Concatenate,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    return [concatenate(emitter, operands, primitive.dimension, results[0])]


@lower.register
def _(
    primitive: joining.Stack, emitter: Emitter, operands: list[Operand], results: list[ShapedArray]
) -> list[Operand]:
    (result,) = results
    axis = primitive.axis
    part = (*result.shape[:axis], 1, *result.shape[axis + 1 :])
    rows = [emitter.reshape(x, part) for x in operands]
    return [concatenate(emitter, rows, axis, result)]


def concatenate(
    emitter: Emitter, operands: list[Operand], axis: int, result: ShapedArray
) -> Operand:
    """The operands one after the other along an axis."""
    names = ", ".join(x.name for x in operands)
    types = function_type([x.type for x in operands], [tensor_type(result)])
    return emitter.op(f"stablehlo.concatenate {names}, dim = {axis} : {types}", result)


@lower.register
def _(
    primitive: creation.Iota, emitter: Emitter, operands: list[Operand], results: list[ShapedArray]
) -> list[Operand]:
    (result,) = results
    axis = primitive.dimension
    if is_static(result.shape):
        return [emitter.op(f"stablehlo.iota dim = {axis} : {tensor_type(result)}", result)]
    sizes = emitter.shape(result.shape)
    types = function_type([sizes.type], [tensor_type(result)])
    return [emitter.op(f"stablehlo.dynamic_iota {sizes.name}, dim = {axis} : {types}", result)]


@lower.register
def _(
    primitive: creation.Empty, emitter: Emitter, operands: list[Operand], results: list[ShapedArray]
) -> list[Operand]:
    return [emitter.full(0, results[0])]


lower.register(spacing.Linspace, composition(spacing.Linspace.composed))
lower.register(updates.UpdateSlice, composition(updates.UpdateSlice.composed))
lower.register(updates.UpdateSliceAdd, composition(updates.UpdateSliceAdd.composed))


@lower.register
def _(
    primitive: creation.DimAsValue,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    return [emitter.convert(emitter.size(primitive.dim), results[0].dtype)]


@lower.register(identity.StopGradient)
@lower.register(identity.Copy)
def _(
    primitive: identity.StopGradient | identity.Copy,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    return operands
