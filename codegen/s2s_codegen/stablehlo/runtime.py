"""The devices that jaxlib runs programs on: they compile programs, and hold arrays."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from ctypes import c_double, c_float, c_int32, c_int64
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from s2s.errors import UserError
from s2s.ir.dtypes import DType
from s2s_codegen.stablehlo.xla import (
    jaxlib,
    register_lapack,
    without_importing_jax,
)

if TYPE_CHECKING:
    from s2s_codegen.stablehlo.group import Group

Program = str | bytes
"""A module as text, as MLIR bytecode or as a portable artifact."""

_VIEWABLE = frozenset("?bhilqpBHILQPefdFD")
"""The element types of which jaxlib shows results as arrays; of others it shows nothing."""


class ArrayType(NamedTuple):
    """The type of an argument or result: sizes and element type."""

    shape: tuple[int, ...]
    dtype: DType

    weak_type = False  # read by jaxlib

    @property
    def nbytes(self) -> int:
        """The size in bytes."""
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize


# -- clients --------------------------------------------------------------------------------------


class Fork:
    """Whether this process is a fork of one that had a client, whose threads it does not have."""

    happened = False

    def record(self) -> None:
        """Called in the child of a fork."""
        self.happened = bool(_clients)

    def refuse(self) -> None:
        """Raise UserError in such a process, in which XLA would hang."""
        if self.happened:
            raise UserError(
                "this process was forked from one that had used XLA, whose threads do not exist "
                'here. Start processes with multiprocessing.get_context("spawn") or "forkserver", '
                "or fork before the first call of a compiled function."
            )


fork = Fork()
_clients: dict[tuple[str, int, Group | None], Runtime] = {}
_clients_lock = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=fork.record)


def default_platform() -> str:
    """The platform on which programs run of which nothing else is said: `S2S_PLATFORM`, or CPUs."""
    return os.environ.get("S2S_PLATFORM") or "cpu"


def runtime(
    platform: str | None = None, num_devices: int = 1, group: Group | None = None
) -> Runtime:
    """The devices of a platform: made when first asked for, then shared by the whole process.

    Args:
        platform: "cpu", "cuda" or "tpu"; by default `default_platform`.
        num_devices: how many devices of this process there are to be; of CPUs there are as many as
            one likes.
        group: the processes with whose devices these make up meshes.
    """
    fork.refuse()
    platform = platform or default_platform()
    with _clients_lock:
        key = (platform, num_devices if platform == "cpu" else 0, group)
        found = _clients.get(key)
        shared = [count for _, count, of in _clients if group is not None and of is group]
        if found is None and shared:
            raise UserError(
                f"the processes that have joined share {shared[0]} devices each since the first "
                f"mesh was used, and cannot share {num_devices} now. Give all meshes as many "
                "devices."
            )
        if found is None:
            found = _clients[key] = Runtime(platform, num_devices, group)
        return found


def _make_client(platform: str, num_devices: int, group: Group | None) -> Any:
    """jaxlib's client of the devices of a platform."""
    if platform == "cpu":
        # Synchronous: handing small programs to another thread costs more than they do.
        joint = {} if group is None else group.client_options()
        make = jaxlib().jax.get_tfrt_cpu_client
        return make(asynchronous=False, num_devices=num_devices, **joint)
    if group is not None:
        raise UserError(f"several processes run programs together on cpu only, not on {platform}.")
    from s2s_codegen.stablehlo.platforms import make_client

    return make_client(platform)


class Runtime:
    """The devices of one platform. Programs that are not for a mesh run on the first."""

    def __init__(self, platform: str, num_devices: int, group: Group | None = None) -> None:
        lib = jaxlib()
        self._client = _make_client(platform, num_devices, group)
        self.shares_memory = platform == "cpu"
        """Whether programs can read and write the memory of NumPy's arrays."""
        self.description = platform
        """What executables depend on, besides the version of jaxlib and the processor."""
        self.devices: list[Any] = list(self._client.local_devices())
        self.all_devices: list[Any] = sorted(self._client.devices(), key=lambda device: device.id)
        """Those of all processes."""
        self._list = lib.jax.DeviceList((self.devices[0],))
        self._sharding = lib.OneDevice(self.devices[0])

    def prepare(self, *, calls_lapack: bool) -> None:
        """Make what a program calls known to XLA; without it the first call ends the process."""
        if calls_lapack:
            register_lapack()

    def compile(self, program: Program, options: Sequence[tuple[str, Any]] = ()) -> Any:
        """A loaded executable. `options` override XLA's flags."""
        return self.compile_for(self._list, program, compile_options(options))

    def load(self, serialized: bytes, options: Sequence[tuple[str, Any]] = ()) -> Any:
        """An executable from what its `serialize` gave, which must be trusted.

        What it calls must be known (`prepare`).
        """
        return self.load_for(self._list, serialized, compile_options(options))

    def compile_for(self, devices: Any, program: Program, options: Any) -> Any:
        """A loaded executable for a list of devices."""
        self.prepare(calls_lapack=calls_lapack(program))
        return self._client.compile_and_load(program, devices, options)

    def load_for(self, devices: Any, serialized: bytes, options: Any) -> Any:
        """A serialized executable for a list of devices."""
        return self._client.deserialize_executable(serialized, devices, options)

    def placement(self, index: int) -> Any:
        """What says where the input of a number is; results are where `placement(-1)` says."""
        return id(self)

    def putter(self, index: int) -> Callable[[Any], Any]:
        """A function from a NumPy array to one on the device, for the input of a number."""
        return self.put

    def put(self, array: Any, *, alias: bool = False) -> Any:
        """An array on the device. With `alias`, one that shares the memory of the NumPy array,
        which must be contiguous and aligned (see `aligned_empty`)."""
        lib = jaxlib()
        return lib.jax.batched_device_put(
            ArrayType(array.shape, array.dtype),
            self._sharding,
            [array],
            [self.devices[0]],
            True,
            False,
            lib.aliased if alias else lib.copied,
            True,  # 64-bit types stay as they are
        )

    def result_handler(self, type_: ArrayType) -> Any:
        """What turns a result of the executable into an array on the device."""
        lib = jaxlib()
        return lib.jax.array_result_handler(type_, self._sharding, *lib.handler_arguments)

    def reader(self, type_: ArrayType) -> Callable[[Any], Any]:
        """A function from an array on the device to a NumPy array."""
        shared = self.shares_memory and type_.dtype.char in _VIEWABLE
        return np.asarray if shared else _read_copy


def calls_lapack(program: Program) -> bool:
    """Whether a program calls LAPACK, or names something so."""
    return ("lapack_" in program) if isinstance(program, str) else (b"lapack_" in program)


_SCALARS = {"float64": c_double, "float32": c_float, "int64": c_int64, "int32": c_int32}


def scalar_reader(type_: ArrayType) -> Callable[[Any], Any] | None:
    """A function from a value of rank 0, in memory, to a number of Python's.

    It takes half the time of a view of the memory. None for element types that Python has not.
    """
    kind: Any = _SCALARS.get(type_.dtype.name)
    if kind is None:
        return None
    at = kind.from_address

    def read(array: Any) -> Any:
        if array.is_ready():
            return at(array.unsafe_buffer_pointer()).value
        return np.asarray(array).item()

    return read


def compile_options(overrides: Sequence[tuple[str, Any]]) -> Any:
    """Options of the compiler; `overrides` are of XLA's flags."""
    options = jaxlib().jax.CompileOptions()
    options.env_option_overrides = list(overrides)
    return options


def _read_copy(array: Any) -> Any:
    """An array of a kind of memory or of elements that jaxlib does not share."""
    with without_importing_jax():
        return array._single_device_array_to_np_array_did_copy()[0]


def aligned_empty(type_: ArrayType) -> Any:
    """An array whose memory XLA can use as it is: it begins at a multiple of 64 bytes."""
    size = type_.nbytes
    raw = np.empty(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size].view(type_.dtype).reshape(type_.shape)
