"""The parameters of a traced function, and those of them that a transformation is about."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from s2s.api.transformed import Argnums
from s2s.errors import UserError

if TYPE_CHECKING:
    from s2s.frontend.argument_types.types import ArgumentType
    from s2s.frontend.traced import Parameter, Traced


def by_position(traced: Traced, argnums: Argnums) -> Traced:
    """The same function; if `argnums` are positions, each value of `*args` is a parameter."""
    from s2s.frontend.traced import Parameter

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
    return positions([parameter.name for parameter in parameters], argnums, what)


def positions(names: Sequence[str], argnums: Argnums, what: str) -> list[int]:
    """The same of the parameters with these names."""
    wanted: Sequence[int | str] = [argnums] if isinstance(argnums, (int, str)) else argnums
    found: list[int] = []
    for one in wanted:
        if isinstance(one, str):
            if one not in names:
                raise UserError(
                    f"{what}: there is no parameter {one!r}; the parameters are {', '.join(names)}."
                )
            found.append(names.index(one))
        else:
            if not -len(names) <= one < len(names):
                raise UserError(
                    f"{what}: there is no parameter number {one}; "
                    f"there are {len(names)}: {', '.join(names)}."
                )
            found.append(one % len(names))
    return found


def with_respect_to(traced: Traced, positions: Sequence[int]) -> str:
    traceable = [i for i, parameter in enumerate(traced.parameters) if not parameter.is_static]
    if len(positions) > 1 and sorted(positions) == traceable == list(range(len(traced.parameters))):
        return "all its arguments"
    return and_list([traced.parameters[position].name for position in positions])


def and_list(names: Sequence[str]) -> str:
    """`a`, `b` and `c`, as in a sentence."""
    quoted = [f"`{name}`" for name in names]
    if len(quoted) < 2:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}"
