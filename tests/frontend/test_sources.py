"""Functions are found in their files, with the positions that they have there."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable
from typing import Any

import pytest

from s2s.frontend.sources import definition_of, mangled, shown_path

first, second = (lambda x: x + 1), (lambda x: lambda x: x * 2)


def decorator(function: Any) -> Any:
    return function


class Outer:
    @decorator
    @staticmethod
    def method(__private, *rest, key=1, **options):
        "doc"
        text = """
not indented"""
        é = lambda a: (  # noqa: E731
            a + 1
        )
        return text, é


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (first, "lambda x: x + 1"),
        (second, "lambda x: lambda x: x * 2"),
        (second(1), "lambda x: x * 2"),
        (Outer.method(1)[1], "lambda a: a + 1"),
        (decorator, "def decorator(function: Any) -> Any:\n    return function"),
    ],
)
def test_functions_are_found(function: Callable[..., Any], text: str) -> None:
    found = definition_of(function.__code__, function.__globals__)
    assert found is not None
    node = found.parse()
    assert ast.unparse(node) == text
    assert (node.lineno, node.col_offset) == (found.node.lineno, found.node.col_offset)
    if isinstance(node, ast.Lambda):
        assert node.body.lineno == function.__code__.co_firstlineno or "a + 1" in text


def test_methods_are_found_with_their_class() -> None:
    found = definition_of(Outer.method.__code__, globals())
    assert found is not None and found.class_name == "Outer"
    node = found.parse()
    assert isinstance(node, ast.FunctionDef) and len(node.decorator_list) == 2
    assert node.lineno == Outer.method.__code__.co_firstlineno + 2
    assert "\\nnot indented" in ast.unparse(node)


def test_what_has_no_source_is_not_found() -> None:
    space: dict[str, Any] = {}
    exec("def f(x):\n    return x", space)
    assert definition_of(space["f"].__code__, space) is None


def test_what_the_file_no_longer_says_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    space: dict[str, Any] = {}
    exec(compile("def f(x):\n    return x", "cell", "exec"), space)

    def says(*lines: str) -> None:
        monkeypatch.setitem(linecache.cache, "cell", (1, None, list(lines), "cell"))

    says("def f(x):\n", "    return x\n")
    assert definition_of(space["f"].__code__, space) is not None
    says("def f(x, y):\n", "    return x\n")
    assert definition_of(space["f"].__code__, space) is None
    says("def f(x:\n")
    assert definition_of(space["f"].__code__, space) is None


def test_private_names() -> None:
    assert mangled("__weight", "_Layer") == "_Layer__weight"
    assert mangled("__init__", "Layer") == "__init__"
    assert mangled("weight", "Layer") == "weight"
    assert mangled("__weight", None) == "__weight"
    assert mangled("__weight", "__") == "__weight"


def test_paths_are_shown_as_the_user_types_them(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert shown_path(str(tmp_path / "models" / "mlp.py")) == "models/mlp.py"
    assert shown_path("/elsewhere/mlp.py") == "/elsewhere/mlp.py"
    assert shown_path("<stdin>") == "<stdin>"
