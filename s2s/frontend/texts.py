"""Texts with traced values in them: what an f-string gives, and what is printed or raised.

A text is not known while the function is traced, so it can be printed, be the message of an
exception, and be part of another text; nothing else.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from s2s.ir.dims import Dim
from s2s.numpy.registry import mistake
from s2s.primitives.creation import dim_as_value
from s2s.primitives.effects import escaped
from s2s.trace import Tracer

_CONVERSIONS: dict[str, Callable[[Any], Any]] = {"r": repr, "s": str, "a": ascii}


@dataclass(frozen=True)
class Shown:
    """A traced value in a text: `{value!conversion:format}`."""

    value: Any
    conversion: str = ""
    format: str = ""


class Text:
    """A text with traced values in it."""

    def __init__(self, parts: Sequence[str | Shown]) -> None:
        self.parts = parts

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, (str, Text)):
            return NotImplemented
        return Text([*self.parts, *_parts_of(other)])

    def __radd__(self, other: Any) -> Any:
        return Text([other, *self.parts]) if isinstance(other, str) else NotImplemented

    def __str__(self) -> str:
        return "".join(p if isinstance(p, str) else f"{{{p.value!r}}}" for p in self.parts)

    def _refuse(self, *_: Any) -> Any:
        raise mistake(_ONLY_SHOWN)

    # What Python asks of the class is not asked of `__getattr__`.
    __getattr__ = __eq__ = __hash__ = __bool__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __contains__ = _refuse
    __len__ = __iter__ = __getitem__ = __mul__ = __rmul__ = __mod__ = _refuse
    __float__ = __int__ = __index__ = _refuse


_ONLY_SHOWN = (
    "this text has a value in it that depends on the arguments, and only its type is known here. "
    "It can be printed, or be the message of an exception."
)


def formatted(*parts: Any) -> Any:
    """An f-string: its parts are strings, and values with their conversions and formats."""
    if not any(type(part) is tuple and is_shown_later(part[0]) for part in parts):
        return "".join(p if isinstance(p, str) else _plain(*p) for p in parts)
    found: list[str | Shown] = []
    for part in parts:
        if isinstance(part, str):
            found.append(part)
        elif is_shown_later(part[0]):
            found += _shown(*part)
        else:
            found.append(_plain(*part))
    return Text(found)


def _plain(value: Any, conversion: str = "", format_: str = "") -> str:
    return format(_CONVERSIONS[conversion](value) if conversion else value, format_)


def is_shown_later(value: Any) -> bool:
    """Whether a value is traced, or a list, tuple or text with a traced value in it."""
    if isinstance(value, (Tracer, Dim, Text)):
        return True
    return isinstance(value, (list, tuple)) and any(
        map(is_shown_later, cast("Sequence[Any]", value))
    )


def _shown(value: Any, conversion: str = "", format_: Any = "") -> list[str | Shown]:
    """The parts of a text that show a value."""
    if not isinstance(format_, str):
        raise mistake("this format depends on the values of the arguments.")
    if isinstance(value, Text):
        if conversion not in ("", "s") or format_:
            raise mistake(_ONLY_SHOWN)
        return [*value.parts]
    if isinstance(value, (list, tuple)):
        items = cast("Sequence[Any]", value)
        opening, closing = "[]" if isinstance(value, list) else "()"
        found: list[str | Shown] = [opening]
        for number, item in enumerate(items):
            found += [", "] if number else []
            found += _shown(item, "r") if is_shown_later(item) else [repr(item)]
        ending = "," if isinstance(value, tuple) and len(items) == 1 else ""
        return [*found, ending + closing]
    return [Shown(value, conversion, format_)]


def _parts_of(value: Any) -> list[str | Shown]:
    if isinstance(value, str):
        return [value]
    return _shown(value) if is_shown_later(value) else [str(value)]


def filled(template: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """`template.format(*args, **kwargs)`."""
    parts: list[Any] = []
    formatter = string.Formatter()
    number = 0
    for literal, field, format_, conversion in formatter.parse(template):
        parts.append(literal)
        if field is None:
            continue
        if field == "":
            field, number = str(number), number + 1
        value, _ = formatter.get_field(field, args, kwargs)
        parts.append((value, conversion or "", formatter.vformat(format_ or "", args, kwargs)))
    return formatted(*parts)


def statement(values: Sequence[Any]) -> tuple[tuple[str, ...], list[Any]]:
    """Values as the arguments of an effect: texts with numbers of operands, and the operands."""
    operands: list[Any] = []
    texts: list[str] = []
    for value in values:
        text = ""
        for part in _parts_of(value):
            if isinstance(part, str):
                text += escaped(part)
                continue
            conversion = f"!{part.conversion}" if part.conversion else ""
            format_ = f":{part.format}" if part.format else ""
            text += f"{{{len(operands)}{conversion}{format_}}}"
            given = part.value
            operands.append(dim_as_value(given) if isinstance(given, Dim) else given)
        texts.append(text)
    return tuple(texts), operands
