"""Laying out text in lines of bounded width.

A document is a string or a tree of `Break`, `Words`, `Nest`, `Group`, `Block` and lists of
documents. A group is printed on one line if it fits, by itself, on the rest of the line; else the
breaks that are its own, not those of groups inside it, become new lines.

P. Wadler, "A prettier printer" (1998); C. Lindig, "Strictly pretty" (2000).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Doc: TypeAlias = "str | Break | Words | Nest | Group | Block | list[Doc]"


@dataclass(frozen=True, slots=True)
class Break:
    """A new line, or `flat` where the group that it belongs to is printed on one line."""

    flat: str = " "


class Words:
    """Words with a space between each two, or a new line two deeper once a line is full."""

    __slots__ = ("text", "words")

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words
        self.text = " ".join(words)


@dataclass(frozen=True, slots=True)
class Nest:
    """A document whose new lines are indented `depth` deeper."""

    depth: int
    content: Doc


class Group:
    """A document that is printed on one line where it fits."""

    __slots__ = ("content", "width")

    def __init__(self, content: Doc) -> None:
        self.content = content
        self.width = _flat_width(content)


class Block:
    """A group of documents in brackets: where it does not fit on one line, one to a line."""

    __slots__ = ("end", "items", "start", "text", "width")

    def __init__(self, start: str, items: Sequence[Doc], end: str) -> None:
        self.start = start
        self.items = items
        self.end = end
        strings = [item for item in items if isinstance(item, str)]
        self.text = start + " ".join(strings) + end if len(strings) == len(items) else None
        self.width = _flat_width(self.lines()) if self.text is None else len(self.text)

    def lines(self) -> Doc:
        """The same as a document of breaks."""
        inside: list[Doc] = [self.start, Break(""), join(Break(), self.items)]
        return [Nest(2, inside), Break(""), self.end]


def _flat_width(doc: Doc) -> int:
    if isinstance(doc, str):
        return len(doc)
    if isinstance(doc, list):
        return sum(map(_flat_width, doc))
    if isinstance(doc, Words):
        return len(doc.text)
    if isinstance(doc, Break):
        return len(doc.flat)
    if isinstance(doc, Nest):
        return _flat_width(doc.content)
    return doc.width


def join(separator: Doc, docs: Iterable[Doc]) -> Doc:
    """The documents with the separator between each two."""
    joined: list[Doc] = []
    for doc in docs:
        if joined:
            joined.append(separator)
        joined.append(doc)
    return joined


def render(doc: Doc, width: int = 80) -> str:
    """The text of a document. Breaks outside of all groups are new lines."""
    out: list[str] = []
    column = 0
    pending: list[tuple[int, bool, Doc]] = [(0, False, doc)]
    while pending:
        indent, flat, doc = pending.pop()
        if isinstance(doc, str):
            out.append(doc)
            column += len(doc)
        elif isinstance(doc, list):
            pending.extend((indent, flat, child) for child in reversed(doc))
        elif isinstance(doc, Words):
            if flat or column + len(doc.text) <= width:
                out.append(doc.text)
                column += len(doc.text)
            else:
                column = _fill(out, doc.words, column, indent + 2, width)
        elif isinstance(doc, Group):
            pending.append((indent, flat or column + doc.width <= width, doc.content))
        elif isinstance(doc, Block):
            flat = flat or column + doc.width <= width
            pending.append((indent, flat, doc.text if flat and doc.text else doc.lines()))
        elif isinstance(doc, Nest):
            pending.append((indent + doc.depth, flat, doc.content))
        elif flat:
            out.append(doc.flat)
            column += len(doc.flat)
        else:
            out.append("\n" + " " * indent)
            column = indent
    return "".join(out)


def _fill(out: list[str], words: Sequence[str], column: int, indent: int, width: int) -> int:
    for index, word in enumerate(words):
        if index:
            # A word may stick out: what is asked is whether the space before it fits.
            full = column >= width
            out.append("\n" + " " * indent if full else " ")
            column = indent if full else column + 1
        out.append(word)
        column += len(word)
    return column
