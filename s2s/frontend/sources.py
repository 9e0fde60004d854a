"""Where a function stands in its file: its text, found from its code object.

A file is parsed once. Its functions are found by the line where they start; lambdas that share a
line are told apart by their columns.
"""

from __future__ import annotations

import ast
import io
import linecache
import os
from collections.abc import Iterator, Mapping, Sequence
from types import CodeType
from typing import Any, NamedTuple, TypeAlias

from s2s.collector import collector_paused

FunctionNode: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda"


class Definition(NamedTuple):
    """A function in its file, with the innermost class around it, whose name private names get."""

    node: FunctionNode
    lines: list[str]
    class_name: str | None

    def parse(self) -> FunctionNode:
        """A new syntax tree of the function alone, with the file's line and column numbers."""
        first, last = _first_line(self.node), self.node.end_lineno or self.node.lineno
        if isinstance(self.node, ast.Lambda):
            # In parentheses, because a line break inside may need those around it.
            text = f"(\n{' ' * self.node.col_offset}{segment(self.lines, self.node)})"
            body = ast.parse("\n" * (first - 2) + text, mode="eval").body
            assert isinstance(body, ast.Lambda)
            return body if first > 1 else ast.increment_lineno(body, -1)
        text = "".join(self.lines[first - 1 : last])
        if self.node.col_offset:
            # An indented function may stand alone under an `if`.
            text = "\n" * (first - 2) + "if 1:\n" + text
        else:
            text = "\n" * (first - 1) + text
        statement = ast.parse(text).body[0]
        node = statement.body[0] if isinstance(statement, ast.If) else statement
        assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        return node


Functions: TypeAlias = "dict[tuple[int, str], list[Definition]]"
_indexed: dict[str, tuple[list[str], Functions]] = {}
_loaded: dict[str, list[str]] = {}


def remember(file: str, text: str) -> None:
    """Keep the text that a file had when it was loaded, whatever becomes of the file."""
    _loaded[file] = io.StringIO(text).readlines()


def lines_of(file: str, namespace: Mapping[str, Any] | None = None) -> list[str]:
    """The lines of a source file; empty if it has none that can be read."""
    if file in _loaded:
        return _loaded[file]
    return linecache.getlines(file, dict(namespace) if namespace is not None else None)


def definition_of(code: CodeType, namespace: Mapping[str, Any]) -> Definition | None:
    """Where the function with this code stands, or None if its source is not available."""
    lines = lines_of(code.co_filename, namespace)
    if not lines:
        return None
    known = _indexed.get(code.co_filename)
    if known is None or known[0] != lines:
        try:
            known = _indexed[code.co_filename] = (lines, _index(lines))
        except (SyntaxError, ValueError):
            return None
    candidates = known[1].get((code.co_firstlineno, code.co_name), [])
    fitting = [found for found in candidates if _parameters(found) == _parameters_of(code)]
    if len(fitting) > 1:
        spans = list(_spans(code))
        fitting = [found for found in fitting if spans and _contains(found.node, spans)]
    # Of lambdas one in another, the inner one comes later.
    return fitting[-1] if fitting else None


@collector_paused()
def _index(lines: list[str]) -> Functions:
    found: Functions = {}

    def visit(node: ast.AST, class_name: str | None) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
            definition = Definition(node, lines, class_name)
            found.setdefault((_first_line(node), name), []).append(definition)
        elif isinstance(node, ast.ClassDef):
            class_name = node.name
        for child in ast.iter_child_nodes(node):
            visit(child, class_name)

    visit(ast.parse("".join(lines)), None)
    return found


def _first_line(node: FunctionNode) -> int:
    """The line that the code object says it starts at: the first decorator's, if there is one."""
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def parameter_names(arguments: ast.arguments) -> list[str]:
    """The names of parameters in the order in which code objects list them."""
    plain = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    starred = [arg for arg in (arguments.vararg, arguments.kwarg) if arg is not None]
    return [arg.arg for arg in (*plain, *starred)]


def _parameters(found: Definition) -> list[str]:
    return [mangled(name, found.class_name) for name in parameter_names(found.node.args)]


def mangled(name: str, class_name: str | None) -> str:
    """The name that Python gives a private name inside a class."""
    if class_name is None or not name.startswith("__") or name.endswith("__"):
        return name
    stripped = class_name.lstrip("_")
    return f"_{stripped}{name}" if stripped else name


def _parameters_of(code: CodeType) -> list[str]:
    has_varargs, has_varkeywords = code.co_flags & 4, code.co_flags & 8
    count = code.co_argcount + code.co_kwonlyargcount + bool(has_varargs) + bool(has_varkeywords)
    return list(code.co_varnames[:count])


Position: TypeAlias = "tuple[int, int]"
"""Line and column, in bytes."""


def _contains(node: FunctionNode, spans: Sequence[tuple[Position, Position]]) -> bool:
    """Whether all instructions of a code object stand inside the body of this lambda."""
    if not isinstance(node, ast.Lambda):
        return True
    body = node.body
    start = (body.lineno, body.col_offset)
    end = (body.end_lineno or 0, body.end_col_offset or 0)
    return all(start <= first and last <= end for first, last in spans)


def _spans(code: CodeType) -> Iterator[tuple[Position, Position]]:
    for line, end_line, column, end_column in code.co_positions():
        if line is None or end_line is None or column is None or end_column is None:
            continue
        # What has no width is the function's entry, not its body.
        if (line, column) != (end_line, end_column):
            yield (line, column), (end_line, end_column)


def segment(lines: list[str], node: ast.expr | ast.stmt) -> str:
    """The text of a node; columns count bytes."""
    start, end = (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)
    return between(lines, start, end)


def between(lines: list[str], start: Position, end: Position) -> str:
    """The text from one (line, column) to another."""
    (first, column), (last, end_column) = start, end
    parts = [line.encode() for line in lines[first - 1 : last]]
    parts[-1] = parts[-1][:end_column]
    parts[0] = parts[0][column:]
    return b"".join(parts).decode()


def shown_path(file: str) -> str:
    """A path as the user would type it: relative to the working directory where it is below it."""
    if file.startswith("<"):
        return file
    relative = os.path.relpath(file)
    return file if relative.startswith(os.pardir) else relative
