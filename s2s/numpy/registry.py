"""The table of traced counterparts: which function stands for which of NumPy's under tracing.

A counterpart has the name and the argument order of NumPy's function, and declares the arguments
that it supports. The others are accepted where they have NumPy's default, and refused by name
otherwise; they are never ignored.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import numpy as np

from s2s.errors import UserError
from s2s.trace import builder_in_force

Function = TypeVar("Function", bound=Callable[..., Any])

COUNTERPARTS: dict[Callable[..., Any], Callable[..., Any]] = {}
"""The traced counterpart of each supported NumPy function, ufunc and ufunc method."""

CREATION: set[Callable[..., Any]] = set()
"""The functions whose counterpart is called although no argument is traced: their result is a new
array of the traced function, which may be updated later. The others compute on static values."""

REFUSED: dict[Callable[..., Any], str] = {}
"""NumPy functions that cannot be traced, or not yet, with the reason and a way out."""


def mistake(message: str) -> UserError:
    """The error about the line of the user's file that is being traced."""
    builder = builder_in_force()
    return UserError(message, builder.source if builder is not None else None)


NOT_GIVEN: Any = inspect.signature(np.sum).parameters["keepdims"].default
"""What NumPy has as the default of arguments that may also be None."""


def public_name(function: Callable[..., Any]) -> str:
    """What a user calls a NumPy function: `np.sum`, `np.linalg.norm`, `np.add.reduce`."""
    name: str = getattr(function, "__name__", repr(function))
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        return f"np.{owner.__name__}.{name}"
    module: str = getattr(function, "__module__", None) or "numpy"
    parts = [part for part in module.split(".") if not part.startswith("_")]
    return f"{'.'.join(parts).replace('numpy', 'np', 1)}.{name}"


class Counterpart:
    """A traced function behind the signature of the NumPy function that it stands for."""

    def __init__(self, numpy: Callable[..., Any], function: Callable[..., Any]) -> None:
        self.numpy = numpy
        self.function = function
        self.__name__ = public_name(numpy)

    # There are hundreds of counterparts, and a program calls a few.

    @functools.cached_property
    def supported(self) -> frozenset[str]:
        """The names of the arguments that it takes."""
        return frozenset(inspect.signature(self.function).parameters)

    @functools.cached_property
    def positional(self) -> int:
        """How many leading arguments go to it as they are."""
        return _shared_positions(self.numpy, self.function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) <= self.positional and (not kwargs or kwargs.keys() <= self.supported):
            return self.function(*args, **kwargs)
        args, kwargs, out = self._bind(args, kwargs)
        result = self.function(*args, **kwargs)
        return result if out is None else _write_out(out, result, self.__name__)

    def __repr__(self) -> str:
        return f"<traced counterpart of {self.__name__}>"

    def _bind(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any], Any]:
        """The arguments without those that have NumPy's default, and without `out`."""
        signature = _signature(self.numpy)
        if signature is None:
            unknown = ", ".join(sorted(kwargs.keys() - self.supported)) or "so many arguments"
            raise mistake(f"{self.__name__} with {unknown} is not supported")
        try:
            bound = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise mistake(f"{self.__name__}: {error}") from None
        positional: tuple[Any, ...] = ()
        named: dict[str, Any] = {}
        for name, value in bound.items():
            parameter = signature.parameters[name]
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                positional += value
            elif parameter.kind is inspect.Parameter.POSITIONAL_ONLY and name not in self.supported:
                positional += (value,)
            elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
                named.update(value)
            else:
                named[name] = value
        out = None if "out" in self.supported else named.pop("out", None)
        for name in sorted(named.keys() - self.supported):
            parameter = signature.parameters.get(name)
            if parameter is None or not is_default(named.pop(name), parameter.default):
                raise mistake(
                    f"{self.__name__} with the argument `{name}` is not supported; leave it out"
                )
        return positional, named, out


def _write_out(out: Any, result: Any, function: str) -> Any:
    from s2s.numpy.writing import write_out

    found, wanted = (getattr(value, "dtype", None) for value in (out, result))
    if found is not None and wanted is not None and found != wanted:
        # Some functions of NumPy compute in the element type of `out`, others convert the result.
        raise mistake(
            f"{function}: the result is of {wanted} and `out` of {found}, and in which of them "
            f"NumPy computes depends on the function. Write out[...] = {function}(...)"
        )
    return write_out(out, result, True, function)


def _signature(numpy: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(numpy)
    except (TypeError, ValueError):
        return None


def is_default(value: Any, default: Any) -> bool:
    """Whether an argument has its default: None stands for it as well."""
    if value is default or value is None:
        return True
    return type(value) in (bool, int, str) and type(value) is type(default) and value == default


_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _shared_positions(numpy: Callable[..., Any], function: Callable[..., Any]) -> int:
    """How many leading arguments may be given by position to both functions alike."""
    ours = list(inspect.signature(function).parameters.values())
    if any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in ours):
        return 1 << 30
    ours = [parameter for parameter in ours if parameter.kind in _BY_POSITION]
    signature = _signature(numpy)
    if signature is None:
        return len(ours)
    theirs = [p for p in signature.parameters.values() if p.kind in _BY_POSITION]
    shared = 0
    for mine, other in zip(ours, theirs, strict=False):
        if mine.name != other.name and mine.kind is not inspect.Parameter.POSITIONAL_ONLY:
            break
        shared += 1
    return shared


def counterpart(
    *numpys: Callable[..., Any], creation: bool = False
) -> Callable[[Function], Function]:
    """Register a function as the traced counterpart of these NumPy functions."""

    def register(function: Function) -> Function:
        for numpy in numpys:
            COUNTERPARTS[numpy] = Counterpart(numpy, function)
            if creation:
                CREATION.add(numpy)
        return function

    return register


def refuse(reason: str, *numpys: Callable[..., Any]) -> None:
    """Register NumPy functions that cannot be traced. `reason` says why and what to do."""
    for numpy in numpys:
        message = f"{public_name(numpy)}: {reason}"
        REFUSED[numpy] = message
        COUNTERPARTS[numpy] = _refusal(message)


def _refusal(message: str) -> Callable[..., NoReturn]:
    def refused(*args: Any, **kwargs: Any) -> NoReturn:
        raise mistake(message)

    return refused
