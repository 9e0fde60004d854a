"""Default values of parameters: in the signature, or filled in where an argument is left out.

def loss_grad(x, scale=2.0, weights=None):
    if weights is None:
        weights = np.array([0.5, 1.5])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from s2s.frontend.argument_types.types import Static
from s2s.frontend.traced import NO_DEFAULT, Parameter
from s2s_codegen.numpy_source.constants import array_text
from s2s_codegen.numpy_source.entry import raising
from s2s_codegen.numpy_source.literals import is_literal, literal
from s2s_codegen.numpy_source.statements import Block, Line, Statement


def default_text(parameter: Parameter) -> str | None:
    """What a parameter is by default, as a signature has it; None if it has no default."""
    if parameter.default is NO_DEFAULT:
        return None
    value = _default(parameter)
    return literal(value) if is_literal(value) else "None"


def filling_defaults(parameters: Sequence[Parameter], expected: str) -> list[Statement]:
    """Put the default values of the user's function in place of arguments that are left out, where
    a signature cannot have them; raise where they are none that can be written."""
    statements: list[Statement] = []
    for parameter in parameters:
        value = _default(parameter)
        if parameter.default is NO_DEFAULT or isinstance(parameter.type, Static):
            continue
        if value is not None and is_literal(value):
            continue
        text = _text(value)
        filled = raising("ValueError", expected)
        if text is not None:
            filled = [Line(f"{parameter.name} = {text}")]
        statements.append(Block(f"if {parameter.name} is None:", filled))
    return statements


def _default(parameter: Parameter) -> Any:
    if isinstance(parameter.type, Static):
        return parameter.type.value  # no other is accepted
    value: Any = parameter.default
    return cast("Any", value).item() if isinstance(value, np.generic) else value


def _text(value: Any) -> str | None:
    """The expression of a container or array; None for what cannot be written."""
    if value is None:
        return None
    if is_literal(value):
        return literal(value)
    if isinstance(value, np.ndarray):
        return array_text(cast("np.ndarray[Any, Any]", value))
    parts: list[str | None]
    if type(value) is dict:
        entries = cast("dict[Any, Any]", value)
        if not all(map(is_literal, entries)):
            return None
        parts = [
            None if text is None else f"{literal(key)}: {text}"
            for key, text in zip(entries, map(_entry, entries.values()), strict=True)
        ]
        opening, closing = "{", "}"
    elif type(value) in (list, tuple):
        items = cast("list[Any]", value)
        parts = [*map(_entry, items)]
        is_pair = type(cast("object", value)) is tuple
        opening, closing = ("(", ",)" if len(items) == 1 else ")") if is_pair else ("[", "]")
    else:
        return None
    if any(part is None for part in parts):
        return None
    return opening + ", ".join(cast("list[str]", parts)) + closing


def _entry(value: Any) -> str | None:
    return "None" if value is None else _text(value)
