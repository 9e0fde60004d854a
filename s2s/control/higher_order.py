"""What primitives that hold jaxprs have in common: equality, and transforming their jaxprs."""

from __future__ import annotations

import dataclasses
import functools
import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from s2s.ir.dims import Size
from s2s.ir.jaxpr import Atom, ClosedJaxpr, Literal, Source, Var
from s2s.primitive import Primitive, Value, substitute_in

P = ParamSpec("P")
R = TypeVar("R")


class HigherOrder(Primitive):
    """A primitive with jaxprs among its parameters, which are ClosedJaxprs without constants.

    Two of them are equal if their jaxprs compute the same by the same equations, whatever the names
    and source lines in them.
    """

    multiple_results = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HigherOrder) and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())

    def key(self) -> Hashable:
        """Equal for primitives that are interchangeable."""
        return (type(self), *[_key(value) for value in self.fields().values()])

    def fields(self) -> dict[str, Any]:
        """The fields, which are the parameters but for a `name`: the class has one of its own."""
        fields = dataclasses.fields(cast(Any, self))
        return {field.name: getattr(self, field.name) for field in fields}

    @property
    def jaxprs(self) -> list[ClosedJaxpr]:
        """The jaxprs in the parameters."""
        found: list[ClosedJaxpr] = []
        for value in self.fields().values():
            values = cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,)
            found.extend(item for item in values if isinstance(item, ClosedJaxpr))
        return found

    @property
    def has_effect(self) -> bool:
        return any(map(has_effects, self.jaxprs))

    def with_jaxprs(self, transform: Callable[[ClosedJaxpr], ClosedJaxpr]) -> Primitive:
        return self.with_fields({name: _mapped(v, transform) for name, v in self.fields().items()})

    def with_sizes(self, sizes: Mapping[str, Size]) -> Primitive:
        return self.with_fields(
            {name: substitute_in(v, sizes) for name, v in self.fields().items()}
        )

    def with_fields(self, fields: dict[str, Any]) -> Primitive:
        """The same primitive with these fields."""
        if all(fields[name] is value for name, value in self.fields().items()):
            return self
        return dataclasses.replace(cast(Any, self), **fields)

    def bind_if_live(
        self, live: Value, operands: Sequence[Value], batched: tuple[bool, ...]
    ) -> Sequence[Value] | None:
        """The results, which matter only where `live` is true; None if that makes no difference.
        `batched` says which operands are the examples' own.

        Loops of unknown length do not run where it is false: they might never end there.
        """
        return None


def _mapped(value: Any, transform: Callable[[ClosedJaxpr], ClosedJaxpr]) -> Any:
    if isinstance(value, ClosedJaxpr):
        return transform(value)
    if type(value) is tuple:
        items = cast("tuple[Any, ...]", value)
        new = tuple(_mapped(item, transform) for item in items)
        return items if all(a is b for a, b in zip(new, items, strict=True)) else new
    return value


def _key(value: Any) -> Hashable:
    if isinstance(value, ClosedJaxpr):
        return structure(value)
    if isinstance(value, tuple):
        return tuple(_key(item) for item in cast("tuple[Any, ...]", value))
    return value


def per_jaxpr(
    fun: Callable[Concatenate[ClosedJaxpr, P], R],
) -> Callable[Concatenate[ClosedJaxpr, P], R]:
    """Remember the results of a function for each jaxpr as long as the jaxpr lives.

    So that a helper that is called twice has one derivative, and nested bodies are not transformed
    anew for each level. The other arguments must be hashable.
    """
    remembered: weakref.WeakKeyDictionary[ClosedJaxpr, dict[Hashable, R]]
    remembered = weakref.WeakKeyDictionary()

    @functools.wraps(fun)
    def wrapper(closed: ClosedJaxpr, *args: P.args, **kwargs: P.kwargs) -> R:
        results = remembered.setdefault(closed, {})
        key = (args, *sorted(kwargs.items()))
        if key not in results:
            results[key] = fun(closed, *args, **kwargs)
        return results[key]

    return wrapper


@per_jaxpr
def has_effects(closed: ClosedJaxpr) -> bool:
    """Whether an equation of a jaxpr does something beside computing: raises, or prints."""
    return any(eqn.primitive.has_effect for eqn in closed.eqns)


@per_jaxpr
def structure(closed: ClosedJaxpr) -> Hashable:
    """Equal for jaxprs that differ only in their variables' identities, names and source lines."""
    return _described(closed, lambda var: var.aval, lambda source: None)


@per_jaxpr
def fingerprint(closed: ClosedJaxpr) -> Hashable:
    """Equal for jaxprs that differ only in their variables' identities."""
    return _described(closed, lambda var: (var.aval, var.name), lambda source: source)


def _described(
    closed: ClosedJaxpr,
    of_variable: Callable[[Var], Hashable],
    of_source: Callable[[Source | None], Hashable],
) -> Hashable:
    numbers: dict[Var, int] = {}

    def define(var: Var) -> Hashable:
        numbers[var] = len(numbers)
        return of_variable(var)

    def use(atom: Atom) -> Hashable:
        return (atom.key(), atom.aval) if isinstance(atom, Literal) else numbers[atom]

    jaxpr = closed.jaxpr
    parameters = (*map(define, jaxpr.constvars), None, *map(define, jaxpr.invars))
    eqns = tuple(
        (
            eqn.primitive,
            *map(use, eqn.invars),
            None,
            *map(define, eqn.outvars),
            eqn.phase,
            of_source(eqn.source),
        )
        for eqn in jaxpr.eqns
    )
    consts = tuple(map(id, closed.consts))
    return (parameters, consts, eqns, tuple(map(use, jaxpr.outvars)))
