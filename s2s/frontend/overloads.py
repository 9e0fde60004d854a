"""Operators, subscripts and properties that the user's own classes define.

Python calls their methods itself; under tracing these are converted as functions that are called.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from s2s.frontend.control_flow.at_values import chosen, is_index, repeated
from s2s.frontend.control_flow.perhaps_none import given
from s2s.frontend.dispatch import call, is_traced_inside
from s2s.frontend.own_arrays import made
from s2s.frontend.users_functions import is_users_function, users_method
from s2s.ir.dims import Dim
from s2s.numpy.indexing import getitem
from s2s.numpy.registry import mistake
from s2s.trace import builder_in_force

_ARITHMETIC = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "@": "matmul",
    "/": "truediv",
    "//": "floordiv",
    "%": "mod",
    "**": "pow",
    "<<": "lshift",
    ">>": "rshift",
    "|": "or",
    "^": "xor",
    "&": "and",
}
_COMPARED = {
    "<": ("lt", "gt"),
    "<=": ("le", "ge"),
    ">": ("gt", "lt"),
    ">=": ("ge", "le"),
    "==": ("eq", "eq"),
    "!=": ("ne", "ne"),
}
_SIGNS = {"-": "neg", "+": "pos", "~": "invert"}

_METHODS: dict[str, tuple[str, str]] = {
    **{symbol: (f"__{name}__", f"__r{name}__") for symbol, name in _ARITHMETIC.items()},
    **{symbol: (f"__{x}__", f"__{y}__") for symbol, (x, y) in _COMPARED.items()},
}
"""The methods of the left and of the right operand that Python asks for a result."""

Binary = Callable[[Any, Any], Any]
OPERATORS: dict[str, Binary] = {
    symbol: getattr(operator, f"__{name}__") for symbol, name in _ARITHMETIC.items()
}
COMPARISONS: dict[str, Binary] = {
    symbol: getattr(operator, name) for symbol, (name, _) in _COMPARED.items()
}
UNARY: dict[str, Callable[[Any], Any]] = {
    symbol: getattr(operator, name) for symbol, name in _SIGNS.items()
}
_BINARY = {**OPERATORS, **COMPARISONS}
_IN_PLACE: dict[str, Binary] = {
    symbol: getattr(operator, f"__i{name}__") for symbol, name in _ARITHMETIC.items()
}


@functools.cache
def overloads(kind: type[Any]) -> bool:
    """Whether a class has an operator that the user wrote."""
    methods = {method for pair in _METHODS.values() for method in pair}
    return any(is_users_function(getattr(kind, method, None)) for method in methods)


def binary(symbol: str, x: Any, y: Any) -> Any:
    """`x + y`, `x < y` and the like."""
    x, y = given(x), given(y)
    kind, other_kind = x.__class__, y.__class__
    if kind is str and symbol == "%" and is_traced_inside(y):
        raise mistake("`%` with a value that depends on the arguments. Write an f-string.")
    if symbol == "*" and (kind is list or other_kind is list):
        items, count = (x, y) if kind is list else (y, x)
        if is_index(count) or isinstance(count, Dim):
            return repeated(items, count)
    if not (overloads(kind) or overloads(other_kind)) or builder_in_force() is None:
        result = _BINARY[symbol](x, y)
        return made(result, (x, y)) if isinstance(result, np.ndarray) else result
    left, right = _METHODS[symbol]
    reflected = getattr(other_kind, right, None)
    candidates = [(getattr(kind, left, None), x, y), (reflected, y, x)]
    if kind is other_kind and symbol in OPERATORS:
        candidates.pop()
    elif issubclass(other_kind, kind) and reflected is not getattr(kind, right, None):
        candidates.reverse()  # a subclass that overrides the reflected method goes first
    for method, owner, other in candidates:
        if method is not None:
            result = call(method, owner, other)
            if result is not NotImplemented:
                return result
    return _BINARY[symbol](x, y)


def in_place(symbol: str, x: Any, y: Any) -> Any:
    """`x += y` and the like, for the symbol `+`."""
    method = users_method(x.__class__, f"__i{_ARITHMETIC[symbol]}__")
    if method is not None:
        result = call(method, x, y)
        return binary(symbol, x, y) if result is NotImplemented else result
    if overloads(x.__class__) or overloads(y.__class__):
        return binary(symbol, x, y)
    return _IN_PLACE[symbol](x, y)


def unary(symbol: str, x: Any) -> Any:
    """`-x`, `+x` or `~x`."""
    x = given(x)
    method = users_method(x.__class__, f"__{_SIGNS[symbol]}__")
    return made(UNARY[symbol](x), (x,)) if method is None else call(method, x)


def _is_array(value: object) -> bool:
    return isinstance(value, np.ndarray)


def item(container: Any, index: Any) -> Any:
    """`container[index]`."""
    container, index = given(container), given(index)
    if _is_array(container) and is_traced_inside(index):
        return getitem(container, index)
    if is_index(index):
        if isinstance(container, (list, tuple)):
            return chosen(cast("Sequence[Any]", container), index)
        if isinstance(container, dict):
            raise mistake(
                "which entry of the dict this is depends on the values of the arguments. Write "
                "`if key == ...: ... elif key == ...: ...`, or use a list of numbers."
            )
    method = users_method(container.__class__, "__getitem__")
    if method is not None:
        return call(method, container, index)
    result = container[index]
    return made(result, ()) if _is_array(container) and _is_array(result) else result


_NOT_COMPUTED = object()


def attribute(owner: Any, name: str) -> Any:
    """`owner.name`, which may be a property."""
    owner = given(owner)
    computed = _properties(owner.__class__, name)
    if builder_in_force() is None:
        return getattr(owner, name)
    if computed is None:
        missing = users_method(owner.__class__, "__getattr__")
        if missing is None:
            return getattr(owner, name)
        try:
            return object.__getattribute__(owner, name)
        except AttributeError:
            return call(missing, owner, name)
    if isinstance(computed, property):
        return call(computed.fget, owner)
    kept: dict[str, Any] = owner.__dict__
    value = kept.get(name, _NOT_COMPUTED)
    if value is _NOT_COMPUTED:
        value = call(computed.func, owner)
        # A value that depends on the arguments of this trace is none for the next.
        if not is_traced_inside(value):
            kept[name] = value
    return value


@functools.cache
def _properties(kind: type[Any], name: str) -> property | functools.cached_property[Any] | None:
    """The property of this name that the user wrote, if the class has one."""
    found: Any = getattr(kind, name, None)
    if isinstance(found, property) and is_users_function(found.fget):
        return found
    if isinstance(found, functools.cached_property):
        cached = cast("functools.cached_property[Any]", found)
        return cached if is_users_function(cached.func) else None
    return None


def set_by_method(owner: Any, name: str, value: Any) -> bool:
    """`owner.name = value` by a method of the user's: whether there is one."""
    found = _properties(owner.__class__, name)
    if isinstance(found, property):
        call(found.fset, owner, value)
        return True
    method = users_method(owner.__class__, "__setattr__")
    if method is not None:
        call(method, owner, name, value)
    return method is not None
