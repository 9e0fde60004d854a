"""Running programs by jaxlib, and reading and writing modules of StableHLO."""

from __future__ import annotations

import functools
import io
import os
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from ctypes import c_double, c_float, c_int32, c_int64
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from s2s.errors import UserError
from s2s.ir.dtypes import DType
from s2s_codegen.stablehlo.group import Group
from s2s_codegen.stablehlo.lapack import is_lapack, is_sound
from s2s_codegen.stablehlo.platforms import make_client
from s2s_codegen.stablehlo.xla import (
    jaxlib,
    mlir_modules,
    register_lapack,
    without_importing_jax,
)

Program = str | bytes
"""A module as text, as MLIR bytecode or as a portable artifact."""

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


class Runtime:
    """The devices of one platform. Programs that are not for a mesh run on the first."""

    def __init__(self, platform: str, num_devices: int, group: Group | None = None) -> None:
        lib = jaxlib()
        self._client = make_client(platform, num_devices, group)
        self.shares_memory = platform == "cpu"
        """Whether programs can read and write the memory of NumPy's arrays."""
        self.description = platform
        """What executables depend on, besides the version of jaxlib and the processor."""
        self.devices: list[Any] = list(self._client.local_devices())
        self.all_devices: list[Any] = sorted(self._client.devices(), key=lambda device: device.id)
        """Those of all processes."""
        self._list = lib.jax.DeviceList((self.devices[0],))
        self._sharding = lib.OneDevice(self.devices[0])

    def prepare(self, program: Program) -> None:
        """Make what a program calls known to XLA; without it the first call ends the process."""
        if calls_lapack(program):
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
        self.prepare(program)
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
    options = jaxlib().client.CompileOptions()
    options.env_option_overrides = list(overrides)
    return options


def compile_for_target(plugin: Any, target: str, program: Program) -> bytes:
    """A program as machine code for a GPU that need not be here, by a plugin that is loaded.

    Args:
        plugin: what `load_plugin` gave.
        target: a GpuTargetConfigProto as text.
        program: for one device.
    """
    lib = jaxlib()
    topology = lib.client.make_c_api_device_topology(
        plugin, "", target_config=target, topology="1x1x1"
    )
    (device,) = topology._make_compile_only_devices()
    with _context() as mlir:
        module = mlir.ir.Module.parse(program)
        devices = lib.jax.DeviceList((device,))
        return device.client.compile(module, devices, compile_options(())).serialize()


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


# -- modules --------------------------------------------------------------------------------------


@functools.cache
def _mlir() -> Any:
    """What is used of the MLIR bindings."""
    modules: Any = mlir_modules()
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
        sdy=modules.sdy,
        dialects=(stablehlo, modules.chlo, modules.sdy),
        Context=Context,
        registry=registry,
    )


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


_DIALECTS = frozenset({"builtin", "func", "stablehlo", "chlo", "sdy"})
"""What the operations of a module may be of."""


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
            _restore_shardings(mlir, module)
            module.operation.verify()
        except (mlir.ir.MLIRError, RuntimeError) as error:
            raise ValueError(str(error)) from error
        try:
            return _contents(mlir, module)
        except RuntimeError as error:
            # What was damaged may be verified all the same: a name, say, that is not UTF-8.
            raise ValueError(str(error)) from error


def _contents(mlir: Any, module: Any) -> ModuleContents:
    calls: list[str] = []
    foreign: list[str] = []

    def visit(operation: Any) -> Any:
        if operation.name.partition(".")[0] not in _DIALECTS:
            foreign.append(operation.name)
        if operation.name == "stablehlo.custom_call":
            calls.append(_called(mlir, operation))
        return mlir.ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    if foreign:
        raise ValueError(f"{foreign[0]} is no operation of StableHLO")
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


_FRONTEND = "mhlo.frontend_attributes"
_RESULT_SHARDING = "xla.sdy.FuncResultSharding"


def _restore_shardings(mlir: Any, module: Any) -> None:
    """Write what a portable artifact says in strings, how arrays are divided, as Shardy has it.

    Such artifacts have no Shardy: jaxlib wrote the mesh and the shardings of arguments as
    attributes, and calls that stand around the results.
    """
    ir = mlir.ir
    outer = module.operation.attributes
    if _FRONTEND not in outer or "xla.sdy.meshes" not in outer[_FRONTEND]:
        return
    meshes = ir.Attribute.parse(ir.StringAttr(outer[_FRONTEND]["xla.sdy.meshes"]).value)
    main = ir.SymbolTable(module.operation)["main"]
    with ir.InsertionPoint.at_block_begin(module.body):
        for entry in meshes:
            name = entry if isinstance(entry, str) else entry.name
            mlir.sdy.MeshOp(name, meshes[name])
    del outer[_FRONTEND]
    arguments = [_sharding_string(ir, attributes) for attributes in main.arg_attrs]
    main.arg_attrs = ir.ArrayAttr.get([_sharding_attributes(ir, said) for said in arguments])
    results: list[Any] = []
    *_, last = main.entry_block.operations
    for operand in list(last.operands):
        made = operand.owner
        is_call = getattr(made, "name", "") == "stablehlo.custom_call"
        if not is_call or ir.StringAttr(made.attributes["call_target_name"]).value != (
            _RESULT_SHARDING
        ):
            results.append(ir.DictAttr.get({}))
            continue
        # One sharding in a list: <[<@mesh, [{}]>]>
        said = _sharding_string(ir, made.attributes).removeprefix("#sdy.sharding_per_value<[")
        results.append(_sharding_attributes(ir, f"#sdy.sharding{said.removesuffix(']>')}"))
        operand.replace_all_uses_with(made.operands[0])
        made.erase()
    main.res_attrs = ir.ArrayAttr.get(results)


def _sharding_string(ir: Any, attributes: Any) -> str:
    if _FRONTEND not in attributes or "xla.sdy.sharding" not in attributes[_FRONTEND]:
        return ""
    return ir.StringAttr(attributes[_FRONTEND]["xla.sdy.sharding"]).value


def _sharding_attributes(ir: Any, said: str) -> Any:
    return ir.DictAttr.get({"sdy.sharding": ir.Attribute.parse(said)} if said else {})


def _string_attributes(mlir: Any, operation: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in operation.attributes:
        name = entry if isinstance(entry, str) else entry.name
        attribute = operation.attributes[name]
        try:
            string = mlir.ir.StringAttr(attribute)
        except ValueError:  # it is no string
            continue
        found[name] = string.value
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
        serialize = jaxlib().jax.mlir.serialize_portable_artifact
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

    Raises ValueError if an assertion about sizes in the module does not hold, with its message.
    """
    try:
        refined = _refined(_for_shapes(text, shapes))
    except RuntimeError as error:
        raise ValueError(_message(_failed_assertion(text, shapes) or error)) from error
    if b"lapack_" in refined:
        unfit = sorted(set(filter(lambda call: " " in call, read_module(refined).custom_calls)))
        if unfit:
            raise ValueError(f"it calls {', '.join(unfit)}")
    return refined


def _failed_assertion(text: str, shapes: Sequence[Sequence[int]]) -> Exception | None:
    """Where sizes do not fit, an operation may be refused before the assertion that says so."""
    try:
        _refined(_for_shapes(text, shapes, assertions_only=True))
    except RuntimeError as error:
        return error
    return None


def _refined(program: bytes) -> bytes:
    return jaxlib().jax.mlir.refine_polymorphic_shapes(
        program, enable_shape_assertions=True, validate_static_shapes=True
    )


def _message(error: Exception) -> str:
    """What an error says, without where in the module."""
    line = _first_line(error)
    return line.partition(" error: ")[2] or line


def _for_shapes(
    text: str, shapes: Sequence[Sequence[int]], *, assertions_only: bool = False
) -> bytes:
    """A module whose `main` has arguments of given sizes, and calls what was its `main`."""
    with _context() as mlir:
        ir = mlir.ir
        module = ir.Module.parse(text)
        symbols = ir.SymbolTable(module.operation)
        general = symbols["main"]
        if assertions_only:
            _keep_assertions(mlir, general)
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
            # How arguments and results are divided over devices is said there.
            for attributes in ("arg_attrs", "res_attrs"):
                if attributes in general.attributes:
                    main.attributes[attributes] = general.attributes[attributes]
        with ir.InsertionPoint(main.add_entry_block()):
            operands = [
                argument if argument.type == type_ else mlir.stablehlo.convert(type_, argument)
                for argument, type_ in zip(main.arguments, wanted, strict=True)
            ]
            mlir.func.ReturnOp(mlir.func.CallOp(general, operands).results)
        return _bytecode(module)


def _keep_assertions(mlir: Any, function: Any) -> None:
    """Remove from a function what follows its last assertion about sizes, its results included."""
    operations = list(function.entry_block.operations)
    asserts = [operation.operation.name == "stablehlo.custom_call" for operation in operations]
    last = max((i for i, is_one in enumerate(asserts) if is_one), default=-1)
    for operation in reversed(operations[last + 1 :]):
        operation.operation.erase()
    with mlir.ir.InsertionPoint(function.entry_block):
        mlir.func.ReturnOp([])
    kind = mlir.ir.FunctionType.get(function.type.inputs, [])
    function.attributes["function_type"] = mlir.ir.TypeAttr.get(kind)
