"""Argument types from an example: `--example`, a doctest, or a recorded run of a script.

In each of them code of the user's is run until it calls the function for the first time. There it
is stopped, and the call's arguments are the example. The call is recognised by where the function
stands in its file, so that it does not matter through which name or copy of the module it is made.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import os
import shlex
import sys
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, TypeAlias, cast

import numpy as np

from s2s.errors import UserError
from s2s.frontend.callables import innermost_function, short_name
from s2s.frontend.located import innermost_line


class _Called(BaseException):
    """Stops the user's code at the call; no `except Exception` of the user's is to catch it."""


Identity: TypeAlias = "tuple[str, str, int]"
"""What two copies of one function share: file, qualified name, and first line."""


def _identity(code: CodeType) -> Identity:
    return os.path.realpath(code.co_filename), code.co_qualname, code.co_firstlineno


def first_call(function: Callable[..., Any], run: Callable[[], Any]) -> dict[str, Any] | None:
    """The arguments of the first call of `function` that `run()` makes, by parameter.

    `run` goes no further than this call. None if it ends without one.
    """
    code: CodeType | None = getattr(innermost_function(function), "__code__", None)
    name, wanted = ("", None) if code is None else (code.co_name, _identity(code))
    parameters = inspect.signature(function).parameters
    found: dict[str, Any] = {}

    def watch(frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or frame.f_code.co_name != name or found:
            return
        if _identity(frame.f_code) == wanted:
            arguments = _arguments(frame)
            found.update((name, arguments[name]) for name in parameters if name in arguments)
            raise _Called

    before = sys.getprofile(), threading.getprofile()
    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        run()
    except _Called:
        pass
    finally:
        sys.setprofile(before[0])
        threading.setprofile(before[1])
    return found or None


def _arguments(frame: FrameType) -> dict[str, Any]:
    code, values = frame.f_code, frame.f_locals
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return {name: values[name] for name in code.co_varnames[:count]}


# -- --example ------------------------------------------------------------------------------------


def from_expression(function: Callable[..., Any], text: str) -> dict[str, Any]:
    """The arguments given by `--example`: a call of the function, or a tuple of arguments.

    The expression is evaluated in the function's module, with NumPy as `np` in any case; statements
    may come before it, separated by `;`. An expression that is neither a call nor a tuple is the
    only argument. Raises UserError if it raises, or does not fit the function's parameters.
    """
    where = f"--example '{text}'"
    try:
        body = ast.parse(text.strip()).body
    except (SyntaxError, ValueError) as error:
        raise UserError(f"{where} is not a Python expression: {error}.") from error
    statements, last = body[:-1], body[-1] if body else None
    if not isinstance(last, ast.Expr):
        raise UserError(f"{where} must end in an expression: a tuple of arguments, or a call.")
    namespace = {"np": np, **globals_of(function)}
    value: list[Any] = []

    def run() -> None:
        exec(compile(ast.Module(statements, []), "<--example>", "exec"), namespace)
        value.append(eval(compile(ast.Expression(last.value), "<--example>", "eval"), namespace))

    with _named_errors(where):
        found = first_call(function, run)
    if found is not None:
        return found
    try:
        bound = inspect.signature(function).bind(*_as_tuple(value[0]))
    except TypeError as error:
        raise UserError(f"{where} does not fit {short_name(function)}: {error}.") from error
    return dict(bound.arguments)


def _as_tuple(value: Any) -> Sequence[Any]:
    return cast("Sequence[Any]", value) if isinstance(value, tuple) else (value,)


@contextlib.contextmanager
def _named_errors(where: str) -> Generator[None]:
    """Say of an error that the user's own code raises that it does, and where."""
    try:
        yield
    except (Exception, SystemExit) as error:
        problem = f"{type(error).__name__}: {error}".removesuffix(": ")
        raise UserError(
            f"{where} raises {problem}.", innermost_line(error.__traceback__)
        ) from error


def globals_of(function: Callable[..., Any]) -> Mapping[str, Any]:
    """What the module defines in which a function stands."""
    return getattr(innermost_function(function), "__globals__", {})


# -- doctest --------------------------------------------------------------------------------------


def from_doctest(function: Callable[..., Any]) -> dict[str, Any] | None:
    """The arguments of the first call of the function in its docstring's examples.

    The examples are run in a copy of the function's module, up to that call. None if there is no
    example that calls it. Raises UserError if one before it raises.
    """
    import doctest  # it brings the debugger with it, so not before it is needed

    examples = doctest.DocTestParser().get_examples(inspect.getdoc(function) or "")
    name = short_name(function)
    if not any(_mentions(example.source, name) for example in examples):
        return None
    namespace = {"np": np, **globals_of(function)}
    where = f"The example in the docstring of {name}"

    def run() -> None:
        for example in examples:
            if not _imports(example.source, name):
                exec(compile(example.source, f"<docstring of {name}>", "exec"), namespace)

    with _named_errors(where):
        return first_call(function, run)


def _mentions(source: str, name: str) -> bool:
    return f"{name}(" in source


def _imports(source: str, name: str) -> bool:
    """Whether the line imports the function, which is at hand; its module may not be importable."""
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return False
    return all(
        isinstance(line, ast.ImportFrom) and any(alias.name in (name, "*") for alias in line.names)
        for line in body
    )


# -- --record -------------------------------------------------------------------------------------


def from_recording(function: Callable[..., Any], command: str) -> dict[str, Any]:
    """The arguments of the first call that a script makes, run as `python script.py arguments`.

    Raises UserError if there is no such script, if it raises, or if it never calls the function.
    """
    where = f"--record '{command}'"
    script, *arguments = shlex.split(command) or [""]
    if not Path(script).is_file():
        raise UserError(
            f"{where} names no script that is there. Give a file and its arguments, "
            "as in --record 'train.py --epochs 1'."
        )
    before = sys.argv, list(sys.path)
    sys.argv = [script, *arguments]
    sys.path.insert(0, str(Path(script).resolve().parent))
    try:
        with _named_errors(where):
            found = first_call(function, lambda: _run_script(os.path.realpath(script)))
    finally:
        sys.argv, sys.path[:] = before
    if found is None:
        raise UserError(
            f"{where} ended without calling {short_name(function)}. "
            "Give a script, with its arguments, that calls it."
        )
    return found


def _run_script(script: str) -> None:
    import runpy

    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
