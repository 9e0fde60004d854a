"""Maxima that only guard against overflow are constants to a derivative.

`np.exp(x - m)` with `m = np.max(x)` does not overflow, and what is made of it in the end often does
not depend on `m` at all, as the softmax and the logarithm of a sum of exponentials do not. A person
leaves the derivative of such an `m` out; the rules of differentiation give terms that cancel.

That a value does not depend on `m` is proved, not guessed. If `m` grows by any `d`, each value that
is made of it stays, or grows by `c * d`, or by a factor of `exp(c * d)`; where neither can be said,
the maximum is left alone.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, cast, overload

from s2s.ir.check import check
from s2s.ir.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from s2s.passes.cse import cse
from s2s.primitives.contractions import DotGeneral
from s2s.primitives.core import AxesReduction, BroadcastInDim, Transpose
from s2s.primitives.identity import StopGradient
from s2s.primitives.layout import Squeeze
from s2s.primitives.powers import IntegerPow

_GUARDS = {"reduce_max", "reduce_min", "max", "min"}


def stop_guards(closed: ClosedJaxpr) -> ClosedJaxpr:
    """(xs -> ys)  ->  (xs -> ys), with stop_gradient around each extremum that cancels

    before:  { lambda ; x:f64[n]. let
                 a = reduce_max x; b = sub x a; c = exp b; d = reduce_sum c; e = div c d in (e,) }
    after:   { lambda ; x:f64[n]. let
                 a' = reduce_max x; a = stop_gradient a'; b = sub x a; c = exp b; ... in (e,) }
    """
    if not any(eqn.primitive.name in _GUARDS for eqn in closed.eqns):
        return closed
    # Two maxima of the same values cancel only together.
    single = cse(closed)
    jaxpr = single.jaxpr
    candidates = [i for i, eqn in enumerate(jaxpr.eqns) if eqn.primitive.name in _GUARDS]
    readers: dict[Var, list[int]] = defaultdict(list)
    for index, eqn in enumerate(jaxpr.eqns):
        for atom in eqn.invars:
            if isinstance(atom, Var):
                readers[atom].append(index)
    results = {atom for atom in jaxpr.outvars if isinstance(atom, Var)}
    guards = {i for i in candidates if _cancels(jaxpr.eqns, i, readers, results)}
    if not guards:
        return closed
    eqns: list[JaxprEqn] = []
    for index, eqn in enumerate(jaxpr.eqns):
        if index in guards:
            (var,) = eqn.outvars
            inner = Var(var.aval, var.name)
            eqns.append(
                JaxprEqn(eqn.primitive, eqn.invars, [inner], eqn.source, eqn.phase, eqn.types_hold)
            )
            eqn = JaxprEqn(StopGradient(), [inner], [var], eqn.source, eqn.phase)
        eqns.append(eqn)
    stopped = Jaxpr(jaxpr.constvars, jaxpr.invars, eqns, jaxpr.outvars)
    check(stopped)
    return ClosedJaxpr(stopped, single.consts)


@dataclass(frozen=True)
class Change:
    """How a value changes if the extremum grows by `d`: by `coefficient * d`, or by a factor.

    `axes` says for each axis of `d` which axis of the value it is.
    """

    is_factor: bool
    """Whether the value grows by a factor of `exp(coefficient * d)`."""
    coefficient: float
    axes: tuple[int, ...]

    def times(self, factor: float) -> Change:
        """The change with another coefficient."""
        return replace(self, coefficient=self.coefficient * factor)

    def at(self, axes: Mapping[int, int]) -> Change | None:
        """The change of a value whose axes are at other places; None if one of `d` is gone."""
        if not all(axis in axes for axis in self.axes):
            return None
        return replace(self, axes=tuple(axes[axis] for axis in self.axes))


Operand: TypeAlias = "Change | Atom"
"""An operand that changes, or one that stays."""


def _cancels(
    eqns: Sequence[JaxprEqn], start: int, readers: Mapping[Var, Sequence[int]], results: set[Var]
) -> bool:
    """Whether no result depends on the result of the equation number `start`."""
    (extremum,) = eqns[start].outvars
    changes = {extremum: Change(False, 1.0, tuple(range(extremum.aval.ndim)))}
    waiting = list(readers.get(extremum, ()))
    heapq.heapify(waiting)
    done = start
    while waiting:
        index = heapq.heappop(waiting)
        if index == done:
            continue
        done = index
        eqn = eqns[index]
        operands: list[Operand] = [changes.get(cast(Var, atom), atom) for atom in eqn.invars]
        change = _change(eqn, operands)
        if change is None or eqn.primitive.multiple_results:
            return False
        if change.coefficient:
            (var,) = eqn.outvars
            changes[var] = change
            for reader in readers.get(var, ()):
                heapq.heappush(waiting, reader)
    return results.isdisjoint(changes)


def _change(eqn: JaxprEqn, operands: Sequence[Operand]) -> Change | None:
    """How the result of an equation changes, given that an operand does; None if nobody knows."""
    primitive = eqn.primitive
    match primitive.name, operands:
        case "sub", (x, y):
            return _of_sum(eqn, x, _negated(y))
        case "add", (x, y):
            return _of_sum(eqn, x, y)
        case "mul", (x, y):
            return _of_product(eqn, x, y, 1.0)
        case "div", (x, y):
            return _of_product(eqn, x, y, -1.0)
        case "neg", (Change() as x,):
            return _negated(x)
        case "exp", (Change(is_factor=False) as x,):
            return replace(x, is_factor=True)
        case "log", (Change(is_factor=True) as x,):
            return replace(x, is_factor=False)
        case "sqrt", (Change(is_factor=True) as x,):
            return x.times(0.5)
        case "square", (Change(is_factor=True) as x,):
            return x.times(2.0)
        case "integer_pow", (Change(is_factor=True) as x,):
            return x.times(cast(IntegerPow, primitive).y)
        case "broadcast_in_dim", (Change() as x,):
            return x.at(dict(enumerate(cast(BroadcastInDim, primitive).broadcast_dimensions)))
        case "transpose", (Change() as x,):
            order = cast(Transpose, primitive).permutation
            return x.at({axis: place for place, axis in enumerate(order)})
        case "squeeze", (Change() as x,):
            return x.at(_remaining(eqn, cast(Squeeze, primitive).dimensions))
        case "reduce_sum", (Change(is_factor=True) as x,):
            return x.at(_remaining(eqn, cast(AxesReduction, primitive).axes))
        case (("reduce_max" | "reduce_min"), (Change(is_factor=False) as x,)):
            return x.at(_remaining(eqn, cast(AxesReduction, primitive).axes))
        case "dot_general", (Change(is_factor=True), _) | (_, Change(is_factor=True)):
            return _of_contraction(eqn, operands)
        case _:
            return None


@overload
def _negated(operand: Change) -> Change: ...
@overload
def _negated(operand: Operand) -> Operand: ...
def _negated(operand: Operand) -> Operand:
    """How the negative changes: by the same factor, or by as much the other way."""
    if isinstance(operand, Change) and not operand.is_factor:
        return operand.times(-1.0)
    return operand


def _of_sum(eqn: JaxprEqn, x: Operand, y: Operand) -> Change | None:
    """Of a sum: shifts add up; two terms with the same factor have it together."""
    if isinstance(x, Change) and isinstance(y, Change):
        if (x.is_factor, x.axes) != (y.is_factor, y.axes) or not _covers(eqn, x):
            return None
        if x.is_factor:
            return x if x.coefficient == y.coefficient else None
        return replace(x, coefficient=x.coefficient + y.coefficient)
    change = x if isinstance(x, Change) else y
    if not isinstance(change, Change) or change.is_factor or not _covers(eqn, change):
        return None
    return change


def _of_product(eqn: JaxprEqn, x: Operand, y: Operand, sign: float) -> Change | None:
    """Of a product, or with `sign` -1 of a quotient: the exponents of factors add up."""
    if isinstance(x, Change) and isinstance(y, Change):
        if not (x.is_factor and y.is_factor) or x.axes != y.axes or not _covers(eqn, x):
            return None
        return replace(x, coefficient=x.coefficient + sign * y.coefficient)
    if isinstance(y, Change):
        if not y.is_factor:
            return _multiple(x, y) if sign > 0 else None
        return y.times(sign) if _covers(eqn, y) else None
    assert isinstance(x, Change)
    if x.is_factor:
        return x if _covers(eqn, x) else None
    return _multiple(y, x, sign)


def _multiple(number: Operand, shift: Change, sign: float = 1.0) -> Change | None:
    if not isinstance(number, Literal) or not number.value:
        return None
    return shift.times(float(number.value) ** sign)


def _covers(eqn: JaxprEqn, change: Change) -> bool:
    """Whether the axes of a changing operand are those of the result of an elementwise equation."""
    return not change.axes or len({atom.aval.ndim for atom in eqn.invars}) == 1


def _remaining(eqn: JaxprEqn, gone: Sequence[int]) -> dict[int, int]:
    """Where each axis of the operand that is not `gone` is in the result."""
    kept = [axis for axis in range(eqn.invars[0].aval.ndim) if axis not in gone]
    return {axis: place for place, axis in enumerate(kept)}


def _of_contraction(eqn: JaxprEqn, operands: Sequence[Operand]) -> Change | None:
    """Of sums of products: a factor that one operand has, and that is not summed over."""
    x, y = operands
    primitive = cast(DotGeneral, eqn.primitive)
    _, (x_batch, y_batch) = primitive.dimension_numbers
    x_free, y_free = primitive.free(*[atom.aval.ndim for atom in eqn.invars])
    if isinstance(x, Change) and not isinstance(y, Change):
        return x.at({axis: place for place, axis in enumerate([*x_batch, *x_free])})
    if isinstance(y, Change) and not isinstance(x, Change):
        first = len(y_batch) + len(x_free)
        places = dict(zip(y_free, range(first, first + len(y_free)), strict=True))
        return y.at({**{axis: place for place, axis in enumerate(y_batch)}, **places})
    return None
