"""Expressions have the parentheses that they need, and no others."""

import random

import pytest

from s2s.primitive import Precedence
from s2s_codegen.numpy_source.expression import (
    OPERATORS,
    Expression,
    binary,
    call,
    index,
    is_negative,
    method,
    negative,
    slice_of,
    tuple_of,
    without_sign,
)

A, B, C = Expression("a"), Expression("b"), Expression("c")
TWO = Expression("2.0")


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (binary("-", A, binary("-", B, C)), "a - (b - c)"),
        (binary("-", binary("-", A, B), C), "a - b - c"),
        (binary("*", binary("+", A, B), C), "(a + b) * c"),
        (binary("**", negative(A), TWO), "(-a) ** 2.0"),
        (binary("**", A, TWO), "a**2.0"),
        (binary("**", A, negative(TWO)), "a**-2.0"),
        (binary("**", Expression("a.b"), TWO), "a.b**2.0"),
        (binary("**", index(A, ["1:"]), TWO), "a[1:] ** 2.0"),
        (binary("**", binary("**", A, B), C), "(a**b) ** c"),
        (binary("<", binary("<", A, B), C), "(a < b) < c"),
        (negative(binary("*", A, B)), "-a * b"),
        (negative(binary("@", A, B)), "-(a @ b)"),
        (negative(binary("%", A, B)), "-(a % b)"),
        (negative(binary("//", A, B)), "-(a // b)"),
        (negative(binary("*", binary("**", A, B), C)), "-(a**b) * c"),
        (negative(negative(A)), "-(-a)"),
        (negative(negative(binary("*", A, B))), "a * b"),
        (method(binary("+", A, B), "sum", "axis=0"), "(a + b).sum(axis=0)"),
        (method(TWO, "sum"), "(2.0).sum()"),
        (call("np.where", binary("<", A, B), A, "0.0"), "np.where(a < b, a, 0.0)"),
        (index(A, [":", "None", ":"]), "a[:, None]"),
        (index(A, [":"]), "a[:]"),
    ],
)
def test_text(expression: Expression, text: str) -> None:
    assert expression.text == text


def test_what_follows_a_minus_sign() -> None:
    assert is_negative(negative(binary("*", A, B)))
    assert without_sign(negative(binary("*", A, B))).text == "a * b"
    assert without_sign(negative(A)).precedence < Precedence.ATOM
    assert without_sign(binary("-", negative(A), B)).text == "a + b"
    assert without_sign(binary("+", negative(A), B)).text == "a - b"
    assert not is_negative(binary("-", negative(binary("**", A, B)), B))
    assert not is_negative(Expression("-a @ b", Precedence.PRODUCT))


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        (("1", "-1"), "1:-1"),
        (("", "n"), ":n"),
        (("n - 1", ""), "n - 1 :"),
        (("", "n - 1"), ": n - 1"),
        (("", "n - 1", "2"), ": n - 1 : 2"),
        (("", "", "2"), "::2"),
        (("", "", "n + 1"), ":: n + 1"),
        (("n - 1", "", "2"), "n - 1 :: 2"),
    ],
)
def test_slices(bounds: tuple[str, ...], text: str) -> None:
    assert slice_of(*bounds) == text


def test_tuples() -> None:
    assert (tuple_of([]), tuple_of(["n"]), tuple_of(["n", "3"])) == ("()", "(n,)", "(n, 3)")


def random_expression(source: random.Random, depth: int) -> tuple[Expression, str]:
    """An expression, and the same with parentheses everywhere."""
    if depth == 0:
        name = source.choice("abc")
        return Expression(name), name
    if source.random() < 0.2:
        operand, full = random_expression(source, depth - 1)
        return negative(operand), f"(-{full})"
    operator = source.choice([op for op in OPERATORS if op not in ("@", "<<", ">>")])
    x, full_x = random_expression(source, depth - 1)
    y, full_y = random_expression(source, depth - 1)
    return binary(operator, x, y), f"({full_x} {operator} {full_y})"


class Recorded:
    """A value that records what is computed with it, with signs brought to the front."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __neg__(self) -> "Recorded":
        return Recorded(self.text[2:-1] if self.text.startswith("-(") else f"-({self.text})")


def record(operator: str):
    def compute(x: Recorded, y: Recorded) -> Recorded:
        signs = 0
        if operator in "*/":  # here -x * y and -(x * y) are the same value
            for operand in (x, y):
                signs += operand.text.startswith("-(")
            x, y = (Recorded(o.text[2:-1] if o.text.startswith("-(") else o.text) for o in (x, y))
        result = Recorded(f"({x.text} {operator} {y.text})")
        return -result if signs % 2 else result

    return compute


NAMES = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod",
    "**": "pow", "|": "or", "^": "xor", "&": "and", "<": "lt", "<=": "le", ">": "gt",
    ">=": "ge", "==": "eq", "!=": "ne",
}  # fmt: skip
for _operator, _name in NAMES.items():
    setattr(Recorded, f"__{_name}__", record(_operator))


@pytest.mark.parametrize("seed", range(300))
def test_parentheses_do_not_change_the_value(seed: int) -> None:
    source = random.Random(seed)
    expression, full = random_expression(source, 4)
    values = {name: Recorded(name) for name in "abc"}
    assert eval(expression.text, dict(values)).text == eval(full, dict(values)).text


@pytest.mark.parametrize(
    ("text", "without"),
    [("-(a @ b)", "a @ b"), ("-(a + b).sum(axis=(0, 1))", "(a + b).sum(axis=(0, 1))"), ("-a", "a")],
)
def test_what_follows_a_minus_sign_needs_no_parentheses_on_its_own(text: str, without: str) -> None:
    found = without_sign(Expression(text, Precedence.UNARY))
    assert found.text == without
    assert binary("-", Expression("x"), found).text == f"x - {text[1:]}"
