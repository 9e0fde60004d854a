"""Arrays that may be one, depending on values: what is put into one is then in the other.

y = x if s > 0.0 else a[0]      y is x where s > 0.0, and elsewhere a part of a
y[1:] = 0.0                     x' = y' where s > 0.0, else x; a' = a where s > 0.0, else a with
                                y' in its first row
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from s2s.ir.jaxpr import Atom, Literal, Var
from s2s.numpy import mutation
from s2s.numpy.registry import mistake
from s2s.numpy.views import Steps, followed_by, read, written
from s2s.primitive import Value
from s2s.primitives import functions as lax
from s2s.primitives.logic import And, Not
from s2s.trace import Tracer, builders_in_force, tracer_of

if TYPE_CHECKING:
    from s2s.numpy.array import TracedArray

Test: TypeAlias = "Value | bool | None"
"""Where something holds; None if nobody knows."""


@dataclass(frozen=True)
class Of:
    """Something is the part of an array that steps lead to."""

    steps: Steps


@dataclass(frozen=True)
class Has:
    """Something has an array as the part that steps lead to."""

    steps: Steps


Relation: TypeAlias = "Of | Has | None"
"""What something is to an array; None if they may share elements in another way."""


@dataclass(frozen=True, eq=False)
class Twins:
    """Two arrays of which the second is a part of the first, or the first itself, where `test`."""

    array: weakref.ref[Any]
    part: weakref.ref[Any]
    steps: Steps
    test: Test
    reason: str
    """What to say where one is changed, and where they are one is not known."""


_twins: list[Twins] = []

MANY_WAYS = 100
"""In how many ways, one after the other, what is put into an array may get to others. There can be
more than anyone can wait for, as they are paths between arrays."""


def may_be_part(array: Any, part: Any, steps: Steps, test: Test, reason: str) -> None:
    """`part` is what the steps lead to from `array` where the test holds.

    Neither is a view; without steps, `part` is the newer one.
    """
    if test is None or array is part:
        _tell(array, part, (), None, reason)
        return
    if steps:
        part.keep(array)
        _tell(array, part, steps, test, reason)
        return
    # What the one from before may be, this may be too, also when that is gone.
    known = [found for found in neighbours(array) if found[0] is not part]
    _tell(array, part, steps, test, reason)
    for other, relation, where, why in known:
        if relation is None or where is None:
            _tell(part if other is array else other, part, (), None, why)
        elif isinstance(relation, Of):
            _tell(other, part, relation.steps, both(test, where), why)
        else:
            _tell(part, other, relation.steps, both(test, where), why)


def _tell(array: Any, part: Any, steps: Steps, test: Test, reason: str) -> None:
    if test is False:
        return
    for twins in [*_twins]:
        if twins.array() is array and twins.part() is part and twins.steps == steps:
            if twins.test is None:
                return
            _twins.remove(twins)
            test = either(twins.test, test)
    refs = weakref.ref(array, _forget_dead), weakref.ref(part, _forget_dead)
    _twins.append(Twins(*refs, steps, test, reason))


def _forget_dead(reference: Any) -> None:
    _twins[:] = [t for t in _twins if t.array() is not None and t.part() is not None]


def neighbours(array: Any) -> Iterator[tuple[Any, Relation, Test, str]]:
    """The arrays that may be one with an array, what it is to them, and where."""
    for twins in [*_twins]:
        first, second = twins.array(), twins.part()
        if first is not array and second is not array:
            continue
        if not (_is_in_use(first) and _is_in_use(second)):
            continue
        if twins.test is None:
            yield (second if first is array else first), None, None, twins.reason
        elif second is array:
            yield first, Of(twins.steps), twins.test, twins.reason
        else:
            yield second, Has(twins.steps), twins.test, twins.reason


def _is_in_use(array: Any) -> bool:
    """Whether an array may still be read: its trace has not ended."""
    return array is not None and (
        not isinstance(array, Tracer) or array.builder in builders_in_force()
    )


def known_until_now() -> tuple[Twins, ...]:
    """What `restore` goes back to."""
    return tuple(_twins)


def restore(known: tuple[Twins, ...]) -> None:
    """Forget what has been told since then; it is undone."""
    _twins[:] = known
    _forget_dead(None)


def joined(first: Relation, second: Relation) -> Relation:
    """What a is to c, if it is `first` to b, and b is `second` to c."""
    match first, second:
        case Of(steps), Of(more):
            return Of(followed_by(more, steps))
        case Has(steps), Has(more):
            return Has(followed_by(steps, more))
        case (Of(()), other) | (other, Of(()) | Has(())):
            return other
        case Has(()), other:
            return other
        case _:
            return None


def is_alone(array: Any) -> bool:
    """Whether there is no other array that it may be."""
    return next(neighbours(array), None) is None


def reached(array: Any) -> list[Any]:
    """The other arrays that an array may be or share elements with."""
    found = [array]
    for known in found:
        found += [o for o, *_ in neighbours(known) if not any(o is other for other in found)]
    return found[1:]


def require_known(array: Any) -> None:
    """Refuse that an array is changed which may be another one, nobody knows where; one that is not
    traced must be."""
    if _unknown(array) is not None:
        gc.collect()  # What it may be can be in a cycle that nobody refers to.
        found = _unknown(array)
        if found is not None:
            other, why = found
            if isinstance(other, np.ndarray):
                mutation.require_traced[0](cast("np.ndarray[Any, Any]", other))
            raise mistake(why)


def reason(name: str) -> str:
    """What to say where an array is changed that may be one that users know by a name."""
    what = f"`{name}`" if name.isidentifier() else "another one"
    return (
        f"this changes an array that may be {what}, depending on the values of the arguments; that "
        "would change with it. Work on a copy: x = x.copy()."
    )


def _unknown(array: Any) -> tuple[Any, str] | None:
    """An array that another may be, nobody knows where, and what to say of it."""
    for known in (array, *reached(array)):
        for other, _, test, why in neighbours(known):
            if test is None:
                return other, why
    return None


def is_one(relation: Relation) -> bool:
    """Whether two arrays are one, not a part of another."""
    return relation is not None and not relation.steps


def both(first: Test, second: Test) -> Test:
    """Where both tests hold: nowhere if one asks for the opposite of what the other asks for."""
    if first is None or second is None:
        return None
    if first is False or second is False:
        return False
    if first is True or second is True:
        return second if first is True else first
    wanted = dict(_wanted(first))
    if any(wanted.get(var, sign) is not sign for var, sign in _wanted(second)):
        return False
    return lax.bitwise_and(first, second)


def _wanted(test: Value) -> list[tuple[Var, bool]]:
    """The truth values that a test wants to be all true, or false."""
    builder = test.builder if isinstance(test, Tracer) else None
    found: list[tuple[Var, bool]] = []
    seen: set[tuple[Var, bool]] = set()
    pending: list[tuple[Atom, bool]] = [(test.variable, True)] if isinstance(test, Tracer) else []
    while pending:
        atom, sign = pending.pop()
        if isinstance(atom, Literal) or (atom, sign) in seen:
            continue
        seen.add((atom, sign))
        assert builder is not None
        eqn = builder.producer(tracer_of(builder, atom))
        if eqn is not None and isinstance(eqn.primitive, Not):
            pending.append((eqn.invars[0], not sign))
        elif eqn is not None and sign and isinstance(eqn.primitive, And):
            pending += [(operand, True) for operand in eqn.invars]
        else:
            found.append((atom, sign))
    return found


def either(first: Test, second: Test) -> Test:
    """Where one of two tests holds."""
    if first is None or second is None:
        return None
    if first is True or second is True:
        return True
    return second if first is False else lax.bitwise_or(first, second)


def follow(array: TracedArray) -> None:
    """Put what has been put into an array into those that it may be."""
    if _twins:
        for number, _ in enumerate(_follow(array, True, [array], ())):
            if number == MANY_WAYS:
                raise mistake(
                    "this changes an array that may be many others, depending on the values of the "
                    "arguments, and in too many ways to follow. Work on a copy: x = x.copy()."
                )


def leads_on(way: tuple[Relation, ...], relation: Relation) -> bool:
    """Whether a way from array to array, by what each is to the one before, may go on by one more.

    All that are one with an array are told so of each: no way needs two of these one after another.
    A part of two arrays tells nothing new of these, so none goes from an array to its part and then
    to another that has this part.
    """
    if is_one(relation):
        return not way or not is_one(way[-1])
    is_part = any(isinstance(step, Has) and step.steps for step in way)
    return not (is_part and isinstance(relation, Of))


def _follow(
    array: TracedArray, test: Test, path: list[Any], way: tuple[Relation, ...]
) -> Iterator[TracedArray]:
    """Put it into all that it may be, and what these may be; each is given when that is done."""
    for other, relation, condition, _ in neighbours(array):
        if not leads_on(way, relation) or any(other is a for a in path):
            continue
        where, now = both(test, condition), _elements(array)
        if where is False:
            continue
        steps = relation.steps if isinstance(relation, Of) else ()
        part = read(now, relation.steps) if isinstance(relation, Has) else now
        if where is not True:
            old = read(_elements(other), steps)
            part = lax.select_n(cast("Value", where), old, part)
        value = written(other, steps, part)
        other.put_elements(value)
        yield other
        yield from _follow(other, where, [*path, other], (*way, relation))


def _elements(array: TracedArray) -> Tracer:
    return tracer_of(array.builder, array.variable)
