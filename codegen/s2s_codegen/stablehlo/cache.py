"""Compiled executables on disk, so that a program is compiled once on a machine.

An entry is a file named after a hash of the program, the options, the versions of jaxlib and of
this format, and the features of the processor: XLA checks none of these when it loads an
executable. A file begins with a hash of the rest; one that does not fit is deleted and made again.
Files are written beside and renamed, so that processes may share the folder. When the folder holds
more than its bound, what was used longest ago goes.

`S2S_CACHE_DIR` says where it is, by default `~/.cache/s2s`; `S2S_CACHE=0` turns it off. Executables
are machine code: the folder must not be writable by others.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from s2s_codegen.stablehlo import xla
from s2s_codegen.stablehlo.runtime import Program
from s2s_codegen.stablehlo.sharded import Devices

BOUND = 1 << 30
"""Bytes that the folder holds at most."""

_FORMAT = b"s2s executable 1\n"


def compiled(devices: Devices, program: Program, options: Sequence[tuple[str, Any]] = ()) -> Any:
    """A loaded executable, from the cache if it is there."""
    folder = cache_folder()
    if folder is None or devices.description is None:
        return devices.compile(program, options)
    path = folder / _key(devices, program, options)
    serialized = _read(path)
    if serialized is not None:
        devices.prepare(program)
        with contextlib.suppress(xla.error_type()):
            return devices.load(serialized, options)
    made = devices.compile(program, options)
    with contextlib.suppress(OSError):  # a full or read-only disk is no reason to fail
        _write(path, made.serialize())
        _make_room(folder)
    return made


def cache_folder() -> Path | None:
    """Where executables are kept; None if they are not."""
    if os.environ.get("S2S_CACHE") == "0":
        return None
    chosen = os.environ.get("S2S_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "s2s"
    except RuntimeError:  # there is no home
        return None


def _key(devices: Devices, program: Program, options: Sequence[tuple[str, Any]]) -> str:
    parts = [
        program if isinstance(program, bytes) else program.encode(),
        repr(sorted(options)).encode(),
        str(devices.description).encode(),
        xla.version().encode(),
        os.environ.get("XLA_FLAGS", "").encode(),
        processor(),
        _FORMAT,
    ]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return f"{digest.hexdigest()}.xla"


@functools.cache
def processor() -> bytes:
    """What the machine code depends on: the kind of processor and its features."""
    facts = [sys.platform, platform.machine()]
    if sys.platform != "linux":
        facts.append(platform.processor())  # asks another process
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        wanted = ("flags", "Features", "model name", "CPU part")
        facts += dict.fromkeys(line for line in lines if line.startswith(wanted))
    return "\n".join(facts).encode()


def _read(path: Path) -> bytes | None:
    try:
        data = path.read_bytes()
    except OSError:
        return None
    start = len(_FORMAT) + 32
    digest, content = data[len(_FORMAT) : start], data[start:]
    if data.startswith(_FORMAT) and hashlib.sha256(content).digest() == digest:
        with contextlib.suppress(OSError):
            os.utime(path)
        return content
    with contextlib.suppress(OSError):
        path.unlink()
    return None


def _write(path: Path, content: bytes) -> None:
    import tempfile  # takes as long as all else here

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix="new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_FORMAT + hashlib.sha256(content).digest() + content)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _make_room(folder: Path) -> None:
    entries: list[tuple[float, int, str]] = []
    with os.scandir(folder) as found:
        for entry in found:
            # Another process may delete it at any time.
            with contextlib.suppress(OSError):
                facts = entry.stat()
                if entry.name.endswith(".xla"):
                    entries.append((facts.st_mtime, facts.st_size, entry.path))
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= BOUND:
            break
        with contextlib.suppress(OSError):
            os.unlink(path)
        total -= size
