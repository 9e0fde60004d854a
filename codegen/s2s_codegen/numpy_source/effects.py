"""Statements that compute nothing: `raise`, `assert`, `print`."""

from __future__ import annotations

from collections.abc import Sequence

from s2s.control.cond import Cond
from s2s.ir.jaxpr import JaxprEqn
from s2s.primitives.effects import Effect, Raise
from s2s_codegen.numpy_source.statements import Line, Statement
from s2s_codegen.numpy_source.write import Writer, write


@write.register
def write_effect(primitive: Effect, eqn: JaxprEqn, writer: Writer) -> None:
    """Write a statement whose operands are expressions."""
    operands = [writer.scope.whole(atom).text for atom in eqn.invars]
    writer.line(primitive.spell(operands, [atom.aval for atom in eqn.invars]))


def as_assertion(primitive: Cond, branches: Sequence[Sequence[Statement]], test: str) -> str | None:
    """The `assert` that a branch is, if it does nothing but raise AssertionError at once."""
    otherwise, then = branches
    if then or len(otherwise) != 1 or not isinstance(otherwise[0], Line):
        return None
    effects = [eqn.primitive for eqn in primitive.branches[0].eqns if eqn.primitive.has_effect]
    if not any(isinstance(e, Raise) and e.exception == "AssertionError" for e in effects):
        return None
    message = otherwise[0].text.removeprefix("raise AssertionError").removeprefix("(")
    return f"assert {test}, {message[:-1]}" if message else f"assert {test}"
