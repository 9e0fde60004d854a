"""Whose code it is: the user's own files, which are converted, or an installed library's."""

from __future__ import annotations

import functools
import importlib.util
import os
import random
import sysconfig
from collections.abc import Callable
from pathlib import Path
from types import BuiltinFunctionType, ModuleType
from typing import Any

import numpy as np

import s2s

_STANDARD = tuple(
    {os.path.realpath(sysconfig.get_path(name)) + os.sep for name in ("stdlib", "platstdlib")}
)
_INSTALLED = ("site-packages", "dist-packages")


def _own_folders() -> tuple[str, ...]:
    folders = [str(Path(s2s.__file__).resolve().parent) + os.sep]
    generator = importlib.util.find_spec("s2s_codegen")
    if generator is not None and generator.origin is not None:
        folders.append(str(Path(generator.origin).resolve().parent) + os.sep)
    return tuple(folders)


_OWN = _own_folders()


@functools.cache
def is_own(file: str) -> bool:
    """Whether a file is one of s2s's."""
    return os.path.realpath(file).startswith(_OWN)


@functools.cache
def is_users(file: str) -> bool:
    """Whether a file is the user's: neither s2s's, nor Python's, nor an installed package's.

    What has no file, such as a notebook's cell, is the user's too, but for frozen modules and what
    libraries compile from text.
    """
    if file.startswith("<"):
        return file.startswith(("<stdin", "<ipython", "<doctest", "<console", "<python-input"))
    path = os.path.realpath(file)
    return not (
        path.startswith(_OWN)
        or any(folder in path.split(os.sep) for folder in _INSTALLED)
        or path.startswith(_STANDARD)
    )


_WITH_SHORT_NAMES = {"np": np, "np.random": np.random, "random": random}


def public_name(function: Callable[..., Any]) -> str:
    """What a user calls a function: `np.cov`, `scipy.special.gamma`, `json.dumps`, `str.join`."""
    if isinstance(function, np.vectorize):
        return "np.vectorize"
    name: str = getattr(function, "__name__", type(function).__name__)
    for owner, module in _WITH_SHORT_NAMES.items():
        # Equal, not identical: some are methods of one object.
        if getattr(module, name, None) == function:
            return f"{owner}.{name}"
    qualified: str = getattr(function, "__qualname__", name)
    return ".".join([*_modules(function), qualified])


def _modules(function: Callable[..., Any]) -> list[str]:
    module: str = getattr(function, "__module__", None) or ""
    if isinstance(function, BuiltinFunctionType):
        owner = function.__self__
        if not isinstance(owner, (ModuleType, type(None))):
            # A method of an object: its qualified name starts with the class already.
            module = (owner if isinstance(owner, type) else type(owner)).__module__
    if isinstance(function, np.ufunc):
        module = "scipy.special"
    parts = [part for part in module.split(".") if part and not part.startswith("_")]
    if parts[:1] == ["numpy"]:
        parts[0] = "np"
    return [] if parts == ["builtins"] else parts
