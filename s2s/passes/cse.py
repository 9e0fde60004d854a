"""Common subexpression elimination: nothing is computed twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from s2s.ir.check import check
from s2s.ir.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Phase, Var
from s2s.primitives.arithmetic import Neg, Sub
from s2s.primitives.contractions import DotGeneral
from s2s.primitives.core import Transpose
from s2s.primitives.counts import BindDimension
from s2s.primitives.identity import Copy


def cse(closed: ClosedJaxpr) -> ClosedJaxpr:
    """(xs -> ys)  ->  (xs -> ys)

    before:  { lambda ; x:f64[]. let a:f64[] = sin x; b:f64[] = sin x; c:f64[] = mul a b in (c,) }
    after:   { lambda ; x:f64[]. let a:f64[] = sin x; c:f64[] = mul a a in (c,) }

    Two equations are the same if their primitives (with parameters) and their operands are, in
    either order where the primitive is commutative. A cotangent that is the transpose of an
    earlier product is written as that, and so is the opposite of an earlier difference.
    """
    jaxpr = closed.jaxpr
    replaced: dict[Var, Var] = {}
    seen: dict[Any, int] = {}
    eqns: list[JaxprEqn] = []

    bound: dict[str | None, Var] = {}
    """The values of dimensions that are bound so far."""

    def use(atom: Atom) -> Atom:
        return atom if isinstance(atom, Literal) else replaced.get(atom, atom)

    for eqn in jaxpr.eqns:
        if replaced and not replaced.keys().isdisjoint(eqn.invars):
            eqn = _with_operands(eqn, [use(atom) for atom in eqn.invars])
        if eqn.primitive.has_effect:
            eqns.append(eqn)
            continue
        dimension = eqn.primitive.bound_dimension
        if dimension in bound and isinstance(eqn.primitive, BindDimension):
            replaced[eqn.outvars[0]] = bound[dimension]
            continue
        if dimension is not None:
            bound.setdefault(dimension, eqn.outvars[0])
        if isinstance(eqn.primitive, Copy) and eqn.outvars[0].name is None:
            (operand,) = eqn.invars
            if isinstance(operand, Var):  # what nobody calls by another name is the same value
                replaced[eqn.outvars[0]] = operand
                continue
        keys = [a.key() if isinstance(a, Literal) else a for a in eqn.invars]
        if eqn.primitive.commutative:
            keys.sort(key=hash)
        # An array of zeros that the user made is neither another one of the user's, nor the one
        # that a derivative begins with.
        is_user_s = eqn.phase == "primal" and _is_filled(eqn)
        owner = (eqn.outvars[0].name,) if is_user_s else None
        position = seen.setdefault((eqn.primitive, owner, *keys), len(eqns))
        if position == len(eqns):
            eqn = _as_opposite(_as_transpose(eqn, seen, eqns), seen, eqns)
            eqns.append(eqn)
            continue
        first = eqns[position]
        for kept, dropped in zip(first.outvars, eqn.outvars, strict=True):
            replaced[dropped] = kept
            # A value of the user's is not called after a derivative that happens to be the same.
            if kept.name is None and (first.phase != "primal" or eqn.phase == "primal"):
                kept.name = dropped.name
        if eqn.phase == "primal" != first.phase:
            # The user computes this value too, so it must stay as the user computes it.
            eqns[position] = _with_operands(first, first.invars, "primal")
    result = Jaxpr(jaxpr.constvars, jaxpr.invars, eqns, [use(atom) for atom in jaxpr.outvars])
    check(result)
    return ClosedJaxpr(result, closed.consts)


def _as_transpose(eqn: JaxprEqn, seen: dict[Any, int], eqns: Sequence[JaxprEqn]) -> JaxprEqn:
    """A product as the transpose of the product of its factors the other way round, if that is
    there; any other equation as it is."""
    if not isinstance(eqn.primitive, DotGeneral) or eqn.phase != "cotangent":
        return eqn
    other, permutation = eqn.primitive.exchanged(*[atom.aval for atom in eqn.invars])
    keys = [a.key() if isinstance(a, Literal) else a for a in reversed(eqn.invars)]
    position = seen.get((other, None, *keys))
    if position is None or position == len(eqns):  # itself: the product of a value and itself
        return eqn
    (product,) = eqns[position].outvars
    return JaxprEqn(Transpose(permutation), [product], eqn.outvars, eqn.source, eqn.phase)


def _as_opposite(eqn: JaxprEqn, seen: dict[Any, int], eqns: Sequence[JaxprEqn]) -> JaxprEqn:
    """A difference of a derivative as the opposite of the difference the other way round, if that
    is there; any other equation as it is."""
    if not isinstance(eqn.primitive, Sub) or eqn.phase == "primal":
        return eqn
    keys = [a.key() if isinstance(a, Literal) else a for a in reversed(eqn.invars)]
    position = seen.get((eqn.primitive, None, *keys))
    if position is None or position == len(eqns):  # itself: a value minus itself
        return eqn
    (difference,) = eqns[position].outvars
    return JaxprEqn(Neg(), [difference], eqn.outvars, eqn.source, eqn.phase)


def _is_filled(eqn: JaxprEqn) -> bool:
    """Whether the result is a new array with one number everywhere."""
    return eqn.primitive.name == "broadcast_in_dim" and isinstance(eqn.invars[0], Literal)


def _with_operands(eqn: JaxprEqn, invars: Sequence[Atom], phase: Phase | None = None) -> JaxprEqn:
    """The same equation with operands of the same types."""
    return JaxprEqn(
        eqn.primitive, invars, eqn.outvars, eqn.source, phase or eqn.phase, eqn.types_hold
    )
