"""Compiled functions that a later process can have without tracing them.

Beside an executable in the cache stands a file that says what of a call it computes: the types of
its inputs and results, and the structure of what is returned. It is named after a digest of all
that the trace read (`s2s.api.reads`) and of all that the executable depends on.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Sequence
from types import NoneType
from typing import Any, NamedTuple

import numpy as np

from s2s.ir.jaxpr import ShapedArray
from s2s.tree import TreeDef
from s2s_codegen.stablehlo import cache
from s2s_codegen.stablehlo.executable import Compiled, Executable
from s2s_codegen.stablehlo.runtime import ArrayType, runtime

_KINDS: dict[str, type[Any]] = {"dict": dict, "list": list, "tuple": tuple, "none": NoneType}


class Remembered(NamedTuple):
    """What is known of a compiled function: what it was compiled to, and what it returns."""

    compiled: Compiled
    result: TreeDef
    """The structure of what the function returns."""
    out_avals: Sequence[ShapedArray]
    """The types of its leaves."""


def recall(digest: str, platform: str | None) -> Remembered | None:
    """The function for which `remember` was called with this digest, on devices such as these."""
    devices = runtime(platform)
    content = cache.read(cache.call_name(devices, digest))
    if content is None:
        return None
    said = ast.literal_eval(content.decode())
    stored = cache.Stored(*said["executable"])
    loaded = cache.loaded(devices, stored)
    if loaded is None:
        return None
    executable = Executable(
        devices,
        loaded,
        [_array_type(one) for one in said["inputs"]],
        [_array_type(one) for one in said["outputs"]],
        unbounded=said["unbounded"],
    )
    avals = [ShapedArray(tuple(shape), np.dtype(name), weak) for shape, name, weak in said["avals"]]
    compiled = Compiled(executable, said["places"], stored)
    return Remembered(compiled, _tree(said["result"]), avals)


def remember(digest: str, platform: str | None, made: Remembered) -> None:
    """Keep what `recall` gives, for results in plain containers of plain numbers."""
    stored, executable = made.compiled.stored, made.compiled.executable
    types = [*executable.inputs, *executable.outputs]
    result = _plain(made.result)
    if stored is None or result is None or any(type_.dtype.isbuiltin != 1 for type_ in types):
        return
    said = {
        "executable": (stored.name, stored.calls_lapack),
        "inputs": [(type_.shape, type_.dtype.name) for type_ in executable.inputs],
        "outputs": [(type_.shape, type_.dtype.name) for type_ in executable.outputs],
        "unbounded": executable.unbounded,
        "places": made.compiled.places,
        "result": result,
        "avals": [(aval.shape, aval.dtype.name, aval.weak_type) for aval in made.out_avals],
    }
    cache.write(cache.call_name(runtime(platform), digest), repr(said).encode())


def _array_type(said: Any) -> ArrayType:
    shape, name = said
    return ArrayType(tuple(shape), np.dtype(name))


def _plain(structure: TreeDef) -> Any:
    """A structure of plain containers, as a literal; None if there are others."""
    if structure.kind is None:
        return "leaf"
    kind = next((name for name, of in _KINDS.items() if of is structure.kind), None)
    children = list(map(_plain, structure.children))
    if kind is None or None in children or not all(map(_is_plain_key, structure.keys)):
        return None
    return [kind, structure.keys, children]


def _is_plain_key(key: Hashable) -> bool:
    return type(key) in (str, int, bool)


def _tree(said: Any) -> TreeDef:
    if said == "leaf":
        return TreeDef(None)
    kind, keys, children = said
    return TreeDef(_KINDS[kind], tuple(keys), tuple(map(_tree, children)))
