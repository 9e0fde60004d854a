"""What primitives that hold jaxprs have in common: equality, hashing, and transforming their jaxprs."""

from __future__ import annotations

import dataclasses
import functools
import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from s2s.ir.jaxpr import Atom, ClosedJaxpr, Literal, Var
from s2s.primitive import Primitive, Value

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
        return (type(self), *[_key(value) for value in self.parameters().values()])

    def bind_if_live(self, live: Value, operands: Sequence[Value]) -> Sequence[Value] | None:
        """The results, which matter only where `live` is true; None if that makes no difference.

        Loops of unknown length do not run where it is false: they might never end there.
        """
        return None

    @property
    def jaxprs(self) -> list[ClosedJaxpr]:
        """The jaxprs in the parameters, in the order in which these are printed."""
        found: list[ClosedJaxpr] = []
        for value in self.parameters().values():
            values: tuple[Any, ...] = value if isinstance(value, tuple) else (value,)
            found.extend(item for item in values if isinstance(item, ClosedJaxpr))
        return found

    def with_jaxprs(self, transform: Callable[[ClosedJaxpr], ClosedJaxpr]) -> Primitive:
        new = {name: _mapped(value, transform) for name, value in self.parameters().items()}
        return dataclasses.replace(cast(Any, self), **new)


def _mapped(value: Any, transform: Callable[[ClosedJaxpr], ClosedJaxpr]) -> Any:
    if isinstance(value, ClosedJaxpr):
        return transform(value)
    if type(value) is tuple:
        return tuple(_mapped(item, transform) for item in cast("tuple[Any, ...]", value))
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
def structure(closed: ClosedJaxpr) -> Hashable:
    """Equal for jaxprs that differ only in their variables' identities, names and source lines."""
    numbers: dict[Var, int] = {}

    def define(var: Var) -> Hashable:
        numbers[var] = len(numbers)
        return var.aval

    def use(atom: Atom) -> Hashable:
        return (atom.key(), atom.aval) if isinstance(atom, Literal) else numbers[atom]

    jaxpr = closed.jaxpr
    parameters = (*map(define, jaxpr.constvars), None, *map(define, jaxpr.invars))
    eqns = tuple(
        (eqn.primitive, *map(use, eqn.invars), None, *map(define, eqn.outvars), eqn.phase)
        for eqn in jaxpr.eqns
    )
    return (parameters, eqns, tuple(map(use, jaxpr.outvars)))
