"""What is known of truth values where code is traced: what a branch has asked for holds in it.

if best is None or v < best:
    ...
else:
    ...         best is not None here, and v < best does not hold
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Sequence
from typing import Any, TypeAlias

from s2s.control.cond import Cond
from s2s.ir.jaxpr import Atom, ClosedJaxpr, JaxprEqn, Literal, Var
from s2s.primitives.core import ConvertElementType
from s2s.primitives.logic import And, Not, Or
from s2s.trace import Tracer, builders_in_force, tracer_of

Fact: TypeAlias = "tuple[Tracer, bool]"
"""A truth value, and whether it holds."""

_frames: list[list[Fact]] = []
"""What is known in each of the blocks that are traced, the innermost last."""


@contextlib.contextmanager
def supposing(facts: Sequence[Fact]) -> Generator[None]:
    """What is known in a block, of which code in a `with` block may tell more."""
    _frames.append([])
    for test, holds in facts:
        suppose(test, holds)
    try:
        yield
    finally:
        _frames.pop()


def suppose(test: Any, holds: bool) -> None:
    """Whether a truth value holds is known from now on, until the end of the block."""
    if not _frames or not isinstance(test, Tracer):
        return
    pending: list[Fact] = [(test, holds)]
    seen: set[tuple[Var, bool]] = set()
    while pending:
        value, truth = pending.pop()
        if (value.variable, truth) in seen:
            continue
        seen.add((value.variable, truth))
        _frames[-1].append((value, truth))
        eqn = _producer(value)
        pending += [] if eqn is None else _follows(eqn, value, truth)


def known(test: Any) -> Any:
    """A truth value: True or False if it is known to be."""
    return _known(test, {})


def _known(test: Any, asked: dict[Var, Any]) -> Any:
    """`asked` has what was found for others."""
    if not isinstance(test, Tracer):
        return test
    if test.variable not in asked:
        asked[test.variable] = _found(test, asked)
    found = asked[test.variable]
    return found if isinstance(found, bool) else test


def _found(test: Tracer, asked: dict[Var, Any]) -> Any:
    for frame in reversed(_frames):
        for value, holds in frame:
            if value.variable is test.variable:
                return holds
    eqn = _producer(test)
    if eqn is None or not isinstance(eqn.primitive, (And, ConvertElementType, Not, Or)):
        return test
    found = [_known(operand, asked) for operand in _operands(eqn, test)]
    match eqn.primitive:
        case ConvertElementType():
            return found[0] if isinstance(found[0], bool) else test
        case Not():
            return not found[0] if isinstance(found[0], bool) else test
        case And():
            return _decided(found, False, test)
        case _:
            return _decided(found, True, test)


def _decided(found: Sequence[Any], by: bool, test: Tracer) -> Any:
    """What operands say of `and` (decided by False) or `or` (by True)."""
    if any(value is by for value in found):
        return by
    return not by if all(value is not by and isinstance(value, bool) for value in found) else test


def _producer(value: Tracer) -> JaxprEqn | None:
    return value.builder.producer(value) if value.builder in builders_in_force() else None


def _operands(eqn: JaxprEqn, value: Tracer) -> list[Any]:
    return [_value(atom, value) for atom in eqn.invars]


def _value(atom: Atom, beside: Tracer) -> Any:
    if isinstance(atom, Literal):
        return bool(atom.value)
    if atom in beside.builder.constvars:
        const = beside.builder.consts[beside.builder.constvars.index(atom)]
        return const if isinstance(const, Tracer) else tracer_of(beside.builder, atom)
    return tracer_of(beside.builder, atom)


def _follows(eqn: JaxprEqn, value: Tracer, holds: bool) -> list[Fact]:
    """What must hold for a result of an equation to hold, or not."""
    operands = [operand for operand in _operands(eqn, value) if isinstance(operand, Tracer)]
    match eqn.primitive:
        case ConvertElementType():
            return [(operand, holds) for operand in operands]
        case Not():
            return [(operand, not holds) for operand in operands]
        case And() if holds:
            return [(operand, True) for operand in operands]
        case Or() if not holds:
            return [(operand, False) for operand in operands]
        case Cond(branches=branches) if len(branches) == 2 and isinstance(eqn.invars[0], Var):
            place = eqn.outvars.index(value.variable)
            test = unconverted(_value(eqn.invars[0], value))
            ends = [_end(branch, place, eqn, value, test) for branch in branches]
            if (ends[0] is (not holds)) is not (ends[1] is (not holds)):
                return [(test, ends[0] is (not holds))]
            return []
        case _:
            return []


def unconverted(value: Any) -> Any:
    """A truth value before it was made one of another type, and where it was made."""
    if not isinstance(value, Tracer):
        return value
    if value.variable in value.builder.constvars:
        return unconverted(_value(value.variable, value))
    eqn = _producer(value)
    if eqn is None or not isinstance(eqn.primitive, ConvertElementType):
        return value
    return unconverted(_value(eqn.invars[0], value))


def _end(branch: ClosedJaxpr, place: int, eqn: JaxprEqn, value: Tracer, test: Any) -> bool | None:
    """What a branch gives, if it is True or False there: the test itself is, or what it says."""
    jaxpr, end = branch.jaxpr, branch.jaxpr.outvars[place]
    made_by = {var: inner for inner in jaxpr.eqns for var in inner.outvars}
    while isinstance(end, Var) and end in made_by:
        if not isinstance(made_by[end].primitive, ConvertElementType):
            return None
        end = made_by[end].invars[0]
    if isinstance(end, Literal):
        return bool(end.value)
    given = unconverted(_value(eqn.invars[1 + jaxpr.invars.index(end)], value))
    is_test = isinstance(given, Tracer) and given.variable is test.variable
    return branch is eqn.primitive.branches[1] if is_test else None  # type: ignore[attr-defined]
