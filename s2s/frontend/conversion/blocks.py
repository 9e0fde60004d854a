"""Conversion of control flow: the blocks of `if`, `for` and `while` become functions.

    if y > 0:                     def then(): nonlocal y; y = -y
        y = -y                    def orelse(): nonlocal z; z = y
    else:                         branch(y > 0, then, orelse, None)
        z = y

A block that jumps (`return`, `break`, `continue`) returns its jump. What comes after a statement
that may jump is a function too, which is called unless it jumps:

    if y > 0:                     def then(): return jump("return", y)
        return y                  def rest(): nonlocal z; z = -y; return jump("return", z)
    z = -y                        return result(branch(y > 0, then, None, rest))
    return z
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence

from s2s.frontend.conversion.expressions import Expressions
from s2s.frontend.conversion.nodes import HOOK, Place, arguments_of, placed
from s2s.frontend.conversion.scopes import bound_names, jumps, mentioned, run_later, yields


class Blocks(Expressions):
    """Converts blocks of statements, and the control flow between them."""

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Converted statements, each after the call that makes its line the one in force."""
        result: list[ast.stmt] = []
        for index, statement in enumerate(statements):
            head = statement
            if isinstance(statement, ast.While):
                loop = with_test_inside(statement)
                head = statement if loop is statement else loop.body[0]
                statement = loop
            is_block = isinstance(statement, ast.While) and self.place.has_blocks
            if is_block or not isinstance(statement, _WITHOUT_LINE):
                result.append(self.expression(self.line(head)))
            jumping = jumps(statement)
            if isinstance(statement, _CONTROL) and self.can_be_function(statement):
                rest = statements[index + 1 :] if jumping else ()
                definitions, call = self.control(statement, rest)
                result += definitions
                if jumping:
                    result += self.leave(call, statement)
                    return result
                result.append(self.expression(call))
                continue
            if isinstance(statement, _AROUND) and jumping and self.can_be_function(statement):
                after, rest_block = self.part("rest", statements[index + 1 :], statement)
                outcome = self.temporary()
                result += [*self.around(statement, outcome), *after]
                given = [self.load_temporary(outcome, statement), rest_block]
                result += self.leave(self.hook("follow", *given, at=statement), statement)
                return result
            found: ast.stmt | list[ast.stmt] = self.visit(statement)
            result.extend(found if isinstance(found, list) else [found])
        return result

    def can_be_function(self, statement: ast.stmt) -> bool:
        """Whether the blocks of a statement can be functions."""
        if not self.place.has_blocks:
            return False
        return not self.place.is_generator or not (jumps(statement) or yields(statement))

    def outcome_of(self, statements: Sequence[ast.stmt], name: str, at: ast.AST) -> list[ast.stmt]:
        """A block of `with`, `try` or `match` as a function: how it ends goes to a temporary."""
        definitions, block = self.part("block", statements, at)
        return [*definitions, self.set_temporary(name, self.plain_call(block, [], at), at)]

    def around(self, statement: ast.stmt, name: str) -> list[ast.stmt]:
        """A `with`, `try` or `match` of which a block may jump: how it ends goes to a temporary."""
        raise NotImplementedError

    def nested(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements of a block that stays one."""
        before, self.place.is_nested = self.place.is_nested, True
        result = self.block(statements)
        self.place.is_nested = before
        return result

    def leave(self, call: ast.expr, at: ast.stmt) -> list[ast.stmt]:
        """Return the jump that a call gives; in a nested block only if there is one."""
        if not self.place.is_nested:
            return [placed(ast.Return(self.returned(call, at)), at)]
        name = self.temporary()
        jump = self.load_temporary(name, at)
        return [
            self.set_temporary(name, call, at),
            placed(
                ast.If(
                    self.hook("leaves", jump, at=at),
                    [placed(ast.Return(self.returned(jump, at)), at)],
                    [],
                ),
                at,
            ),
        ]

    def returned(self, jump: ast.expr, at: ast.stmt) -> ast.expr:
        return jump if self.place.is_block else self.hook("result", jump, at=at)

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        value = None if node.value is None else self.visit(node.value)
        if not self.place.is_block:
            node.value = value
            return node
        return self.jump("return", node, value)

    def visit_Break(self, node: ast.Break) -> ast.stmt:
        return node if self.place.in_loop else self.jump("break", node)

    def visit_Continue(self, node: ast.Continue) -> ast.stmt:
        return node if self.place.in_loop else self.jump("continue", node)

    def jump(self, kind: str, at: ast.stmt, value: ast.expr | None = None) -> ast.stmt:
        given = [placed(ast.Constant(kind), at)] + ([] if value is None else [value])
        return placed(ast.Return(self.hook("jump", *given, at=at)), at)

    # -- statements -----------------------------------------------------------------------------

    def control(
        self, statement: ast.stmt, rest: Sequence[ast.stmt]
    ) -> tuple[list[ast.stmt], ast.expr]:
        """The functions that the blocks of a statement become, and the call that runs them."""
        own = self.texts(self.own_names(statement), statement)
        after, rest_block = self.part("rest", rest, statement)
        match statement:
            case ast.If(test, body, orelse):
                test = self.test(test)
                then, first = self.part("then", body, statement)
                otherwise, second = self.part("orelse", orelse, statement)
                given = [test, first, second, rest_block, own]
                return [*then, *otherwise, *after], self.hook("branch", *given, at=statement)
            case ast.For(target, iterated, body, orelse):
                iterated = self.visit(iterated)
                steps, step = self.loop_body(target, body, statement)
                otherwise, second = self.part("orelse", orelse, statement)
                names = self.texts(bound_names([target, *body]), statement)
                given = [iterated, step, names, own, second, rest_block]
                return [*steps, *otherwise, *after], self.hook("for_loop", *given, at=statement)
            case ast.While(test, body, orelse):
                names = self.texts(bound_names([placed(ast.Expr(test), test), *body]), statement)
                condition = self.condition(test, statement)
                steps, step = self.part("body", body, statement)
                otherwise, second = self.part("orelse", orelse, statement)
                given = [self.load_temporary(condition.name[len(HOOK) :], statement)]
                given += [step, names, own, second, rest_block]
                definitions = [condition, *steps, *otherwise, *after]
                return definitions, self.hook("while_loop", *given, at=statement)
            case _:
                raise AssertionError(statement)

    def own_names(self, statement: ast.stmt) -> list[str]:
        """The variables that only the branches, or the steps, of a statement mention, and nothing
        that may run later: they have no use after it."""
        match statement:
            case ast.If(_, body, orelse):
                blocks: list[ast.AST] = [*body, *orelse]
            case ast.For(target, _, body):
                blocks = [target, *body]
            case ast.While(test, body):
                blocks = [test, *body]
            case _:
                raise AssertionError(statement)
        inside = Counter(mentioned(blocks))
        later = set(mentioned(run_later(blocks)))
        return [
            name
            for name, number in inside.items()
            if number == self.place.mentions.get(name) and name not in later
        ]

    def part(
        self, name: str, statements: Sequence[ast.stmt], at: ast.AST
    ) -> tuple[list[ast.stmt], ast.expr]:
        """The definition of a function of some statements, and its name; None if there are none."""
        if not statements:
            return [], placed(ast.Constant(None), at)
        name = f"{name}_{self.temporary()}"
        return [self.as_function(name, [], statements, [], at)], self.load_temporary(name, at)

    def loop_body(
        self, target: ast.expr, body: Sequence[ast.stmt], at: ast.stmt
    ) -> tuple[list[ast.stmt], ast.expr]:
        name = f"body_{self.temporary()}"
        bound = bound_names([target])
        assigned = self.assign(target, self.load_temporary("each", at), at)
        definition = self.as_function(name, bound, body, assigned, at, ["each"])
        return [definition], self.load_temporary(name, at)

    def condition(self, test: ast.expr, at: ast.While) -> ast.FunctionDef:
        # The test is computed again after each step, so it sets its line itself.
        line = self.expression(self.line(at))
        bound = bound_names([placed(ast.Expr(test), test)])
        value = placed(ast.Return(self.test(test)), at)
        return self.as_function(f"test_{self.temporary()}", bound, [], [line, value], at)

    def as_function(
        self,
        name: str,
        names: Sequence[str],
        statements: Sequence[ast.stmt],
        converted: Sequence[ast.stmt],
        at: ast.AST,
        parameters: Sequence[str] = (),
    ) -> ast.FunctionDef:
        """A function of converted statements, and others that are not yet, which bind `names`."""
        bound = dict.fromkeys([*names, *bound_names(statements)])
        outer = self.place
        self.place = Place(
            True,
            global_names=outer.global_names,
            first_parameter=outer.first_parameter,
            mentions=outer.mentions,
            is_block=True,
        )
        body = [*self.declarations(list(bound), at), *converted, *self.block(statements)]
        self.place = outer
        arguments = arguments_of([HOOK + parameter for parameter in parameters], at)
        # Python 3.11, which has no type parameters, keeps the list as an attribute nothing reads.
        definition = ast.FunctionDef(HOOK + name, arguments, body, [], type_params=[])
        return placed(definition, at)

    def declarations(self, names: Sequence[str], at: ast.AST) -> list[ast.stmt]:
        """That names are those of the function around."""
        own = [name for name in names if name not in self.place.global_names]
        other = [name for name in names if name in self.place.global_names]
        found: list[ast.stmt] = []
        if own:
            found.append(placed(ast.Nonlocal(own), at))
        if other:
            found.append(placed(ast.Global(other), at))
        return found

    def texts(self, names: Sequence[str], at: ast.stmt) -> ast.expr:
        own = tuple(name for name in names if name not in self.place.global_names)
        return placed(ast.Tuple([placed(ast.Constant(name), at) for name in own], ast.Load()), at)

    def assign(self, target: ast.expr, value: ast.expr, at: ast.stmt) -> list[ast.stmt]:
        """`target = value`, for a value that is converted and a target that is not."""
        raise NotImplementedError


def with_test_inside(loop: ast.While) -> ast.While:
    """`while (y := f(x)) > 0: ...` as `while True: if not (y := f(x)) > 0: break ...`, since what a
    test binds is bound in each step."""
    test = loop.test
    if not bound_names([placed(ast.Expr(test), test)]) or any(map(jumps, loop.orelse)):
        return loop
    # The text of the `if` is that of the head of the loop.
    stop = placed(ast.Break(), loop.body[0])
    negated = placed(ast.UnaryOp(ast.Not(), test), test)
    nothing = placed(ast.Pass(), loop.body[0])
    first = placed(ast.If(negated, [nothing, *loop.orelse, stop], []), loop)
    endless = placed(ast.Constant(True), test)
    return placed(ast.While(endless, [first, *loop.body], []), loop)


_CONTROL = (ast.If, ast.For, ast.While)
_AROUND = (ast.With, ast.Try, ast.Match)
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
"""Statements that compute nothing themselves, and a `while` of Python's own, which sets its line
itself."""
