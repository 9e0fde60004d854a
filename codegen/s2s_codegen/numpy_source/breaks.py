"""Loops that a step leaves: `while not found and test:` as `while test: ... if found: break`.

found = False                            while test:
while (not found) & test:                    y = ...
    y = ...                                  if y > 5.0:
    found = y > 5.0                              break
    if not found:                            x = y
        x = y
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from s2s.control.cond import Cond
from s2s.control.while_loop import While
from s2s.ir.dtypes import BOOL
from s2s.ir.jaxpr import Atom, ClosedJaxpr, JaxprEqn, Literal, Var
from s2s.passes.dce import dce
from s2s.primitive import Value
from s2s.primitives.conversion import ConvertElementType
from s2s.primitives.logic import And, Not, Or
from s2s.trace import copy_equation, inline, make, walk
from s2s_codegen.numpy_source.statements import Block, Comment, Line, Statement, words_of

Ending: TypeAlias = "Callable[[Callable[[Atom], Value]], Sequence[Value]]"

# -- in the jaxpr ---------------------------------------------------------------------------------


def without_flags(loop: While, operands: Sequence[Atom]) -> tuple[ClosedJaxpr, tuple[int, ...]]:
    """The condition of a loop without carried flags that end it, and the positions of these.

    A flag is a truth value that is false at first, and that the condition wants to be so.
    """
    test = _Condition(loop, operands)
    (result,) = loop.cond_jaxpr.jaxpr.outvars
    definition = test.definition(result)
    flags = test.flags_wanted_false(result)
    if flags:
        return test.ending_with(lambda read: [True]), flags
    if definition is not None and isinstance(definition.primitive, And):
        for going, rest in (definition.invars, definition.invars[::-1]):
            rest = test.converted(rest)
            flags = test.flags_wanted_false(going)
            if flags:
                return test.ending_with(lambda read, rest=rest: [read(rest)]), flags
    if definition is not None and isinstance(definition.primitive, Cond):
        index, *given = definition.invars
        otherwise, then = definition.primitive.branches[0], definition.primitive.branches[-1]
        going = test.converted(index)
        flags = test.flags_wanted_false(going)
        if flags and _is_false(otherwise, given, going):
            return test.ending_with(lambda read: inline(then, *map(read, given))), flags
    return loop.cond_jaxpr, ()


def _is_false(branch: ClosedJaxpr, given: Sequence[Atom], test: Atom) -> bool:
    """Whether a branch, which is taken where `test` is false, gives false."""
    (out,) = branch.jaxpr.outvars
    if isinstance(out, Literal):
        return not out.value
    return out in branch.jaxpr.invars and given[list(branch.jaxpr.invars).index(out)] is test


class _Condition:
    """The condition of a while loop, taken apart."""

    def __init__(self, loop: While, operands: Sequence[Atom]) -> None:
        self.closed = loop.cond_jaxpr
        jaxpr = self.closed.jaxpr
        self.producers = {var: eqn for eqn in jaxpr.eqns for var in eqn.outvars}
        initial = loop.parts(operands)[2]
        carried = jaxpr.invars[loop.cond_nconsts :]
        self.flags: dict[Atom, int] = {
            var: position
            for position, (var, value) in enumerate(zip(carried, initial, strict=True))
            if isinstance(value, Literal) and value.aval.dtype == BOOL and not value.value
        }

    def definition(self, atom: Atom) -> JaxprEqn | None:
        return self.producers.get(atom) if isinstance(atom, Var) else None

    def converted(self, atom: Atom) -> Atom:
        """The truth value that another one, or the number of a branch, is made from."""
        definition = self.definition(atom)
        if definition is not None and isinstance(definition.primitive, ConvertElementType):
            (truth,) = definition.invars
            return truth if truth.aval.dtype == BOOL else atom
        return atom

    def flags_wanted_false(self, atom: Atom) -> tuple[int, ...]:
        """The flags of which `atom` says that all are false; none if it says something else."""
        definition = self.definition(atom)
        if definition is None or not isinstance(definition.primitive, Not):
            return ()
        return self._flags(definition.invars[0])

    def _flags(self, atom: Atom) -> tuple[int, ...]:
        if atom in self.flags:
            return (self.flags[atom],)
        definition = self.definition(atom)
        if definition is None or not isinstance(definition.primitive, Or):
            return ()
        first, second = map(self._flags, definition.invars)
        return (*first, *second) if first and second else ()

    def ending_with(self, end: Ending) -> ClosedJaxpr:
        """The condition with another result, which `end` makes of what its variables hold."""
        closed = self.closed
        open_test = ClosedJaxpr(closed.jaxpr, closed.consts)

        def fun(*args: Value) -> list[Value]:
            env: dict[Atom, Value] = dict(zip(closed.jaxpr.invars, args, strict=True))

            def step(eqn: JaxprEqn, operands: Sequence[Value]) -> Sequence[Value]:
                results = copy_equation(eqn, operands)
                env.update(zip(eqn.outvars, results, strict=True))
                return results

            walk(open_test, args, step)
            return list(end(lambda atom: atom if isinstance(atom, Literal) else env[atom]))

        return dce(make(fun, closed.in_avals, [var.name for var in closed.jaxpr.invars]))


# -- in the text ----------------------------------------------------------------------------------


def with_break(
    body: Sequence[Statement], flags: Sequence[str], is_read_after: bool
) -> tuple[list[Statement], bool]:
    """The statements of a step with the `break` where a flag is set, and whether the flag itself
    is still needed."""
    test = " or ".join(flags)
    statements = list(body)
    following: list[Statement] = []
    then: list[Statement] = []
    if len(flags) == 1:
        then, following, statements = _split_off(_with_stores_before(statements, test), test)
    condition = test
    if len(flags) == 1 and not is_read_after:
        before = [i for i, s in enumerate(statements) if not isinstance(s, Comment)]
        last = statements[before[-1]] if before else None
        start = f"{test} = "
        others = [s for s in (*statements, *then, *following) if s is not last]
        is_only = isinstance(last, Line) and last.text.startswith(start)
        if is_only and not any(test in words_of(s) for s in others):
            assert isinstance(last, Line)
            condition = last.text.removeprefix(start)
            del statements[before[-1]]
    if condition == "True":
        return [*statements, *then, Line("break")], False
    stop = Block(f"if {condition}:", [*then, Line("break")])
    return [*statements, stop, *following], condition == test


def _split_off(
    statements: list[Statement], flag: str
) -> tuple[list[Statement], list[Statement], list[Statement]]:
    """What is done at the end where the flag is set, where it is not, and what is done before."""
    match statements:
        case [*before, Block(header=header, body=body)] if header == f"if not {flag}:":
            return [], list(body), before
        case [*before, Block(header=header, body=body)] if header == f"if {flag}:":
            return list(body), [], before
        case [*before, Block(header=first, body=then), Block(header="else:", body=otherwise)] if (
            first == f"if {flag}:"
        ):
            return list(then), list(otherwise), before
        case _:
            return [], [], statements


_STORE = re.compile(r"(\w+)(?:\.append\(|\[[^=]*\] = )")
_ASSIGNMENT = re.compile(r"(.*?) (?:[-+*/@|&]|//|\*\*)?= ")


def _with_stores_before(statements: list[Statement], flag: str) -> list[Statement]:
    """What a step keeps for later, `x_steps.append(x)`, before the flag is set and not behind it,
    where that is the same."""
    places = [
        place
        for place, s in enumerate(statements)
        if isinstance(s, Line) and s.text.startswith(f"{flag} = ")
    ]
    if len(places) != 1:
        return statements
    (place,) = places
    end = len(statements)
    stores: list[Statement] = []
    while end > place + 1:
        last = statements[end - 1]
        found = _STORE.match(last.text) if isinstance(last, Line) else None
        between = statements[place : end - 1]
        if found is None or any(found[1] in words_of(s) for s in between):
            break
        if not _written(between).isdisjoint(words_of(last)):
            break
        stores.insert(0, last)
        end -= 1
    return [*statements[:place], *stores, *statements[place:end]]


def _written(statements: Sequence[Statement]) -> set[str]:
    """The names that statements may give another value, and those beside them on the left; all of
    a call that stands alone, which changes what it is given: `np.add.at(x, i, y)`."""
    found: set[str] = set()
    for statement in statements:
        match statement:
            case Line(text=text):
                assignment = _ASSIGNMENT.match(text)
                found.update(words_of(Line(text if assignment is None else assignment[1])))
            case Block(header=header, body=body):
                found |= _written(body)
                if header.startswith("for "):
                    found.update(words_of(Line(header)))
            case Comment():
                pass
    return found
