"""Lines as black would write them.

Statements are spelled in black's style in the first place, so those that fit on a line are left
alone. A longer one that is a sum, a product or the like is put in parentheses here, as black does
it; black itself is asked only about the rest.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Sequence

from s2s_codegen.numpy_source.statements import Block, Comment, Line, Statement

LINE_LENGTH = 88
INDENT = "    "

_ASSIGNMENT = re.compile(r"(return|[\w, ]+(?:\[[^=]*\])? [-+*/@]?=) (?=\S)")
_CALL = re.compile(r"[A-Za-z_][\w.]*\(")
_TOKEN = re.compile(
    r"""(?P<string>"[^"]*"|'[^']*')|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<other>,|:|\bnot\b)"""
    r"""|\s(?P<operator>\*\*|\+|-|\*|//|/|%|@|<<|>>|&|\^|\||[<>=!]=|<|>|and|or|if|else|in|is)\s"""
)
_PRIORITY: dict[str, int] = (
    dict.fromkeys(["and", "or"], 14)
    | dict.fromkeys(["<", ">", "<=", ">=", "==", "!="], 10)
    | dict.fromkeys(["|"], 9)
    | dict.fromkeys(["^"], 8)
    | dict.fromkeys(["&"], 7)
    | dict.fromkeys(["<<", ">>"], 6)
    | dict.fromkeys(["+", "-"], 5)
    | dict.fromkeys(["*", "/", "//", "%", "@"], 4)
    | dict.fromkeys(["**"], 3)
)
"""How eagerly black splits a line before an operator; lines with others are left to black."""


def format_statements(statements: Sequence[Statement], depth: int) -> Iterator[str]:
    """The lines of statements at a depth of indentation."""
    indent = INDENT * depth
    width = LINE_LENGTH - len(indent)
    for statement in statements:
        match statement:
            case Line(text="") | Comment(text=""):
                yield ""
            case Line(text=text):
                if len(text) <= width:
                    yield indent + text
                else:
                    for line in split(text, width):
                        yield indent + line
            case Comment(text=text):
                yield f"{indent}# {text}"
            case Block(header=header, body=body):
                for line in format_statements([Line(header)], depth):
                    yield line
                yield from format_statements(body, depth + 1)


def split(text: str, width: int) -> Sequence[str]:
    """A statement that is too long for a line, as black splits it."""
    head = _ASSIGNMENT.match(text)
    if head is not None:
        start, body = head[1], text[head.end() :]
        lines = _in_parentheses(f"{start} (", body, width) or _in_call(start, body, width)
        if lines is not None:
            return lines
    return _ask_black(text, width)


def _in_parentheses(head: str, body: str, width: int) -> list[str] | None:
    """The body in parentheses, if black puts it there: on one line, or a line for each operand."""
    parts = _operands(body)
    if parts is None or len(head) > width:
        return None
    if len(parts) == 2 and (body[0] in "([{" or body[-1] in ")}"):
        return None  # black may split inside of these brackets
    return _inside(head, body, parts, ")", width)


def _in_call(start: str, body: str, width: int) -> list[str] | None:
    """The arguments of a call on lines of their own, if the body is one call of a function."""
    name = _CALL.match(body)
    if name is None or _closing(body, name.end()) != len(body) - 1:
        return None
    inside = body[name.end() : -1]
    arguments = _arguments(inside)
    parts = [f"{argument}," for argument in arguments]
    if len(arguments) == 1:
        parts = _operands(inside) or []
    head = f"{start} {name[0]}"
    return _inside(head, inside, parts, ")", width) if len(head) <= width else None


def _inside(head: str, body: str, parts: Sequence[str], tail: str, width: int) -> list[str] | None:
    inner = width - len(INDENT)
    if len(body) <= inner:
        return [head, INDENT + body, tail]
    if parts and all(len(part) <= inner for part in parts):
        return [head, *[INDENT + part for part in parts], tail]
    return None


def _closing(text: str, start: int) -> int:
    """The place of the bracket that closes the one before `start`."""
    depth = 1
    for token in _TOKEN.finditer(text, start):
        depth += (token["open"] is not None) - (token["close"] is not None)
        if depth == 0:
            return token.start()
    return -1


def _arguments(text: str) -> list[str]:
    """The arguments between the brackets of a call."""
    depth = 0
    places = [-1]
    for token in _TOKEN.finditer(text):
        depth += (token["open"] is not None) - (token["close"] is not None)
        if depth == 0 and token["other"] == ",":
            places.append(token.start())
    bounds = [*places, len(text)]
    return [text[a + 1 : b].strip() for a, b in itertools.pairwise(bounds)]


def _operands(text: str) -> list[str] | None:
    """The text before each of its loosest operators, if it has some and no commas."""
    depth = 0
    found: list[tuple[int, int]] = []
    for token in _TOKEN.finditer(text):
        if token["open"]:
            depth += 1
        elif token["close"]:
            depth -= 1
        elif depth == 0 and not token["string"]:
            priority = _PRIORITY.get(token["operator"] or "")
            if priority is None:
                return None
            found.append((priority, token.start("operator")))
    loosest = max((priority for priority, _ in found), default=0)
    if loosest <= _PRIORITY["**"]:
        return None  # black splits powers that it writes without spaces, too
    bounds = [0, *[place for priority, place in found if priority == loosest], len(text)]
    return [text[a:b].rstrip() for a, b in itertools.pairwise(bounds)]


@functools.lru_cache(maxsize=1024)
def _ask_black(text: str, width: int) -> Sequence[str]:
    import black

    mode = black.Mode(line_length=width)
    if text.endswith(":"):
        return black.format_str(f"{text}\n{INDENT}pass", mode=mode).splitlines()[:-1]
    return black.format_str(text, mode=mode).splitlines()


def signature_lines(name: str, parameters: Sequence[str], returns: str = "") -> list[str]:
    """`def name(parameters) -> returns:`, on as many lines as black would."""
    inside = ", ".join(parameters)
    one = f"def {name}({inside}){returns}:"
    if len(one) <= LINE_LENGTH:
        return [one]
    if len(INDENT + inside) <= LINE_LENGTH and parameters:
        return [f"def {name}(", INDENT + inside, f"){returns}:"]
    return [f"def {name}(", *[f"{INDENT}{p}," for p in parameters], f"){returns}:"]
