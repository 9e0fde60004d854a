"""Artifacts: a module of StableHLO that says what function it computes, and files of them.

A file is not trusted: it may be damaged, made by something else, or made to do harm. It is read in
a process of its own, since MLIR's readers may crash; that process hands back the module as text.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from s2s.errors import UserError
from s2s.ir.jaxpr import ClosedJaxpr
from s2s_codegen.stablehlo import portable
from s2s_codegen.stablehlo.calls import CompiledArtifact
from s2s_codegen.stablehlo.emit import emit_module
from s2s_codegen.stablehlo.lapack import is_lapack
from s2s_codegen.stablehlo.modules import ModuleContents
from s2s_codegen.stablehlo.names import Arguments
from s2s_codegen.stablehlo.signature import Signature, attributes_of, signature_from
from s2s_codegen.stablehlo.text import module_name, tensor_type

CUSTOM_CALLS = frozenset({"shape_assertion"})
"""The targets of custom calls that a module from a file may have, beside LAPACK's."""

_SECONDS_TO_READ = 30
"""And one more for each `_BYTES_A_SECOND`: some damaged files are never read to their end."""

_BYTES_A_SECOND = 200_000


@dataclass(frozen=True, eq=False)
class Artifact:
    """A function as StableHLO."""

    text: str
    """The module."""
    signature: Signature
    """What its function takes and returns."""
    unbounded: bool = True
    """Whether how long it runs may depend on the values of its arguments."""

    def compile(self, platform: str | None = None) -> CompiledArtifact:
        """The function, compiled for this machine: of NumPy arrays, by position or name.

        Args:
            platform: "cpu", "cuda" or "tpu"; by default what `S2S_PLATFORM` says, or "cpu".

        An artifact with named dimensions is compiled for each set of sizes it is called with.
        """
        return CompiledArtifact(
            self.text, self.signature, unbounded=self.unbounded, platform=platform
        )

    def to_bytes(self, version: str | None = None) -> bytes:
        """The module as a portable artifact, which other versions of StableHLO read.

        Args:
            version: the oldest version of StableHLO that must read it, such as "1.9.0"; by default
                that of 12 weeks before jaxlib's.
        """
        return portable.portable_artifact(self.text, version)

    def save(self, path: str | Path, version: str | None = None) -> None:
        """Write the module to a file: as text if it is called `.mlir`, as a portable artifact if
        `.mlirbc`. For `version` see `to_bytes`."""
        path = Path(path)
        if path.suffix not in (".mlir", ".mlirbc"):
            raise UserError(f"{path}: an artifact is called .mlir (text) or .mlirbc (bytecode).")
        data = self.to_bytes(version) if path.suffix == ".mlirbc" else self.text.encode()
        try:
            path.write_bytes(data)
        except OSError as error:
            raise UserError(f"{path} cannot be written: {error.strerror}.") from error

    def __repr__(self) -> str:
        return f"<artifact of {self.signature}>"


def artifact(closed: ClosedJaxpr, signature: Signature, *, unbounded: bool) -> Artifact:
    """The artifact of a finished jaxpr, whose inputs and outputs the signature names."""
    arguments = Arguments(signature.name, signature.places, signature.minimum)
    attributes = attributes_of(signature)
    text = emit_module(closed, signature.name, attributes, signature.sharding, arguments)
    return Artifact(text, signature, unbounded)


# -- from files -----------------------------------------------------------------------------------


def load_artifact(path: str | Path) -> Artifact:
    """The artifact in a file, which need not be trusted.

    Args:
        path: a file that `Artifact.save` or the command line wrote: text or a portable artifact.

    Raises:
        UserError: if there is no such file, if it is damaged or no StableHLO, if it does not say
            what its arguments are, or if it calls code outside of itself.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from error
    contents = _read_apart(path, data)
    called = set(contents.custom_calls) - CUSTOM_CALLS
    foreign = sorted(target for target in called if not is_lapack(target))
    if foreign:
        raise UserError(
            f"{path} calls code outside of itself ({', '.join(foreign)}), which s2s does not let "
            "an artifact do."
        )
    try:
        signature = signature_from(module_name(contents.text) or "main", contents.attributes)
    except UserError as error:
        raise UserError(f"{path}: {error.message}") from error
    # XLA would take the bytes of an argument, and of a result, for those of any other type.
    said = [list(map(tensor_type, avals)) for avals in (signature.inputs, signature.outputs)]
    if said != [contents.inputs, contents.outputs]:
        raise UserError(
            f"{path}: what the module says of its arguments and results ({signature}) is not what "
            "its function main has, so it is damaged or was edited."
        )
    return Artifact(contents.text, signature)


def _read_apart(path: Path, data: bytes) -> ModuleContents:
    """Read a module in another process."""
    program = (
        f"import sys; sys.path[:] = {sys.path!r}; "
        "from s2s_codegen.stablehlo.reading import read_and_report; read_and_report()"
    )
    try:
        process = subprocess.run(
            [sys.executable, "-c", program],
            input=data,
            capture_output=True,
            timeout=_SECONDS_TO_READ + len(data) / _BYTES_A_SECOND,
        )
        answer: dict[str, Any] = json.loads(process.stdout) if process.returncode == 0 else {}
    except (subprocess.TimeoutExpired, json.JSONDecodeError):
        answer = {}
    if "text" not in answer:
        why = answer.get("error")
        because = f" ({why.strip().partition(chr(10))[0]})" if why else ""
        raise UserError(f"{path} is damaged, or is no StableHLO that can be read here{because}.")
    return ModuleContents(**answer)
