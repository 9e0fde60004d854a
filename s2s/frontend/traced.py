"""What tracing a function gives: a jaxpr, and how its flat values make up arguments and results."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from s2s.frontend.argument_types.types import ArgumentType, Static
from s2s.ir.jaxpr import ClosedJaxpr, ShapedArray
from s2s.tree import TreeDef, flatten, leaf_paths, unflatten

NO_DEFAULT = inspect.Parameter.empty


@dataclass(frozen=True)
class Parameter:
    """One parameter of the traced function, with the type of its argument.

    For `*args` the type is a tuple of types, for `**kwargs` a dict of them.
    """

    name: str
    type: ArgumentType
    default: Any = NO_DEFAULT
    kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD

    @property
    def leaves(self) -> list[ShapedArray]:
        """The types of the traced values in the argument, in the order of the jaxpr's inputs."""
        return [leaf for leaf in flatten(self.type)[0] if isinstance(leaf, ShapedArray)]

    @property
    def is_static(self) -> bool:
        """Whether nothing in the argument is traced."""
        return not self.leaves

    def with_leaves(self, leaves: Sequence[ShapedArray]) -> Parameter:
        """The same parameter with other types for its traced values."""
        return dataclasses.replace(self, type=fill(self.type, leaves, keep_static=True))


def fill(argument: ArgumentType, values: Sequence[Any], keep_static: bool = False) -> Any:
    """The argument of the given type with `values` in place of what is traced in it."""
    leaves, structure = flatten(argument)
    remaining = iter(values)
    parts = [
        leaf if isinstance(leaf, Static) and keep_static
        else leaf.value if isinstance(leaf, Static)
        else next(remaining)
        for leaf in leaves
    ]  # fmt: skip
    return unflatten(structure, parts)


def leaf_names(parameter: Parameter) -> list[str]:
    """A name for each traced value of an argument, from the names of fields and keys.

    `params` of type {w1: ..., b1: ...} gives `w1`, `b1`; items of lists give `layers_0`.
    """
    leaves, structure = flatten(parameter.type)
    names: list[str] = []
    for leaf, path in zip(leaves, leaf_paths(structure), strict=True):
        if not isinstance(leaf, ShapedArray):
            continue
        name = parameter.name
        for key in path:
            name = key if isinstance(key, str) and key.isidentifier() else f"{name}_{key}"
        names.append(name if name.isidentifier() else parameter.name)
    return names


def full_leaf_names(parameter: Parameter) -> list[str]:
    """A name for each traced value of an argument that says its whole path: `params_w1`."""
    leaves, structure = flatten(parameter.type)
    names: list[str] = []
    for leaf, path in zip(leaves, leaf_paths(structure), strict=True):
        if isinstance(leaf, ShapedArray):
            name = "_".join([parameter.name, *map(str, path)])
            names.append(re.sub(r"\W", "_", name))
    return names


@dataclass(frozen=True)
class Left:
    """A traced value of an argument that is another one when the function returns."""

    parameter: str
    leaf: int
    """Which of the parameter's traced values it is."""
    is_rebound: bool
    """Whether its container has something else in its place, instead of an array changed in
    place."""


@dataclass(frozen=True)
class InOrder:
    """An array in an argument that must lie in row-major order."""

    parameter: str
    leaf: int
    """Which of the parameter's traced values it is."""
    itself: bool
    """Whether it must do so itself, or else what NumPy computes from it, element by element."""


@dataclass(frozen=True)
class FunctionInfo:
    """The user's function: where it stands and what it says about itself."""

    name: str
    file: str
    line: int
    doc: str
    digest: str
    """A hash of the source of the user's file, to tell whether a generated module is stale."""
    changes: tuple[Left, ...] = ()
    """What it changes in its arguments."""


@dataclass(frozen=True, eq=False)
class Traced:
    """A function from flat values to flat values, with the shape that users see.

    The inputs of `closed` are the traced values of all parameters in order; its outputs are the
    leaves of `result`, and then what is left in the arguments.
    """

    closed: ClosedJaxpr
    parameters: tuple[Parameter, ...]
    result: TreeDef
    function: FunctionInfo
    minimum: dict[str, int] = field(default_factory=dict[str, int])
    """Lower bounds of named dimensions that were taken for granted."""
    in_order: tuple[InOrder, ...] = ()
    """The arrays in the arguments that were taken to lie in row-major order."""
    left: tuple[Left, ...] = ()
    """What the function leaves in its arguments, if that is kept: the last outputs of `closed`."""

    def parameter_slices(self) -> list[slice]:
        """For each parameter, which inputs of the jaxpr are its traced values."""
        slices: list[slice] = []
        start = 0
        for parameter in self.parameters:
            stop = start + len(parameter.leaves)
            slices.append(slice(start, stop))
            start = stop
        return slices
