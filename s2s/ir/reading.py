"""From what a jaxpr's text says of a parameter to its value: the way back from `s2s.ir.spelling`.

A name in the text may be a string, a dimension, an element type, a member of an enumeration or a
jaxpr defined in front; which it is, the type of the primitive's field says.
"""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Literal as OneOf, Union, cast, get_args, get_origin, get_type_hints

import numpy as np

from s2s.ir import dims, dtypes, jaxpr
from s2s.ir.dims import Dim, dimension
from s2s.ir.dtypes import SHORT_NAMES
from s2s.ir.jaxpr import ClosedJaxpr, Jaxpr, ShapedArray

DTYPES = {str(dtype): dtype for dtype in SHORT_NAMES}


@dataclasses.dataclass(frozen=True)
class Name:
    """A name without quotes, as yet without a meaning."""

    text: str


@dataclasses.dataclass(frozen=True)
class Record:
    """`Class(field=value, ...)`."""

    name: str
    fields: Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class UnknownConstant:
    """Stands for the value of a constvar of a callee, which the text does not show."""

    aval: ShapedArray


class NotOfType(Exception):
    """A value in the text that the type of its field does not allow."""


@functools.cache
def field_types(cls: type) -> dict[str, Any]:
    """The type of each field of a dataclass or NamedTuple. Names of the IR need no import there."""
    known = {**vars(dims), **vars(dtypes), **vars(jaxpr)}
    hints = get_type_hints(cls, localns=known)
    if dataclasses.is_dataclass(cls):
        return {field.name: hints[field.name] for field in dataclasses.fields(cls)}
    return {name: hints[name] for name in cast("Any", cls)._fields}


Definitions = Callable[[str], "Jaxpr | None"]
"""The jaxpr defined in front under a name, if there is one."""


def read_value(value: Any, expected: Any, defined: Definitions) -> Any:
    """The value of a field of type `expected` for what its text was parsed to.

    Raises NotOfType if the field cannot have such a value.
    """
    origin, arguments = get_origin(expected), get_args(expected)
    if origin in (Union, types.UnionType):
        for alternative in arguments:
            try:
                return read_value(value, alternative, defined)
            except NotOfType:
                continue
    elif origin is tuple and isinstance(value, (tuple, list)):
        items = cast("tuple[Any, ...]", value)
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return tuple(read_value(item, arguments[0], defined) for item in items)
        if len(items) == len(arguments):
            return tuple(
                read_value(item, kind, defined) for item, kind in zip(items, arguments, strict=True)
            )
    elif origin is frozenset and isinstance(value, frozenset):
        elements = cast("frozenset[Any]", value)
        return frozenset(read_value(element, arguments[0], defined) for element in elements)
    elif origin is OneOf:
        text = value.text if isinstance(value, Name) else value
        if text in arguments:
            return text
    elif expected is None:
        return read_value(value, type(None), defined)
    elif expected is Any:
        return value.text if isinstance(value, Name) else value
    elif origin is Callable and isinstance(value, Name):
        return value.text  # What function it is, the primitive's `from_printed` has to know.
    elif origin is np.dtype or expected is np.dtype:
        if isinstance(value, Name) and value.text in DTYPES:
            return DTYPES[value.text]
    elif isinstance(expected, type):
        return _read_instance(value, expected, defined)
    raise NotOfType


def _read_instance(value: Any, expected: type[Any], defined: Definitions) -> Any:
    if expected in (Jaxpr, ClosedJaxpr):
        found = defined(value.text) if isinstance(value, Name) else value
        if isinstance(found, Jaxpr):
            if expected is Jaxpr:
                return found
            return ClosedJaxpr(found, tuple(UnknownConstant(v.aval) for v in found.constvars))
    elif isinstance(value, Name):
        if expected is str:
            return value.text
        if expected is Dim:
            return dimension(value.text)
        if issubclass(expected, Enum):
            for member in expected:
                if value.text == f"{expected.__name__}.{member.name}":
                    return member
    elif isinstance(value, Record):
        kinds = _record_fields(expected) if value.name == expected.__name__ else {}
        if kinds and set(value.fields) == set(kinds):
            record = cast("Callable[..., Any]", expected)
            read = {name: read_value(f, kinds[name], defined) for name, f in value.fields.items()}
            return record(**read)
    elif type(value) is expected:
        return value
    raise NotOfType


def _record_fields(cls: object) -> dict[str, Any]:
    """The types of the fields of a dataclass or NamedTuple; none for any other class."""
    is_record = dataclasses.is_dataclass(cls) or hasattr(cls, "_fields")
    return field_types(cast("type", cls)) if is_record else {}
