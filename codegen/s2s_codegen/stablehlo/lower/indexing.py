"""Gathers, scatters, and slices whose starts are computed."""

from __future__ import annotations

from collections.abc import Sequence

from s2s.ir.dims import Shape, Size
from s2s.ir.dtypes import BOOL, INT64
from s2s.ir.jaxpr import ShapedArray
from s2s.primitives import dynamic, indexing
from s2s.primitives.index_layout import GatherScatterMode
from s2s_codegen.stablehlo.emit import Emitter, Operand, is_static, lower
from s2s_codegen.stablehlo.lower.elementwise import compare, select
from s2s_codegen.stablehlo.lower.layout import concatenate
from s2s_codegen.stablehlo.text import element_type, function_type, missing, tensor_type


def _whole_size(emitter: Emitter, size: Size, like: ShapedArray) -> Operand:
    """A size as an array of the type of some indices."""
    one = emitter.convert(emitter.size(size), like.dtype)
    return emitter.broadcast(one, like.shape) if like.shape else one


def _index_vectors(
    emitter: Emitter,
    indices: Sequence[Operand],
    axes: Sequence[int],
    shape: Shape,
    window: Sequence[Size],
    mode: GatherScatterMode,
) -> tuple[Operand, Operand | None]:
    """The components of the indices along a new last axis, negative ones counted from the end; and
    where all of them are inside, if that matters."""
    batch: Shape = next((i.aval.shape for i in indices if i.aval.shape), ())
    parts: list[Operand] = []
    inside: Operand | None = None
    for index, axis in zip(indices, axes, strict=True):
        index = emitter.convert(index, INT64)
        if batch and not index.aval.shape:
            index = emitter.broadcast(index, batch)
        zero = emitter.full(0, index.aval)
        room = _whole_size(emitter, shape[axis] - window[axis], index.aval)
        if mode is GatherScatterMode.NUMPY:
            whole = _whole_size(emitter, shape[axis], index.aval)
            from_end = emitter.binary("add", index, whole)
            index = select(emitter, compare(emitter, "LT", index, zero), from_end, index)
            here = emitter.binary(
                "and", compare(emitter, "GE", index, zero), compare(emitter, "LE", index, room)
            )
            inside = here if inside is None else emitter.binary("and", inside, here)
        elif mode is GatherScatterMode.CLIP:
            low = emitter.binary("maximum", index, zero)
            index = emitter.binary("minimum", low, room)
        parts.append(emitter.reshape(index, (*index.aval.shape, 1)))
    stacked = ShapedArray((*batch, len(parts)), INT64)
    vectors = parts[0] if len(parts) == 1 else concatenate(emitter, parts, len(batch), stacked)
    return vectors, inside


def _list(values: Sequence[int]) -> str:
    return f"[{', '.join(map(str, values))}]"


@lower.register
def _(
    primitive: indexing.Gather,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    x, *indices = operands
    (result,) = results
    numbers, sizes = primitive.dimension_numbers, primitive.slice_sizes
    if any(n == 0 and size == 1 for n, size in zip(x.aval.shape, sizes, strict=True)):
        return [emitter.full(missing(result), result)]
    vectors, inside = _index_vectors(
        emitter, indices, numbers.start_index_map, x.aval.shape, sizes, primitive.mode
    )
    attributes = (
        f"dimension_numbers = #stablehlo.gather<offset_dims = {_list(numbers.offset_dims)}, "
        f"collapsed_slice_dims = {_list(numbers.collapsed_slice_dims)}, "
        f"start_index_map = {_list(numbers.start_index_map)}, "
        f"index_vector_dim = {vectors.aval.ndim - 1}>, indices_are_sorted = false"
    )
    if is_static(sizes):
        text = f"array<i64: {', '.join(map(str, sizes))}>" if sizes else "array<i64>"
        types = function_type([x.type, vectors.type], [tensor_type(result)])
        taken = emitter.op(
            f'"stablehlo.gather"({x.name}, {vectors.name}) '
            f"<{{{attributes}, slice_sizes = {text}}}> : {types}",
            result,
        )
    else:
        window = emitter.shape(sizes)
        types = function_type([x.type, vectors.type, window.type], [tensor_type(result)])
        taken = emitter.op(
            f'"stablehlo.dynamic_gather"({x.name}, {vectors.name}, {window.name}) '
            f"<{{{attributes}}}> : {types}",
            result,
        )
    if inside is None:
        return [taken]
    # NumPy raises IndexError for what lies outside, which compiled code cannot: it gives NaN.
    batch = [axis for axis in range(result.ndim) if axis not in numbers.offset_dims]
    whole = emitter.broadcast(inside, result.shape, batch) if result.shape else inside
    return [select(emitter, whole, taken, emitter.full(missing(result), result))]


@lower.register
def _(
    primitive: indexing.Scatter,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    x, *indices, updates = operands
    numbers = primitive.dimension_numbers
    window = primitive.window(x.aval, updates.aval)
    axes = numbers.scatter_dims_to_operand_dims
    vectors, _ = _index_vectors(emitter, indices, axes, x.aval.shape, window, primitive.mode)
    unique = "true" if primitive.unique_indices else "false"
    attributes = (
        f"scatter_dimension_numbers = #stablehlo.scatter<"
        f"update_window_dims = {_list(numbers.update_window_dims)}, "
        f"inserted_window_dims = {_list(numbers.inserted_window_dims)}, "
        f"scatter_dims_to_operand_dims = {_list(axes)}, "
        f"index_vector_dim = {vectors.aval.ndim - 1}>, "
        f"indices_are_sorted = false, unique_indices = {unique}"
    )
    scalar = f"tensor<{element_type(x.aval.dtype)}>"
    types = function_type([x.type, vectors.type, updates.type], [tensor_type(results[0])])
    old, new, total = emitter.fresh(), emitter.fresh(), emitter.fresh()
    if isinstance(primitive, indexing.ScatterAdd):
        op = "or" if x.aval.dtype == BOOL else "add"
        combine = f"{total} = stablehlo.{op} {old}, {new} : {scalar} stablehlo.return {total}"
    else:
        combine = f"stablehlo.return {new}"
    text = (
        f'"stablehlo.scatter"({x.name}, {vectors.name}, {updates.name}) <{{{attributes}}}> '
        f"({{ ^bb0({old}: {scalar}, {new}: {scalar}): {combine} : {scalar} }}) : {types}"
    )
    return [emitter.op(text, results[0])]


def starts_inside(emitter: Emitter, starts: Sequence[Operand]) -> list[Operand]:
    """Starts of slices as i64, which StableHLO itself moves to where the slice fits."""
    return [emitter.convert(start, INT64) for start in starts]


@lower.register
def _(
    primitive: dynamic.DynamicSlice,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    x, *starts = operands
    if not starts:
        return [x]
    return [dynamic_slice(emitter, x, starts_inside(emitter, starts), results[0])]


def dynamic_slice(
    emitter: Emitter, x: Operand, starts: Sequence[Operand], result: ShapedArray
) -> Operand:
    """The slice of the size of `result` that begins at `starts`, numbers of one integer type."""
    if not is_static(result.shape):
        return _slice_of_open_size(emitter, x, starts, result)
    names = ", ".join(start.name for start in starts)
    types = function_type([x.type, *[s.type for s in starts]], [tensor_type(result)])
    sizes = ", ".join(map(str, result.shape))
    return emitter.op(
        f"stablehlo.dynamic_slice {x.name}, {names}, sizes = [{sizes}] : {types}", result
    )


def _slice_of_open_size(
    emitter: Emitter, x: Operand, starts: Sequence[Operand], result: ShapedArray
) -> Operand:
    """A gather of one window, since dynamic_slice takes no sizes that are values."""
    parts = [emitter.reshape(start, (1,)) for start in starts]
    vector = ShapedArray((len(parts),), starts[0].aval.dtype)
    start = parts[0] if len(parts) == 1 else concatenate(emitter, parts, 0, vector)
    sizes = emitter.shape(result.shape)
    axes = list(range(result.ndim))
    types = function_type([x.type, start.type, sizes.type], [tensor_type(result)])
    return emitter.op(
        f'"stablehlo.dynamic_gather"({x.name}, {start.name}, {sizes.name}) '
        f"<{{dimension_numbers = #stablehlo.gather<offset_dims = {axes}, "
        f"start_index_map = {axes}, index_vector_dim = 0>, indices_are_sorted = false}}> : {types}",
        result,
    )


@lower.register
def _(
    primitive: dynamic.DynamicUpdateSlice,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    x, update, *starts = operands
    if not starts:
        return [update]
    return [dynamic_update_slice(emitter, x, update, starts_inside(emitter, starts))]


def dynamic_update_slice(
    emitter: Emitter, x: Operand, update: Operand, starts: Sequence[Operand]
) -> Operand:
    """`x` with the slice that begins at `starts` replaced by `update`."""
    names = ", ".join(start.name for start in starts)
    types = function_type([x.type, update.type, *[s.type for s in starts]], [x.type])
    text = f"stablehlo.dynamic_update_slice {x.name}, {update.name}, {names} : {types}"
    return emitter.op(text, x.aval)
