"""The variables and objects that blocks change: what they are before a block, and after it.

Blocks are functions that share the variables of the function around them, as cells. What they
change in place is told by the hooks (`changing`), before it changes.
"""

from __future__ import annotations

import contextlib
import operator
import sys
import weakref
from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any, Protocol, cast

import numpy as np

from s2s.frontend import leaks
from s2s.frontend.control_flow.facts import supposing
from s2s.frontend.control_flow.identity import refuse_if_known_otherwise
from s2s.frontend.conversion import HOOK
from s2s.ir.jaxpr import Source
from s2s.numpy import mutation, twins
from s2s.numpy.array import TracedArray, View, as_cell, is_changeable
from s2s.numpy.registry import mistake
from s2s.numpy.views import read
from s2s.trace import Builder, Tracer, appending_to, builders_in_force, tracer_of
from s2s.tree import flatten, unflatten


class Missing:
    """Where a variable has no value."""

    def __repr__(self) -> str:
        return "no value"


MISSING = Missing()


class Slot(Protocol):
    """Something that holds a value: a variable, or the contents of an object."""

    @property
    def name(self) -> str: ...

    def read(self) -> Any: ...

    def write(self, value: Any) -> None: ...


@dataclass(frozen=True, eq=False)
class Variable:
    """A variable of a function."""

    name: str
    cell: CellType

    def read(self) -> Any:
        try:
            return self.cell.cell_contents
        except ValueError:
            return MISSING

    def write(self, value: Any) -> None:
        if value is not MISSING:
            self.cell.cell_contents = value
        elif self.read() is not MISSING:
            del self.cell.cell_contents


@dataclass(frozen=True, eq=False)
class Contents:
    """What is in an object that can be changed in place."""

    owner: Any

    @property
    def name(self) -> str:
        if isinstance(self.owner, Tracer):
            return self.owner.variable.name or "the array"
        kind = type(cast("object", self.owner))
        return f"the {getattr(kind, 'stands_for', kind.__name__)}"

    def read(self) -> Any:
        owner = self.owner
        if isinstance(owner, Tracer):
            return tracer_of(owner.builder, owner.variable)
        if isinstance(owner, (list, dict, set)):
            items = cast("Any", owner)
            return type(items)(items) if type(items) in (list, dict, set) else _UNKNOWN
        if isinstance(owner, deque):
            return list(cast("Any", owner))
        if isinstance(owner, np.ndarray):
            return cast("Any", owner).copy()
        return dict(vars(cast("object", owner))) if hasattr(owner, "__dict__") else _UNKNOWN

    def write(self, value: Any) -> None:
        owner = self.owner
        if isinstance(owner, Tracer):
            owner.builder, owner.variable = value.builder, value.variable
        elif isinstance(owner, list):
            owner[:] = value
        elif isinstance(owner, deque):
            items = cast("deque[Any]", owner)
            items.clear()
            items.extend(value)
        elif isinstance(owner, np.ndarray):
            if isinstance(value, Tracer):
                raise mistake(
                    "this changes an array from outside of the function where it depends on the "
                    "values of the arguments. Work on a copy: x = x.copy()."
                )
            owner[...] = value
        elif isinstance(owner, (dict, set)):
            items = cast("Any", owner)
            items.clear()
            items.update(value)
        elif value is not _UNKNOWN:
            attributes = vars(cast("object", owner))
            attributes.clear()
            attributes.update(value)


@dataclass(frozen=True, eq=False)
class Entry:
    """An entry of a dict, or an attribute of an object."""

    container: Any
    key: Any

    @property
    def name(self) -> str:
        return str(self.key)

    def read(self) -> Any:
        return (_entries_of(self.container) or {}).get(self.key, MISSING)

    def write(self, value: Any) -> None:
        entries = _entries_of(self.container)
        assert entries is not None
        entries[self.key] = value

    def replaced(self, contents: Any, value: Any) -> Any:
        """Contents of the container with another value of the entry."""
        return {**contents, self.key: value}


def _entries_of(value: Any) -> dict[Any, Any] | None:
    """The entries of a dict, or the attributes of an object of the user's."""
    if type(value) is dict:
        return cast("dict[Any, Any]", value)
    kind: type[Any] = value.__class__
    is_other = isinstance(value, (type, FunctionType, MethodType, ModuleType, Tracer))
    if is_other or kind.__module__.partition(".")[0] in ("builtins", "numpy", "s2s"):
        return None
    return vars(cast("object", value)) if hasattr(value, "__dict__") else None


_UNKNOWN = Missing()
"""In place of contents that cannot be seen."""

_recordings: list[Recording] = []
_alive: weakref.WeakSet[Recording] = weakref.WeakSet()


def _held() -> Iterator[Any]:
    """What recordings and watches refer to."""
    yield from (value for recording in _alive for value in recording.held())
    yield from leaks.held()


@dataclass(eq=False)
class Recording:
    """The variables that some functions share, and what they change in place while it is active."""

    functions: tuple[Callable[..., Any], ...]
    slots: dict[int, Slot] = field(default_factory=dict[int, Slot])
    before: dict[int, Any] = field(default_factory=dict[int, Any])
    """What was in each slot when the recording began."""
    outside: tuple[Builder, ...] = ()
    """The builders of what there was before."""
    is_of_loop: bool = False
    lists: set[int] = field(default_factory=set[int])
    """Lists that a loop may take for rows of an array, by identity."""

    def __post_init__(self) -> None:
        _alive.add(self)
        for name, cell in cells_of(self.functions):
            self._add(id(cell), Variable(name, cell))

    def _add(self, key: int, slot: Slot) -> None:
        self.slots[key] = slot
        self.before[key] = slot.read()

    def changing(self, owner: Any) -> None:
        if isinstance(owner, Tracer) and owner.builder not in self.outside:
            return  # made in the meantime
        if id(owner) not in self.slots:
            self._add(id(owner), Contents(owner))

    def held(self) -> Iterator[Any]:
        """The objects that the recording itself refers to."""
        yield from self.before.values()
        for key, slot in self.slots.items():
            if isinstance(slot, Contents):
                yield slot.owner
                contents = self.before[key]
                if type(contents) is dict:
                    yield from cast("dict[Any, Any]", contents).values()
                elif type(contents) is list:
                    yield from cast("list[Any]", contents)

    def sole_values(self, *kinds: type[Any]) -> set[int]:
        """The variables with objects of some classes that nothing else knows."""
        found: set[int] = set()
        for key, slot in self.slots.items():
            if isinstance(slot, Variable) and type(self.before[key]) in kinds:
                # The variable, each recording and watch, the argument.
                known = sum(value is slot.cell.cell_contents for value in _held())
                is_alone = twins.is_alone(self.before[key])
                if sys.getrefcount(slot.cell.cell_contents) == known + 2 and is_alone:
                    found.add(key)
        return found

    def sole_entries(self) -> list[Entry]:
        """The lists that are known as an entry of one container and nothing else."""
        found: list[Entry] = []
        seen: set[int] = set()
        stack = [slot.read() for slot in self.slots.values() if isinstance(slot, Variable)]
        while stack:
            container = stack.pop()
            entries = _entries_of(container)
            if entries is None or id(container) in seen:
                continue
            seen.add(id(container))
            for key in entries:
                value = entries[key]
                if type(value) is list:
                    known = sum(owner is value for owner in _held())
                    # The container, each recording and watch, the variable here, the argument.
                    if sys.getrefcount(value) == known + 3:
                        found.append(Entry(container, key))
                stack.append(value)
        return found

    @contextlib.contextmanager
    def active(self) -> Generator[None]:
        _recordings.append(self)
        self.outside = builders_in_force()
        try:
            with mutation.recorded_changes(), supposing(()):
                yield
        finally:
            _recordings.remove(self)

    def values(self) -> dict[int, Any]:
        """What is in each slot now: the arrays and containers themselves."""
        return {key: slot.read() for key, slot in self.slots.items()}

    def read(self) -> dict[int, Any]:
        """What is in each slot now; it stays what it is when arrays are changed or restored."""
        owners = {id(s.owner) for s in self.slots.values() if isinstance(s, Contents)}
        found: dict[int, Any] = {}
        for key, slot in self.slots.items():
            value = slot.read()
            is_new = value is not self.before[key]
            found[key] = _as_it_is(value, owners) if owners and is_new else value
        return found

    def restore(self) -> None:
        """Put back what was there before; forget objects that were made in the meantime."""
        for key, slot in self.slots.items():
            if not isinstance(slot, Contents) or isinstance(slot.owner, Tracer):
                slot.write(self.before[key])
        left = {
            key: slot
            for key, slot in self.slots.items()
            if isinstance(slot, Contents) and not isinstance(slot.owner, Tracer)
        }
        while left:
            # What an object held before is reachable once the object is restored.
            known = _reachable(self.functions)
            found = [key for key in left if key in known]
            if not found:
                break
            for key in found:
                slot = left.pop(key)
                if self.before[key] is _UNKNOWN:
                    raise mistake(
                        f"this changes {slot.name} where it depends on the values of the "
                        "arguments, and s2s cannot follow such a change. Use a list or a dict."
                    )
                slot.write(self.before[key])
        for key in left:
            del self.slots[key], self.before[key]
        for key, slot in self.slots.items():
            if isinstance(slot, Entry):
                slot.write(self.before[key])

    def write(self, values: dict[int, Any]) -> None:
        for key, slot in self.slots.items():
            slot.write(values.get(key, self.before[key]))


class Snapshot(TracedArray):
    """What is now in an array that will be changed, or restored: it stays what it is."""

    __slots__ = ("array",)

    def __init__(self, array: TracedArray, elements: Tracer | None = None) -> None:
        now = array if elements is None else elements
        super().__init__(now.builder, now.variable)
        self.array = array


def _as_it_is(value: Any, owners: set[int]) -> Any:
    """A value with what is now in the arrays in it that have been changed."""
    leaves, structure = flatten(value)
    is_changed = [isinstance(v, TracedArray) and id(elements_of(v)) in owners for v in leaves]
    now = [Snapshot(v) if c else v for v, c in zip(leaves, is_changed, strict=True)]
    return value if all(map(operator.is_, now, leaves)) else unflatten(structure, now)


def as_left(value: Any, changed: Mapping[int, Tracer], builder: Builder) -> Any:
    """A value with what was left in the arrays in it by a branch that `builder` has traced;
    `changed` has the elements of those that it changed, by the identity of the array."""

    def left(leaf: Any) -> Any:
        if not isinstance(leaf, TracedArray) or isinstance(leaf, Snapshot):
            return leaf
        elements = changed.get(id(elements_of(leaf)))
        if elements is None:
            return leaf
        if isinstance(leaf, View):
            with appending_to(builder):
                elements = cast(Tracer, read(elements, leaf.steps))
        return Snapshot(leaf, elements)

    if not changed:
        return value
    leaves, structure = flatten(value)
    now = [left(leaf) for leaf in leaves]
    return value if all(map(operator.is_, now, leaves)) else unflatten(structure, now)


def array_of(leaf: Any) -> Any:
    """The array that a snapshot was taken of; anything else itself."""
    return leaf.array if isinstance(leaf, Snapshot) else leaf


def like(result: Any, leaf: Any) -> Any:
    """A result as the kind of array that a leaf was: one of no axes can be changed in place."""
    return as_cell(result) if is_changeable(leaf) else result


def changing(owner: Any) -> None:
    """An object, which is not traced or a mutable array, is about to be changed in place."""
    refuse_if_known_otherwise(owner, (v for recording in _alive for v in recording.held()))
    twins.require_known(owner)
    _record_change(owner)


def _record_change(owner: Any) -> None:
    for recording in _recordings:
        recording.changing(owner)


mutation.observers.append(_record_change)


def put(slot: Slot, value: Any) -> None:
    """Put what a branch or loop gives into a slot."""
    if isinstance(slot, Contents):
        _record_change(slot.owner)
        if isinstance(slot.owner, Tracer):
            # The arrays that it may be have been changed with it, and are put by themselves.
            cast("TracedArray", slot.owner).put_elements(value)
            return
        leaks.stored(value, slot.name)
    elif isinstance(slot, Entry):
        _record_change(slot.container)
        leaks.stored(value, f"`{slot.name}`")
    slot.write(value)


def may_be_shared(result: Any, name: str, others: Iterable[Any] = ()) -> None:
    """An array that may be one of others, or another, depending on values: none of them can be
    changed in place."""
    for other in (result, *map(elements_of, others)):
        twins.may_be_part(other, result, (), None, twins.reason(name))


def is_kept_in(made: Any, arrays: Iterable[Any]) -> None:
    """Arrays that are items of a list, which `made` stands for: it would not change with them."""
    reason = (
        "this changes an array that is also an item of a list that a loop made; that would change "
        "with it. Append a copy to the list: xs.append(x.copy())."
    )
    for array in filter(is_changeable, arrays):
        twins.may_be_part(elements_of(array), made, (), None, reason)


def elements_of(value: Any) -> Any:
    """The array that has the elements of an array: another one if it is a view, or a snapshot."""
    array = array_of(value)
    return array.owner if isinstance(array, View) else array


def is_recording() -> bool:
    """Whether code runs that may not run, or more than once, when the generated function does."""
    return bool(_recordings)


def is_inside(recording: Recording) -> bool:
    """Whether other code is recorded, of which that of a recording is a part."""
    return bool(_recordings) and _recordings[0] is not recording


def loop_that_knows(items: list[Any]) -> Recording | None:
    """The outermost loop that may take a list for rows of an array."""
    return next((known for known in _recordings if id(items) in known.lists), None)


def loop_after(array: Tracer) -> Recording | None:
    """The outermost of the loops whose steps are traced that began when there was an array."""
    return next((r for r in _recordings if r.is_of_loop and array.builder in r.outside), None)


def cells_of(functions: Iterable[Callable[..., Any]]) -> Iterator[tuple[str, CellType]]:
    """The variables that functions share, and those of the functions in them."""
    seen: set[int] = set()
    stack: list[Any] = list(functions)
    while stack:
        function = stack.pop()
        if isinstance(function, MethodType):
            function = function.__func__
        if not isinstance(function, FunctionType):
            continue
        for name, cell in zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=True
        ):
            if name.startswith(HOOK) or id(cell) in seen:
                continue
            seen.add(id(cell))
            yield name, cell
            with contextlib.suppress(ValueError):
                stack.append(cell.cell_contents)


def _reachable(functions: Iterable[Callable[..., Any]]) -> set[Hashable]:
    """The identities of what functions can reach."""
    seen: dict[int, Any] = {}
    stack: list[Any] = []
    for function in functions:
        stack += [function, *getattr(function, "__globals__", {}).values()]
    while stack:
        value = stack.pop()
        if id(value) in seen or isinstance(value, (type, str, int, float)):
            continue
        seen[id(value)] = value
        if isinstance(value, (list, tuple, set, frozenset)):
            stack.extend(value)  # type: ignore[arg-type]
        elif isinstance(value, dict):
            stack.extend(value.values())  # type: ignore[arg-type]
        elif isinstance(value, FunctionType):
            for cell in value.__closure__ or ():
                with contextlib.suppress(ValueError):
                    stack.append(cell.cell_contents)
        elif isinstance(value, MethodType):
            stack += [value.__self__, value.__func__]
        elif hasattr(value, "__dict__") and type(value).__module__ != "builtins":
            stack.extend(vars(cast("object", value)).values())
    return set(seen)


# -- variables without a value --------------------------------------------------------------------

reasons: dict[str, str] = {}
"""Why variables have no value, by their names, though Python might have given them one."""


def reason_of(error: NameError) -> str | None:
    """Why the variable that an error is about has no value, if it is because of a branch."""
    quoted = str(error).split("'")
    return reasons.get(quoted[1]) if len(quoted) > 2 else None


def unusable(slot: Slot, reason: str, line: Source | None, instead: str) -> None:
    """Leave a variable without a value; where it is used, the error gives the reason and what to
    do instead."""
    where = "" if line is None else f" (line {line.line}: `{line.text}`)"
    reasons[slot.name] = f"`{slot.name}` {reason}{where}. {instead}."
    slot.write(MISSING)
