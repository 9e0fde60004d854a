"""What stands in a module of StableHLO that was made somewhere else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from s2s_codegen.stablehlo.lapack import is_lapack, is_sound
from s2s_codegen.stablehlo.mlir import context
from s2s_codegen.stablehlo.runtime import Program

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
    with context() as mlir:
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
        except (RuntimeError, TypeError) as error:
            # What was damaged may be verified all the same: a name, say, that is not UTF-8, or an
            # attribute of a kind that the bindings take for another.
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
