"""The language of `--args`: `"w: f64[d, k], x: {a: f64[n], b: [i32[], float]}, steps=50"`.

arguments ::= argument ("," argument)* [","]
argument  ::= name ":" (type | constant) | name "=" expression
type      ::= element [shape] | "None" | "float" | "int" | "bool" | "complex"
            | "{" key ":" type, ... "}" | "[" type, ... "]" | "(" type, ... ")"
            | class "(" field "=" type, ... ")"
element   ::= "f64" | "float64" | "i32" | "int32" | "bool" | ...
shape     ::= "[" [size ("," size)*] "]"
size      ::= a polynomial with integer coefficients in named dimensions: `n`, `2*n + 1`, `3`
constant  ::= a number or a string, which makes the argument static
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import keyword
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np

from s2s.errors import UserError
from s2s.frontend.argument_types.types import ArgumentType, Static, simplified
from s2s.ir.dims import Size, dimension
from s2s.ir.dtypes import BY_SHORT_NAME, PYTHON_SCALARS, DType
from s2s.ir.jaxpr import ShapedArray
from s2s.tree import TreeDef, build_node

_TOKEN = re.compile(
    r"\s*(?:(?P<name>[^\W\d]\w*)|(?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?)"
    r"|(?P<string>'[^']*'|\"[^\"]*\")|(?P<sign>\.\.\.|\*\*|//|\S))",
)

_SCALARS = {kind.__name__: dtype for kind, dtype in PYTHON_SCALARS.items()}


def element_type(name: str) -> DType | None:
    """The dtype called `f64` or `float64`; None if there is none of that name."""
    if name in BY_SHORT_NAME:
        return BY_SHORT_NAME[name]
    return next((dtype for dtype in BY_SHORT_NAME.values() if dtype.name == name), None)


def parse_arguments(
    text: str,
    option: str = "--args",
    namespace: Mapping[str, Any] | None = None,
) -> dict[str, ArgumentType]:
    """The type of each argument that `text` names.

    `namespace` is the user's module: classes of dataclasses and NamedTuples are looked up there,
    and what stands after `=` is evaluated there. Raises UserError with the place in the text.
    """
    reader = _Reader(text, option, namespace or {})
    found: dict[str, ArgumentType] = {}
    while not reader.at_end():
        name = reader.name("the name of a parameter")
        if name in found:
            reader.fail(f"{name} is given twice", back=1)
        if reader.accept("="):
            found[name] = Static(reader.expression())
        else:
            reader.expect(":", f"a colon and a type after {name}, as in `{name}: f64[n]`")
            found[name] = simplified(reader.type())
        if not reader.accept(","):
            reader.expect_end()
    return found


def parse_type(text: str, where: str, namespace: Mapping[str, Any] | None = None) -> ArgumentType:
    """The type that `text` stands for; `where` names it in errors."""
    reader = _Reader(text, where, namespace or {})
    result = reader.type()
    reader.expect_end()
    return simplified(result)


def parse_size(text: str, where: str) -> Size:
    """The size that `text` stands for, such as `n` or `2*n + 1`."""
    reader = _Reader(text, where, {})
    result = reader.size()
    reader.expect_end()
    return result


class _Reader:
    """A recursive descent over the tokens; each method reads one thing of the grammar."""

    def __init__(self, text: str, where: str, namespace: Mapping[str, Any]) -> None:
        self.text = text
        self.where = where
        self.namespace = namespace
        self.tokens = [m for m in _TOKEN.finditer(text) if m.lastgroup is not None]
        self.position = 0

    # -- tokens ---------------------------------------------------------------------------------

    def at_end(self) -> bool:
        return self.position == len(self.tokens)

    def kind(self) -> str | None:
        return None if self.at_end() else self.tokens[self.position].lastgroup

    def peek(self) -> str:
        return "" if self.at_end() else self.tokens[self.position][self.kind() or 0]

    def next(self) -> str:
        token = self.peek()
        self.position += 1
        return token

    def accept(self, sign: str) -> bool:
        if self.kind() == "sign" and self.peek() == sign:
            self.position += 1
            return True
        return False

    def expect(self, sign: str, wanted: str) -> None:
        if not self.accept(sign):
            self.fail(f"expected {wanted}")

    def expect_end(self) -> None:
        if not self.at_end():
            self.fail("expected a comma or the end")

    def name(self, wanted: str) -> str:
        if self.kind() != "name":
            self.fail(f"expected {wanted}")
        return self.next()

    def fail(self, problem: str, back: int = 0) -> NoReturn:
        position = self.position - back
        if position >= len(self.tokens):
            place = "at the end"
        else:
            token = self.tokens[position]
            start = token.start(token.lastgroup or 0)
            place = f"at column {start + 1}, `{_shortened(self.text[start:])}`"
        raise UserError(f'{self.where} "{self.text}", {place}: {problem}.')

    # -- types ----------------------------------------------------------------------------------

    def type(self) -> ArgumentType:
        if self.accept("{"):
            return dict(self.items("}", self.entry))
        if self.accept("["):
            return self.items("]", self.type)
        if self.accept("("):
            return self.parenthesised()
        if self.kind() in ("number", "string") or self.peek() == "-":
            return Static(self.constant())
        if self.accept("..."):
            self.fail("`...` stands for what you are to fill in, such as f64[n, d]", back=1)
        name = self.name("a type, such as f64[n, d], float, {a: f64[n]} or [f64[], f64[n]]")
        if name == "None":
            return None
        if name in ("True", "False"):
            return Static(name == "True")
        if self.peek() == "(" and element_type(name) is None:
            return self.instance(name)
        return self.array(name)

    def array(self, name: str) -> ShapedArray:
        has_shape = self.peek() == "["
        if name in _SCALARS and not (name == "bool" and has_shape):
            if has_shape:
                long, short = _SCALARS[name].name, ShapedArray((), _SCALARS[name])
                instead = f"{str(short).removesuffix('[]')}[...] or {long}[...]"
                self.fail(f"`{name}` is a Python number; an array is {instead}", back=1)
            return ShapedArray((), _SCALARS[name], weak_type=True)
        dtype = element_type(name)
        if dtype is None:
            known = ", ".join(BY_SHORT_NAME)
            self.fail(f"there is no element type {name}; there are {known}", back=1)
        return ShapedArray(self.shape() if self.accept("[") else (), dtype)

    def shape(self) -> tuple[Size, ...]:
        return tuple(self.items("]", self.size))

    def parenthesised(self) -> ArgumentType:
        parts = self.items(")", self.type)
        is_tuple = len(parts) != 1 or self.tokens[self.position - 2][0].strip() == ","
        return tuple(parts) if is_tuple else parts[0]

    def items(self, end: str, read: Callable[[], Any]) -> list[Any]:
        found: list[Any] = []
        while not self.accept(end):
            found.append(read())
            if not self.accept(","):
                self.expect(end, f"a comma or {end}")
                break
        return found

    def entry(self) -> tuple[Any, ArgumentType]:
        if self.kind() == "string":
            key: Any = ast.literal_eval(self.next())
        elif self.kind() == "number":
            key = ast.literal_eval(self.next())
        else:
            key = self.name("a key, such as w or 'w'")
        self.expect(":", f"a colon and a type after the key {key}")
        return key, self.type()

    def instance(self, name: str) -> ArgumentType:
        kind = self.namespace.get(name)
        fields = field_names(kind)
        if fields is None:
            self.fail(f"the module has no dataclass or NamedTuple called {name}", back=1)
        self.expect("(", "a parenthesis")
        given: dict[str, ArgumentType] = {}
        for field, part in self.items(")", self.field):
            given[field] = part
        if set(given) != set(fields):
            self.fail(f"the fields of {name} are {', '.join(fields)}", back=1)
        structure = TreeDef(kind, tuple(fields))
        return build_node(structure, [given[field] for field in fields])

    def field(self) -> tuple[str, ArgumentType]:
        name = self.name("the name of a field")
        if not self.accept("="):
            self.expect(":", f"`=` and a type after {name}")
        return name, self.type()

    # -- static values --------------------------------------------------------------------------

    def constant(self) -> Any:
        sign = "-" if self.accept("-") else ""
        if self.kind() not in ("number", "string"):
            self.fail("expected a number")
        return ast.literal_eval(sign + self.next())

    def expression(self) -> Any:
        """What stands up to the next comma outside of brackets, evaluated in the user's module."""
        if self.at_end():
            self.fail("expected a value")
        first, depth = self.position, 0
        while not self.at_end() and not (depth == 0 and self.peek() == ","):
            depth += (self.peek() in ("(", "[", "{")) - (self.peek() in (")", "]", "}"))
            self.position += 1
        text = self.text[self.tokens[first].start() : self.tokens[self.position - 1].end()].strip()
        try:
            return static_value(text, self.namespace)
        except UserError as error:
            self.position = first
            self.fail(error.message.removesuffix("."))

    # -- sizes ----------------------------------------------------------------------------------

    def size(self) -> Size:
        total = -self.term() if self.accept("-") else self.term()
        while self.peek() in ("+", "-"):
            total = total + self.term() if self.next() == "+" else total - self.term()
        if isinstance(total, int) and total < 0:
            self.fail(f"a size cannot be {total}", back=1)
        return total

    def term(self) -> Size:
        result = self.power()
        while self.peek() in ("*", "//"):
            result = result * self.power() if self.next() == "*" else result // self.power()
        return result

    def power(self) -> Size:
        base = self.factor()
        if not self.accept("**"):
            return base
        if not self.peek().isdigit():
            self.fail("expected an integer exponent")
        return base ** int(self.next())

    def factor(self) -> Size:
        if self.accept("("):
            inner = self.size()
            self.expect(")", "a closing parenthesis")
            return inner
        if self.accept("..."):
            self.fail("`...` stands for the sizes that you are to fill in, such as n, d", back=1)
        if self.peek().isdigit():
            return int(self.next())
        name = self.name("a size: a number, a name such as n, or 2*n + 1")
        if keyword.iskeyword(name):
            self.fail(f"`{name}` cannot be the name of a dimension", back=1)
        return dimension(name)


def static_value(text: str, namespace: Mapping[str, Any]) -> Any:
    """The value of a Python expression in the user's module, where NumPy is `np` in any case."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        pass
    try:
        return eval(text, {"np": np, **namespace})
    except Exception as error:  # whatever the user's expression raises
        raise UserError(f"`{text}` raises {type(error).__name__}: {error}.") from error


def field_names(kind: Any) -> tuple[str, ...] | None:
    """The fields of a dataclass or NamedTuple class; None for anything else."""
    if not inspect.isclass(kind):
        return None
    if dataclasses.is_dataclass(kind):
        return tuple(field.name for field in dataclasses.fields(kind))
    fields: Any = getattr(kind, "_fields", None)
    return None if fields is None else tuple(fields)


def _shortened(text: str) -> str:
    return text if len(text) <= 20 else text[:20].rstrip() + " ..."
