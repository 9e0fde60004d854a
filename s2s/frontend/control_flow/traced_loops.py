"""Loops of the jaxpr: what is carried from one step to the next, and its types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from s2s.control.bodies import explicit_consts
from s2s.control.scan import Scan
from s2s.control.user_functions import fits, same_kind
from s2s.control.while_loop import While
from s2s.frontend.control_flow.branches import any_of, both, negation
from s2s.frontend.control_flow.growing import Growing, StackedList
from s2s.frontend.control_flow.iteration import Counter, Items, Rows, as_number
from s2s.frontend.control_flow.merging import (
    ABSENT,
    Unlike,
    as_result,
    is_numeric,
    is_same,
    is_same_tree,
    leaf_aval,
    shown,
)
from s2s.frontend.control_flow.outcomes import End, Outcome, without
from s2s.frontend.control_flow.state import (
    MISSING,
    Contents,
    Recording,
    may_be_shared,
    put,
    unusable,
)
from s2s.ir.dims import UndecidedDimension
from s2s.ir.dtypes import promote
from s2s.ir.jaxpr import ClosedJaxpr, Jaxpr, ShapedArray, Var
from s2s.numpy.array import TracedArray, View
from s2s.primitives import functions as lax
from s2s.trace import Builder, Tracer, appending_to, aval, bind, builder_in_force, named, tracer_of
from s2s.tree import TreeDef, flatten, unflatten


@dataclass(eq=False)
class Carried:
    """What one slot contributes to the carry: the leaves of its value that are numbers."""

    structure: TreeDef
    leaves: list[Any]
    """As they are before the loop; ABSENT where the first step does not read them."""
    avals: list[ShapedArray | None]
    """The types of the leaves; None for what stays as it is."""

    @classmethod
    def of(cls, value: Any) -> Carried:
        leaves, structure = flatten(value)
        return cls(structure, leaves, [leaf_aval(v) if is_numeric(v) else None for v in leaves])

    def filled(self, values: Sequence[Any]) -> Any:
        """The value with others in place of its numbers."""
        given = iter(values)
        return unflatten(
            self.structure,
            [
                next(given) if a is not None else v
                for v, a in zip(self.leaves, self.avals, strict=True)
            ],
        )

    @property
    def numbers(self) -> list[tuple[Any, ShapedArray]]:
        return [(v, a) for v, a in zip(self.leaves, self.avals, strict=True) if a is not None]


@dataclass(eq=False)
class Step:
    """One trace of a step."""

    builder: Builder
    outcome: End
    after: dict[int, Any]
    counters: list[Any]
    numbers: list[Var]
    """The inputs for the carried leaves."""
    xs: list[Var]
    start: dict[int, Any] = field(default_factory=dict[int, Any])


class Changed(Exception):
    """The types or structure of the carry changed: trace the step again."""


class Loop:
    """A loop in the making: `for` over items, or `while` a test holds."""

    def __init__(
        self,
        body: Callable[..., End],
        names: Sequence[str],
        items: Items | None = None,
        test: Callable[[], Any] | None = None,
    ) -> None:
        outer = builder_in_force()
        assert outer is not None
        self.outer = outer
        self.source = outer.source
        self.body = body
        self.items = items
        self.test = test
        functions = [body, *([test] if test is not None else [])]
        self.recording = Recording((*functions, *(items.functions if items is not None else ())))
        self.carried: dict[int, Carried] = {}
        self.fresh: set[int] = set()
        self.growing: dict[int, Growing] = {}
        self.sole = self.recording.sole_values(list)
        self.sole_arrays = self.recording.sole_values(TracedArray)
        for key, slot in self.recording.slots.items():
            # An array may be changed in place (`x += y`), and then the variable stays what it is.
            if slot.name in names and not _is_array(self.recording.before[key]):
                self._carry(key)

    def _carry(self, key: int) -> None:
        value = self.recording.before[key]
        if value is MISSING:
            self.fresh.add(key)
        else:
            self.carried[key] = Carried.of(value)

    # -- tracing --------------------------------------------------------------------------------

    def settled(self) -> Step:
        """Trace the step until what it carries is known, and of one type. Raises Unlike."""
        while True:
            step = self._trace()
            try:
                self._settle(step)
            except Changed:
                continue
            return step

    def _builder(self) -> Builder:
        builder = Builder(self.source)
        builder.array_names = self.outer.array_names
        return builder

    def _inputs(self, builder: Builder) -> tuple[list[Var], dict[int, Any]]:
        """Inputs for the carried leaves, and what is in the slots at the beginning of a step."""
        inputs: list[Var] = []
        start: dict[int, Any] = {}
        for key, carried in self.carried.items():
            name = self.recording.slots[key].name
            found: list[Tracer] = []
            for leaf, a in carried.numbers:
                own = leaf.variable.name if isinstance(leaf, Tracer) else None
                var = Var(a, name if len(carried.leaves) == 1 else own)
                inputs.append(var)
                found.append(tracer_of(builder, var))
                if a.shape and key not in self.sole_arrays and not self._is_contents(key):
                    may_be_shared(found[-1], name)
            start[key] = carried.filled(found)
        for key in self.fresh:
            start[key] = MISSING
        for key, growing in self.growing.items():
            start[key] = growing
        return inputs, start

    def _is_contents(self, key: int) -> bool:
        return isinstance(self.recording.slots[key], Contents)

    def _enter(self, start: dict[int, Any]) -> None:
        for key, value in start.items():
            self.recording.slots[key].write(value)

    def _trace(self) -> Step:
        builder = self._builder()
        numbers, start = self._inputs(builder)
        counters: list[Any] = []
        xs: list[Var] = []
        values: list[Any] = []
        for source in self.items.sources if self.items is not None else ():
            if isinstance(source, Counter):
                a = leaf_aval(as_number(source.start))
                var = Var(ShapedArray((), a.dtype, a.weak_type), None)
                counters.append(var)
            else:
                assert isinstance(source, Rows)
                a = leaf_aval(source.array)
                var = Var(ShapedArray(a.shape[1:], a.dtype), None)
                xs.append(var)
            values.append(tracer_of(builder, var))
        for growing in self.growing.values():
            growing.begin(builder)
        shared = [(value, value.variable) for value in values if value.variable in xs]
        shared += [(array, array.variable) for array in self._rows() if isinstance(array, Tracer)]
        with self.recording.active(), appending_to(builder):
            try:
                self._enter(start)
                item = [self.items.build(values)] if self.items is not None else []
                outcome = without(self.body(*item), "continue")
                after = self.recording.read()
                is_changed = any(array.variable is not var for array, var in shared)
            finally:
                self.recording.restore()
        if is_changed:
            # A row shares its elements with the array: what is put into one is in both.
            assert self.items is not None
            self.items = self.items.by_index()
            return self._trace()
        for var in counters:
            if var.name is not None and var.name.startswith("_"):
                var.name = "i"
        return Step(builder, outcome, after, counters, numbers, xs, start)

    def _settle(self, step: Step) -> None:
        """Raises Changed if the step must be traced again."""
        before = self.recording.before
        known = {*self.carried, *self.fresh, *self.growing}
        new = [
            key
            for key in before
            if key not in known
            and step.after.get(key, before[key]) is not before[key]
            and not self._is_unchanged(key, step)
        ]
        for key in new:
            if not self._grow(key, step):
                self._carry(key)
        if new:
            raise Changed
        changed = False
        for key, carried in list(self.carried.items()):
            changed = self._settle_one(key, carried, step) or changed
        if changed:
            raise Changed

    def _is_unchanged(self, key: int, step: Step) -> bool:
        slot = self.recording.slots[key]
        if not isinstance(slot, Contents):
            return False
        return is_same_tree(self.recording.before[key], step.after[key])

    def _grow(self, key: int, step: Step) -> bool:
        """Whether the slot is a list to which each step appends; it is from now on `growing`."""
        slot = self.recording.slots[key]
        if not isinstance(slot, Contents) or not isinstance(slot.owner, list):
            return False
        owner = cast("list[Any]", slot.owner)
        old: list[Any] = self.recording.before[key]
        new: list[Any] = step.after[key]
        if len(new) <= len(old) or not all(a is b for a, b in zip(old, new, strict=False)):
            return False
        if self.items is None or step.outcome is not None or isinstance(self._length(), Tracer):
            raise Unlike("a list grows in it, and its number of steps is not known before it runs")
        holders = [k for k, cell in self.sole.items() if cell is owner]
        if len(holders) != 1:
            raise Unlike("a list grows in it, which is used under several names")
        self.growing[holders[0]] = Growing(owner)
        del self.recording.slots[key], self.recording.before[key]
        return True

    def _settle_one(self, key: int, carried: Carried, step: Step) -> bool:
        slot = self.recording.slots[key]
        value = step.after.get(key, step.start[key])
        if value is MISSING:
            raise Unlike(f"`{slot.name}` has no value at the end of a step")
        leaves, structure = flatten(value)
        unread = not any(var in _read(step) for var in self._vars_of(key, step))
        if structure != carried.structure:
            if unread and not isinstance(slot, Contents):
                return self._drop(key)
            raise Unlike(f"{slot.name} changes its structure from one step to the next")
        changed = False
        for i, (old, a, new) in enumerate(zip(carried.leaves, carried.avals, leaves, strict=True)):
            if a is None:
                if not is_same(old, new):
                    if is_numeric(new) or not unread:
                        raise Unlike(f"{slot.name} changes from {old!r} to another kind of value")
                    return self._drop(key)
                continue
            if not is_numeric(new):
                raise Unlike(f"{slot.name} changes to {new!r}")
            end = leaf_aval(new)
            wanted = _promoted(old, a, end)
            if not fits(wanted, end):
                if unread and not isinstance(slot, Contents):
                    return self._drop(key)
                raise Unlike(
                    f"`{slot.name}` changes its type from {shown(a)} to {shown(end)} from one step "
                    "to the next"
                )
            if not same_kind(a, wanted):
                carried.avals[i] = wanted
                changed = True
        return changed

    def _drop(self, key: int) -> bool:
        """Each step gives the variable a new value before it reads it."""
        del self.carried[key]
        self.fresh.add(key)
        return True

    def _vars_of(self, key: int, step: Step) -> list[Var]:
        start = 0
        for other, carried in self.carried.items():
            size = len(carried.numbers)
            if other == key:
                return step.numbers[start : start + size]
            start += size
        return []

    # -- binding --------------------------------------------------------------------------------

    def run(self) -> End:
        """Bind the loop, and put what it gives into the slots. Raises Unlike."""
        step = self.settled()
        jumps = dict(step.outcome.jumps) if step.outcome is not None else {}
        is_scan = self.items is not None and not jumps and not isinstance(self._length(), Tracer)
        if self.items is not None and not is_scan and not self._is_by_index():
            self.items = self.items.by_index()
            step = self.settled()
            jumps = dict(step.outcome.jumps) if step.outcome is not None else {}
        if self.growing and not is_scan:
            raise Unlike("a list grows in it, and its number of steps is not known before it runs")
        fresh = {key: Carried.of(step.after[key]) for key in self.fresh if self._has(key, step)}
        for carried in fresh.values():
            if None in carried.avals:
                carried.leaves = [
                    v if a is None else ABSENT
                    for v, a in zip(carried.leaves, carried.avals, strict=True)
                ]
        with appending_to(step.builder):
            counters = [
                lax.add(tracer_of(step.builder, var), _literal(source.step, var.aval))
                for var, source in zip(step.counters, self._counters(), strict=True)
            ]
            ends = [
                as_result(v, a)
                for key, carried in self.carried.items()
                for v, a in zip(
                    self._ends(carried, step.after.get(key, step.start[key])),
                    [a for _, a in carried.numbers],
                    strict=True,
                )
            ]
            new = [
                as_result(v, a)
                for key, carried in fresh.items()
                for v, a in zip(
                    self._ends(carried, step.after[key]),
                    [a for _, a in carried.numbers],
                    strict=True,
                )
            ]
        if is_scan:
            results = self._scan(step, counters, ends, new, fresh)
            outcome = None
        else:
            results, outcome = self._while(step, jumps, counters, ends, new, fresh)
        runs = self._runs_at_least_once(jumps)
        given = iter(results)
        for group in (self.carried, fresh):
            for key, carried in group.items():
                slot = self.recording.slots[key]
                found = [next(given) for _ in carried.numbers]
                if group is fresh and not runs:
                    reason = (
                        "is assigned only in the loop, which may make no step; assign it before"
                    )
                    before = self.recording.before[key]
                    if before is not MISSING and not isinstance(slot, Contents):
                        reason = "changes its type in the loop, which may make no step"
                    unusable(slot, reason, self.source)
                    continue
                if len(found) == 1:
                    named(found[0], slot.name)
                put(slot, carried.filled(found))
                if not isinstance(slot, Contents):
                    self._mark_shared(slot.name, found, self._ends(carried, step.after[key]), step)
        for key in self.fresh - set(fresh):
            unusable(self.recording.slots[key], "is not assigned in each step", self.source)
        return outcome

    def _mark_shared(
        self, name: str, found: Sequence[Any], ends: Sequence[Any], step: Step
    ) -> None:
        """Results that may be the same array as another cannot be changed in place."""
        others = [leaf for value in step.after.values() for leaf in flatten(value)[0]]
        for result, end in zip(found, ends, strict=True):
            if not aval(result).shape or not isinstance(end, Tracer):
                continue
            holders = sum(isinstance(v, Tracer) and v.variable is end.variable for v in others)
            is_new = end.builder is step.builder and end.variable not in step.numbers
            if holders > 1 or not is_new or isinstance(end, View):
                may_be_shared(result, name)

    def _has(self, key: int, step: Step) -> bool:
        return step.after.get(key, MISSING) is not MISSING

    def _ends(self, carried: Carried, value: Any) -> list[Any]:
        leaves = flatten(value)[0]
        return [v for v, a in zip(leaves, carried.avals, strict=True) if a is not None]

    def _length(self) -> Any:
        return None if self.items is None else self.items.length

    def _counters(self) -> list[Counter]:
        sources = self.items.sources if self.items is not None else ()
        return [source for source in sources if isinstance(source, Counter)]

    def _is_by_index(self) -> bool:
        return bool(self._counters()) and not self._rows()

    def _rows(self) -> list[Any]:
        sources = self.items.sources if self.items is not None else ()
        return [source.array for source in sources if isinstance(source, Rows)]

    def _runs_at_least_once(self, jumps: dict[str, Any]) -> bool:
        if self.test is not None:
            return False
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
        counters: list[Any],
        ends: list[Any],
        new: list[Any],
        fresh: dict[int, Carried],
    ) -> list[Any]:
        builder = step.builder
        unread = [Var(a) for c in fresh.values() for _, a in c.numbers]
        appended = [growing.leaf() for growing in self.growing.values()]
        with appending_to(builder):
            rows = [as_result(v, _strong(leaf_aval(v))) for v in appended]
            atoms = [builder.atom(v) for v in (*counters, *ends, *new, *rows)]
        carry = [*step.counters, *step.numbers, *unread]
        jaxpr = Jaxpr(builder.constvars, [*carry, *step.xs], builder.eqns, atoms)
        closed, consts = explicit_consts(ClosedJaxpr(jaxpr, tuple(builder.consts)))
        primitive = Scan(closed, self._length(), len(carry), len(consts))
        starts = [as_number(source.start) for source in self._counters()]
        results = bind(primitive, *consts, *starts, *self._initial(fresh), *self._rows())
        for growing, ys in zip(self.growing.items(), results[len(carry) :], strict=True):
            key, grown = growing
            slot = self.recording.slots[key]
            named(ys, slot.name)
            slot.write(StackedList.after(grown.initial, ys))
        return results[len(counters) : len(carry)]

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
        returned = Carried.of(step.outcome.value) if "return" in jumps and step.outcome else None
        unread = [Var(a) for c in fresh.values() for _, a in c.numbers]
        with appending_to(builder):
            results = list(jumps.values())
            flag_avals = [leaf_aval(flag) for flag in results]
            value = [] if returned is None else [as_result(v, a) for v, a in returned.numbers]
            atoms = [builder.atom(v) for v in (*counters, *results, *value, *ends, *new)]
        flag_vars = [Var(a, kind) for a, kind in zip(flag_avals, flags, strict=True)]
        value_vars = [] if returned is None else [Var(a) for _, a in returned.numbers]
        carry = [*step.counters, *flag_vars, *value_vars, *step.numbers, *unread]
        jaxpr = Jaxpr(builder.constvars, carry, builder.eqns, atoms)
        closed, consts = explicit_consts(ClosedJaxpr(jaxpr, tuple(builder.consts)))
        condition, condition_consts = self._condition(carry, step, flag_vars)
        primitive = While(closed, len(consts), condition, len(condition_consts))
        starts = [as_number(source.start) for source in self._counters()]
        initial = [
            *starts,
            *[as_result(False, a) for a in flag_avals],
            *([] if returned is None else [as_result(ABSENT, a) for _, a in returned.numbers]),
            *self._initial(fresh),
        ]
        found = bind(primitive, *condition_consts, *consts, *initial)
        assert outer is builder_in_force()
        start = len(starts)
        ended = dict(zip(flags, found[start : start + len(flags)], strict=True))
        start += len(flags)
        result: Any = None
        if returned is not None:
            size = len(returned.numbers)
            result = returned.filled(found[start : start + size])
            start += size
        outcome: End = None
        if ended:
            always = self.test is None and self.items is None
            if always and len(ended) == 1:
                ended = dict.fromkeys(ended, True)
            outcome = Outcome(ended, result, always)
        return found[start:], outcome

    def _condition(
        self, carry: Sequence[Var], step: Step, flag_vars: Sequence[Var]
    ) -> tuple[ClosedJaxpr, list[Any]]:
        builder = self._builder()
        inputs = {var: Var(var.aval, var.name) for var in carry}

        def own(var: Var) -> Tracer:
            return tracer_of(builder, inputs[var])

        _, start = self._inputs(builder)
        numbers = iter(step.numbers)
        start = {
            key: carried.filled([own(next(numbers)) for _ in carried.numbers])
            for key, carried in self.carried.items()
        }
        start.update(dict.fromkeys(self.fresh, MISSING))
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
            return _truth(self.test())
        if self.items is None:
            return True
        source = self._counters()[0]
        stop = source.stop
        if stop is None:
            stop = source.start + self.items.length * source.step
        stop = as_number(stop)
        compare = lax.lt if source.step > 0 else lax.gt
        return compare(own(step.counters[0]), stop)


def _truth(value: Any) -> Any:
    from s2s.frontend.control_flow.branches import tested

    return tested(value)


def _promoted(old: Any, start: ShapedArray, end: ShapedArray) -> ShapedArray:
    """The type of a carried Python scalar that a step turns into `end`."""
    if not start.weak_type or end.shape:
        return start
    dtype, weak = promote((start.dtype, True), (end.dtype, end.weak_type))
    if start.dtype.kind == "f" and dtype.itemsize < start.dtype.itemsize:
        if isinstance(old, Tracer) or dtype.type(old) != old:
            return start
    return ShapedArray((), dtype, weak)


def _strong(a: ShapedArray) -> ShapedArray:
    return ShapedArray(a.shape, a.dtype)


def _literal(number: int, like: ShapedArray) -> Any:
    return number if like.weak_type else like.dtype.type(number)


def _read(step: Step) -> set[Any]:
    """The variables that the equations of a step read."""
    found = {atom for eqn in step.builder.eqns for atom in eqn.invars if isinstance(atom, Var)}
    ends = list(step.after.values())
    if step.outcome is not None:
        ends += [step.outcome.value, *step.outcome.jumps.values()]
    leaves = [leaf for value in ends for leaf in flatten(value)[0]]
    found.update(leaf.variable for leaf in leaves if isinstance(leaf, Tracer))
    return found


def _is_array(value: Any) -> bool:
    return isinstance(value, Tracer) and bool(value.aval.shape)
