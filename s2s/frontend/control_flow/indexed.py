"""Views at indices that are values: a loop carries the indices, and not the elements.

prev = A[0]                     k = 0
for i in range(1, n):           for i in range(1, n):
    A[i] += prev                    A[i] += A[k]
    prev = A[i]                     k = i
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from s2s.frontend.control_flow.state import array_of
from s2s.ir.dims import Dim, same_size
from s2s.ir.dtypes import INT64
from s2s.ir.jaxpr import Literal, ShapedArray
from s2s.numpy.array import TracedArray, View
from s2s.numpy.views import InOrder, Step, Steps
from s2s.primitive import Primitive
from s2s.primitives.index_layout import numpy_layout
from s2s.primitives.indexing import Gather
from s2s.primitives.layout import Slice, Squeeze
from s2s.trace import Tracer, aval, tracer_of


@dataclass(frozen=True, eq=False)
class Part:
    """A step from an array to a view; the indices are a gather's, which takes what is at one index
    of some axes, and all of the others."""

    primitive: Primitive
    operand: ShapedArray
    indices: tuple[Any, ...] = ()


@dataclass(frozen=True, eq=False)
class Indexed:
    """The views of an array that are alike but for their indices."""

    owner: TracedArray
    parts: tuple[Part, ...]
    in_order: InOrder

    @classmethod
    def of(cls, leaf: Any) -> Indexed | None:
        """Those that are like a leaf, if it is a view at some index."""
        view = array_of(leaf)
        if not isinstance(view, View) or view.refused:
            return None
        parts = tuple(_parts(view.steps))
        if not any(part.indices for part in parts):
            return None
        return cls(view.owner, parts, view.in_order)

    @property
    def is_known(self) -> bool:
        """Whether no index is a value."""
        return not any(isinstance(i, Tracer) for part in self.parts for i in part.indices)

    @property
    def avals(self) -> list[ShapedArray]:
        """The types of the indices."""
        return [_type(index) for part in self.parts for index in part.indices]

    def indices(self, leaf: Any) -> list[Any] | None:
        """The indices of a leaf, if it is one of these views."""
        other = Indexed.of(leaf)
        if other is None or other.owner is not self.owner or len(other.parts) != len(self.parts):
            return None
        pairs = zip(self.parts, other.parts, strict=True)
        if not all(own.primitive == part.primitive for own, part in pairs):
            return None
        return [index for part in other.parts for index in part.indices]

    def view(self, indices: Sequence[Any]) -> View:
        """The one of these views at the given indices, which are values of one builder."""
        given = iter(indices)
        steps: list[Step] = []
        for part in self.parts:
            own = [next(given) for _ in part.indices]
            builder = next((i.builder for i in own if isinstance(i, Tracer)), self.owner.builder)
            atoms = tuple(builder.atom(index) for index in own)
            steps.append(Step(part.primitive, atoms, part.operand, builder))
        found = View.unread(self.owner, tuple(steps))
        found.in_order = self.in_order
        return found


def _parts(steps: Steps) -> Iterator[Part]:
    """The steps, indices in place of slices of one element of which the axis is removed. There are
    no indices if a step takes elements at an array of them."""
    rest = [*steps]
    while rest:
        step = rest.pop(0)
        then = rest[0].primitive if rest else None
        if isinstance(step.primitive, Gather):
            numbers = step.primitive.dimension_numbers
            if step.repeats or numbers.collapsed_slice_dims != numbers.start_index_map:
                yield Part(step.primitive, step.operand)
            else:
                yield Part(step.primitive, step.operand, tuple(_values(step)))
        elif isinstance(step.primitive, Slice) and isinstance(then, Squeeze):
            rest.pop(0)
            yield from _at_places(step.primitive, then.dimensions, step.operand)
        else:
            yield Part(step.primitive, step.operand)


def _values(step: Step) -> Iterator[Any]:
    for index in step.indices:
        yield index.value if isinstance(index, Literal) else tracer_of(step.builder, index)


def _at_places(part: Slice, axes: Sequence[int], x: ShapedArray) -> Iterator[Part]:
    """A slice of one element along some axes, which are then removed."""
    sizes = tuple(1 if axis in axes else size for axis, size in enumerate(x.shape))
    gather = Gather(numpy_layout(x.ndim, axes, 0), sizes)
    places = tuple(part.start_indices[axis] for axis in axes)
    row = gather.abstract(x, *[_type(place) for place in places])
    yield Part(gather, x, places)
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    starts = tuple(part.start_indices[axis] for axis in kept)
    limits = tuple(part.limit_indices[axis] for axis in kept)
    steps = tuple(part.steps()[axis] for axis in kept)
    is_whole = all(same_size(a, 0) for a in starts) and all(map(same_size, limits, row.shape))
    if not is_whole or any(step != 1 for step in steps):
        strides = None if all(step == 1 for step in steps) else steps
        yield Part(Slice(starts, limits, strides), row)


def _type(index: Any) -> ShapedArray:
    return ShapedArray((), INT64, weak_type=True) if isinstance(index, Dim) else aval(index)
