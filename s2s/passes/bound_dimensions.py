"""Dimensions that equations bind: new names where an equation is copied, plain ones at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from s2s.ir.dims import Size, bound_dimension, fresh_dimension, names_of
from s2s.ir.jaxpr import ClosedJaxpr
from s2s.primitive import jaxpr_with_sizes


def with_fresh_dimensions(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The same jaxpr, of which a second copy can be made: its equations bind new dimensions."""
    return _renamed(closed, lambda name: fresh_dimension("steps"))


def with_plain_dimensions(closed: ClosedJaxpr) -> ClosedJaxpr:
    """(xs -> ys)  ->  (xs -> ys), the dimensions that equations bind named in their order

    before:  { lambda ; x:f64[n]. let k:i64[] y:f64[n] h:f64[steps_17] = while[...] x in (y,) }
    after:   { lambda ; x:f64[n]. let k:i64[] y:f64[n] h:f64[steps_1] = while[...] x in (y,) }
    """
    taken = {name for aval in closed.in_avals for size in aval.shape for name in names_of(size)}
    numbers = iter(range(1, 1 << 30))
    plain = (f"steps_{i}" for i in numbers if f"steps_{i}" not in taken)
    return _renamed(closed, lambda name: bound_dimension(next(plain)))


def _renamed(closed: ClosedJaxpr, new: Callable[[str], Size]) -> ClosedJaxpr:
    names = dict.fromkeys(_bound(closed))
    return jaxpr_with_sizes(closed, {name: new(name) for name in names}) if names else closed


def _bound(closed: ClosedJaxpr) -> Iterator[str]:
    for eqn in closed.eqns:
        if eqn.primitive.bound_dimension is not None:
            yield eqn.primitive.bound_dimension
        for jaxpr in eqn.primitive.jaxprs:
            yield from _bound(jaxpr)
