"""Indexing by anything that NumPy allows: basic, by arrays of integers, and by masks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from s2s.ir.dims import Dim, Size, bound_names, number_of_size, same_size
from s2s.ir.dtypes import PYTHON_SCALARS
from s2s.numpy.arguments import as_axis, shape_text
from s2s.numpy.broadcasting import another, common_shape, stretched
from s2s.numpy.creation import counted
from s2s.numpy.masks import places, require_fitting
from s2s.numpy.promotion import array_operand, aval_of_operand, operand, shape_of
from s2s.numpy.registry import counterpart, mistake
from s2s.numpy.shaping import at_least_vector, moveaxis, ravel, with_axes
from s2s.numpy.slicing import Span, is_from_either_end, place_of_integer, span_of_slice, take_spans
from s2s.numpy.traced_sizes import is_within, traced_size
from s2s.primitive import Primitive, Value
from s2s.primitives import functions as lax
from s2s.trace import Tracer, bind, builder_in_force


@dataclass
class Index:
    """An index taken apart: what happens to each axis of the array, and where new axes go."""

    spans: list[Span] = field(default_factory=list[Span])
    """For each axis the elements taken: one for an integer, all for an array of indices."""
    integers: dict[int, Size] = field(default_factory=dict[int, Size])
    """The axes that an integer known now removes, and its place."""
    arrays: dict[int, Value] = field(default_factory=dict[int, Value])
    """The axes that an array of integers, or a traced integer, indexes."""
    layout: list[Any] = field(default_factory=list[Any])
    """The items in the order they were given: an axis, None for a new one, or `...`."""


def getitem(value: Any, index: Any) -> Value:
    """`value[index]`, where one of the two is traced."""
    value = operand(value, "indexing")
    if aval_of_operand(value).weak_type:
        raise mistake("a Python number cannot be indexed")
    items = cast("tuple[Any, ...]", index) if isinstance(index, tuple) else (index,)
    key = _key(shape_of(value), items)
    if key not in _steps:
        builder = builder_in_force()
        before = 0 if builder is None else len(builder.eqns)
        result = _taken(value, items)
        if key is not None and builder is not None and not builder.folding:
            _steps[key] = tuple(eqn.primitive for eqn in builder.eqns[before:])
        return another(result, value)
    result = value
    for primitive in _steps[key]:
        result = bind(primitive, result)
    return another(result, value)


_steps: dict[Any, tuple[Primitive, ...]] = {}
"""What basic indices append for arrays of known sizes: loops repeat the same ones."""

_PLAIN = (int, type(None), type(Ellipsis))


def _key(shape: Sequence[Size], items: tuple[Any, ...]) -> Any:
    """The key of a basic index in `_steps`, or None if it is not remembered."""
    parts: list[Any] = []
    for item in items:
        if type(item) is slice:
            ends = (item.start, item.stop, item.step)
            if any(type(end) not in _PLAIN for end in ends):
                return None
            parts.append(ends)
        elif type(item) in _PLAIN:
            parts.append(item)
        else:
            return None
    return (*shape, "", *parts) if all(type(size) is int for size in shape) else None


def _taken(value: Value, items: tuple[Any, ...]) -> Value:
    parsed = _parse(shape_of(value), items)
    _take_numbers_as_sizes(parsed, shape_of(value))
    if any(shape_of(array) for array in parsed.arrays.values()):
        return _by_arrays(value, parsed)
    if parsed.arrays:
        result = _at_numbers(value, parsed)
    else:
        spans = list(parsed.spans)
        for axis, place in parsed.integers.items():
            spans[axis] = Span(place, place + 1)
        result = take_spans(value, spans)
        if parsed.integers:
            result = lax.squeeze(result, tuple(sorted(parsed.integers)))
    kept = [i for i in parsed.layout if i is not Ellipsis and not _removed(parsed, i)]
    return with_axes(result, [place for place, item in enumerate(kept) if item is None])


def _take_numbers_as_sizes(index: Index, shape: Sequence[Size]) -> None:
    """In an index with ends of slices that are values, let the numbers be sizes as well, as far as
    they are known to be within their axes: all of `A[i, i + 1 :]` is one slice then."""
    ends = [end for span in index.spans for end in (span.start, span.stop)]
    if not any(bound_names(end) for end in ends):
        return
    for axis, number in list(index.arrays.items()):
        place = traced_size(number)
        if place is not None and is_within(place, shape[axis]):
            del index.arrays[axis]
            index.integers[axis] = place


def _at_numbers(value: Value, index: Index) -> Value:
    """Indexing with integers some of which are traced: first these, so that it is a view of a row
    that slices are then taken of."""
    numbers = {**index.integers, **index.arrays}
    axes = sorted(numbers)
    places = [numbers[axis] for axis in axes]
    places = [lax.dim_as_value(place) if isinstance(place, Dim) else place for place in places]
    result = lax.take_at(value, axes, [operand(place, "an index") for place in places])
    rest = [span for axis, span in enumerate(index.spans) if axis not in numbers]
    return take_spans(result, rest) if rest else result


def is_view(index: Any, result: Value) -> bool:
    """Whether the result of `value[index]` shares its elements with the value: the index has only
    integers, slices, `...` and None, and the result is not a number."""
    items = cast("tuple[Any, ...]", index) if isinstance(index, tuple) else (index,)
    if not shape_of(result):
        return any(item is Ellipsis for item in items)
    return not any(
        isinstance(item, (list, tuple, bool, np.bool_)) or (_is_array(item) and shape_of(item))
        for item in items
    )


def _removed(index: Index, axis: int) -> bool:
    return axis in index.integers or axis in index.arrays


def _by_arrays(value: Value, index: Index) -> Value:
    """Indexing with arrays of integers, among which single integers count as arrays too."""
    result = take_spans(value, index.spans)
    axes = sorted([*index.integers, *index.arrays])
    indices = [index.integers.get(axis, index.arrays.get(axis)) for axis in axes]
    indices = [operand(i, "an index") for i in indices]
    shape = common_shape("an index", [shape_of(i) for i in indices])
    indices = [stretched(i, shape) if shape_of(i) else i for i in indices]
    result = lax.take_at(result, tuple(axes), indices)
    # The primitive puts the indices' axes where the indexed axes stood, or first if others are
    # between these. NumPy also puts them first if a new axis or `...` stands between.
    rest = [axis for axis in range(len(index.spans)) if axis not in axes]
    adjacent = axes == list(range(axes[0], axes[-1] + 1))
    place = sum(axis < axes[0] for axis in rest) if adjacent else 0
    given = index.layout
    first, last = given.index(axes[0]), given.index(axes[-1])
    if adjacent and any(item in (None, Ellipsis) for item in given[first:last]):
        moved = tuple(range(place, place + len(shape)))
        result = moveaxis(result, moved, tuple(range(len(shape))))
        adjacent, place = False, 0
    final: list[str | None] = []
    for position, item in enumerate(given):
        if adjacent and position == first:
            final.extend(["index"] * len(shape))
        if item is None:
            final.append(None)
        elif item in rest:
            final.append("rest")
    if not adjacent:
        final = ["index"] * len(shape) + final
    return with_axes(result, [axis for axis, item in enumerate(final) if item is None])


def _parse(shape: Sequence[Size], items: tuple[Any, ...]) -> Index:
    items = _with_masks_as_indices(shape, items)
    consumed = sum(item is not None and item is not Ellipsis for item in items)
    if consumed > len(shape):
        raise mistake(
            f"too many indices: the array has {len(shape)} dimensions, but {consumed} were indexed"
        )
    dots = [position for position, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise mistake("an index can have only one '...'")
    position = dots[0] if dots else len(items)
    whole = (Ellipsis, *(slice(None),) * (len(shape) - consumed))
    items = (*items[:position], *whole, *items[position + 1 :])
    found = Index()
    axis = 0
    for item in items:
        if item is None or item is Ellipsis:
            found.layout.append(item)
            continue
        size = shape[axis]
        span = Span(0, size)
        if isinstance(item, slice):
            span = span_of_slice(cast("slice[Any, Any, Any]", item), size)
        elif _is_array(item):
            found.arrays[axis] = _checked(item, size, axis)
        elif isinstance(item, Dim) and is_from_either_end(item, size):
            found.arrays[axis] = number_of_size[0](item)
        elif isinstance(item, (list, tuple)):
            found.arrays[axis] = _checked(_as_indices(cast(Value, item)), size, axis)
        else:
            found.integers[axis] = _integer(item, size, axis)
        found.spans.append(span)
        found.layout.append(axis)
        axis += 1
    return found


def _is_array(item: Value) -> bool:
    """Whether an index is traced, or an array other than one number."""
    return isinstance(item, Tracer) or (isinstance(item, np.ndarray) and shape_of(item) != ())


def _integer(item: Value, size: Size, axis: int) -> Size:
    if isinstance(item, (bool, np.bool_)) or not hasattr(item, "__index__"):
        raise mistake(
            "only integers, slices, '...', None and arrays of integers can index an array, "
            f"not {type(cast(object, item)).__name__}"
        )
    return place_of_integer(item, size, axis)


def _as_indices(items: Value) -> Value:
    value = operand(items, "an index")
    # NumPy makes floats of an empty list, but takes it as an index.
    return np.zeros(shape_of(value), np.int64) if 0 in shape_of(value) else value


def _checked(item: Value, size: Size, axis: int) -> Value:
    """An array of indices, within the axis as far as both are known."""
    if aval_of_operand(item).dtype.kind not in "iu":
        name = aval_of_operand(item).dtype.name
        raise mistake(f"an array is indexed by integers, not by an array of {name}")
    if not isinstance(item, Tracer) and isinstance(size, int) and item.size:
        lowest, highest = int(item.min()), int(item.max())
        if lowest < -size or highest >= size:
            wrong = lowest if lowest < -size else highest
            raise mistake(f"index {wrong} is out of bounds for axis {axis} of size {size}")
    return item


def _with_masks_as_indices(shape: Sequence[Size], items: tuple[Any, ...]) -> tuple[Any, ...]:
    """Masks as the indices of their true elements."""
    result: list[Any] = []
    for position, item in enumerate(items):
        mask = _mask(item)
        if mask is None:
            result.append(item)
            continue
        if not shape_of(mask):
            raise mistake(
                "a single truth value that depends on the arguments cannot be an index; use an if"
            )
        covered = sum(map(_covered, items))
        before = sum(map(_covered, items[:position]))
        if any(other is Ellipsis for other in items[:position]):
            before += len(shape) - covered
        require_fitting(shape_of(mask), tuple(shape), before)
        result.extend(places(mask))
    return tuple(result)


def _covered(item: Any) -> int:
    """How many axes of the array an item of an index stands for."""
    if item is None or item is Ellipsis:
        return 0
    mask = _mask(item)
    return 1 if mask is None else len(shape_of(mask))


def _mask(item: Value) -> Value | None:
    """The mask that an index is; None if it is something else."""
    if isinstance(item, (list, tuple)):
        return np.asarray(cast(Value, item)) if _all_boolean(item) else None
    if not _is_array(item) or aval_of_operand(item).dtype.kind != "b":
        return None
    return item


def _all_boolean(items: Value) -> bool:
    if isinstance(items, (list, tuple)):
        entries = cast("Sequence[Any]", items)
        return bool(entries) and all(_all_boolean(item) for item in entries)
    return isinstance(items, (bool, np.bool_))


# -- functions -------------------------------------------------------------------------------------


@counterpart(np.take)
def take(a: Any, indices: Any, axis: Any = None) -> Value:
    """The elements at indices along an axis, or of the array in row-major order."""
    value, axis = at_least_vector(array_operand(a, "np.take"), axis)
    place = as_axis(axis, len(shape_of(value)), "np.take")
    return getitem(value, (*[slice(None)] * place, _one_index(indices)))


def _one_index(indices: Any) -> Any:
    """Indices that are one item of an index: a tuple would be several."""
    return list(cast("tuple[Any, ...]", indices)) if isinstance(indices, tuple) else indices


@counterpart(np.take_along_axis)
def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Value:
    """For each place along the other axes, the elements at its own indices along one axis."""
    value = array_operand(arr, "np.take_along_axis")
    chosen = array_operand(indices, "np.take_along_axis")
    if axis is None:
        value, axis = ravel(value), 0
    rank = len(shape_of(value))
    place = as_axis(axis, rank, "np.take_along_axis")
    if len(shape_of(chosen)) != rank:
        raise mistake("np.take_along_axis: the indices have other dimensions than the array")
    shapes = [shape_of(value), shape_of(chosen)]
    shape = list(common_shape("np.take_along_axis", [_without(s, place) for s in shapes]))
    shape.insert(place, shape_of(chosen)[place])
    index = [
        stretched(chosen, tuple(shape)) if other == place else counted(tuple(shape), other)
        for other in range(rank)
    ]
    return lax.take_at(value, tuple(range(rank)), index)


def _without(shape: Sequence[Size], axis: int) -> tuple[Size, ...]:
    return (*shape[:axis], *shape[axis + 1 :])


def as_python_number(value: Value, index: tuple[Any, ...]) -> Value:
    """`value.item(*index)`: one element as a Python number."""
    if index:
        value = getitem(ravel(value) if len(index) == 1 else value, index)
    elif not all(same_size(size, 1) for size in shape_of(value)):
        raise mistake(f".item() of an array of shape {shape_text(shape_of(value))}")
    element = lax.reshape(value, ())
    dtype = aval_of_operand(element).dtype
    python = next(d for d in PYTHON_SCALARS.values() if d.kind == dtype.kind.replace("u", "i"))
    return lax.convert_element_type(element, python, weak_type=True)
