"""Loops of the jaxpr: scans where the number of steps is a size, while loops where it is not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from s2s.control.bodies import explicit_consts
from s2s.control.loop_split import induction
from s2s.control.scan import Scan
from s2s.control.while_loop import While
from s2s.frontend.control_flow.aliases import Alias, PartIndex, Place
from s2s.frontend.control_flow.branches import any_of, both, negation, tested
from s2s.frontend.control_flow.carried import Carried, Step
from s2s.frontend.control_flow.growing import (
    Counted,
    Growing,
    Wider,
    indices_of_given,
    together,
)
from s2s.frontend.control_flow.identity import Copies
from s2s.frontend.control_flow.iteration import Counter, as_number
from s2s.frontend.control_flow.leaves import ABSENT
from s2s.frontend.control_flow.merging import Unlike, as_result, is_same_tree, leaf_aval
from s2s.frontend.control_flow.outcomes import NO_VALUES, End, Outcome
from s2s.frontend.control_flow.perhaps_none import PerhapsNone, name_of_flag
from s2s.frontend.control_flow.state import (
    MISSING,
    Contents,
    Slot,
    Variable,
    like,
    put,
    unusable,
)
from s2s.frontend.control_flow.steps import NoneAtFirst, Steps
from s2s.ir.dims import UndecidedDimension, count_steps, fresh_dimension, names_of
from s2s.ir.dtypes import INT64
from s2s.ir.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, ShapedArray, Var
from s2s.passes.bound_dimensions import bound_in
from s2s.primitives import functions as lax
from s2s.primitives.core import ConvertElementType
from s2s.primitives.counts import RowsOfSteps
from s2s.primitives.logic import Not
from s2s.trace import Builder, Tracer, appending_to, bind, builder_in_force, named, tracer_of
from s2s.tree import flatten

_BEFORE = "Assign it before the loop"


@dataclass(eq=False)
class Returned:
    """What a step returns, as something that a loop carries."""

    name: str = "value"
    value: Any = MISSING

    def read(self) -> Any:
        return self.value

    def write(self, value: Any) -> None:
        self.value = value


_INTERNAL = (Alias, PartIndex, Returned)
"""Slots that are no variables of the user's."""


class Loop(Steps):
    """A loop that is bound once its steps are settled."""

    def run(self) -> End:
        """Bind the loop, and put what it gives into the slots. Raises Unlike."""
        while True:
            try:
                end = self._bound()
                self.give_back()
                return end
            except (Wider, Counted) as unmet:  # of its test
                self.carry_more(unmet)

    def _bound(self) -> End:
        step = self.settled()
        jumps = dict(step.outcome.jumps) if step.outcome is not None else {}
        if self.peels and self.has_none_at_first(step):
            raise NoneAtFirst("something is None in its first step only")
        is_scan = self.items is not None and not jumps and not isinstance(self._length(), Tracer)
        if self.items is not None and not is_scan and not self._is_by_index():
            self.go_by_index()
            step = self.settled()
            jumps = dict(step.outcome.jumps) if step.outcome is not None else {}
        left = step.outcome.assigned if step.outcome is not None else NO_VALUES
        step.after.update({key: value for key, (_, value) in left.items()})
        fresh = {
            key: Carried.of_end(step.after[key], step.builder)
            for key in [*self.fresh, *(left.keys() - self.fresh)]
            if self._has(key, step) and not _is_of_its_step(step.after[key], step)
        }
        returned = Returned()
        if "return" in jumps and step.outcome is not None:
            if _is_of_its_step(step.outcome.value, step):
                raise Unlike("it returns an array whose size differs from step to step")
            self.recording.slots[id(returned)] = returned
            self.recording.before[id(returned)] = MISSING
            step.after[id(returned)] = step.outcome.value
            fresh[id(returned)] = Carried.of_end(step.outcome.value, step.builder)
        for carried in fresh.values():
            if None in carried.avals:
                carried.leaves = [
                    v if a is None else ABSENT
                    for v, a in zip(carried.leaves, carried.avals, strict=True)
                ]
        fresh.update(self.aliases.of_fresh(step, fresh))
        with appending_to(step.builder):
            counters = [
                lax.add(tracer_of(step.builder, var), _literal(source.step, var.aval))
                for var, source in zip(step.counters, self._counters(), strict=True)
                if not is_scan
            ]
            ends = [
                as_result(v, a)
                for key, carried in self.carried.items()
                for v, a in zip(
                    carried.numbers_in(step.after.get(key, step.start[key])),
                    [a for _, a in carried.numbers],
                    strict=True,
                )
            ]
            new = [
                as_result(v, a)
                for key, carried in fresh.items()
                for v, a in zip(
                    carried.numbers_in(step.after[key]),
                    [a for _, a in carried.numbers],
                    strict=True,
                )
            ]
        if is_scan:
            results = self._scan(step, ends, new, fresh)
            outcome = None
        else:
            results, outcome = self._while(step, jumps, counters, ends, new, fresh)
        runs = self._runs_at_least_once(jumps)
        given, copies = iter(results), Copies()
        assigned: dict[int, tuple[Slot, Any]] = {}
        arrays: dict[Place, Any] = {}
        all_made: dict[int, Any] = {}
        for group in (self.carried, fresh):
            for key, carried in group.items():
                slot = self.recording.slots[key]
                if self._is_own(slot):
                    for _ in carried.numbers:
                        next(given)
                    unusable(slot, "has a value in the steps of a loop only", self.source, _BEFORE)
                    continue
                ends = carried.numbers_in(step.after.get(key, step.start.get(key)))
                found = [like(next(given), end) for end in ends]
                made = carried.filled(found)
                made = self._with_flag(key, made, all_made)
                all_made[key] = made
                if runs and isinstance(made, PerhapsNone) and ends[0] is False:
                    made = made.value  # as each step leaves it
                if not self.aliases.is_array(key):
                    arrays.update(self.aliases.places({key: made}, {key: carried}))
                if key in left and outcome is not None:
                    assigned[key] = slot, made
                    unusable(slot, "is assigned only before a `break`", self.source, _BEFORE)
                    continue
                if group is fresh and not runs and not isinstance(slot, _INTERNAL):
                    reason, instead = "is assigned only in the loop", _BEFORE
                    before = self.recording.before[key]
                    if before is not MISSING and not isinstance(slot, Contents):
                        reason = "changes its type in the loop"
                        instead = "Give it a value of the later type before the loop"
                    unusable(slot, f"{reason}, which may make no step", self.source, instead)
                    continue
                if len(found) == 1 and not carried.views and not self.aliases.is_array(key):
                    named(found[0], slot.name)
                if len(found) == 2 and isinstance(carried.form, PerhapsNone):
                    named(found[0], name_of_flag(slot.name))
                    named(found[1], slot.name)
                for original in (step.after.get(key), self.recording.before[key]):
                    copies.add(made, original)
                put(slot, made)
        for key, made in self.lists.items():
            put(self.recording.slots[key], made)
        for alias in self.aliases.known.values():
            for slot in (alias, *alias.indices):
                end = step.after.get(id(slot))
                if isinstance(end, int) and (runs or id(slot) not in self.carried):
                    slot.write(end)
        self.aliases.declare(arrays)
        self.aliases.declare_kept(arrays, self.lists)
        for key in self.fresh - set(fresh):
            reason, instead = "is not assigned in each step", _BEFORE
            if self._has(key, step):
                reason = "has another size in each step"
                instead = "Take what is needed of it in the loop"
            unusable(self.recording.slots[key], reason, self.source, instead)
        if outcome is None:
            return None
        value = None if returned.value is MISSING else returned.value
        return replace(outcome, value=value, assigned=assigned)

    def _is_own(self, slot: Slot | None) -> bool:
        """Whether nothing reads the slot after the loop."""
        return isinstance(slot, Variable) and slot.name in self.own

    def _has(self, key: int, step: Step) -> bool:
        return step.after.get(key, MISSING) is not MISSING

    def _counters(self) -> list[Counter]:
        sources = self.items.sources if self.items is not None else ()
        return [source for source in sources if isinstance(source, Counter)]

    def _is_by_index(self) -> bool:
        return bool(self._counters()) and not self._rows()

    def _runs_at_least_once(self, jumps: dict[str, Any]) -> bool:
        if self.test is not None:
            return self.begins
        length = self._length()
        if length is None:
            return True  # while True
        if isinstance(length, Tracer):
            return False
        try:
            return length >= 1
        except UndecidedDimension:
            return False

    def _initial(self, fresh: dict[int, Carried]) -> list[Any]:
        carried = [as_result(v, a) for c in self.carried.values() for v, a in c.numbers]
        absent = [as_result(ABSENT, a) for c in fresh.values() for _, a in c.numbers]
        return [*carried, *absent]

    def _scan(
        self,
        step: Step,
        ends: list[Any],
        new: list[Any],
        fresh: dict[int, Carried],
    ) -> list[Any]:
        builder = step.builder
        unread = [Var(a) for c in fresh.values() for _, a in c.numbers]
        with appending_to(builder):
            appended = self._appended(step)
            rows = [as_result(v, _strong(leaf_aval(v))) for v in appended]
            atoms = [builder.atom(v) for v in (*ends, *new, *rows)]
        carry = [*step.numbers, *unread]
        length = self._length()
        # A loop that counts down and keeps nothing in order runs over the same numbers backwards.
        reverse = not (step.xs or appended) and any(s.step < 0 for s in self._counters()[:1])
        self._count_steps(step, reverse)
        with appending_to(builder):
            counting, eqns = self._counting(step, reverse)
        xs = [*counting, *step.xs]
        numbers = [lax.iota(INT64, (length,)) for _ in counting]
        jaxpr = Jaxpr(builder.constvars, [*carry, *xs], [*eqns, *builder.eqns], atoms)
        closed, consts = explicit_consts(ClosedJaxpr(jaxpr, tuple(builder.consts)))
        primitive = Scan(closed, length, len(carry), len(consts), reverse)
        results = bind(primitive, *consts, *self._initial(fresh), *numbers, *self._rows())
        self._make_lists(results[len(carry) :], builder)
        return results[: len(carry)]

    def _count_steps(self, step: Step, reverse: bool) -> None:
        """Say what sizes that are counters grow by."""
        for var, source in zip(step.counters, self._counters(), strict=True):
            size = step.builder.sizes.get(var)
            if size is not None:
                count_steps(str(size[0]), -source.step if reverse else source.step)

    def _counting(self, step: Step, reverse: bool) -> tuple[list[Var], list[JaxprEqn]]:
        """The number of the step, if anything counts, and the counters computed from it."""
        builder = step.builder
        sources = self._counters()
        if reverse:
            sources = [source.backwards(self._length()) for source in sources]
        # What the starts are computed by stands before the counters, and these before the body.
        mark = len(builder.eqns)
        starts = [builder.atom(as_number(source.start)) for source in sources]
        eqns = builder.eqns[mark:]
        builder.forget(mark)
        number: Var | None = None
        for var, source, start in zip(step.counters, sources, starts, strict=True):
            counts_steps = isinstance(start, Literal) and start.value == 0 and source.step == 1
            if number is None and counts_steps:
                number = var
                continue
            if number is None:
                number = Var(ShapedArray((), INT64, weak_type=True))
            eqns += induction(number, start, Literal(source.step, number.aval), var, self.source)
        return [] if number is None else [number], eqns

    def _appended(self, step: Step) -> list[Any]:
        """What a step appends to the lists that grow."""
        for growing in self.growing.values():
            growing.traits.ends_early = self._appends_unless_left(growing, step)
            if growing.traits.one_a_step and [given for given, _ in growing.places] != [True]:
                raise Unlike("it reads items of a list to which it does not append one a step")
        leaves = [leaf for growing in self.growing.values() for leaf in growing.appended_leaves()]
        if _is_of_its_step(leaves, step):
            raise Unlike("a list grows in it by arrays whose size differs from step to step")
        selections = self._selections(step.builder).values()
        return [*leaves, *[_strong_flags(flags, step.builder) for flags in selections]]

    def _selections(self, builder: Builder) -> dict[tuple[Any, ...], tuple[Any, ...]]:
        """Which of the items of a step are given, once for lists of which these are the same."""
        found = (growing.flags() for growing in self.growing.values())
        return {_key(flags, builder): flags for flags in found if flags}

    def _appends_unless_left(self, growing: Growing, step: Step) -> bool:
        """Whether the step in which an endless loop is left is the one that appends nothing."""
        if self.test is not None or self.items is not None or step.outcome is None:
            return False
        flag = _unconverted(any_of([*step.outcome.jumps.values()]), step.builder)
        for is_given, _ in growing.places:
            given = step.builder.producer(_unconverted(is_given, step.builder))
            if given is None or given.primitive != Not() or not isinstance(flag, Tracer):
                return False
            if given.invars[0] is not flag.variable:
                return False
        return bool(growing.places)

    def _make_lists(self, stacked: Sequence[Any], builder: Builder) -> None:
        """Make lists of those that grow, for what all steps appended."""
        rows = iter(stacked)
        own = {
            key: [next(rows) for _ in range(growing.number_of_leaves())]
            for key, growing in self.growing.items()
        }
        indices = {
            key: indices_of_given(next(rows), len(flags))
            for key, flags in self._selections(builder).items()
        }
        for key, growing in self.growing.items():
            selected = indices.get(_key(growing.flags(), builder))
            self.lists[key] = growing.after(own[key], selected)

    def _while(
        self,
        step: Step,
        jumps: dict[str, Any],
        counters: list[Any],
        ends: list[Any],
        new: list[Any],
        fresh: dict[int, Carried],
    ) -> tuple[list[Any], End]:
        builder = step.builder
        outer = self.outer
        flags = list(jumps)
        self._count_steps(step, False)
        unread = [Var(a) for c in fresh.values() for _, a in c.numbers]
        with appending_to(builder):
            appended = self._appended(step)
            results = list(jumps.values())
            flag_avals = [leaf_aval(flag) for flag in results]
            rows = [as_result(v, _strong(leaf_aval(v))) for v in appended]
            atoms = [builder.atom(v) for v in (*counters, *results, *ends, *new, *rows)]
        flag_vars = [Var(a, kind) for a, kind in zip(flag_avals, flags, strict=True)]
        carry = [*step.counters, *flag_vars, *step.numbers, *unread]
        jaxpr = Jaxpr(builder.constvars, carry, builder.eqns, atoms)
        closed, consts = explicit_consts(ClosedJaxpr(jaxpr, tuple(builder.consts)))
        condition, condition_consts = self._condition(carry, step, flag_vars)
        steps = fresh_dimension("steps") if self.growing else None
        primitive = While(closed, len(consts), condition, len(condition_consts), steps)
        starts = [as_number(source.start) for source in self._counters()]
        initial = [
            *starts,
            *[as_result(False, a) for a in flag_avals],
            *self._initial(fresh),
        ]
        found = bind(primitive, *condition_consts, *consts, *initial)
        assert outer is builder_in_force()
        if steps is not None:
            count, found, stacked = found[0], found[1 : len(carry) + 1], found[len(carry) + 1 :]
            self._make_lists([bind(RowsOfSteps(), count, rows) for rows in stacked], builder)
        start = len(starts)
        ended = dict(zip(flags, found[start : start + len(flags)], strict=True))
        start += len(flags)
        outcome: End = None
        if ended:
            always = self.test is None and self.items is None
            if always and len(ended) == 1:
                ended = dict.fromkeys(ended, True)
            outcome = Outcome(ended, None, always)
        return found[start:], outcome

    def _condition(
        self, carry: Sequence[Var], step: Step, flag_vars: Sequence[Var]
    ) -> tuple[ClosedJaxpr, list[Any]]:
        builder = self._builder()
        inputs = {var: Var(var.aval, var.name) for var in carry}

        def own(var: Var) -> Tracer:
            return tracer_of(builder, inputs[var])

        numbers = iter(step.numbers)
        start: dict[int, Any] = {
            key: carried.filled([own(next(numbers)) for _ in carried.numbers])
            for key, carried in self.carried.items()
        }
        start = {key: self._with_flag(key, value, start) for key, value in start.items()}
        start.update(dict.fromkeys(self.fresh, MISSING))
        start.update(self.growing)
        for growing in self.growing.values():
            growing.begin()
        with self.recording.active(), appending_to(builder):
            try:
                self._enter(start)
                entered = self.recording.read()
                flags = any_of([own(var) for var in flag_vars])
                going = negation(flags) if flag_vars else True
                live = both("and", going, lambda: self._goes_on(own, step))
                after = self.recording.read()
                if not all(is_same_tree(after[key], entered.get(key)) for key in after):
                    raise Unlike("its test assigns to a variable")
                atom = builder.atom(live)
            finally:
                self.recording.restore()
        jaxpr = Jaxpr(builder.constvars, list(inputs.values()), builder.eqns, [atom])
        closed, consts = explicit_consts(ClosedJaxpr(jaxpr, tuple(builder.consts)))
        return closed, consts

    def _goes_on(self, own: Callable[[Var], Tracer], step: Step) -> Any:
        if self.test is not None:
            return tested(self.test())
        if self.items is None:
            return True
        source = self._counters()[0]
        stop = source.stop
        if stop is None:
            stop = source.start + self.items.length * source.step
        stop = as_number(stop)
        compare = lax.lt if source.step > 0 else lax.gt
        return compare(own(step.counters[0]), stop)


def _is_of_its_step(value: Any, step: Step) -> bool:
    """Whether there is an array in a value whose size the step computes."""
    names = set(bound_in(step.builder.eqns))
    leaves = [leaf for leaf in flatten(value)[0] if isinstance(leaf, Tracer)]
    sizes = [size for leaf in leaves for size in leaf.aval.shape]
    return any(not names.isdisjoint(names_of(size)) for size in sizes)


def _strong(a: ShapedArray) -> ShapedArray:
    return ShapedArray(a.shape, a.dtype)


def _literal(number: int, like: ShapedArray) -> Any:
    return number if like.weak_type else like.dtype.type(number)


def _strong_flags(flags: Sequence[Any], builder: Builder) -> Any:
    """Truth values as NumPy's, in one array if there are several."""
    return together([_unconverted(flag, builder) for flag in flags])


def _key(flags: Sequence[Any], builder: Builder) -> tuple[Any, ...]:
    """What is the same of truth values that are."""
    plain = [_unconverted(flag, builder) for flag in flags]
    return tuple(flag.variable if isinstance(flag, Tracer) else flag for flag in plain)


def _unconverted(value: Any, builder: Builder) -> Any:
    """A truth value before it was made one of Python's."""
    eqn = builder.producer(value)
    if eqn is None or not isinstance(eqn.primitive, ConvertElementType):
        return value
    return tracer_of(builder, eqn.invars[0]) if isinstance(eqn.invars[0], Var) else value
