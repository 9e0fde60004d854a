"""Calls of a compiled artifact: arguments are checked here, as XLA only compares sizes in bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from s2s.errors import UserError
from s2s.frontend.argument_types.types import render_array
from s2s.ir.dims import Size, linear_in, names_of, substitute
from s2s.ir.dtypes import PYTHON_SCALARS, refused_class
from s2s.ir.jaxpr import ShapedArray
from s2s.tree import TreeDef, flatten, unflatten
from s2s_codegen.stablehlo.cache import compiled
from s2s_codegen.stablehlo.executable import DeviceArray, Executable
from s2s_codegen.stablehlo.mesh import input_names
from s2s_codegen.stablehlo.refinement import specialised
from s2s_codegen.stablehlo.runtime import ArrayType, runtime
from s2s_codegen.stablehlo.sharded import Devices, mesh_devices
from s2s_codegen.stablehlo.signature import Fixed, Parameter, Signature
from s2s_codegen.stablehlo.xla import error_type


class CompiledArtifact:
    """The function of an artifact, on NumPy arrays."""

    def __init__(
        self, text: str, signature: Signature, *, unbounded: bool, platform: str | None = None
    ) -> None:
        self._text = text
        self._signature = signature
        self._unbounded = unbounded
        self._platform = platform
        self._executables: dict[tuple[int, ...], Executable] = {}
        self.__name__ = signature.name
        if not signature.dimensions:
            self._executable({})

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function returns, in its containers.

        Raises:
            UserError: for arguments that are not those of the signature.
        """
        given = self._bound(args, kwargs)
        arrays: list[Any] = []
        axes: list[_Axis] = []
        for parameter, value in zip(self._signature.parameters, given, strict=True):
            self._take(parameter, value, arrays, axes)
        sizes = self._sizes(axes)
        results = self._executable(sizes)(arrays)
        outputs = self._signature.outputs
        numbers = [
            result.item() if aval.weak_type else result if aval.shape else result[()]
            for result, aval in zip(results, outputs, strict=True)
        ]
        return unflatten(flatten(self._signature.result)[1], numbers)

    def __repr__(self) -> str:
        return f"<{self._signature}, compiled by XLA>"

    # -- programs -------------------------------------------------------------------------------

    def _executable(self, sizes: Mapping[str, int]) -> Executable:
        key = tuple(sizes[name] for name in self._signature.dimensions)
        found = self._executables.get(key)
        if found is None:
            found = self._executables[key] = self._compiled(sizes)
        return found

    def _compiled(self, sizes: Mapping[str, int]) -> Executable:
        inputs = [_with_sizes(aval, sizes) for aval in self._signature.inputs]
        outputs = [_with_sizes(aval, sizes) for aval in self._signature.outputs]
        devices = self._devices([type_.shape for type_ in inputs])
        program: str | bytes = self._text
        if self._signature.dimensions:
            try:
                program = specialised(self._text, [type_.shape for type_ in inputs])
            except ValueError as error:
                raise UserError(f"{self._signature.name}: {error}") from error
        try:
            loaded, _ = compiled(devices, program)
        except error_type() as error:
            why = str(error).strip().partition("\n")[0]
            raise UserError(f"{self._signature.name} cannot be compiled here: {why}") from error
        return Executable(devices, loaded, inputs, outputs, unbounded=self._unbounded)

    def _devices(self, shapes: Sequence[tuple[int, ...]]) -> Devices:
        sharding = self._signature.sharding
        if sharding is None:
            return runtime(self._platform)
        sharding.check_sizes(input_names(self._signature.parameters), shapes)
        return mesh_devices(sharding, self._platform)

    # -- arguments ------------------------------------------------------------------------------

    def _bound(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """The argument for each parameter; for one that is not given, its default, or for a fixed
        one the parameter."""
        rest = list(args)
        named = dict(kwargs)
        found: list[Any] = []
        for parameter in self._signature.parameters:
            name = parameter.name
            if parameter.stars == "*":
                found.append(tuple(rest))
                rest = []
            elif parameter.stars == "**":
                found.append(named)
                named = {}
            elif name in named:
                if rest:
                    self._refuse(f"`{name}` is given by position and by name")
                found.append(named.pop(name))
            elif rest:
                found.append(rest.pop(0))
            elif parameter.default is not None:
                found.append(parameter.default)
            elif parameter.is_fixed:
                found.append(parameter)
            else:
                self._refuse(f"`{name}` is missing")
        if rest:
            self._refuse(f"there are {len(rest)} arguments too many")
        if named:
            self._refuse(f"there is no parameter `{next(iter(named))}`")
        return found

    def _refuse(self, problem: str) -> Any:
        raise UserError(f"{self._signature.name}: {problem}. It is {self._signature}.")

    def _take(
        self,
        parameter: Parameter,
        value: Any,
        arrays: list[Any],
        axes: list[_Axis],
    ) -> None:
        if value is parameter:
            return
        leaves, structure = flatten(parameter.type)
        places = self._parts(structure, value, parameter.name)
        for leaf, (place, part) in zip(leaves, places, strict=True):
            if isinstance(leaf, Fixed):
                if repr(part) != leaf.text:
                    self._refuse(
                        f"`{place}` was fixed to {leaf.text} when the artifact was made, and "
                        f"cannot be {part!r}"
                    )
                continue
            arrays.append(self._checked(leaf, place, part, axes))

    def _parts(self, structure: TreeDef, value: Any, place: str) -> list[tuple[str, Any]]:
        """The leaves of an argument, each with where it stands."""
        kind = structure.kind
        if kind is None:
            return [(place, value)]
        if kind is type(None):
            if value is not None:
                self._refuse(f"`{place}` must be None")
            return []
        found: list[tuple[str, Any]] = []
        if issubclass(kind, dict):
            if not _has_keys(value, structure.keys):
                keys = ", ".join(map(repr, structure.keys))
                self._refuse(f"`{place}` must be a dict with the keys {keys}")
            parts = [(f"{place}[{key!r}]", value[key]) for key in structure.keys]
        elif kind in (list, tuple):
            count = len(structure.keys)
            if not _has_length(value, count):
                self._refuse(f"`{place}` must be a {kind.__name__} of {count}")
            parts = [(f"{place}[{i}]", part) for i, part in enumerate(value)]
        else:
            names = list(map(str, structure.keys))
            if not all(hasattr(value, name) for name in names):
                self._refuse(f"`{place}` must have the fields {', '.join(names)}")
            parts = [(f"{place}.{name}", getattr(value, name)) for name in names]
        for child, (where, part) in zip(structure.children, parts, strict=True):
            found += self._parts(child, part, where)
        return found

    def _checked(
        self,
        aval: ShapedArray,
        place: str,
        value: Any,
        axes: list[_Axis],
    ) -> Any:
        """The argument as an array of the element type that the program has."""
        wanted = render_array(aval)
        if isinstance(value, DeviceArray):
            value = np.asarray(value)
        if type(value) in PYTHON_SCALARS:
            if not np.can_cast(PYTHON_SCALARS[type(value)], aval.dtype, "same_kind"):
                self._refuse(f"`{place}` must be {wanted}, not {type(value).__name__}")
            array: Any = np.asarray(value, aval.dtype)
        elif _is_plain_array(value):
            array = np.asarray(value)
            if array.dtype.newbyteorder("=") != aval.dtype:
                self._refuse(f"`{place}` must be {wanted}, but its elements are {array.dtype}")
            array = array.astype(aval.dtype, copy=False)
        else:
            self._refuse(f"`{place}` must be {wanted}, not {type(value).__name__}")
            raise AssertionError
        if array.ndim != aval.ndim:
            self._refuse(f"`{place}` must be {wanted}, but has the shape {array.shape}")
        for axis, (size, found) in enumerate(zip(aval.shape, array.shape, strict=True)):
            axes.append(_Axis(size, found, f"the size of axis {axis} of `{place}`"))
        return array

    def _sizes(self, axes: Sequence[_Axis]) -> dict[str, int]:
        """The named dimensions, for arguments whose axes have given sizes; which must fit."""
        sizes: dict[str, int] = {}
        known: dict[str, str] = {}
        # What is `n` before what is `2*n`.
        for axis in sorted(axes, key=lambda axis: len(str(axis.size))):
            found = linear_in(axis.size, sizes.keys())
            if found is not None:
                name, factor, rest = found
                sizes[name] = (axis.found - int(substitute(rest, sizes))) // factor
                known[name] = f"{axis.place if str(axis.size) == name else name} is {sizes[name]}"
        for axis in axes:
            if substitute(axis.size, sizes) != axis.found:
                names = " and ".join(known[name] for name in sorted(names_of(axis.size)))
                where = f", where {names}" if names else ""
                self._refuse(f"{axis.place} is {axis.found}, but must be {axis.size}{where}")
        for name, size in sizes.items():
            least = self._signature.minimum.get(name, 1)
            if size < least:
                self._refuse(f"{known[name]}, but must be at least {least}")
        return sizes


@dataclass(frozen=True, eq=False)
class _Axis:
    """An axis of an argument: the size that it must have, the one it has, and what it is called."""

    size: Size
    found: int
    place: str


def _is_plain_array(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic)) and refused_class(value) is None


def _has_keys(value: Any, keys: Sequence[Any]) -> bool:
    return isinstance(value, Mapping) and set(cast("Mapping[Any, Any]", value)) == set(keys)


def _has_length(value: Any, length: int) -> bool:
    return isinstance(value, (list, tuple)) and len(cast("Sequence[Any]", value)) == length


def _with_sizes(aval: ShapedArray, sizes: Mapping[str, int]) -> ArrayType:
    shape = tuple(int(substitute(size, sizes)) for size in aval.shape)
    return ArrayType(shape, aval.dtype)
