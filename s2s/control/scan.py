"""scan: a loop whose number of steps is known before it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from s2s.control.batched_loops import body_if_live, live_steps, masked_body
from s2s.control.bodies import (
    Flags,
    avals_without,
    chosen,
    dce_of,
    depends_on,
    fixpoint,
    inverted,
    jvp_of,
    rearranged,
    split_at,
    transpose_of,
    used_inputs,
    vmap_of,
)
from s2s.control.higher_order import HigherOrder, per_jaxpr
from s2s.control.loop_split import Loop, LoopOperands, split_loop
from s2s.control.splitting import transpose_by_splitting
from s2s.control.sums import accumulates, is_zero, with_results
from s2s.control.tidy_loops import tidied_scan
from s2s.ir.dims import Size, require_same
from s2s.ir.jaxpr import Atom, ClosedJaxpr, JaxprEqn, ShapedArray, Var
from s2s.passes.names import cotangent_name
from s2s.primitive import BatchAxis, Linear, PartialEval, Producer, Value, Zero
from s2s.primitives.core import instantiate, move_batch_axis
from s2s.primitives.families import AddAny, add_any
from s2s.primitives.reductions import reduce_max
from s2s.trace import aval, bind, evaluate, inline, make, named, phase


@dataclass(frozen=True, eq=False)
class Scan(HigherOrder):
    """`jaxpr` applied `length` times: consts, carry, x -> carry, y.

    The operands are the consts, the first carry, and the xs, of which each step gets one element
    along the first axis (the last first if `reverse`); the results are the last carry and the ys
    stacked. With `counted`, `length` is a dimension that a loop of unknown length binds, and an
    operand in front of all others has its value.
    """

    jaxpr: ClosedJaxpr
    length: Size
    num_carry: int
    num_consts: int
    reverse: bool = False
    unroll: int = 1
    counted: bool = False

    name = "scan"
    is_loop = True

    def printed_parameters(self) -> Mapping[str, Any]:
        parameters = self.parameters()
        if not self.counted:
            del parameters["counted"]
        return parameters

    # -- operands -------------------------------------------------------------------------------

    def parts(self, values: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
        """The count (none or one), the consts, the carry and the xs among the operands."""
        count, consts, carry, xs = split_at(
            values, int(self.counted), self.num_consts, self.num_carry
        )
        return count, consts, carry, xs

    def like(self, jaxpr: ClosedJaxpr, num_consts: int, num_carry: int) -> Scan:
        """A scan with another body, otherwise like this one."""
        return Scan(
            jaxpr, self.length, num_carry, num_consts, self.reverse, self.unroll, self.counted
        )

    # -- types ----------------------------------------------------------------------------------

    def abstract(self, *avals: ShapedArray) -> list[ShapedArray]:
        _, consts, carry, xs = self.parts(avals)
        inside = self.jaxpr.in_avals
        if len(inside) != len(consts) + len(carry) + len(xs):
            self.refuse(avals)
        for x in xs:
            if not x.shape or not require_same(x.shape[0], self.length):
                raise TypeError(
                    f"the loop has {self.length} steps, but runs over an array of type {x}"
                )
        given = [*consts, *carry, *avals_without(xs, 0)]
        for found, wanted in zip(given, inside, strict=True):
            if found.dtype != wanted.dtype or not _same(found, wanted):
                self.refuse(avals)
        carry_out, ys = split_at(self.jaxpr.out_avals, self.num_carry)
        stacked = [ShapedArray((self.length, *y.shape), y.dtype) for y in ys]
        return [*carry_out, *stacked]

    def refuse(self, avals: Sequence[ShapedArray]) -> NoReturn:
        """Raise the error for operands that do not fit the body."""
        raise TypeError(f"scan over {list(avals)} of a body that takes {self.jaxpr.in_avals}")

    def adding_to(
        self,
        start: Atom,
        place: int,
        eqn: JaxprEqn,
        total: JaxprEqn,
        producers: Mapping[Var, JaxprEqn],
    ) -> JaxprEqn | None:
        # A loop that sums from zero on begins with the other sum.
        if place >= self.num_carry or not isinstance(total.primitive, AddAny):
            return None
        body = self.jaxpr.jaxpr
        position = int(self.counted) + self.num_consts + place
        carried = body.invars[self.num_consts + place]
        sums = accumulates(body, carried, body.outvars[place])
        if not sums or not is_zero(eqn.invars[position], producers):
            return None
        invars = [start if i == position else atom for i, atom in enumerate(eqn.invars)]
        return JaxprEqn(self, invars, with_results(eqn, place, total), eqn.source, eqn.phase)

    # -- meaning --------------------------------------------------------------------------------

    def evaluate(self, *arrays: Any) -> list[Any]:
        count, consts, carry, xs = self.parts(arrays)
        length = int(count[0]) if count else self.length
        assert isinstance(length, int)
        y_avals = self.jaxpr.out_avals[self.num_carry :]
        ys = [np.zeros((length, *y.shape), y.dtype) for y in y_avals]
        for i in reversed(range(length)) if self.reverse else range(length):
            results = evaluate(self.jaxpr, *consts, *carry, *[x[i] for x in xs])
            carry = results[: self.num_carry]
            for y, result in zip(ys, results[self.num_carry :], strict=True):
                y[i] = result
        return [*carry, *ys]

    # -- derivatives ----------------------------------------------------------------------------

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        count, *operands = self.parts(primals)
        _, *dots = self.parts(tangents)
        on = [tuple(not isinstance(t, Zero) for t in part) for part in dots]
        consts_on, init_on, xs_on = on
        num_ys = len(self.jaxpr.out_avals) - self.num_carry

        def step(carry_on: Flags) -> tuple[ClosedJaxpr, Flags]:
            active = (*consts_on, *carry_on, *xs_on)
            return jvp_of(self.jaxpr, active, (*carry_on, *[False] * num_ys))

        carry_on = fixpoint(lambda flags: step(flags)[1][: self.num_carry], init_on)
        both, out_on = step(carry_on)
        body = interleaved(both, (consts_on, carry_on, xs_on), out_on, self.num_carry)
        moving = [
            [instantiate(t) for t in chosen(part, flags)]
            for part, flags in zip(dots, (consts_on, carry_on, xs_on), strict=True)
        ]
        pairs = [v for part, dot in zip(operands, moving, strict=True) for v in (*part, *dot)]
        num_dots = sum(carry_on)
        scan = self.like(body, self.num_consts + sum(consts_on), self.num_carry + num_dots)
        carry, carry_dots, ys, y_dots = split_at(
            bind(scan, *count, *pairs), self.num_carry, num_dots, num_ys
        )
        results = [*carry, *ys]
        moved = iter([*carry_dots, *y_dots])
        return results, [
            next(moved) if on else Zero(aval(y)) for y, on in zip(results, out_on, strict=True)
        ]

    def partial_eval(self, eqn: JaxprEqn, unknown: Sequence[bool]) -> PartialEval | None:
        start = int(self.counted)
        if any(unknown[:start]):
            return None
        count = list(eqn.invars[:start])
        loop = Loop(self.jaxpr, self.num_consts, self.num_carry, self.length, self.reverse)
        split = split_loop(loop, eqn.invars[start:], eqn.outvars, unknown[start:], eqn)
        carry, ys = split_at(eqn.outvars, self.num_carry)

        def equation(part: LoopOperands, outvars: list[Var], phase: Any) -> JaxprEqn:
            scan = self.like(part.body, len(part.consts), len(part.carry))
            operands = [*count, *part.consts, *part.carry, *part.xs]
            return JaxprEqn(scan, operands, outvars, eqn.source, phase)

        known_results = [
            *chosen(carry, inverted(split.carry_unknown)),
            *chosen(ys, inverted(split.ys_unknown)),
        ]
        results = [*chosen(carry, split.carry_unknown), *chosen(ys, split.ys_unknown)]
        known = equation(split.known, [*known_results, *split.stacked], eqn.phase)
        rest = equation(split.unknown, results, "tangent")
        return PartialEval([*split.before, known, *split.after], [*split.between, rest], results)

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        count, consts, carry, xs = self.parts(args)
        linear_consts, linear_init, linear_xs = (
            tuple(isinstance(arg, Linear) for arg in part) for part in (consts, carry, xs)
        )
        linear_carry = fixpoint(
            lambda flags: depends_on(self.jaxpr, (*linear_consts, *flags, *linear_xs))[
                : self.num_carry
            ],
            linear_init,
        )
        if not all(linear_carry):
            return transpose_by_splitting(self, cts, args)
        ct_carry, ct_ys = split_at(cts, self.num_carry)
        ys_on = tuple(not isinstance(ct, Zero) for ct in ct_ys)
        linear = (*linear_consts, *linear_carry, *linear_xs)

        def step(carry_on: Flags) -> tuple[ClosedJaxpr, Flags]:
            return transpose_of(self.jaxpr, linear, (*carry_on, *ys_on))

        def entering(carry_on: Flags) -> Sequence[bool]:
            return step(carry_on)[1][self.num_consts : self.num_consts + self.num_carry]

        carry_on = fixpoint(entering, [not isinstance(ct, Zero) for ct in ct_carry])
        backward, found = step(carry_on)
        sums_on, carry_found, xs_on = split_at(found, self.num_consts, self.num_carry)
        body = _accumulating(
            self.jaxpr,
            backward,
            (linear_consts, linear_carry, linear_xs),
            (carry_on, ys_on),
            (tuple(sums_on), tuple(carry_found), tuple(xs_on)),
        )
        fixed = chosen(consts, inverted(linear_consts))
        sums = [instantiate(Zero(aval(c))) for c in chosen(consts, sums_on)]
        scan = Scan(
            body,
            self.length,
            len(sums) + sum(carry_on),
            len(fixed),
            not self.reverse,
            self.unroll,
            self.counted,
        )
        results = bind(
            scan,
            *count,
            *fixed,
            *sums,
            *map(instantiate, chosen(ct_carry, carry_on)),
            *map(instantiate, chosen(ct_ys, ys_on)),
            *chosen(xs, inverted(linear_xs)),
        )
        given = iter(results)
        bars = [next(given) if on else None for on in (*sums_on, *carry_on, *xs_on)]
        return [*[None] * len(count), *map(_bar, (*consts, *carry, *xs), bars)]

    # -- batching -------------------------------------------------------------------------------

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, Any]:
        count, consts, carry, xs = self.parts(args)
        count_dim, const_dims, carry_dims, xs_dims = self.parts(dims)
        consts_on = tuple(dim is not None for dim in const_dims)
        xs_on = tuple(dim is not None for dim in xs_dims)
        num_ys = len(self.jaxpr.out_avals) - self.num_carry
        ragged = count_dim not in ([], [None])
        live_on = (True,) if ragged else ()

        def step(carry_on: Flags) -> tuple[ClosedJaxpr, Flags]:
            forced = (*carry_on, *[False] * num_ys)
            body = self.jaxpr
            if ragged:
                flags = (*consts_on, *carry_on, *xs_on)
                body = masked_body(body, self.num_consts, self.num_carry, flags)
            return vmap_of(body, size, (*consts_on, *carry_on, *live_on, *xs_on), forced)

        carry_on = fixpoint(
            lambda flags: step(flags)[1][: self.num_carry], [dim is not None for dim in carry_dims]
        )
        batched, out_on = step(carry_on)
        operands = [
            value if dim is None else move_batch_axis(value, dim, 0)
            for value, dim in zip(consts, const_dims, strict=True)
        ]
        operands += [
            move_batch_axis(value, dim, 0, size) if on else value
            for value, dim, on in zip(carry, carry_dims, carry_on, strict=True)
        ]
        if ragged:
            steps = move_batch_axis(count[0], count_dim[0], 0)
            operands.append(live_steps(steps, self.length))
            count = [reduce_max(steps, [0])]
        operands += [
            value if dim is None else move_batch_axis(value, dim, 1)
            for value, dim in zip(xs, xs_dims, strict=True)
        ]
        scan = self.like(batched, self.num_consts, self.num_carry)
        axes: list[BatchAxis] = [0 if on else None for on in out_on[: self.num_carry]]
        axes += [1 if on else None for on in out_on[self.num_carry :]]
        return bind(scan, *count, *operands), axes

    def bind_if_live(
        self, live: Value, operands: Sequence[Value], batched: Flags
    ) -> Sequence[Value] | None:
        _, consts_on, _, xs_on = self.parts(batched)
        carry_on = (any(batched),) * self.num_carry
        body = body_if_live(self.jaxpr, (*consts_on, *carry_on, *xs_on))
        if body is None:
            return None
        count, *rest = self.parts(operands)
        given = [value for part in rest for value in part]
        return bind(self.like(body, self.num_consts + 1, self.num_carry), *count, live, *given)

    # -- tidying --------------------------------------------------------------------------------

    def dce(self, eqn: JaxprEqn, used: Sequence[bool]) -> JaxprEqn:
        carry_used, ys_used = split_at(used, self.num_carry)

        def entering(carry: Flags) -> Sequence[bool]:
            read = used_inputs(dce_of(self.jaxpr, (*carry, *ys_used)))
            return read[self.num_consts : self.num_consts + self.num_carry]

        carry_on = fixpoint(entering, carry_used)
        body = dce_of(self.jaxpr, (*carry_on, *ys_used))
        consts_on, _, xs_on = split_at(used_inputs(body), self.num_consts, self.num_carry)
        flags = (*consts_on, *carry_on, *xs_on)
        count, *rest = self.parts(eqn.invars)
        operands = [*count, *chosen([atom for part in rest for atom in part], flags)]
        outvars = chosen(eqn.outvars, (*carry_on, *ys_used))
        if all(flags) and all(ys_used) and len(body.eqns) == len(self.jaxpr.eqns):
            return eqn
        body = rearranged(body, [i for i, on in enumerate(flags) if on])
        scan = self.like(body, sum(consts_on), sum(carry_on))
        return JaxprEqn(scan, operands, outvars, eqn.source, eqn.phase)

    def tidied(
        self,
        args: Sequence[Value],
        producer: Producer,
        tidy: Callable[[ClosedJaxpr], ClosedJaxpr],
    ) -> Sequence[Value] | None:
        return tidied_scan(self, args, producer, tidy)


def _same(found: ShapedArray, wanted: ShapedArray) -> bool:
    return found.ndim == wanted.ndim and all(map(require_same, found.shape, wanted.shape))


def _bar(arg: Value, bar: Value | None) -> Value | None:
    """What `transpose` returns for an operand with this cotangent, if it has any."""
    if not isinstance(arg, Linear):
        return None
    return Zero(arg.aval) if bar is None else bar


@per_jaxpr
def interleaved(
    both: ClosedJaxpr, kinds: tuple[Flags, Flags, Flags], out_on: Flags, num_carry: int
) -> ClosedJaxpr:
    """The result of `jvp` on a body, as a body: each kind of operand is followed by tangents."""
    inputs: list[int] = []
    primal, dot = 0, sum(map(len, kinds))
    for flags in kinds:
        inputs += range(primal, primal + len(flags))
        inputs += range(dot, dot + sum(flags))
        primal, dot = primal + len(flags), dot + sum(flags)
    num_outs, carry_dots = len(out_on), sum(out_on[:num_carry])
    outputs = [
        *range(num_carry),
        *range(num_outs, num_outs + carry_dots),
        *range(num_carry, num_outs),
        *range(num_outs + carry_dots, num_outs + sum(out_on)),
    ]
    return rearranged(both, inputs, outputs)


@per_jaxpr
def _accumulating(
    body: ClosedJaxpr,
    backward: ClosedJaxpr,
    linear: tuple[Flags, Flags, Flags],
    cotangents: tuple[Flags, Flags],
    found: tuple[Flags, Flags, Flags],
) -> ClosedJaxpr:
    """The transpose of a body, as a body.

    (fixed consts, y_bars -> x_bars)  ->
    (fixed consts, [sums of const_bars, carry_bars], y_bars, fixed xs -> the same, x_bars)
    """
    consts, carry, xs = split_at(body.jaxpr.invars, len(linear[0]), len(linear[1]))
    fixed = chosen(consts, inverted(linear[0]))
    fixed_xs = chosen(xs, inverted(linear[2]))
    summed = chosen(consts, found[0])
    carried = chosen(carry, cotangents[0])
    bars = backward.jaxpr.invars[len(fixed) + len(fixed_xs) + len(carried) :]
    invars = [*fixed, *summed, *carried, *bars, *fixed_xs]
    names = [
        *[var.name for var in fixed],
        *[cotangent_name(var.name) for var in (*summed, *carried)],
        *[var.name for var in (*bars, *fixed_xs)],
    ]

    def fun(*args: Value) -> list[Value]:
        consts_in, sums, carry_bars, y_bars, xs_in = split_at(
            args, len(fixed), len(summed), len(carried), len(bars)
        )
        results = inline(backward, *consts_in, *xs_in, *carry_bars, *y_bars)
        const_bars, entering, x_bars = split_at(results, len(summed), sum(found[1]))
        with phase("cotangent"):
            sums = [add_any(total, bar) for total, bar in zip(sums, const_bars, strict=True)]
            for total, var in zip(sums, summed, strict=True):
                name = cotangent_name(var.name)
                if name is not None:
                    named(total, name)
            next_bars = iter(entering)
            carry_bars = [
                next(next_bars) if on else instantiate(Zero(var.aval))
                for var, on, is_carried in zip(carry, found[1], cotangents[0], strict=True)
                if is_carried
            ]
        return [*sums, *carry_bars, *x_bars]

    return make(fun, [var.aval for var in invars], names)
