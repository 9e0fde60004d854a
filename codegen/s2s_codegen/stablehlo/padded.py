"""Arrays whose sizes values decide, as arrays that have room for the largest of these sizes.

What a mask selects, and what a slice takes whose ends are values, has another size for other
values. StableHLO's arrays have fixed ones. So such an array becomes one that is as long as it can
get, the elements that count in front, and beside it stands the number of these:

    x[m].min()          k = m.sum();  y = x[the places of m, k of them in front]
                        np.where(np.arange(n) < k, y, inf).min()
    a[i, i + 1:] @ b    y = a[i, i + 1:], moved to the front of n places
                        np.where(np.arange(n) < n - i - 1, y, 0.0) @ ...

What stands behind the elements that count is arbitrary, NaN too: whatever joins elements puts in
its place what changes nothing. All derivatives have been taken when this is done.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from s2s.control.call import Call
from s2s.control.cond import Cond
from s2s.control.higher_order import HigherOrder
from s2s.control.masked import mentioned, refused
from s2s.control.scan import Scan
from s2s.control.while_loop import While
from s2s.ir.check import check
from s2s.ir.dims import (
    Atom as SizeAtom,
    Monomial,
    Size,
    dimension,
    known_at_least,
    names_of,
    product,
    same_size,
    terms_of,
)
from s2s.ir.dtypes import INT64, DType, highest, lowest
from s2s.ir.jaxpr import Atom, ClosedJaxpr, JaxprEqn, ShapedArray
from s2s.passes.dce import dce
from s2s.passes.names import hand_on_names
from s2s.primitive import Primitive, Value
from s2s.primitives import core, cumulative, joining, layout, reductions, sorting
from s2s.primitives.arithmetic import add, floor_divide, mul, remainder, sub
from s2s.primitives.contractions import DotGeneral
from s2s.primitives.core import (
    AxesReduction,
    broadcast_in_dim,
    convert_element_type,
    full,
    reduce_sum,
    reshape,
)
from s2s.primitives.counts import BindDimension, NonZero
from s2s.primitives.creation import DimAsValue, Empty, Iota, broadcasted_iota, dim_as_value, iota
from s2s.primitives.dynamic import dynamic_slice, dynamic_update_slice
from s2s.primitives.families import Elementwise
from s2s.primitives.indexing import Gather, Scatter, ScatterAdd, take_at
from s2s.primitives.layout import pad
from s2s.primitives.logic import Not, bitwise_and, lt, select_n
from s2s.primitives.sorting import argsort, take_along
from s2s.primitives.updates import UpdateSlice, UpdateSliceAdd
from s2s.trace import aval, bind, copy_equation, inline, make, walk
from s2s_codegen.stablehlo.capacities import Capacities
from s2s_codegen.stablehlo.folds import loop
from s2s_codegen.stablehlo.text import missing
from s2s_codegen.stablehlo.windows import row_of, with_rows

_NEUTRAL: dict[type[Primitive], Callable[[DType], Any]] = {
    core.ReduceSum: lambda _: 0,
    reductions.ReduceProd: lambda _: 1,
    reductions.ReduceMax: lowest,
    reductions.ReduceMin: highest,
    reductions.ReduceAnd: lambda _: True,
    reductions.ReduceOr: lambda _: False,
    reductions.ArgMax: lowest,
    reductions.ArgMin: highest,
    cumulative.CumSum: lambda _: 0,
    cumulative.CumProd: lambda _: 1,
    cumulative.CumMax: lowest,
    cumulative.CumMin: highest,
}
"""What changes nothing when elements are joined."""


def padded(closed: ClosedJaxpr) -> ClosedJaxpr:
    """(xs -> ys)  ->  (xs -> ys), without sizes that masks and ends of slices make

    before:  { lambda ; x:f64[n] i:i64[]. let _ = bind_dimension[steps=steps_1 exact=True] i;
                 y:f64[steps_1] = slice[limit_indices=(steps_1,) ...] x; z = reduce_sum y in (z,) }
    after:   { lambda ; x:f64[n] i:i64[]. let j:i64[n] = iota; m = lt j i;
                 w:f64[n] = select_n m 0.0 x; z = reduce_sum w in (z,) }

    Raises UserError for what has no such form.
    """
    if not any(map(_is_known_here, _equations(closed))):
        return closed
    made = _Scope(Capacities(closed), {}).made(closed, ())
    result = dce(made)
    check(result.jaxpr)
    return result


def _equations(closed: ClosedJaxpr) -> Any:
    for eqn in closed.eqns:
        yield eqn
        for inner in eqn.primitive.jaxprs:
            yield from _equations(inner)


def _is_known_here(eqn: JaxprEqn) -> bool:
    primitive = eqn.primitive
    return isinstance(primitive, NonZero) or (
        isinstance(primitive, BindDimension) and primitive.exact
    )


class _Scope:
    """The sizes of one jaxpr that values decide, by their names."""

    def __init__(self, capacities: Capacities, counts: dict[str, Value]) -> None:
        self._capacities = capacities
        self._counts = counts

    def made(self, closed: ClosedJaxpr, names: Sequence[str]) -> ClosedJaxpr:
        """The jaxpr as one whose first operands are the sizes of these names."""
        avals = [*[ShapedArray((), INT64)] * len(names), *map(self._padded, closed.in_avals)]

        def fun(*args: Value) -> list[Value]:
            counts = dict(zip(names, args, strict=False))
            return walk(closed, args[len(names) :], _Scope(self._capacities, counts).step)

        return make(fun, avals, [*names, *[var.name for var in closed.jaxpr.invars]])

    def step(self, eqn: JaxprEqn, operands: Sequence[Any]) -> Sequence[Any]:
        primitive = eqn.primitive
        if isinstance(primitive, NonZero) and self._is_counted(primitive.steps):
            return self._nonzero(primitive, eqn, operands[0])
        if isinstance(primitive, BindDimension) and primitive.exact:
            (count,) = operands
            self._counts[str(primitive.steps)] = convert_element_type(count, INT64)
            return operands
        if mentioned(eqn).isdisjoint(self._counts):
            own = primitive.with_jaxprs(lambda inner: self.made(inner, ()))
            return copy_equation(
                JaxprEqn(own, eqn.invars, eqn.outvars, eqn.source, eqn.phase), operands
            )
        try:
            results = self._rule(primitive, eqn, operands)
        except _Unbounded:
            raise refused(eqn) from None
        hand_on_names(results, eqn.outvars)
        return results

    # -- sizes ----------------------------------------------------------------------------------

    def _capacity(self, size: Size) -> Size:
        """How many elements an axis of a size has room for."""
        if not self._is_counted(size):
            return size
        found = self._capacities.of(size)
        if found is None:
            raise _Unbounded
        return found

    def _is_counted(self, size: Size) -> bool:
        return not names_of(size).isdisjoint(self._capacities.bound)

    def _padded(self, found: ShapedArray) -> ShapedArray:
        if not any(map(self._is_counted, found.shape)):
            return found
        shape = tuple(map(self._capacity, found.shape))
        return ShapedArray(shape, found.dtype, found.weak_type)

    def _number(self, size: Size) -> Value:
        """A size as a value."""
        if not self._is_counted(size):
            return INT64.type(size) if isinstance(size, int) else dim_as_value(size)
        terms = [self._term(*term) for term in terms_of(size)]
        return functools.reduce(add, terms)

    def _term(self, monomial: Monomial, coefficient: int) -> Value:
        factors = [self._atom(atom) for atom, power in monomial for _ in range(power)]
        if coefficient != 1 or not factors:
            factors.append(INT64.type(coefficient))
        return functools.reduce(mul, [convert_element_type(x, INT64) for x in factors])

    def _atom(self, atom: SizeAtom) -> Value:
        if isinstance(atom, str):
            return self._counts[atom] if atom in self._counts else dim_as_value(dimension(atom))
        return floor_divide(self._number(atom.numerator), self._number(atom.denominator))

    def _counting(self, shape: Sequence[Size], axes: Sequence[int] | None = None) -> Value | None:
        """Which elements of an array count, along some axes; None if all do."""
        found: Value | None = None
        room = tuple(map(self._capacity, shape))
        for axis, size in enumerate(shape):
            if self._is_counted(size) and (axes is None or axis in axes):
                numbers = broadcasted_iota(INT64, room, axis)
                along = lt(numbers, broadcast_in_dim(self._number(size), room, ()))
                found = along if found is None else bitwise_and(found, along)
        return found

    def _chosen(
        self, value: Value, atom: Atom, otherwise: Any, axes: Sequence[int] | None = None
    ) -> Value:
        """A value, and a number in place of its elements that do not count."""
        counting = self._counting(atom.aval.shape, axes)
        if counting is None:
            return value
        return select_n(counting, full(aval(value).shape, otherwise, aval(value).dtype), value)

    def _or_missing(self, value: Value, atom: Atom) -> Value:
        """A value of which items are read, that need not exist."""
        return self._chosen(value, atom, missing(aval(value)))

    # -- what makes arrays of such sizes --------------------------------------------------------

    def _nonzero(self, primitive: NonZero, eqn: JaxprEqn, mask: Value) -> list[Value]:
        flat = reshape(self._chosen(mask, eqn.invars[0], False), (product(aval(mask).shape),))
        count = reduce_sum(convert_element_type(flat, INT64), (0,))
        self._counts[str(primitive.steps)] = count
        places = argsort(convert_element_type(bind(Not(), flat), INT64))
        found: list[Value] = []
        for size in reversed(aval(mask).shape):
            length = broadcast_in_dim(_as_value(size), aval(places).shape, ())
            found.append(remainder(places, length))
            places = floor_divide(places, length)
        return [count, *reversed(found)]

    # -- what becomes of them -------------------------------------------------------------------

    def _rule(
        self, primitive: Primitive, eqn: JaxprEqn, operands: Sequence[Any]
    ) -> Sequence[Value]:
        room = tuple(map(self._capacity, eqn.outvars[0].aval.shape))
        match primitive:
            case DimAsValue():
                return [self._number(primitive.dim)]
            case Elementwise() | core.ConvertElementType() | core.Transpose() | layout.Squeeze():
                return [bind(primitive, *operands)]
            case joining.Stack():
                return [bind(primitive, *operands)]
            case core.BroadcastInDim(_, axes):
                return [broadcast_in_dim(operands[0], room, axes)]
            case Iota() | Empty():
                return [bind(replace(primitive, shape=room))]
            case AxesReduction() if type(primitive) in _NEUTRAL:
                neutral = _NEUTRAL[type(primitive)](eqn.invars[0].aval.dtype)
                axes = primitive.axes
                return [bind(primitive, self._chosen(operands[0], eqn.invars[0], neutral, axes))]
            case cumulative.Cumulative() if type(primitive) in _NEUTRAL:
                neutral = _NEUTRAL[type(primitive)](eqn.invars[0].aval.dtype)
                axes = (primitive.axis,) if primitive.reverse else ()
                return [bind(primitive, self._chosen(operands[0], eqn.invars[0], neutral, axes))]
            case DotGeneral():
                pairs = zip(operands, eqn.invars, strict=True)
                return [bind(primitive, *[self._chosen(x, atom, 0) for x, atom in pairs])]
            case core.Reshape() if self._keeps_rows(eqn):
                return [reshape(operands[0], room)]
            case layout.Slice():
                return [self._slice(primitive, eqn, operands[0], room)]
            case layout.Rev():
                return [self._reversed(primitive, eqn, operands[0])]
            case layout.Pad():
                return [self._pad(primitive, eqn, operands, room)]
            case UpdateSlice():
                return [self._updated(primitive, eqn, operands)]
            case joining.Concatenate():
                return [self._joined(primitive, eqn, operands, room)]
            case Gather():
                sizes = tuple(map(self._capacity, primitive.slice_sizes))
                axes = primitive.dimension_numbers.start_index_map
                indices = self._from_front(axes, eqn, operands)
                x = self._or_missing(operands[0], eqn.invars[0])
                return [bind(replace(primitive, slice_sizes=sizes), x, *indices)]
            case Scatter():
                return [self._scattered(primitive, eqn, operands)]
            case sorting.Sort() | sorting.ArgSort():
                order = self._order(primitive.dimension, eqn, operands[0])
                is_sort = isinstance(primitive, sorting.Sort)
                return [take_along(operands[0], order, primitive.dimension) if is_sort else order]
            case Cond() | Scan() | While() | Call():
                return self._inside(primitive, eqn, operands)
            case _:
                raise refused(eqn)

    def _keeps_rows(self, eqn: JaxprEqn) -> bool:
        """Whether a reshape leaves the elements that count in front: it does if only the first
        axis has room for more, and if axes of one element come or go."""
        before, after = eqn.invars[0].aval.shape, eqn.outvars[0].aval.shape

        def longer(shape: Sequence[Size]) -> list[Size]:
            return [size for size in shape if not same_size(size, 1)]

        one, other = longer(before), longer(after)
        if len(one) == len(other) and all(map(same_size, one, other)):
            return True
        return not any(map(self._is_counted, [*before[1:], *after[1:]]))

    def _slice(
        self, primitive: layout.Slice, eqn: JaxprEqn, x: Value, room: Sequence[Size]
    ) -> Value:
        starts = primitive.start_indices
        if not any(map(self._is_counted, eqn.outvars[0].aval.shape)):
            # Of items that do not exist, what is missing stands before and after the others.
            whole = eqn.invars[0].aval.shape
            ends = [size if self._is_counted(whole[a]) else 0 for a, size in enumerate(room)]
            x = self._or_missing(x, eqn.invars[0])
            x = pad(x, missing(aval(x)), [(end, end, 0) for end in ends])
            starts = tuple(start + end for start, end in zip(starts, ends, strict=True))
        for axis, step in enumerate(primitive.steps()):
            if step != 1:
                start = broadcast_in_dim(self._number(starts[axis]), (room[axis],), ())
                places = add(mul(iota(INT64, room[axis]), INT64.type(step)), start)
                x = take_at(x, [axis], [places])
                starts = (*starts[:axis], 0, *starts[axis + 1 :])
        return self._moved(x, [self._number(start) for start in starts], starts, room)

    def _moved(
        self, x: Value, places: Sequence[Value], starts: Sequence[Size], room: Sequence[Size]
    ) -> Value:
        """As many elements as there is room for, from given places on."""
        shape = aval(x).shape
        if all(isinstance(start, int) and start == 0 for start in starts):
            if all(map(same_size, room, shape)):
                return x
            if all(map(known_at_least, shape, room)):
                return layout.slice(x, (0,) * len(shape), tuple(room))
        ends = [start + size for start, size in zip(starts, room, strict=True)]
        more = _lacking(ends, shape)
        if more is not None and all(isinstance(start, int) for start in starts):
            wide = pad(x, aval(x).dtype.type(0), [(0, size, 0) for size in more])
            return layout.slice(wide, tuple(starts), tuple(ends))
        # So that the slice is not moved to where it fits.
        more = [(0, 0 if isinstance(size, int) and size == 1 else size, 0) for size in room]
        zero = aval(x).dtype.type(0)
        return dynamic_slice(pad(x, zero, more), places, tuple(room))

    def _reversed(self, primitive: layout.Rev, eqn: JaxprEqn, x: Value) -> Value:
        shape = eqn.invars[0].aval.shape
        starts = [
            self._capacity(size) - size if axis in primitive.dimensions else 0
            for axis, size in enumerate(shape)
        ]
        places = [self._number(start) for start in starts]
        return self._moved(bind(primitive, x), places, starts, aval(x).shape)

    def _pad(
        self, primitive: layout.Pad, eqn: JaxprEqn, operands: Sequence[Value], room: Sequence[Size]
    ) -> Value:
        x, filler = operands
        counting = self._counting(eqn.invars[0].aval.shape)
        if counting is not None:
            x = select_n(counting, broadcast_in_dim(filler, aval(x).shape, ()), x)
        lows = [low for low, _, _ in primitive.padding_config]
        spread = pad(x, filler, [(0, 0, between) for _, _, between in primitive.padding_config])
        shape = aval(spread).shape
        if all(same_size(low, 0) for low in lows) and all(map(same_size, shape, room)):
            return spread
        ends = [low + size for low, size in zip(lows, shape, strict=True)]
        more = _lacking(room, ends)
        if more is not None and all(isinstance(low, int) for low in lows):
            places = zip(lows, more, strict=True)
            wide = pad(spread, filler, [(low, behind, 0) for low, behind in places])
            return layout.slice(wide, (0,) * len(shape), tuple(room))
        shape = tuple(size + more for size, more in zip(room, shape, strict=True))
        whole = dynamic_update_slice(
            broadcast_in_dim(filler, shape, ()), spread, [self._number(low) for low in lows]
        )
        return layout.slice(whole, (0,) * len(shape), tuple(room))

    def _updated(self, primitive: UpdateSlice, eqn: JaxprEqn, operands: Sequence[Value]) -> Value:
        if any(step != 1 for step in primitive.part.steps()):
            raise refused(eqn)
        x, update = operands
        shape, room = aval(x).shape, aval(update).shape
        starts = [self._number(start) for start in primitive.start_indices]
        zero = aval(x).dtype.type(0)
        wide = pad(x, zero, [(0, size, 0) for size in room])
        window = dynamic_slice(wide, starts, room)
        counting = self._counting(eqn.invars[1].aval.shape)
        new = add(window, update) if isinstance(primitive, UpdateSliceAdd) else update
        if counting is not None:
            new = select_n(counting, window, new)
        whole = dynamic_update_slice(wide, new, starts)
        return layout.slice(whole, (0,) * len(shape), shape)

    def _joined(
        self,
        primitive: joining.Concatenate,
        eqn: JaxprEqn,
        operands: Sequence[Value],
        room: Sequence[Size],
    ) -> Value:
        """Each part over what the one before has behind its elements."""
        axis = primitive.dimension
        longest = sum([aval(x).shape[axis] for x in operands], 0)
        shape = tuple(size + longest if a == axis else size for a, size in enumerate(room))
        whole = full(shape, 0, aval(operands[0]).dtype)
        start: Size = 0
        for x, atom in zip(operands, eqn.invars, strict=True):
            places = [self._number(start if a == axis else 0) for a in range(len(shape))]
            whole = dynamic_update_slice(whole, x, places)
            start = start + atom.aval.shape[axis]
        return layout.slice(whole, (0,) * len(shape), tuple(room))

    # -- indices ----------------------------------------------------------------------------------

    def _from_front(
        self, axes: Sequence[int], eqn: JaxprEqn, operands: Sequence[Value]
    ) -> list[Value]:
        """The indices of a gather or scatter: those from the end count from that of the elements
        that count."""
        shape = eqn.invars[0].aval.shape
        return [
            self._wrapped(index, shape[axis]) if self._is_counted(shape[axis]) else index
            for axis, index in zip(axes, operands[1:], strict=False)
        ]

    def _wrapped(self, index: Value, size: Size) -> Value:
        """Indices of which those below zero count from the end of an axis."""
        index = convert_element_type(index, INT64)
        whole = broadcast_in_dim(self._number(size), aval(index).shape, ())
        zero = full(aval(index).shape, 0, INT64)
        return select_n(lt(index, zero), index, add(index, whole))

    def _scattered(self, primitive: Scatter, eqn: JaxprEqn, operands: Sequence[Value]) -> Value:
        numbers = primitive.dimension_numbers
        axes = numbers.scatter_dims_to_operand_dims
        x, updates = operands[0], operands[-1]
        indices = self._from_front(axes, eqn, operands)
        if isinstance(primitive, ScatterAdd):
            return bind(primitive, x, *indices, self._chosen(updates, eqn.invars[-1], 0))
        if any(self._is_counted(eqn.invars[-1].aval.shape[a]) for a in numbers.update_window_dims):
            raise refused(eqn)
        # What does not count goes to one more row, behind all others.
        index, shape = eqn.invars[1], aval(x).shape
        counting = self._counting(index.aval.shape)
        if counting is None:
            return bind(primitive, x, *indices, updates)
        behind = full(aval(indices[0]).shape, 0, INT64)
        behind = add(behind, _as_value(shape[axes[0]]))
        first = self._wrapped(indices[0], eqn.invars[0].aval.shape[axes[0]])
        indices[0] = select_n(counting, behind, first)
        more = [(0, 1 if a == axes[0] else 0, 0) for a in range(len(shape))]
        own = replace(primitive, unique_indices=False)
        whole = bind(own, pad(x, aval(x).dtype.type(0), more), *indices, updates)
        return layout.slice(whole, (0,) * len(shape), shape)

    def _order(self, axis: int, eqn: JaxprEqn, x: Value) -> Value:
        """The places of the elements in order, those that count in front."""
        order = argsort(x, axis)
        counting = self._counting(eqn.invars[0].aval.shape, (axis,))
        if counting is None:
            return order
        behind = convert_element_type(bind(Not(), counting), INT64)
        return take_along(order, argsort(take_along(behind, order, axis), axis), axis)

    # -- bodies -----------------------------------------------------------------------------------

    def _inside(
        self, primitive: HigherOrder, eqn: JaxprEqn, operands: Sequence[Value]
    ) -> Sequence[Value]:
        """A loop, branch or call, which gets the sizes as operands."""
        used = mentioned(eqn)
        names = tuple(name for name in self._counts if name in used)
        counts = [self._counts[name] for name in names]
        own = primitive.with_jaxprs(lambda inner: self.made(inner, names))
        match own:
            case Cond():
                return bind(own, operands[0], *counts, *operands[1:])
            case While():
                conditions, consts, carry = own.parts(operands)
                own = replace(
                    own,
                    cond_nconsts=own.cond_nconsts + len(counts),
                    body_nconsts=own.body_nconsts + len(counts),
                )
                return bind(own, *counts, *conditions, *counts, *consts, *carry)
            case Scan():
                count, consts, carry, xs = own.parts(operands)
                consts = [*counts, *consts]
                own = replace(own, num_consts=len(consts))
                if self._is_counted(own.length):
                    return self._over_rows(own, consts, carry, xs)
                return bind(own, *count, *consts, *carry, *xs)
            case Call():
                return bind(own, *counts, *operands)
            case _:
                raise refused(eqn)

    def _over_rows(
        self, scan: Scan, consts: Sequence[Value], carry: Sequence[Value], xs: Sequence[Value]
    ) -> Sequence[Value]:
        """A loop over the rows that count."""
        number, count = scan.num_carry, self._number(scan.length)
        y_avals = scan.jaxpr.out_avals[number:]
        room = self._capacity(scan.length)
        ys = [full((room, *y.shape), 0, y.dtype) for y in y_avals]

        def turn(state: list[Value]) -> list[Value]:
            done, *values = state
            row = sub(sub(count, 1), done) if scan.reverse else done
            results = inline(scan.jaxpr, *consts, *values[:number], *[row_of(x, row) for x in xs])
            kept = with_rows(values[number:], row, results[number:])
            return [add(done, 1), *results[:number], *kept]

        start = [INT64.type(0), *carry, *ys]
        return loop(lambda state: lt(state[0], count), turn, start)[1:]


def _lacking(wanted: Sequence[Size], shape: Sequence[Size]) -> list[Size] | None:
    """How many more there are wanted than an array has, along each axis; None if that is not known
    of all sizes."""
    result: list[Size] = []
    for size, known in zip(wanted, shape, strict=True):
        if known_at_least(known, size):
            result.append(0)
        elif known_at_least(size, known):
            result.append(size - known)
        else:
            return None
    return result


class _Unbounded(Exception):
    """It is not known how large a size can be."""


def _as_value(size: Size) -> Value:
    return INT64.type(size) if isinstance(size, int) else dim_as_value(size)
