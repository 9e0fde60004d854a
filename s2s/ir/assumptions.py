"""What may be taken for granted about named dimensions while a function is traced."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from s2s.ir.dims import Dim
    from s2s.ir.jaxpr import Var


class UndecidedDimension(Exception):
    """Something that s2s must know while it traces, and that depends on a named dimension.

    `question` says what: `whether n == m`, `the value of n`.
    """

    def __init__(self, question: str, names: Sequence[str]) -> None:
        from s2s.ir.dims import BOUND_BY_EQUATIONS  # It asks what is in force here.

        self.question = question
        self.names = tuple(names)
        size, name = ("sizes", "names") if len(names) > 1 else ("size", "name")
        found = f"{question} depends on the {size} {' and '.join(names)}"
        if BOUND_BY_EQUATIONS.keys().isdisjoint(names):
            found += f"; give a number in the types of the arguments instead of the {name}"
        else:
            found += (
                ", which is the number of steps of a loop, or of the items that it appends to a "
                "list, and depends on the values of the arguments; add up in the loop what is "
                "needed of them, or fill an array of a given length"
            )
        super().__init__(found)


@dataclass
class Assumptions:
    """What may be taken for granted about the named dimensions while a function is traced.

    `minimum` holds lower bounds that were needed (`n >= 2` for `x[1:-1]`); the generated function
    checks them. `decide`, `decide_sign` and `number` are asked about what the normal forms leave
    open, and answer or raise; here they raise `UndecidedDimension`. A subclass that knows an
    example's sizes answers from them, and sees to it that the answer stays true of the result.
    """

    minimum: dict[str, int] = field(default_factory=dict[str, int])
    in_order: set[tuple[Var, bool]] = field(default_factory=set[tuple["Var", bool]])
    """The inputs of the trace that are taken to lie in row-major order, which decides whether NumPy
    gives a view or a copy; the generated function checks it. With True they must do so themselves,
    with False it is enough that what NumPy computes from them does."""

    def decide(self, question: str, difference: Dim) -> bool:
        """Whether `difference` is zero, asked when neither answer holds for all sizes."""
        raise UndecidedDimension(f"whether {question}", sorted(difference.names()))

    def decide_sign(self, question: str, difference: Dim) -> bool:
        """Whether `difference` is at least zero, asked when it depends on the sizes."""
        raise UndecidedDimension(f"whether {question}", sorted(difference.names()))

    def unify(self, difference: Dim) -> bool:
        """Whether two sizes that an operation needs equal are so, given their difference.

        Named dimensions are what the user said: two names are two sizes, so the answer is no.
        """
        return False

    def assume_at_least(self, name: str, least: int) -> None:
        """Take for granted that a named dimension is at least `least`."""
        self.minimum[name] = max(least, self.minimum.get(name, 1))

    def number(self, size: Dim) -> int:
        """The value of `size`, asked where a number is needed, such as by `range(n)`."""
        raise UndecidedDimension(f"the value of {size}", sorted(size.names()))


DEFAULT = Assumptions()
"""In force outside of all `assuming` blocks; nothing is ever added to it."""

_in_force = [DEFAULT]


@contextlib.contextmanager
def assuming(assumptions: Assumptions) -> Generator[Assumptions]:
    """Put `assumptions` in force for the duration of a `with` block."""
    _in_force.append(assumptions)
    try:
        yield assumptions
    finally:
        _in_force.pop()


def assumptions() -> Assumptions:
    """The assumptions in force."""
    return _in_force[-1]
