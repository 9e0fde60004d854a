"""What the passes share that go through a jaxpr equation by equation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from s2s.ir.check import JaxprTypeError, check
from s2s.ir.dims import same_shape
from s2s.ir.jaxpr import ClosedJaxpr
from s2s.trace import Step, make, walk


def rewrite(
    closed: ClosedJaxpr,
    step: Step,
    *,
    folding: bool = False,
    result: Callable[[Any], Any] = lambda value: value,
) -> ClosedJaxpr:
    """(xs -> ys)  ->  (xs -> ys), with each equation replaced by what `step` appends for it

    before:  { lambda ; x:f64[]. let y:f64[] = neg x; z:f64[] = neg y in (z,) }
    after:   { lambda ; x:f64[]. let y:f64[] = neg x in (x,) }

    `step` is that of `walk`; `result` makes values of what it left for the results.
    """

    def fun(*args: Any) -> Sequence[Any]:
        return [result(value) for value in walk(closed, args, step)]

    names = [var.name for var in closed.jaxpr.invars]
    made = make(fun, closed.in_avals, names, folding=folding)
    check(made.jaxpr)
    for new, old in zip(made.out_avals, closed.out_avals, strict=True):
        if new.dtype != old.dtype or not same_shape(new.shape, old.shape):
            raise JaxprTypeError(f"a pass made a result of type {new} of one of type {old}")
    return made
