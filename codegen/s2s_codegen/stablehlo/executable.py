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
from typing import Any

import numpy as np

from s2s_codegen.stablehlo.runtime import (
    ArrayType,
    Runtime,
    aligned_empty,
    fork,
)
from s2s_codegen.stablehlo.sharded import Devices

STAGED_BYTES = 1 << 16
"""Up to this size an argument is copied to a buffer that is already on the device."""

LONG = 0.005
"""Seconds after which a program counts as one that a person may want to interrupt."""


class DeviceArray:
    """A result that stays on the device. NumPy's functions take it, at the cost of its transfer."""

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

    def __float__(self) -> float:
        return float(self._read(self._buffer))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a value of rank 0 has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"DeviceArray({np.asarray(self)!r})"


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
        self._views = all(reader is np.asarray for reader in self.readers)
        self.lock = threading.Lock()
        self._unbounded = unbounded
        self.is_watched = True
        """Whether it runs on another thread: until it is known not to take long."""
        self._stage()

    def _stage(self) -> None:
        """Make the buffers for small arguments."""
        self.staged: list[Any] = []
        """For each argument, the memory it is copied to; None for one that is too large."""
        self.buffers: list[Any] = []
        for type_ in self.inputs:
            # The small integers of ml_dtypes are packed on the device, so they share no memory.
            is_small = type_.dtype.isbuiltin == 1 and type_.nbytes <= STAGED_BYTES
            staged = buffer = None
            if is_small and isinstance(self._devices, Runtime) and self._devices.shares_memory:
                staged = aligned_empty(type_)
                buffer = self._devices.put(staged, alias=True)
            self.staged.append(staged)
            self.buffers.append(buffer)
        self._all_staged = all(array is not None for array in self.staged)

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        """The results for arguments that have the types of `inputs`, as NumPy arrays.

        The results are read-only: they are views of memory that is XLA's.
        """
        if fork.happened:
            fork.refuse()
        if self.is_watched and threading.current_thread() is threading.main_thread():
            return self._run_watched(arrays)
        with self.lock:
            return self._run(arrays)

    def _run(self, arrays: Sequence[Any]) -> list[Any]:
        if self._all_staged:
            for staged, array in zip(self.staged, arrays, strict=True):
                staged[...] = array
            results = self.execute(self.buffers).consume_with_handlers(self.handlers)
        else:
            buffers: list[Any] = []
            places = zip(self.staged, self.buffers, self.puts, arrays, strict=True)
            for staged, buffer, put, array in places:
                if staged is None:
                    buffer = put(array)
                else:
                    staged[...] = array
                buffers.append(buffer)
            results = self.execute(buffers).consume_with_handlers(self.handlers)
        if self._views:
            return [np.asarray(result) for result in results]
        return [read(result) for read, result in zip(self.readers, results, strict=True)]

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
        with self.lock:
            start = time.perf_counter()
            try:
                results = _workers.run(lambda: self._run(arrays))
            except KeyboardInterrupt:
                # The program still runs, and reads the buffers.
                self._stage()
                raise
            self.is_watched = self._unbounded or time.perf_counter() - start > LONG
            return results


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
        self._tasks.put((function, answers))
        try:
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
