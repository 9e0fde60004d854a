"""What a generated function leaves in its arguments: `x[...] = x_1`, `params["w"] = w`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from s2s.ir.jaxpr import Jaxpr, Var
from s2s_codegen.numpy_source.description import Description
from s2s_codegen.numpy_source.entry import Argument
from s2s_codegen.numpy_source.statements import Comment, Line, Statement
from s2s_codegen.numpy_source.write import Writer

T = TypeVar("T")


class LeftInArguments:
    """What a function leaves in its arguments; `finals` are the outputs that say what."""

    def __init__(
        self, description: Description, jaxpr: Jaxpr, arguments: Sequence[Argument]
    ) -> None:
        self.function = description.function
        self.finals = jaxpr.outvars[len(jaxpr.outvars) - len(description.left) :]
        own = _by_parameter(description, list(zip(jaxpr.invars, arguments, strict=True)))
        self._places = [(*own[left.parameter][left.leaf], left) for left in description.left]
        for (var, _, _), final in zip(self._places, self.finals, strict=True):
            if isinstance(final, Var) and final.name is None:
                final.name = var.name

    @property
    def in_place(self) -> list[Var]:
        """The inputs whose arrays are changed."""
        return [var for var, _, left in self._places if not left.is_rebound]

    def statements(self, writer: Writer) -> list[Statement]:
        """What is left to do when all is computed. Most arrays have been changed on the way."""
        found: list[Statement] = []
        for (var, argument, left), final in zip(self._places, self.finals, strict=True):
            text = writer.scope.whole(final).text
            if left.is_rebound:
                found.append(Line(f"{argument.path} = {text}"))
            elif not isinstance(final, Var) or writer.changed.get(final) is not var:
                found.append(Line(f"{argument.path}[...] = {text}"))
        about = [Comment(f"What `{self.function}` leaves in its arguments.")] if found else []
        return [*about, *found]


def changed_arrays(
    description: Description, arguments: Sequence[Argument]
) -> tuple[list[Argument], list[Argument]]:
    """The arrays in the arguments that the user's function changes, and those that must have no
    elements in common with them: all that it has, and all if the generated one changes them too."""
    leaves = _by_parameter(description, arguments)
    changed = [leaves[c.parameter][c.leaf] for c in description.changes if not c.is_rebound]
    names = [name for name in leaves if description.left or name not in description.added]
    return changed, [a for name in names for a in leaves[name] if a.aval.shape]


def arrays_in_order(
    description: Description, arguments: Sequence[Argument]
) -> list[tuple[Argument, bool]]:
    """The arrays in the arguments that must lie in row-major order, with whether they themselves
    must, or else what is computed from them."""
    leaves = _by_parameter(description, arguments)
    return [(leaves[o.parameter][o.leaf], o.itself) for o in description.in_order]


def _by_parameter(description: Description, inputs: Sequence[T]) -> dict[str, list[T]]:
    """What belongs to the traced values of each parameter."""
    remaining = iter(inputs)
    return {p.name: [next(remaining) for _ in p.leaves] for p in description.parameters}
