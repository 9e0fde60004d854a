"""A function that is one of two, depending on a branch: a call of it is one in each branch."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from types import FunctionType, MethodType
from typing import Any

from s2s.frontend.control_flow.state import cells_of
from s2s.numpy.registry import mistake
from s2s.trace import Tracer, builders_in_force
from s2s.tree import flatten


@dataclass(frozen=True, eq=False)
class ChosenFunction:
    """The first function where `test` holds, and else the second."""

    test: Tracer
    first: Any
    second: Any

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # Which are written on this module.
        from s2s.frontend.control_flow.branches import choose
        from s2s.frontend.dispatch import call

        if self.test.builder not in builders_in_force():
            raise mistake(
                "this calls a function that is one or another, outside of the branch that chooses "
                "it. Write y = f(x) in each branch."
            )
        return choose(
            self.test,
            lambda: call(self.first, *args, **kwargs),
            lambda: call(self.second, *args, **kwargs),
            *self.functions,
        )

    @property
    def functions(self) -> list[Any]:
        """All that it may be."""
        return [
            function
            for part in (self.first, self.second)
            for function in (part.functions if isinstance(part, ChosenFunction) else [part])
        ]


def is_function(value: Any) -> bool:
    """Whether a value is a function that a branch may choose: nothing in it is made there."""
    if not callable(value) or isinstance(value, (type, MethodType, ChosenFunction)):
        return False
    if not isinstance(value, FunctionType):
        return hasattr(value, "__name__")
    held: list[Any] = [value.__defaults__, value.__kwdefaults__]
    for _, cell in cells_of([value]):
        with contextlib.suppress(ValueError):
            held.append(cell.cell_contents)
    known = builders_in_force()
    return all(leaf.builder in known for leaf in flatten(held)[0] if isinstance(leaf, Tracer))
