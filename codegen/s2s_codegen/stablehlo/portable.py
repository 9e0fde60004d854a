"""Modules in the form that other versions of StableHLO read."""

from __future__ import annotations

from s2s.errors import UserError
from s2s_codegen.stablehlo.mlir import bytecode, context, first_line
from s2s_codegen.stablehlo.xla import jaxlib


def portable_artifact(text: str, target: str | None = None) -> bytes:
    """A module in the form that other versions of StableHLO read.

    Args:
        text: the module.
        target: the oldest version of StableHLO that must read it, such as "1.9.0"; by default that
            of 12 weeks ago.
    """
    with context() as mlir:
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
            return serialize(bytecode(module) if takes_bytes else module, target)
        except (ValueError, RuntimeError) as error:
            raise UserError(
                f"the module has what version {target} of StableHLO did not have "
                f"({first_line(error)})."
            ) from error


def _numbers(version_: str) -> tuple[int, ...]:
    try:
        return tuple(map(int, version_.split(".")))
    except ValueError:
        raise UserError(f"{version_!r} is no version of StableHLO; one is 1.9.0.") from None
