"""Verification: a generated module against the user's own function, at random arguments."""

from __future__ import annotations

import contextlib
import io
import itertools
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s.errors import UserError
from s2s.frontend.argument_types.types import ArgumentType
from s2s.tree import flatten
from s2s.verify.arguments import candidates
from s2s.verify.differences import Undefined
from s2s.verify.findings import Disagreement, Findings
from s2s.verify.laws import Run, Values, check, users_values
from s2s.verify.mutation import check_left, copied
from s2s.verify.patience import TookTooLong, at_most

_POINTS = 2

_PATIENCE = 1.0
"""For how many seconds the user's function may run at arguments that are drawn."""

_TOO_LONG = "runs for more than a second"

_INEXACT = "has too few exact digits for differences to tell its derivative"

_ENDLESS = 4
"""After how many arguments at which it runs for longer no others are drawn."""


@dataclass(frozen=True)
class Report:
    """How a verification that found no disagreement went."""

    points: int
    """At how many arguments the functions were compared; 0 if none could be found."""
    largest_error: float
    """The largest relative error of a value or a derivative."""
    between_jumps: bool = False
    """Whether a derivative was not compared with differences, as the function takes other branches
    at every step of a difference; but forward with reverse mode."""
    problem: str = ""
    """What the user's function does at the arguments tried, if there were no points."""


class VerificationError(UserError):
    """The generated module does not compute what it is to compute: a fault of s2s."""


def verify(
    fun: Callable[..., Any],
    generated: Run,
    types: Mapping[str, ArgumentType],
    minimum: Mapping[str, int],
    example: Values | None = None,
    seconds: float = 5.0,
    changes: Sequence[str] = (),
) -> Report:
    """Compare a generated function with the user's, at random arguments of the given types.

    Args:
        fun: the function of the user's, or a transformation of it, that `generated` computes.
        generated: the generated function, of arguments by parameter.
        types: the type of each argument; named dimensions get small sizes.
        minimum: lower bounds of named dimensions.
        example: arguments to compare at if the user's function is defined at no random ones.
        seconds: after this time no further point is begun, and none goes on for longer than that.
        changes: the parameters whose arguments `generated` is to change as the user's function
            does; the others it must leave as they are.

    Raises VerificationError if they disagree.
    """
    findings = Findings(deadline=time.monotonic() + seconds)
    points, problem, endless = 0, "", 0
    with _quietly():
        drawn = candidates(types, minimum, findings.rng)
        in_time = itertools.takewhile(lambda _: endless < _ENDLESS, drawn)
        for args in _with_example(in_time, example):
            trouble = _trouble(fun, args)
            if trouble:
                endless += trouble == _TOO_LONG
                problem = problem or trouble
                continue
            before = findings.compared
            try:
                with at_most(seconds):
                    check(fun, _guarded(fun, generated, changes, findings), args, findings)
            except TookTooLong:
                problem = problem or _TOO_LONG
            except Undefined as error:  # not at the point, but near it
                problem = problem or str(error)
                continue
            except Disagreement as error:
                raise VerificationError(
                    f"Verification failed: {error}, at a random argument. Nothing was written. "
                    "This is a fault of s2s; please report it. --no-verify skips the verification."
                ) from error
            points += findings.compared > before
            if not points:
                problem = problem or _INEXACT
            if points == _POINTS or (points and not findings.has_time()):
                break
    return Report(points, findings.largest_error, findings.between_jumps, problem)


def _guarded(
    fun: Callable[..., Any], generated: Run, changes: Sequence[str], findings: Findings
) -> Run:
    """The generated function; its errors, and changes of its arguments that the user's function
    does not make or that are not wanted, are disagreements."""

    def run(args: Values) -> Any:
        before = copied(args)
        given = copied(args) if changes else args
        try:
            result = generated(given)
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
            raise Disagreement(f"the generated function raises {problem}") from error
        if changes:
            check_left(fun, given, before, changes, findings)
            return result
        for name, argument in args.items():
            pairs = zip(flatten(argument)[0], flatten(before[name])[0], strict=True)
            if not all(np.array_equal(now, then) for now, then in pairs):
                raise Disagreement(f"the generated function changes its argument {name}")
        return result

    return run


def _with_example(drawn: Iterator[Values], example: Values | None) -> Iterator[Values]:
    yield from drawn
    if example is not None:
        yield example


def _trouble(fun: Callable[..., Any], args: Values) -> str:
    """Why the user's function is not to be compared at these arguments; empty if it can be."""
    try:
        with at_most(_PATIENCE):
            value, *_ = users_values(fun, args)  # others of a batch may be NaN, but none may raise
    except TookTooLong:
        return _TOO_LONG
    except Undefined as error:
        return str(error)
    except Exception as error:  # whatever the user's function raises outside of its domain
        return f"raises {type(error).__name__}: {error}"
    leaves = [np.asarray(leaf) for leaf in flatten(value)[0]]
    finite = all(np.isfinite(leaf).all() for leaf in leaves if leaf.dtype.kind in "fc")
    return "" if finite else "is not finite"


@contextlib.contextmanager
def _quietly() -> Generator[None]:
    """Without the warnings of arithmetic, and without what the user's function prints."""
    with (
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        yield
