"""Loading a user's function from its file: `load("model.py:loss")`."""

from __future__ import annotations

import contextlib
import difflib
import importlib
import importlib.util
import inspect
import os
import sys
import tokenize
from collections.abc import Callable, Generator
from pathlib import Path
from types import ModuleType
from typing import Any

from s2s.errors import UserError
from s2s.frontend.located import innermost_line
from s2s.frontend.sources import remember, shown_path
from s2s.ir.jaxpr import Source

_loaded: dict[str, ModuleType] = {}


def load(specification: str) -> Callable[..., Any]:
    """The function that `FILE.py:FUNCTION` names; `FILE.py:CLASS.METHOD` and the like work too.

    The file is executed once, however often functions are loaded from it, as Python's import does
    it: with its folder on `sys.path`, and `__name__` not `"__main__"`.

    Raises UserError if there is no such file or function, or if the file does not run.
    """
    file, name = split(specification)
    module = load_module(file)
    target: Any = module
    for part in name.split("."):
        if not hasattr(target, part):
            raise UserError(_no_such_function(module, target, part, file))
        target = getattr(target, part)
    if not callable(target):
        raise UserError(
            f"`{name}` in {file} is a {type(target).__name__}, not a function. "
            + _functions_there(module)
        )
    return target


def split(specification: str) -> tuple[str, str]:
    """File and function of `FILE.py:FUNCTION`. Raises UserError if there is no function."""
    file, colon, name = specification.rpartition(":")
    if not colon or name.endswith(".py") or os.sep in name:
        file, name = specification, ""
    if not name:
        there = _functions_there(load_module(file))
        raise UserError(f"say which function of {file}, as in {file}:loss. {there}")
    return file, name


def load_module(file: str) -> ModuleType:
    """The module in a file, executed once. Raises UserError if it is missing or does not run."""
    path = os.path.realpath(file)
    if path not in _loaded:
        _loaded[path] = _execute(file, Path(path))
    return _loaded[path]


# -- executing ------------------------------------------------------------------------------------


def _execute(file: str, path: Path) -> ModuleType:
    text = _read(file, path)
    try:
        code = compile(text, str(path), "exec", dont_inherit=True)
    except SyntaxError as error:
        raise _syntax_error(error) from None
    except ValueError as error:  # null bytes
        raise UserError(f"{file} is not Python source: {error}.") from None
    remember(str(path), text)
    name, root = _module_name(path)
    if root not in sys.path:
        sys.path.insert(0, root)
    package = name.rpartition(".")[0]
    if package:
        with _located(file):
            importlib.import_module(package)
    present = sys.modules.get(name)
    if present is not None and os.path.realpath(getattr(present, "__file__", "")) == str(path):
        return present
    if present is not None or name in sys.stdlib_module_names:
        name = f"s2s_loaded_{name}"
    specification = importlib.util.spec_from_file_location(name, path)
    assert specification is not None
    module = importlib.util.module_from_spec(specification)
    # Before it runs, so that modules that import each other, and dataclasses, find it.
    sys.modules[name] = module
    try:
        with _located(file):
            exec(code, module.__dict__)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _read(file: str, path: Path) -> str:
    if not path.exists():
        folder = path.parent
        names = sorted(p.name for p in folder.glob("*.py")) if folder.is_dir() else []
        close = difflib.get_close_matches(path.name, names, n=1, cutoff=0.7)
        if close:
            hint = f" Did you mean {os.path.join(os.path.dirname(file), close[0])}?"
        elif not folder.is_dir():
            hint = f" There is no folder {os.path.dirname(file)} either."
        else:
            hint = ""
        raise UserError(f"there is no file {file}.{hint}")
    if path.is_dir():
        raise UserError(f"{file} is a folder. Give a Python file in it.")
    try:
        with tokenize.open(path) as stream:
            return stream.read()
    except (SyntaxError, UnicodeDecodeError) as error:
        raise UserError(f"{file} is not Python source: {error}.") from None


def _module_name(path: Path) -> tuple[str, str]:
    """The name by which other modules import this one, and the folder to find it from."""
    parts = [path.stem]
    folder = path.parent
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    if parts[-1] == "__init__" and len(parts) > 1:
        parts.pop()
    return ".".join(parts), str(folder)


@contextlib.contextmanager
def _located(file: str) -> Generator[None]:
    """Turn what the user's file raises while it runs into a UserError with the line."""
    try:
        yield
    except UserError:
        raise
    except SystemExit as error:
        raise UserError(
            f"{file} ends the program when it is imported. "
            'Put what runs as a script under `if __name__ == "__main__":`.',
            innermost_line(error.__traceback__),
        ) from None
    except SyntaxError as error:  # in another file that this one imports
        raise _syntax_error(error) from None
    except Exception as error:
        problem = f"{type(error).__name__}: {error}".removesuffix(": ").removesuffix(".")
        line = innermost_line(error.__traceback__)
        raise UserError(f"importing {file} raises {problem}.", line) from error


def _syntax_error(error: SyntaxError) -> UserError:
    file = shown_path(error.filename) if error.filename else "<unknown>"
    return UserError(f"{error.msg}.", Source(file, error.lineno or 1, (error.text or "").strip()))


# -- what is there --------------------------------------------------------------------------------


def _no_such_function(module: ModuleType, target: Any, name: str, file: str) -> str:
    owner = "" if target is module else f" of {getattr(target, '__name__', 'it')}"
    names = [n for n in dir(target) if callable(getattr(target, n)) and not n.startswith("__")]
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.7)
    hint = f" Did you mean {close[0]}?" if close else ""
    return f"there is no function `{name}`{owner} in {file}.{hint} {_functions_there(module)}"


def _functions_there(module: ModuleType) -> str:
    names = [
        name
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__
    ]
    if not names:
        return "It defines no functions."
    return f"It defines {', '.join(names)}."
