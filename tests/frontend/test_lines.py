"""The text of statements, on one line."""

from __future__ import annotations

import pytest

from s2s.frontend.lines import Statement, on_one_line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x = y + 1", "x = y + 1"),
        ("for x in xs:\n    ", "for x in xs:"),
        ("for x in xs:  # a loop\n    ", "for x in xs:"),
        ("x = (\n    y  # one\n    + 1\n)", "x = (y + 1)"),
        ("x = f(\n    y,\n    [1,\n     2],\n)", "x = f(y, [1, 2])"),
        ("x = y + \\\n    1", "x = y + 1"),
        ('x = {"a": "#",\n     "b": f"{y} z"}', 'x = {"a": "#", "b": f"{y} z"}'),
        ("x = y[\n    :,\n    None\n]", "x = y[:, None]"),
    ],
)
def test_statements_are_shown_on_one_line(text: str, line: str) -> None:
    assert on_one_line(text) == line


def test_columns_count_bytes() -> None:
    statement = Statement(['é = "é"; x = é\n'], 1, ((1, 11), (1, 17)))
    assert statement.text == "x = é"
