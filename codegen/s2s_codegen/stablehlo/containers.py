"""Fast ways from a call's arguments to arrays and from arrays to a result.

A compiled function is called again and again with arguments of the same types, so what takes them
apart is written for these types, as Python, once:

    def read(x, params):
        if type(x) is not ndarray or x.shape != (3,) or x.dtype is not t0: return None
        if type(params) is not dict or len(params) != 1: return None
        v1 = params["w"]
        ...
        return (x, v1)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from s2s.ir.jaxpr import ShapedArray
from s2s.tree import TreeDef, build_node

Reader = Callable[..., "tuple[Any, ...] | None"]

_SCALARS = {"b": bool, "i": int, "f": float, "c": complex}


def reader(structures: Sequence[TreeDef], avals: Sequence[ShapedArray]) -> Reader:
    """A function of positional arguments that returns their leaves, or None where the arguments are
    not exactly of these structures and types."""
    text = _Text()
    parameters = [text.fresh("a") for _ in structures]
    remaining = iter(avals)
    leaves: list[str] = []
    for name, structure in zip(parameters, structures, strict=True):
        _take_apart(text, name, structure, remaining, leaves)
    returned = ", ".join(leaves)
    text.line(f"return ({returned}{',' if len(leaves) == 1 else ''})")
    return text.function("read", parameters)


def _take_apart(
    text: _Text, name: str, structure: TreeDef, avals: Any, leaves: list[str]
) -> None:
    kind = structure.kind
    if kind is None:
        leaves.append(name)
        text.line(f"if {_unlike(text, name, next(avals))}: return None")
        return
    if kind is type(None):
        text.line(f"if {name} is not None: return None")
        return
    text.line(f"if type({name}) is not {text.object(kind)}: return None")
    if issubclass(kind, (dict, tuple, list)):
        text.line(f"if len({name}) != {len(structure.keys)}: return None")
    by_key = issubclass(kind, dict)
    by_place = issubclass(kind, (tuple, list))
    for place, (key, child) in enumerate(zip(structure.keys, structure.children, strict=True)):
        part = text.fresh("v")
        if by_key:
            text.line(f"if {text.object(key)} not in {name}: return None")
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


def builder(structure: TreeDef, avals: Sequence[ShapedArray]) -> Callable[[Sequence[Any]], Any]:
    """A function from the arrays of a program's results to what the user's function returns.

    Values of rank 0 become numbers: Python's where the user's function returns these, else NumPy's.
    """
    text = _Text()
    numbers = iter(range(len(avals)))

    def expression(node: TreeDef) -> str:
        kind = node.kind
        if kind is None:
            index = next(numbers)
            return f"r[{index}]{_scalar_suffix(avals[index])}"
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

    text.line(f"return {expression(structure)}")
    return text.function("build", ["r"])


def _scalar_suffix(aval: ShapedArray) -> str:
    if aval.weak_type:
        return ".item()"
    return "" if aval.shape else "[()]"


class _Text:
    """The lines of a function being written, and the objects that it names."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[str, Any] = {"ndarray": np.ndarray}
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


