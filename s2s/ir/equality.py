"""When two jaxprs say the same."""

from __future__ import annotations

import dataclasses
from typing import Any, cast

import numpy as np

from s2s.ir.dims import Dim, same_shape, same_size
from s2s.ir.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, ShapedArray, Var


def alpha_equivalent(a: Jaxpr, b: Jaxpr) -> bool:
    """Whether two jaxprs are the same up to the choice of their variables.

    What their text does not show makes no difference: the values of constvars, the user's names,
    source lines, phases, and whether a type is weak.
    """
    return _Comparison().jaxprs(a, b)


class _Comparison:
    def __init__(self) -> None:
        self.variables: dict[Var, Var] = {}
        self.found: dict[tuple[Jaxpr, Jaxpr], bool] = {}

    def jaxprs(self, a: Jaxpr, b: Jaxpr) -> bool:
        if (a, b) not in self.found:
            outside, self.variables = self.variables, {}
            self.found[a, b] = (
                len(a.constvars) == len(b.constvars)
                and len(a.invars) == len(b.invars)
                and len(a.eqns) == len(b.eqns)
                and len(a.outvars) == len(b.outvars)
                and all(map(self.define, (*a.constvars, *a.invars), (*b.constvars, *b.invars)))
                and all(map(self.equations, a.eqns, b.eqns))
                and all(map(self.atoms, a.outvars, b.outvars))
            )
            self.variables = outside
        return self.found[a, b]

    def define(self, a: Var, b: Var) -> bool:
        self.variables[a] = b
        return _same_type(a.aval, b.aval)

    def equations(self, a: JaxprEqn, b: JaxprEqn) -> bool:
        return (
            a.primitive.name == b.primitive.name
            and len(a.invars) == len(b.invars)
            and len(a.outvars) == len(b.outvars)
            and self.values(a.primitive.printed_parameters(), b.primitive.printed_parameters())
            and all(map(self.atoms, a.invars, b.invars))
            and all(map(self.define, a.outvars, b.outvars))
        )

    def atoms(self, a: Atom, b: Atom) -> bool:
        if isinstance(a, Literal) or isinstance(b, Literal):
            return (
                isinstance(a, Literal)
                and isinstance(b, Literal)
                and _same_type(a.aval, b.aval)
                and self.values(a.value, b.value)
            )
        return self.variables.get(a) is b

    def values(self, a: Any, b: Any) -> bool:
        """Whether two values of a parameter are the same. Not by ==, which may ask about sizes."""
        if isinstance(a, (Jaxpr, ClosedJaxpr)) and isinstance(b, (Jaxpr, ClosedJaxpr)):
            left, right = (item if isinstance(item, Jaxpr) else item.jaxpr for item in (a, b))
            return self.jaxprs(left, right)
        if isinstance(a, Dim) and isinstance(b, Dim):
            return same_size(a, b)
        a, b = _plain(a), _plain(b)
        if type(a) is not type(b):
            return False
        if isinstance(a, (float, complex)):
            return repr(a) == repr(b)  # NaN is itself, and -0.0 is not 0.0.
        if isinstance(a, dict):
            names = list(cast("dict[str, Any]", a))
            return names == list(b) and all(self.values(a[name], b[name]) for name in names)
        if isinstance(a, (tuple, list)):
            items = cast("tuple[Any, ...]", a)
            return len(items) == len(b) and all(map(self.values, items, b))
        return bool(a == b)


def _plain(value: Any) -> Any:
    """A NumPy scalar as a Python scalar, a dataclass as the dict of its fields."""
    if isinstance(value, np.generic):
        return cast("Any", value).item()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return value


def _same_type(a: ShapedArray, b: ShapedArray) -> bool:
    return a.dtype == b.dtype and same_shape(a.shape, b.shape)
