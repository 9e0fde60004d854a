"""Artifacts compiled before they are used, for this machine or for a GPU that is not here.

A file holds machine code, and what it was made for: it runs on such a device with the jaxlib that
made it. Unlike an artifact it must be trusted.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from s2s.errors import UserError
from s2s_codegen.stablehlo.artifact import Artifact, load_artifact
from s2s_codegen.stablehlo.cache import processor
from s2s_codegen.stablehlo.calls import CompiledArtifact
from s2s_codegen.stablehlo.compile import array_type
from s2s_codegen.stablehlo.executable import Executable
from s2s_codegen.stablehlo.gpu_targets import GPU_TARGETS
from s2s_codegen.stablehlo.mlir import context
from s2s_codegen.stablehlo.platforms import load_plugin
from s2s_codegen.stablehlo.refinement import specialised
from s2s_codegen.stablehlo.runtime import (
    Program,
    calls_lapack,
    compile_options,
    runtime,
)
from s2s_codegen.stablehlo.signature import Signature, attributes_of, signature_from, with_sizes
from s2s_codegen.stablehlo.xla import error_type, jaxlib, register_lapack, version, xla_client

_MARK = b"s2s compiled artifact 1\n"


@dataclass(frozen=True)
class CompiledFile:
    """A function as machine code for one kind of device."""

    signature: Signature
    target: str
    """A name of `GPU_TARGETS`, or "cpu"."""
    processor: str
    """For a CPU, a hash of what it can do."""
    jaxlib: str
    """The version that compiled it."""
    calls_lapack: bool
    executable: bytes

    @property
    def platform(self) -> str:
        """The kind of device."""
        return "cpu" if self.target == "cpu" else "cuda"

    def to_bytes(self) -> bytes:
        """What the file holds."""
        facts = {
            "name": self.signature.name,
            "attributes": attributes_of(self.signature),
            "target": self.target,
            "processor": self.processor,
            "jaxlib": self.jaxlib,
            "calls_lapack": self.calls_lapack,
        }
        header = json.dumps(facts).encode()
        content = len(header).to_bytes(8, "little") + header + self.executable
        return _MARK + hashlib.sha256(content).digest() + content

    def compile(self, platform: str | None = None) -> CompiledArtifact:
        """The function, which is compiled already.

        Raises UserError if this machine has no such device, or another version of jaxlib.
        """
        if platform not in (None, self.platform):
            raise UserError(
                f"{self.signature.name} was compiled for {self.target}, so it cannot run on "
                f"{platform}. Compile the artifact again for that."
            )
        if self.jaxlib != version():
            raise UserError(
                f"{self.signature.name} was compiled by jaxlib {self.jaxlib}, but here is "
                f"{version()}. Compile the artifact again, or install that version."
            )
        return _Loaded(self)


class _Loaded(CompiledArtifact):
    """The function of a compiled file."""

    def __init__(self, file: CompiledFile) -> None:
        self._file = file
        super().__init__("", file.signature, unbounded=True, platform=file.platform)

    def _compiled(self, sizes: Mapping[str, int]) -> Executable:
        file = self._file
        try:
            devices = runtime(file.platform)
        except UserError as error:
            raise UserError(
                f"{file.signature.name} was compiled for {file.target}: {error.message}"
            ) from error
        _check_device(file, devices.devices[0])
        if file.calls_lapack:
            register_lapack()
        try:
            loaded = devices.load(file.executable)
        except error_type() as error:
            why = str(error).strip().partition("\n")[0]
            raise UserError(f"{file.signature.name} cannot be loaded here ({why}).") from error
        inputs = list(map(array_type, file.signature.inputs))
        outputs = list(map(array_type, file.signature.outputs))
        return Executable(devices, loaded, inputs, outputs, unbounded=True)


def _check_device(file: CompiledFile, device: Any) -> None:
    if file.platform == "cpu":
        there, wanted = _processor_digest(), file.processor
        described = "a processor of another kind"
    else:
        there = str(getattr(device, "compute_capability", ""))
        wanted = GPU_TARGETS[file.target].compute_capability
        described = f"{device.device_kind}, of compute capability {there}"
    if there != wanted:
        raise UserError(
            f"{file.signature.name} was compiled for {file.target}, but here is {described}. "
            "Compile the artifact again for that."
        )


def _processor_digest() -> str:
    return hashlib.sha256(processor()).hexdigest()


# -- compiling ------------------------------------------------------------------------------------


def compile_ahead(artifact: Artifact, target: str | None, sizes: Mapping[str, int]) -> CompiledFile:
    """An artifact compiled for a GPU of a name, which need not be here, or for this machine's CPU.

    Args:
        artifact: for one device.
        target: a name of `GPU_TARGETS`; None for the CPU.
        sizes: of all dimensions that the artifact leaves open.

    Raises:
        UserError: if there is no such target, or sizes are missing.
    """
    signature = artifact.signature
    if target is not None and target not in GPU_TARGETS:
        raise UserError(f"there is no GPU target {target}; there are {', '.join(GPU_TARGETS)}.")
    if signature.sharding is not None:
        raise UserError(
            f"{signature.name} is for several devices ({signature.sharding.mesh}), which can only "
            "be compiled where they are. Make the artifact without --mesh."
        )
    missing = [name for name in signature.dimensions if name not in sizes]
    if missing:
        sizes_open = "sizes" if len(missing) > 1 else "size"
        example = ",".join(f"{name}=8" for name in signature.dimensions)
        raise UserError(
            f"{signature.name} leaves the {sizes_open} {' and '.join(missing)} open, so it cannot "
            f"be compiled. Give all, as in --dims {example}."
        )
    fixed = _with_sizes(signature, sizes)
    program: Program = artifact.text
    if signature.dimensions:
        shapes = [array_type(aval).shape for aval in fixed.inputs]
        try:
            program = specialised(artifact.text, shapes)
        except ValueError as error:
            raise UserError(f"{signature.name}: {error}") from error
    if target is not None and calls_lapack(program):
        raise UserError(
            f"{signature.name} calls LAPACK, which is for CPUs, so it cannot be compiled for "
            f"{target}."
        )
    try:
        if target is None:
            made = runtime("cpu").compile(program).serialize()
        else:
            made = _compile_for_target(load_plugin("cuda"), GPU_TARGETS[target].text, program)
    except error_type() as error:
        why = str(error).strip().partition("\n")[0]
        raise UserError(
            f"{signature.name} cannot be compiled for {target or 'cpu'}: {why}"
        ) from error
    digest = _processor_digest() if target is None else ""
    return CompiledFile(fixed, target or "cpu", digest, version(), calls_lapack(program), made)


def _with_sizes(signature: Signature, sizes: Mapping[str, int]) -> Signature:
    parameters = tuple(
        dataclasses.replace(p, type=with_sizes(p.type, sizes)) for p in signature.parameters
    )
    result = with_sizes(signature.result, sizes)
    return dataclasses.replace(signature, parameters=parameters, result=result, minimum={})


# -- files ----------------------------------------------------------------------------------------


def load(path: str | Path) -> Artifact | CompiledFile:
    """What a file holds: an artifact, or one that is compiled.

    Raises UserError if it is neither, or is damaged.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from error
    if not data.startswith(_MARK):
        return load_artifact(path)
    start = len(_MARK) + 32
    content = data[start:]
    if hashlib.sha256(content).digest() != data[len(_MARK) : start]:
        raise UserError(f"{path} is damaged; compile the artifact again.")
    end = 8 + int.from_bytes(content[:8], "little")
    facts: dict[str, Any] = json.loads(content[8:end])
    return CompiledFile(
        signature_from(facts["name"], facts["attributes"]),
        facts["target"],
        facts["processor"],
        facts["jaxlib"],
        facts["calls_lapack"],
        content[end:],
    )


def _compile_for_target(plugin: Any, target: str, program: Program) -> bytes:
    """A program as machine code for a GPU that need not be here, by a plugin that is loaded.

    Args:
        plugin: what `load_plugin` gave.
        target: a GpuTargetConfigProto as text.
        program: for one device.
    """
    topology = xla_client().make_c_api_device_topology(
        plugin, "", target_config=target, topology="1x1x1"
    )
    (device,) = topology._make_compile_only_devices()
    with context() as mlir:
        module = mlir.ir.Module.parse(program)
        devices = jaxlib().jax.DeviceList((device,))
        return device.client.compile(module, devices, compile_options(())).serialize()
