"""The devices of a mesh, as what one program is compiled for and run on.

Each process passes the whole of each argument, and puts on its devices the parts that are theirs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from s2s.errors import UserError
from s2s_codegen.stablehlo.group import Group, joined
from s2s_codegen.stablehlo.mesh import Partition, Sharding
from s2s_codegen.stablehlo.runtime import ArrayType, Program, Runtime, compile_options, runtime
from s2s_codegen.stablehlo.xla import jaxlib, without_importing_jax, xla_client


def mesh_devices(sharding: Sharding, platform: str | None = None) -> MeshDevices:
    """The devices of a mesh: of this process, or of all that it has joined.

    Raises UserError if there are too few.
    """
    count, group = sharding.mesh.num_devices, joined()
    if group is not None and count % group.world:
        raise UserError(
            f"the mesh {sharding.mesh} has {count} devices, which {group.world} processes cannot "
            f"share evenly. Start as many processes as divide {count}."
        )
    own = runtime(platform, count // (group.world if group else 1), group)
    if len(own.all_devices) != count:
        raise UserError(
            f"the mesh {sharding.mesh} needs {count} devices, but there are "
            f"{len(own.all_devices)} of {own.description}. Choose a mesh of as many."
        )
    return MeshDevices(own, sharding, group)


class MeshDevices:
    """The devices of a mesh."""

    shares_memory = False

    def __init__(self, own: Runtime, sharding: Sharding, group: Group | None) -> None:
        lib = jaxlib()
        self._own = own
        self._sharding = sharding
        self._ids = np.array([device.id for device in own.all_devices], np.int32)
        self._list = lib.jax.DeviceList(tuple(own.all_devices))
        positions = {device.id: i for i, device in enumerate(own.all_devices)}
        self._positions = [positions[device.id] for device in own.devices]
        """Where in the mesh, counted along its axes, the devices of this process are."""
        self._whole = lib.MeshSharding(self._list, lib.HloSharding.replicate())
        self.description = None if group else f"{own.description} {sharding.mesh}"

    # -- programs -------------------------------------------------------------------------------

    def prepare(self, *, calls_lapack: bool) -> None:
        """Make what a program calls known to XLA; without it the first call ends the process."""
        self._own.prepare(calls_lapack=calls_lapack)

    def compile(self, program: Program, options: Sequence[tuple[str, Any]] = ()) -> Any:
        """A loaded executable. Raises UserError if the program divides its inputs otherwise."""
        made = self._own.compile_for(self._list, program, self._options(options))
        if len(self._ids) == 1:
            return made
        from_proto = jaxlib().HloSharding.from_proto
        said: list[Any] = [from_proto(one) for one in made.get_parameter_shardings()]
        whole = [from_proto(one).is_replicated() for one in made.get_output_shardings()]
        if said != [self._hlo(one) for one in self._sharding.inputs] or not all(whole):
            raise UserError(
                "how the program divides its arguments is not what is said of them, so it is "
                "damaged or was edited."
            )
        return made

    def load(self, serialized: bytes, options: Sequence[tuple[str, Any]] = ()) -> Any:
        """An executable from what its `serialize` gave, which must be trusted."""
        return self._own.load_for(self._list, serialized, self._options(options))

    def _options(self, overrides: Sequence[tuple[str, Any]]) -> Any:
        options = compile_options(overrides)
        build = options.executable_build_options
        options.num_replicas = build.num_replicas = 1
        options.num_partitions = build.num_partitions = len(self._ids)
        build.use_spmd_partitioning = True
        build.use_shardy_partitioner = True
        assignment = jaxlib().jax.DeviceAssignment.create(self._ids.reshape(1, -1))
        options.device_assignment = build.device_assignment = assignment
        return options

    def _hlo(self, partition: Partition) -> Any:
        """A partition as XLA has it."""
        if not any(partition):
            return jaxlib().HloSharding.replicate()
        mesh = self._sharding.mesh
        names = [name for name, _ in mesh.axes]
        used = [names.index(axis) for axis in partition if axis is not None]
        rest = [i for i in range(len(names)) if i not in used]
        places = np.arange(mesh.num_devices).reshape(mesh.shape).transpose([*used, *rest])
        client = xla_client()
        sharding = client.OpSharding()
        sharding.type = client.OpSharding.Type.OTHER
        tiles = [1 if axis is None else dict(mesh.axes)[axis] for axis in partition]
        copies = mesh.num_devices // int(np.prod(tiles))
        if copies > 1:
            tiles.append(copies)
            sharding.replicate_on_last_tile_dim = True
        sharding.tile_assignment_dimensions = tiles
        sharding.tile_assignment_devices = places.ravel().tolist()
        return jaxlib().HloSharding.from_proto(sharding)

    # -- arrays ---------------------------------------------------------------------------------

    def placement(self, index: int) -> Any:
        """What says where the input of a number is; results are where `placement(-1)` says."""
        partition = () if index < 0 else self._sharding.inputs[index]
        return (id(self._own), self._sharding.mesh, partition if any(partition) else ())

    def putter(self, index: int) -> Callable[[Any], Any]:
        """A function from a whole array to the parts of it that are on the devices."""
        return functools.partial(self._put, self._sharding.inputs[index])

    def _put(self, partition: Partition, array: Any) -> Any:
        lib = jaxlib()
        parts = [self._part(partition, position, array) for position in self._positions]
        if any(partition):
            # Where several devices have the same part, jaxlib fails if it is in the same memory.
            parts = [part.copy() for part in parts]
        return lib.jax.batched_device_put(
            ArrayType(array.shape, array.dtype),
            lib.MeshSharding(self._list, self._hlo(partition)),
            parts,
            self._own.devices,
            True,
            False,
            lib.copied,
            True,  # 64-bit types stay as they are
        )

    def _part(self, partition: Partition, position: int, array: Any) -> Any:
        """The part of an array that is on the device at a position of the mesh."""
        mesh = self._sharding.mesh
        names = [name for name, _ in mesh.axes]
        place = np.unravel_index(position, mesh.shape)
        slices: list[slice] = []
        for axis, size in zip(partition, array.shape, strict=True):
            if axis is None:
                slices.append(slice(None))
                continue
            number = names.index(axis)
            step = size // mesh.shape[number]
            start = int(place[number]) * step
            slices.append(slice(start, start + step))
        return array[tuple(slices)]

    def result_handler(self, type_: ArrayType) -> Any:
        """What turns a result of the executable into an array on the devices."""
        lib = jaxlib()
        return lib.jax.array_result_handler(type_, self._whole, *lib.handler_arguments)

    def reader(self, type_: ArrayType) -> Callable[[Any], Any]:
        """A function from a result to a NumPy array."""
        return functools.partial(_read_first, self._own.reader(type_))


def _read_first(read: Callable[[Any], Any], array: Any) -> Any:
    """What one of the devices has of a result, which all have."""
    with without_importing_jax():
        first = array._arrays[0]
    return read(first)


Devices = Runtime | MeshDevices
"""What a program is compiled for and runs on."""
