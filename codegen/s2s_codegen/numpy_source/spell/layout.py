"""Where elements stand: broadcasting, transposition, reshaping, slices."""

from __future__ import annotations

import numpy as np

from s2s.ir.dims import Dim, Shape, Size, same_size
from s2s.ir.jaxpr import JaxprEqn
from s2s.primitives.core import BroadcastInDim, ConvertElementType, Reshape, Transpose
from s2s.primitives.identity import Copy
from s2s.primitives.joining import Stack
from s2s.primitives.layout import Rev, Slice, Squeeze
from s2s_codegen.numpy_source.expression import (
    Expression,
    attribute,
    call,
    dtype_name,
    index,
    method,
    slice_of,
)
from s2s_codegen.numpy_source.scope import Scope
from s2s_codegen.numpy_source.spell.composites import spell_keeping_axes
from s2s_codegen.numpy_source.spell.dispatch import spell


@spell.register
def spell_broadcast(primitive: BroadcastInDim, eqn: JaxprEqn, scope: Scope) -> Expression:
    """The operand with axes of size 1 put in, as far as NumPy does not put them in itself."""
    kept = spell_keeping_axes(primitive, eqn, scope)
    if kept is not None:
        return kept
    x = scope.expression(eqn.invars[0])
    axes = primitive.broadcast_dimensions
    own = eqn.invars[0].aval.shape if x.shape is None else x.shape
    axes = axes[len(axes) - len(own) :]
    if not axes:
        return Expression(x.text, x.precedence, ())
    rank = len(primitive.shape)
    first = axes[0]
    sizes = dict(zip(axes, own, strict=True))
    shape = tuple(sizes.get(axis, 1) for axis in range(first, rank))
    if len(axes) == rank - first:
        return Expression(x.text, x.precedence, shape)
    items = [":" if axis in sizes else "None" for axis in range(first, rank)]
    return Expression(index(x, items).text, shape=shape)


@spell.register
def spell_transpose(primitive: Transpose, eqn: JaxprEqn, scope: Scope) -> Expression:
    x = scope.whole(eqn.invars[0])
    permutation = primitive.permutation
    rank = len(permutation)
    if permutation == tuple(reversed(range(rank))):
        return attribute(x, "T")
    if permutation == (*range(rank - 2), rank - 1, rank - 2):
        return attribute(x, "mT")
    return method(x, "transpose", *map(str, permutation))


@spell.register
def spell_reshape(primitive: Reshape, eqn: JaxprEqn, scope: Scope) -> Expression:
    old = eqn.invars[0].aval.shape
    row = scope.definition(eqn.invars[0])
    items = _index_items(old, primitive.new_sizes)
    if row is not None and isinstance(row.primitive, Slice) and items and "None" not in items:
        dropped = tuple(axis for axis, item in enumerate(items) if item == "0")
        return _spell_slice(row.primitive, row, scope, dropped)
    return reshaped(scope.whole(eqn.invars[0]), old, primitive.new_sizes, scope)


def reshaped(x: Expression, old: Shape, new: Shape, scope: Scope) -> Expression:
    """`x` of shape `old` in shape `new`: by indexing where only axes of size 1 come or go."""
    items = _index_items(old, new)
    if items is not None:
        leading = next((i for i, item in enumerate(items) if item != "None"), 0)
        if all(item == ":" for item in items[leading:]):
            return Expression(x.text, x.precedence, new[leading:])  # as NumPy broadcasts it
        return index(x, items)
    if len(new) == 1:
        return method(x, "ravel")
    symbolic = [axis for axis, size in enumerate(new) if isinstance(size, Dim)]
    sizes = ["-1" if symbolic == [axis] else scope.size(size).text for axis, size in enumerate(new)]
    return method(x, "reshape", *sizes)


def _index_items(old: Shape, new: Shape) -> list[str] | None:
    """`:`, `None` and `0` that make `new` of `old`, if axes of size 1 are all that differs."""
    items: list[str] = []
    at = 0
    for size in new:
        while at < len(old) and same_size(old[at], 1) and not same_size(size, 1):
            items.append("0")
            at += 1
        if at < len(old) and same_size(old[at], size):
            items.append(":")
            at += 1
        elif same_size(size, 1):
            items.append("None")
        else:
            return None
    rest = old[at:]
    if not all(same_size(size, 1) for size in rest):
        return None
    return [*items, *["0"] * len(rest)]


@spell.register
def spell_copy(primitive: Copy, eqn: JaxprEqn, scope: Scope) -> Expression:
    x, rank = scope.whole(eqn.invars[0]), eqn.invars[0].aval.ndim
    if not rank:
        return x
    return method(x, "copy") if primitive.in_order or rank == 1 else call("np.copy", x)


@spell.register
def spell_squeeze(primitive: Squeeze, eqn: JaxprEqn, scope: Scope) -> Expression:
    row = scope.definition(eqn.invars[0])
    if row is not None and isinstance(row.primitive, Slice):
        return _spell_slice(row.primitive, row, scope, primitive.dimensions)
    x = scope.whole(eqn.invars[0])
    rank = eqn.invars[0].aval.ndim
    return index(x, ["0" if axis in primitive.dimensions else ":" for axis in range(rank)])


@spell.register
def spell_rev(primitive: Rev, eqn: JaxprEqn, scope: Scope) -> Expression:
    rank = eqn.invars[0].aval.ndim
    items = ["::-1" if axis in primitive.dimensions else ":" for axis in range(rank)]
    part = scope.definition(eqn.invars[0])
    if part is not None and isinstance(part.primitive, Slice):
        taken = _slice_items(part.primitive, part, scope, ())
        if all(a == ":" or b == ":" for a, b in zip(items, taken, strict=True)):
            both = [b if a == ":" else a for a, b in zip(items, taken, strict=True)]
            return index(scope.whole(part.invars[0]), both)
    return index(scope.whole(eqn.invars[0]), items)


@spell.register
def spell_slice(primitive: Slice, eqn: JaxprEqn, scope: Scope) -> Expression:
    return _spell_slice(primitive, eqn, scope, ())


def _spell_slice(
    primitive: Slice, eqn: JaxprEqn, scope: Scope, dropped: tuple[int, ...]
) -> Expression:
    """A slice without the axes of size 1 in `dropped`, which are indexed by a number."""
    return index(scope.whole(eqn.invars[0]), _slice_items(primitive, eqn, scope, dropped))


def _slice_items(
    primitive: Slice, eqn: JaxprEqn, scope: Scope, dropped: tuple[int, ...]
) -> list[str]:
    shape = eqn.invars[0].aval.shape
    items: list[str] = []
    for axis, size in enumerate(shape):
        start, limit = primitive.start_indices[axis], primitive.limit_indices[axis]
        if axis in dropped:
            items.append(position_text(scope, start, size))
        else:
            items.append(slice_text(scope, start, limit, primitive.steps()[axis], size))
    return items


def slice_text(scope: Scope, start: Size, limit: Size, step: int, size: Size) -> str:
    """A slice of an axis, counted from its end where that needs no name: `1:-1`, `:n`, `::2`."""
    first = "" if same_size(start, 0) else position_text(scope, start, size)
    last = "" if same_size(limit, size) else position_text(scope, limit, size)
    return slice_of(first, last, "" if step == 1 else str(step))


def position_text(scope: Scope, place: Size, size: Size) -> str:
    """A place in an axis, counted from its end where that needs no name."""
    behind = size - place
    # NumPy moves ends to where the axis ends.
    left, cut = scope.positive_part_of(place), scope.positive_part_of(behind)
    if left is not None and isinstance(size - left, int):
        return f"-{size - left}"
    if cut is not None and isinstance(size - cut, int):
        return str(size - cut)
    if isinstance(behind, int) and behind > 0 and not isinstance(place, int):
        return f"-{behind}"
    return scope.size(place).text


@spell.register
def spell_stack(primitive: Stack, eqn: JaxprEqn, scope: Scope) -> Expression:
    """`np.array([a, b])` of numbers, rows of them and so on; `np.stack([x, y])` of arrays."""
    aval = eqn.outvars[0].aval
    items = _items(eqn, scope)
    if items is None:
        axis = [f"axis={primitive.axis}"] if primitive.axis else []
        rows = ", ".join(scope.whole(atom).text for atom in eqn.invars)
        return call("np.stack", f"[{rows}]", *axis)
    usual = aval.dtype.name in ("float64", "int64", "bool")
    return call("np.array", items, *([] if usual else [f"dtype={dtype_name(aval.dtype)}"]))


def _items(eqn: JaxprEqn, scope: Scope) -> str | None:
    """The list that an array of numbers is made of; None if it is made of arrays."""
    assert isinstance(eqn.primitive, Stack)
    if not eqn.invars[0].aval.shape:
        return f"[{', '.join(x.text for x in scope.operands(eqn))}]"
    if eqn.primitive.axis:
        return None
    rows: list[str] = []
    for atom in eqn.invars:
        inner = scope.definition(atom)
        items = _items(inner, scope) if inner and isinstance(inner.primitive, Stack) else None
        if items is None:
            return None
        rows.append(items)
    return f"[{', '.join(rows)}]"


@spell.register
def spell_conversion(primitive: ConvertElementType, eqn: JaxprEqn, scope: Scope) -> Expression:
    old, new = eqn.invars[0].aval, eqn.outvars[0].aval
    name = dtype_name(new.dtype)
    if scope.is_identity_matrix(eqn):
        dtype = [] if new.dtype == np.float64 else [f"dtype={name}"]
        return call("np.eye", scope.size(new.shape[0]), *dtype)
    x = scope.expression(eqn.invars[0])
    if new.weak_type and eqn.phase != "primal":
        # A derivative may be NumPy's number, which is a float too.
        number = scope.plain_conversion(eqn)
        if number is not None:
            return number
    if new.weak_type:
        return Expression(f"{name}({x.text})", shape=())
    if not old.shape or x.shape == ():
        if old.weak_type and old.dtype == new.dtype and new.dtype.kind == "b":
            return x  # a condition is as good as NumPy's
        # A size may stay a Python number, for it is never zero or negative.
        is_size = old.weak_type and old.dtype.kind == "i" and new.dtype == np.float64
        return Expression(f"{name if is_size else f'np.{new.dtype.name}'}({x.text})", shape=())
    return Expression(method(x, "astype", name).text, shape=x.shape)
