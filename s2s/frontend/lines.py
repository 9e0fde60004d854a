"""The line in force: which line of the user's the equations that are built now come from."""

from __future__ import annotations

import functools
import io
import tokenize
from collections.abc import Callable, Sequence
from typing import TypeAlias

from s2s.frontend.sources import Position, between
from s2s.ir.jaxpr import Source
from s2s.trace import builder_in_force

SetLine: TypeAlias = Callable[[int], None]
"""Makes the statement of this number the one in force."""


class Statement:
    """A statement in the user's file. `text` is on one line, without comments."""

    def __init__(
        self, lines: list[str], line: int, extent: tuple[Position, Position] | None
    ) -> None:
        self._lines = lines
        self.line = line
        self._extent = extent

    @functools.cached_property
    def text(self) -> str:
        if self._extent is None:
            return on_one_line(self._lines[self.line - 1])
        return on_one_line(between(self._lines, *self._extent))


def on_one_line(text: str) -> str:
    """The text of a statement, or of the head of a compound one, as one line without comments."""
    if "\n" not in text.strip() and "#" not in text:
        return text.strip()
    parts: list[str] = []
    previous: tokenize.TokenInfo | None = None
    for token in tokenize.generate_tokens(io.StringIO(f"({text})").readline):
        if token.type in (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER):
            continue
        if previous is not None and previous.end[0] == token.start[0]:
            parts.append(" " * (token.start[1] - previous.end[1]))
        elif previous is not None and previous.string not in "([{" and token.string not in ")]}":
            parts.append(" ")
        if token.string in ")]}" and previous is not None and previous.end[0] != token.start[0]:
            if parts[-1:] == [","]:
                parts.pop()
        parts.append(token.string)
        previous = token
    return "".join(parts[1:-1]).strip()


def entering(file: str, statements: Sequence[Statement]) -> Callable[[], SetLine]:
    """What a converted function calls first: it returns the function that sets its lines."""

    def enter() -> SetLine:
        builder = builder_in_force()
        caller = None if builder is None else builder.source
        made: list[Source | None] = [None] * len(statements)

        def at(number: int) -> None:
            builder = builder_in_force()
            if builder is None:
                return
            source = made[number]
            if source is None:
                statement = statements[number]
                source = made[number] = Source(
                    file, statement.line, statement.text, caller, statements[0].line
                )
            builder.source = source

        return at

    return enter
