"""A compiled program as a function of NumPy arrays.

Small arguments are copied to buffers that the program reads each time, which costs half of putting
them on the device one by one. A program that runs for long does so on another thread, so that
Ctrl-C ends the wait for it.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from s2s_codegen.stablehlo.cache import Stored
from s2s_codegen.stablehlo.runtime import (
    ArrayType,
    Runtime,
    aligned_empty,
    fork,
)

if TYPE_CHECKING:
    from s2s_codegen.stablehlo.sharded import Devices

STAGED_BYTES = 1 << 16
"""Up to this size an argument is copied to a buffer that is already on the device."""

LONG = 0.005
"""Seconds after which a program counts as one that a person may want to interrupt."""


class DeviceArray(NDArrayOperatorsMixin):
    """A result that stays on the device.

    NumPy's functions and operators take it as the array that it is, at the cost of its transfer,
    and so it has the methods of one. It cannot be changed.
    """

    __slots__ = ("_buffer", "_read", "placement", "type")

    def __init__(
        self, buffer: Any, type_: ArrayType, read: Callable[[Any], Any], placement: Any
    ) -> None:
        self._buffer = buffer
        self._read = read
        self.type = type_
        self.placement = placement
        """Says on which devices it is, and how it is divided over them."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes."""
        return self.type.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type."""
        return self.type.dtype

    @property
    def buffer(self) -> Any:
        """What jaxlib calls the array."""
        return self._buffer

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self._read(self._buffer), dtype, copy=copy)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if any(isinstance(x, DeviceArray) for x in kwargs.get("out", ())):
            raise TypeError("an array on a device cannot be changed: write a = a + b, not a += b")
        options = {name: _as_numpys(x) for name, x in kwargs.items()}
        return getattr(ufunc, method)(*map(_as_numpys, inputs), **options)

    def __getitem__(self, index: Any) -> Any:
        return np.asarray(self)[index]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # protocols that NumPy asks for
            raise AttributeError(name)
        return getattr(np.asarray(self), name)

    def __float__(self) -> float:
        return float(self._read(self._buffer))

    def __int__(self) -> int:
        return int(self._read(self._buffer))

    def __index__(self) -> int:
        return self._read(self._buffer).__index__()

    def __bool__(self) -> bool:
        return bool(self._read(self._buffer))

    def __format__(self, spec: str) -> str:
        return format(self._read(self._buffer)[()], spec)

    def __reduce__(self) -> Any:
        return np.array, (np.asarray(self),)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a value of rank 0 has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"DeviceArray({np.asarray(self)!r})"


def _as_numpys(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, DeviceArray) else value


Stage = tuple[list[Any], list[Any]]
"""For each argument, what is on the device and the memory of that; None for large ones."""


class Executable:
    """A program for arguments of fixed types.

    Args:
        devices: what it runs on.
        loaded: what `compile` or `load` of the devices gave.
        inputs, outputs: the types of its arguments and results.
        unbounded: whether how long it runs depends on the values of its arguments.
    """

    def __init__(
        self,
        devices: Devices,
        loaded: Any,
        inputs: Sequence[ArrayType],
        outputs: Sequence[ArrayType],
        *,
        unbounded: bool = False,
    ) -> None:
        self._devices = devices
        self.puts = list(map(devices.putter, range(len(inputs))))
        """For each argument, what puts it on the devices."""
        self.execute = loaded.execute_sharded
        self.loaded = loaded
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        self.handlers = [devices.result_handler(type_) for type_ in outputs]
        self.readers = [devices.reader(type_) for type_ in outputs]
        self.unbounded = unbounded
        """Whether how long it runs depends on the values of its arguments."""
        self.is_watched = True
        """Whether it runs on another thread: until it is known not to take long."""
        shares = isinstance(devices, Runtime) and devices.shares_memory
        self._put_shared = devices.put if isinstance(devices, Runtime) and shares else None
        # The small integers of ml_dtypes are packed on the device, so they share no memory.
        self.is_staged = [
            shares and type_.dtype.isbuiltin == 1 and type_.nbytes <= STAGED_BYTES
            for type_ in inputs
        ]
        """For each argument, whether it is copied to memory that the program reads."""
        self.stages: list[Stage] = []
        """Those that no call uses; taking one and giving it back are safe between threads."""

    def new_stage(self) -> Stage:
        """Memory for the small arguments of one call at a time."""
        memory: list[Any] = [None] * len(self.inputs)
        buffers: list[Any] = [None] * len(self.inputs)
        for number, (is_staged, type_) in enumerate(zip(self.is_staged, self.inputs, strict=True)):
            if is_staged and self._put_shared is not None:
                memory[number] = aligned_empty(type_)
                buffers[number] = self._put_shared(memory[number], alias=True)
        return buffers, memory

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        """The results for arguments that have the types of `inputs`, as NumPy arrays.

        The results are read-only: they are views of memory that is XLA's.
        """
        if fork.happened:
            fork.refuse()
        if self.is_watched and threading.current_thread() is threading.main_thread():
            return self._run_watched(arrays)
        return self._run(arrays)

    def _run(self, arrays: Sequence[Any]) -> list[Any]:
        try:
            stage = self.stages.pop()
        except IndexError:
            stage = self.new_stage()
        buffers, memory = stage
        filled = list(buffers)
        for number, (staged, array) in enumerate(zip(memory, arrays, strict=True)):
            if staged is None:
                filled[number] = self.puts[number](array)
            else:
                staged[...] = array
        results = self.execute(filled).consume_with_handlers(self.handlers)
        read = [read(result) for read, result in zip(self.readers, results, strict=True)]
        # Only now: what was put may keep the program waiting, which reads the stage then.
        self.stages.append(stage)
        return read

    def on_device(self, arrays: Sequence[Any]) -> list[DeviceArray]:
        """The results as arrays that stay on the device; so may the arguments be."""
        fork.refuse()
        buffers = [
            self._on_device(number, array, put)
            for number, (array, put) in enumerate(zip(arrays, self.puts, strict=True))
        ]
        results = self.execute(buffers).consume_with_handlers(self.handlers)
        kinds = zip(results, self.outputs, self.readers, strict=True)
        where = self._devices.placement(-1)
        return [DeviceArray(result, type_, read, where) for result, type_, read in kinds]

    def _on_device(self, number: int, array: Any, put: Callable[[Any], Any]) -> Any:
        if not isinstance(array, DeviceArray):
            return put(np.asarray(array))
        if array.placement == self._devices.placement(number):
            return array.buffer
        return put(np.asarray(array))

    # -- long computations ----------------------------------------------------------------------

    def _run_watched(self, arrays: Sequence[Any]) -> list[Any]:
        start = time.perf_counter()
        # If Ctrl-C ends the wait the program still runs, and keeps its stage.
        results = _workers.run(lambda: self._run(arrays))
        self.is_watched = self.unbounded or time.perf_counter() - start > LONG
        return results


class Compiled:
    """An executable, and which of its results are those of the jaxpr."""

    def __init__(
        self, executable: Executable, places: Sequence[int], stored: Stored | None
    ) -> None:
        self.executable = executable
        self.places = list(places)
        self.stored = stored
        """Where the executable is in the cache."""

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        """The results, for arrays of the types of the jaxpr's inputs."""
        results = self.executable(arrays)
        return [results[i] for i in self.places]

    def on_device(self, arrays: Sequence[Any]) -> list[Any]:
        """The same, as arrays that stay on the device."""
        results = self.executable.on_device(arrays)
        return [results[i] for i in self.places]


class _Workers:
    """A thread that calls functions for the main one."""

    def __init__(self) -> None:
        self._tasks: queue.SimpleQueue[Any] | None = None

    def run(self, function: Callable[[], Any]) -> Any:
        """What the function returns. Ctrl-C leaves it to end by itself."""
        if self._tasks is None:
            self._tasks = queue.SimpleQueue()
            threading.Thread(target=_serve, args=(self._tasks,), daemon=True).start()
        answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        try:
            self._tasks.put((function, answers))
            result, error = answers.get()
        except BaseException:
            self._tasks.put(None)
            self._tasks = None  # that thread is busy
            raise
        if error is not None:
            raise error
        return result


def _serve(tasks: queue.SimpleQueue[Any]) -> None:
    while (task := tasks.get()) is not None:
        function, answers = task
        try:
            answers.put((function(), None))
        except BaseException as error:  # handed to the thread that waits
            answers.put((None, error))
        del task, function, answers


_workers = _Workers()
