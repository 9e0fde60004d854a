"""What a loop carries from one step to the next, and one trace of a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from s2s.frontend.control_flow.identity import containers_in
from s2s.frontend.control_flow.indexed import Indexed
from s2s.frontend.control_flow.leaves import ABSENT, is_numeric
from s2s.frontend.control_flow.merging import leaf_aval
from s2s.frontend.control_flow.outcomes import End
from s2s.frontend.control_flow.perhaps_none import alike
from s2s.frontend.control_flow.state import array_of
from s2s.ir.jaxpr import ShapedArray, Var
from s2s.numpy.array import is_changeable
from s2s.trace import Builder
from s2s.tree import TreeDef, flatten, unflatten


@dataclass(eq=False)
class Carried:
    """What one slot contributes to the carry: the leaves of its value that are numbers."""

    structure: TreeDef
    leaves: list[Any]
    """As they are before the loop; ABSENT where the first step does not read them."""
    avals: list[ShapedArray | None]
    """The types of the leaves; None for what stays as it is."""
    kept: frozenset[int] = frozenset()
    """The containers that are leaves, by identity."""
    views: dict[int, Indexed] = field(default_factory=dict[int, Indexed])
    """The leaves that are views of which the indices are carried."""
    no_views: set[int] = field(default_factory=set[int])
    """Those that a step has been seen to put something else in the place of."""
    form: Any = None
    """What the value is like, where None before the loop and a value after a step are one that is
    perhaps None."""

    @classmethod
    def of(cls, value: Any, arrays_stay: bool = False, containers_stay: bool = False) -> Carried:
        """With `arrays_stay`, of arrays that can be changed in place only their elements change,
        until a step is seen to put another one in the place of one; so for containers."""
        kept = frozenset(map(id, containers_in(value)) if containers_stay else ())
        leaves, structure = flatten(value, lambda node: id(node) in kept)
        stays = [not is_numeric(v) or (arrays_stay and is_changeable(v)) for v in leaves]
        avals = [None if s else leaf_aval(v) for v, s in zip(leaves, stays, strict=True)]
        return cls(structure, leaves, avals, kept)

    @classmethod
    def of_end(cls, value: Any, builder: Builder) -> Carried:
        """What there is at the end of a step only, which `builder` has traced."""
        found = cls.of(value)
        for number, leaf in enumerate(found.leaves):
            view = Indexed.of(leaf)
            is_outside = view is not None and view.owner.builder is not builder
            if view is not None and is_outside and not view.is_known:
                found.views[number], found.avals[number] = view, None
        return found

    @classmethod
    def perhaps_none(cls, before: Any, after: Any) -> Carried | None:
        """What is None where the other is not, as values that are perhaps None; None if nothing
        is."""
        first, second = alike([before, after])
        (leaves, structure), (ends, other) = flatten(first), flatten(second)
        if first is before or structure != other:
            return None
        avals = [
            None if not is_numeric(end) else leaf_aval(end if leaf is ABSENT else leaf)
            for leaf, end in zip(leaves, ends, strict=True)
        ]
        return cls(structure, leaves, avals, form=first)

    def find_views(self, after: Any) -> None:
        """Carry the indices of views, which a step leaves as they are in `after`."""
        leaves, structure = self.flatten(after)
        if structure == self.structure:
            for number, (old, new) in enumerate(zip(self.leaves, leaves, strict=True)):
                self.find_view(number, old, new)

    def find_view(self, number: int, old: Any, new: Any) -> bool:
        """Carry the indices of a leaf if it is a view before and after a step: whether it is."""
        view = None if number in self.no_views else Indexed.of(new)
        if view is None or array_of(old) is array_of(new) or view.indices(old) is None:
            return False
        self.views[number], self.avals[number] = view, None
        return True

    def flatten(self, value: Any) -> tuple[list[Any], TreeDef]:
        """The leaves of the slot's value, and its structure."""
        if self.form is not None:
            value = alike([self.form, value])[1]
        return flatten(value, lambda node: id(node) in self.kept)

    def filled(self, values: Sequence[Any]) -> Any:
        """The value with others in place of its numbers."""
        given = iter(values)
        found: list[Any] = []
        for number, (leaf, a) in enumerate(zip(self.leaves, self.avals, strict=True)):
            if number in self.views:
                own = self.views[number]
                leaf = own.view([next(given) for _ in own.avals])
            found.append(leaf if a is None else next(given))
        return unflatten(self.structure, found)

    @property
    def numbers(self) -> list[tuple[Any, ShapedArray]]:
        """The numbers before the loop, and their types."""
        avals: list[ShapedArray] = []
        for number, a in enumerate(self.avals):
            avals += self.views[number].avals if number in self.views else [a] if a else []
        return list(zip(self._numbers(self.leaves), avals, strict=True))

    def numbers_in(self, value: Any) -> list[Any]:
        """The numbers of the slot's value."""
        return self._numbers(self.flatten(value)[0])

    def _numbers(self, leaves: Sequence[Any]) -> list[Any]:
        found: list[Any] = []
        for number, (leaf, a) in enumerate(zip(leaves, self.avals, strict=True)):
            if number in self.views:
                own = self.views[number]
                found += own.indices(leaf) or [ABSENT for _ in own.avals]
            elif a is not None:
                found.append(leaf)
        return found


@dataclass(eq=False)
class Step:
    """One trace of a step."""

    builder: Builder
    outcome: End
    after: dict[int, Any]
    counters: list[Any]
    numbers: list[Var]
    """The inputs for the carried leaves."""
    xs: list[Var]
    start: dict[int, Any] = field(default_factory=dict[int, Any])
    changed: set[int] = field(default_factory=set[int])
    """Which containers from before the step it has changed in place, by identity."""
    rows: list[Any] = field(default_factory=list[Any])
    """The rows that it runs over: what may be one of them is known as long as they are there."""
