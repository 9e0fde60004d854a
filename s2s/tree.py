"""Nested containers of leaves: dicts, lists, tuples, NamedTuples, dataclasses and None.

    flatten({"w": 1, "b": (2, None)})  ->  [1, 2], {"w": *, "b": (*, None)}

Dicts keep the order in which their keys were inserted, so that results read as the user wrote
them. Anything that is not one of these containers is a leaf.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast


@dataclass(frozen=True)
class TreeDef:
    """The structure of a container.

    `keys` are the dict keys, field names or indices of the children.
    """

    kind: type[Any] | None
    """The class of the container; None for a leaf; NoneType for None, which has no leaves."""
    keys: tuple[Hashable, ...] = ()
    children: tuple[TreeDef, ...] = ()

    @property
    def num_leaves(self) -> int:
        return 1 if self.kind is None else sum(child.num_leaves for child in self.children)

    def __str__(self) -> str:
        if self.kind is None:
            return "*"
        if self.kind is type(None):
            return "None"
        if issubclass(self.kind, dict):
            items = zip(self.keys, self.children, strict=True)
            return "{" + ", ".join(f"{key!r}: {child}" for key, child in items) + "}"
        inside = ", ".join(map(str, self.children))
        if self.kind is list:
            return f"[{inside}]"
        if self.kind is tuple:
            return f"({inside},)" if len(self.children) == 1 else f"({inside})"
        items = zip(self.keys, self.children, strict=True)
        return f"{self.kind.__name__}({', '.join(f'{key}={child}' for key, child in items)})"


LEAF = TreeDef(None)


def is_namedtuple(value: Any) -> bool:
    """Whether a value is an instance of a NamedTuple class."""
    return isinstance(value, tuple) and hasattr(cast("Any", value), "_fields")


def _children(value: Any) -> tuple[tuple[Hashable, ...], tuple[Any, ...]] | None:
    if value is None:
        return (), ()
    if isinstance(value, dict):
        items = cast("dict[Hashable, Any]", value)
        return tuple(items.keys()), tuple(items.values())
    if is_namedtuple(value):
        return tuple(value._fields), tuple(value)
    if type(value) in (list, tuple):
        return tuple(range(len(value))), tuple(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = tuple(field.name for field in dataclasses.fields(value))
        return names, tuple(getattr(value, name) for name in names)
    return None


def flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], TreeDef]:
    """The leaves of `tree` from left to right, and its structure."""
    leaves: list[Any] = []
    return leaves, _flatten(tree, is_leaf, leaves)


def _flatten(node: Any, is_leaf: Callable[[Any], bool] | None, leaves: list[Any]) -> TreeDef:
    # Not a function inside of the other: that would be a cycle that keeps the leaves.
    found = None if is_leaf is not None and is_leaf(node) else _children(node)
    if found is None:
        leaves.append(node)
        return LEAF
    keys, children = found
    kind = cast("type[Any]", type(node))
    return TreeDef(kind, keys, tuple(_flatten(child, is_leaf, leaves) for child in children))


def unflatten(structure: TreeDef, leaves: Sequence[Any]) -> Any:
    """The container of the given structure with the given leaves. ValueError if they do not fit."""
    if len(leaves) != structure.num_leaves:
        raise ValueError(f"{structure} has {structure.num_leaves} leaves, not {len(leaves)}")
    return _unflatten(structure, iter(leaves))


def _unflatten(node: TreeDef, remaining: Iterator[Any]) -> Any:
    if node.kind is None:
        return next(remaining)
    if node.kind is type(None):
        return None
    return build_node(node, [_unflatten(child, remaining) for child in node.children])


def build_node(node: TreeDef, children: Sequence[Any]) -> Any:
    """A container of one level from its children."""
    assert node.kind is not None
    construct = cast("Callable[..., Any]", node.kind)
    if issubclass(node.kind, dict):
        result = construct()
        result.update(zip(node.keys, children, strict=True))
        return result
    if node.kind in (list, tuple):
        return construct(children)
    if issubclass(node.kind, tuple):
        return construct(*children)
    # Not through __init__, which may compute or check on values that are placeholders here.
    result = object.__new__(node.kind)
    for key, child in zip(node.keys, children, strict=True):
        object.__setattr__(result, str(key), child)
    return result


def flatten_up_to(structure: TreeDef, tree: Any) -> list[Any]:
    """The parts of `tree` at the leaves of `structure`, which must be a prefix of it.

    Dict entries are found by key, whatever their order. Raises ValueError on a mismatch.
    """
    parts: list[Any] = []

    def visit(node: TreeDef, value: Any) -> None:
        if node.kind is None:
            parts.append(value)
            return
        found = _children(value)
        if found is None or type(value) is not node.kind or len(found[0]) != len(node.keys):
            raise ValueError(f"expected {node}, found {value!r}")
        by_key = dict(zip(*found, strict=True))
        for key, child in zip(node.keys, node.children, strict=True):
            if key not in by_key:
                raise ValueError(f"expected {node}, found {value!r}")
            visit(child, by_key[key])

    visit(structure, tree)
    return parts


def tree_map(
    fun: Callable[..., Any], tree: Any, *rest: Any, is_leaf: Callable[[Any], bool] | None = None
) -> Any:
    """Apply `fun` to each leaf of `tree`, with the parts of the other trees at the same place."""
    leaves, structure = flatten(tree, is_leaf)
    others = [flatten_up_to(structure, other) for other in rest]
    return unflatten(structure, [fun(*parts) for parts in zip(leaves, *others, strict=True)])


def leaf_paths(structure: TreeDef) -> list[tuple[Hashable, ...]]:
    """For each leaf, the keys, field names and indices that lead to it."""
    paths: list[tuple[Hashable, ...]] = []

    def visit(node: TreeDef, path: tuple[Hashable, ...]) -> None:
        if node.kind is None:
            paths.append(path)
            return
        for key, child in zip(node.keys, node.children, strict=True):
            visit(child, (*path, key))

    visit(structure, ())
    return paths
