"""One value from those of several branches, or from one step of a loop to the next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from s2s.control.user_functions import fits, join
from s2s.frontend.control_flow.chosen_functions import ChosenFunction, is_function
from s2s.frontend.control_flow.identity import containers_in
from s2s.frontend.control_flow.indexed import Indexed
from s2s.frontend.control_flow.leaves import ABSENT, is_numeric
from s2s.frontend.control_flow.perhaps_none import PerhapsNone, alike
from s2s.frontend.control_flow.state import MISSING, array_of
from s2s.ir.dims import Dim
from s2s.ir.dtypes import BOOL
from s2s.ir.jaxpr import ShapedArray
from s2s.numpy.array import is_changeable
from s2s.primitive import Zero
from s2s.primitives import functions as lax
from s2s.primitives.core import convert_element_type, instantiate
from s2s.primitives.creation import DimAsValue, dim_as_value
from s2s.trace import Builder, Tracer, aval, builders_in_force
from s2s.tree import LEAF, TreeDef, flatten, unflatten


class Unlike(Exception):
    """Values that cannot be one value. The message says how they differ."""


@dataclass(frozen=True)
class Output:
    """A leaf that is a result of a branch or loop: its number among the results."""

    number: int


@dataclass(frozen=True)
class Viewed:
    """A leaf that is a view of which the indices are results."""

    views: Indexed
    indices: tuple[Output, ...]


@dataclass(frozen=True)
class Function:
    """A leaf that is one function or another: the first where the result says so."""

    is_first: Output
    functions: tuple[Any, Any]


@dataclass(frozen=True)
class Merged:
    """A value of which some leaves are results."""

    structure: TreeDef
    leaves: list[Any]

    def filled(self, results: Sequence[Any]) -> Any:
        def found(leaf: Any) -> Any:
            if isinstance(leaf, Viewed):
                return leaf.views.view([results[index.number] for index in leaf.indices])
            if isinstance(leaf, Function):
                return ChosenFunction(results[leaf.is_first.number], *map(found, leaf.functions))
            return results[leaf.number] if isinstance(leaf, Output) else leaf

        return unflatten(self.structure, [found(leaf) for leaf in self.leaves])

    @property
    def flag(self) -> int | None:
        """The result that says whether the value is None, if one does."""
        first = self.leaves[0] if self.structure.kind is PerhapsNone else None
        return first.number if isinstance(first, Output) else None

    @property
    def has_views(self) -> bool:
        """Whether a leaf is a view of which the indices are results."""
        return any(isinstance(leaf, Viewed) for leaf in self.leaves)


def is_same(a: Any, b: Any) -> bool:
    """Whether two leaves are the same value, whatever the arguments are."""
    if array_of(a) is array_of(b):
        return True
    if isinstance(a, Tracer) and isinstance(b, Tracer):
        return a.variable is b.variable and is_changeable(a) == is_changeable(b)
    if type(a) is not type(b):
        return False
    if isinstance(a, (int, float, complex, str, bytes, np.generic)):
        return repr(cast("object", a)) == repr(b)
    return isinstance(a, Dim) and str(a) == str(b)


def is_same_tree(a: Any, b: Any) -> bool:
    """Whether two values are the same, whatever the arguments are."""
    (old, structure), (new, other) = flatten(a), flatten(b)
    return structure == other and all(map(is_same, old, new))


def _row(column: Sequence[Any], values: Sequence[Any]) -> tuple[Any, ...]:
    """A leaf of each branch that has a value, and ABSENT of the others."""
    remaining = iter(column)
    return tuple(ABSENT if value is ABSENT else next(remaining) for value in values)


class Merging:
    """Collects the leaves in which branches differ: `outputs` has a tuple for each, with the
    leaf of each branch."""

    def __init__(self) -> None:
        self.outputs: list[tuple[Any, ...]] = []

    def merge(self, values: Sequence[Any]) -> Merged:
        """The value that is one of `values`, depending on the branch. Raises Unlike."""
        given = alike([value for value in values if value is not ABSENT])
        is_chosen = [isinstance(value, ChosenFunction) for value in given]
        if any(is_chosen) and len(given) == 2 and given[0] is not given[1]:
            if all(c or is_function(v) for c, v in zip(is_chosen, given, strict=True)):
                return Merged(LEAF, [self._function(given)])
        # What only some branches have may have been made there.
        kept = _common(given) if len(given) == len(values) else set[int]()
        return self._merge(values, given, kept)

    def _merge(self, values: Sequence[Any], given: Sequence[Any], kept: set[int]) -> Merged:
        """With the containers of `kept` as they are, which all have."""
        start = len(self.outputs)
        parts = [flatten(value, lambda node: id(node) in kept) for value in given]
        try:
            return self._merge_parts(values, given, parts)
        except Unlike:
            if not kept:
                raise
        del self.outputs[start:]
        return self._merge(values, given, set())

    def _merge_parts(
        self,
        values: Sequence[Any],
        given: Sequence[Any],
        parts: Sequence[tuple[list[Any], TreeDef]],
    ) -> Merged:
        structure = parts[0][1]
        for _, other in parts[1:]:
            if other != structure:
                raise Unlike(_difference(given[0], given[-1]))
        rows: list[list[Any]] = [leaves for leaves, _ in parts]
        merged: list[Any] = []
        for column in zip(*rows, strict=True):
            if all(is_same(column[0], other) for other in column[1:]):
                if not _lives_inside(column[0], values):
                    merged.append(array_of(column[0]))
                    continue
            viewed = self._merge_views(column, values)
            if viewed is not None:
                merged.append(viewed)
                continue
            if len(column) == 2 and all(map(is_function, column)):
                merged.append(self._function(column))
                continue
            if not all(map(is_numeric, column)):
                kinds: list[type] = [type(leaf) for leaf in column]
                if all(callable(leaf) and hasattr(leaf, "__name__") for leaf in column):
                    raise Unlike("it is one function or another: write y = f(x) in each branch")
                if kinds[0] is kinds[-1] and kinds[0] not in (str, bytes):
                    raise Unlike(
                        f"it is one {kinds[0].__name__} or another, of which s2s makes one only if "
                        "they are dataclasses"
                    )
                raise Unlike(_difference(column[0], column[-1]))
            merged.append(self.output(_row(column, values)))
        return Merged(structure, merged)

    def _function(self, functions: Sequence[Any]) -> Function:
        """The function of the branch that is taken."""

        def part(function: Any, branch: int) -> Any:
            if not isinstance(function, ChosenFunction):
                return function
            row = (function.test, ABSENT) if branch == 0 else (ABSENT, function.test)
            parts = part(function.first, branch), part(function.second, branch)
            return Function(self.output(row), parts)

        first, second = functions
        return Function(self.output((True, False)), (part(first, 0), part(second, 1)))

    def output(self, row: tuple[Any, ...]) -> Output:
        """The result that is one of these leaves: the same one for the same truth values."""
        if all(map(_is_truth_value, row)):
            for number, other in enumerate(self.outputs):
                if all(map(is_same, other, row)):
                    return Output(number)
        self.outputs.append(row)
        return Output(len(self.outputs) - 1)

    def _merge_views(self, column: Sequence[Any], values: Sequence[Any]) -> Viewed | None:
        """Views that are alike but for their indices, as one at an index that is one of these."""
        found = [views for views in map(Indexed.of, column) if views is not None]
        views = next((one for one in found if not one.is_known), None)
        if views is None or views.owner.builder not in builders_in_force():
            return None
        indices = [one for one in map(views.indices, column) if one is not None]
        if len(indices) < len(column):
            return None
        rows = [_row(places, values) for places in zip(*indices, strict=True)]
        return Viewed(views, tuple(map(self.output, rows)))

    def merge_flags(self, test: Tracer, flags: tuple[Any, ...]) -> Any:
        """The truth value that is one of two, depending on the branch: a leaf, or an Output."""
        if flags[0] is flags[1] and isinstance(flags[0], bool):
            return flags[0]
        if flags[0] is True and flags[1] is False:
            return test
        if flags[0] is False and flags[1] is True:
            return lax.bitwise_not(test)
        self.outputs.append(flags)
        return Output(len(self.outputs) - 1)


def _is_truth_value(leaf: Any) -> bool:
    is_traced = isinstance(leaf, Tracer) and leaf.aval.dtype == BOOL and not is_changeable(leaf)
    return type(leaf) is bool or is_traced


def _common(values: Sequence[Any]) -> set[int]:
    """The containers that all of some values have, by identity."""
    found = [{id(container) for container in containers_in(value)} for value in values]
    return set[int].intersection(*found)


def _lives_inside(leaf: Any, values: Sequence[Any]) -> bool:
    """Whether a leaf that only some branches have is a value of their jaxpr."""
    return isinstance(leaf, Tracer) and any(value is ABSENT for value in values)


def _difference(one: Any, other: Any) -> str:
    """How two values differ, and what to write in place of what chooses one, if there is that."""
    found = f"it is {described(one)} in one, {described(other)} in another"
    if one is None or other is None:
        return f"{found}, where a number such as np.inf can stand for None, or a flag of its own"
    if any(type(value) in (list, tuple, dict, str) or is_numeric(value) for value in (one, other)):
        return found
    return f"{found}: write y = f(x) in each branch"


def described(value: Any) -> str:
    if isinstance(value, (list, tuple, dict)):
        items = cast("Sequence[Any]", value)
        return f"a {type(items).__name__} of {len(items)} items"
    if value is None or isinstance(value, (str, bytes)):
        return repr(value)
    if is_numeric(value):
        return "an array or number"
    return f"a {type(cast('object', value)).__name__}"


def leaf_aval(leaf: Any) -> ShapedArray:
    """The type of a leaf as a value of the jaxpr."""
    return DimAsValue(leaf).abstract() if isinstance(leaf, Dim) else aval(leaf)


def joined(leaves: Sequence[Any], describe: Callable[[int], str]) -> ShapedArray:
    """The type of a value that is one of these leaves. Raises Unlike."""
    present = [(i, leaf) for i, leaf in enumerate(leaves) if leaf is not ABSENT]
    avals = [leaf_aval(leaf) for _, leaf in present]
    wanted = join(avals)
    for (number, leaf), found in zip(present, avals, strict=True):
        is_exact = (
            not found.weak_type
            or wanted.dtype.kind not in "fc"
            or wanted.dtype.itemsize >= found.dtype.itemsize
            or (not isinstance(leaf, Tracer) and wanted.dtype.type(leaf) == leaf)
        )
        if not fits(wanted, found) or not is_exact:
            other = next(
                (i for (i, _), a in zip(present, avals, strict=True) if not fits(found, a)),
                present[0][0],
            )
            raise Unlike(
                f"it is of type {shown(leaf_aval(leaves[other]))} {describe(other)}, and "
                f"{shown(found)} {describe(number)}"
            )
    return wanted


def shown(type_: ShapedArray) -> str:
    """A type as users know it: that of a Python scalar by its name."""
    if not type_.weak_type:
        return str(type_)
    return {"b": "bool", "i": "int", "f": "float", "c": "complex"}[type_.dtype.kind]


def as_result(leaf: Any, wanted: ShapedArray) -> Any:
    """A leaf as a result of the given type, in the builder in force."""
    if leaf is ABSENT or leaf is MISSING:
        if wanted.weak_type:
            return wanted.dtype.type(0).item()
        return instantiate(Zero(wanted))
    if isinstance(leaf, Dim):
        leaf = dim_as_value(leaf)
    found = aval(leaf)
    if found.dtype == wanted.dtype and found.weak_type == wanted.weak_type:
        return leaf
    return convert_element_type(leaf, wanted.dtype, wanted.weak_type)


def line_of(leaf: Any, builder: Builder) -> str:
    """`on line 7`, of a value that was computed there."""
    equation = builder.producer(leaf)
    if equation is None or equation.source is None:
        return ""
    return f"on line {equation.source.line}"
