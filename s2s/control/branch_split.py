"""Partial evaluation of branches and calls: what the known part keeps for the unknown one.

    known:    y = sin(w);  z = exp(y)          keeps nothing: y is a result
    unknown:  z_dot = exp(y) * cos(w) * w_dot  w is an operand; cos(w) was not needed before

Nothing is computed twice, other than views: what the known results do not need is left to the
unknown part, and of the rest the least is kept (`residuals.choose`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from s2s.control.bodies import Parts, live_equations
from s2s.control.loop_split import VIEWS
from s2s.control.residuals import choose
from s2s.ir.jaxpr import ClosedJaxpr, Jaxpr, Var
from s2s.primitive import Primitive


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
        """(variables, unknown inputs -> unknown outputs), for variables that include all it reads."""
        jaxpr = self.unknown
        body = Jaxpr(jaxpr.constvars, [*variables, *jaxpr.invars], jaxpr.eqns, jaxpr.outvars)
        return ClosedJaxpr(body, tuple(self.constants[var] for var in jaxpr.constvars))


def split_callee(parts: Parts, saves: Callable[[Primitive], bool] | None = None) -> CalleeSplit:
    """Choose what to keep of the known part of a branch or a call.

    With `saves`, it is the results of the primitives for which it is true, as far as they are
    needed, and all else is computed again.
    """
    known = parts.known.jaxpr
    live = live_equations(known)
    constants = dict(zip(known.constvars, parts.known.consts, strict=True))
    inputs = {var: i for i, var in enumerate(known.invars)}
    outputs = {atom: i for i, atom in enumerate(known.outvars) if isinstance(atom, Var)}
    if saves is None:
        kept = choose(
            known.eqns,
            parts.residuals,
            {*inputs, *constants, *outputs},
            live,
            lambda eqn: isinstance(eqn.primitive, VIEWS),
        )
    else:
        kept = choose(
            known.eqns,
            parts.residuals,
            {*inputs, *constants},
            live,
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
