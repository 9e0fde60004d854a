"""What a traced function leaves behind outside of itself, which the generated one would not.

A value that is traced must not outlive the trace. Where one is stored, hooks tell the watch in
force; if after the trace it is still alive, then what it was stored in is outside of the function.
In the same way for objects and arrays that were changed.
"""

from __future__ import annotations

import contextlib
import gc
import sys
import weakref
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from types import FunctionType, ModuleType
from typing import Any, cast

import numpy as np

from s2s.errors import KeptOutside, UserError
from s2s.ir.jaxpr import Source
from s2s.trace import Builder, Tracer, builder_in_force


@dataclass
class Watch:
    """What was stored and changed during one trace."""

    builder: Builder | None = None
    _seen: list[tuple[weakref.ref[Any], str, Source | None]] = field(default_factory=list[Any])
    _held: list[tuple[Any, str, Source | None]] = field(default_factory=list[Any])

    def note(self, target: Any, message: str) -> None:
        """Complain after the trace, with the line in force now, if `target` still exists."""
        try:
            reference = weakref.ref(target)
        except TypeError:  # a list, dict or set
            self._held.append((target, message, _line()))
            return
        self._seen.append((reference, message, _line()))

    def check(self) -> None:
        """Raise UserError about the first thing noted that outlives the trace."""
        # These first: the values in them would be taken for kept.
        for watch in _watches:
            watch.forget_what_is_gone()
        if self._held:
            gc.collect()
            self.forget_what_is_gone()
        if self._held:
            _, message, source = self._held[0]
            raise KeptOutside(message, source)
        if any(reference() is not None for reference, _, _ in self._seen):
            # It may be in a cycle that nobody refers to, such as a function that calls itself.
            gc.collect()
        for reference, message, source in self._seen:
            if reference() is not None:
                raise KeptOutside(message, source)

    def forget_what_is_gone(self) -> None:
        """Let go of the lists, dicts and sets that nothing but the watches in force knows."""
        before = -1
        while before != len(self._held):
            before = len(self._held)
            # What is in one that nothing else knows may be known by that one only.
            self._held = [entry for entry in self._held if _is_known_otherwise(entry)]

    def held(self) -> Iterator[Any]:
        """The lists, dicts and sets to which the watch itself refers."""
        return (target for target, _, _ in self._held)


def _is_known_otherwise(entry: tuple[Any, str, Source | None]) -> bool:
    own = sum(target is entry[0] for target in held())
    return sys.getrefcount(entry[0]) > own + 1  # its own argument


_watches: list[Watch] = []


def held() -> Iterator[Any]:
    """The lists, dicts and sets to which the watches in force refer."""
    return (target for watch in _watches for target in watch.held())


@contextlib.contextmanager
def watching(watch: Watch) -> Generator[None]:
    """Put a watch in force for the duration of a `with` block."""
    _watches.append(watch)
    try:
        yield
    finally:
        _watches.pop()


def stored(value: Any, where: str) -> None:
    """Note that a value was stored: `where` is `the attribute `w``, `a list`."""
    if not _watches:
        return
    for tracer in traced_values(value):
        for watch in _watches:
            if watch.builder is tracer.builder:
                watch.note(tracer, _outlives(where))


def changed(target: Any, what: str) -> None:
    """Note that an object or array was changed to something that is not traced.

    Of a view, the array whose elements it has was changed.
    """
    if _watches:
        _watches[0].note(owner_of(target), _changes(what))


def owner_of(target: Any) -> Any:
    """The array that a view shares its elements with; anything else itself."""
    while isinstance(target, np.ndarray) and isinstance(target.base, np.ndarray):
        target = target.base
    return cast("Any", target)


def refuse_change(value: Any, what: str) -> None:
    """Raise UserError about a variable outside of the function that it changes."""
    is_traced = next(traced_values(value), None) is not None
    raise UserError(_outlives(what) if is_traced else _changes(what), _line())


def _outlives(where: str) -> str:
    return (
        f"a value that depends on the arguments is kept in {where}, which outlives the call; the "
        "generated function would not do that. Return the value instead."
    )


def _changes(what: str) -> str:
    return (
        f"the function changes {what}, which outlives the call; the generated function would not "
        "do that. Pass it in as an argument, and return its new value."
    )


def _line() -> Source | None:
    builder = builder_in_force()
    return None if builder is None else builder.source


def traced_values(value: Any) -> Iterator[Tracer]:
    """The traced values in containers and objects, one in another."""
    seen: set[int] = set()

    def visit(part: Any) -> Iterator[Tracer]:
        if isinstance(part, Tracer):
            yield part
            return
        if id(part) in seen:
            return
        seen.add(id(part))
        items: Iterable[Any] = ()
        if isinstance(part, (list, tuple, set, frozenset)):
            items = cast("Iterable[Any]", part)
        elif isinstance(part, dict):
            items = cast("dict[Any, Any]", part).values()
        elif hasattr(part, "__dict__") and not isinstance(part, _NOT_CONTAINERS):
            attributes: dict[str, Any] = part.__dict__
            items = attributes.values()
        for item in items:
            yield from visit(item)

    return visit(value)


_NOT_CONTAINERS = (type, ModuleType, FunctionType)
