"""Loops of which the examples of a batch run different numbers of steps.

All run as long as one of them does; where an example is done, its carried values stay as they are.
What its body still computes must not reach its derivative, not even as 0 * inf: the operands of the
body are masked by `guarded`, its results by a choice between new and old.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from s2s.control.bodies import Flags
from s2s.control.element_changes import (
    NO_CHANGES,
    changes_elements,
    changes_in,
    updated_inputs,
    where_live,
)
from s2s.control.higher_order import HigherOrder, has_effects, per_jaxpr
from s2s.ir.dims import Size, bound_names, known_at_least, same_size
from s2s.ir.dtypes import BOOL, INT64, is_inexact
from s2s.ir.jaxpr import ClosedJaxpr, JaxprEqn, ShapedArray, Var
from s2s.passes.names import hand_on_names
from s2s.primitive import Value
from s2s.primitives.core import broadcast_in_dim, full
from s2s.primitives.counts import Ragged
from s2s.primitives.creation import iota
from s2s.primitives.effects import Raise
from s2s.primitives.identity import stop_gradient
from s2s.primitives.index_layout import GatherScatterMode
from s2s.primitives.indexing import Gather, Scatter
from s2s.primitives.layout import Slice
from s2s.primitives.logic import lt, select_n
from s2s.trace import aval, copy_equation, make, walk


def guarded(live: Value, value: Value) -> Value:
    """`value`, of which the derivative is zero where `live` is not true.

    The choice between the value and itself masks the tangents that enter and the cotangents that
    leave, also those that are NaN.
    """
    if not is_inexact(aval(value).dtype):
        return value
    return select_n(live, stop_gradient(value), value)


@per_jaxpr
def masked_body(body: ClosedJaxpr, num_consts: int, num_carry: int, batched: Flags) -> ClosedJaxpr:
    """(consts, carry, xs -> carry, ys)  ->  (consts, carry, live, xs -> carry, ys)

    A step that is not live leaves the carry as it is, and its ys are zero. `batched` says which
    inputs are of the examples.
    """
    avals = list(body.in_avals)
    names = [var.name for var in body.jaxpr.invars]
    position = num_consts + num_carry
    avals.insert(position, ShapedArray((), BOOL))
    names.insert(position, "live")

    def fun(*args: Value) -> list[Value]:
        operands = list(args)
        live = operands.pop(position)
        after, ys = step_if_live(live, body, operands, num_consts, num_carry, batched)
        zeros = [full(aval(y).shape, 0, aval(y).dtype) for y in ys]
        return [*after, *[select_n(live, zero, y) for zero, y in zip(zeros, ys, strict=True)]]

    return make(fun, avals, names)


def live_steps(steps: Value, length: Size) -> Value:
    """For each of `length` steps and each example, whether the example runs the step."""
    shape = (length, aval(steps).shape[0])
    number = broadcast_in_dim(iota(INT64, (length,)), shape, (0,))
    return lt(number, broadcast_in_dim(steps, shape, (1,)))


def step_if_live(
    live: Value,
    body: ClosedJaxpr,
    operands: Sequence[Value],
    num_consts: int,
    num_carry: int,
    batched: Flags,
    counter: int | None = None,
) -> tuple[list[Value], list[Value]]:
    """The carried values after a step, which are what they were where `live` is not true; and what
    else the body makes, which does not matter there. `operands` are constants, the carry, and more.
    The carried value `counter` counts in any case.
    """
    changed = updated_inputs(body)
    places = frozenset(num_consts + k for k in range(num_carry) if changed.get(k) == num_consts + k)
    given = [x if k in places else guarded(live, x) for k, x in enumerate(operands)]
    results = inline_if(live, body, given, batched, places)
    after = [
        new
        if k == counter or num_consts + k in places
        else select_n(live, operands[num_consts + k], new)
        for k, new in enumerate(results[:num_carry])
    ]
    return after, results[num_carry:]


def inline_if(
    live: Value,
    closed: ClosedJaxpr,
    args: Sequence[Value],
    batched: Flags,
    in_place: frozenset[int] = frozenset(),
    some_live: bool = False,
) -> list[Value]:
    """The results of a jaxpr, of which only those for a true `live` matter.

    The inputs `in_place`, which are not guarded, and the results that changes of their elements
    make of them (`updated_inputs`) are right in any case: where `live` is false, each change puts
    the element that is there.

    Loops of unknown length in it do not run where `live` is false: they might never end there. Nor
    is anything raised or printed there, and indices that are the examples' own are 0: they might be
    outside of the array. `batched` says which inputs are the examples' own. With `some_live` this
    is reached only if `live` is true for an example, and what the jaxpr itself raises is raised.
    """
    own = _own(closed, batched)
    changes = changes_in(closed) if in_place else NO_CHANGES
    changing: set[Any] = {closed.jaxpr.invars[place] for place in in_place}
    for result, base in changes.bases.items():
        if base in changing:
            changing.add(result)

    from s2s.control.cond import effect_if  # which is written on this module

    def is_changing(atom: object) -> bool:
        return isinstance(atom, Var) and atom in changing

    def step(eqn: JaxprEqn, operands: Sequence[Value]) -> Sequence[Value]:
        takes = is_changing(eqn.invars[0]) if eqn.invars else False
        if takes and isinstance(eqn.primitive, (Gather, Slice)):
            return [guarded(live, part) for part in plain(eqn, operands)]
        if any(is_changing(changes.bases.get(var)) for var in eqn.outvars):
            return plain(eqn, operands)
        guards = [
            guarded(live, x) if is_changing(atom) else x
            for x, atom in zip(operands, eqn.invars, strict=True)
        ]
        return plain(eqn, guards)

    def plain(eqn: JaxprEqn, operands: Sequence[Value]) -> Sequence[Value]:
        if not isinstance(eqn.primitive, HigherOrder):
            if eqn.primitive.has_effect and not some_live:
                return effect_if(live, eqn.primitive, operands)
            indices = _own_indices(eqn, own)
            if indices and _is_outside(eqn):
                effect_if(live, Raise("IndexError"), [])
                return [full(var.aval.shape, 0, var.aval.dtype) for var in eqn.outvars]
            given = [_zero_unless(live, x) if k in indices else x for k, x in enumerate(operands)]
            if changes_elements(eqn) and is_changing(eqn.invars[0]):
                given = where_live(live, eqn, given)
            if not changes.terms.isdisjoint(eqn.outvars):
                given = where_live(live, eqn, given)
            return copy_equation(eqn, given)
        flags = tuple(isinstance(atom, Var) and atom in own for atom in eqn.invars)
        results = eqn.primitive.bind_if_live(live, operands, flags)
        if results is None:
            return copy_equation(eqn, operands)
        hand_on_names(results, eqn.outvars)
        return results

    return walk(closed, args, step)


def _own(closed: ClosedJaxpr, batched: Flags) -> set[Any]:
    """The variables that depend on the inputs that are the examples' own."""
    own: set[Any] = {var for var, on in zip(closed.jaxpr.invars, batched, strict=True) if on}
    for eqn in closed.eqns:
        if any(isinstance(atom, Var) and atom in own for atom in eqn.invars):
            own.update(eqn.outvars)
    return own


def _own_indices(eqn: JaxprEqn, own: set[Any]) -> list[int]:
    """The places of the operands that are indices of the examples' own, which may be anywhere."""
    primitive = eqn.primitive
    if not isinstance(primitive, (Gather, Scatter)):
        return []
    if primitive.mode is not GatherScatterMode.NUMPY:
        return []
    end = len(eqn.invars) - isinstance(primitive, Scatter)
    return [k for k in range(1, end) if isinstance(eqn.invars[k], Var) and eqn.invars[k] in own]


def _is_outside(eqn: JaxprEqn) -> bool:
    """Whether elements are read of an axis that has none. Raises Ragged if only values tell."""
    primitive = eqn.primitive
    if not isinstance(primitive, Gather):
        return False
    shape = zip(eqn.invars[0].aval.shape, primitive.slice_sizes, strict=True)
    sizes = [size for size, taken in shape if same_size(taken, 1)]
    if any(bound_names(size) and not known_at_least(size, 1) for size in sizes):
        raise Ragged
    return any(size == 0 for size in sizes)


def _zero_unless(live: Value, index: Value) -> Value:
    shape, dtype = aval(index).shape, aval(index).dtype
    return select_n(live, full(shape, 0, dtype), index)


@per_jaxpr
def body_if_live(closed: ClosedJaxpr, batched: Flags) -> ClosedJaxpr | None:
    """(xs -> ys)  ->  (live, xs -> ys), as `inline_if` has it; None if that makes no difference"""
    if not (has_effects(closed) or _has_unknown_loop(closed) or _has_own_indices(closed, batched)):
        return None
    live = Var(ShapedArray((), BOOL), "live")
    inputs = [live, *closed.jaxpr.invars]

    def fun(live: Value, *xs: Value) -> list[Value]:
        return inline_if(live, closed, xs, batched)

    return make(fun, [var.aval for var in inputs], [var.name for var in inputs])


@per_jaxpr
def _has_own_indices(closed: ClosedJaxpr, batched: Flags) -> bool:
    own = _own(closed, batched)
    return any(
        _own_indices(eqn, own)
        or any(
            _has_own_indices(body, (True,) * len(body.in_avals)) for body in eqn.primitive.jaxprs
        )
        for eqn in closed.eqns
        if any(isinstance(atom, Var) and atom in own for atom in eqn.invars)
    )


@per_jaxpr
def _has_unknown_loop(closed: ClosedJaxpr) -> bool:
    return any(
        isinstance(eqn.primitive, HigherOrder)
        and (eqn.primitive.name == "while" or any(map(_has_unknown_loop, eqn.primitive.jaxprs)))
        for eqn in closed.eqns
    )
