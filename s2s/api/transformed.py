"""Functions made by transformations: traced when first needed, then inlined or compiled.

`grad(f)` is an object that can be traced to a jaxpr for given argument types. Called on NumPy
arrays it runs the generated NumPy code; called on traced values, inside of a function that is
itself being transformed, it inlines its jaxpr there.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from s2s.frontend.argument_types.types import ArgumentType
from s2s.frontend.callables import short_name, signature_of

if TYPE_CHECKING:
    from s2s.frontend.traced import Traced
    from s2s.tree import TreeDef

Arguments = Mapping[str, ArgumentType]
"""The type of the argument for each parameter by name, in the function's order."""


class Transformed:
    """A function made from another one by a transformation.

    A subclass sets `suffix` (`grad`, for the name of the generated function) and has `trace`, and
    `describe`, which says in a sentence what the function computes.
    """

    suffix: ClassVar[str]

    def __init__(self, fun: Callable[..., Any]) -> None:
        self.fun = fun
        self.compiled: dict[Hashable, tuple[Callable[..., Any], TreeDef]] = {}
        """The generated code, and the structure of its result, for each set of argument types."""
        functools.update_wrapper(self, fun, assigned=("__doc__", "__module__"), updated=())
        self.__name__ = f"{function_name(fun)}_{self.suffix}"

    @property
    def signature(self) -> inspect.Signature:
        """The parameters of the transformed function: the user's own unless overridden."""
        return signature(self.fun)

    def trace(self, arguments: Arguments) -> Traced:
        """The jaxpr of the transformed function for given argument types."""
        raise NotImplementedError

    def describe(self, traced: Traced) -> str:
        """What the function computes, as the first sentence of its docstring."""
        raise NotImplementedError

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from s2s.api.tracing import call

        return call(self, args, kwargs)

    def __repr__(self) -> str:
        return f"<{self.suffix} of {function_name(self.fun)}>"


def function_name(fun: Callable[..., Any]) -> str:
    """What a function is called in generated code and messages."""
    name = fun.__name__ if isinstance(fun, Transformed) else short_name(fun)
    return name if name.isidentifier() else "function"


def signature(fun: Callable[..., Any]) -> inspect.Signature:
    """The signature of a user's or a transformed function."""
    return fun.signature if isinstance(fun, Transformed) else signature_of(fun)


Argnums = int | str | Sequence[int | str]
