"""What a function does beside computing: it reads the clock, asks, writes files, logs.

The generated function would not do it again, or not alike, so it is refused; what only tells the
user something is left out with a note, and what is read from a file becomes part of the text.
"""

from __future__ import annotations

import datetime
import io
import json
import logging
import os
import pathlib
import pickle
import time
import uuid
import warnings
from collections.abc import Callable, Mapping, Sequence
from types import MethodType
from typing import Any

import numpy as np

from s2s.frontend.library import public_name
from s2s.frontend.notes import note
from s2s.numpy.registry import mistake

Function = Callable[..., Any]

_OTHER_AT_EACH_CALL: frozenset[Function] = frozenset(
    {
        *(time.time, time.time_ns, time.perf_counter, time.perf_counter_ns, time.monotonic),
        *(time.monotonic_ns, time.process_time, time.process_time_ns, time.thread_time),
        *(time.localtime, time.gmtime, time.ctime, time.asctime, time.strftime),
        *(datetime.datetime.now, datetime.datetime.today, datetime.date.today),
        *(uuid.uuid1, uuid.uuid4, os.urandom, os.getpid),
    }
)
_DOING_SOMETHING: frozenset[Function] = frozenset(
    {
        *(os.remove, os.unlink, os.rename, os.replace, os.mkdir, os.makedirs, os.rmdir),
        *(os.chdir, os.chmod, os.write, os.putenv, os.kill, json.dump, pickle.dump, time.sleep),
    }
)
_DOING_MODULES = frozenset({"shutil", "subprocess", "socket", "urllib", "http", "tempfile"})
_DOING_WITH_PATHS = frozenset(
    {"write_text", "write_bytes", "mkdir", "rmdir", "touch", "unlink", "rename", "replace"}
)
_READING: frozenset[Function] = frozenset(
    {np.load, np.loadtxt, np.genfromtxt, np.fromfile, json.load, pickle.load}
)
_READING_PATHS = frozenset({"read_text", "read_bytes"})
_TELLING = frozenset({"debug", "info", "warning", "error", "critical", "exception", "log", "warn"})


def is_left_out(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether a call only tells the user something, and is left out with a note.

    Raises UserError for what does more than compute.
    """
    name: str = getattr(function, "__name__", "")
    owner: object = getattr(function, "__self__", None)
    module = (getattr(function, "__module__", None) or "").partition(".")[0]
    if isinstance(owner, pathlib.Path) and isinstance(function, MethodType):
        if name in _DOING_WITH_PATHS or (name == "open" and _writes(args, kwargs, 0)):
            _refuse_doing(function)
        if name in _READING_PATHS or name == "open":
            note(f"{public_name(function)} {_READS}")
    elif isinstance(owner, io.IOBase) and name in ("write", "writelines"):
        if not isinstance(owner, (io.StringIO, io.BytesIO)):
            _refuse_doing(function)
    elif name in _TELLING and _is_of_logging(owner, module):
        note(f"{name}() of a logger is left out of the generated function")
        return True
    elif function is warnings.warn:
        note("warnings.warn is left out of the generated function")
        return True
    elif function is input:
        raise mistake(
            "input() asks for a value, which the generated function would not do. Pass the value "
            "in as an argument."
        )
    elif function is open:
        if _writes(args, kwargs, 1):
            _refuse_doing(function, "open() of a file to write to")
        note(f"open() {_READS}")
    elif module in _DOING_MODULES or _is_one_of(function, _DOING_SOMETHING):
        _refuse_doing(function)
    elif _is_one_of(function, _OTHER_AT_EACH_CALL):
        raise mistake(
            f"{public_name(function)} gives another value at each call, which the generated "
            "function could not repeat. Call it outside of the function, and pass the value in as "
            "an argument."
        )
    elif _is_one_of(function, _READING):
        note(f"{public_name(function)} {_READS}")
    elif owner is os.environ or function is os.getenv:
        note("the environment is read now: the generated function has what is in it, and does not")
    return False


_READS = "reads a file now: the generated function has the numbers that it holds, and does not"


def _writes(args: Sequence[Any], kwargs: Mapping[str, Any], place: int) -> bool:
    mode = kwargs.get("mode", args[place] if len(args) > place else "r")
    return any(letter in str(mode) for letter in "wax+")


def _is_of_logging(owner: object, module: str) -> bool:
    return isinstance(owner, (logging.Logger, logging.LoggerAdapter)) or module == "logging"


def _is_one_of(function: Any, functions: frozenset[Function]) -> bool:
    try:
        return function in functions
    except TypeError:  # not hashable
        return False


def _refuse_doing(function: Any, name: str | None = None) -> None:
    raise mistake(
        f"{name or public_name(function)} does something outside of the function, which the "
        "generated function would not do. Return the value, and do it where the function is called."
    )
