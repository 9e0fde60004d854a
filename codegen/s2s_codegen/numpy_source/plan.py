"""Which equations become statements, and which are written into the statements that read them.

A value that is read once is written where it is read, if the user gave it no name and the line
stays readable. Views and broadcasts are written wherever they are read: they compute nothing.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from s2s.ir.jaxpr import Atom, Jaxpr, JaxprEqn, Literal, Var
from s2s.passes.bound_dimensions import names_in
from s2s.primitives.arithmetic import Add, Max, Neg, Sub
from s2s.primitives.core import BroadcastInDim
from s2s.primitives.counts import BindDimension
from s2s.primitives.dynamic import DynamicSlice
from s2s.primitives.families import AddAny
from s2s.primitives.indexing import Gather
from s2s.primitives.joining import Stack
from s2s.primitives.layout import Slice, Squeeze
from s2s_codegen.numpy_source.elements import together
from s2s_codegen.numpy_source.memory import (
    adds_into_zeros,
    is_basic_view,
    is_new_each_time,
    is_transparent,
    is_zero,
    may_alias,
    updates_part,
    writes_into,
)
from s2s_codegen.numpy_source.name import own_name
from s2s_codegen.numpy_source.overwriting import Views, overwritable
from s2s_codegen.numpy_source.schedule import Placed
from s2s_codegen.numpy_source.sharing import shared_operands

LONGEST_DERIVATIVE = 72
LONGEST_PRIMAL = 200
"""About how many characters an expression may have. The user's own line is as long as it is."""


@dataclass
class Plan:
    """The statements of one jaxpr, and what is known about its variables."""

    statements: list[Placed] = field(default_factory=list[Placed])
    taken_apart: dict[int, int] = field(default_factory=dict[int, int])
    """Where statements take all elements of an array, and how many they are."""
    inlined: dict[Var, JaxprEqn] = field(default_factory=dict[Var, JaxprEqn])
    """The equations that are written where their results are read."""
    last_use: dict[Var, int] = field(default_factory=dict[Var, int])
    """The last statement that reads a variable; one past the end for results."""
    storage: dict[Var, Var] = field(default_factory=dict[Var, Var])
    """For a variable whose array may be a view of another's, the one that this started from."""
    storage_last_use: dict[Var, int] = field(default_factory=dict[Var, int])
    """The last statement that reads a variable or any view of it."""

    copied: set[Var] = field(default_factory=set[Var])
    """Views of an array that is written into while they are still needed: they are copied, so that
    the array need not be."""

    def root(self, var: Var) -> Var:
        """The variable whose array `var` is or is a view of."""
        return self.storage.get(var, var)

    shared: dict[Var, list[tuple[int, int, Var]]] = field(
        default_factory=dict[Var, list[tuple[int, int, Var]]]
    )
    """The statements whose results may be a variable's array, until when they are needed, and the
    roots of these results."""

    def needed_until(self, var: Var, but_for: int | None = None) -> int:
        """The last statement that may read the array of a variable, under whatever name.

        The results of the statement `but_for` do not count.
        """
        root = self.root(var)
        others = [until for position, until, _ in self.shared.get(root, ()) if position != but_for]
        return max([self.storage_last_use.get(root, -1), *others])

    def reads(self, atoms: Sequence[Atom], var: Var) -> bool:
        """Whether the expressions of some operands mention `var`, or a view of it."""
        return self._mention(atoms, {var})

    def may_read(self, atoms: Sequence[Atom], var: Var) -> bool:
        """Whether the expressions of some operands mention what may be the array of `var`."""
        return self._mention(atoms, self._alike(var))

    def _mention(self, atoms: Sequence[Atom], roots: set[Var]) -> bool:
        pending = _variables(atoms)
        while pending:
            read = pending.pop()
            if self.root(read) in roots:
                return True
            definition = self.inlined.get(read)
            if definition is not None:
                pending.extend(_variables(definition.invars))
        return False

    def _alike(self, var: Var) -> set[Var]:
        """A root, and those whose arrays may be the one of it."""
        found, pending = {var}, [var]
        while pending:
            for _, _, result in self.shared.get(pending.pop(), ()):
                if result not in found:
                    found.add(result)
                    pending.append(result)
        return found


def plan(jaxpr: Jaxpr, placed: Sequence[Placed], own: Iterable[Var] = ()) -> Plan:
    """Decide for each equation whether it is a statement, and until when each value is needed.

    The arrays of the inputs in `own` may be written into.
    """
    _hand_names_to_operands(placed)
    inlined = _candidates(jaxpr, placed, _Overwritten(jaxpr, placed, own))
    _keep_lines_short(placed, inlined)
    made = Plan(inlined=inlined)
    made.statements, made.taken_apart = together(
        [p for p in placed if not _is_inlined(p.eqn, inlined)], inlined
    )
    _find_last_uses(jaxpr, placed, made)
    _find_copied(placed, made)
    _find_storage(placed, made)
    return made


def _hand_names_to_operands(placed: Sequence[Placed]) -> None:
    """Let a value have the name of its broadcast, which is not written on a line of its own."""
    for p in placed:
        if isinstance(p.eqn.primitive, BroadcastInDim) and p.eqn.phase == "primal":
            (operand,), (var,) = p.eqn.invars, p.eqn.outvars
            if isinstance(operand, Var) and operand.name is None and operand.aval.shape:
                operand.name = var.name


def _is_inlined(eqn: JaxprEqn, inlined: dict[Var, JaxprEqn]) -> bool:
    return len(eqn.outvars) == 1 and eqn.outvars[0] in inlined


def _variables(atoms: Sequence[Atom]) -> list[Var]:
    return [atom for atom in atoms if not isinstance(atom, Literal)]


def _runs(placed: Sequence[Placed]) -> list[int]:
    """For each equation the number of its run: equations that stand together under one line."""
    runs: list[int] = []
    for position, p in enumerate(placed):
        previous = placed[position - 1] if position else p
        same = p.line == previous.line and p.backward == previous.backward
        runs.append((runs[-1] if runs else 0) + (not same))
    return runs


class _Overwritten:
    """Which arrays are overwritten where, after they have been read."""

    def __init__(self, jaxpr: Jaxpr, placed: Sequence[Placed], own: Iterable[Var]) -> None:
        eqns = [p.eqn for p in placed]
        places = {eqn: place for place, eqn in enumerate(eqns)}
        writers = overwritable(eqns, jaxpr.outvars, own)
        self._views = Views(eqns)
        self._place = {base: places[writer] for base, writer in writers.items()}
        for place, eqn in enumerate(eqns if writers else ()):
            for var in _variables(eqn.invars):
                if place > self._place.get(var, place):
                    del self._place[var]  # It is read afterwards, so a copy is written into.

    def between(self, eqn: JaxprEqn, first: int, last: int) -> bool:
        """Whether an operand is overwritten between two places, so that what reads it at the first
        cannot be written at the last.

        A part that is added to another array is not made into an array for this: what it reads is
        copied.
        """
        bases = set(_variables(eqn.invars))
        if not writes_into(eqn.primitive):
            bases = self._views.bases(bases)
        return any(first < self._place.get(base, -1) < last for base in bases)


def _candidates(
    jaxpr: Jaxpr, placed: Sequence[Placed], overwritten: _Overwritten
) -> dict[Var, JaxprEqn]:
    results = set(_variables(jaxpr.outvars))
    zeros = {
        p.eqn.outvars[0]
        for p in placed
        if isinstance(p.eqn.primitive, BroadcastInDim) and is_zero(p.eqn.invars[0])
    }
    definitions = {var: p.eqn for p in placed for var in p.eqn.outvars}
    reads: dict[Var, int] = {}
    reader: dict[Var, tuple[int, JaxprEqn]] = {}
    written_at: dict[Var, int] = {}
    """The last place at which a variable would be written, were it inlined."""
    inlined: dict[Var, JaxprEqn] = {}
    for place, p, run in zip(
        reversed(range(len(placed))), reversed(placed), reversed(_runs(placed)), strict=True
    ):
        eqn = p.eqn
        reading, times = (run, eqn), 1
        if len(eqn.outvars) == 1 and eqn.outvars[0] not in results:
            (var,) = eqn.outvars
            uses = reads.get(var, 0)
            if overwritten.between(eqn, place, written_at.get(var, place)):
                pass
            elif _is_written_anywhere(eqn):
                inlined[var] = eqn
                reading, times = reader.get(var, reading), uses
            elif uses == 1 and _may_be_inside(eqn, reader[var][1]):
                # A change of sign has no line of its own.
                if reader[var][0] == run or (isinstance(eqn.primitive, Neg) and var.name is None):
                    inlined[var] = eqn
            elif uses == 1 and writes_into(eqn.primitive) and reader[var][0] == run:
                if _is_term(eqn, reader, inlined, zeros) or updates_part(
                    eqn, reader[var][1], definitions
                ):
                    inlined[var] = eqn
        is_inlined = _is_inlined(eqn, inlined)
        last = written_at.get(eqn.outvars[0], place) if is_inlined else place
        for var in _variables(eqn.invars):
            reads[var] = reads.get(var, 0) + times
            reader[var] = reading
            written_at[var] = max(last, written_at.get(var, last))
    return inlined


def _is_written_anywhere(eqn: JaxprEqn) -> bool:
    """Whether the value is written in place at each use: nothing is computed for it."""
    name = eqn.outvars[0].name
    if is_transparent(eqn):
        # A new array that the user gave a name has its own line.
        filled = isinstance(eqn.primitive, BroadcastInDim) and not eqn.invars[0].aval.shape
        return not filled or is_new_each_time(eqn)
    if name is None and _is_neighbour(eqn):
        return True
    # The target of a loop over rows is not an assignment of the user's.
    in_header = eqn.source is not None and eqn.source.text.startswith("for ")
    return is_basic_view(eqn) and (name is None or in_header)


def _is_neighbour(eqn: JaxprEqn) -> bool:
    """Whether this is `i + 1`, or `max(n, 0)`, of an integer."""
    aval = eqn.outvars[0].aval
    is_integer = not aval.shape and aval.dtype.kind in "iu"
    is_sum = isinstance(eqn.primitive, (Add, Max, Sub))
    return is_integer and is_sum and isinstance(eqn.invars[1], Literal)


def _is_term(
    eqn: JaxprEqn,
    reader: dict[Var, tuple[int, JaxprEqn]],
    inlined: dict[Var, JaxprEqn],
    zeros: set[Var],
) -> bool:
    """Whether what is zero but for a part is a term of a sum of cotangents that is a statement."""
    if not adds_into_zeros(eqn, eqn.invars[0] in zeros):
        return False
    while True:
        total = reader[eqn.outvars[0]][1]
        if not isinstance(total.primitive, (Add, AddAny, Sub)) or total.phase == "primal":
            return False
        if eqn.outvars[0] not in total.invars:
            return False  # A view of it is the term.
        if total.outvars[0] not in inlined:
            return True
        eqn = total


def _may_be_inside(eqn: JaxprEqn, reader: JaxprEqn) -> bool:
    """Whether a value that is read once, under the same line, may be written where it is read."""
    if writes_into(eqn.primitive):
        return False
    if eqn.primitive.has_effect or eqn.primitive.multiple_results or _repeats_operands(reader):
        return False
    name = own_name(eqn, eqn.outvars[0])
    if name is None:
        return True
    # The terms of a sum of cotangents.
    return name.endswith("_bar") and reader.outvars[0].name == name


def _repeats_operands(reader: JaxprEqn) -> bool:
    """Whether an expression names an operand twice, which must then be computed before."""
    primitive = reader.primitive
    of_numbers = bool(reader.outvars) and primitive.is_of_numbers(reader.outvars[0].aval)
    template = primitive.math if of_numbers else primitive.numpy
    return _names_one_twice(template)


@functools.cache
def _names_one_twice(template: str) -> bool:
    places = re.findall(r"\{\d+\}", template)
    return len(set(places)) < len(places)


def _keep_lines_short(placed: Sequence[Placed], inlined: dict[Var, JaxprEqn]) -> None:
    """Make statements of the longest parts of expressions that would be too long."""
    length: dict[Var, int] = {}
    for p in placed:
        eqn = p.eqn
        parts = [var for var in _variables(eqn.invars) if var in inlined]
        lengths = [
            length[atom]
            if not isinstance(atom, Literal) and atom in inlined
            else _name_length(atom)
            for atom in eqn.invars
        ]
        # The items of a list may each have a line.
        is_list = isinstance(eqn.primitive, Stack)
        total = max(lengths) if is_list else _own_length(eqn) + sum(lengths)
        limit = LONGEST_PRIMAL if eqn.phase == "primal" else LONGEST_DERIVATIVE
        while total > limit:
            parts = [var for var in parts if var in inlined and not is_transparent(inlined[var])]
            longest = max(parts, key=lambda var: length[var], default=None)
            if longest is None or length[longest] < limit // 4:
                break
            del inlined[longest]
            total -= length[longest] - _name_length(longest)
        for var in eqn.outvars:
            # What is written into a part of an array has a statement of its own in any case.
            length[var] = 0 if writes_into(eqn.primitive) else total


def _own_length(eqn: JaxprEqn) -> int:
    template = eqn.primitive.numpy
    return max(len(template) - 3 * len(eqn.invars), 3) if template else 8


def _name_length(atom: Atom) -> int:
    if isinstance(atom, Literal):
        return len(str(atom.value))
    if atom.name is not None:
        return len(atom.name)
    is_index = not atom.aval.shape and atom.aval.dtype.kind in "iu"
    return 1 if is_index else 10


def _find_last_uses(jaxpr: Jaxpr, placed: Sequence[Placed], made: Plan) -> None:
    last_use = made.last_use
    # What a size is the value of is read where the size is mentioned.
    bindings = {
        p.eqn.outvars[0]: p.eqn for p in placed if isinstance(p.eqn.primitive, BindDimension)
    }
    values: dict[str | None, list[Atom]] = {}
    for eqn in bindings.values():
        values.setdefault(eqn.primitive.bound_dimension, []).extend(eqn.invars)

    def read(atoms: Sequence[Atom], position: int) -> None:
        pending = _variables(atoms)
        while pending:
            var = pending.pop()
            if last_use.get(var) == position:
                continue
            last_use[var] = position
            definition = made.inlined.get(var) or bindings.get(var)
            if definition is not None:
                pending.extend(_variables([*definition.invars, *sizes(definition)]))

    def sizes(eqn: JaxprEqn) -> list[Atom]:
        mentioned = names_in(eqn) if values else ()
        return [atom for name in mentioned for atom in values.get(name, ())]

    for position, p in enumerate(made.statements):
        read([*p.eqn.invars, *sizes(p.eqn)], position)
    read(jaxpr.outvars, len(made.statements))


def _find_copied(placed: Sequence[Placed], made: Plan) -> None:
    overwritten: dict[Var, int] = {}
    for position, p in enumerate(made.statements):
        bases = p.eqn.invars[:1] if writes_into(p.eqn.primitive) else ()
        if isinstance(p.eqn.primitive, (Add, AddAny, Sub)) and p.eqn.phase != "primal":
            bases = p.eqn.invars
        for base in _variables(bases):
            if base.aval.shape and base not in made.inlined and made.last_use[base] <= position:
                overwritten[base] = position
    views = Views(p.eqn for p in placed)
    for position, p in enumerate(made.statements):
        if not _is_part(p.eqn):
            continue
        (var,) = p.eqn.outvars
        written = overwritten.get(views.base(var), -1)
        if may_alias(p.eqn) and var.aval.shape and position < written < made.last_use.get(var, -1):
            made.copied.add(var)


def _is_part(eqn: JaxprEqn) -> bool:
    """Whether the result is a part of an array, perhaps with further axes."""
    primitive = eqn.primitive
    if isinstance(primitive, BroadcastInDim):
        return primitive.adds_axes_of_size_1(eqn.invars[0].aval)
    return isinstance(primitive, (DynamicSlice, Gather, Slice, Squeeze))


def _find_storage(placed: Sequence[Placed], made: Plan) -> None:
    for p in placed:
        if not made.copied.isdisjoint(p.eqn.outvars):
            continue
        if may_alias(p.eqn) and not p.eqn.primitive.multiple_results:
            # Numbers share no memory: an index is none of these, and an element is a new number.
            roots = {made.root(var) for var in _variables(p.eqn.invars) if var.aval.shape}
            for var in p.eqn.outvars:
                if len(roots) == 1 and var.aval.shape:
                    made.storage[var] = next(iter(roots))
    for var, position in made.last_use.items():
        root = made.root(var)
        made.storage_last_use[root] = max(position, made.storage_last_use.get(root, -1))
    # The results of a loop or a branch may be any of the arrays that it has from outside, and so
    # may the result of a primitive that says nothing about it.
    for position, p in reversed(list(enumerate(made.statements))):
        is_apart = made.storage.keys().isdisjoint(p.eqn.outvars)
        is_apart = is_apart and made.copied.isdisjoint(p.eqn.outvars)
        if p.eqn.primitive.multiple_results or is_apart:
            for var, shared in zip(p.eqn.outvars, shared_operands(p.eqn), strict=True):
                until = made.needed_until(var) if var.aval.shape else -1
                for operand in shared:
                    made.shared.setdefault(made.root(operand), []).append(
                        (position, until, made.root(var))
                    )
