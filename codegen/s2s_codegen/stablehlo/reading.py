"""What runs in the process that reads an untrusted file. Imports little, to be there soon."""

from __future__ import annotations

import dataclasses
import json
import sys
from typing import Any

from s2s.errors import UserError
from s2s_codegen.stablehlo.modules import read_module

_MEMORY = 8 << 30
"""Bytes of address space that the process has, of which the libraries take some."""


def read_and_report() -> None:
    """Read a module from standard input and write what it holds to standard output, as JSON."""
    data = sys.stdin.buffer.read()
    _limit_memory(_MEMORY + 100 * len(data))
    is_binary = data.startswith(b"ML\xefR")
    try:
        contents = read_module(data if is_binary else data.decode())
        answer: dict[str, Any] = dataclasses.asdict(contents)
    except (ValueError, UserError) as error:
        answer = {"error": str(error)}
    sys.stdout.write(json.dumps(answer))


def _limit_memory(size: int) -> None:
    """So that a file that was damaged cannot take all there is."""
    try:
        import resource
    except ImportError:  # on Windows
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    size = size if most == resource.RLIM_INFINITY else min(size, most)
    resource.setrlimit(resource.RLIMIT_AS, (size, most))
