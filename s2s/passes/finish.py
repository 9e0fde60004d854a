"""The end of differentiation: rules are no longer needed, and calls that are made once are inlined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from s2s.ir.check import check
from s2s.ir.jaxpr import ClosedJaxpr, JaxprEqn
from s2s.passes.bound_dimensions import with_fresh_dimensions
from s2s.passes.names import hand_on_names
from s2s.primitive import Primitive, Value
from s2s.trace import copy_equation, inline_call, make, walk


def finish(closed: ClosedJaxpr) -> ClosedJaxpr:
    """(xs -> ys)  ->  (xs -> ys), without what only says how to differentiate

    before:  { lambda ; x:f64[]. let a = stop_gradient x; b = jit[name=f jaxpr={...}] a in (b,) }
    after:   { lambda ; x:f64[]. let b:f64[] = sin x in (b,) }

    A call stays one if its callee is called twice or more.
    """
    calls: Counter[Primitive] = Counter()
    _count_calls(closed, calls, set())
    return _finished(closed, calls)


def _count_calls(closed: ClosedJaxpr, calls: Counter[Primitive], seen: set[Primitive]) -> None:
    """Count where each callee is called; what is inside a callee is counted once."""
    for eqn in closed.eqns:
        primitive = eqn.primitive
        if primitive.is_call:
            calls[primitive] += 1
            if primitive in seen:
                continue
            seen.add(primitive)
        for jaxpr in primitive.jaxprs:
            _count_calls(jaxpr, calls, seen)


def _finished(closed: ClosedJaxpr, calls: Counter[Primitive]) -> ClosedJaxpr:
    def step(eqn: JaxprEqn, operands: Sequence[Value]) -> Sequence[Value]:
        primitive = eqn.primitive
        if primitive.is_call and calls[primitive] == 1:
            body = _finished(with_fresh_dimensions(primitive.jaxprs[0]), calls)
            results: Sequence[Value] | None = inline_call(body, *operands)
        else:
            results = primitive.finish(operands)
        if results is not None:
            hand_on_names(results, eqn.outvars)
            return results
        if not primitive.jaxprs:
            return copy_equation(eqn, operands)
        inside = primitive.with_jaxprs(lambda jaxpr: _finished(jaxpr, calls))
        return copy_equation(
            JaxprEqn(inside, eqn.invars, eqn.outvars, eqn.source, eqn.phase), operands
        )

    made = make(
        lambda *args: walk(closed, args, step),
        closed.in_avals,
        [var.name for var in closed.jaxpr.invars],
    )
    check(made.jaxpr)
    return made
