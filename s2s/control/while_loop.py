"""while: a loop whose number of steps is known only when it runs, and its record for the way back.

    { lambda ; x:f64[]. let
        n:i64[] y:f64[] x_steps:f64[steps_1] = while[... steps=steps_1] x
      in ... }

With `steps` the loop counts its steps and stacks results of the body. The dimension `steps` is
bound by the equation: it is the value of the first result, and stands in the types of the others.
The backward part is a scan of that length.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s.control.bodies import (
    Flags,
    chosen,
    dce_of,
    either,
    fixpoint,
    inverted,
    jvp_of,
    rearranged,
    split_at,
    used_inputs,
    vmap_of,
)
from s2s.control.higher_order import HigherOrder
from s2s.control.loop_split import Loop, split_loop
from s2s.control.ranges import Range, masked_range, range_of
from s2s.control.scan import Scan, interleaved
from s2s.control.splitting import transpose_by_splitting
from s2s.control.tidy_loops import tidied_while
from s2s.control.while_bodies import and_live, any_live, masked, with_more_carry
from s2s.ir.dims import Dim, Size, fresh_dimension
from s2s.ir.dtypes import INT64
from s2s.ir.jaxpr import Atom, ClosedJaxpr, JaxprEqn, Literal, ShapedArray, Var
from s2s.primitive import BatchAxis, PartialEval, Producer, Value, Zero
from s2s.primitives.arithmetic import max, sub
from s2s.primitives.core import (
    broadcast_in_dim,
    convert_element_type,
    full,
    instantiate,
    is_number,
    move_batch_axis,
    number as number_of,
)
from s2s.primitives.counts import BindDimension
from s2s.primitives.reductions import reduce_max
from s2s.trace import (
    Builder,
    appending_to,
    aval,
    bind,
    evaluate,
    inline,
    tracer_of,
)


@dataclass(frozen=True, eq=False)
class While(HigherOrder):
    """`body_jaxpr` applied to the carry while `cond_jaxpr` is true of it.

    The operands are the constants of the condition, those of the body, and the first carry; the
    results the last carry. With `steps`, the body has further results, and those of the loop are
    the number of steps, the last carry, and these stacked along a first axis of size `steps`.
    """

    body_jaxpr: ClosedJaxpr
    body_nconsts: int
    cond_jaxpr: ClosedJaxpr
    cond_nconsts: int
    steps: Dim | None = None

    name = "while"
    is_loop = True

    def printed_parameters(self) -> Mapping[str, Any]:
        parameters = self.parameters()
        if self.steps is None:
            del parameters["steps"]
        return parameters

    @property
    def jaxprs(self) -> list[ClosedJaxpr]:
        """The condition and the body, in the order in which they run."""
        return [self.cond_jaxpr, self.body_jaxpr]

    @property
    def bound_dimension(self) -> str | None:
        return None if self.steps is None else str(self.steps)

    @property
    def num_carry(self) -> int:
        """How many values are carried."""
        return len(self.cond_jaxpr.in_avals) - self.cond_nconsts

    def parts(self, values: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """The constants of the condition, those of the body, and the carry among the operands."""
        cond_consts, body_consts, carry = split_at(values, self.cond_nconsts, self.body_nconsts)
        return cond_consts, body_consts, carry

    def results(self, values: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """The count (none or one), the carry, and the stacked ones among the results."""
        count, carry, stacked = split_at(values, int(self.steps is not None), self.num_carry)
        return count, carry, stacked

    # -- types ----------------------------------------------------------------------------------

    def abstract(self, *avals: ShapedArray) -> list[ShapedArray]:
        if len(avals) != self.cond_nconsts + len(self.body_jaxpr.in_avals):
            raise TypeError(
                f"while over {list(avals)} of a body that takes {self.body_jaxpr.in_avals}"
            )
        carry, ys = split_at(self.body_jaxpr.out_avals, self.num_carry)
        if self.steps is None:
            return carry
        stacked = [ShapedArray((self.steps, *y.shape), y.dtype) for y in ys]
        return [ShapedArray((), INT64), *carry, *stacked]

    # -- meaning --------------------------------------------------------------------------------

    def evaluate(self, *arrays: Any) -> list[Any]:
        cond_consts, body_consts, carry = self.parts(arrays)
        rows: list[list[Any]] = []
        while evaluate(self.cond_jaxpr, *cond_consts, *carry)[0]:
            results = evaluate(self.body_jaxpr, *body_consts, *carry)
            carry = results[: self.num_carry]
            rows.append(results[self.num_carry :])
        if self.steps is None:
            return carry
        stacked: list[Any] = []
        for i, y in enumerate(self.body_jaxpr.out_avals[self.num_carry :]):
            shape: Any = (len(rows), *y.shape)
            array = np.zeros(shape, y.dtype)
            for step, row in enumerate(rows):
                array[step] = row[i]
            stacked.append(array)
        return [np.int64(len(rows)), *carry, *stacked]

    # -- derivatives ----------------------------------------------------------------------------

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        cond_consts, consts, carry = self.parts(primals)
        _, const_dots, carry_dots = self.parts(tangents)
        consts_on, init_on = (
            tuple(not isinstance(t, Zero) for t in part) for part in (const_dots, carry_dots)
        )
        num_carry = self.num_carry
        num_ys = len(self.body_jaxpr.out_avals) - num_carry

        def step(carry_on: Flags) -> tuple[ClosedJaxpr, Flags]:
            forced = (*carry_on, *[False] * num_ys)
            return jvp_of(self.body_jaxpr, (*consts_on, *carry_on), forced)

        carry_on = fixpoint(lambda flags: step(flags)[1][:num_carry], init_on)
        both, out_on = step(carry_on)
        body = interleaved(both, (consts_on, carry_on, ()), out_on, num_carry)
        loop = While(
            body,
            self.body_nconsts + sum(consts_on),
            with_more_carry(self.cond_jaxpr, tuple(chosen(self._carry_avals, carry_on))),
            self.cond_nconsts,
            self.steps,
        )
        results = bind(
            loop,
            *cond_consts,
            *consts,
            *map(instantiate, chosen(const_dots, consts_on)),
            *carry,
            *map(instantiate, chosen(carry_dots, carry_on)),
        )
        count, carry_out, stacked = loop.results(results)
        out = [*carry_out[:num_carry], *stacked[:num_ys]]
        moved = iter([*carry_out[num_carry:], *stacked[num_ys:]])
        dots = [next(moved) if on else Zero(aval(y)) for y, on in zip(out, out_on, strict=True)]
        return [*count, *out], [*[Zero(aval(n)) for n in count], *dots]

    @property
    def _carry_avals(self) -> list[ShapedArray]:
        return self.cond_jaxpr.in_avals[self.cond_nconsts :]

    def partial_eval(self, eqn: JaxprEqn, unknown: Sequence[bool]) -> PartialEval | None:
        cond_unknown, consts_unknown, init_unknown = self.parts(unknown)
        cond_consts, consts, carry = self.parts(eqn.invars)
        count, carry_vars, ys = self.results(eqn.outvars)
        if any(cond_unknown):
            return None
        steps = fresh_dimension("steps") if self.steps is None else self.steps
        loop = Loop(self.body_jaxpr, self.body_nconsts, self.num_carry, steps, False, True)
        split = split_loop(
            loop, [*consts, *carry], [*carry_vars, *ys], [*consts_unknown, *init_unknown], eqn
        )
        read = used_inputs(self.cond_jaxpr)[self.cond_nconsts :]
        if any(on and unk for on, unk in zip(read, split.carry_unknown, strict=True)):
            return None
        kept = [i for i, is_unknown in enumerate(split.carry_unknown) if not is_unknown]
        condition = rearranged(
            self.cond_jaxpr,
            [*range(self.cond_nconsts), *[self.cond_nconsts + i for i in kept]],
        )
        known_loop = While(
            split.known.body, len(split.known.consts), condition, self.cond_nconsts, steps
        )
        number = count[0] if count else Var(ShapedArray((), INT64), "steps")
        counting = [] if split.stacked or ys else self._counting(eqn, steps, number)
        if counting:
            number.name = None
        if counting:
            known_loop = dataclasses.replace(known_loop, steps=None)
        known = JaxprEqn(
            known_loop,
            [*cond_consts, *split.known.consts, *split.known.carry],
            [
                *([] if counting else [number]),
                *chosen(carry_vars, inverted(split.carry_unknown)),
                *chosen(ys, inverted(split.ys_unknown)),
                *split.stacked,
            ],
            eqn.source,
            eqn.phase,
        )
        part = split.unknown
        scan = Scan(part.body, steps, len(part.carry), len(part.consts), counted=True)
        results = [*chosen(carry_vars, split.carry_unknown), *chosen(ys, split.ys_unknown)]
        rest = JaxprEqn(
            scan,
            [number, *part.consts, *part.carry, *part.xs],
            results,
            eqn.source,
            "tangent",
        )
        first = [*split.before, known, *split.after, *counting]
        return PartialEval(first, [*split.between, rest], results)

    def _range(self) -> Range | None:
        return range_of(self.cond_jaxpr, self.body_jaxpr, self.cond_nconsts, self.body_nconsts)

    def _counting(self, eqn: JaxprEqn, steps: Dim, number: Var) -> list[JaxprEqn]:
        """The equations that give the number of steps without the loop, if it runs over a range."""
        found = self._range()
        if found is None or self.steps is not None:
            return []
        cond_consts, _, carry = self.parts(eqn.invars)
        builder = Builder(eqn.source, "tangent", folding=True)

        def value(atom: Atom) -> Value:
            return atom if isinstance(atom, Literal) else tracer_of(builder, atom)

        with appending_to(builder):
            stop, start = found.end([*map(value, cond_consts)]), value(carry[found.counter])
            length = stop if is_number(start) and number_of(start) == 0 else sub(stop, start)
            counted = builder.atom(max(convert_element_type(length, INT64), 0))
        if not isinstance(counted, Var):
            return []
        last = builder.eqns[-1]
        made = JaxprEqn(last.primitive, last.invars, [number], last.source, last.phase)
        binding = JaxprEqn(BindDimension(steps), [number], [Var(number.aval)], eqn.source)
        return [*builder.eqns[:-1], made, binding]

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        return transpose_by_splitting(self, cts, args)

    # -- batching -------------------------------------------------------------------------------

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, Any]:
        in_front = [
            value if dim is None else move_batch_axis(value, dim, 0)
            for value, dim in zip(args, dims, strict=True)
        ]
        cond_on, consts_on, init_on = (
            tuple(dim is not None for dim in part) for part in self.parts(dims)
        )
        num_carry = self.num_carry
        num_ys = len(self.body_jaxpr.out_avals) - num_carry

        def step(carry_on: Flags) -> tuple[ClosedJaxpr, Flags]:
            forced = (*carry_on, *[False] * num_ys)
            return vmap_of(self.body_jaxpr, size, (*consts_on, *carry_on), forced)

        carry_on = fixpoint(lambda flags: step(flags)[1][:num_carry], init_on)
        condition, (differs,) = vmap_of(self.cond_jaxpr, size, (*cond_on, *carry_on), (False,))
        if differs:
            found = self._range()
            is_plain = found is not None and found.stop == 0 and self.cond_nconsts == 1
            if found is not None and is_plain and not init_on[found.counter]:
                return self._batch_range(size, in_front, dims, found.counter)
            return self._batch_ragged(size, in_front, dims)
        body, out_on = step(carry_on)
        cond_consts, consts, carry = self.parts(in_front)
        carry = [
            move_batch_axis(value, None, 0, size) if on and not was_on else value
            for value, on, was_on in zip(carry, carry_on, init_on, strict=True)
        ]
        loop = While(body, self.body_nconsts, condition, self.cond_nconsts, self.steps)
        axes = [0 if on else None for on in out_on[:num_carry]]
        axes += [1 if on else None for on in out_on[num_carry:]]
        if self.steps is not None:
            axes.insert(0, None)
        return bind(loop, *cond_consts, *consts, *carry), axes

    def _batch_range(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis], counter: int
    ) -> tuple[Value, Any]:
        """The examples count from one start to different ends."""
        _, consts_dims, carry_dims = self.parts(dims)
        consts_on = tuple(dim is not None for dim in consts_dims)
        init_on = tuple(dim is not None for dim in carry_dims)
        num_carry = self.num_carry
        num_ys = len(self.body_jaxpr.out_avals) - num_carry

        def step(carry_on: Flags) -> tuple[ClosedJaxpr, Flags]:
            forced = (*carry_on, *[False] * num_ys)
            flags = (*consts_on, *carry_on)
            single = masked_range(self.body_jaxpr, self.body_nconsts, counter, flags)
            return vmap_of(single, size, (True, *flags), forced)

        carry_on = fixpoint(lambda flags: step(flags)[1][:num_carry], init_on)
        if carry_on[counter]:  # A step whose arrays have a size for each example has all of it so.
            return self._batch_ragged(size, args, dims)
        body, out_on = step(carry_on)
        (bound,), consts, carry = self.parts(args)
        carry = [
            move_batch_axis(value, None, 0, size) if on and not was_on else value
            for value, on, was_on in zip(carry, carry_on, init_on, strict=True)
        ]
        start = broadcast_in_dim(carry[counter], (size,), ())
        condition, _ = vmap_of(self.cond_jaxpr, size, (False, *carry_on), (False,))
        loop = While(body, 1 + self.body_nconsts, condition, 1, self.steps)
        results = bind(loop, reduce_max(bound, [0]), bound, *consts, *carry)
        count, finals, stacked = loop.results(results)
        last = max(bound, start)
        finals[counter] = last
        axes: list[BatchAxis] = [0 if on else None for on in out_on[:num_carry]]
        axes[counter] = 0
        axes += [1 if on else None for on in out_on[num_carry:]]
        if count:
            is_from_zero = is_number(carry[counter]) and number_of(carry[counter]) == 0
            steps = last if is_from_zero else sub(last, start)
            count = [convert_element_type(steps, INT64)]
            axes.insert(0, 0)
        return [*count, *finals, *stacked], axes

    def _batch_ragged(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, Any]:
        """The examples run different numbers of steps: on until all are done."""
        recording = self.steps is not None
        cond_on, consts_on, init_on = (
            tuple(dim is not None for dim in part) for part in self.parts(dims)
        )
        num_state = 1 + int(recording)
        num_carry = num_state + self.num_carry
        num_ys = len(self.body_jaxpr.out_avals) - self.num_carry
        consts_flags = (*cond_on, *consts_on)

        def step(carry_on: Flags) -> tuple[ClosedJaxpr, Flags]:
            forced = (*carry_on, *[False] * num_ys)
            single = masked(
                self.body_jaxpr,
                self.cond_jaxpr,
                self.body_nconsts,
                self.cond_nconsts,
                recording,
                (*consts_on, *carry_on[num_state:]),
            )
            return vmap_of(single, size, (*consts_flags, *carry_on), forced)

        start = (*[True] * num_state, *init_on)
        carry_on = fixpoint(lambda flags: step(flags)[1][:num_carry], start)
        body, out_on = step(carry_on)
        cond_consts, consts, carry = self.parts(args)
        carry = [
            move_batch_axis(value, None, 0, size) if on and not was_on else value
            for value, on, was_on in zip(carry, carry_on[num_state:], init_on, strict=True)
        ]
        whole, _ = vmap_of(self.cond_jaxpr, size, (*cond_on, *carry_on[num_state:]), (True,))
        state = [inline(whole, *cond_consts, *carry)[0]]
        if recording:
            state.append(full((size,), 0, INT64))
        condition = any_live(tuple(aval(value) for value in (*state, *carry)))
        loop = While(
            body,
            self.cond_nconsts + self.body_nconsts,
            condition,
            0,
            self.steps,
        )
        results = bind(loop, *cond_consts, *consts, *state, *carry)
        _, carry_out, stacked = loop.results(results)
        axes: list[BatchAxis] = [0 if on else None for on in out_on[1:num_carry]]
        axes += [1 if on else None for on in out_on[num_carry:]]
        return [*carry_out[1:], *stacked], axes

    def bind_if_live(
        self, live: Value, operands: Sequence[Value], batched: Flags
    ) -> Sequence[Value] | None:
        loop = dataclasses.replace(
            self, cond_jaxpr=and_live(self.cond_jaxpr), cond_nconsts=self.cond_nconsts + 1
        )
        return bind(loop, live, *operands)

    # -- tidying --------------------------------------------------------------------------------

    def dce(self, eqn: JaxprEqn, used: Sequence[bool]) -> JaxprEqn:
        count_used, carry_used, ys_used = self.results(used)
        read = used_inputs(self.cond_jaxpr)
        recording = any(count_used) or any(ys_used)

        def entering(carry: Flags) -> Sequence[bool]:
            return used_inputs(dce_of(self.body_jaxpr, (*carry, *ys_used)))[self.body_nconsts :]

        carry_on = fixpoint(entering, either(carry_used, read[self.cond_nconsts :]))
        body = dce_of(self.body_jaxpr, (*carry_on, *ys_used))
        consts_on = used_inputs(body)[: self.body_nconsts]
        cond_on = read[: self.cond_nconsts]
        flags = (*cond_on, *consts_on, *carry_on)
        keeps_steps = recording or self.steps is None
        if all(flags) and all(ys_used) and keeps_steps:
            if len(body.eqns) == len(self.body_jaxpr.eqns):
                return eqn
        body_flags = (*consts_on, *carry_on)
        loop = While(
            rearranged(body, [i for i, on in enumerate(body_flags) if on]),
            sum(consts_on),
            rearranged(self.cond_jaxpr, [i for i, on in enumerate((*cond_on, *carry_on)) if on]),
            sum(cond_on),
            self.steps if recording else None,
        )
        count, carry, ys = self.results(eqn.outvars)
        outvars = [
            *(count if recording else []),
            *chosen(carry, carry_on),
            *chosen(ys, ys_used),
        ]
        return JaxprEqn(loop, chosen(eqn.invars, flags), outvars, eqn.source, eqn.phase)

    def tidied(
        self,
        args: Sequence[Value],
        producer: Producer,
        tidy: Callable[[ClosedJaxpr], ClosedJaxpr],
    ) -> Sequence[Value] | None:
        return tidied_while(self, args, producer, tidy)
