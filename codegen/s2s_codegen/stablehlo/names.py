"""What a module being written is told of names: of its arguments, and of its sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from s2s.ir.dims import names_of
from s2s.ir.jaxpr import ClosedJaxpr
from s2s.passes.bound_dimensions import names_in


@dataclass(frozen=True)
class Arguments:
    """What is said of a function's arguments when their sizes do not fit."""

    function: str = "main"
    names: Sequence[str] = ()
    """What the user calls each of them; if not given, what the jaxpr does."""
    minimum: Mapping[str, int] = field(default_factory=dict[str, int])
    """The least size of named dimensions; 1 if not said."""


def sizes_needed(closed: ClosedJaxpr, known: Iterable[str]) -> list[str]:
    """Which of the named dimensions that are known a jaxpr mentions."""
    found = {name for a in closed.in_avals for size in a.shape for name in names_of(size)}
    for eqn in closed.eqns:
        found |= names_in(eqn)
    return [name for name in known if name in found]
