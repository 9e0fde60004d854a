"""The types of a function's arguments, from all that the user says about them.

For each parameter the first of these that says something: `--args` and `--static`; an example given
by `--example` or `--record`; the annotation; a doctest in the docstring; the default. A default
that is an integer, a boolean, a string or None comes before the annotation: it is static, so that
`steps: int = 50` can be the length of a loop.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from s2s.errors import UserError
from s2s.frontend.argument_types import examples
from s2s.frontend.argument_types.annotations import UNKNOWN, type_of_annotation
from s2s.frontend.argument_types.text import parse_arguments, static_value
from s2s.frontend.argument_types.types import (
    ArgumentType,
    Missing,
    Static,
    render,
    simplified,
    type_of_example,
)
from s2s.frontend.callables import short_name
from s2s.tree import flatten


@dataclass(frozen=True)
class ArgumentTypes:
    """The type of the argument for each parameter, in the order of the signature.

    `examples` are the types of the example and the defaults, with numbers for sizes: what
    `generalise` wants. `values` are the example and the defaults themselves. `given` are the
    parameters whose types the user said with `--args` or `--static`.
    """

    types: dict[str, ArgumentType]
    examples: dict[str, ArgumentType] = field(default_factory=dict[str, ArgumentType])
    values: dict[str, Any] = field(default_factory=dict[str, Any])
    given: frozenset[str] = frozenset()


def argument_types(
    function: Callable[..., Any],
    args: str = "",
    static: Sequence[str] = (),
    example: str | None = None,
    record: str | None = None,
    further: Collection[str] = (),
) -> ArgumentTypes:
    """Find the type of each argument of `function`.

    `args` is a text such as `"w: f64[d], x: f64[n, d]"`, `static` are texts such as `steps=50`,
    `example` is an expression, and `record` a command that runs a script of the user's. `further`
    are parameters that a transformation adds to the function's own, such as `x_dot`; `args` may
    have types for these. Raises UserError with the `--args` line to complete if some types are not
    known.
    """
    parameters = inspect.signature(function).parameters
    namespace = examples.globals_of(function)
    said = {**parse_arguments(args, namespace=namespace), **_statics(static, namespace)}
    _check_names(said, [*parameters, *further], function)
    defaults = _defaults(parameters)
    shown: dict[str, Any] = {}
    if example is not None:
        shown = examples.from_expression(function, example)
    elif record is not None:
        shown = examples.from_recording(function, record)
    from_example = _types_of(shown, "example for", function)
    from_default = _types_of(defaults, "default of", function)
    found: dict[str, ArgumentType] = {}
    for name, parameter in parameters.items():
        if name in said:
            found[name] = said[name]
        elif name in from_example:
            found[name] = from_example[name]
        elif isinstance(from_default.get(name), Static):
            found[name] = from_default[name]
        else:
            found[name] = _of_annotation(parameter, namespace)
    unknown = {name for name, argument in found.items() if not _is_known(argument)}
    if unknown and not from_example:
        shown = examples.from_doctest(function) or {}
        from_example = _types_of(shown, "docstring's example for", function)
    for name in unknown:
        found[name] = from_example.get(name, from_default.get(name, found[name]))
    missing = {name: argument for name, argument in found.items() if not _is_known(argument)}
    if missing:
        raise UserError(_missing_message(missing, function))
    found.update((name, said[name]) for name in further if name in said)
    return ArgumentTypes(
        found, {**from_default, **from_example}, {**defaults, **shown}, frozenset(said)
    )


def _statics(texts: Sequence[str], namespace: Mapping[str, Any]) -> dict[str, ArgumentType]:
    found: dict[str, ArgumentType] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip().isidentifier():
            raise UserError(f"--static {text}: expected a name and a value, such as steps=50.")
        try:
            found[name.strip()] = Static(static_value(value.strip(), namespace))
        except UserError as error:
            raise UserError(f"--static {text}: {error.message}") from error
    return found


def _check_names(
    names: Collection[str],
    parameters: Collection[str],
    function: Callable[..., Any],
) -> None:
    for name in names:
        if name not in parameters:
            close = difflib.get_close_matches(name, parameters, n=1)
            hint = f" Did you mean {close[0]}?" if close else ""
            raise UserError(
                f"{short_name(function)} has no parameter {name}; "
                f"its parameters are {', '.join(parameters)}.{hint}"
            )


def _types_of(
    values: Mapping[str, Any], what: str, function: Callable[..., Any]
) -> dict[str, ArgumentType]:
    found: dict[str, ArgumentType] = {}
    for name, value in values.items():
        try:
            found[name] = type_of_example(value)
        except TypeError as error:
            message = f"The {what} {name} of {short_name(function)}: {error}."
            raise UserError(message) from error
    return found


def _defaults(parameters: Mapping[str, inspect.Parameter]) -> dict[str, Any]:
    """What each parameter is if it is not given; nothing for those that must be."""
    found: dict[str, Any] = {}
    for name, parameter in parameters.items():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            found[name] = ()
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            found[name] = {}
        elif parameter.default is not inspect.Parameter.empty:
            found[name] = parameter.default
    return found


def _of_annotation(parameter: inspect.Parameter, namespace: Mapping[str, Any]) -> ArgumentType:
    if parameter.annotation is inspect.Parameter.empty:
        return UNKNOWN
    try:
        return simplified(type_of_annotation(parameter.annotation, namespace))
    except UserError as error:
        raise UserError(f"Parameter {parameter.name}: {error.message}") from error


def _is_known(argument: ArgumentType) -> bool:
    return not any(isinstance(leaf, Missing) for leaf in flatten(argument)[0])


def _missing_message(missing: Mapping[str, ArgumentType], function: Callable[..., Any]) -> str:
    names = list(missing)
    listed = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    line = ", ".join(f"{name}: {render(argument)}" for name, argument in missing.items())
    reasons = {
        leaf.why
        for argument in missing.values()
        for leaf in flatten(argument)[0]
        if isinstance(leaf, Missing) and leaf.why
    }
    why = f" ({'; '.join(sorted(reasons))})" if reasons else ""
    types, are = ("types", "are") if len(names) > 1 else ("type", "is")
    example = ", ".join("..." for _ in inspect.signature(function).parameters)
    return (
        f"The {types} of {listed} in {short_name(function)} {are} not known{why}. Complete and add "
        f'--args "{line}", where float stands for a Python number, or show a call with '
        f"--example '{short_name(function)}({example})'."
    )


def bind(
    signature: inspect.Signature, arguments: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and keyword arguments of a call, from arguments by parameter."""
    bound = signature.bind_partial()
    bound.arguments.update(arguments)
    return bound.args, bound.kwargs
