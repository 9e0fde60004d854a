"""What derivatives are called: `x_dot` is the tangent of `x`, `x_bar` its cotangent."""

from __future__ import annotations

from collections.abc import Sequence

from s2s.ir.jaxpr import Var
from s2s.primitive import Value
from s2s.trace import Tracer, named


def tangent_name(name: str | None) -> str | None:
    """`x` -> `x_dot`."""
    return None if name is None else f"{name}_dot"


def cotangent_name(name: str | None) -> str | None:
    """`x_dot` -> `x_bar`, since it is tangent programs that are transposed; `x` -> `x_bar`."""
    return None if name is None else f"{name.removesuffix('_dot')}_bar"


def hand_on_names(values: Sequence[Value], variables: Sequence[Var]) -> None:
    """Give results the names of the variables that they stand for, unless they have their own."""
    for value, var in zip(values, variables, strict=True):
        if var.name is not None and isinstance(value, Tracer):
            named(value, var.name)
