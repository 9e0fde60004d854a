"""What a generated function does on entry: unpack containers, read sizes, check its arguments.

It is made for arguments of certain types. Where broadcasting would give others another meaning
without a word, it raises.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from s2s.frontend.argument_types.types import Static, render
from s2s.frontend.traced import Parameter
from s2s.ir.dims import Size, dimension, linear_in, names_of, same_size
from s2s.ir.jaxpr import ShapedArray
from s2s.tree import TreeDef, flatten
from s2s_codegen.numpy_source.expression import tuple_of
from s2s_codegen.numpy_source.literals import is_literal, literal
from s2s_codegen.numpy_source.scope import Scope
from s2s_codegen.numpy_source.statements import Block, Line, Statement

_LINE = 80


@dataclass(frozen=True)
class Argument:
    """A traced value in the arguments: its name in the function, and how to get at it."""

    name: str
    path: str
    """`params["w1"]`; the same as `name` for an argument that is no container."""
    aval: ShapedArray


def access_paths(parameter: Parameter) -> list[tuple[str, ShapedArray | Static]]:
    """The expression of each leaf of an argument: `params["w1"]`, `layers[0].bias`."""
    leaves, structure = flatten(parameter.type)
    paths = _paths(structure, parameter.name)
    return list(zip(paths, leaves, strict=True))


def _paths(structure: TreeDef, text: str) -> list[str]:
    if structure.kind is None:
        return [text]
    found: list[str] = []
    by_attribute = structure.kind not in (list, tuple, dict) and not issubclass(
        structure.kind, dict
    )
    for key, child in zip(structure.keys, structure.children, strict=True):
        step = f".{key}" if by_attribute else f"[{literal(key)}]"
        found += _paths(child, text + step)
    return found


def unpacking(arguments: Sequence[Argument], parameters: Sequence[Parameter]) -> list[Statement]:
    """`w1, b1 = params["w1"], params["b1"]`, as many on a line as fit; or `(w, b), c = params`."""
    names = {argument.path: argument.name for argument in arguments}
    whole: list[Statement] = []
    for parameter in parameters:
        leaves, structure = flatten(parameter.type)
        paths = _paths(structure, parameter.name)
        pattern = _pattern(structure, iter([names.get(path) for path in paths]))
        if len(leaves) > 1 and pattern is not None and len(pattern) <= _LINE:
            whole.append(Line(f"{pattern} = {parameter.name}"))
            for path in paths:
                del names[path]
    rows: list[list[Argument]] = []
    for argument in arguments:
        if argument.path == argument.name or argument.path not in names:
            continue
        row = rows[-1] if rows else None
        if row is not None and len(_unpack([*row, argument])) <= _LINE:
            row.append(argument)
        else:
            rows.append([argument])
    return [*whole, *[Line(_unpack(row)) for row in rows]]


def _pattern(structure: TreeDef, names: Iterator[str | None], depth: int = 0) -> str | None:
    """What a sequence of sequences is assigned to, to give each leaf its name; None if there is a
    leaf without a name, or something else than a sequence."""
    if structure.kind is None:
        return next(names)
    if structure.kind is dict or not issubclass(structure.kind, (list, tuple)):
        return None
    parts: list[str] = []
    for child in structure.children:
        part = _pattern(child, names, depth + 1)
        if part is None:
            return None
        parts.append(part)
    return tuple_of(parts) if depth or len(parts) == 1 else ", ".join(parts)


def _unpack(row: Sequence[Argument]) -> str:
    names = ", ".join(argument.name for argument in row)
    return f"{names} = {', '.join(argument.path for argument in row)}"


# -- sizes ----------------------------------------------------------------------------------------


def reading_sizes(
    arguments: Sequence[Argument],
    scope: Scope,
    expected: str,
    minimum: dict[str, int],
    checked: bool,
) -> list[Statement]:
    """Read the named dimensions that are needed and check the shapes of the arguments."""
    arrays = [argument for argument in arguments if argument.aval.shape]
    if not checked:
        return _bind(arrays, scope, scope.sizes_read)[0]
    needed = {name for a in arrays for size in a.aval.shape for name in names_of(size)}
    statements, whole = _bind(arrays, scope, needed | scope.sizes_read)
    rest = [a for a in arrays if a not in whole]
    found = [f"{a.name}.shape" for a in rest]
    wanted = [tuple_of([scope.size(size).text for size in a.aval.shape]) for a in rest]
    conditions: list[str] = []
    if len(found) == 1:
        conditions.append(f"{found[0]} != {wanted[0]}")
    elif len(set(wanted)) == 1:
        conditions.append(f"{{{', '.join(found)}}} != {{{wanted[0]}}}")
    elif found:
        conditions.append(f"({', '.join(found)}) != ({', '.join(wanted)})")
    for argument in arguments:
        # Without arrays, what the signature calls a float is taken for one.
        if not argument.aval.shape and (arrays or not argument.aval.weak_type):
            conditions.append(f"np.ndim({argument.name})")
    for name in sorted(needed):
        least = minimum.get(name, 1)
        if least > 1:
            conditions.append(f"{scope.size_names[name]} < {least}")
    if conditions:
        test = f"if {' or '.join(conditions)}:"
        if len(test) > _LINE and conditions[0].startswith("("):
            name = scope.names.reserve("shapes")
            statements.append(Line(f"{name} = {', '.join(found)}"))
            conditions[0] = f"{name} != ({', '.join(wanted)})"
            test = f"if {' or '.join(conditions)}:"
        statements.append(Block(test, raising("ValueError", expected)))
    return statements


def _bind(
    arrays: Sequence[Argument], scope: Scope, needed: Collection[str]
) -> tuple[list[Statement], list[Argument]]:
    """Assign the needed dimensions; also the arrays whose shapes are taken apart as a whole."""
    missing = set(needed)
    targets: list[str] = []
    sources: list[str] = []
    whole: list[Argument] = []
    statements: list[Statement] = []
    for argument in sorted(arrays, key=lambda a: -len(a.aval.shape)):
        names = [_bare_name(size) for size in argument.aval.shape]
        if len(set(names)) == len(names) and all(name in missing for name in names):
            missing.difference_update(str(name) for name in names)
            texts = [scope.size_names[str(name)] for name in names]
            targets.append(f"({texts[0]},)" if len(texts) == 1 else ", ".join(texts))
            sources.append(f"{argument.name}.shape")
            whole.append(argument)
    if len(targets) == 1:
        statements.append(Line(f"{targets[0]} = {sources[0]}"))
    elif targets:
        left = ", ".join(t if t.startswith("(") else f"({t})" for t in targets)
        statements.append(Line(f"{left} = {', '.join(sources)}"))
    for argument in arrays:
        for axis, size in enumerate(argument.aval.shape):
            found = linear_in(size, set(needed) - missing)
            if found is not None and found[0] in missing:
                missing.discard(found[0])
                solved = _solved(f"{argument.name}.shape[{axis}]", *found[1:], scope)
                statements.append(Line(f"{scope.size_names[found[0]]} = {solved}"))
    return statements, whole


def _bare_name(size: Size) -> str | None:
    names = names_of(size)
    if len(names) != 1:
        return None
    (name,) = names
    return name if same_size(size, dimension(name)) else None


def _solved(text: str, factor: int, rest: Size, scope: Scope) -> str:
    """The size that, taken `factor` times and with `rest` added to it, is `text`."""
    if not same_size(rest, 0):
        text = f"({text} - {scope.size(rest).text})" if factor != 1 else f"{text} - {rest}"
    return text if factor == 1 else f"{text} // {factor}"


# -- other checks ---------------------------------------------------------------------------------


def checking_dtypes(arguments: Sequence[Argument], expected: str) -> list[Statement]:
    """Raise unless the arrays have the element types that the text was made for."""
    arrays = [a for a in arguments if a.aval.shape]
    if not arrays:
        return []
    found = ", ".join(f"{a.name}.dtype" for a in arrays)
    dtypes = list(dict.fromkeys(a.aval.dtype for a in arrays))
    if len(arrays) == 1:
        condition = f"{found} != {_numpy_name(arrays[0].aval.dtype)}"
    elif len(dtypes) == 1:
        condition = f"{{{found}}} != {{np.dtype({_numpy_name(dtypes[0])})}}"
    else:
        wanted = ", ".join(_numpy_name(a.aval.dtype) for a in arrays)
        condition = f"({found}) != ({wanted})"
    return [Block(f"if {condition}:", raising("TypeError", expected))]


def _numpy_name(dtype: np.dtype[np.generic]) -> str:
    return "np.bool_" if dtype.kind == "b" else f"np.{dtype.name}"


def checking_order(arrays: Sequence[tuple[Argument, bool]], function: str) -> list[Statement]:
    """Raise if an array does not lie in row-major order, where that decides what NumPy does."""
    statements: list[Statement] = []
    for argument, itself in arrays:
        like = argument.name if itself else f"np.empty_like({argument.name})"
        what = argument.path if itself else f"what it computes from {argument.path}"
        message = f"`{function}` reshapes and changes {what}, which must lie in row-major order"
        test = f"if not {like}.flags.c_contiguous:"
        statements.append(Block(test, raising("ValueError", message)))
    return statements


def checking_memory(
    changed: Sequence[Argument], arrays: Sequence[Argument], function: str
) -> list[Statement]:
    """Raise if an array that the user's function changes has elements in common with another one,
    which would change with it."""
    statements: list[Statement] = []
    for number, argument in enumerate(changed):
        earlier = [other.name for other in changed[:number]]
        others = [a.name for a in arrays if a.name != argument.name and a.name not in earlier]
        if not others:
            continue
        if len(others) == 1:
            condition = f"np.shares_memory({argument.name}, {others[0]})"
        else:
            together = f"({', '.join(others)})"
            condition = f"any(np.shares_memory({argument.name}, other) for other in {together})"
        message = f"`{function}` changes {argument.path}, which shares memory with another argument"
        statements.append(Block(f"if {condition}:", raising("ValueError", message)))
    return statements


def checking_static(parameters: Sequence[Parameter]) -> list[Statement]:
    """Raise unless arguments that were fixed have the values that they were fixed to."""
    statements: list[Statement] = []
    for parameter in parameters:
        for path, leaf in access_paths(parameter):
            if isinstance(leaf, Static) and is_literal(leaf.value):
                by_identity = leaf.value is None or isinstance(leaf.value, bool)
                is_other = f"{path} {'is not' if by_identity else '!='} {literal(leaf.value)}"
                if leaf.value != leaf.value:
                    is_other = f"{path} == {path}"  # Nothing is equal to NaN, not even that.
                message = f"made for {path.replace(chr(34), chr(39))}={leaf.value!r} only"
                statements.append(Block(f"if {is_other}:", raising("ValueError", message)))
    return statements


def raising(error: str, message: str) -> list[Statement]:
    """`raise ValueError("...")`, the message over several lines if it is long."""
    quoted = message.replace("\\", "\\\\").replace('"', '\\"')
    short = f'raise {error}("{quoted}")'
    if len(short) <= _LINE:
        return [Line(short)]
    pieces = [""]
    for part in re.split(r"(?<=, )(?=\w+: |\w+=)", quoted):
        if pieces[-1] and len(pieces[-1]) + len(part) > 70:
            pieces.append("")
        pieces[-1] += part
    return [Block(f"raise {error}(", [Line(f'"{piece}"') for piece in pieces]), Line(")")]


def expected_arguments(parameters: Sequence[Parameter], minimum: dict[str, int]) -> str:
    """The types of the arguments as an error names them."""
    types = [f"{p.name}: {render(p.type)}" for p in parameters if not p.is_static]
    bounds = [f"{name} >= {least}" for name, least in sorted(minimum.items()) if least > 1]
    return f"expected {', '.join([*types, *bounds])}"
