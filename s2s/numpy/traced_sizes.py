"""Integers that a trace computes, as sizes: what the ends of slices are.

    x[i : i + 3]   ->   bind_dimension[steps=size_1] i
                        slice[start_indices=(size_1,) limit_indices=(size_1 + 3,)] x

Such a size mentions dimensions that equations bind. What is known of their values, such as that the
`i` of a loop is less than `n`, stands in their limits.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from s2s.ir.assumptions import DEFAULT, assumptions
from s2s.ir.bounds import lower_limits
from s2s.ir.dims import (
    Dim,
    Size,
    bound_names,
    bound_on_one_name,
    fresh_dimension,
    known_at_least,
    require_at_least,
    require_same,
    same_size,
)
from s2s.ir.dtypes import INT64
from s2s.ir.jaxpr import Atom, Literal, Var
from s2s.numpy.registry import mistake
from s2s.primitive import Value
from s2s.primitives import functions as lax
from s2s.primitives.arithmetic import Add, FloorDivide, Max, Min, Mul, Neg, Sub
from s2s.primitives.core import ConvertElementType
from s2s.primitives.counts import BindDimension
from s2s.primitives.creation import DimAsValue, dim_as_value
from s2s.trace import (
    Builder,
    Tracer,
    appending_to,
    bind,
    builder_in_force,
    builders_in_force,
    named,
    tracer_of,
)


def end_of_slice(end: Tracer) -> Size:
    """An end of a slice, which is a value, as a size."""
    size = traced_size(end)
    if size is None:
        raise mistake(f"an end of a slice must be an integer, not a value of type {end.aval}")
    return size


def traced_size(value: Any) -> Size | None:
    """An integer of the trace as a size; None for anything else."""
    if not isinstance(value, Tracer) or value.aval.shape or value.aval.dtype.kind not in "iu":
        return None
    return _size_of(value.builder, value.variable)


def _size_of(builder: Builder, atom: Atom) -> Size:
    if isinstance(atom, Literal):
        return int(atom.value)
    if atom in builder.constvars:
        value = builder.consts[builder.constvars.index(atom)]
        return _size_of(value.builder, value.variable) if isinstance(value, Tracer) else int(value)
    eqn = builder.producer(tracer_of(builder, atom))
    if eqn is None or atom.aval.dtype != INT64:
        return _bound(builder, atom)
    if isinstance(eqn.primitive, DimAsValue):
        return eqn.primitive.dim
    if not all(a.aval.dtype.kind in "iu" and not a.aval.shape for a in eqn.invars):
        return _bound(builder, atom)
    divisor = eqn.invars[-1] if eqn.invars else None
    match eqn.primitive:
        case Max():
            return _bound(builder, atom, [_size_of(builder, a) for a in eqn.invars], [])
        case Min():
            return _bound(builder, atom, [], [_size_of(builder, a) for a in eqn.invars])
        case FloorDivide() if isinstance(divisor, Literal) and divisor.value > 0:
            return _size_of(builder, eqn.invars[0]) // int(divisor.value)
        case ConvertElementType():
            return _size_of(builder, eqn.invars[0])
        case Neg():
            return -_size_of(builder, eqn.invars[0])
        case Add() | Sub() | Mul():
            x, y = (_size_of(builder, operand) for operand in eqn.invars)
            product = isinstance(eqn.primitive, Mul)
            return x * y if product else x + y if isinstance(eqn.primitive, Add) else x - y
        case _:
            return _bound(builder, atom)


def _bound(
    builder: Builder, var: Var, at_least: Sequence[Size] = (), at_most: Sequence[Size] = ()
) -> Size:
    """The dimension that an equation of the builder binds to the value of a variable."""
    same = _computation(builder, var)
    size = _known(builder, same)
    if size is None:
        if var in builder.ranges:
            at_least, at_most = builder.ranges[var]()
        size = fresh_dimension("size", at_least, at_most, True)
        with appending_to(builder):
            (value,) = bind(BindDimension(size, True), tracer_of(builder, var))
        builder.sizes[same] = size, value.variable
    return size


def _computation(builder: Builder, atom: Atom, depth: int = 4) -> Hashable:
    """How an atom is computed: what is computed alike, such as `indptr[i + 1]`, is of one size."""
    if isinstance(atom, Literal):
        return atom.key()
    eqn = builder.producer(tracer_of(builder, atom)) if depth else None
    if eqn is None or len(eqn.outvars) > 1 or eqn.primitive.has_effect:
        return atom
    return (eqn.primitive, *[_computation(builder, operand, depth - 1) for operand in eqn.invars])


def _known(builder: Builder, key: Any) -> Size | None:
    """What a size of a builder is, unless the equation that binds it was taken back."""
    size, var = builder.sizes.get(key, (None, None))
    is_bound = var is not None and builder.producer(tracer_of(builder, var)) is not None
    return size if is_bound else None


def clipped(place: Size, low: Size, high: Size, axis: Size, name: str) -> Size:
    """An end of a slice of an axis, counted from its front: `min(max(place, low), high)`, where a
    place below 0 counts from the end. What is known to hold is not computed."""
    if known_at_least(-place, 1):
        place = place + axis
        from_front = True
    else:
        from_front = known_at_least(place, 0)
    is_above = from_front and known_at_least(place, low)
    is_below = _is_at_least(high, place)
    if from_front and is_above and is_below:
        return place
    if from_front and not (bound_names(place) and bound_names(place - axis)):
        # So many from the front, or from the end.
        if is_below:
            return low + positive_part(place - low, [high - low])
        if is_above:
            return high - positive_part(high - place, [high - low])
    key = (str(place), str(low), str(high), str(axis))
    size = _found(key)
    if size is not None:
        return size
    for builder in builders_in_force():
        other = builder.axes.get(str(place), axis)
        if not same_size(other, axis):
            require_same(other, axis)  # `x[lo:hi]` and `y[lo:hi]` are rather of one size.
    value = dim_as_value(place)
    if not is_below:
        value = lax.min(value, dim_as_value(high))
    if not is_above and not known_at_least(place, low) and not known_at_least(-low, 0):
        value = lax.max(value, dim_as_value(low))
    if not from_front:
        from_end = lax.max(dim_as_value(place + axis), dim_as_value(low))
        value = lax.select_n(lax.lt(dim_as_value(place), 0), value, from_end)
    at_least = [low, *([place] if is_below and from_front else [])]
    at_most = [high, *([place] if is_above else [])]
    size = _new(key, fresh_dimension("size", at_least, at_most, True), named(value, name))
    builder = builder_in_force()
    assert builder is not None
    builder.axes.setdefault(str(place), axis)
    return size


def positive_part(size: Size, at_most: Sequence[Size]) -> Size:
    """`max(size, 0)`: how many elements of an axis are left of which ends are cut off, and
    how many steps a range takes. Those that are as many are of one size."""
    key = ("positive", str(size))
    found = _found(key)
    if found is not None:
        return found
    part = fresh_dimension("size", [0, size], at_most, True)
    return _new(key, part, lax.max(dim_as_value(size), 0))


def smaller(a: Size, b: Size) -> Size:
    """`min(a, b)`, computed where it is not known which it is."""
    if known_at_least(b, a):
        return a
    if known_at_least(a, b):
        return b
    key = ("smaller", str(a), str(b))
    found = _found(key)
    if found is not None:
        return found
    value = lax.min(dim_as_value(a), dim_as_value(b))
    return _new(key, fresh_dimension("size", [0], [a, b], True), value)


def _found(key: Hashable) -> Size | None:
    """The size that has been bound under a key."""
    sizes = (_known(builder, key) for builder in builders_in_force())
    return next((size for size in sizes if size is not None), None)


def _new(key: Hashable, size: Dim, value: Value) -> Dim:
    """A size bound to a value, under a key."""
    (bound,) = bind(BindDimension(size, True), value)
    builder = builder_in_force()
    assert builder is not None
    builder.sizes[key] = size, bound.variable
    return size


def is_within(place: Size, axis: Size) -> bool:
    """Whether there is such a place in an axis, counted from its front."""
    return known_at_least(place, 0) and _is_at_least(axis - 1, place)


def _is_at_least(high: Size, place: Size) -> bool:
    """Whether `high >= place`: known, or what the assumptions in force take for granted."""
    if known_at_least(high, place):
        return True
    limits = [limit for limit in lower_limits(high - place) if isinstance(limit, Dim)]
    if assumptions() is DEFAULT:
        return False
    for limit in limits:
        more = dict(limit.terms).get((), 0)
        difference = limit - more
        if more >= 0 and isinstance(difference, Dim) and assumptions().unify(difference):
            return True
    single = [limit for limit in limits if bound_on_one_name(limit) is not None]
    return bool(single) and require_at_least(single[0], 0, f"{single[0]} >= 0")
