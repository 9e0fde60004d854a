"""Comparisons: of numbers and arrays, of sequences item by item, of objects; `in` and its like."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import numpy as np

from s2s.frontend.control_flow.branches import any_of, both, is_counted, negation, tested
from s2s.frontend.dispatch import call, is_traced_inside, iterated
from s2s.frontend.overloads import binary
from s2s.frontend.users_functions import users_method
from s2s.ir.dims import Dim
from s2s.numpy.registry import COUNTERPARTS
from s2s.primitives.creation import dim_as_value
from s2s.trace import Tracer

_SEQUENCES = (tuple, list)


def compare(symbol: str, x: Any, y: Any) -> Any:
    """`x < y`, `x == y`, `x in y` and the like."""
    if symbol in ("in", "not in"):
        found = contains(y, x)
        return found if symbol == "in" else negation(found)
    if is_counted(x) or is_counted(y):
        # How many steps a loop makes, nobody knows before.
        x, y = (dim_as_value(size) if isinstance(size, Dim) else size for size in (x, y))
    kind: Any = x.__class__
    if kind is y.__class__ and kind not in _PLAIN:
        if kind in _SEQUENCES and (is_traced_inside(x) or is_traced_inside(y)):
            return _compare_items(symbol, x, y)
        fields = _fields_compared(kind, symbol)
        if fields is not None:
            return _compare_items(symbol, *[[getattr(v, name) for name in fields] for v in (x, y)])
    if symbol == "!=" and users_method(kind, "__eq__") and _is_default(kind, "__ne__"):
        return negation(compare("==", x, y))
    return binary(symbol, x, y)


def _is_default(kind: Any, name: str) -> bool:
    return getattr(kind, name) is getattr(object, name)


_PLAIN = frozenset({int, float, bool, str})


@functools.cache
def _fields_compared(kind: type[Any], symbol: str) -> tuple[str, ...] | None:
    """The fields by which a dataclass compares its objects, if it made the operator itself."""
    parameters: Any = getattr(kind, "__dataclass_params__", None)
    if parameters is None or not (parameters.eq if symbol in ("==", "!=") else parameters.order):
        return None
    if users_method(kind, "__eq__" if symbol == "!=" else _METHODS[symbol]):
        return None
    fields: dict[str, Any] = kind.__dataclass_fields__
    return tuple(name for name, field in fields.items() if field.compare)


_METHODS = {"==": "__eq__", "<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}


def _compare_items(symbol: str, xs: Sequence[Any], ys: Sequence[Any]) -> Any:
    """Sequences are compared by the first items that differ; then by their lengths."""
    if symbol in ("==", "!="):
        if len(xs) != len(ys):
            return symbol == "!="
        differ = any_of([negation(is_equal(x, y)) for x, y in zip(xs, ys, strict=True)])
        return differ if symbol == "!=" else negation(differ)
    if not xs or not ys:
        return binary(symbol, len(xs), len(ys))
    # The first items decide, but if they are equal, for which `<` and `<=` do not.
    strictly = compare(symbol.removesuffix("="), xs[0], ys[0])
    return both(
        "or",
        tested(strictly),
        lambda: both(
            "and", tested(is_equal(xs[0], ys[0])), lambda: _compare_items(symbol, xs[1:], ys[1:])
        ),
    )


def is_equal(x: Any, y: Any) -> Any:
    """Whether two items of containers are equal, of which Python compares the identities first."""
    return True if x is y else tested(compare("==", x, y))


def contains(container: Any, item: Any) -> Any:
    """`item in container`."""
    method = users_method(container.__class__, "__contains__")
    if method is not None:
        return tested(call(method, container, item))
    if isinstance(container, Tracer):
        return tested(COUNTERPARTS[np.any](cast("Any", container) == item))
    items: Iterable[Any] = iterated(container)
    if items is container and not is_traced_inside(item) and not is_traced_inside(container):
        return item in items
    return any_of([is_equal(x, item) for x in items])


def chain(symbols: Sequence[str], first: Any, second: Any, *others: Callable[[], Any]) -> Any:
    """`first < second < ...`."""
    found = compare(symbols[0], first, second)
    if not others:
        return found
    return both("and", found, lambda: chain(symbols[1:], second, others[0](), *others[1:]))
