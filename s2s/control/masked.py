"""What a mask selects, as whole arrays of which only the elements under the mask count.

`x[mask]` has another number of rows for each mask. Where arrays must have sizes that are known, in
a batch and in StableHLO, all elements stay in their places instead, and sums leave out those that
the mask does not select:

    np.sum(np.log(x[m]))                np.sum(np.where(m, np.log(np.where(m, x, 1.0)), 0.0))

Elements that do not count are 1 where they come in, and so wherever a function might not be defined
at what they have become: neither values nor derivatives of what NumPy would not compute come to
light. What depends on the place of an element among the selected ones has no such form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from s2s.control.batched_loops import masked_body
from s2s.control.call import Call
from s2s.control.cond import Cond
from s2s.control.higher_order import HigherOrder, per_jaxpr
from s2s.control.scan import Scan
from s2s.control.while_loop import While
from s2s.errors import UserError
from s2s.ir.check import check
from s2s.ir.dims import Size, dimension, names_of, same_size, substitute
from s2s.ir.dtypes import BOOL, INT64
from s2s.ir.jaxpr import Atom, ClosedJaxpr, JaxprEqn, ShapedArray, Var
from s2s.passes.bound_dimensions import names_in, ragged_results
from s2s.passes.dce import dce
from s2s.passes.names import hand_on_names
from s2s.primitive import Primitive, Value
from s2s.primitives.arithmetic import Add, Mul, Neg, Sub, add, sub
from s2s.primitives.contractions import DotGeneral
from s2s.primitives.conversion import ConvertElementType
from s2s.primitives.core import (
    AxesReduction,
    BroadcastInDim,
    ReduceSum,
    Transpose,
    broadcast_in_dim,
    convert_element_type,
    full,
    reduce_sum,
    reshape,
)
from s2s.primitives.counts import BindDimension, NonZero, Ragged
from s2s.primitives.creation import DimAsValue, dim_as_value, iota
from s2s.primitives.cumulative import CumSum, cumsum
from s2s.primitives.families import AddAny, Elementwise, LocallyConstant
from s2s.primitives.indexing import Gather, Scatter, ScatterAdd, mask_of
from s2s.primitives.layout import Slice, Squeeze
from s2s.primitives.logic import SelectN, bitwise_and, select_n
from s2s.primitives.reductions import ReduceAnd, ReduceOr
from s2s.trace import aval, bind, copy_equation, make, walk

_ANYWHERE = (Add, AddAny, LocallyConstant, Mul, Neg, SelectN, Sub)
"""Operations that have a value and a derivative at all finite numbers."""
_NEUTRAL: dict[type[Primitive], Any] = {ReduceSum: 0, ReduceAnd: True, ReduceOr: False}
"""Reductions that can leave out elements, and what these count as."""


@per_jaxpr
def with_masked_arrays(closed: ClosedJaxpr) -> ClosedJaxpr:
    """(xs -> ys)  ->  (xs -> ys), without sizes that masks make

    before:  { lambda ; x:f64[n]. let m = gt x 0.0; k:i64[] i:i64[steps_1] = nonzero m;
                 y:f64[steps_1] = gather x i; z = reduce_sum y in (z,) }
    after:   { lambda ; x:f64[n]. let m = gt x 0.0; y:f64[n] = select_n m 1.0 x;
                 w:f64[n] = select_n m 0.0 y; z = reduce_sum w in (z,) }

    Raises UserError where an array of all elements cannot stand for those that count.
    """
    if not _selects(closed):
        return closed
    for _, eqn in ragged_results(closed):
        raise refused(eqn)
    scope = _Scope({})
    made = make(
        lambda *xs: walk(closed, xs, scope.step),
        closed.in_avals,
        [var.name for var in closed.jaxpr.invars],
    )
    result = dce(made)
    check(result.jaxpr)
    return result


def masked(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The jaxpr without sizes that masks make, or as it is where it needs them."""
    try:
        return with_masked_arrays(closed)
    except UserError:
        return closed


@per_jaxpr
def _selects(closed: ClosedJaxpr) -> bool:
    return any(
        isinstance(eqn.primitive, NonZero) or any(map(_selects, eqn.primitive.jaxprs))
        for eqn in closed.eqns
    )


@per_jaxpr
def _masked_body(closed: ClosedJaxpr, names: tuple[str, ...], sizes: tuple[Size, ...]) -> Any:
    """(xs -> ys)  ->  (masks, xs -> ys), the masks being those that make the sizes `names`."""
    masks = [Var(ShapedArray((size,), BOOL), "mask") for size in sizes]
    known = dict(zip(names, sizes, strict=True))
    avals = [
        *[mask.aval for mask in masks],
        *[_with_sizes(aval, known) for aval in closed.in_avals],
    ]

    def fun(*args: Value) -> list[Value]:
        given, xs = args[: len(names)], args[len(names) :]
        return walk(closed, xs, _Scope(dict(zip(names, given, strict=True))).step)

    return make(fun, avals, [*[None] * len(names), *[var.name for var in closed.jaxpr.invars]])


def _with_sizes(found: ShapedArray, sizes: Mapping[str, Size]) -> ShapedArray:
    shape = tuple(substitute(size, sizes) for size in found.shape)
    return ShapedArray(shape, found.dtype, found.weak_type)


class _Scope:
    """The masks of one jaxpr, by the sizes that they make: each along one axis."""

    def __init__(self, masks: dict[str, Value]) -> None:
        self.masks = masks
        self.places: dict[Var, JaxprEqn] = {}

    @property
    def sizes(self) -> dict[str, Size]:
        """How many elements each mask has."""
        return {name: aval(mask).shape[0] for name, mask in self.masks.items()}

    def step(self, eqn: JaxprEqn, operands: Sequence[Any]) -> Sequence[Any]:
        primitive = eqn.primitive
        if isinstance(primitive, NonZero):
            return self._nonzero(primitive, eqn, operands[0])
        if isinstance(primitive, BindDimension) and str(primitive.steps) in self.masks:
            return operands
        if mentioned(eqn).isdisjoint(self.masks):
            own = primitive.with_jaxprs(with_masked_arrays)
            return copy_equation(
                JaxprEqn(own, eqn.invars, eqn.outvars, eqn.source, eqn.phase), operands
            )
        results = self._masked(primitive, eqn, operands)
        hand_on_names(results, eqn.outvars)
        return results

    def _nonzero(self, primitive: NonZero, eqn: JaxprEqn, whole: Value) -> list[Value]:
        """What the elements of another mask become counts only where that one is true, and their
        places are those among them."""
        outer = self._axes(eqn.invars[0], eqn)
        mask = self._chosen(whole, eqn.invars[0], False)
        shape = aval(mask).shape
        flat = reshape(mask, (aval(mask).size,))
        self.masks[str(primitive.steps)] = flat
        self.places.update(dict.fromkeys(eqn.outvars[1:], eqn))
        numbers = [
            _numbers(outer[axis]) if axis in outer else iota(INT64, (size,))
            for axis, size in enumerate(shape)
        ]
        places = [
            reshape(broadcast_in_dim(along, shape, (axis,)), aval(flat).shape)
            for axis, along in enumerate(numbers)
        ]
        return [_count(flat), *places]

    def _masked(
        self, primitive: Primitive, eqn: JaxprEqn, operands: Sequence[Any]
    ) -> Sequence[Value]:
        at = self._selection(eqn)
        if at is not None:
            return [self._at_mask(primitive, eqn, operands, *at)]
        own = primitive.with_sizes(self.sizes)
        match primitive:
            case DimAsValue():
                return [self._number(primitive.dim, eqn)]
            case BroadcastInDim() | ConvertElementType() | Transpose() | Squeeze():
                return [bind(own, *operands)]
            case Slice() if self._takes_all(primitive, eqn):
                return [bind(own, *operands)]
            case CumSum():
                return [bind(own, self._chosen(operands[0], eqn.invars[0], 0))]
            case AxesReduction() if (
                self._axes(eqn.invars[0], eqn).keys().isdisjoint(primitive.axes)
            ):
                return [bind(own, *operands)]
            case ReduceSum() | ReduceAnd() | ReduceOr():
                neutral = _NEUTRAL[type(primitive)]
                return [bind(own, self._chosen(operands[0], eqn.invars[0], neutral))]
            case DotGeneral():
                pairs = zip(operands, eqn.invars, strict=True)
                return [bind(own, *[self._chosen(x, atom, 0) for x, atom in pairs])]
            case Elementwise():
                if not isinstance(primitive, _ANYWHERE):
                    pairs = zip(operands, eqn.invars, strict=True)
                    operands = [self._chosen(x, atom, 1) for x, atom in pairs]
                return [bind(own, *operands)]
            case Cond() | Scan() | While() | Call():
                return self._inside(primitive, eqn, operands)
            case _:
                raise refused(eqn)

    def _number(self, size: Size, eqn: JaxprEqn) -> Value:
        """A size in which one that a mask makes is a term, as a value."""
        (name, *more) = names_of(size) & self.masks.keys()
        rest = size - dimension(name)
        if more or name in names_of(rest):
            raise refused(eqn)
        count = _count(self.masks[name])
        return count if same_size(rest, 0) else add(count, dim_as_value(rest))

    # -- masks ----------------------------------------------------------------------------------

    def _one(self, size: Size) -> str | None:
        """The name of the size that a mask makes, if a size is just this."""
        names = names_of(size) & self.masks.keys()
        if len(names) != 1:
            return None
        (name,) = names
        return name if same_size(size, dimension(name)) else None

    def _axes(self, atom: Atom, eqn: JaxprEqn) -> dict[int, Value]:
        """The masks along the axes of a value."""
        found: dict[int, Value] = {}
        for axis, size in enumerate(atom.aval.shape):
            if not names_of(size).isdisjoint(self.masks):
                name = self._one(size)
                if name is None:
                    raise refused(eqn)
                found[axis] = self.masks[name]
        return found

    def _chosen(self, value: Value, atom: Atom, otherwise: Any) -> Value:
        """A value, and a number for its elements that do not count."""
        shape, dtype = aval(value).shape, aval(value).dtype
        wide: Value | None = None
        for axis, size in enumerate(atom.aval.shape):
            name = self._one(size)
            if name is not None:
                mask = broadcast_in_dim(self.masks[name], shape, (axis,))
                wide = mask if wide is None else bitwise_and(wide, mask)
        return value if wide is None else select_n(wide, full(shape, otherwise, dtype), value)

    def _takes_all(self, primitive: Slice, eqn: JaxprEqn) -> bool:
        """Whether a slice takes all elements along the axes of masks, and where it takes some of
        another axis, these are not as many as a mask selects."""
        shape = eqn.invars[0].aval.shape
        starts, limits = primitive.start_indices, primitive.limit_indices
        steps = primitive.strides or (1,) * len(shape)
        return all(
            (same_size(start, 0) and same_size(limit, size) and step == 1)
            or not any(names_of(at) & self.masks.keys() for at in (start, limit, size))
            for start, limit, step, size in zip(starts, limits, steps, shape, strict=True)
        )

    # -- at the places of the elements that count -------------------------------------------------

    def _selection(self, eqn: JaxprEqn) -> tuple[Value, int] | None:
        """The mask by which an equation reads or writes, and the axis at which it begins."""
        found = mask_of(eqn, self.places)
        if found is None:
            return None
        maker, axis = found
        name = maker.primitive.bound_dimension
        assert name is not None
        return self.masks[name], axis

    def _at_mask(
        self,
        primitive: Primitive,
        eqn: JaxprEqn,
        operands: Sequence[Any],
        mask: Value,
        axis: int,
    ) -> Value:
        whole = operands[0]
        shape = aval(whole).shape
        rank = len(operands) - 1 - isinstance(primitive, Scatter)
        flat = (*shape[:axis], aval(mask).size, *shape[axis + rank :])
        rows, wide = reshape(whole, flat), broadcast_in_dim(mask, flat, (axis,))
        dtype = aval(whole).dtype
        if isinstance(primitive, Gather):
            return select_n(wide, full(flat, 1, dtype), rows)
        if not isinstance(primitive, ScatterAdd):
            return reshape(select_n(wide, rows, operands[-1]), shape)
        return reshape(add(rows, select_n(wide, full(flat, 0, dtype), operands[-1])), shape)

    # -- bodies -----------------------------------------------------------------------------------

    def _inside(
        self, primitive: HigherOrder, eqn: JaxprEqn, operands: Sequence[Value]
    ) -> Sequence[Value]:
        """A loop, branch or call, which gets the masks as operands."""
        used = mentioned(eqn)
        names = tuple(name for name in self.masks if name in used)
        masks = [self.masks[name] for name in names]
        sizes = tuple(self.sizes[name] for name in names)

        def inner(closed: ClosedJaxpr) -> ClosedJaxpr:
            return _masked_body(closed, names, sizes)

        own = primitive.with_jaxprs(inner).with_sizes(self.sizes)
        if isinstance(primitive, Scan) and not names_of(primitive.length).isdisjoint(self.masks):
            name = self._one(primitive.length)
            if name is None or not isinstance(own, Scan):
                raise refused(eqn)
            try:
                return _over_rows(own, self.masks[name], masks, operands)
            except Ragged:
                raise refused(eqn) from None
        match own:
            case Cond():
                return bind(own, operands[0], *masks, *operands[1:])
            case While() if own.steps is None:
                conditions, consts, carry = own.parts(operands)
                own = replace(
                    own,
                    cond_nconsts=own.cond_nconsts + len(masks),
                    body_nconsts=own.body_nconsts + len(masks),
                )
                return bind(own, *masks, *conditions, *masks, *consts, *carry)
            case Scan():
                count, consts, carry, xs = own.parts(operands)
                own = replace(own, num_consts=own.num_consts + len(masks))
                return bind(own, *count, *masks, *consts, *carry, *xs)
            case Call():
                return bind(own, *masks, *operands)
            case _:
                raise refused(eqn)


def _over_rows(
    loop: Scan, mask: Value, masks: Sequence[Value], operands: Sequence[Value]
) -> list[Value]:
    """A loop over selected rows as one over all rows, of which those that do not count leave
    everything as it is."""
    num_consts = loop.num_consts + len(masks)
    batched = tuple(i >= num_consts for i in range(len(loop.jaxpr.in_avals)))
    body = masked_body(loop.jaxpr, num_consts, loop.num_carry, batched)
    _, consts, carry, xs = loop.parts(operands)
    own = replace(loop, jaxpr=body, num_consts=num_consts, counted=False)
    return bind(own, *masks, *consts, *carry, mask, *xs)


def mentioned(eqn: JaxprEqn) -> set[str]:
    """The dimensions in the operands, parameters and results of an equation."""
    shapes = [atom.aval.shape for atom in eqn.invars]
    return names_in(eqn) | {name for shape in shapes for size in shape for name in names_of(size)}


def _numbers(mask: Value) -> Value:
    """The place of each element among those that a mask selects, for these."""
    return sub(cumsum(convert_element_type(mask, INT64), 0), 1)


def _count(mask: Value) -> Value:
    return reduce_sum(convert_element_type(mask, INT64), (0,))


def refused(eqn: JaxprEqn) -> UserError:
    """The error for what has no form without the selected elements in an array of their own."""
    return UserError(
        "how many elements a mask selects, or in how many steps a list grows, depends on values, "
        f"and this needs an array of as many ({eqn.primitive.name}), where the sizes of arrays "
        "must be known, as in StableHLO. Use np.where(mask, x, 0) in place of x[mask], append in "
        "each step, or write a NumPy module.",
        eqn.source,
    )
