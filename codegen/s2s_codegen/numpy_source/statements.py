"""Statements of a generated function: what is written, before it is laid out on lines."""

from __future__ import annotations

from collections.abc import Sequence
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

BLANK = Line("")
