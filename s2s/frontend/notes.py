"""Notes: what the generated function leaves out or does in another way, said as warnings."""

from __future__ import annotations

import collections
import warnings
from typing import Any

from s2s.trace import builder_in_force

_said: dict[str, dict[Any, Any]] = collections.defaultdict(dict)
"""The registry of each file, by which Python says a warning once for a line: lines are traced
several times."""


def note(text: str) -> None:
    """Warn about the line of the user's that is being traced."""
    builder = builder_in_force()
    source = builder.source if builder is not None else None
    file, line = (source.file, source.line) if source is not None else ("<traced>", 0)
    warnings.warn_explicit(text, UserWarning, file, line, registry=_said[file])
