"""Operators, subscripts and properties that the user's own classes define.

Python calls their methods itself; under tracing these are converted as functions that are called.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

from s2s.frontend.dispatch import call, is_traced_inside, is_users_function
from s2s.trace import builder_in_force

_BINARY: dict[str, tuple[str, str, Callable[[Any, Any], Any]]] = {
    "+": ("__add__", "__radd__", operator.add),
    "-": ("__sub__", "__rsub__", operator.sub),
    "*": ("__mul__", "__rmul__", operator.mul),
    "@": ("__matmul__", "__rmatmul__", operator.matmul),
    "/": ("__truediv__", "__rtruediv__", operator.truediv),
    "//": ("__floordiv__", "__rfloordiv__", operator.floordiv),
    "%": ("__mod__", "__rmod__", operator.mod),
    "**": ("__pow__", "__rpow__", operator.pow),
    "<<": ("__lshift__", "__rlshift__", operator.lshift),
    ">>": ("__rshift__", "__rrshift__", operator.rshift),
    "|": ("__or__", "__ror__", operator.or_),
    "^": ("__xor__", "__rxor__", operator.xor),
    "&": ("__and__", "__rand__", operator.and_),
    "<": ("__lt__", "__gt__", operator.lt),
    "<=": ("__le__", "__ge__", operator.le),
    ">": ("__gt__", "__lt__", operator.gt),
    ">=": ("__ge__", "__le__", operator.ge),
    "==": ("__eq__", "__eq__", operator.eq),
    "!=": ("__ne__", "__ne__", operator.ne),
}
_UNARY: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "-": ("__neg__", operator.neg),
    "+": ("__pos__", operator.pos),
    "~": ("__invert__", operator.invert),
}
_METHODS = frozenset(
    {
        "__getitem__",
        *(method for method, _ in _UNARY.values()),
        *(name for left, right, _ in _BINARY.values() for name in (left, right)),
    }
)


@functools.cache
def _overloads(kind: type) -> bool:
    """Whether a class has an operator that the user wrote."""
    return any(is_users_function(getattr(kind, method, None)) for method in _METHODS)


def binary(symbol: str, x: Any, y: Any) -> Any:
    """`x + y`, `x < y` and the like."""
    left, right, native = _BINARY[symbol]
    if not (_overloads(type(x)) or _overloads(type(y))) or builder_in_force() is None:
        return native(x, y)
    candidates = [(left, x, y), (right, y, x)]
    if type(x) is type(y):
        candidates.pop()
    elif issubclass(type(y), type(x)) and getattr(type(x), right, None) is not getattr(
        type(y), right, None
    ):
        candidates.reverse()  # a subclass that overrides the reflected method goes first
    for method, owner, other in candidates:
        function = getattr(type(owner), method, None)
        if function is not None:
            result = call(function, owner, other)
            if result is not NotImplemented:
                return result
    return native(x, y)


def unary(symbol: str, x: Any) -> Any:
    """`-x`, `+x` or `~x`."""
    method, native = _UNARY[symbol]
    function = getattr(type(x), method, None)
    return call(function, x) if is_users_function(function) else native(x)


def item(container: Any, index: Any) -> Any:
    """`container[index]`."""
    function = getattr(type(container), "__getitem__", None)
    return call(function, container, index) if is_users_function(function) else container[index]


_NOT_COMPUTED = object()


def attribute(owner: Any, name: str) -> Any:
    """`owner.name`, which may be a property."""
    computed = _properties(type(owner), name)
    if computed is None or builder_in_force() is None:
        return getattr(owner, name)
    if isinstance(computed, property):
        return call(computed.fget, owner)
    kept = vars(owner)
    value = kept.get(name, _NOT_COMPUTED)
    if value is _NOT_COMPUTED:
        value = call(computed.func, owner)
        # A value that depends on the arguments of this trace is none for the next.
        if not is_traced_inside(value):
            kept[name] = value
    return value


@functools.cache
def _properties(kind: type, name: str) -> property | functools.cached_property[Any] | None:
    """The property of this name that the user wrote, if the class has one."""
    found = getattr(kind, name, None)
    if isinstance(found, property) and is_users_function(found.fget):
        return found
    if isinstance(found, functools.cached_property) and is_users_function(found.func):
        return found
    return None
