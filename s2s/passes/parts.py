"""Cotangents of elements together: a sum of arrays that are zero but for one place is a stack."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from s2s.ir.dims import same_size
from s2s.ir.jaxpr import ClosedJaxpr, JaxprEqn, ShapedArray, Var
from s2s.passes.names import hand_on_names
from s2s.passes.rewrite import rewrite
from s2s.primitive import Primitive, Value
from s2s.primitives.arithmetic import Neg, neg
from s2s.primitives.core import (
    BroadcastInDim,
    Transpose,
    full,
    is_number,
    number,
    operands_of,
    transpose,
)
from s2s.primitives.families import AddAny, add_any, defined_by
from s2s.primitives.joining import Stack, stack
from s2s.primitives.layout import Pad, squeeze
from s2s.trace import Tracer, copy_equation

LONGEST = 16
"""The longest axis of which each element is a term of its own."""


class _Part(NamedTuple):
    """A term of a sum: `row` at one place of the axis, and zeros elsewhere."""

    row: Value
    axis: int
    place: int


def stack_parts(closed: ClosedJaxpr) -> ClosedJaxpr:
    """(xs -> ys)  ->  (xs -> ys)

    before:  { lambda ; a:f64[1] b:f64[1]. let c:f64[2] = pad[padding_config=((0, 1, 0),)] a 0.0;
               d:f64[2] = pad[padding_config=((1, 0, 0),)] b 0.0; e:f64[2] = add_any c d in (e,) }
    after:   { lambda ; a:f64[1] b:f64[1]. let c:f64[] = squeeze[dimensions=(0,)] a;
               d:f64[] = squeeze[dimensions=(0,)] b; e:f64[2] = stack[axis=0] c d in (e,) }

    It is what the transpose of `a, b = x` gives. Most places must have a term.
    """
    if not any(isinstance(eqn.primitive, Pad) for eqn in closed.eqns):
        return closed
    uses = Counter(atom for eqn in closed.eqns for atom in eqn.invars)
    uses.update(closed.jaxpr.outvars)
    read_once: set[Var] = set()

    def step(eqn: JaxprEqn, operands: Sequence[Value]) -> Sequence[Value]:
        made = None
        if eqn.phase != "primal" and isinstance(eqn.primitive, (AddAny, Transpose)):
            made = _stacked(_sum(eqn.primitive, operands, read_once), eqn.outvars[0].aval)
        results: Sequence[Value] = copy_equation(eqn, operands) if made is None else [made]
        hand_on_names(results, eqn.outvars)
        for var, result in zip(eqn.outvars, results, strict=True):
            if uses[var] == 1:
                read_once.add(result.variable)
        return results

    return rewrite(closed, step, folding=True)


class _Sum(NamedTuple):
    """The terms of a sum: rows at places of an axis, and others."""

    parts: list[_Part]
    others: list[Value]


def _sum(primitive: Primitive, operands: Sequence[Value], read_once: set[Var]) -> _Sum:
    """The terms of the result of an equation: a sum, or a transpose of what may be one."""
    found = [_terms(x, read_once) for x in operands]
    if isinstance(primitive, Transpose):
        return _transposed(found[0], primitive.permutation)
    return _Sum([p for s in found for p in s.parts], [x for s in found for x in s.others])


def _terms(x: Value, read_once: set[Var]) -> _Sum:
    """The terms of a sum that only another one reads, or the one that a value is."""
    producer = x.builder.producer(x) if isinstance(x, Tracer) else None
    if producer is None:
        return _Sum([], [x])
    primitive, operands = producer.primitive, operands_of(x, producer)
    if isinstance(primitive, Pad):
        parts = list(_padded(primitive, operands))
        return _Sum(parts, [] if parts else [x])
    if isinstance(primitive, Stack) and producer.outvars[0] in read_once:
        rows = [_Part(row, primitive.axis, i) for i, row in enumerate(operands)]
        return _Sum([part for part in rows if not _is_zero(part.row)], [])
    is_inner = producer.outvars[0] in read_once and isinstance(primitive, (AddAny, Transpose))
    total = _sum(primitive, operands, read_once) if is_inner else _Sum([], [])
    return total if total.parts else _Sum([], [x])


def _transposed(total: _Sum, permutation: Sequence[int]) -> _Sum:
    parts: list[_Part] = []
    for row, axis, place in total.parts:
        kept = [a - (a > axis) for a in permutation if a != axis]
        parts.append(_Part(transpose(row, kept), permutation.index(axis), place))
    return _Sum(parts, [transpose(x, permutation) for x in total.others])


def _padded(primitive: Pad, operands: Sequence[Value]) -> Iterator[_Part]:
    """The term that a row padded with zeros is, along the one axis that it lacks."""
    value, fill = operands
    config = primitive.padding_config
    padded = [
        axis for axis, widths in enumerate(config) if not all(same_size(w, 0) for w in widths)
    ]
    if len(padded) != 1 or not _is_zero(fill) or not isinstance(value, Tracer):
        return
    (axis,) = padded
    low, high, _ = config[axis]
    row = _without_axis(value, axis)
    if row is not None and isinstance(low, int) and isinstance(high, int):
        if 0 <= min(low, high) and low + high < LONGEST:
            yield _Part(row, axis, low)


def _without_axis(value: Tracer, axis: int) -> Value | None:
    """The array that a value is with an axis of size 1 put in, or that with its sign changed."""
    producer = value.builder.producer
    negated = defined_by(value, Neg, producer)
    if negated is not None and isinstance(negated[1][0], Tracer):
        row = _without_axis(negated[1][0], axis)
        return None if row is None else neg(row)
    found = defined_by(value, BroadcastInDim, producer)
    is_new = found is not None and axis not in found[0].broadcast_dimensions
    return squeeze(value, (axis,)) if is_new and same_size(value.aval.shape[axis], 1) else None


def _is_zero(row: Value) -> bool:
    if not is_number(row):
        filled = isinstance(row, Tracer) and defined_by(row, BroadcastInDim, row.builder.producer)
        if not filled:
            return False
        (row,) = filled[1]
    return is_number(row) and number(row) == 0


def _stacked(total: _Sum, result: ShapedArray) -> Value | None:
    """The stack of what stands at each place, zeros where nothing does, added to the other terms;
    None if there are too few rows for that."""
    if not total.parts:
        return None
    axis = total.parts[0].axis
    size = result.shape[axis]
    if {part.axis for part in total.parts} != {axis} or not isinstance(size, int):
        return None
    missing = size - len({part.place for part in total.parts})
    if 2 * missing > size or (total.others and missing):
        return None
    rows: list[Value | None] = [None] * size
    for part in total.parts:
        old = rows[part.place]
        rows[part.place] = part.row if old is None else add_any(old, part.row)
    shape = (*result.shape[:axis], *result.shape[axis + 1 :])
    zeros = full(shape, 0, result.dtype)
    array = stack([zeros if row is None else row for row in rows], axis)
    return functools.reduce(add_any, [*total.others, array])
