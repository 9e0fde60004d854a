"""What a loop carries from one step to the next, and one trace of a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from s2s.frontend.control_flow.identity import containers_in
from s2s.frontend.control_flow.merging import is_numeric, leaf_aval
from s2s.frontend.control_flow.outcomes import End
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

    @classmethod
    def of(cls, value: Any, arrays_stay: bool = False, containers_stay: bool = False) -> Carried:
        """With `arrays_stay`, of arrays that can be changed in place only their elements change,
        until a step is seen to put another one in the place of one; so for containers."""
        kept = frozenset(map(id, containers_in(value)) if containers_stay else ())
        leaves, structure = flatten(value, lambda node: id(node) in kept)
        stays = [not is_numeric(v) or (arrays_stay and is_changeable(v)) for v in leaves]
        avals = [None if s else leaf_aval(v) for v, s in zip(leaves, stays, strict=True)]
        return cls(structure, leaves, avals, kept)

    def flatten(self, value: Any) -> tuple[list[Any], TreeDef]:
        """The leaves of the slot's value, and its structure."""
        return flatten(value, lambda node: id(node) in self.kept)

    def filled(self, values: Sequence[Any]) -> Any:
        """The value with others in place of its numbers."""
        given = iter(values)
        return unflatten(
            self.structure,
            [
                next(given) if a is not None else v
                for v, a in zip(self.leaves, self.avals, strict=True)
            ],
        )

    @property
    def numbers(self) -> list[tuple[Any, ShapedArray]]:
        return [(v, a) for v, a in zip(self.leaves, self.avals, strict=True) if a is not None]


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
