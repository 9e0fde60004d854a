"""Containers of leaves: what is taken apart is put together again, in the order it was written."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, strategies as st

from s2s.tree import (
    LEAF,
    TreeDef,
    flatten,
    flatten_up_to,
    is_namedtuple,
    leaf_paths,
    tree_map,
    unflatten,
)


class Point(NamedTuple):
    x: Any
    y: Any


@dataclass
class Layer:
    weight: Any
    bias: Any = None


@dataclass(frozen=True, slots=True)
class Checked:
    """A dataclass that refuses what is not a number."""

    value: Any

    def __post_init__(self) -> None:
        if not isinstance(self.value, int):
            raise TypeError("not a number")


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.sampled_from(["b", "a", 1, (2, 3)]), inner, max_size=3),
        st.builds(Point, inner, inner),
        st.builds(Layer, inner, inner),
    )


trees = st.recursive(st.integers() | st.none(), containers, max_leaves=8)


def same(a: Any, b: Any) -> bool:
    """Equal, with the same classes, and dicts in the same order."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(map(same, a.values(), b.values()))
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if dataclasses.is_dataclass(a):
        return same(vars(a), vars(b))
    return a == b


@given(trees)
def test_unflatten_is_the_inverse_of_flatten(tree: Any) -> None:
    leaves, structure = flatten(tree)
    assert structure.num_leaves == len(leaves)
    assert same(unflatten(structure, leaves), tree)
    assert flatten(unflatten(structure, leaves)) == (leaves, structure)
    assert all(type(leaf) is int for leaf in leaves)


@given(trees)
def test_paths_lead_to_the_leaves(tree: Any) -> None:
    leaves, structure = flatten(tree)

    def follow(path: tuple[Any, ...]) -> Any:
        node = tree
        for key in path:
            by_name = dataclasses.is_dataclass(node) or is_namedtuple(node)
            node = getattr(node, key) if by_name else node[key]
        return node

    assert [follow(path) for path in leaf_paths(structure)] == leaves


@given(trees)
def test_a_structure_is_a_prefix_of_what_has_it(tree: Any) -> None:
    leaves, structure = flatten(tree)
    assert flatten_up_to(structure, tree) == leaves
    deeper = tree_map(lambda leaf: [leaf, leaf], tree)
    assert flatten_up_to(structure, deeper) == [[leaf, leaf] for leaf in leaves]
    assert flatten_up_to(LEAF, tree) == [tree]


@given(trees)
def test_map_keeps_the_structure(tree: Any) -> None:
    doubled = tree_map(lambda leaf: 2 * leaf, tree)
    assert flatten(doubled)[0] == [2 * leaf for leaf in flatten(tree)[0]]
    assert flatten(doubled)[1] == flatten(tree)[1]
    assert same(tree_map(lambda a, b: b - a, tree, doubled), tree)


def test_the_order_is_the_user_s() -> None:
    tree = {"w": 1, "b": (2, None), "a": Layer(3, {"z": 4})}
    leaves, structure = flatten(tree)
    assert leaves == [1, 2, 3, 4]
    assert str(structure) == "{'w': *, 'b': (*, None), 'a': Layer(weight=*, bias={'z': *})}"
    assert leaf_paths(structure) == [("w",), ("b", 0), ("a", "weight"), ("a", "bias", "z")]


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (1, "*"),
        (None, "None"),
        ((), "()"),
        ((1,), "(*,)"),
        ([1, (2, 3)], "[*, (*, *)]"),
        ({}, "{}"),
        (Point(1, [2]), "Point(x=*, y=[*])"),
    ],
)
def test_structures_as_text(tree: Any, text: str) -> None:
    assert str(flatten(tree)[1]) == text


@pytest.mark.parametrize("leaf", [np.zeros(3), "text", {1, 2}, object(), Layer, 2.5, range(3)])
def test_everything_else_is_a_leaf(leaf: Any) -> None:
    leaves, structure = flatten(leaf)
    assert leaves[0] is leaf
    assert structure is LEAF
    assert unflatten(structure, [leaf]) is leaf


def test_subclasses_of_dict_stay_what_they_are() -> None:
    for tree in (OrderedDict(b=1, a=2), defaultdict(list, b=1, a=2)):
        back = unflatten(flatten(tree)[1], [3, 4])
        assert type(back) is type(tree)
        assert list(back.items()) == [("b", 3), ("a", 4)]


def test_dataclasses_are_not_initialised_again() -> None:
    structure = flatten(Checked(1))[1]
    assert unflatten(structure, ["placeholder"]).value == "placeholder"


def test_what_counts_as_a_leaf_can_be_said() -> None:
    leaves, structure = flatten(
        {"a": None, "b": [1, 2]}, is_leaf=lambda node: node is None or isinstance(node, list)
    )
    assert leaves == [None, [1, 2]]
    assert structure.num_leaves == 2
    assert tree_map(type, (None, 1), is_leaf=lambda node: node is None) == (type(None), int)


def test_a_prefix_is_found_by_key() -> None:
    structure = flatten({"a": 0, "b": 0})[1]
    assert flatten_up_to(structure, {"b": (1, 2), "a": 3}) == [3, (1, 2)]


@pytest.mark.parametrize(
    ("structure", "tree"),
    [
        ((0, 0), (1,)),
        ((0, 0), [1, 2]),
        ((0, 0), 1),
        ({"a": 0}, {"b": 1}),
        ({"a": 0}, {"a": 1, "b": 2}),
        (Point(0, 0), (1, 2)),
        (Layer(0, None), Layer(0, 0)),
        (None, 1),
        ([[0], 0], [1, 2]),
    ],
)
def test_a_mismatch_is_refused(structure: Any, tree: Any) -> None:
    with pytest.raises(ValueError, match=r"expected .*, found "):
        flatten_up_to(flatten(structure)[1], tree)


def test_too_few_or_too_many_leaves_are_refused() -> None:
    structure = flatten((1, [2, 3]))[1]
    for leaves in ([1, 2], [1, 2, 3, 4]):
        with pytest.raises(ValueError, match="3 leaves"):
            unflatten(structure, leaves)


def test_structures_compare_and_hash() -> None:
    assert flatten((1, {"a": 2}))[1] == flatten((3, {"a": 4}))[1]
    assert flatten((1, {"a": 2}))[1] != flatten((3, {"b": 4}))[1]
    assert flatten([1])[1] != flatten((1,))[1]
    assert len({flatten([1])[1], flatten([2])[1], TreeDef(None)}) == 2
