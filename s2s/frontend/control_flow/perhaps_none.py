"""What branches and loops make of None and a value: a value, and whether it is None instead.

best = None                             best_is_none, best = True, 0.0
for v in x:                             for v in x:
    if best is None or v < best:            if best_is_none or v < best:
        best = v                                best_is_none, best = False, v
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from s2s.frontend.control_flow.facts import known, suppose
from s2s.frontend.control_flow.leaves import ABSENT, is_numeric
from s2s.trace import Tracer
from s2s.tree import LEAF, TreeDef, build_node, flatten, unflatten


@dataclass(frozen=True, eq=False)
class PerhapsNone:
    """None where `is_none` holds, and else the value."""

    is_none: Any
    value: Any


def name_of_flag(name: str) -> str:
    """What to call the truth value that says whether a variable is None."""
    return f"no_{name}"


def simplified(value: Any) -> Any:
    """A value; None or what it is else, if that is known where this is asked."""
    if not isinstance(value, PerhapsNone):
        return value
    is_none = known(value.is_none)
    if isinstance(is_none, bool):
        return None if is_none else value.value
    return value


def is_none(value: Any) -> Any:
    """Whether a value is None: a bool, or a traced truth value."""
    value = simplified(value)
    return value.is_none if isinstance(value, PerhapsNone) else value is None


def given(value: Any) -> Any:
    """A value that is used, which must not be None: the generated function checks that."""
    value = simplified(value)
    if not isinstance(value, PerhapsNone):
        return value
    from s2s.frontend.control_flow.branches import refuse_none

    found = value.value.variable.name if isinstance(value.value, Tracer) else None
    refuse_none(value.is_none, "this value" if found is None else f"`{found}`")
    suppose(value.is_none, False)
    return value.value


def all_given(value: Any) -> Any:
    """A value, or a list or tuple of values, none of which may be None if it is perhaps."""
    if type(value) in (list, tuple) and any(isinstance(item, PerhapsNone) for item in value):
        return type(value)(map(given, value))
    return given(value)


def alike(values: Sequence[Any]) -> list[Any]:
    """The values of branches, as ones that are perhaps None where some have None and others not."""
    if all(value is values[0] for value in values):
        return [*values]
    if any(value is None or isinstance(value, PerhapsNone) for value in values):
        if all(value is None for value in values):
            return [*values]
        inner = [v.value if isinstance(v, PerhapsNone) else v for v in values]
        present = alike([value for value in inner if value is not None])
        parts = iter(present)
        absent = _absent_like(present[0])
        flags = [v.is_none if isinstance(v, PerhapsNone) else v is None for v in values]
        return [
            PerhapsNone(flag, absent if value is None else next(parts))
            for flag, value in zip(flags, inner, strict=True)
        ]
    levels = [_level(value) for value in values]
    node = levels[0][1]
    if node == LEAF or any((n.kind, n.keys) != (node.kind, node.keys) for _, n in levels[1:]):
        return [*values]
    columns = zip(*[children for children, _ in levels], strict=True)
    rows = [*zip(*map(alike, columns), strict=True)] or [()] * len(values)
    return [
        value if all(map(_is, row, children)) else build_node(own, row)
        for value, row, (children, own) in zip(values, rows, levels, strict=True)
    ]


def _level(value: Any) -> tuple[list[Any], TreeDef]:
    """What is in a container itself."""
    return flatten(value, lambda node: node is not value)


def _is(a: object, b: object) -> bool:
    return a is b


def _absent_like(value: Any) -> Any:
    """What stands where there is none: nothing in place of each number."""
    leaves, structure = flatten(value)
    return unflatten(structure, [ABSENT if is_numeric(leaf) else leaf for leaf in leaves])
