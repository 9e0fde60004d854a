"""In which order the passes tidy a jaxpr before code is generated from it."""

from __future__ import annotations

from s2s.ir.jaxpr import ClosedJaxpr
from s2s.passes.cse import cse
from s2s.passes.dce import dce
from s2s.passes.factors import collect_factors


def optimise(closed: ClosedJaxpr) -> ClosedJaxpr:
    """(xs -> ys)  ->  (xs -> ys), the same values with fewer equations

    before:  { lambda ; x:f64[]. let a = sin x; b = sin x; c = mul b 1.0; d = cos x in (c,) }
    after:   { lambda ; x:f64[]. let a:f64[] = sin x in (a,) }
    """
    return dce(cse(collect_factors(cse(dce(closed)))))
