"""Which arrays loops and branches may write into, and which their results may be.

A loop whose body writes into a carried array takes the array over: it begins with one that nothing
else refers to, if need be a copy, and its result is this function's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from s2s.control.bodies import split_at
from s2s.control.cond import Cond
from s2s.control.scan import Scan
from s2s.control.while_loop import While
from s2s.ir.jaxpr import Atom, Jaxpr, JaxprEqn, Literal, Var
from s2s.primitives.arithmetic import Add, Sub
from s2s.primitives.families import AddAny
from s2s.primitives.layout import Pad
from s2s_codegen.numpy_source.loop_forms import WrittenLoop
from s2s_codegen.numpy_source.memory import is_owned, writes_into


@dataclass(frozen=True)
class _LoopParts:
    """The body of a loop, and the operands that it gets."""

    body: Jaxpr
    consts: Sequence[Atom]
    carry: Sequence[Atom]
    rest: Sequence[Atom]
    """The arrays of which each step gets a row, and numbers."""
    num_counts: int
    """How many results stand before the carried ones."""
    surely_runs: bool
    """Whether there is a step at least, so that no result is what the loop begins with."""
    in_lists: bool
    """Whether the results of all steps may be in lists, which refer to what the steps made."""


def _loop_parts(eqn: JaxprEqn) -> _LoopParts | None:
    written = eqn.primitive if isinstance(eqn.primitive, WrittenLoop) else None
    loop = eqn.primitive if written is None else written.loop
    if isinstance(loop, Scan):
        body = loop.jaxpr.jaxpr if written is None else written.body.jaxpr
        counts = int(loop.counted) if written is None else 0
        _, consts, carry, rest = split_at(eqn.invars, counts, loop.num_consts, loop.num_carry)
        runs = isinstance(loop.length, int) and loop.length > 0
        return _LoopParts(body, consts, carry, rest, 0, surely_runs=runs, in_lists=False)
    if isinstance(loop, While):
        body = loop.body_jaxpr.jaxpr if written is None else written.body.jaxpr
        counts = int(loop.steps is not None)
        if written is not None and written.step is not None:
            consts, carry, rest = split_at(eqn.invars, loop.body_nconsts, loop.num_carry - 1)
        else:
            _, consts, carry = loop.parts(eqn.invars)
            rest = []
        return _LoopParts(body, consts, carry, rest, counts, surely_runs=False, in_lists=True)
    return None


def is_written(eqn: JaxprEqn, var: Var) -> bool:
    """Whether an equation may be said by statements that write into the array of an operand."""
    primitive = eqn.primitive
    if isinstance(primitive, Cond):
        operands = eqn.invars[1:]
        return any(
            atom is var and may_write(branch.jaxpr, branch.jaxpr.invars[place])
            for branch in primitive.branches
            for place, atom in enumerate(operands)
        )
    parts = _loop_parts(eqn)
    if parts is not None:
        return any(
            atom is var and _takes_over(parts, place) for place, atom in enumerate(parts.carry)
        )
    return writes_into(primitive) and not isinstance(primitive, Pad) and eqn.invars[0] is var


def may_write(jaxpr: Jaxpr, var: Var) -> bool:
    """Whether the statements of a body may write into the array of an input."""
    return any(
        is_written(eqn, var) or (_is_sum(eqn) and any(atom is var for atom in eqn.invars))
        for eqn in jaxpr.eqns
    )


def _is_sum(eqn: JaxprEqn) -> bool:
    return isinstance(eqn.primitive, (Add, AddAny, Sub)) and eqn.phase != "primal"


def may_own(jaxpr: Jaxpr, out: Atom) -> bool:
    """Whether a result may be an array of the body's own, if it takes over what it writes into."""
    definition = next((eqn for eqn in jaxpr.eqns if out in eqn.outvars), None)
    return definition is not None and may_own_result(definition, out)


def may_own_result(eqn: JaxprEqn, out: Atom) -> bool:
    """Whether a result of an equation may be an array that nothing else refers to."""
    place = list(eqn.outvars).index(out)  # type: ignore[arg-type]
    if isinstance(eqn.primitive, Cond):
        branches = [branch.jaxpr for branch in eqn.primitive.branches]
        outs = [(branch, branch.outvars[place]) for branch in branches]
        return all(own in branch.invars or may_own(branch, own) for branch, own in outs)
    parts = _loop_parts(eqn)
    if parts is None:
        return is_owned(eqn)
    place -= parts.num_counts
    return not 0 <= place < len(parts.carry) or _takes_over(parts, place)


def _takes_over(parts: _LoopParts, place: int) -> bool:
    body, start = parts.body, len(parts.consts)
    entering = body.invars[start : start + len(parts.carry)]
    outs = body.outvars[: len(parts.carry)]

    def owns(out: Atom) -> bool:
        return bool(out.aval.shape) and may_own(body, out)

    return takes_over(place, entering, outs, owns, lambda var: may_write(body, var))


def takes_over(
    place: int,
    entering: Sequence[Var],
    outs: Sequence[Atom],
    owns: Callable[[Atom], bool],
    writes: Callable[[Var], bool],
) -> bool:
    """Whether the body of a loop takes over the array of a carried value: it writes into it, in
    this step or, as another carried value, in a later one; and each step leaves one that nothing
    else refers to, which it makes or has taken over as another value.

    new[1:] = 0.5 * u[:-1]      of two arrays, the step writes into one
    u, new = new, u             which is the other one in the next step
    """
    at, seen = place, set[int]()
    while at not in seen:
        seen.add(at)
        out = outs[at]
        if sum(other is out for other in outs) != 1:
            return False
        if isinstance(out, Literal) or out not in entering:
            if not owns(out):
                return False
            break
        at = entering.index(out)
        if (at == place and len(seen) == 1) or not out.aval.shape:
            return False
    at, seen = place, set[int]()
    while at not in seen:
        seen.add(at)
        if writes(entering[at]):
            return True
        following = [number for number, out in enumerate(outs) if out is entering[at]]
        if len(following) != 1:
            return False
        at = following[0]
    return False


def is_changed_in_place(jaxpr: Jaxpr, out: Atom, var: Var) -> bool:
    """Whether a result is an input, or what assignments to parts of it make of it, while nothing
    else reads what it was."""
    while out is not var:
        definition = next((eqn for eqn in jaxpr.eqns if out in eqn.outvars), None)
        if definition is None or isinstance(definition.primitive, Pad):
            return False
        if not writes_into(definition.primitive):
            return False
        out = definition.invars[0]
        later = jaxpr.eqns[list(jaxpr.eqns).index(definition) + 1 :]
        if out in jaxpr.outvars or any(out in eqn.invars for eqn in later):
            return False
    return True


def shared_operands(eqn: JaxprEqn) -> list[frozenset[Var]]:
    """For each result of an equation, the operands whose arrays it may be, or be a view of."""
    if is_owned(eqn):
        return [frozenset()] * len(eqn.outvars)
    if isinstance(eqn.primitive, Cond):
        return _shared_with_branches(eqn, eqn.primitive)
    parts = _loop_parts(eqn)
    if parts is None:
        return [_arrays(eqn.invars)] * len(eqn.outvars)
    return _shared_with_loop(parts, len(eqn.outvars))


def origins(jaxpr: Jaxpr) -> dict[Var, frozenset[Var]]:
    """For each variable of a body, those whose arrays it may be, or be a view of: inputs, and
    results that are arrays of their own."""
    found = {var: frozenset([var]) for var in (*jaxpr.constvars, *jaxpr.invars)}
    for eqn in jaxpr.eqns:
        for var, shared in zip(eqn.outvars, shared_operands(eqn), strict=True):
            alike = frozenset[Var]().union(*[found[operand] for operand in shared])
            found[var] = alike or frozenset([var])
    return found


def _arrays(atoms: Sequence[Atom]) -> frozenset[Var]:
    return frozenset(a for a in atoms if not isinstance(a, Literal) and a.aval.shape)


def _shared_inputs(jaxpr: Jaxpr) -> list[frozenset[Var]]:
    """For each result of a body, the inputs whose arrays it may be, or be a view of."""
    found = {var: frozenset([var]) for var in (*jaxpr.constvars, *jaxpr.invars)}
    for eqn in jaxpr.eqns:
        for var, shared in zip(eqn.outvars, shared_operands(eqn), strict=True):
            found[var] = frozenset[Var]().union(*[found[operand] for operand in shared])
    return [frozenset() if isinstance(out, Literal) else found[out] for out in jaxpr.outvars]


def _shared_with_branches(eqn: JaxprEqn, primitive: Cond) -> list[frozenset[Var]]:
    shared: list[frozenset[Var]] = [frozenset()] * len(eqn.outvars)
    for branch in primitive.branches:
        outside = dict(zip(branch.jaxpr.invars, eqn.invars[1:], strict=True))
        for place, inputs in enumerate(_shared_inputs(branch.jaxpr)):
            shared[place] |= _arrays([outside[var] for var in inputs if var in outside])
    return shared


def _shared_with_loop(parts: _LoopParts, count: int) -> list[frozenset[Var]]:
    body, start = parts.body, len(parts.consts)
    entering = body.invars[start : start + len(parts.carry)]
    rows = body.invars[start + len(parts.carry) :]
    outside = {var: _arrays([atom]) for var, atom in zip(body.invars, parts.consts, strict=False)}
    outside |= {var: _arrays([atom]) for var, atom in zip(entering, parts.carry, strict=True)}
    outside |= {var: _arrays(parts.rest) for var in rows}
    made = _shared_inputs(body)
    is_changing = True
    while is_changing:
        is_changing = False
        for var, inputs in zip(entering, made, strict=False):
            after = outside[var].union(*[outside.get(i, frozenset()) for i in inputs])
            is_changing = is_changing or after != outside[var]
            outside[var] = after
    stacked = [
        frozenset[Var]().union(*[outside.get(i, frozenset()) for i in inputs])
        if parts.in_lists
        else frozenset[Var]()
        for inputs in made[len(entering) :]
    ]
    left = [
        frozenset[Var]().union(*[outside.get(i, frozenset()) for i in inputs])
        for inputs in made[: len(entering)]
    ]
    finals = left if parts.surely_runs else [outside[var] for var in entering]
    found = [frozenset[Var]()] * parts.num_counts + finals + stacked
    assert len(found) == count
    return found
