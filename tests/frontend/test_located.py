"""What is raised while a function is traced, as one paragraph about the user's line."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from s2s.errors import UserError
from s2s.frontend.located import located
from s2s.ir.check import JaxprTypeError, check
from tests.frontend.tracing import FLOAT, f64, refusal, traced


def multiplies(x, y):
    return x @ y


def adds(x, y):
    return x + y


def test_shapes_that_do_not_match_are_named() -> None:
    error = refusal(multiplies, f64("n", "d"), f64("n", "k"))
    assert error.source is not None and error.source.text == "return x @ y"
    assert "(n, d)" in error.message and "(n, k)" in error.message
    error = refusal(adds, f64(3), f64(4))
    assert "(3,)" in error.message and "(4,)" in error.message


def helper(k):
    return 1.0 / k


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda x: x * helper(0), "raises ZeroDivisionError: float division by zero."),
        (lambda x: x * {}["w"], "raises KeyError: 'w'."),
        (lambda x: x * [][2], "raises IndexError: list index out of range."),
        (lambda x: x * missing, "raises NameError: name 'missing' is not defined."),  # type: ignore # noqa: F821
        (lambda x: x.unknown, "raises AttributeError: 'float' object has no attribute 'unknown'."),
        (lambda x: json.loads("{") * x, "json.loads raises JSONDecodeError: Expecting property"),
        (lambda x: open("/no/such/file"), "raises FileNotFoundError: [Errno 2] No such file"),
        (lambda x: helper(x, 2), "raises TypeError: helper() takes 1 positional argument but 2"),
        (lambda x: x + "a", "raises TypeError: unsupported operand type(s) for +:"),
    ],
)
def test_errors_of_the_users_code(function: Any, text: str) -> None:
    error = refusal(function, FLOAT)
    assert error.message.startswith(text)
    assert error.source is not None and error.source.file.endswith("test_located.py")
    assert error.__cause__ is not None


def test_the_line_is_the_innermost_of_the_users() -> None:
    error = refusal(lambda x: x * helper(0), FLOAT)
    assert error.source is not None and error.source.text == "return 1.0 / k"


def test_errors_that_the_user_raises_and_handles() -> None:
    def checked(x, n=0):
        if n == 0:
            raise ValueError("n must be positive")
        return x

    def handles(x):
        try:
            return checked(x)
        except ValueError:
            return x * 2.0

    error = refusal(checked, FLOAT)
    assert error.message == "raises ValueError: n must be positive."
    assert len(traced(handles, FLOAT).closed.eqns) == 1


def test_functions_without_end() -> None:
    def endless(x):
        return endless(x * 2.0)

    assert "calls itself without end" in refusal(endless, FLOAT).message

    def left_by_a_value(x):
        for _ in itertools.count():
            x = x * 0.5
            if x < 0.1:
                break
        return x

    assert "goes through what has no end" in refusal(left_by_a_value, FLOAT).message


def test_questions_about_named_sizes() -> None:
    error = refusal(lambda x: x if len(x) > 10 else -x, f64("n"))
    assert error.message == (
        "whether n > 10 depends on the size n; "
        "give a number in the types of the arguments instead of the name."
    )


def test_faults_of_s2s_are_not_put_on_the_user() -> None:
    with pytest.raises(JaxprTypeError), located():
        raise JaxprTypeError("result is f64[3], f64[4] expected")
    with pytest.raises(AttributeError), located():
        check(None)  # type: ignore[arg-type]


def test_errors_that_have_a_line_keep_it() -> None:
    with pytest.raises(UserError) as caught, located():
        raise UserError("that will not do")
    assert caught.value.source is not None
    assert caught.value.source.text == 'raise UserError("that will not do")'
