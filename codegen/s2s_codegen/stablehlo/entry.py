"""The fast way into a compiled function that is called again with arguments of the same types.

What takes the arguments apart, runs the program and puts the result together is written for these
types, as Python, once:

    def enter(a1, a2):
        if type(a1) is not ndarray or a1.shape != (3,) or a1.dtype is not o1: return other
        if type(a2) is not dict or len(a2) != 1: return other
        ...
        try:
            stage = stages.pop()
        except IndexError:
            stage = new_stage()
        buffers, memory = stage
        memory[0][()] = a1
        memory[1][()] = v1
        r = execute(buffers).consume_with_handlers(handlers)
        result = {o2: asarray(r[0]), o3: o4(r[1])}
        stages.append(stage)
        return result
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from s2s.ir.jaxpr import ShapedArray
from s2s.tree import TreeDef, build_node
from s2s_codegen.stablehlo.executable import Executable
from s2s_codegen.stablehlo.runtime import fork, scalar_reader

_SCALARS = {"b": bool, "i": int, "f": float, "c": complex}

OTHER = object()
"""What a function made by `entry` returns for arguments of other types."""


def entry(
    arguments: Sequence[tuple[TreeDef, Sequence[ShapedArray]]],
    executable: Executable,
    places: Sequence[int],
    result: TreeDef,
    out_avals: Sequence[ShapedArray],
) -> Callable[..., Any]:
    """A function of positional arguments like the user's, or OTHER.

    Args:
        arguments: for each, its structure and the types of its leaves.
        executable: the program; it must not be one to be watched.
        places: for each leaf of the result, which of the program's results it is.
        result, out_avals: the structure of the result and the types of its leaves.
    """
    text = _Text(executable)
    parameters = [text.fresh("a") for _ in arguments]
    leaves: list[str] = []
    for name, (structure, avals) in zip(parameters, arguments, strict=True):
        _take_apart(text, name, structure, iter(avals), leaves)
    text.line("if fork.happened: fork.refuse()")
    text.line("try: stage = stages.pop()")
    text.line("except IndexError: stage = new_stage()")
    text.line("buffers, memory = stage")
    if not all(executable.is_staged):
        text.line("buffers = buffers.copy()")
    for i, (is_staged, leaf) in enumerate(zip(executable.is_staged, leaves, strict=True)):
        if is_staged:
            text.line(f"memory[{i}][()] = {leaf}")
        else:
            text.line(f"buffers[{i}] = {text.object(executable.puts[i])}({leaf})")
    text.line("r = execute(buffers).consume_with_handlers(handlers)")
    text.line(f"result = {_result(text, executable, places, result, out_avals)}")
    text.line("stages.append(stage)")
    text.line("return result")
    return text.function("enter", parameters)


def _take_apart(text: _Text, name: str, structure: TreeDef, avals: Any, leaves: list[str]) -> None:
    kind = structure.kind
    if kind is None:
        leaves.append(name)
        text.line(f"if {_unlike(text, name, next(avals))}: return other")
        return
    if kind is type(None):
        text.line(f"if {name} is not None: return other")
        return
    text.line(f"if type({name}) is not {text.object(kind)}: return other")
    if issubclass(kind, (dict, tuple, list)):
        text.line(f"if len({name}) != {len(structure.keys)}: return other")
    by_key = issubclass(kind, dict)
    by_place = issubclass(kind, (tuple, list))
    for place, (key, child) in enumerate(zip(structure.keys, structure.children, strict=True)):
        part = text.fresh("v")
        if by_key:
            text.line(f"if {text.object(key)} not in {name}: return other")
            text.line(f"{part} = {name}[{text.object(key)}]")
        elif by_place:
            text.line(f"{part} = {name}[{place}]")
        else:
            text.line(f"{part} = {name}.{key}")
        _take_apart(text, part, child, avals, leaves)


def _unlike(text: _Text, name: str, aval: ShapedArray) -> str:
    """The condition that a leaf is not of a type."""
    if aval.weak_type:
        return f"type({name}) is not {text.object(_SCALARS[aval.dtype.kind])}"
    dtype = text.object(aval.dtype)
    if aval.shape == ():
        # A NumPy number, or an array of rank 0.
        scalar = text.object(aval.dtype.type)
        return (
            f"type({name}) is not {scalar} and (type({name}) is not ndarray "
            f"or {name}.shape != () or {name}.dtype is not {dtype})"
        )
    return (
        f"type({name}) is not ndarray or {name}.shape != {tuple(aval.shape)!r} "
        f"or {name}.dtype is not {dtype}"
    )


def _result(
    text: _Text,
    executable: Executable,
    places: Sequence[int],
    structure: TreeDef,
    avals: Sequence[ShapedArray],
) -> str:
    """The expression of the result. Values of rank 0 become numbers."""
    numbers = iter(range(len(avals)))

    def expression(node: TreeDef) -> str:
        kind = node.kind
        if kind is None:
            index = next(numbers)
            place = places[index]
            # Results of a program that waits for nothing are there when it returns.
            if avals[index].shape == () and all(executable.is_staged):
                read = scalar_reader(executable.outputs[place])
                if read is not None:
                    number = f"{text.object(read)}(r[{place}])"
                    kind = text.object(avals[index].dtype.type)
                    return number if avals[index].weak_type else f"{kind}({number})"
            read = text.object(executable.readers[place])
            return f"{read}(r[{place}]){_scalar_suffix(avals[index])}"
        if kind is type(None):
            return "None"
        children = [expression(child) for child in node.children]
        if kind is dict:
            items = zip(node.keys, children, strict=True)
            return "{" + ", ".join(f"{text.object(key)}: {child}" for key, child in items) + "}"
        if kind in (list, tuple):
            comma = "," if len(children) == 1 else ""
            inside = f"{', '.join(children)}{comma}"
            return f"[{inside}]" if kind is list else f"({inside})"
        return f"{text.object(build_node)}({text.object(node)}, [{', '.join(children)}])"

    return expression(structure)


def _scalar_suffix(aval: ShapedArray) -> str:
    if aval.weak_type:
        return ".item()"
    return "" if aval.shape else "[()]"


class _Text:
    """The lines of a function being written, and the objects that it names."""

    def __init__(self, executable: Executable) -> None:
        self.lines: list[str] = []
        self.names: dict[str, Any] = {
            "ndarray": np.ndarray,
            "other": OTHER,
            "fork": fork,
            "stages": executable.stages,
            "new_stage": executable.new_stage,
            "execute": executable.execute,
            "handlers": executable.handlers,
        }
        self._count = 0

    def fresh(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}{self._count}"

    def line(self, text: str) -> None:
        self.lines.append(text)

    def object(self, value: Any) -> str:
        name = self.fresh("o")
        self.names[name] = value
        return name

    def function(self, name: str, parameters: Sequence[str]) -> Callable[..., Any]:
        body = "\n".join(f"    {line}" for line in self.lines)
        source = f"def {name}({', '.join(parameters)}):\n{body}\n"
        exec(compile(source, "<arguments of a compiled function>", "exec"), self.names)
        return self.names[name]
