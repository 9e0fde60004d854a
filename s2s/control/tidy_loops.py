"""Tidying of loops: see `tidy`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from s2s.control.bodies import split_at
from s2s.control.known_tests import least_counts, least_rows, with_known_tests
from s2s.control.loop_split import counters
from s2s.control.settled import Settled, settled
from s2s.control.tidy import Operands, Source, hoisted, rebuilt, repeated, with_sums_placed
from s2s.ir.dims import Dim, Size, same_size
from s2s.ir.dtypes import INT64
from s2s.ir.jaxpr import Atom, ClosedJaxpr, Literal, ShapedArray, Var
from s2s.passes.sums import add_inside
from s2s.primitive import Producer, Value
from s2s.primitives.core import BroadcastInDim, broadcast_in_dim, full
from s2s.primitives.functions import add, dim_as_value, iota, mul
from s2s.primitives.structural import defined_by, is_number, number
from s2s.trace import aval, bind

if TYPE_CHECKING:
    from s2s.control.scan import Scan
    from s2s.control.while_loop import While

Tidy = Callable[[ClosedJaxpr], ClosedJaxpr]


def tidied_scan(
    scan: Scan, args: Sequence[Value], producer: Producer, tidy: Tidy
) -> Sequence[Value] | None:
    """The results of a scan by a tidier one; None if there is nothing to tidy."""
    count, consts, carry, xs = scan.parts(args)
    if same_size(scan.length, 0):
        empty = [full((0, *y.shape), 0, y.dtype) for y in scan.jaxpr.out_avals[len(carry) :]]
        return [*carry, *empty]
    row_vars = scan.jaxpr.jaxpr.invars[len(consts) + len(carry) :]
    body = with_known_tests(scan.jaxpr, least_rows(row_vars, xs, producer))
    body = with_sums_placed(tidy(with_sums_placed(add_inside(body, in_branches=True))))
    const_vars, carry_vars, xs_vars = split_at(body.jaxpr.invars, len(consts), len(carry))[:3]
    carry_outs, y_outs = split_at(body.jaxpr.outvars, len(carry))

    fixed = dict(zip(body.jaxpr.constvars, body.consts, strict=True))
    fixed.update(zip(const_vars, consts, strict=True))
    fixed.update(_unchanged(carry_vars, carry_outs, carry))
    rows = dict(zip(xs_vars, xs, strict=True))
    fixed.update(_repeated_rows(rows, producer))
    fixed.update(hoisted(body, fixed))
    left = settled({v: x for v, x in rows.items() if v not in fixed}, producer, type(scan))

    constants, carried, stacked = (Operands(producer) for _ in range(3))
    sources = {var: constants.constant(value, var) for var, value in fixed.items()}
    counting = _counting(scan, body, carry_vars, carry)
    if counting or left:
        numbers = iota(INT64, (scan.length,))
        number = stacked.shared(numbers, Var(ShapedArray((), INT64)))
        sources.update({v: _counter(number, *count) for v, count in counting.items()})
        for var, place in left.items():
            array = constants.shared(place.array, Var(aval(place.array)))
            sources[var] = _left(place, array, number)
    moving = [i for i, var in enumerate(carry_vars) if var not in sources]
    sources.update({carry_vars[i]: carried.append(carry[i], carry_vars[i]) for i in moving})
    sources.update({v: stacked.shared(x, v) for v, x in rows.items() if v not in sources})
    carried.offset = len(constants.values)
    stacked.offset = carried.offset + len(carried.values)

    known_ys: dict[int, Value] = {}
    for i, y in enumerate(y_outs):
        if isinstance(y, Literal):
            known_ys[i] = repeated(y, scan.length)
        elif y in fixed:
            known_ys[i] = repeated(fixed[y], scan.length)
        elif y in rows:
            known_ys[i] = rows[y]
    again_ys = _again(y_outs)
    varying = [i for i in range(len(y_outs)) if i not in known_ys and i not in again_ys]
    variables = [*constants.variables, *carried.variables, *stacked.variables]
    outputs = [*moving, *[len(carry) + i for i in varying]]
    if (
        body is scan.jaxpr
        and len(variables) == len(body.jaxpr.invars)
        and len(outputs) == len(body.jaxpr.outvars)
        and not body.consts
        and not left
    ):
        return None
    new = scan.like(
        tidy(rebuilt(body, variables, sources, outputs)), len(constants.values), len(moving)
    )
    operands = [*count, *constants.values, *carried.values, *stacked.values]
    again = tidied_scan(new, operands, producer, tidy)
    results = iter(bind(new, *operands) if again is None else again)
    finals = [
        next(results)
        if i in moving
        else _after(*counting[var], scan.length)
        if var in counting
        else carry[i]
        for i, var in enumerate(carry_vars)
    ]
    ys = {i: known_ys[i] if i in known_ys else next(results) for i in (*known_ys, *varying)}
    return [*finals, *[ys[again_ys.get(i, i)] for i in range(len(y_outs))]]


def _again(results: Sequence[Atom]) -> dict[int, int]:
    """The positions of results that are there before, with the first position of each."""
    first: dict[Atom, int] = {}
    places = [first.setdefault(result, i) for i, result in enumerate(results)]
    return {i: place for i, place in enumerate(places) if i != place}


def _counting(
    scan: Scan, body: ClosedJaxpr, variables: Sequence[Var], values: Sequence[Value]
) -> dict[Var, tuple[int, int]]:
    """The carried integers that are known from the number of the step: their start and step."""
    if scan.reverse:
        return {}
    found = counters(body.eqns, variables, body.jaxpr.outvars[: len(variables)])
    return {
        var: (int(number(value)), int(found[var].value))
        for var, value in zip(variables, values, strict=True)
        if var in found and is_number(value)
    }


def _counter(steps: Source, start: int, step: int) -> Source:
    """A carried integer, from the number of the step."""

    def source(inputs: Sequence[Value]) -> Value:
        value = steps(inputs)
        value = value if step == 1 else mul(value, step)
        return value if start == 0 else add(value, start)

    return source


def _left(place: Settled, array: Source, number: Source) -> Source:
    """A row that an earlier loop left in an array."""
    return lambda inputs: place.row(array(inputs), number(inputs))


def _after(start: int, step: int, length: Size) -> Value:
    """A carried integer after the last step."""
    steps = dim_as_value(length)
    return add(mul(steps, step), start) if isinstance(length, Dim) else start + step * length


def tidied_while(
    loop: While, args: Sequence[Value], producer: Producer, tidy: Tidy
) -> Sequence[Value] | None:
    """The results of a while loop by a tidier one; None if there is nothing to tidy."""
    cond_consts, consts, carry = loop.parts(args)
    jaxpr = loop.body_jaxpr.jaxpr
    least = least_counts(jaxpr, jaxpr.invars[len(consts) :], carry)
    body, condition = tidy(with_known_tests(loop.body_jaxpr, least)), tidy(loop.cond_jaxpr)
    const_vars, carry_vars = split_at(body.jaxpr.invars, len(consts))
    cond_const_vars, cond_carry_vars = split_at(condition.jaxpr.invars, len(cond_consts))
    carry_outs = body.jaxpr.outvars[: len(carry)]

    unchanged = _unchanged(carry_vars, carry_outs, carry)
    fixed = dict(zip(body.jaxpr.constvars, body.consts, strict=True))
    fixed.update(zip(const_vars, consts, strict=True))
    fixed.update(unchanged)
    fixed.update(hoisted(body, fixed))
    cond_fixed = dict(zip(condition.jaxpr.constvars, condition.consts, strict=True))
    cond_fixed.update(zip(cond_const_vars, cond_consts, strict=True))
    cond_fixed.update(
        (var, unchanged[inside])
        for var, inside in zip(cond_carry_vars, carry_vars, strict=True)
        if inside in unchanged
    )

    constants, cond_constants = Operands(producer), Operands(producer)
    carried, cond_carried = Operands(producer), Operands(producer)
    sources = {var: constants.constant(value, var) for var, value in fixed.items()}
    cond_sources = {v: cond_constants.constant(value, v) for v, value in cond_fixed.items()}
    moving = [i for i, var in enumerate(carry_vars) if var not in fixed]
    for i in moving:
        sources[carry_vars[i]] = carried.append(carry[i], carry_vars[i])
        cond_sources[cond_carry_vars[i]] = cond_carried.append(carry[i], cond_carry_vars[i])
    carried.offset, cond_carried.offset = len(constants.values), len(cond_constants.values)

    y_outs = body.jaxpr.outvars[len(carry) :]
    again_ys = _again(y_outs)
    kept = [i for i in range(len(y_outs)) if i not in again_ys]
    variables = [*constants.variables, *carried.variables]
    cond_variables = [*cond_constants.variables, *cond_carried.variables]
    if (
        body is loop.body_jaxpr
        and condition is loop.cond_jaxpr
        and len(variables) == len(body.jaxpr.invars)
        and len(cond_variables) == len(condition.jaxpr.invars)
        and not body.consts
        and not condition.consts
        and not again_ys
    ):
        return None
    outputs = [*moving, *[len(carry) + i for i in kept]]
    new = dataclasses.replace(
        loop,
        body_jaxpr=tidy(rebuilt(body, variables, sources, outputs)),
        body_nconsts=len(constants.values),
        cond_jaxpr=tidy(rebuilt(condition, cond_variables, cond_sources, [0])),
        cond_nconsts=len(cond_constants.values),
    )
    operands = [*cond_constants.values, *constants.values, *carried.values]
    again = tidied_while(new, operands, producer, tidy)
    count, finals, stacked = new.results(bind(new, *operands) if again is None else again)
    moved = iter(finals)
    finals = [next(moved) if i in moving else carry[i] for i in range(len(carry))]
    ys = dict(zip(kept, stacked, strict=True))
    return [*count, *finals, *[ys[again_ys.get(i, i)] for i in range(len(y_outs))]]


def _unchanged(
    variables: Sequence[Var], ends: Sequence[Atom], values: Sequence[Value]
) -> dict[Var, Value]:
    """The carried values that are the same in each step."""
    return {
        var: value
        for var, end, value in zip(variables, ends, values, strict=True)
        if end is var or (isinstance(end, Literal) and is_number(value) and _same(end, value))
    }


def _same(end: Literal, value: Value) -> bool:
    start = value if isinstance(value, Literal) else Literal(value, aval(value))
    return start.key() == end.key()


def _repeated_rows(rows: dict[Var, Value], producer: Producer) -> dict[Var, Value]:
    """The rows of arrays that repeat one row."""
    found: dict[Var, Value] = {}
    for var, stacked in rows.items():
        broadcast = defined_by(stacked, BroadcastInDim, producer)
        if broadcast is not None and 0 not in broadcast[0].broadcast_dimensions:
            axes = [axis - 1 for axis in broadcast[0].broadcast_dimensions]
            found[var] = broadcast_in_dim(broadcast[1][0], var.aval.shape, axes)
    return found
