"""Which equations become statements, and which are written into the statements that read them.

A value that is read once is written where it is read, if the user gave it no name and the line
stays readable. Views and broadcasts are written wherever they are read: they compute nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from s2s.ir.jaxpr import Atom, Jaxpr, JaxprEqn, Literal, Source, Var
from s2s_codegen.numpy_source.memory import is_basic_view, is_transparent, may_alias
from s2s_codegen.numpy_source.schedule import Placed

LONGEST_DERIVATIVE = 72
LONGEST_PRIMAL = 200
"""About how many characters an expression may have. The user's own line is as long as it is."""


@dataclass
class Plan:
    """The statements of one jaxpr, and what is known about its variables."""

    statements: list[Placed] = field(default_factory=list[Placed])
    inlined: dict[Var, JaxprEqn] = field(default_factory=dict[Var, JaxprEqn])
    """The equations that are written where their results are read."""
    last_use: dict[Var, int] = field(default_factory=dict[Var, int])
    """The last statement that reads a variable; one past the end for results."""
    storage: dict[Var, Var] = field(default_factory=dict[Var, Var])
    """For a variable whose array may be a view of another's, that other; the one it started from."""
    storage_last_use: dict[Var, int] = field(default_factory=dict[Var, int])
    """The last statement that reads a variable or any view of it."""

    def root(self, var: Var) -> Var:
        """The variable whose array `var` is or is a view of."""
        return self.storage.get(var, var)


Group = tuple[bool, Source | None]


def plan(jaxpr: Jaxpr, placed: Sequence[Placed]) -> Plan:
    """Decide for each equation whether it is a statement, and until when each value is needed."""
    inlined = _candidates(jaxpr, placed)
    _keep_lines_short(placed, inlined)
    made = Plan(inlined=inlined)
    made.statements = [p for p in placed if not _is_inlined(p.eqn, inlined)]
    _find_last_uses(jaxpr, made)
    _find_storage(placed, made)
    return made


def _is_inlined(eqn: JaxprEqn, inlined: dict[Var, JaxprEqn]) -> bool:
    return len(eqn.outvars) == 1 and eqn.outvars[0] in inlined


def _variables(atoms: Sequence[Atom]) -> list[Var]:
    return [atom for atom in atoms if not isinstance(atom, Literal)]


def _candidates(jaxpr: Jaxpr, placed: Sequence[Placed]) -> dict[Var, JaxprEqn]:
    results = set(_variables(jaxpr.outvars))
    reads: dict[Var, int] = {}
    reader: dict[Var, tuple[Group, JaxprEqn]] = {}
    inlined: dict[Var, JaxprEqn] = {}
    for p in reversed(placed):
        eqn = p.eqn
        group = (p.backward, p.line)
        times = 1
        if len(eqn.outvars) == 1 and eqn.outvars[0] not in results:
            (var,) = eqn.outvars
            uses = reads.get(var, 0)
            if is_transparent(eqn) or (is_basic_view(eqn) and var.name is None):
                inlined[var] = eqn
                times = uses
                group, eqn = reader.get(var, (group, eqn))
            elif uses == 1 and reader[var][0] == group and _may_be_inside(eqn, reader[var][1]):
                inlined[var] = eqn
        for var in _variables(p.eqn.invars):
            reads[var] = reads.get(var, 0) + times
            reader[var] = (group, eqn)
    return inlined


def _may_be_inside(eqn: JaxprEqn, reader: JaxprEqn) -> bool:
    """Whether the name of a value, if it has one, adds nothing to the statement that reads it."""
    name = eqn.outvars[0].name
    if name is None:
        return True
    # The terms of a sum of cotangents that all belong to one line of the user's.
    return name.endswith("_bar") and reader.outvars[0].name == name


def _keep_lines_short(placed: Sequence[Placed], inlined: dict[Var, JaxprEqn]) -> None:
    """Make statements of the longest parts of expressions that would be too long."""
    length: dict[Var, int] = {}
    for p in placed:
        eqn = p.eqn
        parts = [var for var in _variables(eqn.invars) if var in inlined]
        total = _own_length(eqn) + sum(
            length[atom] if not isinstance(atom, Literal) and atom in inlined else _name_length(atom)
            for atom in eqn.invars
        )
        limit = LONGEST_PRIMAL if eqn.phase == "primal" else LONGEST_DERIVATIVE
        while total > limit:
            parts = [var for var in parts if var in inlined and not is_transparent(inlined[var])]
            longest = max(parts, key=lambda var: length[var], default=None)
            if longest is None or length[longest] < limit // 4:
                break
            del inlined[longest]
            total -= length[longest] - _name_length(longest)
        for var in eqn.outvars:
            length[var] = total


def _own_length(eqn: JaxprEqn) -> int:
    template = eqn.primitive.numpy
    return max(len(template) - 3 * len(eqn.invars), 3) if template else 8


def _name_length(atom: Atom) -> int:
    if isinstance(atom, Literal):
        return len(str(atom.value))
    return len(atom.name) if atom.name is not None else 10


def _find_last_uses(jaxpr: Jaxpr, made: Plan) -> None:
    last_use = made.last_use
    for position, p in enumerate(made.statements):
        pending = _variables(p.eqn.invars)
        while pending:
            var = pending.pop()
            last_use[var] = position
            definition = made.inlined.get(var)
            if definition is not None:
                pending.extend(_variables(definition.invars))
    pending = _variables(jaxpr.outvars)
    while pending:
        var = pending.pop()
        last_use[var] = len(made.statements)
        definition = made.inlined.get(var)
        if definition is not None:
            pending.extend(_variables(definition.invars))


def _find_storage(placed: Sequence[Placed], made: Plan) -> None:
    for p in placed:
        if may_alias(p.eqn):
            roots = {made.root(var) for var in _variables(p.eqn.invars)}
            for var in p.eqn.outvars:
                if len(roots) == 1:
                    made.storage[var] = next(iter(roots))
    for var, position in made.last_use.items():
        root = made.root(var)
        made.storage_last_use[root] = max(position, made.storage_last_use.get(root, -1))
