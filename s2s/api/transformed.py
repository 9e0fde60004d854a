"""Functions made by transformations: traced when first needed, then inlined or compiled.

`grad(f)` is an object that can be traced to a jaxpr for given argument types. Called on NumPy
arrays it runs the generated NumPy code; called on traced values, inside of a function that is
itself being transformed, it inlines its jaxpr there.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, ClassVar, cast

import numpy as np

from s2s.errors import UserError
from s2s.frontend.argument_types.types import ArgumentType, Static
from s2s.frontend.call import signature_of, trace_call
from s2s.frontend.library import short_name
from s2s.frontend.traced import Parameter, Traced
from s2s.ir.jaxpr import ClosedJaxpr, ShapedArray, Source
from s2s.passes.effects import without_effects
from s2s.passes.pipeline import optimise
from s2s.primitive import Value
from s2s.trace import Tracer, aval, builder_in_force, inline
from s2s.tree import TreeDef, flatten, unflatten

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
        self._compiled: dict[Hashable, tuple[Callable[..., Any], TreeDef]] = {}
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
        arguments, leaves = argument_types_of(self.signature, args, kwargs)
        if builder_in_force() is not None:
            traced = self.trace(arguments)
            return unflatten(traced.result, inline(traced.closed, *leaves))
        key = _cache_key(arguments)
        found = self._compiled.get(key)
        if found is None:
            found = self._compiled[key] = _compile(self.trace(arguments))
        run, result = found
        return unflatten(result, run(*leaves))

    def __repr__(self) -> str:
        return f"<{self.suffix} of {function_name(self.fun)}>"


def _compile(traced: Traced) -> tuple[Callable[..., Any], TreeDef]:
    from s2s_codegen.numpy_source import compile_jaxpr

    return compile_jaxpr(optimise(traced.closed)), traced.result


def optimised_for_xla(traced: Traced) -> ClosedJaxpr:
    """The jaxpr that code for XLA is made from, which can neither raise exceptions nor print."""
    silent = without_effects(traced.closed)
    if silent is not traced.closed:
        line = definition(traced)
        warnings.warn_explicit(
            "XLA raises no exceptions and does not print: what the function checks by `assert` or "
            "`raise`, or prints, is left out",
            UserWarning,
            line.file,
            line.line,
        )
    return optimise(silent, keep_checkpoints=True)


def function_name(fun: Callable[..., Any]) -> str:
    """What a function is called in generated code and messages."""
    name = fun.__name__ if isinstance(fun, Transformed) else short_name(fun)
    return name if name.isidentifier() else "function"


def signature(fun: Callable[..., Any]) -> inspect.Signature:
    """The signature of a user's or a transformed function."""
    return fun.signature if isinstance(fun, Transformed) else signature_of(fun)


def trace(fun: Callable[..., Any], arguments: Arguments) -> Traced:
    """The jaxpr of a user's or a transformed function for given argument types."""
    return fun.trace(arguments) if isinstance(fun, Transformed) else trace_call(fun, arguments)


def argument_types_of(
    of: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[dict[str, ArgumentType], list[Value]]:
    """The types of the arguments of a call, by parameter, and the values that are traced.

    Arrays, NumPy scalars, floats and traced values are traced; integers, strings and other objects
    of Python's are static. Raises TypeError, as Python does, if the arguments do not fit.
    """
    bound = of.bind(*args, **kwargs)
    bound.apply_defaults()
    leaves: list[Value] = []

    def leaf_type(value: Any) -> Any:
        if not is_traced(value):
            return value if isinstance(value, ShapedArray) else Static(value)
        leaves.append(value)
        return aval(value)

    types: dict[str, ArgumentType] = {}
    for name, value in bound.arguments.items():
        parts, structure = flatten(value)
        types[name] = unflatten(structure, [leaf_type(part) for part in parts])
    return types, leaves


def is_traced(value: Any) -> bool:
    """Whether an argument is traced when it is met in a call, rather than fixed."""
    return isinstance(value, (Tracer, np.ndarray, np.generic)) or type(value) in (float, complex)


def _cache_key(arguments: Arguments) -> Hashable:
    parts: list[Hashable] = []
    for name, argument in arguments.items():
        leaves, structure = flatten(argument)
        parts.append((name, structure, *map(_leaf_key, leaves)))
    return tuple(parts)


def _leaf_key(leaf: Any) -> Hashable:
    if not isinstance(leaf, Static):
        return leaf
    value: object = leaf.value
    # 1, 1.0 and True are equal but are not the same argument.
    return (type(value), value if isinstance(value, Hashable) else id(value))


Argnums = int | str | Sequence[int | str]


def by_position(traced: Traced, argnums: Argnums) -> Traced:
    """The same function; if `argnums` are positions, each value of `*args` is a parameter."""
    wanted = [argnums] if isinstance(argnums, (int, str)) else argnums
    if not all(isinstance(one, int) for one in wanted):
        return traced
    parameters: list[Parameter] = []
    for parameter in traced.parameters:
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            types = cast("tuple[ArgumentType, ...]", parameter.type)
            parameters += [Parameter(f"{parameter.name}[{i}]", one) for i, one in enumerate(types)]
        else:
            parameters.append(parameter)
    return dataclasses.replace(traced, parameters=tuple(parameters))


def selected(parameters: Sequence[Parameter], argnums: Argnums, what: str) -> list[int]:
    """The positions of the parameters that `argnums` names, by position or name."""
    names = [parameter.name for parameter in parameters]
    wanted: Sequence[int | str] = [argnums] if isinstance(argnums, (int, str)) else argnums
    positions: list[int] = []
    for one in wanted:
        if isinstance(one, str):
            if one not in names:
                raise UserError(
                    f"{what}: there is no parameter {one!r}; the parameters are {', '.join(names)}."
                )
            positions.append(names.index(one))
        else:
            if not -len(names) <= one < len(names):
                raise UserError(
                    f"{what}: there is no parameter number {one}; "
                    f"there are {len(names)}: {', '.join(names)}."
                )
            positions.append(one % len(names))
    return positions


def definition(traced: Traced) -> Source:
    """The line on which the user's function is defined, for messages about it as a whole."""
    function = traced.function
    return Source(function.file, function.line, f"def {function.name}(...)")


def and_list(names: Sequence[str]) -> str:
    """`a`, `b` and `c`, as in a sentence."""
    quoted = [f"`{name}`" for name in names]
    if len(quoted) < 2:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}"
