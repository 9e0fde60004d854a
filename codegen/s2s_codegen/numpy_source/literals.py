"""Values that are known when a module is made, as text."""

from __future__ import annotations

import math
from typing import Any, cast


def is_literal(value: object) -> bool:
    """Whether a value can be written as an expression that needs no import, and compared."""
    if isinstance(value, tuple):
        return all(map(is_literal, cast("tuple[object, ...]", value)))
    return value is None or type(value) in (bool, int, float, str)


def literal(value: Any) -> str:
    """The expression of such a value."""
    if isinstance(value, tuple):
        items = [*map(literal, cast("tuple[Any, ...]", value))]
        return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
    if type(value) is float and not math.isfinite(value):
        return f'float("{value}")'
    text = repr(value)
    return f'"{text[1:-1]}"' if isinstance(value, str) and '"' not in text else text
