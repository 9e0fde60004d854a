"""Partial evaluation of branches and calls: what the known part keeps for the unknown one.

    known:    y = sin(w);  z = exp(y)          keeps nothing: y is a result
    unknown:  z_dot = exp(y) * cos(w) * w_dot  w is an operand; cos(w) was not needed before

Nothing is computed twice, other than views: what the known results do not need is left to the
unknown part, and of the rest the least is kept (`residuals.choose`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from s2s.control.bodies import Parts
from s2s.control.loop_split import VIEWS
from s2s.control.residuals import choose
from s2s.ir.dims import same_shape
from s2s.ir.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, ShapedArray, Var
from s2s.passes.dce import dce, live
from s2s.primitive import Primitive
from s2s.primitives.creation import Empty
from s2s.primitives.dynamic import DynamicSlice
from s2s.primitives.indexing import Gather

PICKS = (DynamicSlice, Gather)
"""What reads a part of an array."""


@dataclass(frozen=True, eq=False)
class CalleeSplit:
    """A branch or a callee in two.

    `known`: known inputs -> known outputs, with the equations for `stored`, variables that are to
    be further outputs. Beside these, the unknown part reads `operands`, known inputs by their
    position, and `results`, known outputs by their position.
    """

    known: ClosedJaxpr
    stored: list[Var]
    operands: dict[int, Var]
    results: dict[int, Var]
    unknown: Jaxpr
    constants: dict[Var, Any]

    def unknown_of(self, variables: Sequence[Var]) -> ClosedJaxpr:
        """(variables, unknown inputs -> unknown outputs). It reads none but these variables."""
        jaxpr = self.unknown
        body = Jaxpr(jaxpr.constvars, [*variables, *jaxpr.invars], jaxpr.eqns, jaxpr.outvars)
        return ClosedJaxpr(body, tuple(self.constants[var] for var in jaxpr.constvars))


def split_callee(
    parts: Parts,
    in_loop: bool,
    saves: Callable[[Primitive], bool] | None = None,
    fixed: Sequence[Var] = (),
) -> CalleeSplit:
    """Choose what to keep of the known part of a branch or a call.

    Inside of a loop, what is cheap is computed again rather than kept for each step; the `fixed`
    inputs are the same in all of these.

    With `saves`, it is the results of the primitives for which it is true, as far as they are
    needed, and all else is computed again.
    """
    if saves is not None:
        parts = _reading_saved_names(parts, saves)
    known = parts.known.jaxpr
    running = {id(eqn) for eqn in live(known.eqns, known.outvars)}
    constants = dict(zip(known.constvars, parts.known.consts, strict=True))
    inputs = {var: i for i, var in enumerate(known.invars)}
    outputs = {atom: i for i, atom in enumerate(known.outvars) if isinstance(atom, Var)}

    def may_recompute(eqn: JaxprEqn) -> bool:
        if not in_loop:
            return isinstance(eqn.primitive, VIEWS)
        if isinstance(eqn.primitive, PICKS):
            # The loop would keep the whole array for each step, if it changes.
            return eqn.invars[0] in fixed
        return eqn.primitive.is_cheap

    if saves is None:
        kept = choose(
            known.eqns,
            parts.residuals,
            {*inputs, *constants, *outputs},
            running,
            may_recompute,
        )
    else:
        kept = choose(
            known.eqns,
            parts.residuals,
            {*inputs, *constants},
            running,
            lambda eqn: not saves(eqn.primitive),
            may_keep=lambda eqn: saves(eqn.primitive),
        )
    stored: list[Var] = []
    operands: dict[int, Var] = {}
    results: dict[int, Var] = {}
    read_constants: list[Var] = []
    for var in kept.variables:
        if var in inputs:
            operands[inputs[var]] = var
        elif var in constants:
            read_constants.append(var)
        elif var in outputs:
            results[outputs[var]] = var
        else:
            stored.append(var)
    unknown = Jaxpr(
        read_constants,
        parts.unknown_inputs,
        [*kept.recomputed, *parts.unknown_eqns],
        parts.unknown_outputs,
    )
    return CalleeSplit(parts.known, stored, operands, results, unknown, constants)


def _reading_saved_names(parts: Parts, saves: Callable[[Primitive], bool]) -> Parts:
    """The same callee, in which what a saved name stands for is read by that name throughout.

    A derivative rule reads the value that was named: the same, but it is not saved.
    """
    known = parts.known.jaxpr
    named: dict[Atom, Atom] = {}
    saved: dict[Atom, JaxprEqn] = {}
    for eqn in known.eqns:
        if eqn.primitive.name == "name":
            value = named.get(eqn.invars[0], eqn.invars[0])
            named[eqn.outvars[0]] = value
            if saves(eqn.primitive):
                saved[value] = JaxprEqn(eqn.primitive, [value], eqn.outvars, eqn.source, eqn.phase)

    def read(atom: Any) -> Any:
        value = named.get(atom, atom)
        return saved[value].outvars[0] if value in saved else atom

    def reading(eqn: JaxprEqn) -> JaxprEqn:
        operands = [*map(read, eqn.invars)]
        return JaxprEqn(eqn.primitive, operands, eqn.outvars, eqn.source, eqn.phase)

    eqns = [saved[var] for var in known.invars if var in saved]
    for eqn in known.eqns:
        if not any(named.get(var) in saved for var in eqn.outvars):
            eqns.append(reading(eqn))
            eqns.extend(saved[var] for var in eqn.outvars if var in saved)
    body = Jaxpr(known.constvars, known.invars, eqns, [*map(read, known.outvars)])
    return dataclasses.replace(
        parts,
        known=ClosedJaxpr(body, parts.known.consts),
        residuals=list(dict.fromkeys(map(read, parts.residuals))),
        unknown_eqns=[*map(reading, parts.unknown_eqns)],
        unknown_outputs=[*map(read, parts.unknown_outputs)],
    )


class Shared:
    """What the known and the unknown branches share: operands, known results, and kept values.

    A kept value goes through a slot, a further result of the known branches. Values of different
    branches share a slot if they have one type; a branch without a value for it leaves it empty.
    """

    def __init__(self, splits: Sequence[CalleeSplit], operands: Sequence[Atom]) -> None:
        self.operands = operands
        self.slots: list[Var] = []
        self._sources: dict[tuple[str, int], ShapedArray] = {}
        self._read: dict[int, dict[tuple[str, int], Var]] = {}
        for split in splits:
            used: dict[int, Var] = {}
            for var in split.stored:
                slot = self._slot(var, used)
                used[slot] = var
            read: dict[tuple[str, int], Var] = {("slot", slot): var for slot, var in used.items()}
            read.update({("operand", i): var for i, var in split.operands.items()})
            read.update({("result", i): var for i, var in split.results.items()})
            self._read[id(split)] = read
            self._sources.update({source: var.aval for source, var in read.items()})

    def _slot(self, var: Var, used: dict[int, Var]) -> int:
        for position, slot in enumerate(self.slots):
            same_type = slot.aval.dtype == var.aval.dtype and same_shape(
                slot.aval.shape, var.aval.shape
            )
            if position not in used and same_type:
                if slot.name != var.name:
                    slot.name = None
                return position
        self.slots.append(Var(var.aval.strong(), var.name))
        return len(self.slots) - 1

    def known(self, split: CalleeSplit) -> ClosedJaxpr:
        """The known part of a branch, with a result for each slot."""
        read = self._read[id(split)]
        known = split.known.jaxpr
        eqns = list(known.eqns)
        kept: list[Var] = []
        for position, slot in enumerate(self.slots):
            var = read.get(("slot", position))
            if var is None:
                var = Var(slot.aval)
                eqns.append(JaxprEqn(Empty(slot.aval.dtype, slot.aval.shape), [], [var]))
            kept.append(var)
        body = Jaxpr(known.constvars, known.invars, eqns, [*known.outvars, *kept])
        return dce(ClosedJaxpr(body, split.known.consts))

    def unknown(self, split: CalleeSplit) -> ClosedJaxpr:
        """The unknown part of a branch, with an input for all that some branch reads."""
        read = self._read[id(split)]
        return split.unknown_of(
            [read.get(source) or Var(aval) for source, aval in self._sources.items()]
        )

    def atoms(self, known_results: Sequence[Var]) -> list[Atom]:
        """What stands for these inputs where the branches are chosen."""
        places = {"operand": self.operands, "result": known_results, "slot": self.slots}
        return [places[kind][position] for kind, position in self._sources]
