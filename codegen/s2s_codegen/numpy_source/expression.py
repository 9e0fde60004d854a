"""Python expressions as text, with what is needed to combine them: how tightly they bind.

    binary("*", Expression("a + b", SUM), Expression("c"))  ->  Expression("(a + b) * c", PRODUCT)

Everything is spelled in black's style.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s.ir.dims import Shape
from s2s.primitive import Precedence

ATOM = Precedence.ATOM
OPERATORS: dict[str, Precedence] = {
    "|": Precedence.OR,
    "^": Precedence.XOR,
    "&": Precedence.AND,
    "and": Precedence.CONJUNCTION,
    "or": Precedence.DISJUNCTION,
    "<<": Precedence.SHIFT,
    ">>": Precedence.SHIFT,
    "+": Precedence.SUM,
    "-": Precedence.SUM,
    "*": Precedence.PRODUCT,
    "/": Precedence.PRODUCT,
    "//": Precedence.PRODUCT,
    "%": Precedence.PRODUCT,
    "@": Precedence.PRODUCT,
    "**": Precedence.POWER,
} | dict.fromkeys(["<", "<=", ">", ">=", "==", "!="], Precedence.COMPARISON)

_OTHER_PRODUCT = re.compile(r"@|%|//")
_SIMPLE = re.compile(r"[A-Za-z_][\w.]*|\d[\w.]*(e[-+]\d+)?")


@dataclass(frozen=True, slots=True)
class Expression:
    """The text of an expression, how tightly it binds, and the shape that it has.

    `shape` can be smaller than that of the variable it stands for, where NumPy's broadcasting
    makes up for it; None means the variable's own.
    """

    text: str
    precedence: Precedence = ATOM
    shape: Shape | None = None

    def within(self, precedence: Precedence) -> str:
        """The text for a place where what binds less tightly needs parentheses."""
        return self.text if self.precedence >= precedence else f"({self.text})"

    @property
    def within_not(self) -> str:
        """The text for a place behind `not`."""
        return self.within(Precedence.NEGATION)

    @property
    def atom(self) -> str:
        """The text for a place before a dot or a bracket."""
        return f"({self.text})" if self.text[0].isdigit() else self.within(ATOM)


def binary(operator: str, left: Expression, right: Expression) -> Expression:
    """`left operator right`."""
    own = OPERATORS[operator]
    if operator == "**":
        a, b = left.within(ATOM), right.within(Precedence.UNARY)
        simple = _SIMPLE.fullmatch(a) and _SIMPLE.fullmatch(b.removeprefix("-"))
        return Expression(f"{a}**{b}" if simple else f"{a} ** {b}", own)
    above = Precedence(own + 1)
    chains = own is not Precedence.COMPARISON and not _is_mixed(operator, left)
    return Expression(
        f"{left.within(own if chains else above)} {operator} {right.within(above)}", own
    )


def _is_mixed(operator: str, left: Expression) -> bool:
    """Whether this is `a * b @ c`, of which few know how Python reads it."""
    is_product = operator == "@" and left.precedence is Precedence.PRODUCT
    return is_product and any(inner != "@" for inner in _outer_operators(left.text))


def _outer_operators(text: str) -> Iterator[str]:
    """The operators of an expression that are in no brackets."""
    depth = 0
    for word in text.split(" "):
        if depth == 0 and word in OPERATORS:
            yield word
        depth += sum(c in "([{" for c in word) - sum(c in ")]}" for c in word)


def negative(operand: Expression) -> Expression:
    """`-operand`; the minus goes before the first factor of a product, which is the same value.

    The result is never an operand itself, so it is an array of its own.
    """
    text, own = operand.text, operand.precedence
    if own is Precedence.PRODUCT and not _OTHER_PRODUCT.search(text):
        if text.startswith("-"):
            return Expression(text[1:], own, operand.shape)
        first = _first_factor(text)
        if "**" in first:
            return Expression(f"-({first}){text[len(first) :]}", own, operand.shape)
        return Expression(f"-{text}", own, operand.shape)
    # Black wants -(x**2), though -x**2 is the same.
    least = ATOM if own is Precedence.POWER or text.startswith("-") else Precedence.UNARY
    return Expression(f"-{operand.within(least)}", Precedence.UNARY, operand.shape)


def _first_factor(text: str) -> str:
    """The first factor of a product."""
    depth = 0
    for place, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if depth == 0 and text.startswith((" * ", " / "), place):
            return text[:place]
    return text


def is_negative(operand: Expression) -> bool:
    """Whether a minus sign in front makes it the opposite of what follows."""
    if not operand.text.startswith("-"):
        return False
    if operand.precedence is Precedence.SUM:
        return not operand.text.startswith("-(")
    if operand.precedence is Precedence.PRODUCT:
        return not _OTHER_PRODUCT.search(operand.text)
    return operand.precedence is Precedence.UNARY


def without_sign(operand: Expression) -> Expression:
    """What follows the minus sign of an expression that `is_negative`, for a term of a sum."""
    text, precedence = operand.text[1:], operand.precedence
    if precedence is Precedence.SUM:
        return Expression(_with_opposite_signs(text), precedence, operand.shape)
    if precedence is Precedence.UNARY:
        precedence = Precedence.POWER
        if _is_in_parentheses(text):
            text, precedence = text[1:-1], min(Precedence)
    return Expression(text, precedence, operand.shape)


def _with_opposite_signs(text: str) -> str:
    """`a - b + c` for the terms `a + b - c` of a sum."""
    depth = 0
    words: list[str] = []
    for word in text.split(" "):
        words.append({"+": "-", "-": "+"}.get(word, word) if depth == 0 else word)
        depth += sum(c in "([{" for c in word) - sum(c in ")]}" for c in word)
    return " ".join(words)


def _is_in_parentheses(text: str) -> bool:
    """Whether the first parenthesis ends with the text."""
    depths = list(itertools.accumulate((c in "([{") - (c in ")]}") for c in text))
    return text.startswith("(") and depths.index(0) == len(text) - 1


def call(function: str, *arguments: Expression | str) -> Expression:
    """`function(argument, argument)`."""
    texts = [argument if isinstance(argument, str) else argument.text for argument in arguments]
    return Expression(f"{function}({', '.join(texts)})")


def method(operand: Expression, name: str, *arguments: str) -> Expression:
    """`operand.name(argument, argument)`."""
    return Expression(f"{operand.atom}.{name}({', '.join(arguments)})")


def attribute(operand: Expression, name: str) -> Expression:
    """`operand.name`."""
    return Expression(f"{operand.atom}.{name}")


def index(operand: Expression, items: Sequence[str]) -> Expression:
    """`operand[item, item]`, without trailing full slices."""
    kept = list(items)
    while len(kept) > 1 and kept[-1] == ":":
        kept.pop()
    return Expression(f"{operand.atom}[{', '.join(kept)}]")


def tuple_of(items: Sequence[str]) -> str:
    """`(a, b)`, `(a,)` or `()`."""
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def slice_of(start: str, stop: str, step: str = "") -> str:
    """`start:stop:step`, spaced as black does where a bound is more than a name or a number."""
    bounds = [start, stop, step] if step else [start, stop]
    if all(not bound or re.fullmatch(r"-?\w+", bound) for bound in bounds):
        return ":".join(bounds)
    text = " : ".join(bounds).strip()
    return re.sub(r": +:", "::", text)


_PYTHON_S = {"float64": "float", "int64": "int", "bool": "bool", "complex128": "complex"}


def is_python_s(dtype: np.dtype[Any]) -> bool:
    """Whether numbers of Python's are of this element type to NumPy."""
    return dtype.name in _PYTHON_S


def dtype_name(dtype: np.dtype[Any]) -> str:
    """`np.float32`, or the Python type where NumPy takes it for the same: `int`, `bool`."""
    return _PYTHON_S.get(dtype.name) or f"np.{dtype.name}"
