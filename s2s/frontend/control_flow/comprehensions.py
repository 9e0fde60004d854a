"""`[f(x) for x in xs]`, generators, and `sum`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

from s2s.frontend.control_flow.iteration import items_of, mapped_items
from s2s.frontend.control_flow.loops import SHORT, for_loop
from s2s.frontend.control_flow.state import changing
from s2s.trace import builder_in_force


def comprehension(iterable: Any, function: Callable[[Any], Any]) -> Any:
    """`[function(item) for item in iterable]`."""
    items = None if builder_in_force() is None else items_of(iterable)
    if items is None or not items.can_be_traced:
        return [function(item) for item in iterable]
    if isinstance(items.length, int) and items.length <= SHORT:
        return [function(item) for item in items]
    outs: Any = []

    def body(item: Any) -> None:
        value = function(item)
        if isinstance(outs, list):
            changing(outs)
        cast("Any", outs).append(value)

    for_loop(items, body, (), None, None)
    return outs


def generator(iterable: Any, function: Callable[[Any], Any]) -> Any:
    """`(function(item) for item in iterable)`."""
    if builder_in_force() is not None:
        items = mapped_items(iterable, function)
        if items is not None and items.can_be_traced:
            return items
    return _generated(iterable, function)


def _generated(iterable: Any, function: Callable[[Any], Any]) -> Iterator[Any]:
    for item in iterable:
        yield function(item)


def total(values: Any, start: Any = 0) -> Any:
    """`sum(values, start)`."""
    found = start

    def body(item: Any) -> None:
        nonlocal found
        found = found + item

    for_loop(values, body, ("found",), None, None)
    return found
