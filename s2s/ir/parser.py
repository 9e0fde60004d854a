"""The parser of the jaxpr language: it reads what `print(jaxpr)` writes. Grammar: docs/jaxpr.md."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from s2s.ir.dims import Dim, Size, dimension, floor_divide
from s2s.ir.dtypes import BY_SHORT_NAME
from s2s.ir.jaxpr import Atom, Jaxpr, JaxprEqn, Literal, ShapedArray, Var
from s2s.ir.reading import Name, NotOfType, Record, read_value
from s2s.ir.tokens import JaxprSyntaxError, Token, tokens_of

if TYPE_CHECKING:
    from s2s.primitive import Primitive

_NUMBERS = ("inf", "nan", "infj", "nanj")
_CONSTANTS = {"None": None, "True": True, "False": False}


def parse_jaxpr(text: str, primitives: Mapping[str, type[Primitive]]) -> Jaxpr:
    """The jaxpr that a text stands for, with primitives by their names.

    Constvars have no values in the text, nor have variables the user's names, nor equations source
    lines. Raises JaxprSyntaxError, which says what was expected where.
    """
    return _Parser(text, primitives).program()


class _Parser:
    """Recursive descent: a method for each rule of the grammar, on the token at `position`."""

    def __init__(self, text: str, primitives: Mapping[str, type[Primitive]]) -> None:
        self.text = text
        self.primitives = primitives
        self.tokens = tokens_of(text)
        self.position = 0
        self.definitions: dict[str, int] = {}
        self.jaxprs: dict[str, Jaxpr] = {}

    # -- tokens ---------------------------------------------------------------------------------

    @property
    def token(self) -> Token:
        return self.tokens[self.position]

    @property
    def following(self) -> Token:
        return self.tokens[min(self.position + 1, len(self.tokens) - 1)]

    def at(self, text: str) -> bool:
        return self.token.text == text and self.token.kind in ("mark", "word")

    def advance(self) -> Token:
        token = self.token
        self.position += token.kind != "end"
        return token

    def accept(self, text: str) -> bool:
        found = self.at(text)
        if found:
            self.advance()
        return found

    def expect(self, text: str) -> Token:
        if not self.at(text):
            raise self.expected(f"`{text}`")
        return self.advance()

    def word(self, what: str) -> Token:
        if self.token.kind != "word":
            raise self.expected(what)
        return self.advance()

    def expected(self, what: str) -> JaxprSyntaxError:
        return self.error(f"expected {what}, found {self.token}")

    def error(self, message: str, token: Token | None = None) -> JaxprSyntaxError:
        token = token or self.token
        return JaxprSyntaxError(message, self.text, token.line, token.column)

    # -- jaxprs ---------------------------------------------------------------------------------

    def program(self) -> Jaxpr:
        """`let name = jaxpr in ... jaxpr`"""
        while self.accept("let"):
            name = self.word("the name of a jaxpr")
            self.expect("=")
            if name.text in self.definitions:
                raise self.error(f"`{name.text}` is defined twice", name)
            self.definitions[name.text] = self.position
            self.skip_braces()
            self.expect("in")
        for name in list(self.definitions):
            self.defined(name)
        jaxpr = self.jaxpr()
        if self.token.kind != "end":
            raise self.expected("nothing more")
        return jaxpr

    def skip_braces(self) -> None:
        self.expect("{")
        depth = 1
        while depth:
            depth += self.at("{") - self.at("}")
            if self.advance().kind == "end":
                raise self.expected("`}`")

    def defined(self, name: str) -> Jaxpr | None:
        """The jaxpr defined in front under a name: definitions may stand in any order."""
        if name in self.jaxprs or name not in self.definitions:
            return self.jaxprs.get(name)
        here, self.position = self.position, self.definitions.pop(name)
        self.jaxprs[name] = self.jaxpr()
        self.position = here
        return self.jaxprs[name]

    def jaxpr(self) -> Jaxpr:
        """`{ lambda constvars; invars. let eqns in (outvars) }`"""
        env: dict[str, Var] = {}
        self.expect("{")
        self.expect("lambda")
        constvars = self.define(self.binders(), env)
        self.expect(";")
        invars = self.define(self.binders(), env)
        self.expect(".")
        self.expect("let")
        eqns: list[JaxprEqn] = []
        column = self.token.column
        while not self.at("in") or self.following.text == ":":
            eqns.append(self.equation(env, column))
            if not self.accept(";") and not self.at_new_line(column) and not self.at_results():
                raise self.expected("`;` or a new line for the next equation, or `in`")
        self.expect("in")
        self.expect("(")
        outvars: list[Atom] = []
        while not self.at(")"):
            outvars.append(self.atom(env))
            if not self.accept(",") and not self.at(")"):
                raise self.expected("`,` or `)`")
        self.expect(")")
        self.expect("}")
        return Jaxpr(constvars, invars, eqns, outvars)

    def at_results(self) -> bool:
        # `in` may also be the name of a variable.
        return self.at("in") and self.following.text == "("

    def at_new_line(self, column: int) -> bool:
        """Whether a line starts here that is no continuation of an equation at `column`."""
        return self.token.starts_line and self.token.column <= column

    def binders(self) -> list[tuple[Token, Var]]:
        """`a:f64[3] b:i64[]`, up to what is no name with a type."""
        found: list[tuple[Token, Var]] = []
        while self.token.kind == "word" and self.following.text == ":":
            name = self.advance()
            self.expect(":")
            found.append((name, Var(self.type())))
        return found

    def define(self, binders: list[tuple[Token, Var]], env: dict[str, Var]) -> list[Var]:
        for name, var in binders:
            if name.text in env:
                raise self.error(f"`{name.text}` is defined twice", name)
            if name.text != "_":
                env[name.text] = var
        return [var for _, var in binders]

    # -- equations ------------------------------------------------------------------------------

    def equation(self, env: dict[str, Var], column: int) -> JaxprEqn:
        """`outvars = primitive[parameters] atoms`, without `=` where there are no results."""
        binders = self.binders()
        if binders:
            self.expect("=")
        start = self.token
        name = self.primitive_name()
        cls = self.primitives.get(name)
        if cls is None:
            near = difflib.get_close_matches(name, self.primitives, 1)
            hint = f"; did you mean `{near[0]}`?" if near else ""
            raise self.error(f"no primitive is called `{name}`{hint}", start)
        parameters = self.parameters(cls) if self.at("[") else {}
        try:
            primitive = cls.from_printed(parameters, [var.aval for _, var in binders])
        except (TypeError, ValueError, LookupError) as error:
            message = f"the parameters of `{name}` are incomplete: {error}"
            raise self.error(message, start) from error
        operands: list[Atom] = []
        while not (self.at(";") or self.at_results() or self.at_new_line(column)):
            operands.append(self.atom(env))
        return JaxprEqn(primitive, operands, self.define(binders, env))

    def primitive_name(self) -> str:
        name = self.word("an equation, or `in`").text
        while self.at("-") and not self.token.follows_space:
            self.advance()
            name += "-" + self.word("the rest of a primitive's name").text
        return name

    def parameters(self, cls: type[Primitive]) -> dict[str, Any]:
        """`[name=value name=value]`, with each value of the type of the primitive's field."""
        kinds = cls.printed_types()
        parameters: dict[str, Any] = {}
        self.expect("[")
        while not self.accept("]"):
            name = self.word("the name of a parameter, or `]`")
            if name.text not in kinds or name.text in parameters:
                wrong = "twice the" if name.text in parameters else "no"
                raise self.error(f"`{cls.name}` has {wrong} parameter `{name.text}`", name)
            self.expect("=")
            start = self.token
            value = self.value()
            try:
                parameters[name.text] = read_value(value, kinds[name.text], self.defined)
            except NotOfType:
                found = self.text[start.offset : self.tokens[self.position - 1].end]
                kind = cls.__annotations__.get(name.text, kinds[name.text])
                message = f"expected a value of type {kind} for `{name.text}`, found `{found}`"
                raise self.error(message, start) from None
        return parameters

    def atom(self, env: Mapping[str, Var]) -> Atom:
        """A variable, or a literal such as `2.0:f64[]`."""
        start = self.token
        if start.kind == "word" and self.following.text != ":":
            var = env.get(start.text)
            if var is None:
                raise self.error(f"`{start.text}` is not defined here")
            self.advance()
            return var
        number = "-" if self.accept("-") else ""
        is_number = self.token.kind in ("number", "complex") or self.token.text in _NUMBERS
        if not is_number and (number or self.token.text not in ("True", "False")):
            raise self.expected("a variable or a literal")
        number += self.advance().text
        self.expect(":")
        aval = self.type()
        try:
            if aval.dtype.kind == "b":
                value = {"True": True, "False": False}[number]
            else:
                read = {"i": int, "u": int, "f": float, "c": complex}[aval.dtype.kind]
                value = aval.dtype.type(read(number))
        except (KeyError, ValueError, OverflowError):
            raise self.error(f"`{number}` is no number of type {aval.dtype}", start) from None
        if aval.shape:
            raise self.error("a literal has the shape []", start)
        return Literal(value, aval)

    def type(self) -> ShapedArray:
        """`f64[n,3]`"""
        name = self.word("a type such as `f64[3]`")
        dtype = BY_SHORT_NAME.get(name.text)
        if dtype is None:
            known = ", ".join(BY_SHORT_NAME)
            raise self.error(f"`{name.text}` is no element type; these are {known}", name)
        self.expect("[")
        shape: list[Size] = []
        while not self.at("]"):
            shape.append(self.size(self.sum()))
            if not self.accept(",") and not self.at("]"):
                raise self.expected("`,` or `]`")
        self.expect("]")
        return ShapedArray(tuple(shape), dtype)

    # -- values ---------------------------------------------------------------------------------

    def value(self) -> Any:
        """The value of a parameter; names are left as `Name`."""
        token = self.token
        if token.kind == "string":
            return ast.literal_eval(self.advance().text)
        if token.kind == "complex":
            return complex(self.advance().text)
        if self.at("{"):
            return self.jaxpr()
        if self.accept("("):
            return tuple(self.values(")"))
        if self.accept("["):
            return self.values("]")
        if token.kind == "word" and self.following.text == "(" and token.text != "floordiv":
            return self.record()
        if token.text in BY_SHORT_NAME and self.following.text == "[":
            return self.type()
        if token.kind == "word" and token.text in _CONSTANTS:
            return _CONSTANTS[self.advance().text]
        return self.sum()

    def values(self, end: str) -> list[Any]:
        """Values up to the closing bracket; between jaxprs there are no commas."""
        values: list[Any] = []
        while not self.accept(end):
            values.append(self.value())
            if not (self.accept(",") or self.at(end) or isinstance(values[-1], (Jaxpr, Name))):
                raise self.expected(f"`,` or `{end}`")
        return values

    def record(self) -> Any:
        """`Class(field=value, ...)` or `frozenset({value, ...})`"""
        name = self.advance().text
        self.expect("(")
        if name == "frozenset" and self.accept("{"):
            elements = frozenset(self.values("}"))
            self.expect(")")
            return elements
        fields: dict[str, Any] = {}
        while not self.accept(")"):
            field = self.word("the name of a field, or `)`").text
            self.expect("=")
            fields[field] = self.value()
            if not self.accept(",") and not self.at(")"):
                raise self.expected("`,` or `)`")
        return Record(name, fields)

    def sum(self) -> Any:
        """`2*m*n - n^2 + 1`: a size; or a number, or a name by itself."""
        negative = self.accept("-")
        total = self.product()
        if negative:
            total = -total if isinstance(total, (float, complex)) else -self.size(total)
        while self.at("+") or self.at("-"):
            negative = self.advance().text == "-"
            term = self.size(self.product())
            total = self.size(total) + (-term if negative else term)
        return total

    def product(self) -> Any:
        result = self.factor()
        while self.accept("*"):
            result = self.size(result) * self.size(self.factor())
        return result

    def factor(self) -> Any:
        if self.token.kind == "number":
            text = self.advance().text
            return int(text) if text.isdigit() else ast.literal_eval(text)
        name = self.word("a value")
        if name.text in _NUMBERS:
            return complex(name.text) if name.text.endswith("j") else float(name.text)
        result: Any = Name(name.text)
        if name.text == "floordiv" and self.accept("("):
            numerator = self.size(self.sum())
            self.expect(",")
            denominator = self.size(self.sum())
            if not isinstance(denominator, Dim) and denominator < 1:
                raise self.error("a size is divided by what is at least 1")
            result = floor_divide(numerator, denominator)
            self.expect(")")
        if self.accept("^"):
            if self.token.kind != "number" or not self.token.text.isdigit():
                raise self.expected("a power such as `2`")
            result = self.size(result) ** int(self.advance().text)
        return result

    def size(self, value: Any) -> Size:
        if isinstance(value, Name):
            return dimension(value.text)
        if isinstance(value, (int, Dim)):
            return value
        raise self.error(f"expected a size, found `{value}`")
