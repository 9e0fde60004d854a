"""Branches: `if`, `elif` and `else`, each of which gives the results their values."""

from __future__ import annotations

from collections.abc import Sequence

from s2s.control.cond import Cond
from s2s.ir.jaxpr import Atom, JaxprEqn, Literal, Var
from s2s.primitives.conversion import ConvertElementType
from s2s.primitives.creation import Empty
from s2s_codegen.numpy_source.blocks import InnerWriter, assignments, outer_expression
from s2s_codegen.numpy_source.effects import as_assertion
from s2s_codegen.numpy_source.expression import Expression
from s2s_codegen.numpy_source.sharing import is_changed_in_place, origins
from s2s_codegen.numpy_source.statements import Block, Comment, Line, Statement
from s2s_codegen.numpy_source.write import Writer, identifier, write

LONGEST_CHOICE = 72
"""How many characters `x = a if test else b` may have."""


@write.register
def write_cond(primitive: Cond, eqn: JaxprEqn, writer: Writer) -> None:
    """Write an `if` statement."""
    index, *operands = eqn.invars
    tests = _tests(index, len(primitive.branches), writer)
    inputs = primitive.branches[0].jaxpr.invars
    given = [
        outer_expression(atom, var.name, writer) for atom, var in zip(operands, inputs, strict=True)
    ]
    handed_over = {a for a in operands if isinstance(a, Var) and writer.is_handed_over(a, operands)}
    kept = _kept_arrays(primitive, operands, handed_over, writer)
    names = [
        writer.scope.names[kept[position]]
        if position in kept
        else writer.scope.names.give(var, _hint(primitive, position, eqn, writer), writer.is_dead)
        for position, var in enumerate(eqn.outvars)
    ]
    defined = {
        name
        for name, var in zip(names, eqn.outvars, strict=True)
        if not _only_branches_read(var, index, writer)
    }
    branches = [
        _branch(primitive, number, writer, operands, given, names, defined, handed_over)
        for number in range(len(primitive.branches))
    ]
    bodies = [body for body, _ in branches]
    for position, (var, name) in enumerate(zip(eqn.outvars, names, strict=True)):
        if var.aval.shape and all(position in own for _, own in branches):
            writer.owned.add(var)
        writer.scope.names.hold(var, name)
        if position in kept:
            writer.hand_on(kept[position], var)
        if name not in defined:
            writer.scope.undefined.add(var)
    assertion = as_assertion(primitive, bodies, tests[0].text) if len(bodies) == 2 else None
    choice = _as_expression(eqn, tests, bodies) if len(bodies) == 2 and len(names) == 1 else None
    line = assertion or choice
    writer.statements += [Line(line)] if line else _chain(tests, bodies)


def _as_expression(
    eqn: JaxprEqn, tests: Sequence[Expression], bodies: Sequence[Sequence[Statement]]
) -> str | None:
    """`x = a if test else b`, where the user writes it so or the derivative has just that to do."""
    if eqn.phase == "primal" and (
        eqn.source is None or eqn.source.text.startswith(("if ", "elif "))
    ):
        return None
    otherwise, then = ([s for s in body if not isinstance(s, Comment)] for body in bodies)
    match then, otherwise:
        case [Line(text=first)], [Line(text=second)]:
            name, _, value = first.partition(" = ")
            other, _, alternative = second.partition(" = ")
        case _:
            return None
    text = f"{name} = {value} if {tests[0].text} else {alternative}"
    plain = name == other and name.isidentifier() and " if " not in value + alternative
    return text if plain and value and alternative and len(text) <= LONGEST_CHOICE else None


def _branch(
    primitive: Cond,
    number: int,
    writer: Writer,
    operands: Sequence[Atom],
    given: Sequence[Expression],
    names: Sequence[str],
    defined: set[str],
    handed_over: set[Var],
) -> tuple[list[Statement], set[int]]:
    """The statements of one branch, which end with assignments to the results, and the positions
    of the results that are arrays of its own.

    Of a result that the branch leaves empty, only those `defined` get a value. The branch may write
    into the arrays of the operands `handed_over`.
    """
    branch = primitive.branches[number]
    inputs = {e.text: var for e, var in zip(given, branch.jaxpr.invars, strict=True)}
    old_values = {
        out: inputs[name]
        for out, name in zip(branch.jaxpr.outvars, names, strict=True)
        if isinstance(out, Var) and name in inputs
    }
    inner = InnerWriter(branch, writer, old_values)
    # A branch may use the names of the results, and of operands that end with it, as it likes.
    for name in names:
        inner.scope.names.release(name)
    for var, expression, atom in zip(branch.jaxpr.invars, given, operands, strict=True):
        inner.bind(var, expression)
        if var.aval.shape and atom in handed_over:
            inner.owned.add(var)
        if atom in writer.scope.undefined:
            writer.scope.undefined.add(var)
        if expression.text in names or _ends_here(atom, expression.text, writer):
            if expression.text.isidentifier():
                inner.scope.names.hold(var, expression.text)
    for out, name in zip(branch.jaxpr.outvars, names, strict=True):
        if isinstance(out, Var) and out in inner.definitions:
            inner.result_hints.setdefault(out, name)
        if _is_empty(out, inner) and name not in defined:
            inner.left_out.add(out)
    inner.write()
    pairs = [
        (name, inner.scope.whole(out).text)
        for out, name in zip(branch.jaxpr.outvars, names, strict=True)
        if not (_is_empty(out, inner) and name not in defined)
    ]
    inner.leave()
    return [*inner.statements, *assignments(pairs)], _own_results(branch.jaxpr.outvars, inner)


def _kept_arrays(
    primitive: Cond, operands: Sequence[Atom], handed_over: set[Var], writer: Writer
) -> dict[int, Var]:
    """By position, the arrays of arguments that all branches change in place, if at all."""
    found: dict[int, Var] = {}
    for place, operand in enumerate(operands):
        if not isinstance(operand, Var) or operand not in writer.changed:
            continue
        for position in range(len(primitive.branches[0].jaxpr.outvars)):
            branches = [branch.jaxpr for branch in primitive.branches]
            if operand in handed_over and all(
                is_changed_in_place(b, b.outvars[position], b.invars[place]) for b in branches
            ):
                found[position] = operand
    return found


def _own_results(outs: Sequence[Atom], inner: InnerWriter) -> set[int]:
    """The positions of the results whose arrays nothing else refers to."""
    arrays = origins(inner.jaxpr)
    alike = [frozenset[Var]() if isinstance(out, Literal) else arrays[out] for out in outs]
    roots = [out if isinstance(out, Literal) else inner.scope.plan.root(out) for out in outs]
    return {
        position
        for position, (out, root) in enumerate(zip(outs, roots, strict=True))
        if inner.owns(out)
        and "np.broadcast_to(" not in inner.scope.whole(out).text
        and sum(other is root for other in roots) == 1
        # Another result may be the same array where a branch or a loop in this one decides so.
        and sum(not other.isdisjoint(alike[position]) for other in alike) <= 1
    }


def _only_branches_read(var: Var, index: Atom, writer: Writer) -> bool:
    """Whether a result is read only where the branch that gives it a value was taken."""
    readers = [e for e in writer.jaxpr.eqns if any(atom is var for atom in e.invars)]
    return var not in writer.results and all(
        isinstance(e.primitive, Cond) and e.invars[0] is index for e in readers
    )


def _ends_here(atom: Atom, name: str, writer: Writer) -> bool:
    """Whether neither the operand nor what it is another name of is needed after the branches."""
    holder = writer.scope.names.holder(name)
    return isinstance(atom, Var) and all(
        var is not None and writer.is_dead(var) for var in (atom, holder)
    )


def _is_empty(out: Atom, inner: InnerWriter) -> bool:
    eqn = inner.definitions.get(out) if isinstance(out, Var) else None
    return eqn is not None and isinstance(eqn.primitive, Empty)


def _hint(primitive: Cond, position: int, eqn: JaxprEqn, writer: Writer) -> str:
    """What a result is called: as in a branch, if it has no name of its own."""
    var = eqn.outvars[position]
    if var.name is None and isinstance(writer, InnerWriter) and var in writer.result_hints:
        return writer.result_hints[var]
    atoms = [eqn.outvars[position]]
    atoms += [
        out
        for branch in primitive.branches
        if isinstance(out := branch.jaxpr.outvars[position], Var)
    ]
    named = [atom.name for atom in atoms if atom.name is not None]
    if named:
        return identifier(named[0])
    if writer.is_inner or eqn.outvars[position] not in writer.results:
        words: set[str] = set()
        for branch in primitive.branches:
            out = branch.jaxpr.outvars[position]
            made = next((e for e in branch.eqns if out in e.outvars), None)
            while made is not None and isinstance(made.primitive, ConvertElementType):
                (converted,) = made.invars
                made = next((e for e in branch.eqns if converted in e.outvars), None)
            if made is not None and not isinstance(made.primitive, (Cond, Empty)):
                words.add(writer.described(made, eqn.outvars[position]))
        if len(words) == 1:
            return words.pop()
    return writer.hint(eqn, eqn.outvars[position])


# -- the conditions -------------------------------------------------------------------------------


def _tests(index: Atom, count: int, writer: Writer) -> list[Expression]:
    """The conditions for the branches in the order in which they are written, but for the last."""
    if count == 2:
        return [_truth(index, writer)]
    number = outer_expression(index, "branch", writer)
    return [Expression(f"{number.text} == {i}") for i in range(count - 1)]


def _truth(index: Atom, writer: Writer) -> Expression:
    """The condition that a number of one of two branches stands for."""
    definition = writer.scope.definition(index)
    if definition is not None and isinstance(definition.primitive, ConvertElementType):
        (truth,) = definition.invars
        if truth.aval.dtype.kind == "b":
            return writer.scope.expression(truth)
    return writer.scope.expression(index)


def _chain(tests: Sequence[Expression], bodies: Sequence[list[Statement]]) -> list[Statement]:
    """`if a: ... elif b: ... else: ...`"""
    if len(tests) == 1:
        (test,), (otherwise, then) = tests, bodies
        if not then:
            return [Block(f"if not {test.within_not}:", otherwise)] if otherwise else []
        rest = [Block("else:", otherwise)] if otherwise else []
        return [Block(f"if {test.text}:", then), *rest]
    blocks: list[Statement] = []
    for position, (test, body) in enumerate(zip(tests, bodies, strict=False)):
        keyword = "elif" if position else "if"
        blocks.append(Block(f"{keyword} {test.text}:", body or [Line("pass")]))
    if bodies[-1]:
        blocks.append(Block("else:", bodies[-1]))
    return blocks
