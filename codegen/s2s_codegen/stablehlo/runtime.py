"""jaxlib, as s2s uses it: the one module that imports it.

Nothing here imports jax, nor calls what makes jaxlib import it (`LoadedExecutable.execute`, the
conversion of results by `_single_device_array_to_np_array_did_copy`, DLPack), nor sets one of JAX's
global switches, so both can live in one process. What differs between versions of jaxlib is told by
signatures, not by numbers.
"""

from __future__ import annotations

import functools
import importlib
import io
import os
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from s2s.errors import UserError
from s2s.ir.dtypes import DType
from s2s_codegen.stablehlo.lapack import is_lapack, is_sound
from s2s_codegen.stablehlo.text import element_type

Program = str | bytes
"""A module as text, as MLIR bytecode or as a portable artifact."""

VERSIONS = "jaxlib>=0.10.1,<0.13"

_VIEWABLE = frozenset("?bhilqpBHILQPefdFD")
"""The element types of which jaxlib shows results as arrays; of others it shows nothing."""


@dataclass(frozen=True)
class ArrayType:
    """The type of an argument or result: sizes and element type."""

    shape: tuple[int, ...]
    dtype: DType

    weak_type = False  # read by jaxlib

    @property
    def nbytes(self) -> int:
        """The size in bytes."""
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize


@functools.cache
def _jaxlib() -> Any:
    """What is used of jaxlib."""
    with _quiet():
        try:
            lib: Any = importlib.import_module("jaxlib._jax")
            client: Any = importlib.import_module("jaxlib.xla_client")
        except ImportError as error:
            raise UserError(
                f"running StableHLO needs jaxlib, which cannot be imported ({error}). "
                f"Install it with: pip install '{VERSIONS}'"
            ) from error
    if not hasattr(lib, "array_result_handler"):
        raise UserError(f"this version of jaxlib is not supported; s2s needs {VERSIONS}.")

    class OneDevice(lib.SingleDeviceSharding):
        """Where the arrays of a program for one device are."""

        memory_kind = None

        def _to_xla_hlo_sharding(self, ndim: int) -> Any:  # asked for by jaxlib 0.10
            return client.HloSharding.replicate()

    # Up to 0.11.0, checks that need JAX's own class of arrays are to be skipped.
    checks = "_skip_checks" in str(lib.array_result_handler.__nb_signature__)
    return SimpleNamespace(
        jax=lib,
        client=client,
        OneDevice=OneDevice,
        handler_arguments=(True, True) if checks else (True,),
        copied=lib.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL,
        aliased=lib.HostBufferSemantics.ZERO_COPY,
        error=lib.JaxRuntimeError,
    )


@contextmanager
def _quiet() -> Generator[None]:
    """Import jaxlib with its log off: the level is read when its first library is loaded."""
    before = os.environ.get("TF_CPP_MIN_LOG_LEVEL")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("TF_CPP_MIN_LOG_LEVEL", None)


def version() -> str:
    """The version of jaxlib."""
    return importlib.import_module("jaxlib.version").__version__


def error_type() -> type[Exception]:
    """What jaxlib raises when a program cannot be compiled or fails as it runs."""
    return _jaxlib().error


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
_clients: dict[tuple[str, int], Runtime] = {}
_clients_lock = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=fork.record)


def runtime(platform: str = "cpu", num_devices: int = 1) -> Runtime:
    """The devices of a platform: made when first asked for, then shared by the whole process."""
    fork.refuse()
    with _clients_lock:
        found = _clients.get((platform, num_devices))
        if found is None:
            found = _clients[platform, num_devices] = Runtime(platform, num_devices)
        return found


class Runtime:
    """The devices of one platform."""

    def __init__(self, platform: str, num_devices: int) -> None:
        lib = _jaxlib()
        self.platform = platform
        if platform != "cpu":
            raise UserError(f"there is no platform {platform!r} to run programs on; there is cpu.")
        # Synchronous: handing small programs to another thread costs more than they do.
        self._client = lib.client.make_cpu_client(asynchronous=False, num_devices=num_devices)
        self.devices: list[Any] = list(self._client.local_devices())
        self._list = lib.jax.DeviceList((self.devices[0],))
        self._sharding = lib.OneDevice(self.devices[0])

    def prepare(self, program: Program) -> None:
        """Make what a program calls known to XLA; without it the first call ends the process."""
        if ("lapack_" in program) if isinstance(program, str) else (b"lapack_" in program):
            _register_lapack()

    def compile(self, program: Program, options: Sequence[tuple[str, Any]] = ()) -> Any:
        """A loaded executable. `options` override XLA's flags."""
        self.prepare(program)
        return self._client.compile_and_load(program, self._list, _options(options))

    def load(self, serialized: bytes, options: Sequence[tuple[str, Any]] = ()) -> Any:
        """An executable from what its `serialize` gave, which must be trusted.

        What it calls must be known (`prepare`).
        """
        return self._client.deserialize_executable(serialized, self._list, _options(options))

    def put(self, array: Any, *, alias: bool = False) -> Any:
        """An array on the device. With `alias`, one that shares the memory of the NumPy array,
        which must be contiguous and aligned (see `aligned_empty`)."""
        lib = _jaxlib()
        return lib.client.batched_device_put(
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
        lib = _jaxlib()
        return lib.jax.array_result_handler(type_, self._sharding, *lib.handler_arguments)

    def reader(self, type_: ArrayType) -> Callable[[Any], Any]:
        """A function from an array on the device to a NumPy array."""
        return np.asarray if type_.dtype.char in _VIEWABLE else _BitReader(self, type_)


@functools.cache
def _register_lapack() -> None:
    """Let programs call LAPACK, which is that of SciPy."""
    lapack: Any = importlib.import_module("jaxlib.lapack")
    register = _jaxlib().client.register_custom_call_target
    for platform, targets in lapack.registrations().items():
        for name, target, api_version in targets:
            register(name, target, platform=platform, api_version=api_version)
    lapack._lapack.initialize()


def _options(overrides: Sequence[tuple[str, Any]]) -> Any:
    options = _jaxlib().client.CompileOptions()
    options.env_option_overrides = list(overrides)
    return options


class _BitReader:
    """Reads arrays of element types that NumPy has from ml_dtypes: their bits, as integers."""

    def __init__(self, runtime: Runtime, type_: ArrayType) -> None:
        self.dtype = type_.dtype
        name = type_.dtype.name
        sizes = "".join(f"{size}x" for size in type_.shape)
        element = element_type(type_.dtype)
        # Integers of 2 and 4 bits are packed on the device, and have a byte each in NumPy.
        self._converts = name.startswith(("int", "uint"))
        op = "convert" if self._converts else "bitcast_convert"
        bits = 8 * type_.dtype.itemsize
        is_signed = name.startswith("int")
        host = np.dtype(f"{'int' if is_signed else 'uint'}{bits}")
        source = f"tensor<{sizes}{element}>"
        result = f"tensor<{sizes}{'i' if is_signed else 'ui'}{bits}>"
        self._executable = runtime.compile(
            f"func.func @main(%x: {source}) -> {result} {{\n"
            f"  %y = stablehlo.{op} %x : ({source}) -> {result}\n  return %y : {result}\n}}\n"
        )
        self._handlers = [runtime.result_handler(ArrayType(type_.shape, host))]

    def __call__(self, array: Any) -> Any:
        results = self._executable.execute_sharded([array])
        (bits,) = results.consume_with_handlers(self._handlers)
        host = np.asarray(bits)
        return host.astype(self.dtype) if self._converts else host.view(self.dtype)


def aligned_empty(type_: ArrayType) -> Any:
    """An array whose memory XLA can use as it is: it begins at a multiple of 64 bytes."""
    size = type_.nbytes
    raw = np.empty(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size].view(type_.dtype).reshape(type_.shape)


# -- modules --------------------------------------------------------------------------------------


@functools.cache
def _mlir() -> Any:
    """What is used of the MLIR bindings."""
    _jaxlib()
    modules: Any = _mlir_modules()
    ir, stablehlo = modules.ir, modules.stablehlo

    class Context(ir.Context):
        """A context without jaxlib's set-up, which loads every dialect and starts threads."""

        def __init__(self) -> None:
            super(ir.Context, self).__init__()

    registry = ir.DialectRegistry()
    modules.extension.register_dialects(registry)
    stablehlo.register_stablehlo_passes()
    return SimpleNamespace(
        ir=ir,
        passes=modules.passmanager.PassManager,
        func=modules.func,
        stablehlo=stablehlo,
        dialects=(stablehlo, modules.chlo, modules.sdy),
        Context=Context,
        registry=registry,
    )


def _mlir_modules() -> SimpleNamespace:
    names = {
        "ir": "ir",
        "passmanager": "passmanager",
        "extension": "_mlir_libs._jax_mlir_ext",
        **{name: f"dialects.{name}" for name in ("chlo", "func", "sdy", "stablehlo")},
    }
    found = {key: importlib.import_module(f"jaxlib.mlir.{name}") for key, name in names.items()}
    return SimpleNamespace(**found)


@contextmanager
def _context() -> Generator[Any]:
    """The MLIR bindings, with a context in force."""
    mlir = _mlir()
    context = mlir.Context()
    context.append_dialect_registry(mlir.registry)
    context.enable_multithreading(False)
    _ = context.dialects["func"]
    for dialect in mlir.dialects:
        dialect.register_dialect(context)
    with context, mlir.ir.Location.unknown():
        yield mlir


@dataclass(frozen=True)
class ModuleContents:
    """What stands in a module."""

    text: str
    attributes: dict[str, str]
    """The strings among its attributes."""
    custom_calls: list[str]
    """The targets of all custom calls; more than a name for one whose arrays do not fit."""
    inputs: list[str]
    """The types of the arguments of `main`."""
    outputs: list[str]
    """The types of its results."""


def read_module(program: Program) -> ModuleContents:
    """Parse and verify a module. Raises ValueError if it is none.

    MLIR's readers may end the process on a file that was damaged: for files, see `artifact`.
    """
    with _context() as mlir:
        try:
            module = mlir.ir.Module.parse(program)
            if isinstance(program, bytes) and b"StableHLO_v" in program[:32]:
                module = mlir.stablehlo.deserialize_portable_artifact(module.context, program)
            module.operation.verify()
        except (mlir.ir.MLIRError, RuntimeError) as error:
            raise ValueError(str(error)) from error
        calls: list[str] = []

        def visit(operation: Any) -> Any:
            if operation.name == "stablehlo.custom_call":
                calls.append(_called(mlir, operation))
            return mlir.ir.WalkResult.ADVANCE

        module.operation.walk(visit)
        text = module.operation.get_asm(enable_debug_info=True)
        inputs: list[str] = []
        outputs: list[str] = []
        for operation in module.body.operations:
            if isinstance(operation, mlir.func.FuncOp) and operation.name.value == "main":
                inputs = list(map(str, operation.type.inputs))
                outputs = list(map(str, operation.type.results))
        attributes = _string_attributes(mlir, module.operation)
        return ModuleContents(text, attributes, calls, inputs, outputs)


def _called(mlir: Any, operation: Any) -> str:
    """The target of a custom call; more than a name for a call of LAPACK that does not fit.

    The sizes of a call with open sizes are known, and looked at, when they are given.
    """
    target: str = mlir.ir.StringAttr(operation.attributes["call_target_name"]).value
    text: str = operation.get_asm()
    if not is_lapack(target) or "?" in text or is_sound(text):
        return target
    return f"{target} with other arrays than it takes"


def _string_attributes(mlir: Any, operation: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in operation.attributes:
        name = entry if isinstance(entry, str) else entry.name
        attribute = operation.attributes[name]
        with suppress(ValueError):  # what is no string cannot be cast to one
            found[name] = mlir.ir.StringAttr(attribute).value
    return found


def portable_artifact(text: str, target: str | None = None) -> bytes:
    """A module in the form that other versions of StableHLO read.

    Args:
        text: the module.
        target: the oldest version of StableHLO that must read it, such as "1.9.0"; by default that
            of 12 weeks ago.
    """
    with _context() as mlir:
        hlo = mlir.stablehlo
        weeks = hlo.StablehloCompatibilityRequirement.WEEK_12
        target = target or str(hlo.get_version_from_compatibility_requirement(weeks))
        oldest, newest = hlo.get_minimum_version(), hlo.get_current_version()
        if not _numbers(oldest) <= _numbers(target) <= _numbers(newest):
            raise UserError(
                f"a module cannot be written for version {target} of StableHLO: {oldest} to "
                f"{newest} are known here."
            )
        module = mlir.ir.Module.parse(text)
        pipeline = "builtin.module(func.func(chlo-legalize-to-stablehlo))"
        mlir.passes.parse(pipeline).run(module.operation)
        serialize = _jaxlib().jax.mlir.serialize_portable_artifact
        takes_bytes = "mlir_module: bytes" in serialize.__nb_signature__[0][0]
        try:
            return serialize(_bytecode(module) if takes_bytes else module, target)
        except (ValueError, RuntimeError) as error:
            raise UserError(
                f"the module has what version {target} of StableHLO did not have "
                f"({_first_line(error)})."
            ) from error


def _numbers(version_: str) -> tuple[int, ...]:
    try:
        return tuple(map(int, version_.split(".")))
    except ValueError:
        raise UserError(f"{version_!r} is no version of StableHLO; one is 1.9.0.") from None


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def _bytecode(module: Any) -> bytes:
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()


def specialised(text: str, shapes: Sequence[Sequence[int]]) -> bytes:
    """A module whose `main` has arguments of unknown sizes, for given ones.

    Raises ValueError if an assertion about sizes in the module does not hold.
    """
    with _context() as mlir:
        ir = mlir.ir
        module = ir.Module.parse(text)
        symbols = ir.SymbolTable(module.operation)
        general = symbols["main"]
        general.attributes["sym_visibility"] = ir.StringAttr.get("private")
        symbols.set_symbol_name(general, "main_of_any_size")
        wanted = general.type.inputs
        types = [
            ir.RankedTensorType.get(list(shape), type_.element_type)
            for shape, type_ in zip(shapes, wanted, strict=True)
        ]
        with ir.InsertionPoint.at_block_begin(module.body):
            main = mlir.func.FuncOp(
                "main", ir.FunctionType.get(types, general.type.results), visibility="public"
            )
        with ir.InsertionPoint(main.add_entry_block()):
            operands = [
                argument if argument.type == type_ else mlir.stablehlo.convert(type_, argument)
                for argument, type_ in zip(main.arguments, wanted, strict=True)
            ]
            mlir.func.ReturnOp(mlir.func.CallOp(general, operands).results)
        program = _bytecode(module)
    try:
        refined: bytes = _jaxlib().jax.mlir.refine_polymorphic_shapes(
            program, enable_shape_assertions=True, validate_static_shapes=True
        )
    except RuntimeError as error:
        raise ValueError(_first_line(error)) from error
    if b"lapack_" in refined:
        unfit = sorted(set(filter(lambda call: " " in call, read_module(refined).custom_calls)))
        if unfit:
            raise ValueError(f"it calls {', '.join(unfit)}")
    return refined
