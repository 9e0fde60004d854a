"""What is laid out on lines is a fixed point of black, mostly without asking it."""

import random

import black
import pytest

from s2s_codegen.numpy_source import format as formatting
from s2s_codegen.numpy_source.expression import (
    Expression,
    binary,
    call,
    index,
    method,
    negative,
    slice_of,
)
from s2s_codegen.numpy_source.format import format_statements
from s2s_codegen.numpy_source.statements import BLANK, Block, Comment, Line, Statement

LEAVES = ["x", "hidden", "predicted_bar", "total_vol", "2.0", "temperature_difference_1", "1e-05"]
ITEMS = [["1:", "None"], ["i"], [slice_of("n - 1", "")], [slice_of("", "2 * n - 1", "2")]]
TARGETS = [
    "x_bar = ",
    "temperature_difference_bar_1 = ",
    "return ",
    "x_bar += ",
    "x[:, n - 1 :] = ",
]


def random_expression(source: random.Random, depth: int) -> Expression:
    def operand() -> Expression:
        return random_expression(source, depth - 1)

    kind = source.random()
    if depth == 0 or kind < 0.2:
        return Expression(source.choice(LEAVES))
    if kind < 0.65:
        return binary(source.choice("++--**/@") + "", operand(), operand())
    if kind < 0.7:
        return binary("**", operand(), operand())
    if kind < 0.75:
        return negative(operand())
    if kind < 0.88:
        count = source.choice([1, 1, 2, 3])
        return call(source.choice(["np.exp", "np.where"]), *[operand() for _ in range(count)])
    if kind < 0.94:
        return index(operand(), source.choice(ITEMS))
    return method(operand(), "sum", "axis=0")


def module(statements: list[Statement]) -> str:
    return "\n".join(["def f():", *format_statements(statements, 1), ""])


@pytest.mark.parametrize("seed", range(10))
def test_random_statements_are_a_fixed_point_of_black(seed: int) -> None:
    source = random.Random(seed)
    lines: list[Statement] = [
        Line(source.choice(TARGETS) + random_expression(source, source.choice([2, 3, 4])).text)
        for _ in range(40)
    ]
    written = module(lines)
    assert black.format_str(written, mode=black.Mode()) == written


def test_sums_and_calls_need_no_black(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(text: str, width: int) -> None:
        pytest.fail(f"black was asked about {text}")

    monkeypatch.setattr(formatting, "_ask_black", refuse)
    terms = " + ".join(f"product_bar_{i} * hidden_{i}" for i in range(6))
    written = module([Line(f"hidden_bar = {terms}"), Line(f"hidden_bar = np.tanh({terms})")])
    assert written.splitlines()[1:3] == [
        "    hidden_bar = (",
        "        product_bar_0 * hidden_0",
    ]
    assert black.format_str(written, mode=black.Mode()) == written


def test_blocks_comments_and_blank_lines() -> None:
    loop = Block("for i in range(steps):", [Comment("model.py:3: u = u + i"), Line("u = u + i")])
    written = module([Line("u = 0.0"), BLANK, loop, Line("return u")])
    assert written == (
        "def f():\n"
        "    u = 0.0\n"
        "\n"
        "    for i in range(steps):\n"
        "        # model.py:3: u = u + i\n"
        "        u = u + i\n"
        "    return u\n"
    )


def test_long_header_of_a_block() -> None:
    shapes = ", ".join(f"weights_{i}.shape" for i in range(5))
    sizes = ", ".join(f"(size_{i}, size_{i + 1})" for i in range(5))
    written = module([Block(f"if ({shapes}) != ({sizes}):", [Line("raise ValueError")])])
    assert black.format_str(written, mode=black.Mode()) == written
