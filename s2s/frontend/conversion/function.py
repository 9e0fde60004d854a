"""Conversion of a function: from its code and its source to the code of the converted one."""

from __future__ import annotations
import __future__

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from types import CodeType
from typing import Any

from s2s.collector import collector_paused
from s2s.frontend.conversion.nested_tests import with_nested_tests
from s2s.frontend.conversion.nodes import HOOK, HOOKS, arguments_of, placed
from s2s.frontend.conversion.statements import Statements
from s2s.frontend.lines import Statement
from s2s.frontend.sources import Definition

_FUTURE = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)


@dataclass(frozen=True)
class Conversion:
    """The code of a converted function and the statements that it refers to by number."""

    code: CodeType
    statements: list[Statement]


def is_converted(code: CodeType) -> bool:
    """Whether a code object is a converted function's, or that of a function inside of one."""
    return f"{HOOK}enter" in code.co_freevars


@collector_paused()
def convert(code: CodeType, definition: Definition, namespace: Mapping[str, Any]) -> Conversion:
    """The converted function of which `code` is the original, `definition` the source, and
    `namespace` the globals."""
    converter = Statements(definition, frozenset(code.co_freevars), namespace)
    node = converter.outermost(with_nested_tests(definition.parse()))
    parameters = [*code.co_freevars, *(HOOK + name for name in HOOKS)]
    if definition.class_name is not None:
        # In a class of the same name, for the names of private attributes.
        node = _definition(ast.ClassDef, node, name=definition.class_name, body=[node])
    body = [node]
    if isinstance(node, _DEFINITIONS) and node.name not in code.co_freevars:
        # The name stands for what it stands for in the user's file.
        body.insert(0, ast.Global([node.name]))
        placed(body[0], node)
    arguments = arguments_of(parameters, node)
    outer = _definition(ast.FunctionDef, node, name=f"{HOOK}outer", args=arguments, body=body)
    found: CodeType = compile(
        ast.Module([outer], []),
        code.co_filename,
        "exec",
        code.co_flags & _FUTURE,
        dont_inherit=True,
    )
    for _ in range(2 if definition.class_name is None else 3):
        found = next(const for const in found.co_consts if isinstance(const, CodeType))
    return Conversion(
        _with_qualname(found, found.co_qualname, code.co_qualname), converter.statements
    )


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _definition(kind: Any, at: ast.stmt, **parts: Any) -> Any:
    """A definition of a class or function, with nothing that is not said."""
    if "type_params" in kind._fields:
        parts["type_params"] = []  # Python 3.12 and newer
    if kind is ast.ClassDef:
        parts.update(bases=[], keywords=[])
    return placed(kind(decorator_list=[], **parts), at)


def _with_qualname(code: CodeType, old: str, new: str) -> CodeType:
    consts = tuple(
        _with_qualname(const, old, new) if isinstance(const, CodeType) else const
        for const in code.co_consts
    )
    return code.replace(co_qualname=new + code.co_qualname.removeprefix(old), co_consts=consts)
