"""Which way through the user's code a computation takes: its branches, and its numbers of steps."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from s2s.frontend.library import is_users
from s2s.verify.differences import Undefined


def path_of(computation: Callable[[], Any]) -> int | None:
    """A number that says which instructions of the user's code were run; None if it raises.

    Two computations with the same number took the same branches and numbers of steps.
    """
    path = 0

    def entered(frame: FrameType, event: str, argument: Any) -> Any:
        file = frame.f_code.co_filename
        if not is_users(file) and not file.endswith("as generated>"):
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        return followed

    def followed(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal path
        path = hash((path, frame.f_code.co_firstlineno, frame.f_lasti))
        return followed

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        computation()
    except (ArithmeticError, Undefined, ValueError):
        return None
    finally:
        sys.settrace(before)
    return path
