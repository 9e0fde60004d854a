"""What nested loops keep, written into one array instead of one for each step of the outer loop.

for i in range(n):                          for i in range(n):
    row = np.empty(m)                           for j in range(m):
    for j in range(m):              ->              rows[i, j] = x
        row[j] = x
    rows[i] = row
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from s2s_codegen.numpy_source.statements import Block, Comment, Line, Statement, words_of


def in_place(name: str, place: str, statements: Sequence[Statement]) -> list[Statement] | None:
    """The statements of a step that makes an array `name` and fills it, filling the row `place` of
    an array of the same name instead; None unless all that they do with it is this."""
    start = f"{name} = np.empty("
    made = [s for s in statements if isinstance(s, Line) and s.text.startswith(start)]
    if len(made) != 1:
        return None
    others = [s for s in statements if s is not made[0]]
    if words_of(made[0]).count(name) != 1 or not all(_only_fills(name, s) for s in others):
        return None
    return [_with_place(name, place, s) for s in others]


def _only_fills(name: str, statement: Statement) -> bool:
    match statement:
        case Line(text=text):
            count = words_of(statement).count(name)
            fills = re.match(rf"{name}\[[^\[\]]*\] = ", text) is not None
            return not count or (count == 1 and fills)
        case Block(header=header, body=body):
            return name not in words_of(Line(header)) and all(_only_fills(name, s) for s in body)
        case Comment():
            return True


def _with_place(name: str, place: str, statement: Statement) -> Statement:
    match statement:
        case Line(text=text) if text.startswith(f"{name}["):
            return Line(f"{name}[{place}, {text.removeprefix(f'{name}[')}")
        case Block(header=header, body=body):
            return Block(header, [_with_place(name, place, s) for s in body])
        case _:
            return statement
