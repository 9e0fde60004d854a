"""Modules with open sizes, made for given ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from s2s_codegen.stablehlo.mlir import bytecode, context, first_line
from s2s_codegen.stablehlo.modules import read_module
from s2s_codegen.stablehlo.xla import jaxlib


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
    line = first_line(error)
    return line.partition(" error: ")[2] or line


def _for_shapes(
    text: str, shapes: Sequence[Sequence[int]], *, assertions_only: bool = False
) -> bytes:
    """A module whose `main` has arguments of given sizes, and calls what was its `main`."""
    with context() as mlir:
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
        return bytecode(module)


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
