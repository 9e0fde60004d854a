"""Loops: run step by step while nothing traced decides, else as a loop of the jaxpr."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from s2s.errors import UserError
from s2s.frontend.control_flow.branches import follow, tested
from s2s.frontend.control_flow.iteration import Items, items_of
from s2s.frontend.control_flow.merging import Unlike
from s2s.frontend.control_flow.outcomes import End, without
from s2s.frontend.control_flow.state import Recording
from s2s.frontend.control_flow.steps import NoneAtFirst
from s2s.frontend.control_flow.traced_loops import Loop
from s2s.frontend.dispatch import iterated
from s2s.frontend.options import choices
from s2s.ir.dims import bound_names, bound_on_one_name, known_at_least, require_at_least
from s2s.numpy import twins
from s2s.numpy.registry import mistake
from s2s.trace import Builder, Tracer, builder_in_force
from s2s.tree import flatten

Block = Callable[[], End]
Body = Callable[[Any], End]

SHORT = 4
"""A loop of up to this many steps on scalars is written out, if a step has no branches."""


class Unrolled:
    """An iterable whose loop is written out step by step."""

    def __init__(self, iterable: Any) -> None:
        self.iterable = iterable

    def __iter__(self) -> Iterator[Any]:
        return iter(self.iterable)


def unroll(iterable: Any) -> Any:
    """What a `for` runs over, to be written out step by step: `for i in s2s.unroll(range(n)):`."""
    return iterable if builder_in_force() is None else Unrolled(iterable)


def for_loop(
    iterable: Any,
    body: Body,
    names: Sequence[str],
    own: Sequence[str],
    orelse: Block | None,
    rest: Block | None,
) -> End:
    """`for item in iterable: body(item)`, with its `else`, followed by `rest` unless it jumps.

    `names` are the variables that a step assigns; nothing but the steps mentions those `own`.
    """
    items = None if builder_in_force() is None else items_of(iterable)
    if items is None:
        outcome = _run(iter(iterated(iterable)), body)
    elif not isinstance(items.length, int):
        outcome = _traced(items, body, names, own)
    elif choices().unroll or not items.can_be_traced:
        outcome = _run(iter(items), body)
    else:
        outcome = _of_known_length(items, body, names, own)
    return _ended(outcome, orelse, rest)


def _ended(outcome: End, orelse: Block | None, rest: Block | None) -> End:
    """What comes after a loop: its `else` unless it was left by `break`; then the rest."""
    if outcome is not None and "break" in outcome.jumps:
        # Not to be taken for a `break` of the loop around this one.
        jumps = {("left" if k == "break" else k): flag for k, flag in outcome.jumps.items()}
        outcome = replace(outcome, jumps=jumps)
        if outcome.always:
            # What comes next is reached by the `break` only.
            outcome.assign()
    if orelse is not None:
        outcome = follow(outcome, orelse)
    return follow(without(outcome, "left"), rest)


def _run(iterator: Iterator[Any], body: Body) -> End:
    """The steps one after the other."""
    builder = builder_in_force()
    source = builder.source if builder is not None else None
    for item in iterator:
        if builder is not None:
            builder.source = source
        outcome = without(body(item), "continue")
        if outcome is not None:
            return follow(outcome, None if outcome.always else lambda: _run(iterator, body))
    if builder is not None:
        builder.source = source
    return None


def _of_known_length(items: Items, body: Body, names: Sequence[str], own: Sequence[str]) -> End:
    """Steps that trace nothing are run by Python; from the first one that does, it is a loop."""
    builder = builder_in_force()
    assert builder is not None
    source = builder.source
    for first in range(items.length):
        builder.source = source
        trial = _Trial(builder, [body, *items.functions])
        outcome = trial.run(lambda first=first: body(items.at(first)))
        if not trial.has_traced and not trial.failed:
            outcome = without(outcome, "continue")
            if outcome is not None:
                return outcome
            continue
        trial.undo()
        remaining = items.part(first) if first else items
        builder.source = source
        is_short = items.length - first <= SHORT
        if is_short and (trial.failed or (trial.is_of_scalars and not trial.has_bodies)):
            return _steps_or_loop(remaining, body, names, own)
        return _loop_or_steps(remaining, body, names, own)
    return None


def _steps_or_loop(items: Items, body: Body, names: Sequence[str], own: Sequence[str]) -> End:
    """Step by step; as a loop of the jaxpr where that cannot be, as of a list that grows until a
    `break`."""
    builder = builder_in_force()
    assert builder is not None
    source = builder.source
    whole = _Trial(builder, [body, *items.functions])
    try:
        with whole.recording.active():
            return _run(iter(items), body)
    except Exception as error:
        whole.undo()
        builder.source = source
        _let_go(error)
        try:
            return Loop(body, names, own, items).run()
        except Exception:
            raise error from None


def _let_go(error: BaseException | None) -> None:
    """Let go of what is in the frames of an error: a list that grows in a loop must be known by one
    variable and nothing else."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__context__


def _are_scalars(recording: Recording) -> bool:
    """Whether all that was assigned since are scalars."""
    for key, value in recording.read().items():
        if value is recording.before.get(key):
            continue
        for leaf in flatten(value)[0]:
            if isinstance(leaf, Tracer) and leaf.aval.shape:
                return False
            if isinstance(leaf, np.ndarray) and leaf.ndim:
                return False
    return True


def _loop_or_steps(items: Items, body: Body, names: Sequence[str], own: Sequence[str]) -> End:
    """As a loop of the jaxpr; after a first step if only that changes types; else step by step."""
    builder = builder_in_force()
    assert builder is not None
    source = builder.source
    whole = _Trial(builder, [body, *items.functions])
    # Whatever goes wrong in a loop: if it is the user's mistake, the steps will say so.
    is_none_at_first = False
    try:
        return Loop(body, names, own, items, peels=items.length > 1).run()
    except Exception as error:
        is_none_at_first = isinstance(error, NoneAtFirst)
        whole.undo()
        _let_go(error)
    builder.source = source
    if items.length > 1:
        try:
            with whole.recording.active():
                return _first_and_others(items, body, names, own)
        except Exception as error:
            whole.undo()
            _let_go(error)
    builder.source = source
    if is_none_at_first:
        return Loop(body, names, own, items).run()
    return _run(iter(items), body)


def _first_and_others(items: Items, body: Body, names: Sequence[str], own: Sequence[str]) -> End:
    """A first step, and the others as a loop of the jaxpr."""
    builder = builder_in_force()
    assert builder is not None
    source = builder.source
    if without(body(items.at(0)), "continue") is not None:
        raise Unlike("its first step leaves it")
    builder.source = source
    return Loop(body, names, own, items.part(1)).run()


def _traced(items: Items, body: Body, names: Sequence[str], own: Sequence[str]) -> End:
    """A loop whose number of steps is a size or a traced value."""
    builder = builder_in_force()
    assert builder is not None
    source = builder.source
    if not items.can_be_traced:
        return _run(iter(items), body)
    trial = _Trial(builder, [body, *items.functions])
    may_peel = _may_have_a_step(items.length)
    try:
        return Loop(body, names, own, items, peels=may_peel).run()
    except Unlike as error:
        trial.undo()
        builder.source = source
        _let_go(error)
        if not may_peel:
            raise _refusal(error, source) from None
        try:
            require_at_least(items.length, 1, f"{items.length} >= 1")
            return _first_and_others(items, body, names, own)
        except Unlike as unlike:
            if not isinstance(error, NoneAtFirst):
                raise _refusal(error, source) from None
            trial.undo()
            builder.source = source
            _let_go(unlike)
            return Loop(body, names, own, items).run()


def _may_have_a_step(length: Any) -> bool:
    """Whether it is known that a loop makes a step, or can be checked on entry."""
    if isinstance(length, Tracer):
        return False
    if known_at_least(length, 1):
        return True
    return not bound_names(length) and bound_on_one_name(length) is not None


def _refusal(error: Unlike, source: Any) -> UserError:
    return UserError(
        f"this stays a loop in the generated function, but {error}. Give what it carries from one "
        "step to the next the same type and structure in each, or give the number of steps "
        "(--static name=value, or a number in place of a named size), so that it can be written "
        "out.",
        source,
    )


def while_loop(
    test: Callable[[], Any],
    body: Block,
    names: Sequence[str],
    own: Sequence[str],
    orelse: Block | None,
    rest: Block | None,
) -> End:
    """`while test(): body()`, with its `else`, followed by `rest` unless it jumps."""
    return _ended(_while(test, body, names, own), orelse, rest)


def _while(test: Callable[[], Any], body: Block, names: Sequence[str], own: Sequence[str]) -> End:
    """Steps that trace nothing are run by Python, and a few of those that do; then it is a loop."""
    builder = builder_in_force()
    if builder is None:
        return _while_by_python(test, body)
    source = builder.source
    while True:
        start = _Trial(builder, [body, test])
        found, outcome = start.step(test, body)
        if not start.failed and not start.has_traced and not isinstance(found, Tracer):
            if not found or outcome is not None:
                return outcome
            continue
        # From here on, values are traced.
        with start.recording.active():
            few = None if start.failed else _few_steps(found, outcome, test, body)
        if few is not None:
            return few.outcome
        start.undo()
        builder.source = source
        endless = not isinstance(found, Tracer) and _is_endless(test)
        try:
            return Loop(body, names, own, None, None if endless else test, found is True).run()
        except Exception as error:
            start.undo()
            builder.source = source
            if isinstance(found, Tracer) and isinstance(error, Unlike):
                raise _refusal(error, source) from None
            if isinstance(found, Tracer) or endless:
                raise
        return _steps(test, body)


@dataclass(frozen=True)
class Ended:
    """A loop that has come to its end."""

    outcome: End


def _few_steps(found: Any, outcome: End, test: Callable[[], Any], body: Block) -> Ended | None:
    """Go on after a first step; None if there are too many, or whether they are is not known."""
    for _ in range(SHORT):
        if isinstance(found, Tracer) or (outcome is not None and not outcome.always):
            return None
        if not found or outcome is not None:
            return Ended(outcome)
        found = tested(test())
        if found is True:
            outcome = without(body(), "continue")
    return None


def _steps(test: Callable[[], Any], body: Block) -> End:
    """All steps, one after the other."""
    while True:
        found = tested(test())
        if isinstance(found, Tracer):
            raise mistake(
                "this loop has a known number of steps at first, but then whether it ends depends "
                "on the values of the arguments."
            )
        if not found:
            return None
        outcome = without(body(), "continue")
        if outcome is not None:
            return follow(outcome, lambda: _steps(test, body))


def _is_endless(test: Callable[[], Any]) -> bool:
    """Whether a test is the constant True."""
    code: Any = test.__code__  # type: ignore[attr-defined]
    names = {*code.co_names, *code.co_varnames, *code.co_cellvars}
    free = [name for name in code.co_freevars if not name.startswith("s2s.")]
    return not names and not free


def _while_by_python(test: Callable[[], Any], body: Block) -> End:
    while tested(test()):
        outcome = without(body(), "continue")
        if outcome is not None:
            return outcome
    return None


class _Trial:
    """Code that is run to see what it does, and may be undone."""

    def __init__(self, builder: Builder, functions: Sequence[Callable[..., Any]]) -> None:
        self.builder = builder
        self.mark = len(builder.eqns)
        self.known_twins = twins.known_until_now()
        self.recording = Recording(tuple(functions))
        self.failed = False
        self.is_of_scalars = False
        """Whether all that was assigned are scalars."""
        self.has_bodies = False
        """Whether there are branches or loops in it that values decide."""

    def run(self, block: Block) -> End:
        with self.recording.active():
            # What goes wrong is raised again when the code is run in earnest.
            try:
                outcome = block()
                self.is_of_scalars = _are_scalars(self.recording)
                eqns = self.builder.eqns[self.mark :]
                self.has_bodies = any(eqn.primitive.jaxprs for eqn in eqns)
            except Exception as error:
                _let_go(error)
                self.failed = True
                return None
        return outcome

    def step(self, test: Callable[[], Any], body: Block) -> tuple[Any, End]:
        """What the test gives, and how the body ends if it is true."""
        found: Any = False

        def block() -> End:
            nonlocal found
            found = tested(test())
            return without(body(), "continue") if found is True else None

        outcome = self.run(block)
        return found, outcome

    @property
    def has_traced(self) -> bool:
        return len(self.builder.eqns) > self.mark

    def undo(self) -> None:
        self.recording.restore()
        self.builder.forget(self.mark)
        twins.restore(self.known_twins)
