"""Arrays that share elements: the way from an array to a view of it, read and written.

A view is reached by steps that only say where elements stand: slices, reshapes, transposes.

    row = A[1:, k]          read:     b = slice A; row = squeeze b
    row[...] = v            written:  b' = reshape v; A' = update_slice A b'
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from s2s.ir.dims import Shape, Size, floor_divide, same_shape, same_size
from s2s.ir.jaxpr import Atom, JaxprEqn, Literal, ShapedArray, Var
from s2s.primitive import Primitive, Value
from s2s.primitives import functions as lax
from s2s.primitives.arithmetic import Add, Sub
from s2s.primitives.contractions import DotGeneral
from s2s.primitives.core import BroadcastInDim, ConvertElementType, Reshape, Transpose
from s2s.primitives.creation import Iota
from s2s.primitives.families import Elementwise
from s2s.primitives.identity import Copy
from s2s.primitives.index_layout import are_distinct
from s2s.primitives.indexing import Gather, Scatter
from s2s.primitives.joining import Concatenate, Stack
from s2s.primitives.layout import Rev, Slice, Squeeze
from s2s.primitives.updates import UpdateSlice
from s2s.trace import Builder, Tracer, aval, bind, builder_in_force, tracer_of

_STEPS = (BroadcastInDim, Gather, Reshape, Rev, Slice, Squeeze, Transpose)


@dataclass(frozen=True)
class Step:
    """One step from an array to its view; `indices` are a gather's."""

    primitive: Primitive
    indices: tuple[Atom, ...]
    operand: ShapedArray
    builder: Builder = field(compare=False)

    @property
    def result(self) -> ShapedArray:
        """The type of what the step takes."""
        return self.primitive.abstract(self.operand, *[index.aval for index in self.indices])

    def read(self, x: Value) -> Value:
        """What the step takes of an array."""
        return bind(self.primitive, x, *self._operands())

    def write(self, x: Value, part: Value, add: bool) -> Value:
        """The array x after `part` was put, or added, where the step takes its elements from."""
        primitive, shape = self.primitive, aval(x).shape
        if isinstance(primitive, Slice):
            return lax.update_slice(x, part, primitive, add=add)
        if isinstance(primitive, Gather):
            numbers = primitive.dimension_numbers.of_scatter()
            put = lax.scatter_add if add else lax.scatter
            indices = self._operands()
            sizes = [shape[axis] for axis in numbers.scatter_dims_to_operand_dims]
            distinct = all(aval(index).ndim == 0 for index in indices) or are_distinct(
                indices, sizes, self.builder.producer
            )
            return put(x, indices, part, numbers, unique_indices=distinct, mode=primitive.mode)
        whole = self._undone(part, shape)
        return lax.add(x, whole) if add else whole

    def _undone(self, part: Value, shape: Shape) -> Value:
        match self.primitive:
            case Transpose():
                return lax.transpose(part, self.primitive.inverse())
            case Rev(dimensions):
                return lax.rev(part, dimensions)
            case Squeeze(dimensions):
                return lax.expand_dims(part, dimensions)
            case _:
                return lax.reshape(part, shape)

    def _operands(self) -> list[Value]:
        return [i if isinstance(i, Literal) else tracer_of(self.builder, i) for i in self.indices]

    @property
    def reads(self) -> bool:
        """Whether the step reads values: an index that is one."""
        return any(isinstance(index, Var) for index in self.indices)

    @property
    def selects(self) -> bool:
        """Whether there may be elements that the step does not take."""
        return isinstance(self.primitive, (Gather, Slice))

    @property
    def repeats(self) -> bool:
        """Whether the step may take an element more than once."""
        return isinstance(self.primitive, Gather) and any(i.aval.shape for i in self.indices)


Steps: TypeAlias = "tuple[Step, ...]"


def steps_between(array: Tracer, part: Tracer) -> Steps | None:
    """The steps by which `part` was taken from `array`; None if it was not."""
    builder = part.builder
    goal = builder.atom(array)
    found: list[Step] = []
    at: Var = part.variable
    while at is not goal:
        eqn = builder.producer(tracer_of(builder, at))
        if eqn is None or not _is_step(eqn):
            return None
        x, *indices = eqn.invars
        if isinstance(x, Literal):
            return None
        found.append(Step(eqn.primitive, tuple(indices), x.aval, builder))
        at = x
    return followed_by((), tuple(reversed(found)))


def followed_by(steps: Steps, more: Steps) -> Steps:
    """The steps and then some more, slices of slices as one."""
    return functools.reduce(_followed_by, more, steps)


def _is_step(eqn: JaxprEqn) -> bool:
    return isinstance(eqn.primitive, _STEPS)


def _followed_by(steps: Steps, step: Step) -> Steps:
    """The steps and one more: a slice comes before steps that only move elements, so that a slice
    of a row is a slice of the array and then the row. What is turned twice is as it was, and what
    is turned and transposed has one form."""
    part = step.primitive
    if not steps:
        return (step,)
    *before, last = steps
    if isinstance(part, (Reshape, Rev, Transpose)):
        turned = _turned(last, part)
        if turned is None:
            return (*steps, step)
        found: Steps = tuple(before)
        for number, primitive in enumerate(turned):
            own = Step(primitive, (), last.operand, step.builder)
            found = (*found, own) if number else _followed_by(found, own)
        return found
    if not isinstance(part, Slice):
        return (*steps, step)
    moved: Slice
    match last.primitive:
        case Squeeze(dimensions):
            moved = _of_unsqueezed(part, dimensions)
        case Transpose(permutation):
            order = [permutation.index(axis) for axis in range(len(permutation))]
            starts, limits, strides = part.start_indices, part.limit_indices, part.steps()
            moved = _slice(
                [starts[a] for a in order], [limits[a] for a in order], [strides[a] for a in order]
            )
        case Rev(dimensions):
            moved = _of_reversed(part, dimensions, last.operand.shape)
        case Slice():
            merged = _of_slice(last.primitive, part)
            return (*before, Step(merged, (), last.operand, step.builder))
        case _:
            return (*steps, step)
    first = Step(moved, (), last.operand, step.builder)
    then = Step(last.primitive, (), moved.abstract(last.operand), step.builder)
    return (*_followed_by(tuple(before), first), then)


def _turned(last: Step, second: Primitive) -> tuple[Primitive, ...] | None:
    """Two reversals, transpositions or reshapes as one, or as none, and a reversal before a
    transposition; None for other primitives."""
    first = last.primitive
    match first, second:
        case Reshape(), Reshape(shape):
            return () if same_shape(shape, last.operand.shape) else (second,)
        case Rev(some), Rev(more):
            axes = tuple(sorted({*some} ^ {*more}))
            return (Rev(axes),) if axes else ()
        case Transpose(inner), Transpose(outer):
            axes = tuple(inner[axis] for axis in outer)
            return (Transpose(axes),) if axes != tuple(range(len(axes))) else ()
        case Transpose(axes), Rev(dimensions):
            return Rev(tuple(sorted(axes[axis] for axis in dimensions))), first
        case _:
            return None


def _of_reversed(part: Slice, dimensions: Sequence[int], shape: Shape) -> Slice:
    """The slice of an array that has the elements of a slice of it in reverse order."""
    starts, limits = list(part.start_indices), list(part.limit_indices)
    for axis in dimensions:
        start, limit, step, size = starts[axis], limits[axis], part.steps()[axis], shape[axis]
        if same_size(start, limit):
            starts[axis], limits[axis] = size - limit, size - limit
            continue
        last = start + floor_divide(limit - start - 1, step) * step
        starts[axis], limits[axis] = size - 1 - last, size - start
    return _slice(starts, limits, part.steps())


def _of_unsqueezed(part: Slice, dimensions: Sequence[int]) -> Slice:
    """A slice of an array without some axes of size 1, as one of the array that has them."""
    starts, limits, steps = (
        list(part.start_indices),
        list(part.limit_indices),
        list(part.steps()),
    )
    for axis in sorted(dimensions):
        starts.insert(axis, 0)
        limits.insert(axis, 1)
        steps.insert(axis, 1)
    return _slice(starts, limits, steps)


def _of_slice(first: Slice, second: Slice) -> Slice:
    """A slice of a slice as one slice."""
    ends = zip(
        first.start_indices,
        first.steps(),
        second.start_indices,
        second.limit_indices,
        second.steps(),
        strict=True,
    )
    starts: list[Size] = []
    limits: list[Size] = []
    steps: list[int] = []
    for offset, outer, start, limit, inner in ends:
        empty = same_size(start, limit)
        starts.append(offset + start * outer)
        limits.append(starts[-1] if empty else offset + (limit - 1) * outer + 1)
        steps.append(outer * inner)
    return _slice(starts, limits, steps)


def _slice(starts: Sequence[Size], limits: Sequence[Size], steps: Sequence[int]) -> Slice:
    return Slice(tuple(starts), tuple(limits), None if all(s == 1 for s in steps) else tuple(steps))


def read(array: Value, steps: Steps) -> Value:
    """The elements of an array that steps lead to."""
    return functools.reduce(lambda x, step: step.read(x), steps, array)


def written(array: Tracer, steps: Steps, part: Value, add: bool = False) -> Value:
    """The array after `part` was put, or added, where the steps lead to.

    Where `part` is what is there and something more, as in `x[i] = x[i] + y`, that is added.
    """
    if not add:
        increment = _increment(array, steps, part)
        if increment is not None:
            part, add = increment, True
    elif sum(step.selects for step in steps) > 1:
        part, add = lax.add(read(array, steps), part), False
    return _written(array, steps, part, add)


def _written(x: Value, steps: Steps, part: Value, add: bool) -> Value:
    if not steps:
        return lax.add(x, part) if add else part
    first, *rest = steps
    inner = first.read(x)
    if not first.selects:
        return first.write(x, _written(inner, tuple(rest), part, add), False)
    return first.write(x, _written(inner, tuple(rest), part, False), add)


def _increment(array: Tracer, steps: Steps, part: Value) -> Value | None:
    """What `part` adds to the elements that the steps lead to, if it is nothing but a sum."""
    builder = builder_in_force()
    once = sum(s.selects for s in steps) == 1 and not any(s.repeats for s in steps)
    eqn = builder.producer(part) if builder is not None and once else None
    if eqn is None or not isinstance(eqn.primitive, (Add, Sub)):
        return None
    assert builder is not None
    x, y = eqn.invars
    pairs = ((x, y), (y, x)) if isinstance(eqn.primitive, Add) else ((x, y),)
    for old, term in pairs:
        if isinstance(old, Literal) or steps_between(array, tracer_of(builder, old)) != steps:
            continue
        value = term if isinstance(term, Literal) else tracer_of(builder, term)
        if isinstance(eqn.primitive, Sub):
            value = lax.neg(value)
        shape = aval(part).shape
        return value if aval(value).shape == shape else lax.broadcast_in_dim(value, shape, ())
    return None


def is_repeated(steps: Steps) -> bool:
    """Whether an element of the array stands in more than one place of the view."""
    return any(
        isinstance(step.primitive, BroadcastInDim)
        and not step.primitive.adds_axes_of_size_1(step.operand)
        for step in steps
    )


# -- what NumPy copies ----------------------------------------------------------------------------


UNCERTAIN = (
    "it depends on how the array lies in memory whether NumPy makes a copy here or shares the "
    "elements with the array it is made from, and one of the two is changed; write .copy() "
    "behind it if it shall be an array of its own"
)

InOrder: TypeAlias = "set[tuple[Var, bool]]"
"""Inputs of the trace that must lie in row-major order: themselves, or else what NumPy computes
from them, which has their axes in the same order in memory."""


def in_order_for_view(array: Tracer, before: Steps, steps: Steps) -> InOrder | None:
    """What must lie in row-major order, so that NumPy takes `steps` without copying from what
    `before` leads to from an array; None if it may copy all the same.

    A reshape copies an array whose elements do not lie at equal distances in row-major order.
    """
    if not any(isinstance(step.primitive, Reshape) for step in steps):
        return set()
    inputs = inputs_in_order(array)
    in_order, needed = inputs is not None, False
    for step in (*before, *steps):
        primitive = step.primitive
        old, new = _longer(step.operand), _longer(step.result)
        in_order = in_order or len(old) <= 1
        if isinstance(primitive, Reshape) and not same_shape(old, new):
            if not in_order:
                return None
            needed = True
        in_order = in_order and _stays_in_order(primitive, step.operand)
    return inputs if needed and inputs is not None else set()


def _longer(x: ShapedArray) -> Shape:
    return tuple(size for size in x.shape if not same_size(size, 1))


def _stays_in_order(primitive: Primitive, x: ShapedArray) -> bool:
    if isinstance(primitive, Slice):
        ends = zip(primitive.start_indices, primitive.limit_indices, x.shape, strict=True)
        whole = [same_size(a, 0) and same_size(b, size) for a, b, size in ends]
        return all(whole[1:]) and all(step == 1 for step in primitive.steps())
    if isinstance(primitive, Gather):
        return primitive.dimension_numbers.collapsed_slice_dims == (0,)
    return isinstance(primitive, (BroadcastInDim, Reshape, Squeeze))


def axes_in_memory(array: Value) -> tuple[int, ...] | None:
    """The permutation by which an array has the axes of one in row-major order, if it is one that
    is transposed, or computed from such arrays alone."""
    eqn = array.builder.producer(array) if isinstance(array, Tracer) else None
    if eqn is None:
        return None
    if isinstance(eqn.primitive, Transpose):
        return eqn.primitive.permutation
    is_copy = isinstance(eqn.primitive, Copy) and not eqn.primitive.in_order
    if not is_copy and not isinstance(eqn.primitive, (ConvertElementType, Elementwise)):
        return None
    assert isinstance(array, Tracer)
    operands = [atom for atom in eqn.invars if isinstance(atom, Var) and atom.aval.shape]
    found = {axes_in_memory(tracer_of(array.builder, atom)) for atom in operands}
    return found.pop() if len(found) == 1 else None


def inputs_in_order(array: Tracer) -> InOrder | None:
    """What must lie in row-major order in memory for an array to do so, as new arrays do; None if
    it may lie otherwise."""
    builder, pending = array.builder, [(array.variable, True)]
    inputs: InOrder = set()
    seen: InOrder = set()
    while pending:
        var, itself = pending.pop()
        eqn = builder.producer(tracer_of(builder, var))
        if (var, itself) in seen or len(var.aval.shape) <= 1:
            continue
        seen.add((var, itself))
        if eqn is None:
            inputs.add((var, itself))
        elif isinstance(eqn.primitive, (UpdateSlice, Scatter)):
            pending.extend((atom, itself) for atom in eqn.invars[:1] if isinstance(atom, Var))
        elif isinstance(eqn.primitive, Copy) and eqn.primitive.in_order:
            continue
        elif isinstance(eqn.primitive, (Concatenate, ConvertElementType, Elementwise, Stack)):
            pending.extend((atom, False) for atom in eqn.invars if isinstance(atom, Var))
        elif not isinstance(eqn.primitive, (BroadcastInDim, DotGeneral, Iota)):
            return None
        elif isinstance(eqn.primitive, BroadcastInDim) and eqn.invars[0].aval.shape:
            return None
    return inputs
