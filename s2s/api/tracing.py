"""Tracing of user's and transformed functions, and calls of these on arrays and traced values."""

from __future__ import annotations

import dataclasses
import inspect
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from s2s.api.static_keys import static_key
from s2s.api.transformed import Arguments, Transformed
from s2s.errors import UserError
from s2s.frontend.argument_types.types import ArgumentType, Static, as_numpys, place_of
from s2s.frontend.call import trace_call
from s2s.frontend.options import choices, choosing
from s2s.frontend.traced import Traced
from s2s.ir.dtypes import SHORT_NAMES, refused
from s2s.ir.jaxpr import ClosedJaxpr, ShapedArray, Source
from s2s.passes.effects import without_effects
from s2s.passes.pipeline import optimise
from s2s.primitive import Value
from s2s.trace import Tracer, aval, builder_in_force, inline
from s2s.tree import TreeDef, flatten, leaf_paths, unflatten


def trace(fun: Callable[..., Any], arguments: Arguments) -> Traced:
    """The jaxpr of a user's or a transformed function for given argument types."""
    return fun.trace(arguments) if isinstance(fun, Transformed) else trace_call(fun, arguments)


def call(transformed: Transformed, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A call of a transformed function: inlined in the trace that is going on, if there is one, or
    by the generated NumPy code."""
    arguments, leaves = argument_types_of(transformed.signature, args, kwargs)
    if builder_in_force() is not None:
        traced = transformed.trace(arguments)
        return unflatten(traced.result, inline(traced.closed, *leaves))
    key = _cache_key(arguments)
    found = transformed.compiled.get(key)
    if found is None:
        # Called, it returns what it computes, and leaves its arguments as they are.
        with choosing(dataclasses.replace(choices(), keep_mutation=False)):
            found = transformed.compiled[key] = _compile(transformed.trace(arguments))
    run, result = found
    return unflatten(result, run(*leaves))


def _compile(traced: Traced) -> tuple[Callable[..., Any], TreeDef]:
    from s2s_codegen.numpy_source import compile_jaxpr

    run = compile_jaxpr(optimise(traced.closed))
    if not traced.in_order:
        return run, traced.result
    names = [parameter.name for parameter in traced.parameters]
    starts = {n: s.start for n, s in zip(names, traced.parameter_slices(), strict=True)}

    def checked(*leaves: Any) -> list[Any]:
        for needed in traced.in_order:
            leaf = leaves[starts[needed.parameter] + needed.leaf]
            if not (leaf if needed.itself else np.empty_like(leaf)).flags.c_contiguous:
                raise ValueError(
                    f"`{traced.function.name}` reshapes and changes "
                    f"{'' if needed.itself else 'what it computes from '}{needed.parameter}, which "
                    "must lie in row-major order"
                )
        return run(*leaves)

    return checked, traced.result


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
        if isinstance(value, ShapedArray):
            return _as_given(value)
        if not is_traced(value):
            value = as_numpys(value)
        if not is_traced(value):
            return Static(value)
        leaves.append(value)
        return aval(value)

    types: dict[str, ArgumentType] = {}
    for name, value in bound.arguments.items():
        parts, structure = flatten(value)
        found: list[Any] = []
        try:
            for part in parts:
                found.append(leaf_type(part))
        except TypeError as error:
            place = place_of(name, leaf_paths(structure)[len(found)])
            raise UserError(f"{place}: {error}.") from None
        types[name] = unflatten(structure, found)
    return types, leaves


def _as_given(type_: ShapedArray) -> ShapedArray:
    """A type that the user wrote, whose dtype may be anything that NumPy takes for one."""
    dtype = np.dtype(type_.dtype)
    if dtype not in SHORT_NAMES:
        raise UserError(f"{refused(dtype)}.")
    return ShapedArray(tuple(type_.shape), dtype, type_.weak_type)


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
    return static_key(leaf.value) if isinstance(leaf, Static) else leaf


def definition(traced: Traced) -> Source:
    """The line on which the user's function is defined, for messages about it as a whole."""
    function = traced.function
    return Source(function.file, function.line, f"def {function.name}(...)")
