"""Which lists, dicts and objects are one and the same, where branches and loops make new ones.

    r = p if x > 0 else q
    r[0] = 1.0                  # of p, or of q: refused, since r is a third list under tracing

What a branch or a loop gives is made anew from its numbers. That is not seen unless a container is
changed in place that is also known by another name.
"""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Generator, Iterator
from typing import Any, cast

from s2s.numpy.registry import mistake

_pairs: list[tuple[Any, Any]] = []
"""Containers of which the user may have one where there are two."""


@contextlib.contextmanager
def pairs_of_a_trace() -> Generator[None]:
    """What is found in a `with` block is forgotten at its end."""
    mark = len(_pairs)
    try:
        yield
    finally:
        del _pairs[mark:]


class Copies:
    """What was made of the same containers."""

    def __init__(self) -> None:
        self._made: dict[int, list[Any]] = {}

    def add(self, made: Any, original: Any) -> None:
        """`made` stands for `original`, and the containers in it for those in that."""
        if made is original:
            return
        if is_container(original):
            others = self._made.setdefault(id(original), [original])
            _pairs.extend((made, other) for other in others if other is not made)
            others.append(made)
        for child, old in zip(_children(made), _children(original), strict=False):
            self.add(child, old)


def is_container(value: object) -> bool:
    """Whether a value is a container that can be changed in place."""
    return isinstance(value, (list, dict)) or hasattr(type(value), "__dataclass_fields__")


def containers_in(value: Any) -> Iterator[Any]:
    """The containers that can be changed in place among a value and what is in it."""
    if is_container(value):
        yield value
    for child in _children(value):
        yield from containers_in(child)


def _children(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return list(cast("list[Any]", value))
    if isinstance(value, dict):
        return list(cast("dict[Any, Any]", value).values())
    fields = getattr(type(cast("object", value)), "__dataclass_fields__", ())
    return [getattr(value, name, None) for name in fields]


def refuse_if_known_otherwise(owner: Any, held: Iterator[Any]) -> None:
    """Before a container is changed: raise UserError if the user may know it by another name, under
    which it would not change. `held` are the objects to which recordings refer."""
    others = [pair[pair[0] is owner] for pair in _pairs if pair[0] is owner or pair[1] is owner]
    if not others:
        return
    internal = [id(value) for value in held]
    del held
    while others:
        if _is_in_use(others.pop(), internal):
            raise mistake(
                f"this changes a {type(owner).__name__} that may be another one too, depending on "
                "the values of the arguments; that would change with it. Work on a copy."
            )


def _is_in_use(container: Any, internal: list[int]) -> bool:
    known = [id(value) for pair in _pairs for value in pair]
    own = internal.count(id(container)) + known.count(id(container))
    # The argument here, and that of `getrefcount`.
    if sys.getrefcount(container) > own + 2:
        gc.collect()  # It may be in a cycle that nobody refers to.
    return sys.getrefcount(container) > own + 2
