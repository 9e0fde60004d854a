"""The small parts that converted code is made of: hooks, names, temporaries, lines."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from s2s.frontend.lines import Statement
from s2s.frontend.sources import Definition, Position, mangled, parameter_names

HOOK = "s2s."
"""What the names of hooks, and of the converter's own variables, start with."""

HOOKS = (
    "attribute",
    "binary",
    "both",
    "branch",
    "call",
    "chain",
    "check",
    "choose",
    "compare",
    "comprehension",
    "decorate",
    "delete_item",
    "enter",
    "flattened",
    "follow",
    "for_loop",
    "formatted",
    "generator",
    "handling",
    "inplace",
    "is_given",
    "is_none",
    "item",
    "iterate",
    "jump",
    "last",
    "leaves",
    "managed",
    "name",
    "names",
    "negation",
    "raising",
    "rebind",
    "result",
    "set_attribute",
    "set_item",
    "slice",
    "tested",
    "truth",
    "trying",
    "unary",
    "visible",
    "where_true",
    "while_loop",
)
"""The hooks that converted code refers to."""


LOAD = ast.Load()
_LEAVES = (ast.Name, ast.Constant, ast.Pass)
_NOT_NODES = frozenset({"ctx", "op", "ops", "kind", "type_comment"})


@dataclass
class Place:
    """Where in a function of the user's the converter is."""

    has_blocks: bool = False
    """Whether blocks of it become functions."""
    is_generator: bool = False
    """Whether that is so of those blocks only that neither yield nor jump."""
    global_names: frozenset[str] = frozenset()
    first_parameter: str | None = None
    nonlocal_names: frozenset[str] = frozenset()
    mentions: Mapping[str, int] = field(default_factory=dict[str, int])
    """How often the function's own variables stand in it, but for its parameters."""
    is_block: bool = False
    """Whether it is in a block that has become a function."""
    is_nested: bool = False
    """Whether the end of the statements is not that of the function: in `with`, `try`, `match`."""
    in_loop: bool = False
    """Whether `break` and `continue` are those of a loop that Python runs itself."""


class Nodes:
    """Makes the nodes that stand in place of a function's own, and knows where it is in it."""

    def __init__(
        self, definition: Definition, free: frozenset[str], namespace: Mapping[str, Any]
    ) -> None:
        self.namespace = namespace
        self.lines = definition.lines
        self.class_names = [definition.class_name]
        self.free = free
        self.statements: list[Statement] = []
        # For each function around: the names declared in it that are kept outside of the trace.
        self.outside: list[set[str]] = []
        self.in_class = False
        self.place: Place = Place()
        self.temporaries = 0

    def visit(self, node: Any) -> Any:
        """The node that stands in place of one of the function's; statements may give a list."""
        if isinstance(node, _LEAVES):
            return node
        return getattr(self, f"visit_{type(node).__name__}", self.visit_parts)(node)

    def visit_parts(self, node: Any) -> Any:
        """The node with its parts converted; what is not an expression or statement has none."""
        for name in node._fields:
            part = getattr(node, name, None)
            if isinstance(part, ast.AST) and name not in _NOT_NODES:
                setattr(node, name, self.visit(part))
            elif isinstance(part, list):
                parts = cast("list[Any]", part)
                parts[:] = [self.visit(p) if isinstance(p, ast.AST) else p for p in parts]
        return node

    def hook(self, name: str, *arguments: ast.expr, at: ast.AST) -> ast.Call:
        return self.plain_call(placed(ast.Name(HOOK + name, LOAD), at), arguments, at)

    def plain_call(
        self, function: ast.expr, arguments: Sequence[ast.expr], at: ast.AST
    ) -> ast.Call:
        return placed(ast.Call(function, [*arguments], []), at)

    def expression(self, value: ast.expr) -> ast.Expr:
        return placed(ast.Expr(value), value)

    def bound(self, name: str, value: ast.expr, at: ast.AST) -> ast.expr:
        """The value as it is assigned to a name."""
        text = placed(ast.Constant(name), at)
        if not self.is_outside(name):
            return self.hook("name", value, text, at=at)
        old = ast.Lambda(arguments_of([], at), placed(ast.Name(name, LOAD), at))
        return self.hook("rebind", value, text, placed(old, at), at=at)

    def is_outside(self, *names: str) -> bool:
        """Whether any of these names is a global, or a variable of a function outside the trace."""
        return bool(self.outside) and not self.outside[-1].isdisjoint(names)

    def names(self, names: Sequence[str], at: ast.AST) -> list[ast.stmt]:
        """The statement that gives values the names to which they are bound, if there are any."""
        return [self.expression(self.naming(names, at))] if names else []

    def naming(self, names: Sequence[str], at: ast.AST) -> ast.expr:
        given: Any = tuple(names)
        texts = placed(ast.Constant(given), at)
        return self.hook("names", texts, *[placed(ast.Name(n, LOAD), at) for n in names], at=at)

    def set_attribute(
        self, value: ast.expr, owner: ast.expr, attribute: str, at: ast.AST
    ) -> ast.expr:
        text = placed(ast.Constant(mangled(attribute, self.class_names[-1])), at)
        return self.hook("set_attribute", value, owner, text, at=at)

    def temporary(self) -> str:
        self.temporaries += 1
        return f"t{self.temporaries}"

    def set_temporary(self, name: str, value: ast.expr, at: ast.AST) -> ast.stmt:
        return placed(ast.Assign([placed(ast.Name(HOOK + name, ast.Store()), at)], value), at)

    def load_temporary(self, name: str, at: ast.AST) -> ast.expr:
        return placed(ast.Name(HOOK + name, LOAD), at)

    def line(self, node: ast.stmt) -> ast.expr:
        """The call that makes the line of a statement the one in force."""
        at = self.load_temporary("at", node)
        statement = Statement(self.lines, node.lineno, _extent(node))
        return self.plain_call(at, [self.number(statement, node)], node)

    def number(self, statement: Statement, at: ast.AST) -> ast.expr:
        self.statements.append(statement)
        return placed(ast.Constant(len(self.statements) - 1), at)


def named_parameters(arguments: ast.arguments) -> list[str]:
    """The parameters whose names say what their values are."""
    return [name for name in parameter_names(arguments) if name not in ("self", "cls")]


def arguments_of(names: Iterable[str], at: ast.AST) -> ast.arguments:
    """Parameters of these names."""
    return ast.arguments([], [placed(ast.arg(name), at) for name in names], None, [], [], None, [])


def _extent(node: ast.stmt) -> tuple[Position, Position] | None:
    """Where the text of a statement begins and ends; of a compound one, that of its head."""
    if isinstance(node, ast.Match):
        return None  # its first line
    start = (node.lineno, node.col_offset)
    body: list[Any] = getattr(node, "body", [])
    if not body:
        return start, (node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
    first: Any = body[0]
    while (
        isinstance(first, ast.If) and (first.lineno, first.col_offset) == start
    ):  # a test that is part of this one
        first = first.body[0]
    decorators: list[ast.expr] = getattr(first, "decorator_list", [])
    first = min([first, *decorators], key=lambda part: part.lineno)
    return start, (first.lineno, first.col_offset)


def placed(node: Any, at: Any) -> Any:
    """A new node at the place of an old one."""
    node.lineno, node.col_offset = at.lineno, at.col_offset
    node.end_lineno, node.end_col_offset = at.end_lineno, at.end_col_offset
    return node
