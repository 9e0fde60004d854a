"""Arrays written into: pads, scatters and updates of slices as assignments to parts of an array.

What a slice's transpose pads with zeros, for one, becomes

    x_bar = np.zeros(x.shape)
    x_bar[1:] = part_bar

or is added to a part of an array that is there already.
"""

from __future__ import annotations

from dataclasses import dataclass

from s2s.ir.dims import same_size
from s2s.ir.jaxpr import Atom, JaxprEqn, Var
from s2s.primitives.core import BroadcastInDim
from s2s.primitives.dynamic import DynamicUpdateSlice
from s2s.primitives.indexing import Scatter, ScatterAdd
from s2s.primitives.layout import Pad
from s2s.primitives.updates import UpdateSlice, UpdateSliceAdd
from s2s_codegen.numpy_source.expression import Expression, is_negative, without_sign
from s2s_codegen.numpy_source.memory import is_zero
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

    def put(self, name: str, operator: str = "") -> str:
        """The statement that puts the value into the array `name`, adding with `+` or `-`."""
        if operator and self.repeats:
            function = "np.add.at" if operator == "+" else "np.subtract.at"
            place = self.index
            if ":" in place:
                place = f"np.s_[{place}]"
            elif "," in place:
                place = f"({place})"
            return f"{function}({name}, {place}, {self.value.text})"
        value = self.value
        if operator and is_negative(value):
            operator, value = "-" if operator == "+" else "+", without_sign(value)
        return f"{name}[{self.index}] {operator}= {value.text}"


def placement(eqn: JaxprEqn, scope: Scope) -> Placement:
    """What an equation whose primitive `writes_into` an array puts where."""
    primitive = eqn.primitive
    zero = Expression("0.0", shape=())
    if isinstance(primitive, Pad):
        operand, number = eqn.invars
        dropped: set[int] = set()
        inner = scope.definition(operand)
        if inner is not None and isinstance(inner.primitive, BroadcastInDim):
            dropped = _new_axes(inner.primitive, primitive)
        value = scope.whole(inner.invars[0]) if inner and dropped else scope.expression(operand)
        index = _inside(primitive, eqn, scope, dropped)
        return Placement(index, value, None, scope.expression(number), False, False)
    if isinstance(primitive, UpdateSlice):
        return _updated(primitive, eqn, scope)
    if isinstance(primitive, DynamicUpdateSlice):
        x, update, *starts = eqn.invars
        scatter = primitive.as_scatter(len(starts))
        atoms = [x, *starts, update]
    else:
        assert isinstance(primitive, Scatter)
        scatter = primitive
        atoms = list(eqn.invars)
    texts = [scope.whole(atom).text if atom is not atoms[0] else "" for atom in atoms]
    index = scatter.index(texts, [atom.aval for atom in atoms])
    base = _base(atoms[0], scope)
    adds = isinstance(scatter, ScatterAdd)
    repeats = adds and not scatter.unique_indices and any(a.aval.shape for a in atoms[1:-1])
    return Placement(index, scope.expression(atoms[-1]), base, zero, adds, repeats)


def _base(atom: Atom, scope: Scope) -> Atom | None:
    """The array written into; None for an array of zeros that has no statement yet."""
    definition = scope.definition(atom)
    if definition is not None and isinstance(definition.primitive, BroadcastInDim):
        if is_zero(definition.invars[0]):
            return None
    return atom


def _updated(primitive: UpdateSlice, eqn: JaxprEqn, scope: Scope) -> Placement:
    """What an assignment to a slice puts where: `array[1:-1] = value`."""
    x, update = eqn.invars
    dropped: set[int] = set()
    inner = scope.definition(update)
    if inner is not None and isinstance(inner.primitive, BroadcastInDim):
        if inner.primitive.adds_axes_of_size_1(inner.invars[0].aval):
            axes = inner.primitive.broadcast_dimensions
            dropped = {axis for axis in range(update.aval.ndim) if axis not in axes}
            update = inner.invars[0]
        elif not inner.invars[0].aval.shape:
            dropped = {a for a, size in enumerate(update.aval.shape) if same_size(size, 1)}
            update = inner.invars[0]
    part = primitive.part
    items: list[str] = []
    for axis, size in enumerate(x.aval.shape):
        start, limit = part.start_indices[axis], part.limit_indices[axis]
        if axis in dropped:
            items.append(position_text(scope, start, size))
        else:
            items.append(slice_text(scope, start, limit, part.steps()[axis], size))
    while len(items) > 1 and items[-1] == ":":
        items.pop()
    value = scope.whole(update) if dropped else scope.expression(update)
    zero = Expression("0.0", shape=())
    adds = isinstance(primitive, UpdateSliceAdd)
    return Placement(", ".join(items), value, _base(x, scope), zero, adds, False)


def _new_axes(inner: BroadcastInDim, pad: Pad) -> set[int]:
    """The axes of size 1 that `inner` puts in, if `pad` gives all of them a place."""
    new = {axis for axis in range(len(inner.shape)) if axis not in inner.broadcast_dimensions}
    placed = all(
        same_size(inner.shape[axis], 1)
        and not (same_size(low, 0) and same_size(high, 0) and between == 0)
        for axis, (low, high, between) in enumerate(pad.padding_config)
        if axis in new
    )
    return new if placed else set()


def _inside(primitive: Pad, eqn: JaxprEqn, scope: Scope, dropped: set[int]) -> str:
    """Where the operand's elements stand in a padded array; `dropped` axes have one index each."""
    (var,) = eqn.outvars
    items: list[str] = []
    for axis, (low, high, between) in enumerate(primitive.padding_config):
        size = var.aval.shape[axis]
        if axis in dropped:
            items.append(position_text(scope, low, size))
        else:
            items.append(slice_text(scope, low, size - high, between + 1, size))
    while len(items) > 1 and items[-1] == ":":
        items.pop()
    return ", ".join(items)


def new_array(placed: Placement, var: Var, hint: str, scope: Scope) -> str:
    """The expression of the array that a placement without a base begins with."""
    return scope.filled(placed.fill, var.aval, scope.like(var, hint)).text
