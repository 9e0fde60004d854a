"""The user's own functions and methods: converted once, with the hooks that they call."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from types import CellType, CodeType, FunctionType
from typing import Any

import numpy as np

from s2s.frontend.conversion import HOOK, Conversion, convert, is_converted
from s2s.frontend.library import is_users
from s2s.frontend.lines import entering
from s2s.frontend.sources import definition_of, shown_path
from s2s.trace import named


def is_users_function(function: Any) -> bool:
    """Whether this is a function of the user's, converted or not."""
    if not isinstance(function, FunctionType):
        return False
    return is_users(function.__code__.co_filename) or is_converted(function.__code__)


@functools.cache
def users_method(kind: type[Any], name: str) -> Any:
    """The method of this name, if the user wrote it."""
    method = getattr(kind, name, None)
    return method if is_users_function(method) else None


hook_cells: dict[str, CellType] = {}
"""The hooks that converted functions call, as cells of their closures."""

_conversions: dict[int, tuple[CodeType, Conversion | None, CellType]] = {}


def converted(function: FunctionType) -> FunctionType:
    """A function of the user's with hooks; the same one if it has them or its source is missing."""
    code = function.__code__
    known = _conversions.get(id(code))
    if known is None:
        known = _conversions[id(code)] = _convert(function)
    _, conversion, enter = known
    if conversion is None:
        return function
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    _name_constants(code, cells, function.__globals__)
    cells[f"{HOOK}enter"] = enter
    closure = tuple(
        cells[name] if name in cells else hook_cells[name] for name in conversion.code.co_freevars
    )
    result = FunctionType(
        conversion.code, function.__globals__, function.__name__, function.__defaults__, closure
    )
    result.__kwdefaults__ = function.__kwdefaults__
    return result


def _convert(function: FunctionType) -> tuple[CodeType, Conversion | None, CellType]:
    code = function.__code__
    if is_converted(code) or not is_users(code.co_filename):
        return code, None, CellType()
    definition = definition_of(code, function.__globals__)
    if definition is None:
        return code, None, CellType()
    conversion = convert(code, definition, function.__globals__)
    enter = entering(shown_path(code.co_filename), conversion.statements)
    return code, conversion, CellType(enter)


def _name_constants(
    code: CodeType, cells: Mapping[str, CellType], namespace: Mapping[str, Any]
) -> None:
    """Give the arrays that a function reads from outside the names by which it reads them."""
    for name in _names_read(code):
        value = namespace.get(name)
        if type(value) is np.ndarray:
            named(value, name)
    for name, cell in cells.items():
        try:
            value = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
        if type(value) is np.ndarray:
            named(value, name)


def _names_read(code: CodeType) -> Iterator[str]:
    """The global names in a function, and in the functions that stand in it."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names_read(inner)
