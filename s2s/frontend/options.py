"""What whoever asks for a trace may choose about it."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Choices:
    """What is done with a user's function while it is traced."""

    keep_prints: bool = False
    """Whether the generated function prints what the user's prints."""
    keep_mutation: bool = False
    """Whether the generated function changes the arguments that the user's changes."""
    unroll: bool = False
    """Whether all loops of known length are written out step by step."""


DEFAULT = Choices()

_choices: ContextVar[Choices] = ContextVar("_choices", default=DEFAULT)


def choices() -> Choices:
    """The choices in force."""
    return _choices.get()


@contextlib.contextmanager
def choosing(new: Choices) -> Generator[None]:
    """Put choices in force for the duration of a `with` block."""
    token = _choices.set(new)
    try:
        yield
    finally:
        _choices.reset(token)
