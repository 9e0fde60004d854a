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
    function uses as bounds of loops only. None if there are none."""
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
    bounds = fixed & _only_in_ranges(definition.parse())
    if not bounds:
        return None
    types = {
        name: ShapedArray((), INT64, weak_type=True) if name in bounds else argument
        for name, argument in found.types.items()
    }
    return dataclasses.replace(found, types=types)


def _only_in_ranges(function: ast.AST) -> set[str]:
    """The names that a function reads as arguments of the `range` of a `for`, and nowhere else."""
    inside: dict[str, int] = {}
    everywhere: dict[str, int] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            everywhere[node.id] = everywhere.get(node.id, 0) + 1
        elif isinstance(node, ast.For) and isinstance(node.iter, ast.Call):
            called = node.iter.func
            if isinstance(called, ast.Name) and called.id == "range":
                for bound in node.iter.args[:2]:
                    if isinstance(bound, ast.Name):
                        inside[bound.id] = inside.get(bound.id, 0) + 1
    return {name for name, count in inside.items() if count == everywhere[name]}
