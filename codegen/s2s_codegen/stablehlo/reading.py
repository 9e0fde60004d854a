"""What runs in the process that reads an untrusted file. Imports little, to be there soon."""

from __future__ import annotations

import dataclasses
import json
import sys
from typing import Any

from s2s.errors import UserError
from s2s_codegen.stablehlo.runtime import read_module


def read_and_report() -> None:
    """Read a module from standard input and write what it holds to standard output, as JSON."""
    data = sys.stdin.buffer.read()
    is_binary = data.startswith(b"ML\xefR")
    try:
        contents = read_module(data if is_binary else data.decode())
        answer: dict[str, Any] = dataclasses.asdict(contents)
    except (ValueError, UserError) as error:
        answer = {"error": str(error)}
    sys.stdout.write(json.dumps(answer))
