"""The pieces of a jaxpr's text."""

from __future__ import annotations

import re
from typing import NamedTuple

from s2s.ir.spelling import WORD

_PART = r"(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|inf|nan)"
_TOKEN = re.compile(
    rf"""
    (?P<space>\s+)
  | (?P<complex>\([-+]?{_PART}[-+]{_PART}j\))
  | (?P<number>\d+(?:\.\d+)?(?:e[-+]?\d+)?j?)
  | (?P<string>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")
  | (?P<word>{WORD})
  | (?P<mark>[][(){{}},;:.=+*^-])
    """,
    re.VERBOSE,
)


class JaxprSyntaxError(ValueError):
    """A text that is no jaxpr. `line` and `column` count from 1."""

    def __init__(self, message: str, text: str, line: int, column: int) -> None:
        self.line = line
        self.column = column
        shown = text.split("\n")[line - 1]
        super().__init__(
            f"line {line}, column {column}: {message}\n    {shown}\n    {' ' * (column - 1)}^"
        )


class Token(NamedTuple):
    """A piece of the text; `kind` is a group of the token pattern, or `end`."""

    kind: str
    text: str
    offset: int
    line: int
    column: int
    starts_line: bool
    follows_space: bool

    @property
    def end(self) -> int:
        return self.offset + len(self.text)

    def __str__(self) -> str:
        return "the end of the text" if self.kind == "end" else f"`{self.text}`"


def tokens_of(text: str) -> list[Token]:
    """The tokens of a text, the last of kind `end`. Raises JaxprSyntaxError."""
    tokens: list[Token] = []
    position, line, line_start = 0, 1, 0
    starts_line = follows_space = True
    while position < len(text):
        match = _TOKEN.match(text, position)
        column = position - line_start + 1
        if match is None:
            message = f"`{text[position]}` is no part of a jaxpr"
            raise JaxprSyntaxError(message, text, line, column)
        kind, found, position = str(match.lastgroup), match.group(), match.end()
        if kind == "space":
            follows_space = True
            if "\n" in found:
                starts_line = True
                line += found.count("\n")
                line_start = match.start() + found.rindex("\n") + 1
            continue
        offset = match.start()
        tokens.append(Token(kind, found, offset, line, column, starts_line, follows_space))
        starts_line = follows_space = False
    column = position - line_start + 1
    tokens.append(Token("end", "", position, line, column, starts_line, follows_space))
    return tokens
