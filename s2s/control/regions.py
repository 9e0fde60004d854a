"""Which elements of an array an equation reads or writes, as far as sizes say it.

v = slice[start_indices=(i + 1,) limit_indices=(n,)] x      reads  x[i + 1 : n]
y = scatter x i v                                           writes x[i : i + 1]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from s2s.ir.dims import Size, known_at_least, substitute
from s2s.ir.jaxpr import Atom, Jaxpr, JaxprEqn, Var
from s2s.primitives.arithmetic import Add, Mul, Sub
from s2s.primitives.core import BroadcastInDim, ConvertElementType
from s2s.primitives.counts import BindDimension
from s2s.primitives.creation import DimAsValue
from s2s.primitives.index_layout import GatherDimensionNumbers, GatherScatterMode
from s2s.primitives.indexing import Gather, Scatter
from s2s.primitives.layout import Slice, Squeeze
from s2s.primitives.updates import UpdateSlice

Region: TypeAlias = "tuple[tuple[Size, Size], ...]"
"""Along each axis of an array, where some elements begin and where they end."""

Sizes: TypeAlias = "Mapping[Var, Size]"
"""The variables that are sizes, and which."""


@dataclass(frozen=True)
class Inside:
    """A jaxpr in an equation, with the operand that each input is, or is a row of."""

    jaxpr: Jaxpr
    operands: Sequence[Atom]
    num_rows: int
    """How many inputs, the last ones, are rows."""
    results: Mapping[Var, Atom]
    """The outputs that results of the equation are."""
    carried: Mapping[Atom, Var]
    """For the outputs of a loop that are carried, the inputs that they are in the next step."""

    def sizes(self, outer: Sizes) -> Sizes:
        """The variables of the jaxpr that are sizes."""
        pairs = zip(self.jaxpr.invars, self.operands, strict=True)
        fixed = list(pairs)[: len(self.operands) - self.num_rows]
        changing = self.carried.values()
        sizes = [None if var in changing else size_of(atom, outer) for var, atom in fixed]
        return sizes_in(self.jaxpr.eqns, given_sizes(self.jaxpr.invars, sizes))


def inside(eqn: JaxprEqn) -> list[Inside]:
    """The jaxprs in an equation whose inputs are known to be its operands."""
    from s2s.control.cond import Cond  # These are written on this module.
    from s2s.control.scan import Scan
    from s2s.control.while_loop import While

    primitive = eqn.primitive
    if isinstance(primitive, Cond):
        return [
            Inside(
                branch.jaxpr,
                eqn.invars[1:],
                0,
                dict(zip(eqn.outvars, branch.jaxpr.outvars, strict=True)),
                {},
            )
            for branch in primitive.branches
        ]
    if isinstance(primitive, Scan):
        jaxpr, first, start = primitive.jaxpr.jaxpr, int(primitive.counted), primitive.num_consts
        entering = jaxpr.invars[start : start + primitive.num_carry]
        rows, results = len(jaxpr.invars) - start - primitive.num_carry, eqn.outvars
        return [_loop(jaxpr, eqn.invars[first:], rows, results, entering)]
    if isinstance(primitive, While):
        jaxpr, (first, *_), entering = (
            primitive.body_jaxpr.jaxpr,
            (primitive.cond_nconsts,),
            primitive.body_jaxpr.jaxpr.invars[primitive.body_nconsts :],
        )
        results = eqn.outvars[int(primitive.steps is not None) :]
        condition = primitive.cond_jaxpr.jaxpr
        cond_consts, _, carry = primitive.parts(eqn.invars)
        return [
            _loop(jaxpr, eqn.invars[first:], 0, results, entering),
            Inside(condition, [*cond_consts, *carry], 0, {}, {}),
        ]
    return []


def _loop(
    jaxpr: Jaxpr,
    operands: Sequence[Atom],
    rows: int,
    results: Sequence[Var],
    entering: Sequence[Var],
) -> Inside:
    pairs = list(zip(results, jaxpr.outvars, entering, strict=False))
    return Inside(
        jaxpr,
        operands,
        rows,
        {result: end for result, end, _ in pairs},
        {end: entry for _, end, entry in pairs if isinstance(end, Var)},
    )


# -- numbers that are sizes ------------------------------------------------------------------------


def sizes_in(eqns: Sequence[JaxprEqn], given: Sizes) -> Sizes:
    """The variables that are sizes: those whose values dimensions are, and what is computed."""
    found = dict(given)
    for eqn in eqns:
        if isinstance(eqn.primitive, BindDimension):
            for var in (*eqn.invars, *eqn.outvars):
                if isinstance(var, Var):
                    found.setdefault(var, eqn.primitive.steps)
    for eqn in eqns:
        size = _computed(eqn, found)
        if size is not None:
            found.setdefault(eqn.outvars[0], size)
    return found


def given_sizes(inputs: Sequence[Var], sizes: Sequence[Size | None]) -> dict[Var, Size]:
    """The inputs that are sizes, given which the first ones are."""
    return {v: size for v, size in zip(inputs, sizes, strict=False) if size is not None}


def size_of(atom: Atom, sizes: Sizes) -> Size | None:
    """The size that an operand is, if it is one."""
    if isinstance(atom, Var):
        return sizes.get(atom)
    is_integer = atom.aval.dtype.kind in "iu" and not atom.aval.shape
    return int(atom.value) if is_integer else None


def _computed(eqn: JaxprEqn, sizes: Sizes) -> Size | None:
    match eqn.primitive:
        case DimAsValue(dim):
            return dim
        case ConvertElementType() | Add() | Sub() | Mul():
            operands = [size_of(atom, sizes) for atom in eqn.invars]
        case _:
            return None
    known = [size for size in operands if size is not None]
    if len(known) < len(operands):
        return None
    match eqn.primitive:
        case Add():
            return known[0] + known[1]
        case Sub():
            return known[0] - known[1]
        case Mul():
            return known[0] * known[1]
        case _:
            return known[0] if eqn.outvars[0].aval.dtype.kind in "iu" else None


# -- what is read and written ----------------------------------------------------------------------


def whole(shape: Sequence[Size]) -> Region:
    """All elements."""
    return tuple((0, size) for size in shape)


def reads(eqn: JaxprEqn, array: Var, sizes: Sizes) -> Iterator[Region]:
    """What an equation reads of an array; some of it may be more than that."""
    primitive, shape = eqn.primitive, array.aval.shape
    inner = inside(eqn)
    for position, atom in enumerate(eqn.invars):
        if atom is not array or inner:
            continue
        if isinstance(primitive, Slice):
            yield tuple(zip(primitive.start_indices, primitive.limit_indices, strict=True))
        elif isinstance(primitive, Gather) and position == 0:
            yield _indexed(
                primitive.dimension_numbers, primitive.mode, shape, eqn.invars[1:], sizes
            )
        else:
            yield whole(shape)
    for body in inner:
        known = body.sizes(sizes)
        fixed = len(body.operands) - body.num_rows
        for number, (var, atom) in enumerate(zip(body.jaxpr.invars, body.operands, strict=True)):
            if atom is not array:
                continue
            changes = var in body.carried.values() and body.carried.get(var) is not var
            if number >= fixed or var in body.jaxpr.outvars or changes:
                yield whole(shape)
            for step in body.jaxpr.eqns:
                yield from reads(step, var, known)


def written(end: Atom, eqns: Sequence[JaxprEqn], sizes: Sizes) -> Written | None:
    """How an array came about from one that no equation here defines; None if it is not known."""
    producers = {var: eqn for eqn in eqns for var in eqn.outvars}
    versions: list[tuple[Var, list[Region]]] = []
    while isinstance(end, Var) and end in producers:
        update = _update(producers[end], end, sizes)
        if update is None:
            return None
        base, regions = update
        versions.append((end, regions))
        end = base
    return Written(end, versions[::-1]) if isinstance(end, Var) else None


@dataclass(frozen=True)
class Written:
    """An array, and what it became one after the other, with what was written each time."""

    start: Var
    versions: Sequence[tuple[Var, Sequence[Region]]]


def _update(eqn: JaxprEqn, result: Var, sizes: Sizes) -> tuple[Atom, list[Region]] | None:
    """The operand that a result is with other elements in some regions."""
    primitive = eqn.primitive
    if isinstance(primitive, UpdateSlice):
        ends = zip(primitive.start_indices, primitive.limit_indices, strict=True)
        return eqn.invars[0], [tuple(ends)]
    if isinstance(primitive, Scatter):
        x, *indices, _ = eqn.invars
        numbers = primitive.dimension_numbers.of_gather()
        return x, [_indexed(numbers, primitive.mode, x.aval.shape, indices, sizes)]
    found: list[tuple[Atom, list[Region]]] = []
    for body in inside(eqn):
        if result not in body.results:
            continue
        end = body.results[result]
        inner = written(end, body.jaxpr.eqns, body.sizes(sizes))
        if inner is None or (body.carried and body.carried.get(end) is not inner.start):
            return None
        if inner.start not in body.jaxpr.invars:
            return None
        operand = body.operands[body.jaxpr.invars.index(inner.start)]
        found.append((operand, [region for _, regions in inner.versions for region in regions]))
    if not found or any(operand is not found[0][0] for operand, _ in found):
        return None
    return found[0][0], [region for _, regions in found for region in regions]


def taking(eqn: JaxprEqn, producers: Mapping[Var, JaxprEqn]) -> list[JaxprEqn]:
    """The equations that take what an equation puts into an array from its result again, in the
    form that it had before axes of size 1 were added to it; none if it puts in nothing."""
    x, *indices = eqn.invars
    update = indices.pop() if indices else x
    if type(eqn.primitive) is UpdateSlice:
        primitive: Slice | Gather = eqn.primitive.part
    elif type(eqn.primitive) is Scatter and all(not i.aval.shape for i in indices):
        primitive = eqn.primitive.taking(x.aval, update.aval)
    else:
        return []
    if not isinstance(update, Var):
        return []
    made = producers.get(update)
    operands = [eqn.outvars[0], *indices]
    if made is None or not isinstance(made.primitive, BroadcastInDim):
        return [JaxprEqn(primitive, operands, [update])]
    (value,) = made.invars
    if not made.primitive.adds_axes_of_size_1(value.aval) or not isinstance(value, Var):
        return [JaxprEqn(primitive, operands, [update])]
    part, kept = Var(update.aval), made.primitive.broadcast_dimensions
    added = tuple(axis for axis in range(update.aval.ndim) if axis not in kept)
    return [JaxprEqn(primitive, operands, [part]), JaxprEqn(Squeeze(added), [part], [value])]


def _indexed(
    numbers: GatherDimensionNumbers,
    mode: GatherScatterMode,
    shape: Sequence[Size],
    indices: Sequence[Atom],
    sizes: Sizes,
) -> Region:
    """What lies at single numbers along some axes."""
    region = list(whole(shape))
    for axis, index in zip(numbers.start_index_map, indices, strict=True):
        place = None if index.aval.shape else size_of(index, sizes)
        if axis in numbers.collapsed_slice_dims and mode is not GatherScatterMode.CLIP:
            if place is not None and known_at_least(place, 0):
                region[axis] = (place, place + 1)
    return tuple(region)


def apart(a: Region, b: Region) -> bool:
    """Whether no element is known to lie in both."""
    return any(
        known_at_least(low - high, 0) or known_at_least(start - end, 0)
        for (low, end), (start, high) in zip(a, b, strict=True)
    )


def with_sizes(region: Region, sizes: Mapping[str, Size]) -> Region:
    """A region in which dimensions are other ones."""
    return tuple((substitute(low, sizes), substitute(high, sizes)) for low, high in region)
