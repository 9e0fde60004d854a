"""`assert`, `raise` and `print` that depend on values: they happen where the user's code has them
happen, in the value, in its derivatives and in batches."""

from __future__ import annotations

import math
import re
import warnings
from typing import Any

import numpy as np
import pytest

import s2s
from s2s.errors import UserError
from s2s.frontend.options import Choices, choosing
from s2s.ir.jaxpr import ShapedArray
from tests.frontend.tracing import FLOAT, agrees, f64, refusal


def checked(x: float) -> float:
    assert x > 0.0, f"x is {x:.2f}"
    return x**3


def root(x):
    if x < 0.0:
        raise ValueError(f"{x} has no root")
    return np.sqrt(x)


def of_rows(xs):
    total = 0.0
    for k, x in enumerate(xs):
        if x > 1.0:
            if x > 2.0:
                raise OverflowError(f"row {k} is {x}")
            total += x
        else:
            total += root(x)
    return total


TRANSFORMED = [
    lambda f: f,
    s2s.grad,
    s2s.value_and_grad,
    lambda f: s2s.grad(s2s.grad(f)),
    lambda f: lambda x: s2s.jvp(f, (x,), (np.ones_like(x),)),
]


@pytest.mark.parametrize("transform", TRANSFORMED)
def test_an_assertion_is_one_in_each_derivative(transform) -> None:
    function = transform(checked)
    function(2.0)
    with pytest.raises(AssertionError, match=r"^x is -2\.00"):
        function(-2.0)


@pytest.mark.parametrize("transform", TRANSFORMED)
def test_an_exception_is_raised_in_each_derivative(transform) -> None:
    function = transform(root)
    function(2.0)
    with pytest.raises(ValueError, match=r"^-2\.0 has no root$"):
        function(-2.0)


@pytest.mark.parametrize("transform", [TRANSFORMED[i] for i in (0, 1, 2, 4)])
def test_exceptions_in_loops(transform) -> None:
    function = transform(of_rows)
    function(np.array([0.5, 1.5]))
    with pytest.raises(ValueError, match=r"^-0\.5 has no root$"):
        function(np.array([0.5, 1.5, -0.5, 3.0]))
    with pytest.raises(OverflowError, match=r"^row 1 is 3\.0$"):
        function(np.array([0.5, 3.0, -0.5, 1.5]))


@pytest.mark.parametrize("transform", TRANSFORMED[:4])
def test_a_batch_raises_if_one_of_its_examples_does(transform) -> None:
    function = s2s.vmap(transform(root))
    function(np.array([1.0, 2.0]))
    with pytest.raises(ValueError, match=r"^\[ 1\. -2\.\] has no root$"):
        function(np.array([1.0, -2.0]))


def test_branches_that_no_example_of_a_batch_takes_raise_nothing() -> None:
    function = s2s.vmap(of_rows)
    function(np.array([[0.5, 1.5], [1.5, 0.5]]))
    with pytest.raises(ValueError, match="has no root"):
        function(np.array([[0.5, 1.5], [1.5, -0.5]]))
    with pytest.raises(OverflowError, match="row 0"):
        function(np.array([[0.5, 1.5], [2.5, 0.5]]))


def test_loops_of_unknown_length_in_a_batch() -> None:
    def halvings(x):
        count = 0
        while x > 1.0:
            x = x * 0.5
            count += 1
            assert count < 5, "too many"
        return x * count

    function = s2s.vmap(s2s.grad(halvings))
    np.testing.assert_allclose(function(np.array([3.0, 17.0 / 2])), [0.5, 0.25])
    with pytest.raises(AssertionError, match=r"^too many$"):
        function(np.array([3.0, 40.0]))


def test_try_inside_of_a_branch_handles_what_is_raised_there() -> None:
    def function(x):
        if x > 0.0:
            try:
                raise KeyError("gone")
            except KeyError:
                y = x * 2.0
            finally:
                z = 3.0
        else:
            y, z = x, 1.0
        return y * z

    assert s2s.grad(function)(2.0) == 6.0
    assert s2s.grad(function)(-2.0) == 1.0


def test_with_blocks_and_finally_between_are_left() -> None:
    def function(x):
        with np.errstate(all="ignore"):
            try:
                if x < 0.0:
                    raise ValueError("negative")
            finally:
                y = x * 2.0
        return y

    assert s2s.grad(function)(2.0) == 2.0
    with pytest.raises(ValueError, match="negative"):
        s2s.grad(function)(-2.0)


def test_a_handler_around_the_branch_is_refused() -> None:
    def function(x):
        try:
            return root(x)
        except ValueError:
            return 0.0

    with pytest.raises(UserError, match="the `try` around it would handle that"):
        s2s.grad(function)(2.0)


def test_a_handler_around_an_error_in_a_branch_is_refused() -> None:
    def function(x):
        try:
            if x > 0.5:
                return x * x
            y = {"a": x}["b"]
        except KeyError:
            y = x * 5.0
        return y

    with pytest.raises(UserError, match="whether this raises KeyError depends on the values"):
        s2s.grad(function)(2.0)


def test_a_handler_of_another_exception_is_not_in_the_way() -> None:
    def function(x):
        try:
            return root(x)
        except ZeroDivisionError:
            return 0.0

    with pytest.raises(ValueError, match="has no root"):
        s2s.grad(function)(-2.0)


def test_both_branches_raise() -> None:
    def function(x):
        if x > 0.0:
            if x > 1.0:
                raise ValueError("above")
            else:
                raise TypeError("between")
        return x * x

    assert s2s.grad(function)(-1.0) == -2.0
    with pytest.raises(ValueError, match="above"):
        s2s.grad(function)(2.0)
    with pytest.raises(TypeError, match="between"):
        s2s.grad(function)(0.5)


def test_a_function_that_always_raises_is_refused() -> None:
    def function(x):
        if x > 0.0:
            raise ValueError("positive")
        raise TypeError("not positive")

    with pytest.raises(UserError, match="raises TypeError: not positive"):
        s2s.grad(function)(2.0)

    def other(x):
        if x > 0.0:
            raise ValueError("positive")
        else:
            raise TypeError("not positive")

    with pytest.raises(UserError, match="this raises an exception, whatever the arguments are"):
        s2s.grad(other)(2.0)


class NotConverged(RuntimeError):
    """An exception of the user's."""


def test_exceptions_of_the_users_become_those_of_python() -> None:
    def function(x):
        if x > 1.0:
            raise NotConverged(f"after {x} steps")
        return x * x

    with pytest.warns(UserWarning, match="raises RuntimeError in place of NotConverged"):
        assert s2s.grad(function)(0.5) == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(RuntimeError, match=r"^NotConverged: after 2\.0 steps$"):
            s2s.grad(function)(2.0)


def prints(x):
    print("start")
    for k in range(6):
        x = x * 0.5
        if x < 0.1:
            print(f"{k}: {x:.3f}", end=";\n")
    print("x", x, [x, 1], sep=", ")
    return x * x


def test_prints_are_kept_if_that_is_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    with choosing(Choices(keep_prints=True)):
        gradient = s2s.grad(prints)
        gradient(1.0)
    generated = capsys.readouterr().out
    prints(1.0)
    wanted = capsys.readouterr().out
    assert re.sub(r"np\.float64\((.*?)\)", r"\1", generated) == wanted


def test_prints_of_values_are_left_out_with_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.warns(UserWarning, match=r"left out.*--keep-prints"):
        s2s.grad(prints)(1.0)
    assert capsys.readouterr().out == "start\n"


def test_texts_of_values() -> None:
    def function(x, kind):
        texts = {
            "format": "{:.1f} and {name}".format(x, name=2.0 * x),  # noqa: UP032
            "str": "value " + str(x),
            "repr": f"{x!s:>6}",
        }
        assert x > 0.0, texts[kind]
        return x

    for kind, text in [("format", "-1.0 and -2.0"), ("str", "value -1.0"), ("repr", "  -1.0")]:
        with pytest.raises(AssertionError, match=f"^{re.escape(text)}$"):
            s2s.grad(function)(-1.0, kind)


@pytest.mark.parametrize(
    "use", [lambda t: {t: 1}, lambda t: t == "a", lambda t: t.upper(), lambda t: 1 if t else 0]
)
def test_a_text_of_a_value_has_no_other_use(use) -> None:
    def function(x):
        use(f"x is {x}")
        return x

    with pytest.raises(UserError, match="It can be printed, or be the message of an exception"):
        s2s.grad(function)(1.0)


def test_percent_is_refused() -> None:
    def function(x):
        assert x > 0.0, "x is %s" % x  # noqa: UP031
        return x

    with pytest.raises(UserError, match="Write an f-string"):
        s2s.grad(function)(1.0)


def _quotient(x: float, y: float) -> float:
    try:
        return x / y
    except ZeroDivisionError:
        return 0.0


def _root(x: float, y: float) -> float:
    try:
        z = math.sqrt(x) if y > 0.0 else y
    except (TypeError, ValueError):
        z = 0.0
    return z


def _item(xs: np.ndarray, k: int) -> float:
    try:
        return xs[k]
    except LookupError:
        return 0.0


@pytest.mark.parametrize(
    ("function", "types", "error"),
    [
        (_quotient, (FLOAT, FLOAT), "ZeroDivisionError"),
        (_root, (FLOAT, FLOAT), "ValueError"),
        (_item, (f64(3), ShapedArray((), np.dtype(np.int64))), "IndexError"),
    ],
)
def test_what_a_handler_waits_for_is_refused(function: Any, types: Any, error: str) -> None:
    found = refusal(function, *types)
    assert found.message.startswith(f"whether this raises {error} depends on the values")
    assert found.source is not None and "`if`" in found.message


def test_a_try_around_what_cannot_fail_stays() -> None:
    def halved(x: float, ys: np.ndarray) -> Any:
        try:
            return x / 2.0 + np.sqrt(ys[1]) / ys[0]
        except (ZeroDivisionError, ValueError, IndexError):
            return 0.0

    agrees(halved, 0.5, np.array([1.0, 2.0]))
