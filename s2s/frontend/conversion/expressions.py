"""Conversion of expressions: calls, operators, tests, lambdas, comprehensions."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from types import ModuleType
from typing import Any

from s2s.frontend.conversion.nodes import HOOK, Nodes, arguments_of, named_parameters, placed
from s2s.frontend.conversion.scopes import binds, outlives_item
from s2s.frontend.lines import Statement
from s2s.frontend.sources import mangled

_LEFT_ALONE = frozenset({"super", "vars", "dir", "eval", "exec", "breakpoint"})
"""Builtins that look at the frame of their caller."""

OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.MatMult: "@",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.BitAnd: "&",
    ast.USub: "-",
    ast.UAdd: "+",
    ast.Invert: "~",
}
COMPARISONS: dict[type[ast.AST], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.In: "in",
    ast.NotIn: "not in",
}
"""The operators that a class can define: all but `is`, `and`, `or` and `not`."""


class Expressions(Nodes):
    """Converts expressions."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Name) and node.func.id in _LEFT_ALONE:
            first = self.place.first_parameter
            if node.func.id == "super" and not node.args and first is not None:
                # The code may become a function of its own, which has no such parameter.
                node.args = [placed(ast.Name(n, ast.Load()), node) for n in ("__class__", first)]
            return self.visit_parts(node)
        if isinstance(node.func, ast.Name) and node.func.id == "locals":
            return self.hook("visible", node, at=node)
        node.args = [self.visit(node.func), *map(self.visit, node.args)]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        node.func = placed(ast.Name(f"{HOOK}call", ast.Load()), node.func)
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        node.value = self.bound(node.target.id, self.visit(node.value), node)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        if self.in_class or binds(node.body, node.orelse):
            node.test = self.truth(node.test)
            node.body, node.orelse = self.visit(node.body), self.visit(node.orelse)
            return node
        body, orelse = self.later(self.visit(node.body)), self.later(self.visit(node.orelse))
        return self.hook("choose", self.test(node.test), body, orelse, at=node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        return self.both(node, self.visit)

    def both(self, node: ast.BoolOp, visit: Callable[[ast.expr], ast.expr]) -> ast.expr:
        if self.in_class or binds(*node.values[1:]):
            # The last operand is the result and not asked for its truth.
            *first, last = node.values
            node.values = [*(self.truth(value, "and") for value in first), self.visit(last)]
            return node
        text = placed(ast.Constant("and" if isinstance(node.op, ast.And) else "or"), node)
        *first, last = node.values
        if isinstance(node.op, ast.Or) and visit == self.visit:
            values = [*map(self.alternative, first), visit(last)]
        else:
            values = [*map(visit, node.values)]
        return self.hook("both", text, values[0], *map(self.later, values[1:]), at=node)

    def alternative(self, node: ast.expr) -> ast.expr:
        """An operand of `or` that is not the last one: what it is matters only where it is true."""
        match node:
            case ast.BoolOp(ast.And(), [first, *others]) if not binds(*others):
                later = [self.later(self.visit(other)) for other in others]
                return self.hook("where_true", self.visit(first), *later, at=node)
            case _:
                return self.visit(node)

    def test(self, node: ast.expr) -> ast.expr:
        """A converted expression that is asked for its truth."""
        return self.both(node, self.tested) if isinstance(node, ast.BoolOp) else self.visit(node)

    def tested(self, node: ast.expr) -> ast.expr:
        """The truth of an operand of `and` or `or`, where the operand itself is not wanted."""
        if isinstance(node, (ast.BoolOp, ast.Compare, ast.UnaryOp)):
            return self.test(node)
        return self.hook("tested", self.visit(node), at=node)

    def later(self, value: ast.expr) -> ast.expr:
        """A function that computes a converted expression."""
        return placed(ast.Lambda(arguments_of([], value), value), value)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        match node:
            case ast.Compare(left, [ast.Is() | ast.IsNot() as op], [ast.Constant(None)]):
                hook = "is_none" if isinstance(op, ast.Is) else "is_given"
                return self.hook(hook, self.visit(left), at=node)
            case _:
                pass
        operands = [node.left, *node.comparators]
        are_known = all(type(op) in COMPARISONS for op in node.ops)
        if len(node.ops) == 1 and are_known:
            return self.operation("compare", COMPARISONS[type(node.ops[0])], *operands, at=node)
        if not are_known or self.in_class or binds(*operands[2:]):
            return self.visit_parts(node)
        symbols: Any = tuple(COMPARISONS[type(op)] for op in node.ops)
        first, second, *others = map(self.visit, operands)
        texts = placed(ast.Constant(symbols), node)
        return self.hook("chain", texts, first, second, *map(self.later, others), at=node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        symbol = OPERATORS[type(node.op)]
        return self.operation("binary", symbol, node.left, node.right, at=node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.op, ast.Not):
            return self.hook("negation", self.test(node.operand), at=node)
        return self.operation("unary", OPERATORS[type(node.op)], node.operand, at=node)

    def operation(self, hook: str, symbol: str, *operands: ast.expr, at: ast.expr) -> ast.expr:
        if all(isinstance(operand, ast.Constant) for operand in operands):
            return at
        text = placed(ast.Constant(symbol), at)
        return self.hook(hook, text, *map(self.visit, operands), at=at)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if not isinstance(node.ctx, ast.Load):
            return self.visit_parts(node)
        if isinstance(self.constant(node.value), ModuleType):
            return node
        text = placed(ast.Constant(mangled(node.attr, self.class_names[-1])), node)
        return self.hook("attribute", self.visit(node.value), text, at=node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if not isinstance(node.ctx, ast.Load):
            return self.visit_parts(node)
        container = self.visit(node.value)
        return self.hook("item", container, self.index(self.visit(node.slice)), at=node)

    def constant(self, node: ast.expr) -> Any:
        """What a name, or an attribute of a module, stands for in the user's file."""
        if isinstance(node, ast.Name):
            return self.namespace.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self.constant(node.value)
            return getattr(owner, node.attr, None) if isinstance(owner, ModuleType) else None
        return None

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        iterated: ast.expr = self.visit(node.iter)
        node.iter = iterated if node.is_async else self.hook("iterate", iterated, at=iterated)
        node.ifs = [*map(self.truth, node.ifs)]
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        return self.mapping("comprehension", node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        return self.mapping("generator", node)

    def mapping(self, hook: str, node: ast.ListComp | ast.GeneratorExp) -> ast.expr:
        """`[f(x) for x in xs if g(x)]` as functions of an item of xs.

        A generator over several iterables is one of generators; a list of that is left as it is. So
        is one of functions of the variables, which all see the last values of these.
        """
        first, *others = node.generators
        is_plain = not others or (hook == "generator" and not any(g.ifs for g in (first, *others)))
        is_plain = is_plain and not any(g.is_async for g in node.generators)
        if not is_plain or self.in_class or binds(node) or outlives_item(node):
            return self.visit_parts(node)
        iterated = self.visit(first.iter)
        if others:
            inner = placed(ast.GeneratorExp(node.elt, others), node)
            function = self.of_item(self.visit(inner), first.target, node)
            return self.hook("flattened", iterated, function, at=node)
        function = self.of_item(self.visit(node.elt), first.target, node)
        given = [iterated, function]
        if first.ifs:
            test = first.ifs[0]
            if len(first.ifs) > 1:
                test = placed(ast.BoolOp(ast.And(), first.ifs), node)
            given.append(self.of_item(self.test(test), copy.deepcopy(first.target), node))
        return self.hook(hook, *given, at=node)

    def of_item(self, value: ast.expr, target: ast.expr, at: ast.expr) -> ast.expr:
        """A function of one item: of a converted expression in which `target` is the item."""
        # In a scope of its own: [f(x) for x in (each,)][0].
        item = self.load_temporary("each", at)
        only = placed(ast.Tuple([item], ast.Load()), at)
        single = placed(ast.comprehension(target, only, [], 0), at)
        computed = placed(ast.ListComp(value, [single]), at)
        first = placed(ast.Subscript(computed, placed(ast.Constant(0), at), ast.Load()), at)
        return placed(ast.Lambda(arguments_of([f"{HOOK}each"], at), first), at)

    def truth(self, test: ast.expr, construct: str = "if") -> ast.expr:
        return self.is_true(self.test(test), construct)

    def is_true(self, test: ast.expr, construct: str) -> ast.expr:
        text = [] if construct == "if" else [placed(ast.Constant(construct), test)]
        return self.hook("truth", test, *text, at=test)

    def index(self, index: ast.expr) -> ast.expr:
        """A subscript as an expression, with calls in place of slices."""
        if isinstance(index, ast.Slice):
            none = placed(ast.Constant(None), index)
            bounds = (index.lower or none, index.upper or none, index.step or none)
            return self.hook("slice", *bounds, at=index)
        if isinstance(index, ast.Tuple):
            index.elts = [*map(self.index, index.elts)]
        return index

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        if all(isinstance(part, ast.Constant) for part in node.values):
            return node
        return self.hook("formatted", *map(self.part_of_text, node.values), at=node)

    def part_of_text(self, part: ast.expr) -> ast.expr:
        """A string of an f-string; or a value with its conversion and format."""
        if not isinstance(part, ast.FormattedValue):
            return part
        shown = [self.visit(part.value)]
        if part.conversion > 0 or part.format_spec is not None:
            conversion = chr(part.conversion) if part.conversion > 0 else ""
            shown.append(placed(ast.Constant(conversion), part))
        if part.format_spec is not None:
            shown.append(self.visit(part.format_spec))
        return placed(ast.Tuple(shown, ast.Load()), part)

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        node.args = self.visit(node.args)
        self.outside.append(set())
        body: ast.expr = self.visit(node.body)
        self.outside.pop()
        text = Statement(self.lines, node.lineno, None)
        enter = self.hook("enter", at=node.body)
        line = self.plain_call(enter, [self.number(text, node.body)], node.body)
        names = named_parameters(node.args)
        naming = [self.naming(names, node.body)] if names else []
        node.body = self.hook("last", line, *naming, body, at=node.body)
        return node
