"""From the options of a command to the function that it is about."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from s2s.api.batching import vmap
from s2s.api.parameters import and_list
from s2s.api.transformed import Argnums, function_name, signature
from s2s.cli.expression import TRANSFORMATIONS, composition
from s2s.cli.options import Options
from s2s.errors import UserError


def transformed(options: Options, function: Callable[..., Any]) -> Callable[..., Any]:
    """The transformation of the user's function that `s2s COMMAND FILE.py:FUNC` asks for."""
    if options.command == "trace":
        return function
    if options.command == "vmap":
        return vmap(function, in_axes(options.in_axes, function))
    transformation = TRANSFORMATIONS[options.command.replace("-", "_")]
    argnums = _argnums(options.wrt, function)
    if options.has_aux:
        return transformation(function, argnums, has_aux=True)
    return transformation(function, argnums)


def compiled(options: Options, module: Mapping[str, Any]) -> Callable[..., Any]:
    """The composition that `s2s compile FILE.py EXPRESSION` asks for."""
    return composition(options.expression, module, options.target)


def _argnums(text: str | None, function: Callable[..., Any]) -> Argnums:
    """`w,b` is a list of names; `w` is one, and `w,` a list of one. The first if not given."""
    names = list(signature(function).parameters)
    if not names:
        raise UserError(f"{function_name(function)} has no parameters to differentiate.")
    if text is None:
        return names[0]
    wanted: list[str] = []
    for word in filter(None, map(str.strip, text.split(","))):
        name = names[int(word)] if word.isdigit() and int(word) < len(names) else word
        if name not in names:
            raise UserError(
                f"--wrt {text}: {function_name(function)} has no parameter {word}; "
                f"its parameters are {', '.join(names)}."
            )
        wanted.append(name)
    if not wanted:
        raise UserError("--wrt names no parameter; give for example --wrt w,b.")
    return wanted if "," in text else wanted[0]


def in_axes(text: str | None, function: Callable[..., Any]) -> Any:
    """`None, 0, 0` by position, or `x=0, y=0` by name with the rest not mapped; `1` for all.

    If not given, the first axis. "All" are the arguments without a default.
    """
    parameters = signature(function).parameters
    required = [name for name, p in parameters.items() if p.default is p.empty]
    if text is None:
        return dict.fromkeys(required, 0)
    try:
        call = ast.parse(f"f({text})", mode="eval").body
        if not isinstance(call, ast.Call):
            raise ValueError(text)
        by_position = [ast.literal_eval(axis) for axis in call.args]
        by_name = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (SyntaxError, ValueError) as error:
        raise UserError(
            f"--in-axes '{text}' cannot be read; give an axis or None for each parameter, as in "
            "--in-axes 'None, 0, 0', or by name, as in --in-axes 'x=0, y=0'."
        ) from error
    if len(by_position) == 1 and not by_name and "," not in text:
        return dict.fromkeys(required, by_position[0])
    unknown = [name for name in by_name if name not in parameters]
    if unknown:
        raise UserError(
            f"--in-axes '{text}': {function_name(function)} has no parameter {unknown[0]}; "
            f"its parameters are {and_list(list(parameters))}."
        )
    if len(by_position) > len(parameters):
        raise UserError(
            f"--in-axes '{text}' has {len(by_position)} axes, but {function_name(function)} has "
            f"{len(parameters)} parameters."
        )
    return {**dict(zip(parameters, by_position, strict=False)), **by_name}
