"""Errors raised while a user's function is traced, as one paragraph about the user's line."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Generator, Iterator
from types import FrameType, TracebackType

from s2s.errors import UserError
from s2s.frontend.control_flow.merging import Unlike
from s2s.frontend.control_flow.state import reason_of
from s2s.frontend.library import is_own, is_users
from s2s.frontend.sources import lines_of, shown_path
from s2s.ir.check import JaxprTypeError
from s2s.ir.dims import UndecidedDimension
from s2s.ir.jaxpr import Source
from s2s.trace import Tracer

_SAYS_IT_ITSELF = (
    TypeError,
    ValueError,
    IndexError,
    NotImplementedError,
    OverflowError,
    UndecidedDimension,
)
"""What s2s raises about the user's code, with a message in the user's words."""

_ON_BEHALF = (
    "dispatch.py",
    "hooks.py",
    "overloads.py",
    "builtin_functions.py",
    "functions_of_parts.py",
    "math_functions.py",
)
"""Modules of s2s that do what the user's code says: what is raised there is the user's."""


@contextlib.contextmanager
def located() -> Generator[None]:
    """Raise UserError, with the user's line, for what the user's code is to blame for."""
    try:
        yield
    except UserError as error:
        if error.source is None:
            error.source = innermost_line(error.__traceback__)
        raise
    except Exception as error:
        found = about_users_line(error)
        if found is None:
            raise
        raise found from error


def about_users_line(error: Exception) -> UserError | None:
    """The error in the user's words; None if it does not come from the user's code, or is a fault
    of s2s."""
    line = innermost_line(error.__traceback__)
    if line is None or isinstance(error, JaxprTypeError):
        return None
    frames = [trace.tb_frame for trace in _walk(error.__traceback__)]
    last = frames[-1].f_code.co_filename
    if isinstance(error, RecursionError):
        message = (
            "the function calls itself without end while it is traced, or goes through what has no "
            "end. Whether it stops must not depend on the values of the arguments: write `while`, "
            "which may, or `for` over a range, with `break`."
        )
    elif isinstance(error, NameError) and (reason := reason_of(error)) is not None:
        message = reason
    elif isinstance(error, Unlike):
        message = f"this cannot become a loop or branch of the generated function: {error}."
    elif is_users(last) or _is_users_doing(error, last):
        message = _raises(error)
    elif not is_own(last):
        message = f"{_library_function(frames)} {_raises(error)}"
    elif isinstance(error, _SAYS_IT_ITSELF):
        message = f"{str(error).removesuffix('.')}."
    else:
        return None
    return UserError(message, line)


def _is_users_doing(error: Exception, last: str) -> bool:
    """Whether s2s only did what the user's code says when this was raised."""
    if is_own(last) and isinstance(error, AttributeError) and isinstance(error.obj, Tracer):
        return True
    is_dims_question = isinstance(error, UndecidedDimension)
    return is_own(last) and os.path.basename(last) in _ON_BEHALF and not is_dims_question


def _raises(error: Exception) -> str:
    text = str(error).replace("'TracedArray'", "a value that depends on the arguments")
    return f"raises {type(error).__name__}: {text}".removesuffix(": ").removesuffix(".") + "."


def _walk(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def innermost_line(trace: TracebackType | None) -> Source | None:
    """The innermost line of the user's that an error passed through."""
    found: Source | None = None
    for step in _walk(trace):
        file = step.tb_frame.f_code.co_filename
        if is_users(file):
            lines = lines_of(file, step.tb_frame.f_globals)
            text = lines[step.tb_lineno - 1].strip() if step.tb_lineno <= len(lines) else ""
            found = Source(shown_path(file), step.tb_lineno, text)
    return found


def _library_function(frames: list[FrameType]) -> str:
    """The library's function that the user's code called."""
    calls = itertools.takewhile(lambda f: not is_users(f.f_code.co_filename), reversed(frames))
    outermost = [frame for frame in calls if not is_own(frame.f_code.co_filename)][-1]
    return f"{outermost.f_globals.get('__name__', '')}.{outermost.f_code.co_qualname}"
