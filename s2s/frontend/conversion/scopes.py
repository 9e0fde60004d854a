"""What a block of statements binds, and where it may jump to."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LOOKS_AT_FRAME = frozenset({"locals", "vars", "dir", "eval", "exec"})
_YIELDS = (ast.Yield, ast.YieldFrom)


def _children(node: ast.AST) -> list[ast.AST]:
    """The parts of a node: those of `ast.iter_child_nodes` but for operators, in less time."""
    found: list[ast.AST] = []
    if node.__class__ in _LEAVES:
        return found
    for name, part in node.__dict__.items():
        kind = part.__class__
        if kind is list:
            if name != "ops":
                found += [part for part in part if part.__class__ not in _NO_NODES]
        elif kind not in _NO_NODES and name not in _OPERATORS:
            found.append(part)
    return found


_LEAVES = frozenset({ast.Name, ast.Constant, ast.MatchSingleton})
_NO_NODES = frozenset({int, str, type(None)})
_OPERATORS = frozenset({"ctx", "op"})


_bound: WeakKeyDictionary[ast.stmt, list[str]] = WeakKeyDictionary()
"""The names that statements bind. It is asked for a statement and again for each in it."""


def bound_names(nodes: Iterable[ast.AST]) -> list[str]:
    """The names that statements bind in the scope in which they stand, in order."""
    found: dict[str, None] = {}
    for node in nodes:
        if isinstance(node, ast.stmt):
            if node not in _bound:
                names: dict[str, None] = {}
                _bind(node, names, False)
                _bound[node] = list(names)
            found.update(dict.fromkeys(_bound[node]))
        else:
            _bind(node, found, False)
    return list(found)


def _bind(node: ast.AST, found: dict[str, None], in_comprehension: bool) -> None:
    if isinstance(node, ast.Name):
        if not in_comprehension and not isinstance(node.ctx, ast.Load):
            found[node.id] = None
        return
    # Most expressions bind nothing themselves.
    match node if node.__class__ in _BINDING else None:
        case ast.NamedExpr(ast.Name(name), value):
            found[name] = None
            _bind(value, found, in_comprehension)
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
    for child in _children(node):
        if isinstance(child, ast.stmt):
            found.update(dict.fromkeys(bound_names([child])))
        else:
            _bind(child, found, in_comprehension)


_BINDING = frozenset(
    {
        *(ast.NamedExpr, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda),
        *(ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping),
        *(ast.Import, ast.ImportFrom),
    }
)


def mentioned(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The names in statements, also in what they define, each as often as it stands there."""
    for node in nodes:
        match node:
            case ast.Name(name) | ast.arg(name):
                yield name
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                yield name
            case ast.ExceptHandler(_, str(name)) | ast.MatchMapping(_, _, str(name)):
                yield name
            case ast.MatchAs(_, str(name)) | ast.MatchStar(str(name)):
                yield name
            case ast.Import(aliases) | ast.ImportFrom(_, aliases):
                yield from [a.asname or a.name.partition(".")[0] for a in aliases]
            case ast.Global(names) | ast.Nonlocal(names):
                yield from names
            case _:
                pass
        yield from mentioned(ast.iter_child_nodes(node))


def run_later(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The functions, classes and generators in statements, which may run when these have ended."""
    for node in nodes:
        if isinstance(node, (*_SCOPES, ast.GeneratorExp)):
            yield node
        else:
            yield from run_later(ast.iter_child_nodes(node))


def _in_scope(nodes: Iterable[ast.AST]) -> list[ast.AST]:
    """The nodes and what is in them, but for functions and classes that they define."""
    found = list(nodes)
    for node in found:  # which grows meanwhile
        if not isinstance(node, _SCOPES):
            found.extend(_children(node))
    return found


@dataclass
class Features:
    """What the statements of a function have that decides how they are converted."""

    global_names: set[str] = field(default_factory=set[str])
    nonlocal_names: set[str] = field(default_factory=set[str])
    yields: bool = False
    """Whether they give values of a generator."""
    can_have_blocks: bool = True
    """Whether parts of the function can be functions of their own: it is not asynchronous, and does
    not look at its own frame."""


_TELLING = frozenset({ast.Global, ast.Nonlocal, ast.Await, ast.AsyncFor, ast.AsyncWith, *_YIELDS})


def features(body: Sequence[ast.stmt]) -> Features:
    """The features of a function's statements."""
    found = Features()
    for node in _in_scope(body):
        if isinstance(node, ast.Name):
            if node.id in _LOOKS_AT_FRAME:
                found.can_have_blocks = False
            continue
        match node if node.__class__ in _TELLING else None:
            case ast.Global(names):
                found.global_names.update(names)
            case ast.Nonlocal(names):
                found.nonlocal_names.update(names)
            case ast.Await() | ast.AsyncFor() | ast.AsyncWith():
                found.can_have_blocks = False
            case ast.Yield() | ast.YieldFrom():
                found.yields = True
            case _:
                pass
    return found


def yields(*nodes: ast.AST) -> bool:
    """Whether statements give values of a generator."""
    return any(isinstance(node, _YIELDS) for node in _in_scope(nodes))


def binds(*nodes: ast.expr) -> bool:
    """Whether an expression binds a name, or gives values of a generator."""
    kinds = (ast.NamedExpr, *_YIELDS, ast.Await)
    return any(isinstance(node, kinds) for node in _in_scope(nodes))


def outlives_item(node: ast.ListComp | ast.GeneratorExp) -> bool:
    """Whether an item of a comprehension may hold a function or generator that reads what the
    comprehension binds, which by then is the last item's: `[lambda t: t * i for i in range(3)]`."""
    names = {
        name.id
        for part in node.generators
        for name in ast.walk(part.target)
        if isinstance(name, ast.Name)
    }
    return not names.isdisjoint(_read_later([node.elt]))


def _read_later(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The names in what expressions define that may run when they have been evaluated: functions,
    and generators that no call is given; but for functions that one of Python's calls at once."""
    for node in nodes:
        match node:
            case ast.Lambda(arguments, body):
                own = {
                    argument.arg
                    for argument in ast.walk(arguments)
                    if isinstance(argument, ast.arg)
                }
                yield from (name for name in mentioned([body]) if name not in own)
                yield from _read_later(ast.iter_child_nodes(arguments))
            case ast.GeneratorExp():
                yield from mentioned([node])
            case ast.Call(function, given, keywords):
                at_once = isinstance(function, ast.Name) and function.id in _CALLS_AT_ONCE
                kinds = (ast.Lambda, ast.GeneratorExp) if at_once else ast.GeneratorExp
                parts = [function, *given, *(keyword.value for keyword in keywords)]
                for part in parts:
                    is_gone = isinstance(part, kinds)
                    yield from _read_later(ast.iter_child_nodes(part) if is_gone else [part])
            case _:
                yield from _read_later(ast.iter_child_nodes(node))


_CALLS_AT_ONCE = frozenset({"max", "min", "sorted", "reduce"})


def jumps(statement: ast.stmt) -> bool:
    """Whether a statement may leave the block in which it stands: by `return`, or by `break` or
    `continue` of a loop around it."""
    return _jumps(statement, False)


def _jumps(node: ast.AST, in_loop: bool) -> bool:
    kind = node.__class__
    if kind is ast.Return:
        return True
    if kind is ast.Break or kind is ast.Continue:
        return not in_loop
    if kind not in _COMPOUND:
        return False
    inside = in_loop or kind in _LOOPS
    for name in _BLOCKS:
        is_inside = inside if name == "body" else in_loop
        for part in getattr(node, name, ()):
            if _jumps(part, is_inside):
                return True
    return False


_LOOPS = frozenset({ast.For, ast.While, ast.AsyncFor})
_COMPOUND = frozenset(
    {
        *(ast.If, *_LOOPS, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match),
        *(ast.ExceptHandler, ast.match_case),
    }
)
"""What has blocks of statements of the same function."""
_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")
