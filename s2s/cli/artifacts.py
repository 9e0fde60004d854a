"""Artifacts on the command line: writing one, showing what one is, running one."""

from __future__ import annotations

import contextlib
import os
import sys
import zipfile
import zlib
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s.cli.options import Options
from s2s.errors import UserError

if TYPE_CHECKING:
    from s2s_codegen.stablehlo.artifact import Artifact


def parse_dims(text: str | None) -> dict[str, int]:
    """`n=1024,d=32` as a dict. Raises UserError for anything else."""
    sizes: dict[str, int] = {}
    for part in (text or "").split(","):
        name, equals, value = map(str.strip, part.partition("="))
        if not part.strip():
            continue
        if not equals or not name.isidentifier() or not value.isdecimal() or int(value) < 1:
            raise UserError(
                f"--dims {text}: {part.strip()!r} does not say the size of a named dimension; "
                "write it as in --dims n=1024,d=32."
            )
        sizes[name] = int(value)
    return sizes


def check_dims(sizes: Mapping[str, int], known: set[str]) -> None:
    """Raise UserError if there is no dimension of a name that is given a size."""
    unknown = [name for name in sizes if name not in known]
    if unknown:
        there = f"they are {', '.join(sorted(known))}" if known else "all sizes are fixed"
        raise UserError(f"--dims: there is no dimension {unknown[0]}; {there}.")


def check_replaceable(path: Path) -> None:
    """Raise UserError if there is something at `path` that s2s must not replace."""
    if path.suffix not in (".mlir", ".mlirbc"):
        raise UserError(
            f"--stablehlo {path}: an artifact is called .mlir (text) or .mlirbc (bytecode)."
        )
    if not path.parent.is_dir():
        raise UserError(f"There is no folder {path.parent} to write {path.name} to.")
    if path.is_dir():
        raise UserError(f"{path} is a folder; give the name of a file with --stablehlo.")
    if path.exists() and path.stat().st_size and b"s2s.arguments" not in path.read_bytes():
        raise UserError(
            f"{path} was not written by s2s, so it is kept. Give --force to replace it."
        )


def contents(artifact: Artifact, path: Path, version: str | None) -> bytes:
    """What the file of an artifact holds."""
    return artifact.to_bytes(version) if path.suffix == ".mlirbc" else artifact.text.encode()


def show(target: str) -> int:
    """Print what an artifact computes and where it comes from."""
    from s2s_codegen.stablehlo.ahead_of_time import CompiledFile, load

    found = load(target)
    signature = found.signature
    lines = [("function", str(signature))]
    bounds = [f"{n} at least {signature.minimum.get(n, 1)}" for n in signature.dimensions]
    facts = [
        ("open sizes", ", ".join(bounds)),
        ("devices", str(signature.sharding.mesh) if signature.sharding else ""),
        ("divided", signature.divisions),
        ("source", signature.source),
        ("digest of source", signature.digest),
        ("command", signature.command),
        ("made by", f"s2s {signature.version}" if signature.version else ""),
    ]
    if isinstance(found, CompiledFile):
        facts.append(("compiled for", f"{found.target}, by jaxlib {found.jaxlib}"))
    lines += [(name, fact) for name, fact in facts if fact]
    width = max(len(name) for name, _ in lines)
    for name, fact in lines:
        print(f"{name:<{width}}  {fact}")
    return 0


def run_artifact(options: Options) -> int:
    """Run an artifact on the arrays of an .npz file, and write its results to another.

    Of several processes, the first one writes.

    The arrays of a container are called by their places in it: `params.w`, `pair.0`.
    """
    from s2s_codegen.stablehlo.ahead_of_time import load
    from s2s_codegen.stablehlo.group import join
    from s2s_codegen.stablehlo.named_arrays import arguments_from, named_results

    artifact = load(options.target)
    arrays = read_inputs(options.inputs) if options.inputs is not None else {}
    positional, named = arguments_from(artifact.signature, arrays)
    if options.coordinator is not None:
        if artifact.signature.sharding is None:
            raise UserError(
                f"{options.target} is not for several devices; make it with --mesh, as in "
                f"--mesh data={max(options.world, 2)}."
            )
        join(options.coordinator, options.rank, options.world)
    with _without_gloo_s_output(options.coordinator is not None):
        result = artifact.compile(options.platform)(*positional, **named)
    if options.rank > 0:
        return 0
    results = named_results(result)
    output = options.output
    if output is None:
        for name, value in results.items():
            print(f"{name} = {value}")
        return 0
    try:
        with open(output, "wb") as file:
            np.savez(file, **results)
    except OSError as error:
        raise UserError(f"{output} cannot be written: {error.strerror}.") from error
    plural = "s" if len(results) != 1 else ""
    print(f"s2s: {len(results)} array{plural} written to {output}", file=sys.stderr)
    return 0


def compile_artifact(options: Options) -> int:
    """Compile an artifact for a device of a kind, and write it to a file."""
    from s2s.api.artifacts import load_artifact
    from s2s_codegen.stablehlo.ahead_of_time import compile_ahead

    artifact = load_artifact(options.target)
    sizes = parse_dims(options.dims)
    check_dims(sizes, set(artifact.signature.dimensions))
    data = compile_ahead(artifact, options.gpu_target, sizes).to_bytes()
    assert options.output is not None
    try:
        Path(options.output).write_bytes(data)
    except OSError as error:
        raise UserError(f"{options.output} cannot be written: {error.strerror}.") from error
    return 0


@contextlib.contextmanager
def _without_gloo_s_output(applies: bool) -> Generator[None]:
    """Gloo writes to standard output, in C++, that the processes are connected."""
    if not applies:
        yield
        return
    sys.stdout.flush()
    output = os.dup(1)
    with open(os.devnull, "wb") as nothing:
        os.dup2(nothing.fileno(), 1)
    try:
        yield
    finally:
        os.dup2(output, 1)
        os.close(output)


def read_inputs(path: str) -> dict[str, Any]:
    """The arrays of an .npz file. Raises UserError for any other file, and for a damaged one."""
    problem = f"--inputs {path} cannot be read as an .npz file"
    try:
        found: Any = np.load(path, allow_pickle=False)
        if isinstance(found, np.ndarray):
            raise UserError(f"--inputs {path} holds one array without a name; use np.savez.")
        with found as file:
            return dict(file)
    except OSError as error:
        raise UserError(f"{problem} ({error.strerror or error}).") from error
    except _DAMAGED as error:
        raise UserError(f"{problem} ({error}).") from error


_DAMAGED = (
    ValueError,
    EOFError,
    KeyError,
    RuntimeError,
    MemoryError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What NumPy raises for a file that is damaged, or is no .npz file."""
