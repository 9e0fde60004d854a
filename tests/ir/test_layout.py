"""Documents fill lines, and break them from the outside inwards."""

from __future__ import annotations

import pytest

from s2s.ir.layout import Block, Break, Doc, Group, Nest, Words, join, render


def group(*parts: Doc) -> Doc:
    return Group([Nest(2, list(parts))])


@pytest.mark.parametrize(
    ("doc", "text"),
    [
        ("longer than a line", "longer than a line"),
        (["a", Break(), "b"], "a\nb"),
        (group("12345", Break(), "789"), "12345 789"),
        (group("12345", Break(), "7890"), "12345 7890"),
        (group("12345", Break(), "78901"), "12345\n  78901"),
        (group("12345", Break("; "), "789"), "12345; 789"),
        (group("12345", Break(""), "67890"), "1234567890"),
        # What follows a group does not count.
        ([group("12345", Break(), "7890"), "behind"], "12345 7890behind"),
        # The inner group still fits, though the outer one does not.
        (group("a", Break(), group("b", Break(), "c"), Break(), "defghi"), "a\n  b c\n  defghi"),
        (
            group("a", Break(), group("bcdef", Break(), "ghijk"), Break(), "l"),
            "a\n  bcdef\n    ghijk\n  l",
        ),
        (Words([]), ""),
        (Words(["12345", "7890"]), "12345 7890"),
        (Words(["1234", "678", "012", "34"]), "1234 678 012\n  34"),
        (["12345", Words(["67", "90", "12", "45"])], "1234567 90\n  12 45"),
        (Block("[", [], "]"), "[]"),
        (Block("[", ["a", "b"], "]"), "[a b]"),
        (Block("[", ["abcd", "efghi"], "]"), "[\n  abcd\n  efghi\n]"),
        (Block("[", ["abcd", group("efg", Break(), "hij")], "]"), "[\n  abcd\n  efg hij\n]"),
        (group("a", Break(), Block("(", ["b", "c"], ")")), "a (b c)"),
    ],
)
def test_lines_of_ten(doc: Doc, text: str) -> None:
    assert render(doc, width=10) == text


def test_join() -> None:
    assert join(Break(), []) == []
    assert join(Break(), ["a"]) == ["a"]
    assert join(Break(), ["a", "b", "c"]) == ["a", Break(), "b", Break(), "c"]
