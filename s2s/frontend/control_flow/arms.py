"""Branches that have been traced, and one equation made of two of them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from s2s.control.bodies import explicit_consts
from s2s.control.cond import INDEX, Cond
from s2s.control.user_functions import Body, share_consts
from s2s.errors import UserError
from s2s.frontend.control_flow.facts import Fact, supposing, unconverted
from s2s.frontend.control_flow.growing import Growing, Grows, aligned
from s2s.frontend.control_flow.identity import Copies
from s2s.frontend.control_flow.leaves import ABSENT
from s2s.frontend.control_flow.merging import (
    Merged,
    Merging,
    Output,
    Unlike,
    as_result,
    joined,
    line_of,
)
from s2s.frontend.control_flow.outcomes import End, Outcome, is_jump, returns
from s2s.frontend.control_flow.perhaps_none import name_of_flag, simplified
from s2s.frontend.control_flow.raising import is_kept
from s2s.frontend.control_flow.sharing import Sharing, is_array
from s2s.frontend.control_flow.stacked import StackedList
from s2s.frontend.control_flow.state import (
    MISSING,
    Contents,
    Recording,
    Slot,
    Variable,
    as_left,
    like,
    put,
    unusable,
)
from s2s.ir.dtypes import BOOL
from s2s.ir.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Source
from s2s.numpy.array import is_changeable
from s2s.primitive import Value
from s2s.primitives import functions as lax
from s2s.trace import (
    Builder,
    Tracer,
    appending_to,
    bind,
    builder_in_force,
    inline,
    known_value,
    named,
)
from s2s.tree import LEAF

Block = Callable[[], End]


@dataclass(eq=False)
class Arm:
    """A branch that has been traced: its equations, how it ends, and what is then in each slot."""

    recording: Recording
    builder: Builder
    line: Source | None
    facts: tuple[Fact, ...] = ()
    """What is known in it."""
    outcome: End = None
    raises: bool = False
    """Whether it ends by an exception of the user's."""
    after: dict[int, Any] = field(default_factory=dict[int, Any])
    values: dict[int, Any] = field(default_factory=dict[int, Any])
    """The arrays and containers themselves that are then in each slot, to go on with."""

    @classmethod
    def traced(cls, block: Block, *functions: Callable[..., Any], test: Fact | None = None) -> Arm:
        """The branch that runs `block`, where a test holds, or not; `functions` are those whose
        variables matter."""
        outer = builder_in_force()
        assert outer is not None
        builder = Builder(outer.source)
        builder.array_names = outer.array_names
        facts = () if test is None else (test,)
        arm = cls(Recording(functions), builder, outer.source, facts)
        arm.run(block)
        return arm

    def run(self, block: Block) -> None:
        with self.recording.active(), appending_to(self.builder), supposing(self.facts):
            try:
                self.outcome = block()
                self.after, self.values = self.recording.read(), self.recording.values()
            except Exception as error:
                if not is_kept(error):
                    raise
                self.raises = True
            finally:
                self.recording.restore()

    def go_on(self, rest: Callable[[End], End]) -> None:
        """Run what comes after the branch in it, which is told how it ended, unless it jumps."""
        if is_jump(self.outcome) or self.raises:
            return
        outcome, values = self.outcome, self.values

        def resumed() -> End:
            self.recording.write(values)
            return rest(outcome)

        self.run(resumed)

    def simplified(self, value: Any) -> Any:
        """A value, not as one that is perhaps None if it is known in the branch whether it is."""
        with supposing(self.facts):
            return simplified(value)

    def changed(self) -> dict[int, Tracer]:
        """What the branch leaves in the arrays that it changes, by their identity."""
        return {
            id(slot.owner): self.after[key]
            for key, slot in self.recording.slots.items()
            if isinstance(slot, Contents) and isinstance(slot.owner, Tracer) and key in self.after
        }

    def value(self, key: int) -> Any:
        return self.after.get(key, MISSING)


@dataclass(frozen=True)
class Choice:
    """What is left of two branches."""

    outcome: End
    value: Any


def merged(test: Tracer, arms: Sequence[Arm], own: Sequence[str] = ()) -> Choice:
    """Bind the branch of two arms (true, false), and put what it gives into the slots, but for the
    variables `own`, which nothing else reads."""
    slots = {key: slot for arm in arms for key, slot in arm.recording.slots.items()}
    before = {key: value for arm in arms for key, value in arm.recording.before.items()}
    merging = Merging()
    found: dict[int, Merged] = {}
    names: dict[int, str] = {}
    contents: set[int] = set()
    assigned: dict[int, Merged] = {}
    for key, slot in slots.items():
        values = [arm.after.get(key, before[key]) for arm in arms]
        at_breaks = [_value_at_break(arm, key, before[key]) for arm in arms]
        if all(value is before[key] for value in values) and set(map(id, at_breaks)) <= _NOTHING:
            continue
        values = [arm.simplified(value) for arm, value in zip(arms, values, strict=True)]
        if isinstance(slot, Variable) and slot.name in own:
            unusable(slot, "has a value in a branch only", arms[0].line, _IN_BOTH)
            continue
        if not (isinstance(slot, Contents) and isinstance(slot.owner, Tracer)):
            values = [
                as_left(value, arm.changed(), arm.builder)
                for arm, value in zip(arms, values, strict=True)
            ]
        if isinstance(slot, Contents) and isinstance(slot.owner, Growing):
            values = aligned(values)
        start = len(merging.outputs)
        if any(value is not MISSING for value in values):
            # Nothing reads a variable behind a `return`.
            values = [
                ABSENT if value is MISSING and returns(arm.outcome) else value
                for arm, value in zip(arms, values, strict=True)
            ]
        if any(value is MISSING for value in values):
            if MISSING not in at_breaks and any(value is not ABSENT for value in at_breaks):
                with contextlib.suppress(Unlike):
                    assigned[key] = _merged_values(at_breaks, arms, merging)
                    names.update(dict.fromkeys(range(start, len(merging.outputs)), slot.name))
            missing = next(arm for arm, value in zip(arms, values, strict=True) if value is MISSING)
            side = "true" if missing is arms[0] else "false"
            unusable(slot, f"is not assigned where the condition is {side}", arms[0].line, _IN_BOTH)
            continue
        try:
            found[key] = _merged_values(values, arms, merging)
        except Unlike as error:
            if isinstance(slot, Contents):
                if isinstance(slot.owner, (list, StackedList)):
                    raise _grows(
                        cast("Any", slot.owner), values, slots.values(), arms[0].line
                    ) from None
                raise _differs(slot.name, error, arms[0].line) from None
            unusable(slot, f"depends on the branch: {error}", arms[0].line, _OF_ONE_TYPE)
            continue
        for number in range(start, len(merging.outputs)):
            if isinstance(slot, Contents) and isinstance(slot.owner, Tracer):
                contents.add(number)
            else:
                is_view = found[key].has_views
                names[number] = f"{slot.name}_index" if is_view else _name_of_results(slot)
        flag = found[key].flag
        if flag is not None and flag >= start:
            names[flag] = name_of_flag(slot.name)
    jumps = _merged_jumps(test, arms, merging)
    value = _merged_value(arms, merging)
    arrays = [
        number
        for number, row in enumerate(merging.outputs)
        if number not in contents and any(map(is_array, row))
    ]
    sharing = Sharing(test, [arm.builder for arm in arms], merging, arrays)
    results = bound(test, arms, merging.outputs, names)
    for number, row in enumerate(merging.outputs):
        if any(map(is_changeable, row)):
            results[number] = like(results[number], next(filter(is_changeable, row)))
    copies = Copies()
    for key, slot_value in found.items():
        made = slot_value.filled(results)
        for arm in arms:
            copies.add(made, arm.after.get(key, before[key]))
        put(slots[key], made)
    sharing.declare(results, names)
    jumps = {
        kind: results[flag.number] if isinstance(flag, Output) else flag
        for kind, flag in jumps.items()
    }
    given = value.filled(results) if value is not None else None
    for arm in arms:
        copies.add(given, None if arm.outcome is None else arm.outcome.value)
    always = all(is_jump(arm.outcome) for arm in arms)
    left = {key: (slots[key], merged.filled(results)) for key, merged in assigned.items()}
    return Choice(Outcome(jumps, given, always, left) if jumps else None, given)


def _name_of_results(slot: Slot) -> str:
    owner: Any = slot.owner if isinstance(slot, Contents) else None
    return f"{owner.traits.name}_item" if isinstance(owner, Growing) else slot.name


def _value_at_break(arm: Arm, key: int, before: Any) -> Any:
    """The value of a variable where the arm ends by `break`; ABSENT if it never does."""
    if arm.outcome is None or "break" not in arm.outcome.jumps:
        return ABSENT
    value = arm.after.get(key, before)
    return arm.outcome.assigned[key][1] if key in arm.outcome.assigned else value


_NOTHING = {id(ABSENT), id(MISSING)}


_IN_BOTH = "Assign it in both branches, or before"
_OF_ONE_TYPE = "Give it one type and structure in both branches"


def _differs(name: str, error: Exception, line: Source | None) -> UserError:
    return UserError(
        f"{name} depends on the branch that is taken: {error}. {_OF_ONE_TYPE}.",
        line,
    )


def _grows(
    owner: Any, values: Sequence[Any], slots: Iterable[Slot], line: Source | None
) -> UserError:
    found = (s.name for s in slots if not isinstance(s, Contents) and s.read() is owner)
    name = next(found, None)
    first, second = (
        StackedList(v["arrays"]).length if isinstance(owner, StackedList) else len(v)
        for v in values
    )
    return Grows(
        f"{'a list' if name is None else f'the list `{name}`'} has {first} items where the "
        f"condition is true and {second} where it is false, so its length depends on the values of "
        "the arguments. Append in both branches, a 0.0 where there is nothing to append, or add up "
        "in a variable what is to be added up.",
        line,
        owner,
    )


def _where(arm: Arm, leaf: Any, number: int) -> str:
    side = "where the condition is false" if number else "where the condition is true"
    line = line_of(leaf, arm.builder)
    return f"{side} ({line})" if line else side


def _merged_jumps(test: Tracer, arms: Sequence[Arm], merging: Merging) -> dict[str, Any]:
    kinds: dict[str, None] = {}
    for arm in arms:
        kinds.update(dict.fromkeys(arm.outcome.jumps if arm.outcome is not None else ()))
    found: dict[str, Any] = {}
    for kind in kinds:
        flags = tuple(
            arm.outcome.jumps.get(kind, False) if arm.outcome is not None else False for arm in arms
        )
        found[kind] = merging.merge_flags(test, flags)
    return found


def _merged_value(arms: Sequence[Arm], merging: Merging) -> Merged | None:
    """What the arms return, those that do."""
    values = [
        arm.simplified(arm.outcome.value)
        if arm.outcome is not None and arm.outcome.jumps.keys() & {"return", "value"}
        else ABSENT
        for arm in arms
    ]
    if all(value is ABSENT for value in values):
        return None
    try:
        return _merged_values(values, arms, merging)
    except Unlike as error:
        raise _differs("the result", error, arms[0].line) from None


def _merged_values(values: Sequence[Any], arms: Sequence[Arm], merging: Merging) -> Merged:
    """One value of those of the arms, whose leaves have types. Raises Unlike."""
    start = len(merging.outputs)
    try:
        merged = merging.merge(values)
        for row in merging.outputs[start:]:
            joined(row, lambda i, row=row: _where(arms[i], row[i], i))
    except Unlike:
        del merging.outputs[start:]
        raise
    return merged


def bound(
    test: Tracer, arms: Sequence[Arm], outputs: Sequence[tuple[Any, ...]], names: dict[int, str]
) -> list[Value]:
    """The results of a `cond` whose branches end with the given leaves."""
    flags = {n: row[0] for n, row in enumerate(outputs) if _is_flag(row)}
    values = {then: _as_told_by(test, then) for then in flags.values()}
    told = {n: values[then] for n, then in flags.items()}
    if told:
        others = [n for n in range(len(outputs)) if n not in told]
        own_names = {place: names[n] for place, n in enumerate(others) if n in names}
        results = bound(test, arms, [outputs[n] for n in others], own_names)
        told.update(zip(others, results, strict=True))
        return [told[n] for n in range(len(outputs))]
    if not outputs and not any(e.primitive.has_effect for arm in arms for e in arm.builder.eqns):
        return []
    wanted = [joined(row, lambda i: "") for row in outputs]
    bodies: list[Body] = []
    for number, arm in enumerate(arms):
        builder = arm.builder
        with appending_to(builder):
            leaves = [as_result(r[number], a) for r, a in zip(outputs, wanted, strict=True)]
            atoms = [builder.atom(leaf) for leaf in leaves]
        closed = ClosedJaxpr(
            Jaxpr(builder.constvars, [], builder.eqns, atoms), tuple(builder.consts)
        )
        bodies.append(Body(*explicit_consts(closed), LEAF))
    both_true = _as_truth_values(test, bodies)
    if both_true is not None:
        return both_true
    branches, consts = share_consts(bodies)
    index = lax.convert_element_type(test, INDEX)
    results = bind(Cond((branches[1], branches[0])), index, *consts)
    for number, result in enumerate(results):
        if number in names:
            named(result, names[number])
    return results


def _is_flag(row: Sequence[Any]) -> bool:
    """Whether a leaf is True in one branch and False in the other."""
    return all(type(leaf) is bool for leaf in row) and row[0] is not row[1]


def _as_told_by(test: Tracer, then: bool) -> Value:
    """A leaf that says which branch was taken: `then` in the first."""
    found = test if then else lax.bitwise_not(test)
    return lax.convert_element_type(found, BOOL, weak_type=True)


_CANNOT_FAIL = frozenset(
    {"lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not", "xor", "dim_as_value"}
)


def _as_truth_values(test: Tracer, bodies: Sequence[Body]) -> list[Value] | None:
    """`a and b` of truth values of which the second costs nothing and cannot fail."""
    first, second = (body.jaxpr.jaxpr for body in bodies)
    if len(first.outvars) != 1 or first.outvars[0].aval.dtype != BOOL:
        return None
    if not all(map(_cannot_fail, (*first.eqns, *second.eqns))):
        return None
    values = [inline(body.jaxpr, *body.consts)[0] for body in bodies]
    then, orelse = map(known_value, values)
    if then is not None and bool(then) and _is(values[1], test):
        return [test]
    if (then is not None and bool(then)) or _is(values[0], test):
        return [lax.bitwise_or(test, values[1])]
    if (orelse is not None and not bool(orelse)) or _is(values[1], test):
        return [lax.bitwise_and(test, values[0])]
    return None


def _cannot_fail(eqn: JaxprEqn) -> bool:
    if eqn.primitive.name == "convert_element_type":
        return eqn.outvars[0].aval.dtype == eqn.invars[0].aval.dtype
    return eqn.primitive.name in _CANNOT_FAIL


def _is(value: Value, test: Tracer) -> bool:
    value, test = unconverted(value), unconverted(test)
    return isinstance(value, Tracer) and value.variable is test.variable
