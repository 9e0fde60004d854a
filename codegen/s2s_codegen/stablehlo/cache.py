"""Compiled executables on disk, so that a program is compiled once on a machine.

An entry is a file named after a hash of the program, the options, the versions of jaxlib and of
this format, and the features of the processor: XLA checks none of these when it loads an
executable. Beside them stand the files of `remembered`. A file begins with a hash of the rest; one
that does not fit is deleted and made again.
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
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from s2s_codegen.stablehlo import xla
from s2s_codegen.stablehlo.runtime import Program, calls_lapack

if TYPE_CHECKING:
    from s2s_codegen.stablehlo.sharded import Devices

BOUND = 1 << 30
"""Bytes that the folder holds at most."""

_FORMAT = b"s2s executable 1\n"


class Stored(NamedTuple):
    """Where an executable is in the cache, and what it needs to be loaded."""

    name: str
    calls_lapack: bool


def compiled(devices: Devices, program: Program) -> tuple[Any, Stored | None]:
    """A loaded executable, from the cache if it is there, and where it is then."""
    if cache_folder() is None or devices.description is None:
        return devices.compile(program), None
    text = program if isinstance(program, bytes) else program.encode()
    stored = Stored(f"{_digest(devices, text)}.xla", calls_lapack(program))
    found = loaded(devices, stored)
    if found is None:
        found = devices.compile(program)
        write(stored.name, found.serialize())
    return found, stored


def loaded(devices: Devices, stored: Stored) -> Any:
    """An executable of the cache; None if it is not there any more."""
    serialized = read(stored.name)
    if serialized is not None:
        devices.prepare(calls_lapack=stored.calls_lapack)
        with contextlib.suppress(xla.error_type()):
            return devices.load(serialized)
    return None


def call_name(devices: Devices, digest: str) -> str:
    """The name of the file that says what a call computes on these devices."""
    return f"{_digest(devices, digest.encode())}.call"


def cache_folder() -> str | None:
    """Where executables are kept; None if they are not."""
    if os.environ.get("S2S_CACHE") == "0":
        return None
    chosen = os.environ.get("S2S_CACHE_DIR")
    if chosen:
        return chosen
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return None if base.startswith("~") else os.path.join(base, "s2s")  # there is no home


def _digest(devices: Devices, what: bytes) -> str:
    parts = [
        what,
        str(devices.description).encode(),
        xla.version().encode(),
        os.environ.get("XLA_FLAGS", "").encode(),
        processor(),
        _FORMAT,
    ]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


@functools.cache
def processor() -> bytes:
    """What the machine code depends on: the kind of processor and its features."""
    facts = [sys.platform]
    if sys.platform != "linux":
        import platform

        facts += [platform.machine(), platform.processor()]  # asks another process
    else:
        facts.append(os.uname().machine)
    with contextlib.suppress(OSError):
        wanted = ("flags", "Features", "model name", "CPU part")
        with open("/proc/cpuinfo") as lines:
            facts += dict.fromkeys(line for line in lines if line.startswith(wanted))
    return "\n".join(facts).encode()


def read(name: str) -> bytes | None:
    """What a file of the cache holds; None if it is not there, or damaged."""
    folder = cache_folder()
    if folder is None:
        return None
    path = os.path.join(folder, name)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return None
    start = len(_FORMAT) + 32
    digest, content = data[len(_FORMAT) : start], data[start:]
    if data.startswith(_FORMAT) and hashlib.sha256(content).digest() == digest:
        with contextlib.suppress(OSError):
            os.utime(path)
        return content
    with contextlib.suppress(OSError):
        os.unlink(path)
    return None


def write(name: str, content: bytes) -> None:
    """Put a file in the cache, if it can be written to."""
    folder = cache_folder()
    if folder is not None:
        with contextlib.suppress(OSError):  # a full or read-only disk is no reason to fail
            _write(folder, name, content)
            _make_room(folder)


def _write(folder: str, name: str, content: bytes) -> None:
    import tempfile  # takes as long as all else here

    os.makedirs(folder, mode=0o700, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=folder, prefix="new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_FORMAT + hashlib.sha256(content).digest() + content)
        os.replace(temporary, os.path.join(folder, name))
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _make_room(folder: str) -> None:
    entries: list[tuple[float, int, str]] = []
    with os.scandir(folder) as found:
        for entry in found:
            # Another process may delete it at any time.
            with contextlib.suppress(OSError):
                facts = entry.stat()
                if entry.name.endswith((".xla", ".call")):
                    entries.append((facts.st_mtime, facts.st_size, entry.path))
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= BOUND:
            break
        with contextlib.suppress(OSError):
            os.unlink(path)
        total -= size
