"""cond: one of several branches, chosen by a number."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s.control.batched_loops import body_if_live, guarded, inline_if
from s2s.control.bodies import (
    Flags,
    are_fixed,
    chosen,
    dce_of,
    either,
    in_loop,
    input_names,
    inverted,
    jvp_of,
    rearranged,
    sizes_of,
    split_of,
    transpose_of,
    used_inputs,
    vmap_of,
    with_unused_input,
)
from s2s.control.branch_split import Shared, split_callee
from s2s.control.element_changes import Change, same_change, updated_inputs
from s2s.control.higher_order import HigherOrder, has_effects, per_jaxpr
from s2s.control.sums import with_added, with_results
from s2s.control.tidy import Operands, Source, identity, rebuilt
from s2s.ir.dims import Size, require_same
from s2s.ir.dtypes import BOOL
from s2s.ir.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, ShapedArray, Var
from s2s.passes.sums import add_inside
from s2s.primitive import BatchAxis, Linear, PartialEval, Primitive, Producer, Value, Zero
from s2s.primitives.core import (
    BroadcastInDim,
    convert_element_type,
    full,
    instantiate,
    is_number,
    move_batch_axis,
    number,
)
from s2s.primitives.logic import bitwise_and, bitwise_not, eq, select_n
from s2s.primitives.reductions import reduce_or
from s2s.trace import (
    aval,
    bind,
    builder_in_force,
    copy_equation,
    evaluate,
    inline,
    make,
    phase,
    walk,
)

INDEX = np.dtype(np.int32)


@dataclass(frozen=True, eq=False)
class Cond(HigherOrder):
    """The branch whose number is the first operand, applied to the others; 0 is the false one."""

    branches: tuple[ClosedJaxpr, ...]

    name = "cond"

    @property
    def _count(self) -> int:
        return len(self.branches)

    def abstract(self, *avals: ShapedArray) -> list[ShapedArray]:
        index, *operands = avals
        for branch in self.branches:
            fits = len(branch.in_avals) == len(operands) and all(
                a.dtype == b.dtype and a.ndim == b.ndim and all(map(require_same, a.shape, b.shape))
                for a, b in zip(branch.in_avals, operands, strict=True)
            )
            if not fits or index.shape or index.dtype.kind not in "iu":
                raise TypeError(f"cond over {list(avals)} of a branch that takes {branch.in_avals}")
        # Of Python's number and one of NumPy's of the same kind, which may be either.
        results = zip(*[branch.out_avals for branch in self.branches], strict=True)
        return [next((a for a in avals_ if a.weak_type), avals_[0]) for avals_ in results]

    def evaluate(self, *arrays: Any) -> list[Any]:
        return evaluate(self.branches[int(arrays[0])], *arrays[1:])

    def fold(self, args: Sequence[Value], producer: Producer) -> Value | None:
        if is_number(args[0]):
            return inline(self.branches[int(number(args[0]))], *args[1:])
        return None

    # -- derivatives ----------------------------------------------------------------------------

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        index, *operands = primals
        active = tuple(not isinstance(t, Zero) for t in tangents[1:])
        out_on: Flags = (False,) * len(self.branches[0].out_avals)
        for branch in self.branches:
            out_on = either(out_on, jvp_of(branch, active, out_on)[1])
        both = tuple(jvp_of(branch, active, out_on)[0] for branch in self.branches)
        results = bind(Cond(both), index, *operands, *chosen(tangents[1:], active))
        moved = iter(results[len(out_on) :])
        values = results[: len(out_on)]
        return values, [
            next(moved) if on else Zero(aval(y)) for y, on in zip(values, out_on, strict=True)
        ]

    def partial_eval(self, eqn: JaxprEqn, unknown: Sequence[bool]) -> PartialEval | None:
        if unknown[0]:
            return None
        flags, fixed = tuple(unknown[1:]), are_fixed(eqn.invars[1:])
        sizes = sizes_of(eqn.invars[1:])
        out_unknown: Flags = (False,) * len(eqn.outvars)
        for branch in self.branches:
            parts = split_of(branch, flags, out_unknown, in_loop(), fixed, sizes)
            out_unknown = either(out_unknown, parts.out_unknown)
        splits = [
            split_callee(
                split_of(branch, flags, out_unknown, in_loop(), fixed, sizes),
                in_loop(),
                fixed=chosen(branch.jaxpr.invars, fixed),
            )
            for branch in self.branches
        ]
        index, *operands = eqn.invars
        shared = Shared(splits, chosen(operands, inverted(flags)))
        known_vars = chosen(eqn.outvars, inverted(out_unknown))
        known = JaxprEqn(
            Cond(tuple(map(shared.known, splits))),
            [index, *shared.operands],
            [*known_vars, *shared.slots],
            eqn.source,
            eqn.phase,
        )
        rest = JaxprEqn(
            Cond(tuple(map(shared.unknown, splits))),
            [index, *shared.atoms(known_vars), *chosen(operands, flags)],
            chosen(eqn.outvars, out_unknown),
            eqn.source,
            "tangent",
        )
        return PartialEval([known], [rest], list(rest.outvars))

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        index, *operands = args
        linear = tuple(isinstance(operand, Linear) for operand in operands)
        ct_on = tuple(not isinstance(ct, Zero) for ct in cts)
        found: Flags = (False,) * len(operands)
        for branch in self.branches:
            found = either(found, transpose_of(branch, linear, ct_on)[1])
        backward = tuple(_transposed(branch, linear, ct_on, found) for branch in self.branches)
        given = [*chosen(operands, inverted(linear)), *chosen(cts, ct_on)]
        bars = iter(bind(Cond(backward), index, *given))
        results: list[Value] = [None]
        for operand, is_linear, on in zip(operands, linear, found, strict=True):
            results.append(next(bars) if on else Zero(operand.aval) if is_linear else None)
        return results

    # -- batching -------------------------------------------------------------------------------

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, Any]:
        in_front = [
            value if dim is None else move_batch_axis(value, dim, 0)
            for value, dim in zip(args, dims, strict=True)
        ]
        batched = tuple(dim is not None for dim in dims)
        out_on: Flags = (False,) * len(self.branches[0].out_avals)
        if batched[0] and not out_on:
            self._batch_effects(size, in_front, batched[1:])
            results = []
        elif batched[0]:
            both, out_on = vmap_of(self._as_choice(batched[1:]), size, batched, out_on)
            results = inline(both, *in_front)
        else:
            for branch in self.branches:
                out_on = either(out_on, vmap_of(branch, size, batched[1:], out_on)[1])
            branches = [vmap_of(branch, size, batched[1:], out_on)[0] for branch in self.branches]
            results = bind(Cond(tuple(branches)), *in_front)
        return results, [0 if on else None for on in out_on]

    def _as_choice(self, batched: Flags) -> ClosedJaxpr:
        """The same without branching: all branches run, and the result of one is chosen.

        What the other branches compute must not reach the derivative: their operands are guarded.
        """
        inputs = [Var(ShapedArray((), INDEX)), *self.branches[0].jaxpr.invars]
        # An array of which branches change elements is changed by one after the other, where it is
        # taken.
        found = [updated_inputs(branch).items() for branch in self.branches]
        changed = dict(set(found[0]).intersection(*found[1:]))
        branches = self.branches
        last: dict[int, tuple[int, Change]] = {}
        for output, place in [*changed.items()]:
            same = same_change(branches, output, place)
            if same is not None:
                last[output], branches = (place, same[0]), tuple(same[1])
                del changed[output]
        places = frozenset(changed.values())

        def fun(index: Value, *operands: Value) -> list[Value]:
            taken = self._taken(index)
            if len(self.branches) == 2:
                index = taken[1]
            now = list(operands)
            results: list[list[Value]] = []
            for live, branch in zip(taken, branches, strict=True):
                given = [x if k in places else guarded(live, x) for k, x in enumerate(now)]
                results.append(inline_if(live, branch, given, batched, places))
                for output, place in changed.items():
                    now[place] = results[-1][output]
            made = [
                now[changed[output]] if output in changed else select_n(index, *cases)
                for output, cases in enumerate(zip(*results, strict=True))
            ]
            for output, (place, change) in last.items():
                made[output] = change.made(operands, place, made[output])
            return made

        return make(fun, [var.aval for var in inputs], [var.name for var in inputs])

    def _taken(self, index: Value) -> list[Value]:
        """For each branch, whether it is the one."""
        if len(self.branches) == 2:
            second = convert_element_type(index, BOOL)
            return [bitwise_not(second), second]
        shape = aval(index).shape
        numbers = [full(shape, i, INDEX) if shape else INDEX.type(i) for i in range(self._count)]
        return [eq(index, number) for number in numbers]

    def _batch_effects(self, size: Size, args: Sequence[Value], batched: Flags) -> None:
        """What branches without results do, each if one of the examples takes it."""
        index, *operands = args
        for live, branch in zip(self._taken(index), self.branches, strict=True):
            if has_effects(branch):
                body, _ = vmap_of(_effects_if_live(branch, batched), size, (True, *batched), ())
                inputs = [aval(live), *map(aval, operands)]
                any_live = convert_element_type(reduce_or(live, [0]), INDEX)
                bind(Cond((_nothing(tuple(inputs)), body)), any_live, live, *operands)

    def _effects_if_live(self, live: Value, operands: Sequence[Value]) -> Sequence[Value]:
        """What branches without results do, where `live` is true."""
        for taken, branch in zip(self._taken(operands[0]), self.branches, strict=True):
            if has_effects(branch):
                index = convert_element_type(bitwise_and(live, taken), INDEX)
                inputs = tuple(map(aval, operands[1:]))
                bind(Cond((_nothing(inputs), branch)), index, *operands[1:])
        return []

    def bind_if_live(
        self, live: Value, operands: Sequence[Value], batched: Flags
    ) -> Sequence[Value] | None:
        if not self.branches[0].out_avals:
            return self._effects_if_live(live, operands)
        bodies = [body_if_live(branch, batched[1:]) for branch in self.branches]
        if not any(bodies):
            return None
        branches = tuple(
            with_unused_input(branch, aval(live)) if body is None else body
            for branch, body in zip(self.branches, bodies, strict=True)
        )
        return bind(Cond(branches), operands[0], live, *operands[1:])

    # -- tidying --------------------------------------------------------------------------------

    def adding_to(
        self,
        start: Atom,
        place: int,
        eqn: JaxprEqn,
        total: JaxprEqn,
        producers: Mapping[Var, JaxprEqn],
    ) -> JaxprEqn:
        cond = Cond(tuple(with_added(branch, place, total) for branch in self.branches))
        outvars = with_results(eqn, place, total)
        return JaxprEqn(cond, [*eqn.invars, start], outvars, eqn.source, eqn.phase)

    def dce(self, eqn: JaxprEqn, used: Sequence[bool]) -> JaxprEqn:
        flags = tuple(used)
        branches = [dce_of(branch, flags) for branch in self.branches]
        read: Flags = (False,) * (len(eqn.invars) - 1)
        for branch in branches:
            read = either(read, used_inputs(branch))
        smaller = any(
            len(new.eqns) < len(old.eqns) for new, old in zip(branches, self.branches, strict=True)
        )
        if all(flags) and all(read) and not smaller:
            return eqn
        kept = [i for i, on in enumerate(read) if on]
        cond = Cond(tuple(rearranged(branch, kept) for branch in branches))
        operands = [eqn.invars[0], *chosen(eqn.invars[1:], read)]
        return JaxprEqn(cond, operands, chosen(eqn.outvars, flags), eqn.source, eqn.phase)

    def tidied(
        self,
        args: Sequence[Value],
        producer: Producer,
        tidy: Callable[[ClosedJaxpr], ClosedJaxpr],
    ) -> Sequence[Value] | None:
        """Numbers among the operands stand in the branches; what all branches pass on is no
        result."""
        if is_number(args[0]):
            return inline(tidy(self.branches[int(number(args[0]))]), *args[1:])
        branches = [tidy(add_inside(branch, in_branches=True)) for branch in self.branches]
        given = Operands(producer)
        rebuilt_branches: list[tuple[ClosedJaxpr, dict[Var, Source]]] = []
        for branch in branches:
            sources = {
                var: given.constant(value, var)
                for var, value in (
                    *zip(branch.jaxpr.constvars, branch.consts, strict=True),
                    *zip(branch.jaxpr.invars, args[1:], strict=True),
                )
            }
            rebuilt_branches.append((branch, sources))
        known = _passed_on(branches, args[1:])
        kept = [i for i in range(len(branches[0].out_avals)) if i not in known]
        if (
            all(new is old for new, old in zip(branches, self.branches, strict=True))
            and len(given.values) == len(args) - 1
            and not known
        ):
            return None
        cond = Cond(
            tuple(
                tidy(rebuilt(branch, given.variables, sources, kept))
                for branch, sources in rebuilt_branches
            )
        )
        results = iter(bind(cond, args[0], *given.values) if kept or cond.has_effect else ())
        return [known[i] if i in known else next(results) for i in range(len(known) + len(kept))]

    def absorbed(self, eqn: JaxprEqn, reader: JaxprEqn) -> JaxprEqn | None:
        """Where a result that is read is a constant in one of the branches, so that less is done
        there."""
        index, *operands = eqn.invars
        taken = [var in reader.invars for var in eqn.outvars]
        if not any(
            _is_constant(out, b) for b in self.branches for out in chosen(b.jaxpr.outvars, taken)
        ):
            return None
        others = {*operands, *eqn.outvars}
        added = [a for a in dict.fromkeys(reader.invars) if isinstance(a, Var) and a not in others]
        inputs = [*operands, *added]
        avals = [atom.aval for atom in inputs]
        names = [*input_names(self.branches[0]), *[atom.name for atom in added]]

        def fun(branch: ClosedJaxpr, converted: bool, *args: Value) -> list[Value]:
            results = walk(branch, args[: len(operands)], copy_equation)
            env = dict(zip([*inputs, *eqn.outvars], [*args, *results], strict=True))
            given = [a if isinstance(a, Literal) else env[a] for a in reader.invars]
            builder = builder_in_force()
            assert builder is not None
            producers = [builder.producer(result) for result in chosen(results, taken)]
            # It stands under the line of what it is done with.
            builder.source = next((p.source for p in producers if p is not None), None)
            with phase(reader.phase):
                made = bind(reader.primitive, *given)
            of = reader.outvars[0].aval
            if is_number(made):
                made = Literal(number(made), of)
            elif converted and not of.shape:
                made = convert_element_type(made, of.dtype, of.weak_type)
            return [*chosen(results, inverted(taken)), made]

        outvars = [*chosen(eqn.outvars, inverted(taken)), *reader.outvars]
        for converted in (False, True):  # Python's numbers stay these where they may
            cond = Cond(
                tuple(
                    make(functools.partial(fun, b, converted), avals, names, folding=True)
                    for b in self.branches
                )
            )
            found = cond.abstract(*[atom.aval for atom in (index, *inputs)])
            if found == [var.aval for var in outvars]:
                return JaxprEqn(cond, [index, *inputs], outvars, eqn.source, eqn.phase)
        return None


def _is_constant(out: Atom, branch: ClosedJaxpr) -> bool:
    """Whether a result of a branch is a number that is known, everywhere."""
    if isinstance(out, Literal):
        return True
    filled = next((eqn for eqn in branch.eqns if out in eqn.outvars), None)
    return (
        filled is not None
        and isinstance(filled.primitive, BroadcastInDim)
        and isinstance(filled.invars[0], Literal)
    )


def effect_if(live: Value, primitive: Primitive, operands: Sequence[Value]) -> list[Value]:
    """An equation of an effect, where `live` is true."""
    avals = [aval(operand) for operand in operands]
    body = make(lambda *xs: bind(primitive, *xs), avals)
    index = convert_element_type(live, INDEX)
    return bind(Cond((_nothing(tuple(avals)), body)), index, *operands)


def _nothing(avals: tuple[ShapedArray, ...]) -> ClosedJaxpr:
    """(xs -> ), which does nothing"""
    return ClosedJaxpr(Jaxpr([], [Var(a) for a in avals], [], []))


@per_jaxpr
def _effects_if_live(closed: ClosedJaxpr, batched: Flags) -> ClosedJaxpr:
    """(xs -> )  ->  (live, xs -> ), as `inline_if` has it where `live` is true for an example"""
    live = Var(ShapedArray((), BOOL), "live")
    inputs = [live, *closed.jaxpr.invars]

    def fun(live: Value, *xs: Value) -> list[Value]:
        return inline_if(live, closed, xs, batched, some_live=True)

    return make(fun, [var.aval for var in inputs], [var.name for var in inputs])


def _passed_on(branches: Sequence[ClosedJaxpr], operands: Sequence[Value]) -> dict[int, Value]:
    """The results that are the same operand, or the same number, of all branches."""
    found: dict[int, Value] = {}
    for i, atoms in enumerate(zip(*[b.jaxpr.outvars for b in branches], strict=True)):
        values: list[Value] = []
        for atom, branch in zip(atoms, branches, strict=True):
            if isinstance(atom, Literal):
                values.append(atom)
            elif atom in branch.jaxpr.invars:
                values.append(operands[list(branch.jaxpr.invars).index(atom)])
        if len(values) == len(branches) and len({identity(value) for value in values}) == 1:
            found[i] = values[0]
    return found


def _transposed(branch: ClosedJaxpr, linear: Flags, ct_on: Flags, wanted: Flags) -> ClosedJaxpr:
    """(fixed, y_bars -> wanted x_bars) of one branch, zero where it does not use the operand."""
    backward, found = transpose_of(branch, linear, ct_on)
    if found == wanted:
        return backward
    avals = branch.in_avals

    def fun(*args: Value) -> list[Value]:
        bars = iter(inline(backward, *args))
        return [
            next(bars) if on else instantiate(Zero(aval))
            for aval, on, want in zip(avals, found, wanted, strict=True)
            if want
        ]

    return make(fun, backward.in_avals, [var.name for var in backward.jaxpr.invars])
