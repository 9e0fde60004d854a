"""From planned equations to the statements of a function's body."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Sequence

from s2s.ir.dims import same_shape
from s2s.ir.jaxpr import Atom, Jaxpr, JaxprEqn, Literal, Source, Var
from s2s.primitive import Primitive
from s2s.primitives.arithmetic import Add, Sub
from s2s.primitives.families import AddAny
from s2s_codegen.numpy_source.expression import Expression, call, method
from s2s_codegen.numpy_source.memory import is_owned
from s2s_codegen.numpy_source.name import describe
from s2s_codegen.numpy_source.plan import plan
from s2s_codegen.numpy_source.schedule import schedule
from s2s_codegen.numpy_source.scope import Scope
from s2s_codegen.numpy_source.statements import BLANK, Comment, Line, Statement

BACKWARD = "Backward, from the return value to the arguments."


class Writer:
    """Writes one jaxpr as a run of statements. Its inputs have names in the scope already."""

    def __init__(self, jaxpr: Jaxpr, scope: Scope) -> None:
        self.jaxpr = jaxpr
        self.scope = scope
        self.statements: list[Statement] = []
        self.position = 0
        self.results = {atom for atom in jaxpr.outvars if not isinstance(atom, Literal)}
        self.definitions = {var: eqn for eqn in jaxpr.eqns for var in eqn.outvars}
        self._line: tuple[bool, Source | None] | None = None
        scope.plan = plan(jaxpr, schedule(jaxpr))

    def write(self) -> list[Statement]:
        """The statements that compute the results."""
        any_forward = False
        for position, placed in enumerate(self.scope.plan.statements):
            self.position = position
            group = (placed.backward, placed.line)
            if group != self._line:
                if placed.backward and not (self._line and self._line[0]) and any_forward:
                    self.statements += [BLANK, Comment(BACKWARD)]
                if placed.line is not None:
                    self.statements.append(Comment(line_comment(placed.line)))
                    self._line = group
                elif self._line is None or self._line[0] != placed.backward:
                    self._line = group
            any_forward = any_forward or not placed.backward
            write(placed.eqn.primitive, placed.eqn, self)
        return self.statements

    def line(self, text: str) -> None:
        """Append a simple statement."""
        self.statements.append(Line(text))

    # -- variables ------------------------------------------------------------------------------

    def is_dead(self, var: Var) -> bool:
        """Whether no statement after the one being written reads `var`."""
        return self.scope.plan.last_use.get(var, -1) <= self.position

    def hint(self, eqn: JaxprEqn, var: Var) -> str:
        """What a result would be called if no other variable were."""
        if var.name is not None:
            name = re.sub(r"\W+", "_", var.name).strip("_") or "value"
            return f"value_{name}" if name[0].isdigit() else name
        names = self.scope.names
        known = [
            names[atom] if not isinstance(atom, Literal) and atom in names else None
            for atom in eqn.invars
        ]
        return describe(eqn, known)

    def assign(self, eqn: JaxprEqn, expression: Expression) -> None:
        """Write `name = expression` for the one result of an equation."""
        (var,) = eqn.outvars
        if var in self.results:
            expression = self.scope.broadcast(expression, var)
        elif expression.shape is not None and not same_shape(expression.shape, var.aval.shape):
            self.scope.shapes[var] = expression.shape
        name = self.scope.names.give(var, self.hint(eqn, var), self.is_dead)
        if expression.text != name:
            self.line(f"{name} = {expression.text}")

    def accumulate(self, eqn: JaxprEqn, old: Var, operator: str, term: Expression) -> None:
        """Write `name += term`: the new value takes the old one's name, and its array."""
        (var,) = eqn.outvars
        name = self.scope.names[old]
        self.scope.names.hold(var, name)
        if operator == "+" and term.text.startswith("-") and term.precedence.name in ("UNARY", "PRODUCT"):
            operator, term = "-", Expression(term.text[1:], term.precedence)
        self.line(f"{name} {operator}= {term.text}")

    def may_be_overwritten(self, atom: Atom, var: Var) -> bool:
        """Whether the array of an operand can become that of the result, with the same name.

        It must be an array of this function's own, in full, that nothing reads afterwards.
        """
        plan = self.scope.plan
        if isinstance(atom, Literal) or atom in plan.inlined or atom in self.scope.shapes:
            return False
        definition = self.definitions.get(atom)
        return (
            definition is not None
            and atom.name is not None
            and atom.name == var.name
            and is_owned(definition)
            and plan.storage_last_use.get(atom, -1) <= self.position
            and atom.aval.dtype == var.aval.dtype
            and same_shape(atom.aval.shape, var.aval.shape)
        )

    # -- results --------------------------------------------------------------------------------

    def result_texts(self) -> list[str]:
        """The expressions to return: arrays of the function's own, each once."""
        inputs = {*self.jaxpr.invars, *self.jaxpr.constvars}
        returned: set[Var] = set()
        texts: list[str] = []
        for atom in self.jaxpr.outvars:
            expression = self.scope.whole(atom)
            if not isinstance(atom, Literal) and atom.aval.shape:
                root = self.scope.plan.root(atom)
                if root in inputs or root in returned:
                    expression = method(expression, "copy")
                returned.add(root)
            texts.append(expression.text)
        return texts


def line_comment(line: Source) -> str:
    """`mlp.py:8: hidden = np.tanh(x @ w + b)`"""
    return f"{os.path.basename(line.file)}:{line.line}: {line.text}"


@functools.singledispatch
def write(primitive: Primitive, eqn: JaxprEqn, writer: Writer) -> None:
    """Write the statement or statements of an equation; by default, one assignment."""
    if primitive.multiple_results:
        names = [writer.scope.names.give(v, writer.hint(eqn, v), writer.is_dead) for v in eqn.outvars]
        writer.line(f"{', '.join(names)} = {writer.scope.spell(eqn).text}")
        return
    writer.assign(eqn, writer.scope.spell(eqn))


@write.register(Add)
@write.register(AddAny)
def write_sum(primitive: Add | AddAny, eqn: JaxprEqn, writer: Writer) -> None:
    (var,) = eqn.outvars
    x, y = eqn.invars
    if _may_accumulate(eqn, "+="):
        for old, term in ((x, y), (y, x)):
            if not isinstance(old, Literal) and writer.may_be_overwritten(old, var):
                writer.accumulate(eqn, old, "+", writer.scope.expression(term))
                return
    writer.assign(eqn, writer.scope.spell(eqn))


@write.register
def write_difference(primitive: Sub, eqn: JaxprEqn, writer: Writer) -> None:
    (var,) = eqn.outvars
    old, term = eqn.invars
    if _may_accumulate(eqn, "-=") and not isinstance(old, Literal):
        if writer.may_be_overwritten(old, var):
            writer.accumulate(eqn, old, "-", writer.scope.expression(term))
            return
    writer.assign(eqn, writer.scope.spell(eqn))


def _may_accumulate(eqn: JaxprEqn, operator: str) -> bool:
    """Whether `+=` says it well: for derivatives, and where the user says so."""
    return eqn.phase != "primal" or (eqn.source is not None and f" {operator} " in eqn.source.text)
