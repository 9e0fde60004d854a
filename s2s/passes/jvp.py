"""Forward-mode differentiation: values and directional derivatives side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from s2s.ir.check import check
from s2s.ir.jaxpr import ClosedJaxpr, JaxprEqn
from s2s.passes.choices import merge_choices
from s2s.passes.cse import cse
from s2s.passes.guards import stop_guards
from s2s.passes.names import hand_on_names, tangent_name
from s2s.primitive import Value, Zero
from s2s.trace import Tracer, aval, copy_equation, make, named, walk


class Dual:
    """A value with its tangent."""

    __slots__ = ("primal", "tangent")

    def __init__(self, primal: Value, tangent: Value) -> None:
        self.primal = primal
        self.tangent = tangent


def jvp(closed: ClosedJaxpr, active: Sequence[bool]) -> tuple[ClosedJaxpr, list[bool]]:
    """(xs -> ys)  ->  (xs, x_dots -> ys, y_dots)

    before:  { lambda ; x:f64[]. let y:f64[] = sin x in (y,) }
    after:   { lambda ; x:f64[] x_dot:f64[]. let
                 y:f64[] = sin x; c:f64[] = cos x; y_dot:f64[] = mul x_dot c in (y, y_dot) }

    There is a tangent for each input that is `active`, which must be of a floating type, and for
    each output whose tangent is not known to be zero. The list returned says which outputs these
    are.
    """
    closed = cse(stop_guards(closed))
    out_active: list[bool] = []
    in_avals = closed.in_avals
    tangent_avals = [a for a, on in zip(in_avals, active, strict=True) if on]

    def fun(*args: Value) -> list[Value]:
        primals = args[: len(in_avals)]
        tangents = iter(args[len(in_avals) :])
        duals = [
            Dual(x, next(tangents) if on else Zero(a))
            for x, a, on in zip(primals, in_avals, active, strict=True)
        ]
        results = [_dual(result) for result in walk(closed, duals, _step)]
        out_active.extend(not isinstance(result.tangent, Zero) for result in results)
        return [result.primal for result in results] + [
            result.tangent for result in results if not isinstance(result.tangent, Zero)
        ]

    names = [var.name for var in closed.jaxpr.invars]
    dots = [tangent_name(name) for name, on in zip(names, active, strict=True) if on]
    made = make(fun, [*in_avals, *tangent_avals], [*names, *dots], folding=True)
    check(made.jaxpr)
    return merge_choices(made), out_active


def _dual(value: Any) -> Dual:
    """Constants and literals stand in the environment as they are."""
    return value if isinstance(value, Dual) else Dual(value, Zero(aval(value)))


def _step(eqn: JaxprEqn, operands: Sequence[Any]) -> list[Dual]:
    duals = [_dual(operand) for operand in operands]
    primals = [dual.primal for dual in duals]
    if all(isinstance(dual.tangent, Zero) for dual in duals):
        return [Dual(y, Zero(y.aval)) for y in copy_equation(eqn, primals)]
    results, tangents = eqn.primitive.jvp(primals, [dual.tangent for dual in duals])
    if not eqn.primitive.multiple_results:
        results, tangents = [results], [tangents]
    hand_on_names(results, eqn.outvars)
    for var, tangent in zip(eqn.outvars, tangents, strict=True):
        if var.name is not None and isinstance(tangent, Tracer):
            named(tangent, f"{var.name}_dot")
    return [Dual(y, t) for y, t in zip(results, tangents, strict=True)]
