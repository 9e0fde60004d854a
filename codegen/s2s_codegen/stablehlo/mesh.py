"""Programs that run on several devices at once: how arguments are divided between them.

The devices form a mesh whose axes have names. An argument is divided along some of its axes, each
over an axis of the mesh; every device has the same part along all others. What the devices then
have to say to each other XLA finds out from this. Results are whole on every device.

    Mesh.of({"data": 4})                              sdy.mesh @mesh = <["data"=4]>
    x: f64[n, d] divided as ("data",)                 #sdy.sharding<@mesh, [{"data"}, {}]>
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from keyword import iskeyword
from math import prod
from typing import Any, Protocol

from s2s.errors import UserError
from s2s.frontend.argument_types.types import render_array
from s2s.ir.jaxpr import ShapedArray
from s2s.tree import flatten, leaf_paths

Partition = tuple[str | None, ...]
"""For each axis of an array, the axis of the mesh over which it is divided, if it is."""


@dataclass(frozen=True)
class Mesh:
    """Devices in a grid."""

    axes: tuple[tuple[str, int], ...]
    """The axes of the grid: the name and the number of devices along it."""

    @staticmethod
    def of(sizes: Mapping[str, int]) -> Mesh:
        """The mesh with axes of these names and sizes. Raises UserError if they are none."""
        for name, size in sizes.items():
            if not name.isidentifier() or iskeyword(name) or type(size) is not int or size < 1:
                raise UserError(
                    f"a mesh cannot have the axis {name}={size!r}; its axes have names and numbers "
                    "of devices, as in data=4."
                )
        if not sizes:
            raise UserError("a mesh needs at least one axis, as in data=4.")
        return Mesh(tuple(sizes.items()))

    @property
    def num_devices(self) -> int:
        """How many devices there are."""
        return prod(self.shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of devices along the axes."""
        return tuple(size for _, size in self.axes)

    def __str__(self) -> str:
        return ", ".join(f"{name}={size}" for name, size in self.axes)

    @property
    def attribute(self) -> str:
        """The mesh as Shardy has it."""
        axes = ", ".join(f'"{name}"={size}' for name, size in self.axes)
        return f"<[{axes}]>"


def attribute_of(partition: Partition) -> str:
    """A partition as Shardy has it."""
    shown = ", ".join("{}" if axis is None else f'{{"{axis}"}}' for axis in partition)
    return f"{{sdy.sharding = #sdy.sharding<@mesh, [{shown}]>}}"


@dataclass(frozen=True)
class Sharding:
    """How each input of a program is divided."""

    mesh: Mesh
    inputs: tuple[Partition, ...]

    def check_sizes(self, names: Sequence[str], shapes: Sequence[Sequence[Any]]) -> None:
        """Raise UserError if a size that is known does not divide."""
        sizes = dict(self.mesh.axes)
        for name, shape, partition in zip(names, shapes, self.inputs, strict=True):
            for number, (size, axis) in enumerate(zip(shape, partition, strict=True)):
                if axis is not None and isinstance(size, int) and size % sizes[axis]:
                    raise UserError(
                        f"the size of axis {number} of `{name}` is {size}, which cannot be divided "
                        f"evenly over the {sizes[axis]} devices of the mesh axis {axis}. Choose a "
                        f"multiple of {sizes[axis]}, or pad the array."
                    )


class Typed(Protocol):
    """A parameter with the pytree of types of its argument."""

    @property
    def name(self) -> str: ...
    @property
    def type(self) -> Any: ...


def input_names(parameters: Sequence[Typed]) -> list[str]:
    """What each input of a program is called: `x`, `params.w`, `pair.0`."""
    names: list[str] = []
    for parameter in parameters:
        leaves, structure = flatten(parameter.type)
        for leaf, path in zip(leaves, leaf_paths(structure), strict=True):
            if isinstance(leaf, ShapedArray):
                names.append(".".join([parameter.name, *map(str, path)]))
    return names


def sharding_of(
    mesh: Mesh, wanted: Mapping[str, Partition], parameters: Sequence[Typed]
) -> Sharding:
    """How the inputs of a program are divided.

    Args:
        mesh: the devices.
        wanted: the partitions of arguments by name: `x`, or `params.w` for a part of one. What is
            said of a container holds for all in it of which nothing else is said. Axes of which
            nothing is said are not divided.
        parameters: those of the program.

    Raises:
        UserError: for names of arguments or axes that there are not, more axes than an array has,
            and sizes that do not divide.
    """
    names = input_names(parameters)
    leaves = [leaf for parameter in parameters for leaf in flatten(parameter.type)[0]]
    avals = [leaf for leaf in leaves if isinstance(leaf, ShapedArray)]
    for given, partition in wanted.items():
        if not any(_holds(given, name) for name in names):
            raise UserError(
                f"there is no argument {given} to divide over devices; there are "
                f"{', '.join(names)}."
            )
        _check_axes(mesh, given, partition)
    inputs: list[Partition] = []
    for name, aval in zip(names, avals, strict=True):
        said = max((given for given in wanted if _holds(given, name)), key=len, default=None)
        partition = () if said is None else wanted[said]
        for axis in filter(None, partition[aval.ndim :]):
            raise UserError(
                f"`{name}` is {render_array(aval)}, which has no axis "
                f"{partition.index(axis)} to divide over the mesh axis {axis}."
            )
        inputs.append((*partition, *[None] * aval.ndim)[: aval.ndim])
    found = Sharding(mesh, tuple(inputs))
    found.check_sizes(names, [aval.shape for aval in avals])
    return found


def _holds(given: str, name: str) -> bool:
    return name == given or name.startswith(f"{given}.")


def _check_axes(mesh: Mesh, given: str, partition: Partition) -> None:
    known = [name for name, _ in mesh.axes]
    used = [axis for axis in partition if axis is not None]
    for axis in used:
        if axis not in known:
            raise UserError(
                f"`{given}` cannot be divided over {axis}: the mesh has the axes "
                f"{', '.join(known)}."
            )
        if used.count(axis) > 1:
            raise UserError(f"`{given}` cannot be divided twice over the mesh axis {axis}.")


# -- as text --------------------------------------------------------------------------------------


def mesh_from(text: str) -> Mesh:
    """The mesh that `data=4, model=2` says. Raises UserError for anything else."""
    sizes: dict[str, int] = {}
    for part in text.split(","):
        name, equals, size = map(str.strip, part.partition("="))
        if not equals or not size.isdecimal() or name in sizes:
            raise UserError(
                f"{text!r} is no mesh of devices; write its axes and their sizes, as in data=4 or "
                "data=4,model=2."
            )
        sizes[name] = int(size)
    return Mesh.of(sizes)


def partitions_from(text: str) -> dict[str, Partition]:
    """What `x: data, params.w: [None, model]` says. Raises UserError for anything else."""
    found: dict[str, Partition] = {}
    for part in _split(text):
        name, colon, said = map(str.strip, part.partition(":"))
        inside = said[1:-1] if said.startswith("[") and said.endswith("]") else said
        axes = [axis.strip() for axis in inside.split(",")]
        if not colon or not name or name in found or not all(map(str.isidentifier, axes)):
            raise UserError(
                f"{part.strip()!r} does not say how an argument is divided; write the mesh axis of "
                "its first axis, as in x: data, or of each, as in w: [None, model]."
            )
        found[name] = tuple(None if axis == "None" else axis for axis in axes)
    return found


def _split(text: str) -> list[str]:
    """The parts between commas that stand outside of brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "[") - (character == "]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part for part in parts if part.strip()]


def partitions_text(names: Sequence[str], sharding: Sharding) -> str:
    """The text that `partitions_from` reads."""
    said: list[str] = []
    for name, partition in zip(names, sharding.inputs, strict=True):
        if partition[:1] != (None,) and not any(partition[1:]):
            said += [f"{name}: {axis}" for axis in partition[:1]]
        elif any(partition):
            said.append(f"{name}: [{', '.join(map(str, partition))}]")
    return ", ".join(said)
