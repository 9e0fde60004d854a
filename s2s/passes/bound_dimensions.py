"""Dimensions that equations bind: new names where an equation is copied, plain ones at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import cast
from weakref import WeakKeyDictionary

from s2s.ir.dims import BOUND_BY_EQUATIONS, Dim, Size, bound_dimension, fresh_dimension, names_of
from s2s.ir.jaxpr import Atom, ClosedJaxpr, JaxprEqn, Literal, Var
from s2s.primitive import Primitive, jaxpr_with_sizes
from s2s.primitives.counts import BindDimension


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


def counts_of(eqns: Iterable[JaxprEqn]) -> dict[str, Var]:
    """The dimensions that equations bind, not those in them, and the results whose values they
    are, where they are bound first."""
    counts: dict[str, Var] = {}
    for eqn in eqns:
        if eqn.primitive.bound_dimension is not None:
            counts.setdefault(eqn.primitive.bound_dimension, eqn.outvars[0])
    return counts


def ragged_results(closed: ClosedJaxpr) -> Iterator[tuple[Atom, JaxprEqn]]:
    """The results of a size that an equation binds, and the equations that make them."""
    bound = counts_of(closed.eqns).keys()
    made = {var: eqn for eqn in closed.eqns for var in eqn.outvars}
    for atom in closed.jaxpr.outvars:
        if any(names_of(size) & bound for size in atom.aval.shape) and isinstance(atom, Var):
            yield atom, made[atom]


def binding(name: str, count: Var) -> JaxprEqn:
    """An equation that lets a dimension be known whose value is handed on."""
    primitive = BindDimension(bound_dimension(name), BOUND_BY_EQUATIONS[name].exact)
    return JaxprEqn(primitive, [count], [Var(count.aval)])


def reads_of(eqns: Iterable[JaxprEqn]) -> Callable[[JaxprEqn], list[Var]]:
    """What gives for each equation the variables that it needs: its operands, and the counts of
    steps, of the loops among `eqns`, that it mentions."""
    counts = counts_of(eqns)

    def operands_of(eqn: JaxprEqn) -> list[Var]:
        return [atom for atom in eqn.invars if not isinstance(atom, Literal)]

    if not counts:
        return operands_of

    def reads(eqn: JaxprEqn) -> list[Var]:
        operands = operands_of(eqn)
        named = names_in(eqn)
        mentioned = [count for name, count in counts.items() if name in named]
        return [*operands, *[count for count in mentioned if count not in eqn.outvars]]

    return reads


def names_in(eqn: JaxprEqn) -> set[str]:
    """The dimensions in the parameters and the types of the results of an equation, but for those
    that equations in it bind."""
    found = {name for var in eqn.outvars for size in var.aval.shape for name in names_of(size)}
    return found | names_of_parameters(eqn)


def names_of_parameters(eqn: JaxprEqn) -> set[str]:
    """The dimensions in the parameters of an equation, as in `names_in`."""
    values = eqn.primitive.parameters().values()
    return {name for value in values for name in _names_in_value(value)}


def _names_in_value(value: object) -> Iterable[str]:
    if isinstance(value, Dim):
        return names_of(value)
    if isinstance(value, tuple):
        return {
            name for item in cast("tuple[object, ...]", value) for name in _names_in_value(item)
        }
    if isinstance(value, Primitive):
        return _names_in_value(tuple(value.parameters().values()))
    return _names_in_jaxpr(value) if isinstance(value, ClosedJaxpr) else ()


_names: WeakKeyDictionary[ClosedJaxpr, frozenset[str]] = WeakKeyDictionary()


def _names_in_jaxpr(closed: ClosedJaxpr) -> frozenset[str]:
    if closed not in _names:
        found = {n for aval in closed.in_avals for size in aval.shape for n in names_of(size)}
        for eqn in closed.eqns:
            found.update(names_in(eqn))
        _names[closed] = frozenset(found.difference(counts_of(closed.eqns)))
    return _names[closed]


def _renamed(closed: ClosedJaxpr, new: Callable[[str], Size]) -> ClosedJaxpr:
    names = dict.fromkeys(bound_in(closed.eqns))
    return jaxpr_with_sizes(closed, {name: new(name) for name in names}) if names else closed


def bound_in(eqns: Iterable[JaxprEqn]) -> Iterator[str]:
    """The dimensions that equations bind, and those in them."""
    for eqn in eqns:
        if eqn.primitive.bound_dimension is not None:
            yield eqn.primitive.bound_dimension
        for jaxpr in eqn.primitive.jaxprs:
            yield from bound_in(jaxpr.eqns)
