"""MLIR, which knows modules of StableHLO: it parses, changes and writes them."""

from __future__ import annotations

import functools
import io
from collections.abc import Generator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from s2s_codegen.stablehlo.xla import mlir_modules


@functools.cache
def _bindings() -> Any:
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
def context() -> Generator[Any]:
    """The MLIR bindings, with a context in force."""
    mlir = _bindings()
    made = mlir.Context()
    made.append_dialect_registry(mlir.registry)
    made.enable_multithreading(False)
    _ = made.dialects["func"]
    for dialect in mlir.dialects:
        dialect.register_dialect(made)
    with made, mlir.ir.Location.unknown():
        yield mlir


def bytecode(module: Any) -> bytes:
    """A module as MLIR bytecode."""
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()


def first_line(error: Exception) -> str:
    """What an error says first."""
    return str(error).strip().partition("\n")[0]
