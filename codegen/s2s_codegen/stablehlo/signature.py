"""What an artifact says about its function, in attributes of the module.

    module @loss_grad attributes {
      s2s.arguments = "[[\\22w\\22, \\22f64[d]\\22], [\\22p\\22, {\\22dict\\22: ...}]]",
      s2s.result = "\\22f64[d]\\22",
      ...

Types are written as `--args` has them; containers as JSON objects with one entry, their kind.
"""

from __future__ import annotations

import inspect
import json
import keyword
import re
import shlex
from collections import namedtuple
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from s2s.errors import UserError
from s2s.frontend.argument_types.text import parse_type
from s2s.frontend.argument_types.types import ArgumentType, Static, render, render_array
from s2s.frontend.traced import Traced
from s2s.ir.dims import Size, names_of, substitute
from s2s.ir.jaxpr import ShapedArray
from s2s.tree import TreeDef, flatten, unflatten
from s2s_codegen.stablehlo.mesh import (
    Sharding,
    input_names,
    mesh_from,
    partitions_from,
    partitions_text,
    sharding_of,
)

_STARS = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


class Fixed:
    """A part of an argument that was fixed when the artifact was made; `text` is its `repr`."""

    def __init__(self, text: str) -> None:
        self.text = text


@dataclass(frozen=True)
class Parameter:
    """One parameter: its name, and a pytree of `ShapedArray` and `Fixed`."""

    name: str
    type: Any
    stars: str = ""
    """`*` or `**` if it takes any number of arguments."""
    default: float | None = None
    """The number that it is if it is not given, if there is one."""

    @property
    def is_fixed(self) -> bool:
        """Whether nothing in it is an input of the program."""
        return not any(isinstance(leaf, ShapedArray) for leaf in flatten(self.type)[0])


@dataclass(frozen=True)
class Signature:
    """The function that an artifact computes."""

    name: str
    parameters: tuple[Parameter, ...]
    result: Any
    """A pytree of `ShapedArray`."""
    minimum: Mapping[str, int] = field(default_factory=dict[str, int])
    """The least size of named dimensions."""
    source: str = ""
    """The file and line of the user's function."""
    digest: str = ""
    """A hash of the user's file."""
    command: str = ""
    """The command that made it."""
    version: str = ""
    """The version of s2s."""
    sharding: Sharding | None = None
    """How the inputs are divided over devices, if there are several."""

    @property
    def inputs(self) -> list[ShapedArray]:
        """The types of the program's arguments."""
        leaves = [leaf for p in self.parameters for leaf in flatten(p.type)[0]]
        return [leaf for leaf in leaves if isinstance(leaf, ShapedArray)]

    @property
    def places(self) -> list[str]:
        """What the user calls each of the program's arguments: `params['w']`, `pair[0]`, `x`."""
        found: list[str] = []
        for parameter in self.parameters:
            leaves, structure = flatten(parameter.type)
            for leaf, place in zip(leaves, places_in(structure, parameter.name), strict=True):
                if isinstance(leaf, ShapedArray):
                    found.append(place)
        return found

    @property
    def outputs(self) -> list[ShapedArray]:
        """The types of the program's results."""
        return flatten(self.result)[0]

    @property
    def dimensions(self) -> list[str]:
        """The named dimensions, in the order in which the arguments have them."""
        names = [n for a in self.inputs for size in a.shape for n in sorted(names_of(size))]
        return list(dict.fromkeys(names))

    @property
    def divisions(self) -> str:
        """How the inputs are divided over devices, as `--shard` has it."""
        if self.sharding is None:
            return ""
        return partitions_text(input_names(self.parameters), self.sharding)

    def __str__(self) -> str:
        parameters = [
            f"{p.stars}{p.name}: {_shown(p.type)}{'' if p.default is None else f' = {p.default}'}"
            for p in self.parameters
        ]
        return f"{self.name}({', '.join(parameters)}) -> {_shown(self.result)}"


def with_sizes(type_: Any, sizes: Mapping[str, Size]) -> Any:
    """A pytree of types with sizes for named dimensions."""
    leaves, structure = flatten(type_)
    return unflatten(
        structure,
        [
            ShapedArray(
                tuple(substitute(size, sizes) for size in leaf.shape), leaf.dtype, leaf.weak_type
            )
            if isinstance(leaf, ShapedArray)
            else leaf
            for leaf in leaves
        ],
    )


def places_in(structure: TreeDef, place: str) -> list[str]:
    """What the leaves of a container called `place` are called."""
    kind = structure.kind
    if kind is None:
        return [place]
    is_record = kind not in (list, tuple) and not issubclass(kind, dict)
    found: list[str] = []
    for key, child in zip(structure.keys, structure.children, strict=True):
        found += places_in(child, f"{place}.{key}" if is_record else f"{place}[{key!r}]")
    return found


def _shown(type_: Any) -> str:
    leaves, structure = flatten(type_)
    shown = [Static(_Text(leaf.text)) if isinstance(leaf, Fixed) else leaf for leaf in leaves]
    return render(unflatten(structure, shown))


class _Text(str):
    """A text that is shown as it is."""

    def __repr__(self) -> str:
        return str(self)


def signature_of(
    traced: Traced,
    name: str,
    command: Sequence[str],
    version: str,
    sharding: Sharding | None = None,
) -> Signature:
    """The signature of a traced function."""
    parameters = tuple(
        Parameter(
            p.name, _without_values(p.type), _STARS.get(p.kind, ""), _number(p.type, p.default)
        )
        for p in traced.parameters
    )
    function = traced.function
    return Signature(
        name,
        parameters,
        unflatten(traced.result, traced.closed.out_avals),
        dict(traced.minimum),
        f"{function.file}:{function.line}" if function.file else "",
        function.digest,
        shlex.join(command),
        version,
        sharding,
    )


def _number(type_: ArgumentType, default: Any) -> float | None:
    """A default that an artifact can hold: a number, for a parameter that is one."""
    is_scalar = isinstance(type_, ShapedArray) and type_.weak_type
    return default if is_scalar and type(default) in (bool, int, float) else None


def _without_values(type_: ArgumentType) -> Any:
    leaves, structure = flatten(type_)
    kept = [Fixed(repr(leaf.value)) if isinstance(leaf, Static) else leaf for leaf in leaves]
    return unflatten(structure, kept)


# -- as attributes --------------------------------------------------------------------------------


def attributes_of(signature: Signature) -> dict[str, str]:
    """The attributes that say a signature."""
    arguments = [
        [p.stars + p.name, _written(p.type), *([] if p.default is None else [p.default])]
        for p in signature.parameters
    ]
    found = {
        "s2s.arguments": json.dumps(arguments),
        "s2s.result": json.dumps(_written(signature.result)),
        "s2s.sizes_at_least": json.dumps(dict(signature.minimum)),
        "s2s.source": signature.source,
        "s2s.source_digest": signature.digest,
        "s2s.command": signature.command,
        "s2s.version": signature.version,
    }
    if signature.sharding is not None:
        found["s2s.mesh"] = str(signature.sharding.mesh)
        found["s2s.sharding"] = signature.divisions
    return {key: value for key, value in found.items() if value not in ("", "{}")}


def signature_from(name: str, attributes: Mapping[str, str]) -> Signature:
    """The signature that attributes say. Raises UserError if they say none."""
    try:
        arguments = json.loads(attributes["s2s.arguments"])
        parameters = tuple(_parameter(*argument) for argument in arguments)
        minimum = json.loads(attributes.get("s2s.sizes_at_least", "{}"))
        return Signature(
            name,
            parameters,
            _read(json.loads(attributes["s2s.result"])),
            {str(key): int(value) for key, value in minimum.items()},
            attributes.get("s2s.source", ""),
            attributes.get("s2s.source_digest", ""),
            attributes.get("s2s.command", ""),
            attributes.get("s2s.version", ""),
            _sharding(attributes, parameters),
        )
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise UserError(
            "the module does not say what its arguments and results are (the attributes "
            "s2s.arguments and s2s.result), or they are damaged."
        ) from error


def _sharding(attributes: Mapping[str, str], parameters: Sequence[Parameter]) -> Sharding | None:
    if "s2s.mesh" not in attributes:
        return None
    divisions = partitions_from(attributes.get("s2s.sharding", ""))
    return sharding_of(mesh_from(attributes["s2s.mesh"]), divisions, parameters)


def _parameter(word: str, type_: Any, default: Any = None) -> Parameter:
    name = word.lstrip("*")
    if not (default is None or isinstance(default, (bool, int, float))):
        raise ValueError(f"{default!r} is no number")
    return Parameter(_identifier(name), _read(type_), word[: len(word) - len(name)], default)


def _identifier(name: Any) -> str:
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError(f"{name!r} is no name")
    return name


def _written(type_: Any) -> Any:
    if isinstance(type_, ShapedArray):
        return render_array(type_)
    if isinstance(type_, Fixed):
        return {"fixed": type_.text}
    if type_ is None:
        return None
    parts, structure = flatten(type_, is_leaf=lambda node: node is not type_)
    written = list(map(_written, parts))
    kind = structure.kind
    if kind in (list, tuple):
        return {kind.__name__: written}
    assert kind is not None
    if issubclass(kind, dict):
        for key in structure.keys:
            if not isinstance(key, (str, int)):
                raise UserError(f"an artifact cannot have a dict with the key {key!r}.")
        return {"dict": [list(item) for item in zip(structure.keys, written, strict=True)]}
    fields = [list(item) for item in zip(structure.keys, written, strict=True)]
    return {"record": [kind.__name__, fields]}


_ARRAY = re.compile(r"[a-z]+[0-9]*(\[[\w ,*+/()-]*\])?")


def _read(written: Any) -> Any:
    if written is None:
        return None
    if isinstance(written, str):
        found = parse_type(written, "artifact") if _ARRAY.fullmatch(written) else None
        if not isinstance(found, ShapedArray):
            raise ValueError(f"{written!r} is no type")
        return found
    ((kind, parts),) = written.items()
    if kind == "fixed":
        return Fixed(str(parts))
    if kind == "dict":
        return {key: _read(part) for key, part in parts}
    if kind == "record":
        name, fields = parts
        keys = [_identifier(key) for key, _ in fields]
        made = namedtuple(_identifier(name), keys)  # pyright: ignore
        return made(*[_read(part) for _, part in fields])
    if kind in ("list", "tuple"):
        items = list(map(_read, parts))
        return items if kind == "list" else tuple(items)
    raise ValueError(f"{kind!r} is no kind of container")
