"""How a block ends: at its end, or by `return`, `break` or `continue`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from s2s.frontend.control_flow.perhaps_none import PerhapsNone
from s2s.frontend.control_flow.state import Slot, put
from s2s.numpy.registry import mistake
from s2s.primitives import functions as lax

NO_VALUES: Mapping[int, tuple[Slot, Any]] = {}


@dataclass(frozen=True)
class Outcome:
    """How a block of statements ends, if not always at its end (which is None).

    `jumps` are the ways in which it may leave, each with whether it does: True, or a traced truth
    value. One of them is taken if `always`.
    """

    jumps: dict[str, Any]
    value: Any = None
    """What is returned, where it returns."""
    always: bool = True
    assigned: Mapping[int, tuple[Slot, Any]] = field(default_factory=lambda: NO_VALUES)
    """The variables that have a value where it leaves by `break`, and else none: by what they are
    in recordings, with that value."""

    def assign(self) -> None:
        """Give these variables their values: it has left."""
        for slot, value in self.assigned.values():
            put(slot, value)


End = Outcome | None


def jump(kind: str, value: Any = None) -> Outcome:
    """`return value`, `break` or `continue`."""
    return Outcome({kind: True}, value)


def is_jump(outcome: End) -> bool:
    """Whether what comes after the block is never reached."""
    return outcome is not None and outcome.always


def returns(outcome: End) -> bool:
    """Whether the block always returns."""
    return outcome is not None and outcome.always and outcome.jumps.keys() == {"return"}


def without(outcome: End, *kinds: str) -> End:
    """The outcome where these jumps lead to the end."""
    if outcome is None:
        return None
    left = {kind: flag for kind, flag in outcome.jumps.items() if kind not in kinds}
    if not left:
        return None
    always = outcome.always and len(left) == len(outcome.jumps)
    assigned = outcome.assigned if left.keys() & {"break", "left"} else NO_VALUES
    return Outcome(left, outcome.value, always, assigned)


def leaves(outcome: End) -> bool:
    """Whether to leave a function in the middle of a `finally`."""
    if outcome is not None and not outcome.always:
        raise mistake(
            "whether this leaves the `finally` around it depends on the values of the arguments. "
            "Put the `if` outside of it, or assign to a variable and return that "
            "after it."
        )
    return outcome is not None


def result(outcome: End) -> Any:
    """What a function returns."""
    if outcome is None:
        return None
    if not outcome.always and outcome.value is not None:
        return PerhapsNone(lax.bitwise_not(outcome.jumps["return"]), outcome.value)
    return outcome.value
