"""What `checkpoint` keeps: functions of a primitive, whether its results are kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from s2s.primitive import Primitive

Policy = Callable[[Primitive], bool]
"""Whether the results of a primitive are kept for the backward part."""


def everything_saveable(primitive: Primitive) -> bool:
    """Keep what the backward part reads, as if there were no checkpoint."""
    return True


def nothing_saveable(primitive: Primitive) -> bool:
    """Keep the arguments only, and compute all else again. The default."""
    return False


def dots_saveable(primitive: Primitive) -> bool:
    """Keep the results of matrix products, and compute all else again."""
    return primitive.name == "dot_general"


@dataclass(frozen=True)
class SaveOnlyTheseNames:
    """The policy of `save_only_these_names`."""

    names: tuple[str, ...]

    def __call__(self, primitive: Primitive) -> bool:
        return primitive.name == "name" and primitive.parameters()["name"] in self.names


def save_only_these_names(*names: str) -> Policy:
    """Keep the values that `checkpoint_name` gave one of these names."""
    return SaveOnlyTheseNames(names)


BY_NAME: dict[str, Policy] = {
    policy.__name__: policy for policy in (everything_saveable, nothing_saveable, dots_saveable)
}
"""The policies that jaxprs print by their names."""
