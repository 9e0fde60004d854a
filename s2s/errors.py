"""The error that users meet: one paragraph that says where, what is wrong, and what to do."""

from __future__ import annotations

from s2s.ir.jaxpr import Source


class UserError(Exception):
    """A mistake in the user's code or command, or something that s2s does not support.

    `message` says what is wrong in the user's words and what to do about it, in whole sentences.
    `source` is the line that it is about. Shown as

        model.py:12: `w[0] = x`: s2s cannot ... Write ... instead.
    """

    def __init__(self, message: str, source: Source | None = None) -> None:
        self.message = message
        self.source = source
        super().__init__(message)

    def __str__(self) -> str:
        if self.source is None:
            return self.message
        return f"{self.source.file}:{self.source.line}: `{self.source.text}`: {self.message}"


class KeptOutside(UserError):
    """The function has left something in an object that outlives the call, which another attempt to
    trace it would find there."""
