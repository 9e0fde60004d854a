"""The end of differentiation: rules go, and calls of what is called once are inlined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeAlias

from s2s.ir.jaxpr import ClosedJaxpr, JaxprEqn
from s2s.passes.bound_dimensions import with_fresh_dimensions
from s2s.passes.names import hand_on_names
from s2s.passes.rewrite import rewrite
from s2s.primitive import Primitive, Value
from s2s.trace import builder_in_force, copy_equation, inline_call


def finish(closed: ClosedJaxpr) -> ClosedJaxpr:
    """(xs -> ys)  ->  (xs -> ys), without what only says how to differentiate

    before:  { lambda ; x:f64[]. let a = stop_gradient x; b = jit[name=f jaxpr={...}] a in (b,) }
    after:   { lambda ; x:f64[]. let b:f64[] = sin x in (b,) }

    A call stays one if its callee is called twice or more.
    """
    while (new := _finished_once(closed)) is not closed:
        closed = new
    return closed


def _finished_once(closed: ClosedJaxpr) -> ClosedJaxpr:
    calls: Counter[Primitive] = Counter()
    _count_calls(closed, calls, set())

    def replace(primitive: Primitive, operands: Operands, in_loop: bool) -> Results:
        if primitive.is_call and calls[primitive] == 1:
            return inline_call(with_fresh_dimensions(primitive.jaxprs[0]), *operands)
        results = primitive.finish(operands)
        # A loop has the forward part of a step no longer when it runs the backward one.
        return primitive.unpack(operands) if results is None and in_loop else results

    return _replaced(closed, replace, {})


def unpack(closed: ClosedJaxpr) -> ClosedJaxpr:
    """(xs -> ys)  ->  (xs -> ys), with what is to be computed again in its place

    before:  { lambda ; x:f64[] t:f64[]. let b:f64[] = remat2[jaxpr={...}] x t in (b,) }
    after:   { lambda ; x:f64[] t:f64[]. let a:f64[] = cos x; b:f64[] = mul t a in (b,) }

    What is computed again is part of the derivative, and stands where that reads it.
    """

    def replace(primitive: Primitive, operands: Operands, in_loop: bool) -> Results:
        builder = builder_in_force()
        assert builder is not None
        start = len(builder.eqns)
        results = primitive.unpack(operands)
        for eqn in builder.eqns[start:]:
            if eqn.phase == "primal" and not in_loop:
                eqn.phase = "tangent"
        return results

    while (new := _replaced(closed, replace, {})) is not closed:
        closed = new
    return closed


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


Operands: TypeAlias = "Sequence[Value]"
Results: TypeAlias = "Sequence[Value] | None"
Replace = Callable[[Primitive, Operands, bool], Results]
Done = dict[tuple[ClosedJaxpr, bool], ClosedJaxpr]


def _replaced(
    closed: ClosedJaxpr, replace: Replace, done: Done, in_loop: bool = False
) -> ClosedJaxpr:
    """The jaxpr with equations replaced, here and in all bodies; the same object if none is.

    `done` has the bodies that were met before.
    """
    if all(_is_plain(eqn.primitive) for eqn in closed.eqns):
        return closed
    if (closed, in_loop) in done:
        return done[closed, in_loop]
    changed = False

    def step(eqn: JaxprEqn, operands: Sequence[Value]) -> Sequence[Value]:
        nonlocal changed
        results = replace(eqn.primitive, operands, in_loop)
        if results is not None:
            changed = True
            hand_on_names(results, eqn.outvars)
            return results
        if not eqn.primitive.jaxprs:
            return copy_equation(eqn, operands)
        inside = in_loop or eqn.primitive.is_loop
        primitive = eqn.primitive.with_jaxprs(lambda j: _replaced(j, replace, done, inside))
        changed = changed or primitive is not eqn.primitive
        return copy_equation(
            JaxprEqn(primitive, eqn.invars, eqn.outvars, eqn.source, eqn.phase), operands
        )

    made = rewrite(closed, step)
    done[closed, in_loop] = made if changed else closed
    return done[closed, in_loop]


def _is_plain(primitive: Primitive) -> bool:
    """Whether the primitive has no jaxpr and neither rule, so that nothing replaces it."""
    kind = type(primitive)
    return (
        kind.finish is Primitive.finish and kind.unpack is Primitive.unpack and not primitive.jaxprs
    )
