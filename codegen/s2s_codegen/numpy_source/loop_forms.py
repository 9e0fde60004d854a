"""Loops as they are written: what they run over, and the arrays that they fill.

An equation of a scan or a while loop becomes one of a `WrittenLoop`, which takes the place of the
equations around it that a loop in Python says by itself:

    - the history of a carried value, its initial value joined with what each step makes of it, is
      one array, filled by the loop;
    - a row of a part of an array, `x[1:]`, is a row of the array;
    - the numbers 0, 1, 2, ... are those of the steps;
    - a while loop that counts to a number is a `for` loop over a range;
    - a while loop that goes on until a step sets a flag is left by `break` in that step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from s2s.control.loop_split import counters
from s2s.control.scan import Scan
from s2s.control.while_loop import While
from s2s.ir.dims import Size, same_size
from s2s.ir.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from s2s.passes.dce import live
from s2s.primitives.core import BroadcastInDim, Reshape
from s2s.primitives.creation import DimAsValue, Iota
from s2s.primitives.joining import Concatenate, Stack
from s2s.primitives.layout import Slice
from s2s.primitives.logic import Gt, Lt
from s2s_codegen.numpy_source.breaks import without_flags
from s2s_codegen.numpy_source.ranges import with_range
from s2s_codegen.numpy_source.written_loop import WrittenLoop


@dataclass(frozen=True)
class _History:
    """The array that joins the initial value of a carried one, at `start`, with what follows."""

    whole: Var
    first: Var
    start: int


def with_written_loops(jaxpr: Jaxpr) -> Jaxpr:
    """The same jaxpr with its loops as they are written, without what they make superfluous."""
    if not any(isinstance(eqn.primitive, (Scan, While)) for eqn in jaxpr.eqns):
        return jaxpr
    producers = {var: eqn for eqn in jaxpr.eqns for var in eqn.outvars}
    read = {atom for eqn in jaxpr.eqns for atom in eqn.invars} | set(jaxpr.outvars)
    histories: dict[Var, _History] = {}
    for eqn in jaxpr.eqns:
        if isinstance(eqn.primitive, Concatenate) and len(eqn.invars) == 2:
            for stacked, history in _history(eqn, producers):
                histories.setdefault(stacked, history)
    replaced = {history.whole for history in histories.values()}
    eqns: list[JaxprEqn] = []
    for eqn in jaxpr.eqns:
        if isinstance(eqn.primitive, (Scan, While)):
            eqns += _written(eqn, eqn.primitive, producers, histories, read)
        elif replaced.isdisjoint(eqn.outvars):
            eqns.append(eqn)
    return Jaxpr(jaxpr.constvars, jaxpr.invars, live(eqns, jaxpr.outvars), jaxpr.outvars)


def _history(eqn: JaxprEqn, producers: dict[Var, JaxprEqn]) -> list[tuple[Var, _History]]:
    """The stacked results of a loop that `eqn` joins with the initial value, if it does that."""
    for first, stacked in (eqn.invars, eqn.invars[::-1]):
        if isinstance(first, Literal) or isinstance(stacked, Literal):
            continue
        loop, initial = producers.get(stacked), producers.get(first)
        if loop is None or initial is None:
            continue
        if not isinstance(loop.primitive, (Scan, While)):
            continue
        if not isinstance(initial.primitive, (BroadcastInDim, Reshape, Stack)):
            continue
        reverse = isinstance(loop.primitive, Scan) and loop.primitive.reverse
        start = _carry_position(loop, loop.primitive, stacked, initial, producers)
        if start is not None and reverse == (stacked is eqn.invars[0]):
            return [(stacked, _History(eqn.outvars[0], first, start))]
    return []


def _carry_position(
    eqn: JaxprEqn,
    loop: Scan | While,
    stacked: Var,
    initial: JaxprEqn,
    producers: dict[Var, JaxprEqn],
) -> int | None:
    """The carried value that is the one row of `initial`, and `stacked` after each step."""
    carry = loop.parts(eqn.invars)[-2 if isinstance(loop, Scan) else -1]
    body = loop.jaxpr if isinstance(loop, Scan) else loop.body_jaxpr
    others = _num_counts(loop)
    result = body.jaxpr.outvars[list(eqn.outvars).index(stacked) - others]
    for position, value in enumerate(carry):
        if body.jaxpr.outvars[position] is result and _is_row(value, initial, producers):
            return position
    return None


def _is_row(value: Atom, initial: JaxprEqn, producers: dict[Var, JaxprEqn]) -> bool:
    """Whether `initial` is `value` with an axis of size 1 in front."""
    if len(initial.invars) > 1:
        return False
    (operand,) = initial.invars
    if _same(value, operand):
        return True
    # Both may be a repeated number.
    own = producers.get(value) if isinstance(value, Var) else None
    return (
        own is not None
        and isinstance(own.primitive, BroadcastInDim)
        and isinstance(initial.primitive, BroadcastInDim)
        and not own.primitive.broadcast_dimensions
        and not initial.primitive.broadcast_dimensions
        and _same(own.invars[0], operand)
    )


def _num_counts(loop: Scan | While) -> int:
    """How many results stand before the carried ones."""
    return int(isinstance(loop, While) and loop.steps is not None)


def _same(a: Atom, b: Atom) -> bool:
    if isinstance(a, Literal) and isinstance(b, Literal):
        return a.key() == b.key()
    return a is b


def _written(
    eqn: JaxprEqn,
    loop: Scan | While,
    producers: dict[Var, JaxprEqn],
    histories: dict[Var, _History],
    read: set[Atom],
) -> list[JaxprEqn]:
    """The equation of a loop as it is written, and those of what else is read of its histories."""
    outvars = list(eqn.outvars)
    first = _num_counts(loop) + loop.num_carry
    starts: list[int | None] = []
    views: list[JaxprEqn] = []
    reverse = isinstance(loop, Scan) and loop.reverse
    for position in range(first, len(outvars)):
        var = outvars[position]
        history = histories.get(var)
        starts.append(None if history is None else history.start)
        if history is not None:
            outvars[position] = history.whole
            history.whole.name = history.whole.name or var.name
            views.append(_rows(history.whole, var, 0 if reverse else 1, eqn))
    invars = list(eqn.invars)
    offsets: list[Size | None] = []
    if isinstance(loop, Scan):
        _, consts, carry, xs = loop.parts(eqn.invars)
        invars = [*consts, *carry]
        for x in xs:
            rows = producers.get(x) if isinstance(x, Var) else None
            base, offset = _base(x, rows)
            offsets.append(offset)
            if offset is not None:
                invars.append(base)
    body = loop.jaxpr if isinstance(loop, Scan) else loop.body_jaxpr
    written = WrittenLoop(loop, body, tuple(offsets), tuple(starts))
    if isinstance(loop, While):
        test, flags = without_flags(loop, eqn.invars)
        written = replace(written, loop=replace(loop, cond_jaxpr=test), flags=flags)
    made = JaxprEqn(written, invars, outvars, eqn.source, eqn.phase)
    return [*_counting(with_range(made, producers), written, read), *views]


def _counting(eqn: JaxprEqn, written: WrittenLoop, read: set[Atom]) -> list[JaxprEqn]:
    """A while loop as one over a range, if it counts to a number and its count is not read, behind
    the equation of that number if it is a size."""
    loop = written.loop
    found = _counter(loop) if isinstance(loop, While) else None
    if found is None or eqn.outvars[written.num_counts + found[0]] in read:
        return [eqn]
    assert isinstance(loop, While)
    counter, step = found
    final = eqn.outvars[written.num_counts + counter]
    cond_consts, consts, carry = loop.parts(eqn.invars)
    *sizes, test = loop.cond_jaxpr.eqns
    stop = test.invars[1]
    if sizes:
        sizes = [JaxprEqn(size.primitive, [], [Var(stop.aval)], eqn.source) for size in sizes]
        stop = sizes[0].outvars[0]
    elif isinstance(stop, Var):
        stop = cond_consts[list(loop.cond_jaxpr.jaxpr.invars).index(stop)]
    jaxpr = loop.body_jaxpr.jaxpr
    alike = [
        position
        for position, value in enumerate(carry)
        if position != counter
        and jaxpr.outvars[position] is jaxpr.outvars[counter]
        and _same(value, carry[counter])
    ]
    if counter in written.starts and not alike:
        return [eqn]
    starts = [alike[0] if start == counter else start for start in written.starts]
    place = len(consts) + counter
    invars = [*jaxpr.invars[:place], *jaxpr.invars[place + 1 :], jaxpr.invars[place]]
    outvars = [out for i, out in enumerate(jaxpr.outvars) if i != counter]
    eqns = live(jaxpr.eqns, outvars)
    body = ClosedJaxpr(Jaxpr(jaxpr.constvars, invars, eqns, outvars), loop.body_jaxpr.consts)
    primitive = replace(
        written,
        body=body,
        offsets=(None,),
        starts=tuple(s if s is None or s < counter else s - 1 for s in starts),
        step=step,
        flags=tuple(flag - int(flag > counter) for flag in written.flags),
    )
    rest = [value for i, value in enumerate(carry) if i != counter]
    results = [var for var in eqn.outvars if var is not final]
    operands = [*consts, *rest, carry[counter], stop]
    return [*sizes, JaxprEqn(primitive, operands, results, eqn.source, eqn.phase)]


def _counter(loop: While) -> tuple[int, int] | None:
    """The carried integer that grows by a number in each step, to a bound that does not change; and
    that number."""
    if not loop.cond_jaxpr.eqns:
        return None
    *sizes, test = loop.cond_jaxpr.eqns
    inputs = list(loop.cond_jaxpr.jaxpr.invars)
    number, bound = test.invars[0], test.invars[-1]
    if not isinstance(test.primitive, (Lt, Gt)) or number not in inputs[loop.cond_nconsts :]:
        return None
    if sizes:
        is_size = len(sizes) == 1 and isinstance(sizes[0].primitive, DimAsValue)
        if not is_size or bound is not sizes[0].outvars[0]:
            return None
    elif isinstance(bound, Var) and bound not in inputs[: loop.cond_nconsts]:
        return None
    position = inputs.index(number) - loop.cond_nconsts
    jaxpr = loop.body_jaxpr.jaxpr
    entering = jaxpr.invars[loop.body_nconsts :]
    found = counters(jaxpr.eqns, entering, jaxpr.outvars[: len(entering)])
    step = found.get(entering[position])
    if step is None or (step.value > 0) != isinstance(test.primitive, Lt):
        return None
    return position, int(step.value)


def _base(x: Atom, rows: JaxprEqn | None) -> tuple[Atom, Size | None]:
    """The array whose rows a loop runs over, and the first of them."""
    if rows is not None and isinstance(rows.primitive, Iota) and len(rows.primitive.shape) == 1:
        return x, None
    if rows is not None and isinstance(rows.primitive, Slice):
        part = rows.primitive
        rest = zip(
            part.start_indices[1:],
            part.limit_indices[1:],
            rows.invars[0].aval.shape[1:],
            strict=True,
        )
        whole = all(same_size(a, 0) and same_size(b, size) for a, b, size in rest)
        if whole and all(step == 1 for step in part.steps()):
            return rows.invars[0], part.start_indices[0]
    return x, 0


def _rows(whole: Var, var: Var, first: int, eqn: JaxprEqn) -> JaxprEqn:
    """What each step made, as a part of the history."""
    rest = whole.aval.shape[1:]
    size = var.aval.shape[0]
    part = Slice((first, *[0] * len(rest)), (size + first, *rest), None)
    return JaxprEqn(part, [whole], [var], eqn.source, eqn.phase)
