"""What is raised and printed: the text, the order, and what passes make of it."""

from __future__ import annotations

import numpy as np
import pytest

from s2s import lax
from s2s.ir.jaxpr import ShapedArray
from s2s.ir.parser import parse_jaxpr
from s2s.passes.dce import dce
from s2s.passes.effects import without_effects
from s2s.passes.vmap import vmap
from s2s.primitive import registry
from s2s.primitives.effects import Print, Raise
from s2s.trace import bind, evaluate, make

F64 = ShapedArray((), np.dtype(np.float64))


@pytest.mark.parametrize(
    ("effect", "operands", "text"),
    [
        (Raise("ValueError"), [], "raise ValueError"),
        (Raise("ValueError", ("negative",)), [], 'raise ValueError("negative")'),
        (Raise("ValueError", ("{0}",)), ["x + y"], "raise ValueError(x + y)"),
        (
            Raise("RuntimeError", ("x is {0:.3f}, {{{1!r}}}",)),
            ["x", "y[0]"],
            'raise RuntimeError(f"x is {x:.3f}, {{{y[0]!r}}}")',
        ),
        (Raise("KeyError", ('say "{0}"',)), ["x"], "raise KeyError(f'say \"{x}\"')"),
        (Print(("x is {0}",)), ['p["a"]'], 'print("x is {0}".format(p["a"]))'),
        (Print(("x", "{0}"), sep=", ", end=""), ["x"], 'print("x", x, sep=", ", end="")'),
        (Print(("step", "3", "-0.5", "1.50")), [], 'print("step", 3, -0.5, "1.50")'),
        (Print(), [], "print()"),
    ],
)
def test_spelling(effect: Raise | Print, operands: list[str], text: str) -> None:
    assert effect.spell(operands, [F64] * len(operands)) == text
    compile(text, "<test>", "exec")


def prints_and_squares(x):
    bind(Print(("x is {0:.1f}",)), x)
    return [lax.mul(x, x)]


def test_effects_stay_and_happen_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    closed = dce(make(prints_and_squares, [F64]), [False])
    assert [eqn.primitive.name for eqn in closed.eqns] == ["print"]
    evaluate(closed, 2.0)
    assert capsys.readouterr().out == "x is 2.0\n"


def test_a_batch_prints_once_without_formats(capsys: pytest.CaptureFixture[str]) -> None:
    closed, _ = vmap(make(prints_and_squares, [F64]), 2, [0])
    evaluate(closed, np.array([1.0, 2.0]))
    assert capsys.readouterr().out == "x is [1. 2.]\n"


def test_printed_and_parsed() -> None:
    closed = make(prints_and_squares, [F64])
    assert str(parse_jaxpr(str(closed), registry)) == str(closed)


def test_removal() -> None:
    closed = make(prints_and_squares, [F64])
    assert [eqn.primitive.name for eqn in without_effects(closed).eqns] == ["mul"]
    silent = without_effects(closed)
    assert without_effects(silent) is silent


def test_evaluation_raises() -> None:
    closed = make(lambda x: bind(Raise("ValueError", ("{0} is bad",)), x), [F64])
    with pytest.raises(ValueError, match=r"2\.0 is bad"):
        evaluate(closed, 2.0)
