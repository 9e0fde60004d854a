"""Conversion of statements, and of the functions and classes that they define."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Sequence

from s2s.frontend.conversion.blocks import Blocks
from s2s.frontend.conversion.expressions import OPERATORS
from s2s.frontend.conversion.nodes import HOOK, Place, named_parameters, placed
from s2s.frontend.conversion.scopes import bound_names, features, mentioned
from s2s.frontend.sources import parameter_names

Block = Callable[[Sequence[ast.stmt]], "list[ast.stmt]"]
"""Converts a block of a `with`, `try` or `match`."""


class Statements(Blocks):
    """Converts functions, and the statements in them."""

    # -- functions ------------------------------------------------------------------------------

    def outermost(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> ast.stmt:
        """The function itself. Its defaults, decorators and annotations were evaluated before."""
        a = node.args
        a.defaults, a.kw_defaults = [], [None] * len(a.kwonlyargs)
        if isinstance(node, ast.Lambda):
            return self.set_temporary("lambda", self.visit_Lambda(node), node)
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
        outer, self.place = self.place, _place(node)
        self.outside.append(set())
        has_docstring = ast.get_docstring(node, clean=False) is not None
        docstring = node.body[:1] if has_docstring else []
        enter = self.set_temporary("at", self.hook("enter", at=node), node)
        prologue: list[ast.stmt] = [enter, *self.names(named_parameters(node.args), node)]
        statements = node.body[len(docstring) :]
        if self.place.has_blocks:
            prologue = [*self.scope(node, statements), *prologue]
        node.body = [*docstring, *prologue, *self.block(statements)]
        self.outside.pop()
        self.place = outer
        self.in_class = in_class
        return node

    def scope(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, statements: Sequence[ast.stmt]
    ) -> list[ast.stmt]:
        """What makes the names that blocks bind those of the function: its declarations, and an
        assignment that never runs."""
        first: list[ast.stmt] = []
        outer_names = self.place.nonlocal_names
        if self.place.global_names:
            first.append(placed(ast.Global(sorted(self.place.global_names)), node))
            self.outside[-1].update(self.place.global_names)
        if outer_names:
            first.append(placed(ast.Nonlocal(sorted(outer_names)), node))
            self.outside[-1].update(self.free.intersection(outer_names))
        others = {*outer_names, *self.place.global_names}
        own = [name for name in bound_names(statements) if name not in others]
        if own:
            targets: list[ast.expr] = [placed(ast.Name(name, ast.Store()), node) for name in own]
            none = placed(ast.Constant(None), node)
            binding = placed(ast.Assign(targets, none), node)
            first.append(placed(ast.If(placed(ast.Constant(False), node), [binding], []), node))
        return first

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        node.decorator_list = [
            self.hook("decorate", self.visit(decorator), at=decorator)
            for decorator in node.decorator_list
        ]
        node.args = self.visit(node.args)
        return self.function(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        node.decorator_list = [
            self.hook("decorate", self.visit(decorator), at=decorator)
            for decorator in node.decorator_list
        ]
        in_class, self.in_class = self.in_class, True
        outer, self.place = self.place, Place()
        self.class_names.append(node.name)
        node.body = self.block(node.body)
        self.class_names.pop()
        self.place = outer
        self.in_class = in_class
        return node

    # -- statements -----------------------------------------------------------------------------

    def visit_Global(self, node: ast.Global) -> ast.stmt:
        if self.place.has_blocks:
            return placed(ast.Pass(), node)  # at the beginning of the function
        if self.outside:
            self.outside[-1].update(node.names)
        return node

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.stmt:
        if self.place.has_blocks:
            return placed(ast.Pass(), node)
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
            return placed(ast.Pass(), node) if self.place.has_blocks else node
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
                return [placed(ast.Assign([target], value), at)]
            case ast.Attribute(owner, attribute):
                owner = self.visit(owner)
                return [self.expression(self.set_attribute(value, owner, attribute, at))]
            case ast.Subscript(container, index):
                container, index = self.visit(container), self.index(self.visit(index))
                return [self.expression(self.hook("set_item", value, container, index, at=at))]
            case _:
                target, after = self.unpack(target, at)
                value = self.hook("iterate", value, at=at)
                return [placed(ast.Assign([target], value), at), *after]

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
                return placed(type(part)([*map(replaced, part.elts)], ast.Store()), part)
            if isinstance(part, ast.Starred):
                return placed(ast.Starred(replaced(part.value), ast.Store()), part)
            temporary = self.temporary()
            after.extend(self.assign(part, self.load_temporary(temporary, part), at))
            return placed(ast.Name(HOOK + temporary, ast.Store()), part)

        return replaced(target), after

    def visit_AugAssign(self, node: ast.AugAssign) -> list[ast.stmt]:
        value: ast.expr = self.visit(node.value)
        operator = placed(ast.Constant(OPERATORS[type(node.op)]), node)

        def updated(old: ast.expr) -> ast.expr:
            return self.hook("inplace", operator, old, value, at=node)

        match node.target:
            case ast.Name(name):
                old = placed(ast.Name(name, ast.Load()), node.target)
                return self.assign(node.target, updated(old), node)
            case ast.Attribute(owner, attribute):
                keep, owner = self.kept(self.visit(owner))
                old = placed(ast.Attribute(keep, attribute, ast.Load()), node.target)
                new = updated(old)
                return [self.expression(self.set_attribute(new, owner, attribute, node))]
            case ast.Subscript(container, index):
                keep, container = self.kept(self.visit(container))
                keep_index, index = self.kept(self.index(self.visit(index)))
                old = self.hook("item", keep, keep_index, at=node.target)
                new = updated(old)
                return [self.expression(self.hook("set_item", new, container, index, at=node))]

    def kept(self, value: ast.expr) -> tuple[ast.expr, ast.expr]:
        """Expressions for the first use of a value, and for later ones without computing it."""
        name = HOOK + self.temporary()
        store = placed(ast.Name(name, ast.Store()), value)
        return placed(ast.NamedExpr(store, value), value), placed(ast.Name(name, ast.Load()), value)

    def visit_Delete(self, node: ast.Delete) -> list[ast.stmt]:
        result: list[ast.stmt] = []
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                container, index = self.visit(target.value), self.index(self.visit(target.slice))
                result.append(self.expression(self.hook("delete_item", container, index, at=node)))
            else:
                result.append(placed(ast.Delete([self.visit(target)]), node))
        return result

    def visit_For(self, node: ast.For) -> ast.stmt:
        node.iter = self.hook("iterate", self.visit(node.iter), at=node.iter)
        node.target, names = self.target_of_block(node.target, node)
        node.body = [*names, *self.loop_block(node.body)]
        node.orelse = self.nested(node.orelse)
        return node

    def loop_block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        in_loop, self.place.in_loop = self.place.in_loop, True
        result = self.nested(statements)
        self.place.in_loop = in_loop
        return result

    def visit_AsyncFor(self, node: ast.AsyncFor) -> ast.stmt:
        node.iter = self.visit(node.iter)
        node.target, names = self.target_of_block(node.target, node)
        node.body = [*names, *self.loop_block(node.body)]
        node.orelse = self.nested(node.orelse)
        return node

    def target_of_block(self, target: ast.expr, at: ast.stmt) -> tuple[ast.expr, list[ast.stmt]]:
        if isinstance(target, (ast.Attribute, ast.Subscript)) or self.is_outside(
            *(_plain_names(target) or ())
        ):
            # As for a part of a tuple: through a temporary.
            single = placed(ast.Tuple([target], ast.Store()), target)
            found, after = self.unpack(single, at)
            assert isinstance(found, ast.Tuple)
            return found.elts[0], after
        return self.unpack(target, at)

    def around(self, statement: ast.stmt, name: str) -> list[ast.stmt]:
        def block(statements: Sequence[ast.stmt]) -> list[ast.stmt]:
            return self.outcome_of(statements, name, statement)

        match statement:
            case ast.With():
                return [self.with_statement(statement, block)]
            case ast.Try():
                return [self.try_statement(statement, block, name)]
            case ast.Match():
                none = placed(ast.Constant(None), statement)
                nothing = self.set_temporary(name, none, statement)
                return [nothing, self.match_statement(statement, block)]
            case _:
                raise AssertionError(statement)

    def visit_With(self, node: ast.With) -> ast.stmt:
        return self.with_statement(node, self.nested)

    def with_statement(self, node: ast.With, block: Block) -> ast.With:
        names: list[ast.stmt] = []
        for item in node.items:
            item.context_expr = self.hook("managed", self.visit(item.context_expr), at=node)
            if item.optional_vars is not None:
                item.optional_vars, after = self.target_of_block(item.optional_vars, node)
                names += after
        node.body = [*names, *block(node.body)]
        return node

    visit_AsyncWith = visit_With

    def visit_If(self, node: ast.If) -> ast.stmt:
        node.test = self.truth(node.test)
        node.body = self.nested(node.body)
        node.orelse = self.nested(node.orelse)
        return node

    def visit_While(self, node: ast.While) -> ast.stmt:
        # The test is computed again after each step, so it sets its line itself.
        test: ast.expr = self.test(node.test)
        node.test = self.is_true(self.hook("last", self.line(node), test, at=test), "while")
        node.body = self.loop_block(node.body)
        node.orelse = self.nested(node.orelse)
        return node

    def visit_Try(self, node: ast.Try) -> ast.stmt:
        return self.try_statement(node, self.nested)

    def try_statement(self, node: ast.Try, block: Block, outcome: str | None = None) -> ast.Try:
        """A `try` with its blocks; how they end goes to the temporary `outcome`, if there is."""
        kinds = [self.handled(handler) for handler in node.handlers]
        node.body = block(node.body)
        if kinds:
            item = ast.withitem(self.hook("trying", *kinds, at=node))
            node.body = [placed(ast.With([item], node.body), node)]
        for handler in node.handlers:
            handler.type = None if handler.type is None else self.visit(handler.type)
            check = self.expression(self.hook("handling", at=handler))
            handler.body = [check, *block(handler.body)]
        if outcome is None:
            node.orelse = self.nested(node.orelse)
        elif node.orelse:
            definitions, rest = self.part("orelse", node.orelse, node)
            given = [self.load_temporary(outcome, node), rest]
            ended = self.hook("follow", *given, at=node)
            node.orelse = [*definitions, self.set_temporary(outcome, ended, node)]
        node.finalbody = self.nested(node.finalbody)
        return node

    visit_TryStar = visit_Try

    def handled(self, handler: ast.ExceptHandler) -> ast.expr:
        """A function that gives what an `except` handles."""
        everything = placed(ast.Name("BaseException", ast.Load()), handler)
        kinds = everything if handler.type is None else copy.deepcopy(handler.type)
        return self.later(self.visit(kinds))

    def visit_Match(self, node: ast.Match) -> ast.stmt:
        return self.match_statement(node, self.nested)

    def match_statement(self, node: ast.Match, block: Block) -> ast.Match:
        node.subject = self.visit(node.subject)
        for case in node.cases:
            if case.guard is not None:
                case.guard = self.truth(case.guard, "case")
            case.body = block(case.body)
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        message = [] if node.msg is None else [self.later(self.visit(node.msg))]
        return self.expression(self.hook("check", self.test(node.test), *message, at=node))

    def visit_Raise(self, node: ast.Raise) -> ast.stmt:
        if node.exc is not None:
            node.exc = self.hook("raising", self.visit(node.exc), at=node)
        node.cause = None if node.cause is None else self.visit(node.cause)
        return node


def _place(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Place:
    names = parameter_names(node.args)
    found = features(node.body)
    return Place(
        isinstance(node, ast.FunctionDef) and found.can_have_blocks,
        found.yields,
        frozenset(found.global_names),
        names[0] if names else None,
        frozenset(found.nonlocal_names),
        _mentions(node, {*found.global_names, *found.nonlocal_names}),
    )


def _mentions(node: ast.FunctionDef | ast.AsyncFunctionDef, outer: set[str]) -> dict[str, int]:
    own = {*bound_names(node.body)} - {*parameter_names(node.args), *outer}
    found = Counter(mentioned(node.body))
    return {name: number for name, number in found.items() if name in own}


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
