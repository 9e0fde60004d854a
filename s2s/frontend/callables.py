"""What can be called: its parameters, its name, the function behind it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from s2s.errors import UserError


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """The signature of a user's function. Raises UserError if it has none that can be read."""
    if isinstance(function, np.ufunc):
        kind = inspect.Parameter.POSITIONAL_ONLY
        names = ["x"] if function.nin == 1 else [f"x{i + 1}" for i in range(function.nin)]
        return inspect.Signature([inspect.Parameter(name, kind) for name in names])
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        name = getattr(function, "__name__", repr(function))
        raise UserError(
            f"the parameters of {name} cannot be read. Wrap it in a function of your own."
        ) from None


def innermost_function(function: Any) -> Any:
    """The Python function behind partials, methods, wrappers and callable objects."""
    while True:
        if isinstance(function, functools.partial):
            function = function.func
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif inspect.ismethod(function):
            function = function.__func__
        elif isinstance(function, (FunctionType, type)) or not callable(function):
            return function
        elif isinstance(type(function).__call__, FunctionType):
            function = type(function).__call__
        else:
            return function


def short_name(function: Callable[..., Any]) -> str:
    """The name under which a function was defined; of an object that is called, its class's."""
    inner = innermost_function(function)
    name: str = getattr(function, "__name__", None) or getattr(inner, "__name__", "")
    return name if name and name != "__call__" else type(function).__name__
