"""The named dimensions of a function: read off its arguments, and checked when sizes are given.

    func.func public @main(%arg0: tensor<?xf64>, %arg1: tensor<?xf64>) ...
      %0 = stablehlo.get_dimension_size %arg0, dim = 0       n
      %1 = stablehlo.get_dimension_size %arg1, dim = 0       must be n as well
      %2 = stablehlo.compare EQ, %1, %0
      stablehlo.custom_call @shape_assertion(%2, %1, %0) {error_message = "...", ...}

The assertions hold or fail when a module is made for given sizes, and are gone then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from s2s.errors import UserError
from s2s.ir.dims import Dim, dimension, linear_in, same_size
from s2s.ir.jaxpr import ShapedArray
from s2s_codegen.stablehlo.emit import INT32, Emitter, Operand
from s2s_codegen.stablehlo.lower.elementwise import compare
from s2s_codegen.stablehlo.names import Arguments
from s2s_codegen.stablehlo.text import function_type, string, tensor_type


@dataclass(frozen=True, eq=False)
class _Axis:
    """An axis of an argument whose size has a name, or is computed from names."""

    size: Dim
    text: str
    value: Operand


def bind_sizes(emitter: Emitter, parameters: Sequence[Operand], arguments: Arguments) -> None:
    """Read each named dimension off an argument, and assert what else is known of their sizes."""
    axes = [
        _Axis(
            size, f"the size of axis {axis} of `{_quoted(name)}`", _read(emitter, parameter, axis)
        )
        for parameter, name in zip(parameters, arguments.names, strict=True)
        for axis, size in enumerate(parameter.aval.shape)
        if isinstance(size, Dim)
    ]
    origin: dict[str, _Axis] = {}
    # What is `n` before what is `2*n`.
    for axis in sorted(axes, key=lambda axis: not _is_name(axis.size)):
        _solve(emitter, axis, origin)
    for axis in axes:
        if axis not in origin.values() or not _is_name(axis.size):
            _assert_equal(emitter, axis, origin, arguments.function)
    for name, axis in origin.items():
        least = arguments.minimum.get(name, 1)
        value = emitter.sizes[name]
        at_least = compare(emitter, "GE", value, emitter.scalar(least, INT32))
        whose = axis.text if _is_name(axis.size) else f"{name} in {axis.text}, {axis.size},"
        text = f"{whose} is {{0}}, but must be at least {least}."
        _assert(emitter, at_least, [value], f"{arguments.function}: {text}")


def _quoted(name: str) -> str:
    """In messages, a brace begins a value."""
    return name.replace("{", "{{")


def _is_name(size: Dim) -> bool:
    return any(same_size(size, dimension(name)) for name in size.names())


def _solve(emitter: Emitter, axis: _Axis, origin: dict[str, _Axis]) -> None:
    """Read the one dimension in the size of an axis that is not known yet, if there is one."""
    found = linear_in(axis.size, origin.keys())
    if found is None:
        return
    name, factor, rest = found
    value = axis.value
    if not same_size(rest, 0):
        value = emitter.binary("subtract", value, emitter.size(rest))
    if factor != 1:
        value = emitter.binary("divide", value, emitter.scalar(factor, INT32))
    origin[name] = axis
    emitter.sizes[name] = value


def _read(emitter: Emitter, parameter: Operand, axis: int) -> Operand:
    types = function_type([parameter.type], [tensor_type(ShapedArray((), INT32))])
    text = f"stablehlo.get_dimension_size {parameter.name}, dim = {axis} : {types}"
    return emitter.op(text, ShapedArray((), INT32))


def _assert_equal(
    emitter: Emitter, axis: _Axis, origin: Mapping[str, _Axis], function: str
) -> None:
    names = sorted(axis.size.names())
    unknown = [name for name in names if name not in origin]
    if unknown:
        raise UserError(
            f"{function}: {axis.text} is to be {axis.size}, but no argument has an axis of size "
            f"{unknown[0]} to tell it from; fix it with --dims."
        )
    known = [
        f"{origin[name].text if _is_name(origin[name].size) else name} is {{{i}}}"
        for i, name in enumerate(names, start=1)
    ]
    text = f"{axis.text} is {{0}}, but must be {axis.size}, where {' and '.join(known)}."
    equal = compare(emitter, "EQ", axis.value, emitter.size(axis.size))
    values = [axis.value, *[emitter.sizes[name] for name in names]]
    _assert(emitter, equal, values, f"{function}: {text}")


def _assert(emitter: Emitter, holds: Operand, values: Sequence[Operand], message: str) -> None:
    """Refuse sizes for which it does not hold; `{0}` in the message is the first of the values."""
    operands = [holds, *values]
    names = ", ".join(operand.name for operand in operands)
    types = ", ".join(operand.type for operand in operands)
    emitter.line(
        f"stablehlo.custom_call @shape_assertion({names}) {{api_version = 2 : i32, "
        f"error_message = {string(message)}, has_side_effect = true}} : ({types}) -> ()"
    )
