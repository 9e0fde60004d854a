"""Steps of loops of the jaxpr: what is carried from one to the next, and its types."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from s2s.control.user_functions import fits, same_kind
from s2s.frontend import leaks
from s2s.frontend.control_flow.aliases import Aliases
from s2s.frontend.control_flow.at_values import AtValue, in_array
from s2s.frontend.control_flow.carried import Carried, Step
from s2s.frontend.control_flow.growing import Counted, Growing, Grows, Latest, Number, Wider
from s2s.frontend.control_flow.identity import Copies, containers_in
from s2s.frontend.control_flow.iteration import Counter, Items, Rows, as_number
from s2s.frontend.control_flow.leaves import ABSENT, is_numeric
from s2s.frontend.control_flow.merging import (
    Unlike,
    described,
    is_same,
    is_same_tree,
    leaf_aval,
    shown,
)
from s2s.frontend.control_flow.outcomes import End, without
from s2s.frontend.control_flow.perhaps_none import PerhapsNone, name_of_flag
from s2s.frontend.control_flow.raising import refuse_handled
from s2s.frontend.control_flow.relations import Where
from s2s.frontend.control_flow.sharing import base_of, tell
from s2s.frontend.control_flow.stacked import StackedList, Widens
from s2s.frontend.control_flow.state import (
    MISSING,
    Contents,
    Entry,
    Recording,
    Slot,
    changing,
    elements_of,
    is_inside,
    like,
)
from s2s.ir.dtypes import FLOAT64, promote
from s2s.ir.jaxpr import ShapedArray, Var
from s2s.numpy.array import TracedArray, View, is_changeable
from s2s.numpy.twins import reached
from s2s.trace import Builder, Tracer, appending_to, builder_in_force, tracer_of
from s2s.tree import flatten


class Changed(Exception):
    """The types or structure of the carry changed: trace the step again."""


class NoneAtFirst(Unlike):
    """What is None at first is never None after a step: the first step stands before the loop."""


class Steps:
    """The steps of a loop in the making: `for` over items, or `while` a test holds."""

    def __init__(
        self,
        body: Callable[..., End],
        names: Sequence[str],
        own: Sequence[str] = (),
        items: Items | None = None,
        test: Callable[[], Any] | None = None,
        begins: bool = False,
        peels: bool = False,
    ) -> None:
        outer = builder_in_force()
        assert outer is not None
        self.outer = outer
        self.source = outer.source
        self.body = body
        self.own = own
        """The variables that only the steps mention."""
        self.items: Items | None = items
        self.test = test
        self.begins = begins
        """Whether the test is known to hold at first."""
        self.peels = peels
        """Whether the first step may stand before the loop."""
        functions = [body, *([test] if test is not None else [])]
        self.same_flags: dict[int, int] = {}
        """For slots that are perhaps None, the first that is in the same steps."""
        self.uncounted: Items | None = None
        """The items, if the last counter is not one of theirs, but counts the steps."""
        self.recording = Recording((*functions, *(items.functions if items is not None else ())))
        self.carried: dict[int, Carried] = {}
        self.fresh: set[int] = set()
        self.growing: dict[int, Growing] = {}
        self.lists: dict[int, Any] = {}
        """What becomes of the lists that grow."""
        self.latest: dict[int, Latest] = {}
        self.dropped: dict[str, str] = {}
        """Variables that each step seems to assign before it reads them, and why it must."""
        self.sole = self.recording.sole_values(list, StackedList)
        self.entries = self.recording.sole_entries()
        self.given_back: dict[int, tuple[list[Any], StackedList]] = {}
        """Lists that are rows of an array in the steps, by what holds them."""
        self.recording.is_of_loop = True
        self.recording.lists = {id(holder.read()) for holder in self._holders()}
        self.sole_arrays = self.recording.sole_values(TracedArray)
        self.aliases = Aliases(self.recording, self.carried, self.growing, self.sole_arrays)
        for key, slot in self.recording.slots.items():
            # An array may be changed in place (`x += y`), and then the variable stays what it is.
            if slot.name in names and not is_changeable(self.recording.before[key]):
                self._carry(key)

    def _carry(self, key: int) -> None:
        value = self.recording.before[key]
        if value is MISSING:
            self.fresh.add(key)
        else:
            stay = not isinstance(value, Tracer)
            self.carried[key] = Carried.of(value, arrays_stay=stay, containers_stay=stay)

    # -- tracing --------------------------------------------------------------------------------

    def settled(self) -> Step:
        """Trace the step until what it carries is known, and of one type. Raises Unlike."""
        while True:
            try:
                return self._require_unchanged(self._settle(self._trace()))
            except Changed:
                continue
            except NameError as error:
                if error.name in self.dropped:
                    raise Unlike(self.dropped[error.name]) from None
                if error.name in {self.recording.slots[key].name for key in self.fresh}:
                    raise Unlike(f"`{error.name}` has no value in its first step") from None
                raise
            except (Wider, Counted) as unmet:
                self.carry_more(unmet)
                continue
            except AtValue as found:
                if found.recording is not self.recording:
                    raise
                self._hold_in_array(found.owner_id)
            except Widens as found:
                if found.recording is not self.recording:
                    raise
                self._forget(id(found.owner))
                changing(found.owner)
                found.owner.arrays = [found.owner.arrays[0].astype(FLOAT64)]
            except Grows as grows:
                known = [self.recording.before[key] for key in self.sole]
                known += [entry.read() for entry in self.entries]
                owner = next((found for found in known if id(found) == grows.owner_id), None)
                del known
                if owner is None:
                    raise
                self._begin_to_grow(owner)

    def has_none_at_first(self, step: Step) -> bool:
        """Whether something is None in the first step only."""
        return any(
            isinstance(carried.form, PerhapsNone)
            and carried.form.is_none is True
            and carried.numbers_in(step.after.get(key, step.start[key]))[0] is False
            for key, carried in self.carried.items()
        )

    def _require_unchanged(self, step: Step) -> Step:
        """The step. Raises Unlike if an object that is appended to a list is changed in place by
        other steps: as one that there was before the step, or as what a variable is at its end."""
        changed = step.changed
        again = [
            step.after[key]
            for key, value in step.start.items()
            if key in step.after and any(id(c) in changed for c in containers_in(value))
        ]
        kept = changed | {id(c) for value in again for c in containers_in(value)}
        for growing in self.growing.values():
            for _, item in growing.places:
                if any(id(container) in kept for container in containers_in(item)):
                    raise Unlike(
                        "a list grows in it by an object that it changes in place, so all of its "
                        "items are one object: append a copy"
                    )
        return step

    def _builder(self) -> Builder:
        builder = Builder(self.source)
        builder.array_names = self.outer.array_names
        return builder

    def _inputs(self, builder: Builder) -> tuple[list[Var], dict[int, Any]]:
        """Inputs for the carried leaves, and what is in the slots at the beginning of a step."""
        self.aliases.find()
        inputs: list[Var] = []
        copies = Copies()
        start: dict[int, Any] = {}
        for key, carried in self.carried.items():
            name = self.recording.slots[key].name
            name = f"{name}_index" if carried.views else name
            found: list[Tracer] = []
            names = (name_of_flag(name), name) if isinstance(carried.form, PerhapsNone) else ()
            for number, (leaf, a) in enumerate(carried.numbers):
                own = leaf.variable.name if isinstance(leaf, Tracer) else None
                is_alone = len(carried.leaves) == 1 and not self.aliases.is_array(key)
                own = name if is_alone else own
                var = Var(a, names[number] if number < len(names) else own)
                inputs.append(var)
                found.append(like(tracer_of(builder, var), leaf))
            start[key] = self._with_flag(key, carried.filled(found), start)
            copies.add(start[key], self.recording.before[key])
        for key in self.fresh:
            start[key] = MISSING
        for key, growing in self.growing.items():
            start[key] = growing
        return inputs, start

    def _with_flag(self, key: int, value: Any, others: dict[int, Any]) -> Any:
        """A value that is perhaps None as one that is where the first of those is that are so in
        the same steps."""
        form = self.carried[key].form if key in self.carried else None
        if not isinstance(form, PerhapsNone) or form.is_none is not True:
            return value
        first = self.same_flags.setdefault(key, next(iter(self.same_flags.values()), key))
        same = others.get(first)
        return replace(value, is_none=same.is_none) if isinstance(same, PerhapsNone) else value

    def _tell_flags_apart(self, step: Step) -> bool:
        """Tell those apart of which one is None at the end of the step and another not: whether
        there are such."""
        firsts: dict[tuple[int, Any], int] = {}
        found: dict[int, int] = {}
        for key, first in self.same_flags.items():
            if key not in self.carried:
                continue
            flag = self.carried[key].numbers_in(step.after.get(key, step.start[key]))[0]
            end = flag.variable if isinstance(flag, Tracer) else flag
            found[key] = firsts.setdefault((first, end), key)
        is_new = any(self.same_flags[key] != first for key, first in found.items())
        self.same_flags.update(found)
        return is_new

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
                builder.ranges[var] = functools.partial(source.limits, self._length())
            else:
                assert isinstance(source, Rows)
                a = leaf_aval(source.array)
                var = Var(ShapedArray(a.shape[1:], a.dtype), None)
                xs.append(var)
            values.append(tracer_of(builder, var))
        for growing in self.growing.values():
            growing.begin()
            growing.traits.counter = self._counter_of_steps(builder, counters)
        rows = [value for value in values if value.variable in xs]
        shared = [(value, value.variable) for value in rows]
        shared += [(array, array.variable) for array in self._rows() if isinstance(array, Tracer)]
        with self.recording.active(), appending_to(builder):
            try:
                self._enter(start)
                arrays = self.aliases.places(start, self.carried)
                self.aliases.declare(arrays)
                earlier = {key: growing.earlier for key, growing in self.growing.items()}
                self.aliases.declare_kept(arrays, earlier)
                item = [self.items.build(values)] if self.items is not None else []
                outcome = without(self.body(*item), "continue")
                after = self.recording.read()
                changed = self._changed_objects(start)
                places = {key: growing.places for key, growing in self.growing.items()}
                is_changed = any(array.variable is not var for array, var in shared)
            except Exception as error:
                refuse_handled(error)
                raise
            finally:
                self.recording.restore()
        if is_changed:
            # A row shares its elements with the array: what is put into one is in both.
            self.go_by_index()
            return self._trace()
        if self.uncounted is None and self._is_row_left(rows, after):
            # Which row it is may be asked for.
            self.uncounted = self.items
            self.items = self.items.counted() if self.items is not None else None
            return self._trace()
        for row, array in zip(rows, self._rows(), strict=True):
            relation, where = None, Where(None)
            if self.uncounted is not None and is_changeable(array):
                with appending_to(builder):
                    row_now = array[tracer_of(builder, counters[-1])]
                relation, where = base_of(row_now)[1], Where(True)
            tell(row, elements_of(array), relation, where, "a row")
        for key, growing in self.growing.items():
            growing.places = places[key]
        for var in counters:
            if var.name is not None and var.name.startswith("_"):
                var.name = "i"
        return Step(builder, outcome, after, counters, numbers, xs, start, changed, rows)

    def go_by_index(self) -> None:
        """Take rows by an index, not one after the other."""
        items = self.uncounted or self.items
        assert items is not None
        self.items, self.uncounted = items.by_index(), None

    def _is_row_left(self, rows: Sequence[Any], after: dict[int, Any]) -> bool:
        """Whether a row that is an array, or what may be one, is left at the end of a step."""
        arrays = [row for row, a in zip(rows, self._rows(), strict=True) if is_changeable(a)]
        known = {id(o) for row in filter(is_changeable, arrays) for o in (row, *reached(row))}
        items = [item for growing in self.growing.values() for _, item in growing.places]
        leaves = [leaf for value in (*after.values(), *items) for leaf in flatten(value)[0]]
        return any(id(elements_of(leaf)) in known for leaf in leaves)

    def _changed_objects(self, start: dict[int, Any]) -> set[int]:
        """Which of the containers from before the step it has changed in place, by identity."""
        before = [*start.values(), *self.recording.before.values()]
        known = {id(container) for value in before for container in containers_in(value)}
        slots = self.recording.slots.values()
        return {id(s.owner) for s in slots if isinstance(s, Contents)} & known

    def _counter_of_steps(
        self, builder: Builder, counters: Sequence[Var]
    ) -> tuple[Tracer, int] | None:
        """What counts the steps one by one from a known number on, and that number."""
        sources = [s for s in self.items.sources if isinstance(s, Counter)] if self.items else []
        for var, source in zip(counters, sources, strict=True):
            if source.step == 1 and type(source.start) is int:
                return tracer_of(builder, var), source.start
        return None

    def _settle(self, step: Step) -> Step:
        """The step, unless it must be traced again: raises Changed."""
        before = self.recording.before
        known = {*self.carried, *self.fresh, *self.growing, *map(id, self.growing.values())}
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
                self.carried[key].find_views(step.after[key])
        if new:
            raise Changed
        changed = False
        for key, carried in list(self.carried.items()):
            if key in self.carried:
                changed = self._settle_one(key, carried, step) or changed
        if changed or self._tell_flags_apart(step):
            raise Changed
        if self.aliases.settle(step):
            raise Changed
        return step

    def _is_unchanged(self, key: int, step: Step) -> bool:
        slot = self.recording.slots[key]
        if not isinstance(slot, Contents):
            return False
        return is_same_tree(self.recording.before[key], step.after[key])

    def _grow(self, key: int, step: Step) -> bool:
        """Whether the slot is a list to which each step appends; it is from now on `growing`."""
        slot = self.recording.slots[key]
        if not isinstance(slot, Contents):
            return False
        owner: Any = slot.owner
        if isinstance(owner, list):
            old: list[Any] = self.recording.before[key]
            new: list[Any] = step.after[key]
            if len(new) <= len(old) or not all(a is b for a, b in zip(old, new, strict=False)):
                return False
        elif not isinstance(owner, StackedList):
            return False
        self._begin_to_grow(owner)
        return True

    def _holders(self) -> Iterator[Slot]:
        """What lists are known by that nothing else knows."""
        yield from (self.recording.slots[key] for key in self.sole)
        yield from self.entries

    def _hold_in_array(self, owner_id: int) -> None:
        """Let a list be rows of an array in the steps."""
        self.recording.lists.discard(owner_id)
        holder = next(slot for slot in self._holders() if id(slot.read()) == owner_id)
        items = holder.read()
        try:
            rows = in_array(items)
        except Unlike:
            return
        rows.named(holder.name)
        self._forget(owner_id)
        if isinstance(holder, Entry):
            self._forget(id(holder.container))
            changing(holder.container)
        leaks.stored(rows, f"`{holder.name}`")
        holder.write(rows)
        for key, slot in self.recording.slots.items():
            if slot is holder:
                self.recording.before[key] = rows
                self.carried.pop(key, None)
        self.given_back[id(holder)] = items, rows

    def _forget(self, owner_id: int) -> None:
        """Forget that a container has been changed by a step, which is traced again."""
        for known in (self.recording.slots, self.recording.before, self.carried):
            known.pop(owner_id, None)

    def give_back(self) -> None:
        """Put the items of lists that were rows of an array back into them, where code around the
        loop has them as lists."""
        if not is_inside(self.recording):
            return
        for holder in self._holders():
            if id(holder) not in self.given_back:
                continue
            items, rows = self.given_back[id(holder)]
            if holder.read() is rows:
                changing(items)
                items[:] = [*rows]
                holder.write(items)

    def _begin_to_grow(self, owner: Any) -> None:
        """Let a list be one that grows. Raises Unlike if it is known by several names."""
        holders = [key for key in self.sole if self.recording.before[key] is owner]
        for entry in self.entries:
            if entry.read() is owner:
                holders.append(id(entry))
                self.recording.slots[id(entry)] = entry
                self.recording.before[id(entry)] = owner
        if len(holders) != 1:
            raise Unlike("a list grows in it, which is used under several names")
        slot = self.recording.slots[holders[0]]
        initial = owner.copy()
        growing = self.growing[holders[0]] = Growing(initial, slot.name)
        self.carried.pop(holders[0], None)
        self.recording.slots.pop(id(owner), None)
        self.recording.before.pop(id(owner), None)
        if isinstance(slot, Entry) and id(slot.container) in self.recording.slots:
            key = id(slot.container)
            self.recording.before[key] = slot.replaced(self.recording.before[key], growing)
            if key in self.carried:
                self._carry(key)

    def carry_more(self, unmet: Wider | Counted) -> None:
        """Carry more of the last items of a list that grows, or their number. Raises it again for
        another loop's."""
        growing = unmet.growing
        holder = next((key for key, own in self.growing.items() if own is growing), None)
        if holder is None:
            raise unmet
        name = self.recording.slots[holder].name
        if isinstance(unmet, Counted):
            slot, before = Number(growing, f"{name}_count"), growing.initial_length
        else:
            slot = self.latest.setdefault(holder, Latest(growing, f"{name}_last"))
            slot.width += unmet.more
            before = growing.last_initial(slot.width)
        self.recording.slots[id(slot)] = slot
        self.recording.before[id(slot)] = before
        self._carry(id(slot))

    def _settle_one(self, key: int, carried: Carried, step: Step) -> bool:
        slot = self.recording.slots[key]
        value = step.after.get(key, step.start[key])
        if value is MISSING:
            raise Unlike(f"`{slot.name}` has no value at the end of a step")
        leaves, structure = carried.flatten(value)
        if carried.kept and (
            structure != carried.structure
            or any(
                id(v) in carried.kept and v is not w
                for v, w in zip(carried.leaves, leaves, strict=True)
            )
        ):
            # A step puts another container in the place of one.
            self.carried[key] = Carried.of(self.recording.before[key], arrays_stay=True)
            self.aliases.forget(key)
            return True
        name = slot.name
        if structure != carried.structure:
            before = self.recording.before[key] if carried.form is None else carried.form
            perhaps = Carried.perhaps_none(before, value)
            if perhaps is not None:
                self.carried[key] = perhaps
                self.aliases.forget(key)
                return True
            return self._drop(key, step, f"{name} changes its structure from one step to the next")
        changed = False
        for i, (old, a, new) in enumerate(zip(carried.leaves, carried.avals, leaves, strict=True)):
            if i in carried.views:
                if carried.views[i].indices(new) is None:
                    del carried.views[i]
                    carried.no_views.add(i)
                    carried.avals[i] = leaf_aval(old)
                    changed = True
                continue
            if carried.find_view(i, old, new):
                self.aliases.forget(key)
                changed = True
                continue
            if a is None:
                if is_same(old, new):
                    continue
                if not is_changeable(old) or not is_numeric(new):
                    why = f"{name} changes from {described(old)} to {described(new)}"
                    return self._drop(key, step, why, not is_numeric(new))
                carried.avals[i] = leaf_aval(old)
                changed = True
                continue
            if not is_numeric(new):
                raise Unlike(f"{name} changes to {described(new)}")
            if new is ABSENT:
                continue
            end = leaf_aval(new)
            wanted = _promoted(old, a, end)
            if not fits(wanted, end):
                types = f"from {shown(a)} to {shown(end)}"
                why = f"`{name}` changes its type {types} from one step to the next"
                return self._drop(key, step, why)
            if not same_kind(a, wanted):
                carried.avals[i] = wanted
                changed = True
        return changed

    def _drop(self, key: int, step: Step, why: str, is_new: bool = True) -> bool:
        """Each step gives the variable a new value before it reads it. Raises Unlike for what does
        not."""
        slot = self.recording.slots[key]
        is_read = not is_new or isinstance(slot, Contents)
        if is_read or not _read(step).isdisjoint(self._vars_of(key, step)):
            raise Unlike(why)
        self.dropped[slot.name] = why
        self.aliases.forget(key)
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

    def _length(self) -> Any:
        return None if self.items is None else self.items.length

    def _rows(self) -> list[Any]:
        sources = self.items.sources if self.items is not None else ()
        return [source.array for source in sources if isinstance(source, Rows)]


def _promoted(old: Any, start: ShapedArray, end: ShapedArray) -> ShapedArray:
    """The type of a carried Python scalar that a step turns into `end`."""
    if not start.weak_type or end.shape:
        return start
    dtype, weak = promote((start.dtype, True), (end.dtype, end.weak_type))
    if start.dtype.kind == "f" and dtype.itemsize < start.dtype.itemsize:
        if isinstance(old, Tracer) or dtype.type(old) != old:
            return start
    return ShapedArray((), dtype, weak)


def _read(step: Step) -> set[Any]:
    """The variables that the equations of a step read."""
    found = {atom for eqn in step.builder.eqns for atom in eqn.invars if isinstance(atom, Var)}
    ends = list(step.after.values())
    if step.outcome is not None:
        ends += [step.outcome.value, *step.outcome.jumps.values()]
    leaves = [leaf for value in ends for leaf in flatten(value)[0]]
    for leaf in leaves:
        if isinstance(leaf, View):
            found.add(leaf.owner.variable)
            indices = [index for part in leaf.steps for index in part.indices]
            found.update(index for index in indices if isinstance(index, Var))
        elif isinstance(leaf, Tracer):
            found.add(leaf.variable)
    return found
