"""What is done rather than computed: raise an exception, print.

An equation without results stays where it is in the order of the user's statements. Which of them
runs, the branch says in which it stands:

    if x < 0:                          { lambda ; x:f64[]. let
        raise ValueError("negative")       b:bool[] = lt x 0.0; i:i32[] = convert_element_type b
                                           cond[branches={... raise ...}] i
"""

from __future__ import annotations

import builtins
import re
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s.ir.dims import Size
from s2s.ir.jaxpr import ShapedArray
from s2s.primitive import BatchAxis, Primitive, Value
from s2s.primitives.core import move_batch_axis
from s2s.trace import bind

EXCEPTIONS: Mapping[str, type[Exception]] = {
    **{
        name: kind
        for name, kind in vars(builtins).items()
        if isinstance(kind, type) and issubclass(kind, Exception)
    },
    "np.linalg.LinAlgError": np.linalg.LinAlgError,
}
"""The exceptions that a generated module knows, by what they are called there."""


class Effect(Primitive):
    """A statement of `arguments`, which are texts with operands in them: `x is {0:.3f}`."""

    arguments: tuple[str, ...]

    multiple_results = True

    @property
    def has_effect(self) -> bool:
        return True

    def abstract(self, *avals: ShapedArray) -> list[ShapedArray]:
        return []

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        return bind(self, *primals), []

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, Any]:
        """Once for the whole batch, with the values of all examples, which have no format."""
        in_front = [
            value if dim is None else move_batch_axis(value, dim, 0)
            for value, dim in zip(args, dims, strict=True)
        ]
        batched = [dim is not None for dim in dims]
        texts = tuple(_without_formats(text, batched) for text in self.arguments)
        return bind(self.with_arguments(texts), *in_front), []

    def with_arguments(self, arguments: tuple[str, ...]) -> Primitive:
        """The same statement of other texts."""
        raise NotImplementedError

    def spelled_arguments(self, operands: Sequence[str]) -> list[str]:
        """The arguments as Python expressions."""
        return [_spelled(text, operands) for text in self.arguments]


@dataclass(frozen=True)
class Raise(Effect):
    """`raise exception(*arguments)`."""

    exception: str
    arguments: tuple[str, ...] = ()

    name = "raise"
    numpy = "raise {exception}"

    def with_arguments(self, arguments: tuple[str, ...]) -> Raise:
        return Raise(self.exception, arguments)

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        if not self.arguments:
            return f"raise {self.exception}"
        return f"raise {self.exception}({', '.join(self.spelled_arguments(operands))})"

    def evaluate(self, *arrays: Any) -> list[Any]:
        raise EXCEPTIONS[self.exception](*[text.format(*arrays) for text in self.arguments])


@dataclass(frozen=True)
class Print(Effect):
    """`print(*arguments, sep=sep, end=end)`."""

    arguments: tuple[str, ...] = ()
    sep: str = " "
    end: str = "\n"

    name = "print"
    numpy = "print()"

    def with_arguments(self, arguments: tuple[str, ...]) -> Print:
        return Print(arguments, self.sep, self.end)

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        given = [
            text if _is_number(text) else spelled
            for text, spelled in zip(self.arguments, self.spelled_arguments(operands), strict=True)
        ]
        given += [f"sep={_quoted(self.sep)}"] if self.sep != " " else []
        given += [f"end={_quoted(self.end)}"] if self.end != "\n" else []
        return f"print({', '.join(given)})"

    def evaluate(self, *arrays: Any) -> list[Any]:
        print(*[text.format(*arrays) for text in self.arguments], sep=self.sep, end=self.end)
        return []


# -- texts with operands in them ------------------------------------------------------------------

_ONE_OPERAND = re.compile(r"\{(\d+)\}")


def escaped(text: str) -> str:
    """A text in which braces stand for themselves."""
    return text.replace("{", "{{").replace("}", "}}")


def _parts(text: str) -> Iterator[tuple[str, int | None, str, str]]:
    """Literal text, and the operand behind it with its conversion (`!r`) and format (`:.3f`)."""
    for literal, field, format_, conversion in string.Formatter().parse(text):
        operand = None if field is None else int(field)
        shown = f"!{conversion}" if conversion else ""
        yield literal, operand, shown, f":{format_}" if format_ else ""


def _without_formats(text: str, batched: Sequence[bool]) -> str:
    found: list[str] = []
    for literal, operand, conversion, format_ in _parts(text):
        found.append(escaped(literal))
        if operand is not None:
            kept = "" if batched[operand] else format_
            found.append(f"{{{operand}{conversion}{kept}}}")
    return "".join(found)


def _spelled(text: str, operands: Sequence[str]) -> str:
    """A text as a Python expression: an operand itself, a string, or an f-string."""
    only = _ONE_OPERAND.fullmatch(text)
    if only is not None:
        return operands[int(only[1])]
    parts = list(_parts(text))
    if all(operand is None for _, operand, _, _ in parts):
        return _quoted("".join(literal for literal, _, _, _ in parts))
    if any(re.search(r"[\"'\\{]", operand) for operand in operands):
        # Before Python 3.12, no expression in an f-string has quotes.
        return f"{_quoted(text)}.format({', '.join(operands)})"
    filled = "".join(
        escaped(literal)
        + ("" if operand is None else f"{{{operands[operand]}{conversion}{format_}}}")
        for literal, operand, conversion, format_ in parts
    )
    return f"f{_quoted(filled)}"


def _is_number(text: str) -> bool:
    """Whether a text is how Python shows a number."""
    return re.fullmatch(r"-?\d+(\.\d+)?", text) is not None and text in (
        repr(float(text)),
        repr(round(float(text))),
    )


def _quoted(text: str) -> str:
    """A string as black writes it."""
    shown = repr(text)
    if shown.startswith("'") and '"' not in shown:
        return f'"{shown[1:-1]}"'
    return shown
