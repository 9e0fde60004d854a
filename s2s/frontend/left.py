"""What a function leaves in its arguments: arrays changed in place, entries that are others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from s2s.errors import UserError
from s2s.frontend.argument_types.types import Static
from s2s.frontend.traced import Left, Parameter
from s2s.ir.jaxpr import Source, Var
from s2s.primitive import Value
from s2s.trace import Tracer, aval
from s2s.tree import flatten, tree_map


def changes_of(
    parameters: Sequence[Parameter],
    arguments: Sequence[Any],
    given: Sequence[Var],
    values: Sequence[Value],
    keeps: bool,
    line: Source | None,
) -> Iterator[tuple[Left, Value]]:
    """What is different in the arguments after a call, and what is there now.

    Args:
        arguments: for each parameter the argument of the call, as it is now.
        given: the variables of the traced values in them before the call.
        values: the traced values that stood there, with what was written into them.
        keeps: whether the generated function leaves its arguments in the same way.

    Raises UserError with `keeps` for what it could not do to its arguments.
    """
    start = 0
    for parameter, argument in zip(parameters, arguments, strict=True):
        stop = start + len(parameter.leaves)
        yield from _changes(parameter, argument, given[start:stop], values[start:stop], keeps, line)
        start = stop


def _changes(
    parameter: Parameter,
    argument: Any,
    given: Sequence[Var],
    values: Sequence[Value],
    keeps: bool,
    line: Source | None,
) -> Iterator[tuple[Left, Value]]:
    types, structure = flatten(tree_map(_none_as_itself, parameter.type))
    now, structure_now = flatten(argument)
    if structure_now != structure:
        if keeps:
            raise UserError(
                f"--keep-mutation: the function adds to, or takes away from, the container that "
                f"is its argument `{parameter.name}`, which the generated function cannot do. "
                "Return the new container.",
                line,
            )
        yield Left(parameter.name, 0, is_rebound=True), now[0] if now else 0
        return
    leaf = 0
    for type_, found in zip(types, now, strict=True):
        if isinstance(type_, Static):
            if found is type_.value or _is_equal(found, type_.value):
                continue
            if keeps:
                raise UserError(
                    f"--keep-mutation: the function changes {type_.value!r} in its argument "
                    f"`{parameter.name}`, which is fixed when the module is made. Return the new "
                    "value.",
                    line,
                )
            yield Left(parameter.name, 0, is_rebound=True), 0
            continue
        value, var = values[leaf], given[leaf]
        is_written = isinstance(value, Tracer) and value.variable is not var
        if found is not value:
            if keeps:
                _check_rebound(parameter, found, value, is_written, line)
            yield Left(parameter.name, leaf, is_rebound=True), found
        elif is_written:
            yield Left(parameter.name, leaf, is_rebound=False), value
        leaf += 1


def _none_as_itself(type_: Any) -> Any:
    return None if isinstance(type_, Static) and type_.value is None else type_


def _check_rebound(
    parameter: Parameter, found: Any, value: Value, is_written: bool, line: Source | None
) -> None:
    if is_written:
        raise UserError(
            f"--keep-mutation: the function changes an array in its argument `{parameter.name}` "
            "and then puts another one in its place. Do one of the two.",
            line,
        )
    try:
        is_alike = aval(found).shape == aval(value).shape
    except TypeError:
        is_alike = False
    if not is_alike:
        raise UserError(
            f"--keep-mutation: the function puts something of another type into its argument "
            f"`{parameter.name}`. Return it instead.",
            line,
        )


def _is_equal(found: Any, value: Any) -> bool:
    return type(found) is type(value) and bool(found == value)
