"""Basic indexing: integers, slices, `None` and `...`.

    x[1:-1, 0, None]  ->  slice, squeeze, broadcast_in_dim

A slice of a named size takes for granted that the size is large enough to hold its ends, which the
generated function checks (`n >= 2` for `x[1:-1]`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from s2s.ir.dims import (
    Dim,
    Shape,
    Size,
    bound_names,
    floor_divide,
    known_at_least,
    require_at_least,
    same_size,
)
from s2s.numpy.arguments import as_number, as_size
from s2s.numpy.broadcasting import another
from s2s.numpy.promotion import shape_of
from s2s.numpy.registry import mistake
from s2s.numpy.traced_sizes import clipped, end_of_slice
from s2s.primitive import Value
from s2s.primitives import functions as lax
from s2s.trace import Tracer, known_value


@dataclass(frozen=True)
class Span:
    """The elements `start`, `start + step`, ... before `stop` of an axis, with `step` positive."""

    start: Size
    stop: Size
    step: int = 1
    reverse: bool = False


def span_of_slice(item: slice, size: Size) -> Span:
    """The elements that a slice takes of an axis of the given size."""
    step = 1 if item.step is None else as_number(item.step, "the step of a slice")
    if step == 0:
        raise mistake("the step of a slice cannot be zero")
    ends = [_as_end(end) for end in (item.start, item.stop)]
    if any(bound_names(end) for end in (size, *ends) if end is not None):
        return _traced_span(ends[0], ends[1], step, size)
    if step > 0:
        start = 0 if item.start is None else _position(item.start, size, 0)
        stop = size if item.stop is None else _position(item.stop, size, 0)
        return Span(start, _not_before(stop, start), step)
    first = size - 1 if item.start is None else _position(item.start, size, -1)
    before = -1 if item.stop is None else _position(item.stop, size, -1)
    before = first - _not_before(first - before, 0)
    return _downwards(first, before, step)


def _as_end(end: Any) -> Size | None:
    """An end of a slice as the user gave it, as a size."""
    if end is None or not isinstance(end, Tracer) or known_value(end) is not None:
        return None if end is None else as_size(end, "an end of a slice")
    return end_of_slice(end)


def _traced_span(start: Size | None, stop: Size | None, step: int, size: Size) -> Span:
    """The elements between ends that are values, which lie where Python moves them to."""
    if step > 0:
        first = 0 if start is None else clipped(start, 0, size, size, "start")
        if isinstance(stop, int) and stop < 0 and same_size(first, 0):
            # As many elements less as `[-stop:]` leaves out, so that both have one size.
            return Span(0, size - clipped(-stop, 0, size, size, "start"), step)
        end = size if stop is None else clipped(stop, first, size, size, "stop")
        return Span(first, end, step)
    first = size - 1 if start is None else clipped(start, -1, size - 1, size, "start")
    before = -1 if stop is None else clipped(stop, -1, first, size, "stop")
    return _downwards(first, before, step)


def _downwards(first: Size, before: Size, step: int) -> Span:
    """first, first + step, ... down to above `before`: the same elements upwards, then reversed."""
    count = floor_divide(first - before - step - 1, -step)
    if same_size(count, 0):
        return Span(0, 0, 1)
    return Span(first + (count - 1) * step, first + 1, -step, reverse=True)


def _position(end: Any, size: Size, lowest: int) -> Size:
    """An end of a slice counted from the front and clipped to the axis, as Python does it.

    With `lowest` -1 the slice goes backwards, and its ends are from -1 to size - 1.
    """
    highest = size + lowest
    place = as_size(end, "an end of a slice")
    if isinstance(place, int) and place < 0:
        place = size + place
        if isinstance(place, int):
            return max(place, lowest)
        require_at_least(place, 0, f"{place} >= 0")
        return place
    if isinstance(place, int) and isinstance(highest, int):
        return min(place, highest)
    require_at_least(place, 0, f"{place} >= 0")
    require_at_least(highest - place, 0, f"{highest} >= {place}")
    return place


def _not_before(stop: Size, start: Size) -> Size:
    if isinstance(stop, int) and isinstance(start, int):
        return max(stop, start)
    require_at_least(stop - start, 0, f"{stop} >= {start}")
    return stop


def place_of_integer(index: Any, size: Size, axis: int) -> Size:
    """An integer index known now, counted from the front; it must be within the axis."""
    place = as_size(index, "an index")
    if known_at_least(-1 - place, 0):
        place = size + place
    if isinstance(size, int) and isinstance(place, int):
        if not 0 <= place < size:
            raise mistake(f"index {index} is out of bounds for axis {axis} of size {size}")
        return place
    require_at_least(place, 0, f"{place} >= 0")
    require_at_least(size - 1 - place, 0, f"{size} > {place}")
    return place


def is_from_either_end(index: Dim, size: Size) -> bool:
    """Whether a size that equations bind, as an index, may count from the front or from the end,
    which the values decide: `-(k // 2)` is from the front if k is 1."""
    has_sign = known_at_least(index, 0) or known_at_least(-1 - index, 0)
    return bool(bound_names(index)) and not has_sign and not isinstance(size - index, int)


def take_spans(value: Value, spans: list[Span]) -> Value:
    """The elements of `value` in one span for each axis."""
    shape = shape_of(value)
    whole = [
        same_size(span.start, 0) and same_size(span.stop, size) and span.step == 1
        for span, size in zip(spans, shape, strict=True)
    ]
    if not all(whole):
        starts: Shape = tuple(span.start for span in spans)
        stops: Shape = tuple(span.stop for span in spans)
        value = lax.slice(value, starts, stops, tuple(span.step for span in spans))
    backwards = tuple(axis for axis, span in enumerate(spans) if span.reverse)
    return lax.rev(value, backwards) if backwards else value


def sliced(value: Value, axis: int, start: Size | None, stop: Size | None, step: int = 1) -> Value:
    """`value[start:stop:step]` along one axis."""
    spans = [Span(0, size) for size in shape_of(value)]
    spans[axis] = span_of_slice(slice(start, stop, step), shape_of(value)[axis])
    return another(take_spans(value, spans), value)
