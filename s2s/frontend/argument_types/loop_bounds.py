"""Integers with a default that say how often a loop runs: they stay arguments.

def energy(x: float, steps: int = 100):
    for _ in range(steps):              steps: int, and not 100 only
        ...
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable
from types import FunctionType
from typing import Any

from s2s.frontend.argument_types.collect import ArgumentTypes
from s2s.frontend.argument_types.types import Static
from s2s.frontend.callables import innermost_function
from s2s.frontend.sources import definition_of
from s2s.ir.dtypes import INT64
from s2s.ir.jaxpr import ShapedArray


def with_loop_bounds(function: Callable[..., Any], found: ArgumentTypes) -> ArgumentTypes | None:
    """The types with integers traced that are fixed because of their defaults only, and that the
    function uses as bounds of loops. None if there are none.

    Where the trace needs their values after all, they must stay fixed: try, and do without.
    """
    fixed = {
        name
        for name, argument in found.types.items()
        if name not in found.given and isinstance(argument, Static) and type(argument.value) is int
    }
    inner = innermost_function(function)
    if not fixed or not isinstance(inner, FunctionType):
        return None
    definition = definition_of(inner.__code__, inner.__globals__)
    if definition is None:
        return None
    bounds = fixed & bounds_of_loops(definition.parse())
    if not bounds:
        return None
    types = {
        name: ShapedArray((), INT64, weak_type=True) if name in bounds else argument
        for name, argument in found.types.items()
    }
    return dataclasses.replace(found, types=types)


def bounds_of_loops(function: ast.AST) -> set[str]:
    """The names that stand in the arguments of a `range`, and elsewhere only in arithmetic and
    comparisons: `range(1, steps + 1)`, `dt = span / steps`."""
    bounds: set[str] = set()
    others: set[str] = set()
    pending: list[tuple[ast.AST, str]] = [(function, "")]
    while pending:
        node, where = pending.pop()
        if isinstance(node, ast.Name):
            if where == "range":
                bounds.add(node.id)
            elif where != "arithmetic":
                others.add(node.id)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            is_range = node.func.id == "range"
            pending += [(child, "range" if is_range else "") for child in node.args]
            pending += [(keyword.value, "") for keyword in node.keywords]
        elif isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Compare)):
            within = where if where == "range" else "arithmetic"
            pending += [(child, within) for child in ast.iter_child_nodes(node)]
        else:
            pending += [(child, "") for child in ast.iter_child_nodes(node)]
    return bounds - others
