"""Algebraic simplification by the primitives' fold rules."""

from __future__ import annotations

from collections.abc import Sequence

from s2s.ir.jaxpr import ClosedJaxpr, JaxprEqn
from s2s.passes.names import hand_on_names
from s2s.passes.rewrite import rewrite
from s2s.primitive import Value
from s2s.trace import bind, copy_equation


def simplify(closed: ClosedJaxpr) -> ClosedJaxpr:
    """(xs -> ys)  ->  (xs -> ys)

    before:  { lambda ; x:f64[]. let a:f64[] = mul x 1.0; b:f64[] = neg a; c = neg b in (c,) }
    after:   { lambda ; x:f64[]. let a:f64[] = neg x in (x,) }

    What is left over unused is for `dce`. Equations of the primal phase keep their value to the
    last bit; those of derivatives may be re-associated.
    """

    def step(eqn: JaxprEqn, operands: Sequence[Value]) -> Sequence[Value]:
        if eqn.primitive.multiple_results or not eqn.invars:
            return copy_equation(eqn, operands)
        result = bind(eqn.primitive, *operands)
        hand_on_names([result], eqn.outvars)
        return [result]

    return rewrite(closed, step, folding=True)
