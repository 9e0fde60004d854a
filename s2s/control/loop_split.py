"""Partial evaluation of loops: the known loop, what it keeps of each step, and the unknown loop.

    known:    h = tanh(w @ h + x)           keeps the history of h
    unknown:  h_dot = (1 - h**2) * (w @ h_dot)

What the unknown loop reads of a step is, in order of preference: a constant of the loop, an element
of xs, the loop's counter, a value that does not change from step to step (computed once, before the
loop), an entry of the history of a carried value, a value stacked for each step; or it is computed
again from such. Residuals are chosen by `residuals.choose`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from s2s.control.bodies import (
    Flags,
    Parts,
    chosen,
    fixpoint,
    in_loop,
    inverted,
    sizes_of,
    split_at,
    split_of,
)
from s2s.control.left_behind import LeftBehind
from s2s.control.regions import Sizes, given_sizes
from s2s.control.residuals import Kept, choose
from s2s.ir.dims import Size
from s2s.ir.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, ShapedArray, Source, Var
from s2s.passes.bound_dimensions import reads_of
from s2s.passes.dce import dce, live
from s2s.primitive import Value
from s2s.primitives.arithmetic import Add, Mul
from s2s.primitives.core import (
    BroadcastInDim,
    ConvertElementType,
    Reshape,
    Transpose,
)
from s2s.primitives.creation import DimAsValue, Iota, iota
from s2s.primitives.joining import concatenate
from s2s.primitives.layout import Slice, Squeeze, expand_dims, slice
from s2s.trace import Builder, appending_to, aval, tracer_of

REPEATED = (BroadcastInDim, DimAsValue, Iota, Reshape, Slice, Squeeze, Transpose)
"""What is done again in each step: it costs next to nothing."""

VIEWS = (BroadcastInDim, ConvertElementType, Reshape, Slice, Squeeze, Transpose)


@dataclass(frozen=True, eq=False)
class Loop:
    """A loop's body, (consts, carry, xs -> carry, ys), and what it runs on."""

    body: ClosedJaxpr
    num_consts: int
    num_carry: int
    length: Size
    reverse: bool
    is_of_unknown_length: bool = False

    def parts(self, values: Sequence[Atom]) -> list[list[Atom]]:
        """Operands as consts, initial carry and xs."""
        return split_at(values, self.num_consts, self.num_carry)


@dataclass(frozen=True, eq=False)
class LoopOperands:
    """A body and its operands, by kind."""

    body: ClosedJaxpr
    consts: list[Atom]
    carry: list[Atom]
    xs: list[Atom]


@dataclass(frozen=True, eq=False)
class LoopSplit:
    """A loop in two. `before` are equations that run before the known loop, `between` those that
    run before the unknown one. `stacked` are the results of the known loop beside its own."""

    before: list[JaxprEqn]
    known: LoopOperands
    stacked: list[Var]
    after: list[JaxprEqn]
    between: list[JaxprEqn]
    unknown: LoopOperands
    carry_unknown: Flags
    ys_unknown: Flags


def split_loop(
    loop: Loop,
    operands: Sequence[Atom],
    results: Sequence[Var],
    unknown: Sequence[bool],
    like: JaxprEqn,
) -> LoopSplit:
    """Split a loop whose operands are partly unknown.

    `results` are the variables for the final carry and the ys. The new equations take their source
    from the equation `like`.
    """
    consts_unknown, init_unknown, xs_unknown = split_at(unknown, loop.num_consts, loop.num_carry)
    num_ys = len(loop.body.out_avals) - loop.num_carry
    sizes = sizes_of(operands[: loop.num_consts])

    def parts_for(carry: Flags) -> Parts:
        forced = (*carry, *[False] * num_ys)
        flags = (*consts_unknown, *carry, *xs_unknown)
        return split_of(loop.body, flags, forced, True, (True,) * loop.num_consts, sizes)

    carry_unknown = fixpoint(
        lambda carry: parts_for(carry).out_unknown[: loop.num_carry], init_unknown
    )
    parts = parts_for(carry_unknown)
    ys_unknown = parts.out_unknown[loop.num_carry :]
    consts, carry, xs = loop.parts(operands)
    known = LoopOperands(
        parts.known,
        chosen(consts, inverted(consts_unknown)),
        chosen(carry, inverted(carry_unknown)),
        chosen(xs, inverted(xs_unknown)),
    )
    known_ys = chosen(results[loop.num_carry :], inverted(ys_unknown))
    known_carry = chosen(results[: loop.num_carry], inverted(carry_unknown))
    given = given_sizes(loop.body.jaxpr.invars, sizes)
    build = _Build(loop, known, known_carry, known_ys, parts, given, like)
    build.provide()
    unknown_consts, unknown_carry, unknown_xs = split_at(
        parts.unknown_inputs, sum(consts_unknown), sum(carry_unknown)
    )
    constants = [
        (var, value)
        for var, value in zip(parts.known.jaxpr.constvars, parts.known.consts, strict=True)
        if var in build.read_constants
    ]
    unknown_body = Jaxpr(
        [var for var, _ in constants],
        [*build.const_vars, *unknown_consts, *unknown_carry, *build.xs_vars, *unknown_xs],
        [*build.induction, *build.kept.recomputed, *build.unknown_eqns],
        parts.unknown_outputs,
    )
    return LoopSplit(
        build.before.eqns,
        LoopOperands(
            dce(build.known_body()),
            [*build.hoisted.values(), *known.consts],
            known.carry,
            known.xs,
        ),
        build.stacked,
        build.after.eqns,
        build.between.eqns,
        LoopOperands(
            ClosedJaxpr(unknown_body, tuple(value for _, value in constants)),
            [*build.const_atoms, *chosen(consts, consts_unknown)],
            chosen(carry, carry_unknown),
            [*build.xs_atoms, *chosen(xs, xs_unknown)],
        ),
        carry_unknown,
        ys_unknown,
    )


class _Build:
    """Chooses what to keep, and collects what the unknown loop is given."""

    def __init__(
        self,
        loop: Loop,
        known: LoopOperands,
        known_carry: Sequence[Var],
        known_ys: Sequence[Var],
        parts: Parts,
        sizes: Sizes,
        like: JaxprEqn,
    ) -> None:
        self.loop = loop
        self.known = known
        self.results = known_carry
        jaxpr = known.body.jaxpr
        self.eqns = jaxpr.eqns
        self.const_in, self.carry_in, self.xs_in = split_at(
            jaxpr.invars, len(known.consts), len(known.carry)
        )
        self.carry_out, ys_out = split_at(jaxpr.outvars, len(known.carry))
        self.constants = set(jaxpr.constvars)
        self.ys = {
            atom: y for atom, y in zip(ys_out, known_ys, strict=True) if isinstance(atom, Var)
        }
        self.counters: dict[Var, Literal] = {}
        if not loop.reverse:
            self.counters = counters(self.eqns, self.carry_in, self.carry_out)
        self.invariant = _invariant(self.eqns, self.const_in)
        carried = list(zip(self.carry_in, self.carry_out, strict=True))
        self.left = LeftBehind(self.eqns, carried, self.invariant, sizes, loop.reverse)
        self.unknown_eqns = [self.left.reading(eqn) for eqn in parts.unknown_eqns]
        again = [self.left.giving(eqn) for eqn in self.eqns]
        self.kept = self._choose(parts, again)

        self.source = like.source
        self.before = Builder(like.source, "tangent")
        self.after = Builder(like.source, "tangent")
        self.between = Builder(like.source, "tangent")
        self.read_constants: set[Var] = set()
        self.const_vars: list[Var] = []
        self.const_atoms: list[Atom] = []
        self.xs_vars: list[Var] = []
        self.xs_atoms: list[Atom] = []
        self.stacked_vars: list[Var] = []
        self.stacked: list[Var] = []
        self.induction: list[JaxprEqn] = []
        self.hoisted: dict[Var, Atom] = {}
        """What the body computes in each step, and stands before the loop now."""

    def known_body(self) -> ClosedJaxpr:
        """The known body with what is hoisted in front of its constants, and what is kept."""
        body = self.known.body.jaxpr
        eqns = [eqn for eqn in body.eqns if self.hoisted.keys().isdisjoint(eqn.outvars)]
        outvars = [*body.outvars, *self.stacked_vars]
        invars = [*self.hoisted, *body.invars]
        return ClosedJaxpr(Jaxpr(body.constvars, invars, eqns, outvars), self.known.body.consts)

    def _choose(self, parts: Parts, instead: Sequence[Sequence[JaxprEqn]]) -> Kept:
        """What to keep, given what stands for each known equation in the unknown body."""
        body = self.known.body.jaxpr
        is_live = {id(eqn) for eqn in live(body.eqns, body.outvars)}
        eqns = [new for some in instead for new in some]
        pairs = zip(self.eqns, instead, strict=True)
        running = {id(new) for old, some in pairs if id(old) in is_live for new in some}
        read = {atom for eqn in self.unknown_eqns for atom in eqn.invars}
        read.update(parts.unknown_outputs)
        residuals = [var for var in parts.residuals if var in read]
        residuals += [var for var in self.left.ends.values() if var in read]
        producers = {var: eqn for eqn in eqns for var in eqn.outvars}
        free = {*self.const_in, *self.xs_in, *self.constants, *self.counters, *self.ys}
        free.update(self.left.ends.values())
        free.update(
            var
            for var in self.invariant
            if var in producers and not isinstance(producers[var].primitive, REPEATED)
        )
        ends = {
            var: end
            for var, end in zip(self.carry_in, self.carry_out, strict=True)
            if isinstance(end, Var) and var not in self.counters
        }
        if in_loop() and self.loop.is_of_unknown_length:
            # The loop around it cannot keep what this one does, and would run it once more: let its
            # backward part compute all again at once, if that needs no carried value.
            again = choose(eqns, residuals, free, running, lambda eqn: True)
            if free.issuperset(again.variables):
                return again
        while True:
            kept = choose(
                eqns,
                residuals,
                free,
                running,
                lambda eqn: eqn.primitive.is_cheap,
                preferred={*self.carry_in, *ends.values()},
            )
            # One array holds a carried value at the entry and at the end of each step, so that
            # where it is kept at the entry, its values at the end are at hand too.
            at_hand = {ends[var] for var in kept.variables if var in ends} - free
            if not at_hand:
                return kept
            free |= at_hand

    def provide(self) -> None:
        """Find for each variable that is kept where the unknown loop gets it from."""
        history: dict[int, set[str]] = {}
        carry_in = {var: i for i, var in enumerate(self.carry_in)}
        carry_out = {a: i for i, a in enumerate(self.carry_out) if isinstance(a, Var)}
        consts = dict(zip(self.const_in, self.known.consts, strict=True))
        xs = dict(zip(self.xs_in, self.known.xs, strict=True))
        hoisted = _Hoist(self.before, self.eqns, consts)
        at_end = {var: position for position, var in self.left.ends.items()}
        for var in self.kept.variables:
            if var in self.constants:
                self.read_constants.add(var)
            elif var in consts or var in self.invariant:
                atom = hoisted.atom(var)
                self.const_vars.append(var)
                self.const_atoms.append(atom)
                if var not in consts and len(hoisted.producers[var].outvars) == 1:
                    self.hoisted[var] = atom
            elif var in at_end:
                self.const_vars.append(var)
                self.const_atoms.append(self.results[at_end[var]])
            elif var in xs:
                self._give(var, xs[var])
            elif var in self.ys:
                self._give(var, self.ys[var])
            elif var in self.counters:
                self._count(var, carry_in[var])
            elif var in carry_in:
                history.setdefault(carry_in[var], set()).add("entry")
            elif var in carry_out:
                history.setdefault(carry_out[var], set()).add("end")
            else:
                self._give(var, self._stack(var, var.name))
        for position, ends in history.items():
            self._history(position, ends)

    def _give(self, var: Var, stacked: Atom) -> None:
        self.xs_vars.append(var)
        self.xs_atoms.append(stacked)

    def _stack(self, var: Var, name: str | None) -> Var:
        shape = (self.loop.length, *var.aval.shape)
        stacked = Var(ShapedArray(shape, var.aval.dtype), f"{name}_steps" if name else None)
        self.stacked_vars.append(var)
        self.stacked.append(stacked)
        return stacked

    def _count(self, var: Var, position: int) -> None:
        """The loop's counter is computed from the number of the step."""
        start, step = self.known.carry[position], self.counters[var]
        with appending_to(self.between):
            steps = self.between.atom(iota(var.aval.dtype, (self.loop.length,)))
        if isinstance(start, Literal) and start.value == 0 and step.value == 1:
            self._give(var, steps)
            return
        index = Var(ShapedArray((), var.aval.dtype))
        self._give(index, steps)
        if isinstance(start, Var):
            first = Var(start.aval, start.name)
            self.const_vars.append(first)
            self.const_atoms.append(start)
            start = first
        self.induction += induction(index, start, step, var, self.source)

    def _history(self, position: int, ends: Collection[str]) -> None:
        entry, end = self.carry_in[position], self.carry_out[position]
        length = self.loop.length
        stacked = self.ys.get(end) if isinstance(end, Var) else None
        if ends == {"entry"} and stacked is None:
            self._give(entry, self._stack(entry, entry.name))
            return
        assert isinstance(end, Var)
        if stacked is None:
            stacked = self._stack(end, entry.name or end.name)
        if ends == {"end"}:
            self._give(end, stacked)
            return
        with appending_to(self.after):
            start = self.known.carry[position]
            first = start if isinstance(start, Literal) else tracer_of(self.after, start)
            parts = [expand_dims(first, [0]), tracer_of(self.after, stacked)]
            history = concatenate(parts[::-1] if self.loop.reverse else parts, 0)
        history_var = self.after.atom(history)
        assert isinstance(history_var, Var)
        history_var.name = stacked.name
        called = stacked.name or entry.name or end.name
        if end in self.ys and called:
            history_var.name = f"{called}_history"
        with appending_to(self.between):
            whole = tracer_of(self.between, history_var)
            low = _rows(whole, 0, length)
            high = _rows(whole, 1, length + 1)
        at_entry, at_end = (high, low) if self.loop.reverse else (low, high)
        self._give(entry, self.between.atom(at_entry))
        if "end" in ends:
            self._give(end, self.between.atom(at_end))


def _rows(array: Value, start: Size, stop: Size) -> Value:
    """`array[start:stop]`"""
    shape = aval(array).shape
    rest = shape[1:]
    return slice(array, (start, *[0] * len(rest)), (stop, *rest))


def counters(
    eqns: Sequence[JaxprEqn], carry_in: Sequence[Var], carry_out: Sequence[Atom]
) -> dict[Var, Literal]:
    """The carried integers that grow by a fixed number in each step, and that number."""
    producers = {var: eqn for eqn in eqns for var in eqn.outvars}
    found: dict[Var, Literal] = {}
    for var, end in zip(carry_in, carry_out, strict=True):
        eqn = producers.get(end) if isinstance(end, Var) else None
        if eqn is None or not isinstance(eqn.primitive, Add) or var.aval.dtype.kind not in "iu":
            continue
        match tuple(eqn.invars):
            case (Literal() as step, x) | (x, Literal() as step) if x is var:
                found[var] = step
            case _:
                pass
    return found


def induction(
    index: Var, start: Atom, step: Literal, var: Var, source: Source | None
) -> list[JaxprEqn]:
    """The equations that give `var` the number `start + index * step`."""
    if step.value == 1:
        return [JaxprEqn(Add(), [index, start], [var], source)]
    if isinstance(start, Literal) and start.value == 0:
        return [JaxprEqn(Mul(), [step, index], [var], source)]
    times = Var(var.aval)
    rises = isinstance(start, Literal) and step.value > 0
    terms = [times, start] if rises else [start, times]
    return [
        JaxprEqn(Mul(), [step, index], [times], source),
        JaxprEqn(Add(), terms, [var], source),
    ]


def _invariant(eqns: Sequence[JaxprEqn], consts: Sequence[Var]) -> set[Var]:
    """The variables that are the same in each step."""
    found = set(consts)
    reads = reads_of(eqns)
    for eqn in eqns:
        if found.issuperset(reads(eqn)) and not eqn.primitive.has_effect:
            found.update(eqn.outvars)
    return found


class _Hoist:
    """Copies of the equations that define what does not change, to run before the loop."""

    def __init__(
        self, builder: Builder, eqns: Sequence[JaxprEqn], consts: Mapping[Var, Atom]
    ) -> None:
        self.builder = builder
        self.eqns = eqns
        self.reads = reads_of(eqns)
        self.producers = {var: eqn for eqn in eqns for var in eqn.outvars}
        self.atoms: dict[Var, Atom] = dict(consts)

    def atom(self, var: Var) -> Atom:
        """What stands for a variable of the body outside of the loop."""
        needed: set[int] = set()
        stack = [var]
        while stack:
            missing = stack.pop()
            if missing not in self.atoms:
                eqn = self.producers[missing]
                if id(eqn) not in needed:
                    needed.add(id(eqn))
                    stack.extend(self.reads(eqn))
        for eqn in self.eqns:
            if id(eqn) in needed:
                operands = [a if isinstance(a, Literal) else self.atoms[a] for a in eqn.invars]
                outvars = [Var(v.aval, v.name) for v in eqn.outvars]
                copied = JaxprEqn(eqn.primitive, operands, outvars, eqn.source, eqn.phase)
                self.builder.eqns.append(copied)
                self.atoms.update(zip(eqn.outvars, outvars, strict=True))
        return self.atoms[var]
