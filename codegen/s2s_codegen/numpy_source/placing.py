"""Arrays written into: pad, scatter and the updates as assignments to parts of an array.

What a slice's transpose pads with zeros, for one, becomes

    x_bar = np.zeros(x.shape)
    x_bar[1:] = part_bar

or is added to a part of an array that is there already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from s2s.ir.dims import Shape, Size, same_size
from s2s.ir.jaxpr import Atom, JaxprEqn, Var
from s2s.primitive import Precedence
from s2s.primitives.arithmetic import Neg
from s2s.primitives.core import BroadcastInDim
from s2s.primitives.dynamic import DynamicUpdateSlice
from s2s.primitives.indexing import Scatter, ScatterAdd
from s2s.primitives.layout import Pad
from s2s.primitives.updates import UpdateSlice, UpdateSliceAdd
from s2s_codegen.numpy_source.expression import Expression, is_negative, negative, without_sign
from s2s_codegen.numpy_source.memory import writes_into
from s2s_codegen.numpy_source.scope import Scope
from s2s_codegen.numpy_source.spell.layout import position_text, slice_text


@dataclass(frozen=True)
class Placement:
    """What an equation puts where: `array[index] = value`."""

    index: str
    value: Expression
    base: Atom | None
    """The array written into; None for a new one full of `fill`."""
    fill: Expression
    adds: bool
    """Whether the value is added to what is there."""
    repeats: bool
    """Whether places may be the same, each of which counts."""
    within: str = ""
    """The index of the view of the array that is written into, if it is not the array itself."""

    def put(self, name: str, operator: str = "") -> str:
        """The statement that puts the value into the array `name`, adding with `+` or `-`."""
        value = self.value
        if self.within:
            name = f"{name}[{self.within}]"
        if operator and is_negative(value) and value.precedence is not Precedence.SUM:
            operator, value = ("-" if operator == "+" else "+"), without_sign(value)
        if operator and self.repeats:
            function = "np.add.at" if operator == "+" else "np.subtract.at"
            place = self.index
            outside = _outside_brackets(place)
            if ":" in outside:
                place = f"np.s_[{place}]"
            elif "," in outside:
                place = f"({place})"
            return f"{function}({name}, {place}, {value.text})"
        return f"{name}[{self.index}] {operator}= {value.text}"


def _outside_brackets(text: str) -> str:
    """The text without what stands in brackets."""
    found, depth = "", 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        found += character if depth == 0 else ""
    return found


def placement(eqn: JaxprEqn, scope: Scope) -> Placement:
    """What an equation whose primitive `writes_into` an array puts where."""
    primitive = eqn.primitive
    if isinstance(primitive, (Scatter, UpdateSlice)):
        update = eqn.invars[1 if isinstance(primitive, UpdateSlice) else -1]
        inner = scope.definition(update)
        if inner is not None and writes_into(inner.primitive):
            return _nested(eqn, inner, scope)
    if isinstance(primitive, Pad):
        operand, number = eqn.invars
        index, value = _assigned(operand, _slots(primitive, eqn), eqn, scope)
        return Placement(index, value, None, scope.expression(number), False, False)
    if isinstance(primitive, UpdateSlice):
        x, update = eqn.invars
        index, value = _assigned(update, _slots(primitive, eqn), eqn, scope)
        base, fill = _base(x, scope)
        return Placement(index, value, base, fill, isinstance(primitive, UpdateSliceAdd), False)
    atoms = list(eqn.invars)
    if isinstance(primitive, DynamicUpdateSlice):
        x, update, *starts = eqn.invars
        primitive, atoms = primitive.as_scatter(len(starts)), [x, *starts, update]
    assert isinstance(primitive, Scatter)
    texts = ["", *[scope.whole(atom).text for atom in atoms[1:]]]
    index = primitive.index(texts, [atom.aval for atom in atoms])
    base, fill = _base(atoms[0], scope)
    adds = isinstance(primitive, ScatterAdd)
    repeats = adds and not primitive.unique_indices and any(a.aval.shape for a in atoms[1:-1])
    value = scope.expression(atoms[-1])
    if repeats and atoms[0].aval.ndim == 1:
        value = _with_all_axes(value, atoms[-1].aval.ndim)
    return Placement(index, value, base, fill, adds, repeats)


def _with_all_axes(value: Expression, rank: int) -> Expression:
    """A vector for a place of more axes, with new ones before its own: NumPy's ufunc.at on a vector
    does not repeat the values of a vector for an index of several axes, but reads past their end
    (seen in 2.4 and 2.5)."""
    if value.shape is None or len(value.shape) != 1 or rank == 1:
        return value
    return Expression(f"{value.atom}[{'None, ' * (rank - 1)}:]")


def _nested(eqn: JaxprEqn, inner: JaxprEqn, scope: Scope) -> Placement:
    """What is put into a view of an array, which is then put back: it is put into the array."""
    primitive, part = eqn.primitive, placement(inner, scope)
    x, *rest = eqn.invars
    rank = x.aval.ndim
    base, fill = _base(x, scope)
    inside = f"{part.within}][{part.index}" if part.within else part.index
    if isinstance(primitive, UpdateSlice):
        slots, shape = _slots(primitive, eqn), eqn.outvars[0].aval.shape
        whole = [slice_text(scope, *slot, size) for slot, size in zip(slots, shape, strict=True)]
        outside, removed = whole, set[int]()
    else:
        assert isinstance(primitive, Scatter)
        texts = ["", *[scope.whole(atom).text for atom in rest]]
        outside = primitive.index(texts, [atom.aval for atom in eqn.invars]).split(", ")
        outside += [":"] * (rank - len(outside))
        removed = set(primitive.dimension_numbers.inserted_window_dims)
    kept = [axis for axis in range(rank) if axis not in removed]
    inner_items = iter(inside.split(", "))
    if isinstance(inner.primitive, UpdateSlice) and all(outside[axis] == ":" for axis in kept):
        items = [next(inner_items, ":") if axis in kept else outside[axis] for axis in range(rank)]
        return replace(part, index=_short(items), within="", base=base, fill=fill)
    return replace(
        part, index=part.index, within=_within(outside, part.within), base=base, fill=fill
    )


def _within(items: list[str], inner: str) -> str:
    return f"{_short(items)}][{inner}" if inner else _short(items)


def _short(items: list[str]) -> str:
    while len(items) > 1 and items[-1] == ":":
        items = items[:-1]
    return ", ".join(items)


def _base(x: Atom, scope: Scope) -> tuple[Atom | None, Expression]:
    """The array written into; or None, and the number that a new one is full of."""
    definition = scope.definition(x)
    if definition is not None and isinstance(definition.primitive, BroadcastInDim):
        if not definition.invars[0].aval.shape:
            return None, scope.expression(definition.invars[0])
    return x, Expression("0.0", shape=())


Slot = tuple[Size, Size, int]
"""Along one axis: where the elements begin, where they end, and the step between them."""


def _slots(primitive: Pad | UpdateSlice, eqn: JaxprEqn) -> list[Slot]:
    """Where the elements stand in the result, along each axis."""
    shape = eqn.outvars[0].aval.shape
    if isinstance(primitive, Pad):
        return [
            (low, size - high, between + 1)
            for (low, high, between), size in zip(primitive.padding_config, shape, strict=True)
        ]
    part = primitive.part
    return list(zip(part.start_indices, part.limit_indices, part.steps(), strict=True))


def _assigned(
    update: Atom, slots: Sequence[Slot], eqn: JaxprEqn, scope: Scope
) -> tuple[str, Expression]:
    """The index and the value of an assignment. A row is put in at one index."""
    shape = eqn.outvars[0].aval.shape
    inner = scope.definition(update)
    negated = inner is not None and isinstance(inner.primitive, Neg)
    if inner is not None and negated:
        inner = scope.definition(inner.invars[0])
    rows: set[int] = set()
    if inner is not None and isinstance(inner.primitive, BroadcastInDim):
        rows = _new_axes(inner.primitive, slots, shape)
    items: list[str] = []
    for axis, (start, limit, step) in enumerate(slots):
        if axis in rows:
            items.append(position_text(scope, start, shape[axis]))
        else:
            items.append(slice_text(scope, start, limit, step, shape[axis]))
    if inner is not None and rows:
        row = scope.whole(inner.invars[0])
        return _short(items), negative(row) if negated else row
    value = scope.expression(update)
    missing = 0 if value.shape is None else update.aval.ndim - len(value.shape)
    for axis, (start, _, _) in enumerate(slots[:missing]):
        if same_size(update.aval.shape[axis], 1) and not same_size(shape[axis], 1):
            items[axis] = position_text(scope, start, shape[axis])
    return _short(items), value


def _new_axes(inner: BroadcastInDim, slots: Sequence[Slot], shape: Shape) -> set[int]:
    """The axes of size 1 that `inner` puts in, if these are all that it puts in and each is one
    place of a longer axis."""
    new = {axis for axis in range(len(inner.shape)) if axis not in inner.broadcast_dimensions}
    placed = all(same_size(inner.shape[axis], 1) and not same_size(shape[axis], 1) for axis in new)
    return new if placed and len(slots) == len(inner.shape) else set()


def new_array(placed: Placement, var: Var, hint: str, scope: Scope) -> str:
    """The expression of the array that a placement without a base begins with."""
    return scope.filled(placed.fill, var.aval, scope.like(var, hint)).text
