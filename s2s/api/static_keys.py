"""Keys of static arguments: equal for values with which a function is traced to the same jaxpr.

An argument that is not traced is fixed in what was compiled for it, so a list, an array or an
object of the user's that was changed since the last call must have another key, and 1, 1.0 and True
are not the same argument, nor 0.0 and -0.0.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Hashable
from functools import partial
from types import FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any, cast

import numpy as np

from s2s.errors import UserError

_AS_THEY_ARE = (FunctionType, ModuleType, type)
"""What stands for itself: what a function reads besides its arguments is read when it is traced."""

_SMALL = 1024
"""Bytes of an array that are kept; of a larger one, a hash."""


def static_key(value: Any) -> Hashable:
    """The key of a static argument.

    Raises:
        UserError: for a value that can be changed, and of which it is not known how it was.
    """
    return _key(value, ())


def _key(value: Any, around: tuple[int, ...]) -> Hashable:
    kind = cast("Any", type(value))
    if kind in (int, bool, str, bytes, type(None)) or isinstance(value, _AS_THEY_ARE):
        return kind, value
    if kind is float:
        return kind, value.hex()
    if kind is complex:
        return kind, value.real.hex(), value.imag.hex()
    if id(value) in around:
        return "around", around.index(id(value))
    around = (*around, id(value))
    if kind in (tuple, list):
        return kind, *[_key(part, around) for part in value]
    if kind is dict:
        items = cast("dict[Any, Any]", value).items()
        return kind, *[(_key(key, around), _key(part, around)) for key, part in items]
    if kind in (set, frozenset):
        return kind, frozenset(_key(part, around) for part in value)
    if isinstance(value, (np.ndarray, np.generic)):
        return kind, *_array_key(np.asarray(cast("Any", value)), around)
    if kind is MethodType:
        return kind, value.__func__, _key(value.__self__, around)
    if kind is partial:
        return kind, *[_key(part, around) for part in (value.func, value.args, value.keywords)]
    is_own = kind.__module__.partition(".")[0] in ("s2s", "s2s_codegen")
    if not is_own and (kind.__hash__ is object.__hash__ or kind.__hash__ is None):
        attributes = _attributes(value, kind)
        if attributes is not None:
            return kind, _key(attributes, around)
    try:
        hash(value)
    except (TypeError, ValueError):  # of a memoryview
        raise UserError(
            f"a value of type {kind.__name__} cannot be a static argument: it may change without "
            "notice, and cannot be hashed. Pass the numbers and arrays that are needed of it."
        ) from None
    return kind, value


def _attributes(value: Any, kind: Any) -> dict[str, Any] | None:
    """The attributes of an object whose hash does not speak for them; None if it has none."""
    found: dict[str, Any] = {}
    has_any = hasattr(value, "__dict__")
    for base in cast("tuple[type, ...]", kind.__mro__):
        for name, member in vars(base).items():
            if type(member) is MemberDescriptorType:
                has_any = True
                with contextlib.suppress(AttributeError):  # not assigned
                    found[name] = member.__get__(value)
    return {**found, **getattr(value, "__dict__", {})} if has_any else None


def _array_key(array: Any, around: tuple[int, ...]) -> tuple[Hashable, ...]:
    if array.dtype.hasobject:
        return "objects", array.shape, _key(array.ravel().tolist(), around)
    data = array.tobytes()
    content = data if len(data) <= _SMALL else hashlib.sha256(data).digest()
    return array.dtype.str, array.shape, content
