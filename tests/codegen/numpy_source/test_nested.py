"""What nested loops keep: where it is filled in one array, and where it is not."""

from __future__ import annotations

from s2s_codegen.numpy_source.nested import in_place
from s2s_codegen.numpy_source.statements import Block, Line


def loop(*lines: str) -> Block:
    return Block("for j in range(m):", [Line(line) for line in lines])


def test_rows_are_filled_in_place() -> None:
    statements = [Line("x = np.empty(m)"), loop("y = f(j)", "x[j - 1] = y")]
    assert in_place("x", "i", statements) == [loop("y = f(j)", "x[i, j - 1] = y")]


def test_rows_that_are_read_stay() -> None:
    made = Line("x = np.empty(m)")
    assert in_place("x", "i", [made, loop("x[j] = y", "z = x[j]")]) is None
    assert in_place("x", "i", [made, loop("x[j] = x[j - 1]")]) is None
    assert in_place("x", "i", [made, loop("x[j] = y"), Line("z = np.sum(x)")]) is None
    assert in_place("x", "i", [made, made, loop("x[j] = y")]) is None
    assert in_place("x", "i", [loop("x[j] = y")]) is None


def test_indices_with_indices_stay() -> None:
    assert in_place("x", "i", [Line("x = np.empty(m)"), loop("x[p[j]] = y")]) is None
