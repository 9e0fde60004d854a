"""Statements of a generated function: what is written, before it is laid out on lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Line:
    """A simple statement, however long. An empty one is a blank line."""

    text: str


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment, on a line of its own, however long."""

    text: str


@dataclass(frozen=True, slots=True)
class Block:
    """A compound statement: `for i in range(n):` and what stands under it."""

    header: str
    body: Sequence[Statement]


Statement: TypeAlias = "Line | Comment | Block"


def plain_lines(statements: Sequence[Statement], depth: int) -> Iterator[str]:
    """The lines of statements as they are, however long, without comments."""
    indent = "    " * depth
    for statement in statements:
        match statement:
            case Line(text=text):
                if text:
                    yield indent + text
            case Comment():
                pass
            case Block(header=header, body=body):
                yield indent + header
                yield from plain_lines(body, depth + 1)


def words_of(statement: Statement) -> list[str]:
    """The names and keywords in a statement, each as often as it is there."""
    match statement:
        case Line(text=text):
            return re.findall(r"\b[A-Za-z_]\w*", text)
        case Block(header=header, body=body):
            return [*words_of(Line(header)), *[word for s in body for word in words_of(s)]]
        case Comment():
            return []


BLANK = Line("")


def mentioned(
    statements: Sequence[Statement], names: Collection[str], returned: str
) -> list[Statement]:
    """Statements without those that set one of some names which nothing else mentions, not even
    what is `returned`."""
    words = Counter(word for s in (*statements, Line(returned)) for word in words_of(s))
    needless = {name for name in names if words[name] == 1}
    return _without(statements, needless) if needless else list(statements)


def _without(statements: Sequence[Statement], names: Collection[str]) -> list[Statement]:
    return [
        Block(s.header, _without(s.body, names)) if isinstance(s, Block) else s
        for s in statements
        if not (isinstance(s, Line) and s.text.partition(" = ")[0] in names)
    ]
