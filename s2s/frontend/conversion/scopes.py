"""What a block of statements binds, and where it may jump to."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LOOKS_AT_FRAME = frozenset({"locals", "vars", "dir", "eval", "exec"})


def bound_names(nodes: Iterable[ast.AST]) -> list[str]:
    """The names that statements bind in the scope in which they stand, in order."""
    found: dict[str, None] = {}

    def visit(node: ast.AST, in_comprehension: bool) -> None:
        match node:
            case ast.Name(name, ast.Store() | ast.Del()) if not in_comprehension:
                found[name] = None
            case ast.NamedExpr(ast.Name(name), value):
                found[name] = None
                visit(value, in_comprehension)
                return
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                found[name] = None
                return
            case ast.Lambda():
                return
            case ast.ExceptHandler(_, str(name)):
                found[name] = None
            case ast.MatchAs(_, str(name)) | ast.MatchStar(str(name)):
                found[name] = None
            case ast.MatchMapping(_, _, str(name)):
                found[name] = None
            case ast.Import(aliases) | ast.ImportFrom(_, aliases):
                for alias in aliases:
                    found[alias.asname or alias.name.partition(".")[0]] = None
            case _:
                in_comprehension = in_comprehension or isinstance(node, _COMPREHENSIONS)
        for child in ast.iter_child_nodes(node):
            visit(child, in_comprehension)

    for node in nodes:
        visit(node, False)
    return list(found)


def in_scope(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes and what is in them, but for functions and classes that they define."""
    for node in nodes:
        yield node
        if not isinstance(node, _SCOPES):
            yield from in_scope(ast.iter_child_nodes(node))


def declared(nodes: Iterable[ast.AST], kind: type[ast.Global | ast.Nonlocal]) -> set[str]:
    """The names declared global, or nonlocal."""
    return {name for node in in_scope(nodes) if isinstance(node, kind) for name in node.names}


def can_have_blocks(body: Sequence[ast.stmt]) -> bool:
    """Whether parts of a function can be functions of their own: it is not asynchronous, and does
    not look at its own frame."""
    for node in in_scope(body):
        if isinstance(node, (ast.Await, ast.AsyncFor, ast.AsyncWith)):
            return False
        if isinstance(node, ast.Name) and node.id in _LOOKS_AT_FRAME:
            return False
    return True


def yields(*nodes: ast.AST) -> bool:
    """Whether statements give values of a generator."""
    return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in in_scope(nodes))


def binds(*nodes: ast.expr) -> bool:
    """Whether an expression binds a name, or gives values of a generator."""
    kinds = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)
    return any(isinstance(node, kinds) for node in in_scope(nodes))


def jumps(statement: ast.stmt) -> bool:
    """Whether a statement may leave the block in which it stands: by `return`, or by `break` or
    `continue` of a loop around it."""

    def visit(node: ast.AST, in_loop: bool) -> bool:
        if isinstance(node, ast.Return):
            return True
        if isinstance(node, (ast.Break, ast.Continue)):
            return not in_loop
        if isinstance(node, (*_SCOPES, ast.expr)):
            return False
        if isinstance(node, (ast.For, ast.While, ast.AsyncFor)):
            inside = any(visit(part, True) for part in node.body)
            return inside or any(visit(part, in_loop) for part in node.orelse)
        return any(visit(part, in_loop) for part in ast.iter_child_nodes(node))

    return visit(statement, False)
