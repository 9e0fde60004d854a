"""Tests that assign behind an `and`, as tests in one another."""

from __future__ import annotations

import ast
import copy
from typing import TypeVar

from s2s.frontend.conversion.nodes import placed
from s2s.frontend.conversion.scopes import binds

_Node = TypeVar("_Node", bound=ast.AST)


class _NestedTests(ast.NodeTransformer):
    def visit_If(self, node: ast.If) -> ast.If:
        self.generic_visit(node)
        return _nested(node)


def _nested(node: ast.If) -> ast.If:
    match node.test:
        case ast.BoolOp(ast.And(), values):
            place = next((k for k, value in enumerate(values) if k and binds(value)), None)
        case _:
            return node
    if place is None:
        return node
    first, others = values[:place], values[place:]
    inner = placed(ast.If(_all(others), node.body, copy.deepcopy(node.orelse)), node)
    return placed(ast.If(_all(first), [_nested(inner)], node.orelse), node)


def _all(tests: list[ast.expr]) -> ast.expr:
    return tests[0] if len(tests) == 1 else placed(ast.BoolOp(ast.And(), tests), tests[0])


def with_nested_tests(node: _Node) -> _Node:
    """The function in which an `if` assigns nothing behind an `and`

    before:  if n > 2 and (m := f(x)) > 1: A  else: B
    after:   if n > 2:  if (m := f(x)) > 1: A  else: B      else: B

    What is assigned there has a value where the first test holds, and nowhere else.
    """
    return _NestedTests().visit(node)
