"""Sums as statements: in place, term by term, where the first term is an array of their own."""

from __future__ import annotations

from collections.abc import Sequence

from s2s.ir.dims import same_shape
from s2s.ir.jaxpr import Atom, JaxprEqn, Var
from s2s.primitives.arithmetic import Add, Sub
from s2s.primitives.families import AddAny
from s2s.primitives.logic import SelectN
from s2s_codegen.numpy_source.expression import (
    Expression,
    binary,
    method,
    negative,
    without_sign,
)
from s2s_codegen.numpy_source.memory import is_owned, is_zero, writes_into
from s2s_codegen.numpy_source.placing import Placement, placement
from s2s_codegen.numpy_source.scope import Scope
from s2s_codegen.numpy_source.spell.dispatch import joint_shape
from s2s_codegen.numpy_source.spell.elementwise import may_be_subtracted
from s2s_codegen.numpy_source.statements import Block, Line, Statement, words_of
from s2s_codegen.numpy_source.write import Writer, write


@write.register(Add)
@write.register(AddAny)
@write.register(Sub)
def write_sum(primitive: Add | AddAny | Sub, eqn: JaxprEqn, writer: Writer) -> None:
    """Write a sum, in place where its first term is an array that is not needed else."""
    terms = _terms(eqn, writer, "+") if eqn.phase != "primal" else []
    inner = [writer.scope.definition(atom) for _, atom in terms]
    if any(d is not None and writes_into(d.primitive) for d in inner):
        _write_sum_with_parts(eqn, terms, writer)
        return
    (var,) = eqn.outvars
    x, y = eqn.invars
    operator = "-" if isinstance(primitive, Sub) else "+"
    first, second = writer.scope.operands(eqn)
    pairs = ((x, y, second), (y, x, first)) if operator == "+" else ((x, y, second),)
    if eqn.phase != "primal" or (eqn.source and f" {operator}= " in eqn.source.text):
        for old, other, term in pairs:
            if isinstance(old, Var) and writer.may_be_overwritten(old, var):
                when = _condition(other, eqn, writer.scope)
                if when is None:
                    _accumulate(writer, old, eqn, operator, term)
                else:
                    _accumulate(writer, old, eqn, operator, when[1], test=when[0])
                return
    if len(terms) > 2:
        for sign, atom in terms:
            if sign == "+" and isinstance(atom, Var) and writer.may_be_overwritten(atom, var):
                others = [term for term in terms if term[1] is not atom]
                if len(others) == len(terms) - 1:
                    _accumulate(writer, atom, eqn, *_sum_of(others, eqn, writer.scope))
                    return
    writer.assign(eqn, writer.scope.spell(eqn))


def _sum_of(
    terms: Sequence[tuple[str, Atom]], eqn: JaxprEqn, scope: Scope
) -> tuple[str, Expression]:
    """The sum of some terms, which begins with one that is added if there is one; and the sign of
    that first term."""
    signed: list[tuple[str, Expression]] = []
    for sign, atom in terms:
        term = scope.expression(atom)
        if may_be_subtracted(term, eqn):
            sign, term = _opposite(sign), without_sign(term)
        signed.append((sign, term))
    signed.sort(key=lambda pair: pair[0] == "-")
    (first, total), *rest = signed
    for sign, term in rest:
        total = binary("+" if sign == first else "-", total, term)
    return first, total


def _condition(term: Atom, eqn: JaxprEqn, scope: Scope) -> tuple[str, Expression] | None:
    """When a term of a sum is not zero, and what it is then, if one truth value says that."""
    made = scope.definition(term)
    if made is None or not isinstance(made.primitive, SelectN) or eqn.phase == "primal":
        return None
    which, *cases = made.invars
    if which.aval.shape or which.aval.dtype.kind != "b" or len(cases) != 2:
        return None
    for case, zero, negated in ((cases[1], cases[0], False), (cases[0], cases[1], True)):
        if is_zero(zero) and same_shape(case.aval.shape, made.outvars[0].aval.shape):
            test = scope.expression(which)
            return f"not {test.within_not}" if negated else test.text, scope.expression(case)
    return None


def _accumulate(
    writer: Writer, old: Var, eqn: JaxprEqn, operator: str, term: Expression, test: str = ""
) -> None:
    """`x_bar += term`: the new value takes the old one's name, and its array."""
    name = writer.scope.names[old]
    (var,) = eqn.outvars
    writer.scope.names.hold(var, name)
    writer.hand_on(old, var)
    if may_be_subtracted(term, eqn):
        operator, term = _opposite(operator), without_sign(term)
    line = Line(f"{name} {operator}= {term.text}")
    if test:
        _add_conditional(writer.statements, test, line)
    else:
        writer.statements.append(line)


def _add_conditional(statements: list[Statement], test: str, line: Line) -> None:
    """`if test: line`, joined with the block before if that one asks for the same name."""
    last = statements[-1] if statements else None
    name = test.removeprefix("not ")
    if isinstance(last, Block) and name.isidentifier():
        if last.header == f"if {test}:":
            statements[-1] = Block(last.header, [*last.body, line])
            return
        if last.header == f"if {name}:":
            statements.append(Block("else:", [line]))
            return
        if last.header == f"if not {name}:":
            statements[-1:] = [Block(f"if {name}:", [line]), Block("else:", last.body)]
            return
    statements.append(Block(f"if {test}:", [line]))


def _terms(eqn: JaxprEqn, writer: Writer, sign: str) -> list[tuple[str, Atom]]:
    """The terms of a sum of whole arrays, with their signs."""
    found: list[tuple[str, Atom]] = []
    signs = (sign, _opposite(sign)) if isinstance(eqn.primitive, Sub) else (sign, sign)
    for own, atom in zip(signs, eqn.invars, strict=True):
        inner = writer.scope.definition(atom)
        if inner is not None and isinstance(inner.primitive, (Add, AddAny, Sub)):
            found += _terms(inner, writer, own)
        else:
            found.append((own, atom))
    return found


def _opposite(sign: str) -> str:
    return "-" if sign == "+" else "+"


def _write_sum_with_parts(eqn: JaxprEqn, terms: Sequence[tuple[str, Atom]], writer: Writer) -> None:
    """Write a sum of which some terms are zero but for a part: the parts are added in place."""
    (var,) = eqn.outvars
    scope = writer.scope
    parts: list[tuple[str, Placement, Atom]] = []
    whole: list[tuple[str, Atom]] = []
    for sign, atom in terms:
        inner = scope.definition(atom)
        if inner is not None and writes_into(inner.primitive):
            parts.append((sign, placement(inner, scope), atom))
        else:
            whole.append((sign, atom))
    found = (
        a
        for s, a in whole
        if s == "+"
        and isinstance(a, Var)
        and (writer.may_be_overwritten(a, var) or _is_handed_on(a, var, whole, writer))
    )
    old = next(found, None)
    if old is not None:
        # What reads the array is added first; NumPy reads all of it before it writes.
        reading = [part for part in parts if scope.plan.may_read([part[2]], old)]
        parts = [*reading, *[part for part in parts if part not in reading]]
        if not _can_add_to(old, [atom for _, atom in whole], parts, scope):
            old = None
    if old is not None:
        name = scope.names[old]
        if writer.may_be_overwritten(old, var):
            scope.names.hold(var, name)
        else:
            name = scope.names.give(var, writer.hint(eqn, var), writer.was_dead)
            writer.line(f"{name} = {scope.names[old]}")
        writer.hand_on(old, var)
        for sign, atom in whole:
            if atom is not old:
                writer.line(f"{name} {sign}= {scope.expression(atom).text}")
    else:
        hint = writer.hint(eqn, var)
        array = _sum_of_whole(whole, var, writer)
        if array is None:
            array = scope.filled(Expression("0.0"), var.aval, scope.like(var, hint))
        name = scope.names.give(var, hint, writer.was_dead)
        writer.line(f"{name} = {array.text}")
    for number, (sign, part, _) in enumerate(parts):
        first = not whole and number == 0 and sign == "+" and not part.repeats
        first = first or (sign == "+" and _follows_zero(part, name, writer))
        writer.line(part.put(name, "" if first else sign))


def _is_handed_on(a: Var, var: Var, whole: Sequence[tuple[str, Atom]], writer: Writer) -> bool:
    """Whether one cotangent gives its array to another, to which parts are then added."""
    if len(whole) > 1 or not writer.can_become(a, var):
        return False
    return writer.scope.names[a].rstrip("_0123456789").endswith("_bar")


def _follows_zero(part: Placement, name: str, writer: Writer) -> bool:
    """Whether the statement before has put zero where a part is added; that is taken away."""
    last = writer.statements[-1] if writer.statements else None
    zero = f"{name}[{part.index}] = 0.0"
    if part.repeats or part.within or not isinstance(last, Line) or last.text != zero:
        return False
    if name in words_of(Line(part.value.text)):
        return False
    writer.statements.pop()
    return True


def _can_add_to(
    old: Var, whole: Sequence[Atom], parts: Sequence[tuple[str, Placement, Atom]], scope: Scope
) -> bool:
    """Whether the terms of a sum can be added to the first one's array, one after the other: what
    reads that array is at most the part that is added first."""
    (_, first, atom), *others = parts
    if sum(a is old for a in whole) > 1:
        return False
    rest = [*[a for a in whole if a is not old], *[a for *_, a in others]]
    if first.repeats or len(whole) > 1:
        rest.append(atom)
    return not scope.plan.may_read(rest, old)


def _sum_of_whole(whole: Sequence[tuple[str, Atom]], var: Var, writer: Writer) -> Expression | None:
    """The sum of the terms that are no parts, as an array of its own; None if there are none."""
    scope = writer.scope
    total: Expression | None = None
    terms = [scope.expression(atom) for _, atom in whole]
    for (sign, _), term in zip(whole, terms, strict=True):
        if total is None:
            total = term if sign == "+" else negative(term)
        else:
            total = binary(sign, total, term)
    if total is None:
        return None
    shape = joint_shape(var.aval.shape, [atom for _, atom in whole], terms)
    if shape is not None:
        if not shape:
            return scope.filled(total, var.aval)
        return method(scope.broadcast(Expression(total.text, total.precedence, shape), var), "copy")
    definition = scope.definition(whole[0][1])
    if len(whole) == 1 and whole[0][0] == "+" and not (definition and is_owned(definition)):
        return method(total, "copy")
    return total
