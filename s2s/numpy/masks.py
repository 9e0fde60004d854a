"""Masks of which only values tell where they are true, and the elements that they select.

`x[mask]` has as many rows as elements of the mask are true. An equation makes a size of that number
and gives the places of these elements, at which arrays are read and written as at others:

    count:i64[] rows:i64[steps_1] = nonzero[steps=steps_1] mask
    y:f64[steps_1] = gather x rows
"""

from __future__ import annotations

from typing import Any, cast

from s2s.ir.dims import Shape, fresh_dimension, require_same, same_size
from s2s.ir.jaxpr import Atom, Literal
from s2s.numpy.arguments import shape_text
from s2s.numpy.promotion import shape_of
from s2s.numpy.registry import mistake
from s2s.primitive import Value
from s2s.primitives import functions as lax
from s2s.primitives.counts import NonZero
from s2s.trace import Builder, Tracer, bind, builder_in_force, known_value, tracer_of


def places(mask: Value) -> list[Value]:
    """The indices of the true elements of a mask, an array for each of its axes.

    What masks that are computed alike select has the same size.
    """
    known = known_value(mask)
    if known is not None:
        return [*known.nonzero()]
    assert isinstance(mask, Tracer)
    for builder in dict.fromkeys((builder_in_force() or mask.builder, mask.builder)):
        for eqn in builder.eqns:
            alike = isinstance(eqn.primitive, NonZero)
            if alike and _is_same(eqn.invars[0], builder.atom(mask), builder, 8):
                return [tracer_of(builder, var) for var in eqn.outvars[1:]]
    return [*bind(NonZero(fresh_dimension("steps", at_most=[mask.aval.size])), mask)[1:]]


def require_fitting(mask: Shape, array: Shape, axis: int) -> None:
    """Raise UserError unless a mask has the sizes of the axes of an array from `axis` on."""
    covered = array[axis : axis + len(mask)]
    if len(covered) < len(mask) or not all(map(require_same, covered, mask)):
        raise mistake(
            f"a mask of shape {shape_text(mask)} does not fit an array of shape {shape_text(array)}"
        )


def beside_slices(index: Any) -> tuple[tuple[Any, ...], Tracer] | None:
    """An index without its mask of unknown values, and the mask; None unless the index has just one
    and beside it slices only."""
    items = cast("tuple[Any, ...]", index) if isinstance(index, tuple) else (index,)
    masks = [i for i in items if isinstance(i, Tracer) and i.aval.dtype.kind == "b"]
    others = [i for i in items if not isinstance(i, Tracer)]
    if len(masks) != 1 or len(others) != len(items) - 1 or known_value(masks[0]) is not None:
        return None
    if not masks[0].aval.shape or not all(i is Ellipsis or isinstance(i, slice) for i in others):
        return None
    (mask,) = masks
    slices = [slice(None)] * mask.aval.ndim
    place = [item is mask for item in items].index(True)
    basic = (*items[:place], *slices, *items[place + 1 :])
    return (basic if others else (Ellipsis,)), tracer_of(mask.builder, mask.variable)


def first_axis(index: Any, mask: Shape, part: Shape) -> int:
    """The axis of the part of an array, that the slices beside a mask of shape `mask` leave, at
    which the mask begins."""
    items = cast("tuple[Any, ...]", index) if isinstance(index, tuple) else (index,)
    place = [isinstance(item, Tracer) for item in items].index(True)
    if Ellipsis not in items[:place]:
        return place
    return len(part) - len(mask) - (len(items) - place - 1)


def beside(value: Value, mask: Shape, behind: int) -> Value | None:
    """A value that each of the selected rows is to get, with axes of size 1 for those of the mask;
    None if the value has rows of its own. Behind the mask the array has `behind` axes."""
    shape = shape_of(value)
    if len(shape) <= behind:
        return value
    place = len(shape) - behind - 1
    if not same_size(shape[place], 1):
        return None
    return lax.reshape(value, (*shape[:place], *(1,) * len(mask), *shape[place + 1 :]))


def _is_same(a: Atom, b: Atom, builder: Builder, depth: int) -> bool:
    """Whether two values are computed alike from the same ones."""
    if isinstance(a, Literal) and isinstance(b, Literal):
        return a.aval == b.aval and bool(a.value == b.value)
    if isinstance(a, Literal) or isinstance(b, Literal):
        return False
    if a is b:
        return True
    first, second = (builder.producer(tracer_of(builder, atom)) for atom in (a, b))
    if depth == 0 or first is None or second is None or first.primitive != second.primitive:
        return False
    if len(first.outvars) > 1 or first.primitive.has_effect:
        return False
    pairs = zip(first.invars, second.invars, strict=True)
    return all(_is_same(p, q, builder, depth - 1) for p, q in pairs)
