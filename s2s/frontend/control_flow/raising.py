"""Exceptions that the user's code raises where that depends on values: kept as statements.

    if x < 0:
        raise ValueError("negative")

Python raises them while a branch is traced, so that `try`, `with` and the functions in between do
what they always do; at the branch they become an equation, and it goes on with the other branch.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from typing import Any, cast

from s2s.errors import UserError
from s2s.frontend.control_flow.growing import Counted, Wider
from s2s.frontend.control_flow.merging import Unlike
from s2s.frontend.notes import note
from s2s.frontend.texts import statement
from s2s.ir.dims import UndecidedDimension
from s2s.ir.jaxpr import JaxprEqn, Var
from s2s.numpy.registry import mistake
from s2s.primitives.effects import EXCEPTIONS, Raise, escaped
from s2s.trace import bind, builder_in_force

_NAMES = {kind: name for name, kind in EXCEPTIONS.items()}
_RAISED = "s2s.raised"

Kinds = Callable[[], Any]
"""Gives what stands behind an `except`."""

_handlers: list[tuple[Kinds, ...]] = []
"""The handlers of each `try` of the user's whose body runs."""


OF_S2S = (UserError, UndecidedDimension, Unlike, Wider, Counted)
"""What s2s raises for what it cannot do, which is no error of the user's to handle."""


class AlwaysRaises(UserError):
    """Whatever the arguments are, an exception is raised, which is an equation already."""


def raising(error: Any) -> Any:
    """What the user's code raises."""
    if builder_in_force() is None:
        return error
    if isinstance(error, type):
        error = cast("Any", error)()
    if isinstance(error, Exception):
        vars(error)[_RAISED] = True
    return error


@contextlib.contextmanager
def trying(*handlers: Kinds) -> Generator[None]:
    """The body of a `try` with these handlers."""
    builder = builder_in_force()
    start = 0 if builder is None else len(builder.eqns)
    _handlers.append(handlers)
    try:
        yield
    finally:
        _handlers.pop()
    if builder is not None:
        for eqn in builder.eqns[start:]:
            _refuse_failing(eqn, handlers)


def _refuse_failing(eqn: JaxprEqn, handlers: tuple[Kinds, ...]) -> None:
    """Refuse what Python's numbers, or an index, may raise, if these handlers name just that: there
    is no exception while it is traced, and in the generated function no handler."""
    error, way_out = _failure(eqn)
    if error is not None and any(_names(kinds(), error) for kinds in handlers):
        raise UserError(
            f"whether this raises {error.__name__} depends on the values of the arguments, and the "
            f"`try` around it would handle that. {way_out}",
            eqn.source,
        )
    for closed in eqn.primitive.jaxprs:
        for inner in closed.jaxpr.eqns:
            _refuse_failing(inner, handlers)


def _names(kinds: Any, error: type[Exception]) -> bool:
    """Whether an `except` is for an exception, or one like it, rather than for whatever happens."""
    given = cast("tuple[Any, ...]", kinds if isinstance(kinds, tuple) else (kinds,))
    return any(issubclass(error, kind) and kind not in (Exception, BaseException) for kind in given)


def _failure(eqn: JaxprEqn) -> tuple[type[Exception] | None, str]:
    """What an equation raises for some values of numbers of Python's, and what to write instead."""
    name, result = eqn.primitive.name, eqn.outvars[0].aval if eqn.outvars else None
    if result is None or result.shape:
        return None, ""
    if name == "gather" and any(isinstance(index, Var) for index in eqn.invars[1:]):
        return IndexError, "Compare the index with the length by an `if`."
    if not result.weak_type:
        return None, ""
    if name in _QUOTIENTS:
        divisor = eqn.invars[1]
        if isinstance(divisor, Var) or not divisor.value:
            return ZeroDivisionError, "Ask by an `if` whether the divisor is zero."
    if name in _WITH_DOMAIN:
        return ValueError, f"Ask by an `if` whether {name} has a value there."
    return None, ""


_QUOTIENTS = frozenset({"div", "floor_divide", "remainder"})
_WITH_DOMAIN = frozenset(
    {"acos", "acosh", "asin", "atanh", "log", "log10", "log1p", "log2", "sqrt"}
)


def is_kept(error: Exception) -> bool:
    """Whether an exception that ends a branch is one of the user's, which is then an equation."""
    if isinstance(error, AlwaysRaises):
        return True
    refuse_handled(error)
    if _RAISED not in vars(error):
        return False
    _keep(error)
    return True


def refuse_handled(error: Exception) -> None:
    """Refuse an exception that ends a branch or a step, if a `try` around that would handle it."""
    if isinstance(error, OF_S2S):
        return
    for handlers in _handlers:
        if any(isinstance(error, kinds()) for kinds in handlers):
            raise mistake(
                f"whether this raises {type(error).__name__} depends on the values of the "
                "arguments, and the `try` around it would handle that. Put the `try` inside of "
                "the branch, or do in the branch what the handler does."
            ) from error


def _keep(error: Exception) -> None:
    kind = type(error)
    texts, operands = statement(error.args)
    if kind not in _NAMES:
        own, kind = kind.__name__, next(base for base in kind.__mro__ if base in _NAMES)
        texts = (escaped(own) + (f": {texts[0]}" if texts else ""), *texts[1:])
        note(
            f"the generated function raises {kind.__name__} in place of {own}, which it does not "
            "have"
        )
    bind(Raise(_NAMES[kind], texts), *operands)
