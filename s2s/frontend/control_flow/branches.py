"""Branches: `if`, `a if c else b`, `and`, `or`, `not`, `a < b < c`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from s2s.frontend.control_flow.arms import Arm, Block, bound, merged
from s2s.frontend.control_flow.facts import known, suppose
from s2s.frontend.control_flow.growing import Growing
from s2s.frontend.control_flow.outcomes import End, Outcome, is_jump
from s2s.frontend.control_flow.perhaps_none import PerhapsNone, simplified
from s2s.frontend.control_flow.raising import AlwaysRaises, raising
from s2s.frontend.control_flow.stacked import StackedList
from s2s.frontend.dispatch import call
from s2s.frontend.users_functions import users_method
from s2s.ir.bounds import bounds
from s2s.ir.dims import Dim, bound_names
from s2s.ir.dtypes import BOOL
from s2s.numpy.array import is_changeable
from s2s.numpy.registry import mistake
from s2s.primitives import functions as lax
from s2s.primitives.creation import dim_as_value
from s2s.trace import Tracer, builder_in_force, known_value
from s2s.tree import flatten

# -- tests ----------------------------------------------------------------------------------------


def tested(value: Any) -> Any:
    """The truth of a value that Python asks for it: a bool, or a traced truth value."""
    value = simplified(as_value(value))
    if isinstance(value, PerhapsNone):
        return both("and", negation(value.is_none), lambda: tested(value.value))
    if not isinstance(value, Tracer):
        return value if value.__class__ is bool else _truth_of_object(value)
    found = value.aval
    if found.shape != ():
        raise mistake(
            f"an array of type {found} is neither true nor false. "
            "Use np.any(...) or np.all(...), or np.where(condition, a, b) to choose elementwise."
        )
    constant = known_value(value)
    if constant is not None:
        return bool(constant)
    if found.dtype == BOOL:
        return known(value)
    return lax.ne(value, lax_zero(value))


def is_counted(value: Any) -> bool:
    """Whether this is a size that depends on how many steps a loop makes."""
    return isinstance(value, Dim) and bool(bound_names(value))


def as_value(value: Any) -> Any:
    """A number, as one of the jaxpr if it is a size that nobody knows before."""
    return dim_as_value(value) if is_counted(value) else value


def not_negative(length: Any) -> Any:
    """The length of a list, of which there may be no items where a part of it begins."""
    if not is_counted(length) or (bounds(length)[0] or 0) >= 0:
        return length
    return lax.max(dim_as_value(length), 0)


def _truth_of_object(value: Any) -> Any:
    kind = value.__class__
    if kind in (Growing, StackedList):
        is_known = kind is Growing and value.least_length > 0
        return True if is_known else tested(not_negative(value.length))
    asked = users_method(kind, "__bool__")
    if asked is None and not hasattr(kind, "__bool__"):
        asked = users_method(kind, "__len__")
    return bool(value) if asked is None else tested(call(asked, value))


def lax_zero(value: Tracer) -> Any:
    return 0 if value.aval.weak_type else value.aval.dtype.type(0)


def negation(value: Any) -> Any:
    """`not value`."""
    test = tested(value)
    return lax.bitwise_not(test) if isinstance(test, Tracer) else not test


def any_of(flags: Sequence[Any]) -> Any:
    """Whether one of some flags is set, each True, False, or a traced truth value."""
    found: Any = False
    for flag in flags:
        if flag is True or found is True:
            found = True
        elif flag is not False:
            found = flag if found is False else lax.bitwise_or(found, flag)
    return found


def both(symbol: str, first: Any, *others: Callable[[], Any]) -> Any:
    """`first and ...` or `first or ...`."""
    if not others:
        return first
    second, *rest = others
    test, first = (first.test, first.value) if isinstance(first, IfTrue) else (tested(first), first)

    def following() -> Any:
        return both(symbol, second(), *rest)

    if not isinstance(test, Tracer):
        return following() if test == (symbol == "and") else first
    if symbol == "and":
        return _chosen(test, following, lambda: first)
    return _chosen(test, lambda: first, following)


@dataclass(frozen=True)
class IfTrue:
    """What an operand of `or` is where `test` holds, and else something that is not true."""

    test: Tracer
    value: Any


def where_true(first: Any, *others: Callable[[], Any]) -> Any:
    """`first and ...` before an `or`: what it is where it is not true may be of another type."""
    if not others:
        return first
    second, *rest = others
    test = tested(first)

    if not isinstance(test, Tracer):
        return where_true(second(), *rest) if test else first

    def following() -> End:
        found = where_true(second(), *rest)
        if isinstance(found, IfTrue):
            return Outcome({"value": found.test}, found.value)
        truth = tested(found)
        if truth is False:
            return None
        if _is_of_before(found):
            outside.append(found)
            found = None
        return Outcome({"value": truth}, found)

    outside: list[Any] = []
    arms = [Arm.traced(following, second, *rest, test=(test, True)), Arm.traced(_nothing)]
    if arms[0].raises:
        _raised(test, arms)
        return False
    outcome = merged(test, arms).outcome
    if outcome is None:
        return False
    return IfTrue(outcome.jumps["value"], outside[0] if outside else outcome.value)


def _is_of_before(value: Any) -> bool:
    """Whether nothing in a value is made in the branch in which this is asked."""
    own = builder_in_force()
    tracers = [leaf for leaf in flatten(value)[0] if isinstance(leaf, Tracer)]
    return not any(tracer.builder is own or is_changeable(tracer) for tracer in tracers)


def choose(
    value: Any,
    body: Callable[[], Any],
    orelse: Callable[[], Any],
    *functions: Callable[..., Any],
) -> Any:
    """`body if value else orelse`, which may call the functions."""
    test = tested(value)
    if not isinstance(test, Tracer):
        return body() if test else orelse()
    return _chosen(test, body, orelse, functions)


def _chosen(
    test: Tracer,
    body: Callable[[], Any],
    orelse: Callable[[], Any],
    functions: Sequence[Callable[..., Any]] = (),
) -> Any:
    """One of two values. Of two truth values, of which the second costs nothing and cannot fail,
    both are computed."""
    arms = [
        Arm.traced(lambda f=f: Outcome({"value": True}, f()), f, *functions, test=(test, holds))
        for f, holds in ((body, True), (orelse, False))
    ]
    if any(arm.raises for arm in arms):
        _raised(test, arms)
        return orelse() if arms[0].raises else body()
    return merged(test, arms).value


# -- blocks ---------------------------------------------------------------------------------------


def branch(
    value: Any,
    then: Block,
    orelse: Block | None,
    rest: Block | None,
    own: Sequence[str] = (),
) -> End:
    """`if value: then() else: orelse()`, followed by `rest()` unless that jumps. Nothing but the
    blocks mentions the variables `own`."""
    return _branch(tested(value), then, orelse or _nothing, rest, own)


def _branch(
    test: Any, then: Block, orelse: Block, rest: Block | None, own: Sequence[str] = ()
) -> End:
    if not isinstance(test, Tracer):
        return follow(then() if test else orelse(), rest)
    after = rest
    functions = (then, orelse, *([rest] if rest is not None else []))
    first = Arm.traced(then, *functions, test=(test, True))
    if first.raises and orelse is _nothing:
        _raised(test, [first, None])
        return follow(None, rest)
    arms = [first, Arm.traced(orelse, *functions, test=(test, False))]
    if rest is not None and any(is_jump(arm.outcome) for arm in arms):
        for arm in arms:
            arm.go_on(lambda outcome: follow(outcome, after))
        rest = None
    if any(arm.raises for arm in arms):
        _raised(test, arms)
        return follow(orelse() if first.raises else then(), after)
    return follow(merged(test, arms, own).outcome, rest)


def follow(outcome: End, rest: Block | None) -> End:
    """What comes after a block that ended in this way."""
    if outcome is None:
        return None if rest is None else rest()
    if outcome.always or rest is None:
        return outcome
    jumps = outcome.jumps if len(outcome.jumps) > 1 else dict.fromkeys(outcome.jumps, True)

    def jumped() -> End:
        outcome.assign()
        return Outcome(jumps, outcome.value)

    return _branch(any_of([*outcome.jumps.values()]), jumped, rest, None)


def _nothing() -> End:
    return None


def check(value: Any, message: Callable[[], Any] | None = None) -> None:
    """`assert value, message()`."""

    def failed() -> End:
        raise raising(AssertionError() if message is None else AssertionError(message()))

    _branch(tested(value), _nothing, failed, None)


def refuse_none(is_none: Any, what: str) -> None:
    """Something is used that is None where this holds, where what it is used for would fail."""

    def failed() -> End:
        raise raising(TypeError(f"{what} is None here, and no number or array"))

    _branch(tested(is_none), failed, _nothing, None)


def _raised(test: Tracer, arms: Sequence[Arm | None]) -> None:
    """Bind what is raised in some of two arms (true, false). Raises AlwaysRaises if in both."""
    given = [arm if arm is not None and arm.raises else Arm.traced(_nothing) for arm in arms]
    bound(test, given, [], {})
    for arm, other in zip(arms, (False, True), strict=True):
        if arm is not None and arm.raises:
            suppose(test, other)
    if all(arm is not None and arm.raises for arm in arms):
        raise AlwaysRaises("this raises an exception, whatever the arguments are.")
