"""Statements inside of others: the bodies of loops and branches, written in the same function.

A body's variables are named beside those of the function around it. What the body takes from
outside goes by its name there, and no name that is needed again is given to another value: in a
loop, that is each name that a further step reads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from s2s.ir.dims import same_shape
from s2s.ir.jaxpr import Atom, ClosedJaxpr, JaxprEqn, Literal, Var
from s2s.primitive import Precedence
from s2s.primitives.arithmetic import Add, Sub
from s2s.primitives.creation import DimAsValue
from s2s.primitives.families import AddAny
from s2s_codegen.numpy_source.expression import Expression
from s2s_codegen.numpy_source.name import own_name
from s2s_codegen.numpy_source.scope import Scope
from s2s_codegen.numpy_source.sharing import is_written
from s2s_codegen.numpy_source.statements import Comment, Line, Statement, words_of
from s2s_codegen.numpy_source.write import Writer


class InnerScope(Scope):
    """The scope of a body: `given` has the expressions of inputs that have no variable."""

    def __init__(self, outer: Scope) -> None:
        super().__init__(outer.names, dict(outer.size_names), outer.lines)
        self.outer = outer
        self.sizes_read = outer.sizes_read
        self.counted = outer.counted
        self.positive_parts = dict(outer.positive_parts)
        self.callees = outer.callees
        self.undefined = outer.undefined
        self.without_axes = outer.without_axes
        self.given: dict[Var, Expression] = {}

    def expression(self, atom: Atom) -> Expression:
        if isinstance(atom, Var) and atom in self.given:
            return self.given[atom]
        return super().expression(atom)

    def is_smaller(self, var: Var) -> bool:
        if var in self.given:
            shape = self.given[var].shape
            return shape is not None and not same_shape(shape, var.aval.shape)
        return super().is_smaller(var) or self.outer.is_smaller(var)


class InnerWriter(Writer):
    """Writes a body. `outer` writes what is around it, and stands at the equation of the body."""

    is_inner = True

    def __init__(
        self, body: ClosedJaxpr, outer: Writer, old_values: Mapping[Var, Var] | None = None
    ) -> None:
        super().__init__(body.jaxpr, InnerScope(outer.scope), old_values=old_values)
        self.outer = outer
        self.line_above = outer.current_line
        # A derivative is called after the function that it is of, which another loop may hold.
        outer.user_s.update(self.user_s)
        self.user_s = outer.user_s
        self.position = -1  # Before the first statement, all that it reads is needed.
        self.own: set[Var] = {*body.jaxpr.invars, *self.definitions}
        self.pinned: set[Var] = set()
        """Inputs whose names must keep their values."""
        self.result_hints: dict[Var, str] = {}

    @property
    def given(self) -> dict[Var, Expression]:
        """The expressions of inputs that have no variable."""
        assert isinstance(self.scope, InnerScope)
        return self.scope.given

    def bind(self, var: Var, expression: Expression) -> None:
        """Let an input be what an expression outside of the body says."""
        self.given[var] = expression
        self.scope.undefined.discard(var)
        if expression.text.isidentifier():
            self.scope.names.alias(var, expression.text)

    def is_step(self, name: str) -> bool:
        return any(self.scope.names[v] == name for v in self.pinned) or self.outer.is_step(name)

    def is_dead(self, var: Var) -> bool:
        if var in self.own:
            return var not in self.pinned and super().is_dead(var)
        return self.outer.was_dead(var)

    def was_dead(self, var: Var) -> bool:
        if var in self.own:
            return var not in self.pinned and super().was_dead(var)
        return self.outer.was_dead(var)

    def write_test(self, result: Atom) -> tuple[list[Statement], Expression]:
        """The statements that compute a condition, and the expression of it."""
        statements = self.write()
        test = self.scope.whole(result)
        last = statements[-1] if statements else None
        if isinstance(last, Line) and last.text.startswith(f"{test.text} = "):
            statements.pop()
            test = Expression(last.text.removeprefix(f"{test.text} = "), Precedence.CONDITIONAL)
        if all(isinstance(statement, Comment) for statement in statements):
            return [], test
        return statements, test

    def times_read(self, var: Var) -> int:
        """How often the body reads an input."""
        operands = [atom for eqn in self.jaxpr.eqns for atom in eqn.invars]
        return sum(atom is var for atom in (*operands, *self.jaxpr.outvars))

    def writes_into(self, var: Var) -> bool:
        """Whether a statement of the body could write into the array of an input."""
        for placed in self.scope.plan.statements:
            eqn = placed.eqn
            in_place = is_written(eqn, var)
            operator = "-" if isinstance(eqn.primitive, Sub) else "+"
            is_sum = isinstance(eqn.primitive, (Add, AddAny, Sub)) and (
                eqn.phase != "primal"
                or (eqn.source is not None and f" {operator}= " in eqn.source.text)
            )
            if in_place or (is_sum and self.scope.plan.reads(eqn.invars, var)):
                return True
        return False

    def leave(self) -> None:
        """Say that the body is complete. After it, the variables of the body may have no value."""
        self.scope.undefined.update(self.own)

    def need(self, var: Var) -> None:
        self.own.add(var)
        super().need(var)

    def hint(self, eqn: JaxprEqn, var: Var) -> str:
        if var in self.result_hints:
            return self.result_hints[var]
        return self.described(eqn, var) if own_name(eqn, var) is None else super().hint(eqn, var)

    def put(self, result: Atom, statement: Callable[[str], Statement]) -> None:
        """Append the statement of a result's expression.

        If nothing but this reads the result, it takes the place of the assignment to its name.
        """
        text = self.scope.whole(result).text
        found = [i for i, s in enumerate(self.statements) if text in words_of(s)]
        if result in self.definitions and len(found) == 1:
            only = self.statements[found[0]]
            start = f"{text} = "
            once = words_of(only).count(text) == 1
            if isinstance(only, Line) and only.text.startswith(start) and once:
                self.statements[found[0]] = statement(only.text.removeprefix(start))
                return
        self.statements.append(statement(text))


def outer_expression(atom: Atom, hint: str | None, writer: Writer) -> Expression:
    """The expression of an operand that a body reads: a name or a number, assigned if need be."""
    expression = writer.scope.expression(atom)
    definition = writer.scope.definition(atom)
    if definition is not None and isinstance(definition.primitive, DimAsValue):
        return expression
    near = re.fullmatch(r"(\w+) [+-] \d+", expression.text)
    if near is not None and writer.is_step(near[1]):
        return expression  # `i - 1`, of a loop around this one
    if isinstance(atom, Literal) or expression.text.isidentifier() or _is_number(expression.text):
        return expression
    described = definition and writer.described(definition, atom).removesuffix("_bar")
    hint = hint or atom.name or writer.scope.hints.get(atom) or described or "operand"
    name = writer.introduce(Var(atom.aval), hint)
    writer.line(f"{name} = {expression.text}")
    return Expression(name, shape=expression.shape)


def _is_number(text: str) -> bool:
    return text.removeprefix("-").replace(".", "", 1).isdecimal()


def assignments(pairs: Iterable[tuple[str, str]]) -> list[Statement]:
    """`name = text` for each pair, in an order in which none overwrites what another reads; at once
    for those that have no such order."""
    needed = [(name, text) for name, text in pairs if name != text]
    found: list[Statement] = []
    while needed:
        free = next((pair for pair in needed if not _is_read_by_others(pair, needed)), None)
        if free is None:
            names = ", ".join(name for name, _ in needed)
            return [*found, Line(f"{names} = {', '.join(text for _, text in needed)}")]
        found.append(Line(f"{free[0]} = {free[1]}"))
        needed.remove(free)
    return found


def _is_read_by_others(pair: tuple[str, str], pairs: Sequence[tuple[str, str]]) -> bool:
    return any(pair[0] in words_of(Line(text)) for name, text in pairs if name != pair[0])
