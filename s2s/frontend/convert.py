"""Conversion of a user's function: the same function, with hooks.

    def f(x):                         def f(x):
        y = g(x)                          at = enter()
        if y > 0:                         names(("x",), x)
            y += 1                        at(0); y = name(call(g, x), "y")
        return y                          at(1)
                                          if truth(y > 0):
                                              at(2); y = name(inplace("+=", y, 1), "y")
                                          at(3); return y

What each hook does is said in hooks.py. Hooks are free variables of the converted function, with
names that are no identifiers (`s2s.call`), so that they meet no name of the user's. The file name
and the line numbers are the user's, so tracebacks are too. Functions and lambdas inside are
converted with the one around them.
"""

from __future__ import annotations
import __future__

import ast
import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any

from s2s.frontend.lines import Statement
from s2s.frontend.sources import Definition, Position, mangled, parameter_names

HOOK = "s2s."
"""What the names of hooks, and of the converter's own variables, start with."""

_FUTURE = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
_LEFT_ALONE = frozenset({"super", "vars", "dir", "eval", "exec", "breakpoint"})
"""Builtins that look at the frame of their caller."""

_IN_PLACE: dict[type[ast.operator], str] = {
    ast.Add: "+=",
    ast.Sub: "-=",
    ast.Mult: "*=",
    ast.MatMult: "@=",
    ast.Div: "/=",
    ast.FloorDiv: "//=",
    ast.Mod: "%=",
    ast.Pow: "**=",
    ast.LShift: "<<=",
    ast.RShift: ">>=",
    ast.BitOr: "|=",
    ast.BitXor: "^=",
    ast.BitAnd: "&=",
}


@dataclass(frozen=True)
class Conversion:
    """The code of a converted function and the statements that it refers to by number."""

    code: CodeType
    statements: list[Statement]


def is_converted(code: CodeType) -> bool:
    """Whether a code object is a converted function's, or that of a function inside of one."""
    return f"{HOOK}enter" in code.co_freevars


def convert(code: CodeType, definition: Definition) -> Conversion:
    """The converted function of which `code` is the original and `definition` the source."""
    converter = _Converter(definition, frozenset(code.co_freevars))
    node = converter.outermost(definition.parse())
    parameters = [*code.co_freevars, *(HOOK + name for name in HOOKS)]
    if definition.class_name is not None:
        # In a class of the same name, for the names of private attributes.
        node = _class(definition.class_name, node)
    body = [node]
    if isinstance(node, _DEFINITIONS) and node.name not in code.co_freevars:
        # The name stands for what it stands for in the user's file.
        body.insert(0, ast.Global([node.name]))
    outer = ast.FunctionDef(f"{HOOK}outer", _arguments(parameters), body, [])
    if hasattr(outer, "type_params"):
        outer.type_params = []  # Python 3.12 and newer
    tree = ast.fix_missing_locations(ast.Module([outer], []))
    found = compile(tree, code.co_filename, "exec", code.co_flags & _FUTURE, dont_inherit=True)
    for _ in range(2 if definition.class_name is None else 3):
        found = next(const for const in found.co_consts if isinstance(const, CodeType))
    return Conversion(
        _with_qualname(found, found.co_qualname, code.co_qualname), converter.statements
    )


HOOKS = (
    "call",
    "decorate",
    "delete_item",
    "enter",
    "handling",
    "inplace",
    "iterate",
    "last",
    "name",
    "names",
    "rebind",
    "set_attribute",
    "set_item",
    "slice",
    "truth",
    "visible",
)
"""The hooks that converted code refers to."""


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _arguments(names: Iterable[str]) -> ast.arguments:
    return ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])


def _class(name: str, node: ast.stmt) -> ast.ClassDef:
    found = ast.ClassDef(name, [], [], [node], [])
    if hasattr(found, "type_params"):
        found.type_params = []  # Python 3.12 and newer
    return found


def _with_qualname(code: CodeType, old: str, new: str) -> CodeType:
    consts = tuple(
        _with_qualname(const, old, new) if isinstance(const, CodeType) else const
        for const in code.co_consts
    )
    return code.replace(co_qualname=new + code.co_qualname.removeprefix(old), co_consts=consts)


class _Converter(ast.NodeTransformer):
    def __init__(self, definition: Definition, free: frozenset[str]) -> None:
        self.lines = definition.lines
        self.class_names = [definition.class_name]
        self.free = free
        self.statements: list[Statement] = []
        # For each function around: the names declared in it that are kept outside of the trace.
        self.outside: list[set[str]] = []
        self.in_class = False
        self.temporaries = 0

    # -- functions ------------------------------------------------------------------------------

    def outermost(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> ast.stmt:
        """The function itself. Its defaults, decorators and annotations were evaluated before."""
        a = node.args
        a.defaults, a.kw_defaults = [], [None] * len(a.kwonlyargs)
        if isinstance(node, ast.Lambda):
            target = ast.Name(f"{HOOK}lambda", ast.Store())
            assigned = ast.Assign([target], self.visit_Lambda(node))
            return ast.copy_location(assigned, node)
        node.decorator_list = []
        node.returns = None
        for arg in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg):
            if arg is not None:
                arg.annotation = None
        if hasattr(node, "type_params"):
            node.type_params = []
        return self.function(node)

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.stmt:
        in_class, self.in_class = self.in_class, False
        self.outside.append(set())
        has_docstring = ast.get_docstring(node, clean=False) is not None
        docstring = node.body[:1] if has_docstring else []
        enter = self.set_temporary("at", self.hook("enter", at=node), node)
        prologue: list[ast.stmt] = [enter, *self.name_parameters(node.args, node)]
        node.body = [*docstring, *prologue, *self.block(node.body[len(docstring) :])]
        self.outside.pop()
        self.in_class = in_class
        return node

    def name_parameters(self, arguments: ast.arguments, at: ast.AST) -> list[ast.stmt]:
        names = [name for name in parameter_names(arguments) if name not in ("self", "cls")]
        return self.names(names, at)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        node.decorator_list = [
            self.hook("decorate", self.visit(decorator), at=decorator)
            for decorator in node.decorator_list
        ]
        node.args = self.visit(node.args)
        return self.function(node)

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        node.args = self.visit(node.args)
        self.outside.append(set())
        body: ast.expr = self.visit(node.body)
        self.outside.pop()
        text = Statement(self.lines, node.lineno, None)
        enter = self.hook("enter", at=node.body)
        line = self.plain_call(enter, [self.number(text, node.body)], node.body)
        names = [statement.value for statement in self.name_parameters(node.args, node.body)]
        node.body = self.hook("last", line, *names, body, at=node.body)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        node.decorator_list = [
            self.hook("decorate", self.visit(decorator), at=decorator)
            for decorator in node.decorator_list
        ]
        in_class, self.in_class = self.in_class, True
        self.class_names.append(node.name)
        node.body = self.block(node.body)
        self.class_names.pop()
        self.in_class = in_class
        return node

    # -- statements -----------------------------------------------------------------------------

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Converted statements, each after the call that makes its line the one in force."""
        result: list[ast.stmt] = []
        for statement in statements:
            if not isinstance(statement, _WITHOUT_LINE):
                result.append(self.expression(self.line(statement)))
            found: ast.stmt | list[ast.stmt] = self.visit(statement)
            result.extend(found if isinstance(found, list) else [found])
        return result

    def line(self, node: ast.stmt) -> ast.expr:
        """The call that makes the line of a statement the one in force."""
        at = self.load_temporary("at", node)
        statement = Statement(self.lines, node.lineno, _extent(node))
        return self.plain_call(at, [self.number(statement, node)], node)

    def number(self, statement: Statement, at: ast.AST) -> ast.expr:
        self.statements.append(statement)
        return _placed(ast.Constant(len(self.statements) - 1), at)

    def visit_Global(self, node: ast.Global) -> ast.stmt:
        if self.outside:
            self.outside[-1].update(node.names)
        return node

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.stmt:
        self.outside[-1].update(self.free.intersection(node.names))
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | list[ast.stmt]:
        value: ast.expr = self.visit(node.value)
        if len(node.targets) == 1:
            return self.assign(node.targets[0], value, node)
        temporary = self.temporary()
        result = [self.set_temporary(temporary, value, node)]
        for target in node.targets:
            result += self.assign(target, self.load_temporary(temporary, node), node)
        return result

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt | list[ast.stmt]:
        if node.value is None:
            return node
        value: ast.expr = self.visit(node.value)
        if self.in_class:
            node.value = value
            return node
        return self.assign(node.target, value, node)

    def assign(self, target: ast.expr, value: ast.expr, at: ast.stmt) -> list[ast.stmt]:
        """`target = value`, for a value that is converted and a target that is not."""
        match target:
            case ast.Name(name):
                value = self.bound(name, value, at)
                return [_placed(ast.Assign([target], value), at)]
            case ast.Attribute(owner, attribute):
                owner = self.visit(owner)
                return [self.expression(self.set_attribute(value, owner, attribute, at))]
            case ast.Subscript(container, index):
                container, index = self.visit(container), self.index(self.visit(index))
                return [self.expression(self.hook("set_item", value, container, index, at=at))]
            case _:
                target, after = self.unpack(target, at)
                return [_placed(ast.Assign([target], value), at), *after]

    def unpack(self, target: ast.expr, at: ast.stmt) -> tuple[ast.expr, list[ast.stmt]]:
        """A target to assign to in place of the given one, and the statements that come after.

        Names keep their place. If there is anything else, all parts go to temporaries first and
        then, from left to right, to where they belong.
        """
        names = _plain_names(target)
        if names is not None and not self.is_outside(*names):
            return target, self.names(names, at)
        after: list[ast.stmt] = []

        def replaced(part: ast.expr) -> ast.expr:
            if isinstance(part, (ast.Tuple, ast.List)):
                return _placed(type(part)([*map(replaced, part.elts)], ast.Store()), part)
            if isinstance(part, ast.Starred):
                return _placed(ast.Starred(replaced(part.value), ast.Store()), part)
            temporary = self.temporary()
            after.extend(self.assign(part, self.load_temporary(temporary, part), at))
            return _placed(ast.Name(HOOK + temporary, ast.Store()), part)

        return replaced(target), after

    def visit_AugAssign(self, node: ast.AugAssign) -> list[ast.stmt]:
        value: ast.expr = self.visit(node.value)
        operator = _placed(ast.Constant(_IN_PLACE[type(node.op)]), node)

        def updated(old: ast.expr, *is_part: ast.expr) -> ast.expr:
            return self.hook("inplace", operator, old, value, *is_part, at=node)

        true = _placed(ast.Constant(True), node)

        match node.target:
            case ast.Name(name):
                old = _placed(ast.Name(name, ast.Load()), node.target)
                return self.assign(node.target, updated(old), node)
            case ast.Attribute(owner, attribute):
                keep, owner = self.kept(self.visit(owner))
                old = _placed(ast.Attribute(keep, attribute, ast.Load()), node.target)
                new = updated(old)
                return [self.expression(self.set_attribute(new, owner, attribute, node))]
            case ast.Subscript(container, index):
                keep, container = self.kept(self.visit(container))
                keep_index, index = self.kept(self.index(self.visit(index)))
                old = _placed(ast.Subscript(keep, keep_index, ast.Load()), node.target)
                new = updated(old, true)
                return [self.expression(self.hook("set_item", new, container, index, at=node))]

    def kept(self, value: ast.expr) -> tuple[ast.expr, ast.expr]:
        """Expressions for the first use of a value, and for later ones without computing it."""
        name = HOOK + self.temporary()
        store = _placed(ast.Name(name, ast.Store()), value)
        return _placed(ast.NamedExpr(store, value), value), _placed(ast.Name(name, ast.Load()), value)

    def visit_Delete(self, node: ast.Delete) -> list[ast.stmt]:
        result: list[ast.stmt] = []
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                container, index = self.visit(target.value), self.index(self.visit(target.slice))
                result.append(self.expression(self.hook("delete_item", container, index, at=node)))
            else:
                result.append(_placed(ast.Delete([self.visit(target)]), node))
        return result

    def visit_For(self, node: ast.For) -> ast.stmt:
        node.iter = self.hook("iterate", self.visit(node.iter), at=node.iter)
        node.target, names = self.target_of_block(node.target, node)
        node.body = [*names, *self.block(node.body)]
        node.orelse = self.block(node.orelse)
        return node

    def visit_AsyncFor(self, node: ast.AsyncFor) -> ast.stmt:
        node.iter = self.visit(node.iter)
        node.target, names = self.target_of_block(node.target, node)
        node.body = [*names, *self.block(node.body)]
        node.orelse = self.block(node.orelse)
        return node

    def target_of_block(
        self, target: ast.expr, at: ast.stmt
    ) -> tuple[ast.expr, list[ast.stmt]]:
        if isinstance(target, (ast.Attribute, ast.Subscript)) or self.is_outside(
            *(_plain_names(target) or ())
        ):
            # As for a part of a tuple: through a temporary.
            single = _placed(ast.Tuple([target], ast.Store()), target)
            found, after = self.unpack(single, at)
            assert isinstance(found, ast.Tuple)
            return found.elts[0], after
        return self.unpack(target, at)

    def visit_With(self, node: ast.With) -> ast.stmt:
        names: list[ast.stmt] = []
        for item in node.items:
            item.context_expr = self.visit(item.context_expr)
            if item.optional_vars is not None:
                item.optional_vars, after = self.target_of_block(item.optional_vars, node)
                names += after
        node.body = [*names, *self.block(node.body)]
        return node

    visit_AsyncWith = visit_With  # type: ignore[assignment]

    def visit_If(self, node: ast.If) -> ast.stmt:
        node.test = self.truth(node.test)
        node.body = self.block(node.body)
        node.orelse = self.block(node.orelse)
        return node

    def visit_While(self, node: ast.While) -> ast.stmt:
        # The test is computed again after each step, so it sets its line itself.
        test: ast.expr = self.visit(node.test)
        node.test = self.is_true(self.hook("last", self.line(node), test, at=test), "while")
        node.body = self.block(node.body)
        node.orelse = self.block(node.orelse)
        return node

    def visit_Try(self, node: ast.Try) -> ast.stmt:
        node.body = self.block(node.body)
        for handler in node.handlers:
            handler.type = None if handler.type is None else self.visit(handler.type)
            check = self.expression(self.hook("handling", at=handler))
            handler.body = [check, *self.block(handler.body)]
        node.orelse = self.block(node.orelse)
        node.finalbody = self.block(node.finalbody)
        return node

    visit_TryStar = visit_Try  # type: ignore[assignment]

    def visit_Match(self, node: ast.Match) -> ast.stmt:
        node.subject = self.visit(node.subject)
        for case in node.cases:
            case.guard = None if case.guard is None else self.truth(case.guard)
            case.body = self.block(case.body)
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        node.test = self.truth(node.test, "assert")
        node.msg = None if node.msg is None else self.visit(node.msg)
        return node

    # -- expressions ----------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Name) and node.func.id in _LEFT_ALONE:
            return self.generic_visit(node)  # type: ignore[return-value]
        if isinstance(node.func, ast.Name) and node.func.id == "locals":
            return self.hook("visible", node, at=node)
        node.args = [self.visit(node.func), *map(self.visit, node.args)]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        node.func = _placed(ast.Name(f"{HOOK}call", ast.Load()), node.func)
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        node.value = self.bound(node.target.id, self.visit(node.value), node)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        node.test = self.truth(node.test)
        node.body, node.orelse = self.visit(node.body), self.visit(node.orelse)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        # The last operand is the result and not asked for its truth.
        *first, last = node.values
        node.values = [*(self.truth(value, "and") for value in first), self.visit(last)]
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        operands = [node.left, *node.comparators]
        if len(node.ops) > 1 and all(isinstance(x, (ast.Name, ast.Constant)) for x in operands[1:-1]):
            # `a < b < c` asks for the truth of `a < b`, as `a < b and b < c` does.
            pairs = zip(operands, node.ops, operands[1:])
            parts = [_placed(ast.Compare(x, [op], [copy.copy(y)]), node) for x, op, y in pairs]
            return self.visit_BoolOp(_placed(ast.BoolOp(ast.And(), parts), node))
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.op, ast.Not):
            node.operand = self.truth(node.operand, "not")
        else:
            node.operand = self.visit(node.operand)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        iterated: ast.expr = self.visit(node.iter)
        node.iter = iterated if node.is_async else self.hook("iterate", iterated, at=iterated)
        node.ifs = [*map(self.truth, node.ifs)]
        return node

    def truth(self, test: ast.expr, construct: str = "if") -> ast.expr:
        return self.is_true(self.visit(test), construct)

    def is_true(self, test: ast.expr, construct: str) -> ast.expr:
        text = [] if construct == "if" else [_placed(ast.Constant(construct), test)]
        return self.hook("truth", test, *text, at=test)

    def index(self, index: ast.expr) -> ast.expr:
        """A subscript as an expression, with calls in place of slices."""
        if isinstance(index, ast.Slice):
            none = _placed(ast.Constant(None), index)
            bounds = (index.lower or none, index.upper or none, index.step or none)
            return self.hook("slice", *bounds, at=index)
        if isinstance(index, ast.Tuple):
            index.elts = [*map(self.index, index.elts)]
        return index

    # -- small parts ----------------------------------------------------------------------------

    def hook(self, name: str, *arguments: ast.expr, at: ast.AST) -> ast.Call:
        return self.plain_call(_placed(ast.Name(HOOK + name, ast.Load()), at), arguments, at)

    def plain_call(
        self, function: ast.expr, arguments: Sequence[ast.expr], at: ast.AST
    ) -> ast.Call:
        return _placed(ast.Call(function, [*arguments], []), at)

    def expression(self, value: ast.expr) -> ast.Expr:
        return _placed(ast.Expr(value), value)

    def bound(self, name: str, value: ast.expr, at: ast.AST) -> ast.expr:
        """The value as it is assigned to a name."""
        text = _placed(ast.Constant(name), at)
        if not self.is_outside(name):
            return self.hook("name", value, text, at=at)
        old = ast.Lambda(_arguments([]), _placed(ast.Name(name, ast.Load()), at))
        return self.hook("rebind", value, text, _placed(old, at), at=at)

    def is_outside(self, *names: str) -> bool:
        """Whether any of these names is a global, or a variable of a function outside the trace."""
        return bool(self.outside) and not self.outside[-1].isdisjoint(names)

    def names(self, names: Sequence[str], at: ast.AST) -> list[ast.Expr]:
        if not names:
            return []
        texts = _placed(ast.Constant(tuple(names)), at)
        values = [_placed(ast.Name(name, ast.Load()), at) for name in names]
        return [self.expression(self.hook("names", texts, *values, at=at))]

    def set_attribute(
        self, value: ast.expr, owner: ast.expr, attribute: str, at: ast.AST
    ) -> ast.expr:
        text = _placed(ast.Constant(mangled(attribute, self.class_names[-1])), at)
        return self.hook("set_attribute", value, owner, text, at=at)

    def temporary(self) -> str:
        self.temporaries += 1
        return f"t{self.temporaries}"

    def set_temporary(self, name: str, value: ast.expr, at: ast.AST) -> ast.stmt:
        return _placed(ast.Assign([_placed(ast.Name(HOOK + name, ast.Store()), at)], value), at)

    def load_temporary(self, name: str, at: ast.AST) -> ast.expr:
        return _placed(ast.Name(HOOK + name, ast.Load()), at)


_WITHOUT_LINE = (
    ast.Pass,
    ast.Break,
    ast.Continue,
    ast.Global,
    ast.Nonlocal,
    ast.While,
    ast.Try,
    ast.TryStar,
)
"""Statements that compute nothing themselves, and `while`, which sets its line itself."""


def _plain_names(target: ast.expr) -> list[str] | None:
    """The names in a target, or None if there is anything else in it."""
    match target:
        case ast.Name(name):
            return [name]
        case ast.Starred(value):
            return _plain_names(value)
        case ast.Tuple(parts) | ast.List(parts):
            names: list[str] = []
            for part in parts:
                found = _plain_names(part)
                if found is None:
                    return None
                names += found
            return names
        case _:
            return None


def _extent(node: ast.stmt) -> tuple[Position, Position] | None:
    """Where the text of a statement begins and ends; of a compound one, that of its head."""
    if isinstance(node, ast.Match):
        return None  # its first line
    start = (node.lineno, node.col_offset)
    body: list[Any] = getattr(node, "body", [])
    if not body:
        return start, (node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
    first: Any = body[0]
    decorators: list[ast.expr] = getattr(first, "decorator_list", [])
    first = min([first, *decorators], key=lambda part: part.lineno)
    return start, (first.lineno, first.col_offset)


def _placed(node: Any, at: Any) -> Any:
    """A new node at the place of an old one."""
    node.lineno, node.col_offset = at.lineno, at.col_offset
    node.end_lineno, node.end_col_offset = at.end_lineno, at.end_col_offset
    return node
