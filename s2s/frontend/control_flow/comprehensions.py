"""`[f(x) for x in xs]`, generators, and what sums them up."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, cast

from s2s.frontend.control_flow.branches import both, branch, tested
from s2s.frontend.control_flow.iteration import Items, items_of, mapped_items
from s2s.frontend.control_flow.loops import SHORT, for_loop
from s2s.frontend.control_flow.stacked import StackedList
from s2s.frontend.control_flow.state import MISSING, changing
from s2s.frontend.dispatch import iterated
from s2s.numpy.registry import mistake
from s2s.trace import Tracer, builder_in_force

Function = Callable[[Any], Any]


def comprehension(iterable: Any, function: Function, condition: Function | None = None) -> Any:
    """`[function(item) for item in iterable if condition(item)]`."""
    items = None if builder_in_force() is None else items_of(iterable)
    if items is None or not items.can_be_traced:
        if condition is None:
            return [function(item) for item in iterated(iterable)]
        return list(Filtered(iterable, function, condition))
    if condition is None and isinstance(items.length, int) and items.length <= SHORT:
        return [function(item) for item in items]
    outs: Any = []

    def append(item: Any) -> None:
        value = function(item)
        if isinstance(outs, list):
            changing(outs)
        cast("Any", outs).append(value)

    def body(item: Any) -> Any:
        if condition is None:
            return append(item)
        return branch(condition(item), lambda: append(item), None, None)

    for_loop(items, body, (), (), None, None)
    return outs


class Filtered:
    """`(function(item) for item in iterable if condition(item))`."""

    def __init__(self, iterable: Any, function: Function, condition: Function) -> None:
        self.iterable = iterable
        self.function = function
        self.condition = condition
        self._iterator: Iterator[Any] | None = None

    def _generated(self) -> Iterator[Any]:
        for item in iterated(self.iterable):
            test = tested(self.condition(item))
            if isinstance(test, Tracer):
                raise mistake(
                    "how many items this has depends on the values of the arguments. Sum them up "
                    "by sum(), or ask any() or all(); or let np.where(...) give an item that makes "
                    "no difference."
                )
            if test:
                yield self.function(item)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._iterator is None:
            self._iterator = self._generated()
        return next(self._iterator)


class Flattened:
    """`(... for item in iterable for ... in ...)`: the items of a generator for each item."""

    def __init__(self, iterable: Any, function: Function) -> None:
        self.iterable = iterable
        self.function = function
        self._iterator: Iterator[Any] | None = None

    def _generated(self) -> Iterator[Any]:
        for item in iterated(self.iterable):
            yield from self.function(item)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._iterator is None:
            self._iterator = self._generated()
        return next(self._iterator)


def generator(iterable: Any, function: Function, condition: Function | None = None) -> Any:
    """`(function(item) for item in iterable if condition(item))`."""
    if condition is not None:
        return Filtered(iterable, function, condition)
    if builder_in_force() is not None:
        items = mapped_items(iterable, function)
        if items is not None and items.can_be_traced:
            return items
    return _generated(iterable, function)


def _generated(iterable: Any, function: Function) -> Iterator[Any]:
    for item in iterated(iterable):
        yield function(item)


# -- what a sequence comes to ---------------------------------------------------------------------


def is_sequence(values: Any) -> bool:
    """Whether this is a sequence that loops of the jaxpr may run over."""
    return isinstance(values, (Items, StackedList, Tracer, Filtered, Flattened))


def for_each(values: Any, body: Callable[[Any], None], names: tuple[str, ...]) -> None:
    """`for value in values: body(value)`, of a body that does not jump."""
    if isinstance(values, Flattened):
        function = values.function

        def each(item: Any) -> None:
            for_each(function(item), body, names)

        for_loop(values.iterable, each, names, (), None, None)
    elif isinstance(values, Filtered):
        of_item, condition = values.function, values.condition

        def filtered(item: Any) -> Any:
            return branch(condition(item), lambda: body(of_item(item)), None, None)

        for_loop(values.iterable, filtered, names, (), None, None)
    else:
        for_loop(values, lambda item: body(item), names, (), None, None)


def total(values: Any, start: Any = 0) -> Any:
    """`sum(values, start)`."""
    total = start

    def body(item: Any) -> None:
        nonlocal total
        total = total + item

    for_each(values, body, ("total",))
    return total


def is_any(values: Any) -> Any:
    """`any(values)`."""
    found: Any = False

    def body(item: Any) -> None:
        nonlocal found
        found = tested(both("or", found, lambda: tested(item)))

    for_each(values, body, ("found",))
    return found


def are_all(values: Any) -> Any:
    """`all(values)`."""
    found: Any = True

    def body(item: Any) -> None:
        nonlocal found
        found = tested(both("and", found, lambda: tested(item)))

    for_each(values, body, ("found",))
    return found


def extreme(values: Any, choose: Callable[[Any, Any], Any], default: Any = MISSING) -> Any:
    """`max(values, default=...)` or `min(...)`, of which `choose` gives the one of two."""
    if not is_sequence(values):
        return functools.reduce(choose, values)
    items = items_of(values)
    if items is None or default is not MISSING:
        return _extreme_of_some(values, choose, default)
    extreme = items.at(0)

    def body(item: Any) -> None:
        nonlocal extreme
        extreme = choose(extreme, item)

    for_each(items.part(1), body, ("extreme",))
    return extreme


def _extreme_of_some(values: Any, choose: Callable[[Any, Any], Any], default: Any) -> Any:
    """The extreme of values of which there may be none."""
    if default is MISSING:
        raise mistake(
            "whether there are any items depends on the values of the arguments. Say what max() or "
            "min() is of none: max(..., default=0.0)."
        )
    extreme, found = default, False

    def first(item: Any) -> None:
        nonlocal extreme, found
        extreme, found = item, True

    def later(item: Any) -> None:
        nonlocal extreme
        extreme = choose(extreme, item)

    def body(item: Any) -> None:
        branch(found, lambda: later(item), lambda: first(item), None)

    for_each(values, body, ("extreme", "found"))
    return extreme
