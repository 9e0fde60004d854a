"""Comparisons of a loop's number whose result is known, as the loop begins behind it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from s2s.control.loop_split import counters
from s2s.ir.check import check
from s2s.ir.dtypes import BOOL
from s2s.ir.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, ShapedArray, Var
from s2s.primitive import Producer, Value
from s2s.primitives.arithmetic import Add, Mul
from s2s.primitives.conversion import ConvertElementType
from s2s.primitives.creation import Iota
from s2s.primitives.logic import Eq, Ge, Gt, Le, Lt, Ne
from s2s.primitives.structural import defined_by, is_number, number

_KNOWN: dict[type, tuple[Callable[[Any, Any], bool], bool]] = {
    Eq: (operator.lt, False),
    Ne: (operator.lt, True),
    Lt: (operator.le, False),
    Le: (operator.lt, False),
    Gt: (operator.lt, True),
    Ge: (operator.le, True),
}
"""For each comparison with a number, how that compares with the least value where the result is
known, and the result."""


def least_rows(variables: Sequence[Var], xs: Sequence[Value], producer: Producer) -> dict[Var, int]:
    """The least values of the rows of arrays 0, 1, 2, ..."""
    return {
        var: 0
        for var, x in zip(variables, xs, strict=True)
        if var.aval.dtype.kind == "i"
        and not var.aval.shape
        and defined_by(x, Iota, producer) is not None
    }


def least_counts(body: Jaxpr, variables: Sequence[Var], values: Sequence[Value]) -> dict[Var, int]:
    """The least values of the carried integers that grow from step to step."""
    steps = counters(body.eqns, variables, body.outvars[: len(variables)])
    return {
        var: int(number(value))
        for var, value in zip(variables, values, strict=True)
        if var in steps and is_number(value) and steps[var].value > 0
    }


def with_known_tests(closed: ClosedJaxpr, least: Mapping[Var, int]) -> ClosedJaxpr:
    """(xs -> ys)  ->  (xs -> ys), without the comparisons that the least values of integers decide

    before:  { lambda ; i:i64[]. let k:i64[] = add i 1:i64[]; a:bool[] = eq k 0:i64[] in (a,) }
    after:   { lambda ; i:i64[]. let k:i64[] = add i 1:i64[] in (False:bool[],) }

    The same object if there are none.
    """
    known: dict[Var, float] = {**least}
    results: dict[Atom, Literal] = {}
    for eqn in closed.eqns if least else ():
        if len(eqn.outvars) != 1:
            continue
        (var,) = eqn.outvars
        match eqn.invars:
            case [Var() as x] if x in results and isinstance(eqn.primitive, ConvertElementType):
                # The number of a branch.
                results[var] = Literal(var.aval.dtype.type(results[x].value), var.aval)
                continue
            case [Var() as x] if x in known and isinstance(eqn.primitive, ConvertElementType):
                if eqn.primitive.new_dtype.kind in "if":
                    known[eqn.outvars[0]] = known[x]
                continue
            case [Var() as x, Literal(value=y)] if x in known:
                pass
            case [Literal(value=y), Var() as x] if x in known and eqn.primitive.commutative:
                pass
            case _:
                continue
        if isinstance(eqn.primitive, Add):
            known[var] = known[x] + y
        elif isinstance(eqn.primitive, Mul) and y >= 0:
            known[var] = known[x] * y
        elif type(eqn.primitive) in _KNOWN:
            compare, result = _KNOWN[type(eqn.primitive)]
            if compare(y, known[x]):
                results[var] = Literal(BOOL.type(result), ShapedArray((), BOOL))
    if not results:
        return closed
    jaxpr = closed.jaxpr

    def use(atom: Atom) -> Atom:
        return results.get(atom, atom)

    eqns = [
        JaxprEqn(e.primitive, [*map(use, e.invars)], e.outvars, e.source, e.phase)
        for e in jaxpr.eqns
        if results.keys().isdisjoint(e.outvars)
    ]
    new = Jaxpr(jaxpr.constvars, jaxpr.invars, eqns, [*map(use, jaxpr.outvars)])
    check(new)
    return ClosedJaxpr(new, closed.consts)
