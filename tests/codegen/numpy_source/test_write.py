"""Statements: sums in place, parts of arrays, results that are the function's own."""

import numpy as np
import pytest

from s2s import lax
from s2s.ir.assumptions import Assumptions, assuming
from s2s.ir.dims import dimension
from s2s.ir.jaxpr import ShapedArray
from s2s.primitives.indexing import put_at
from s2s.primitives.layout import Slice
from s2s.trace import evaluate, phase
from s2s_codegen.numpy_source import compile_jaxpr
from tests.codegen.numpy_source.bodies import FLOAT, at, body, called, f64, jaxpr
from tests.codegen.numpy_source.random_programs import random_program

N = dimension("n")
ROWS = f64("n")


def backward(fun, *avals, **options) -> list[str]:
    """The statements of a function whose equations are those of a derivative."""
    return body(jaxpr(fun, *avals, in_phase="cotangent", **options))


# -- sums in place --------------------------------------------------------------------------------


def two_terms(first):
    def total(x, y):
        at(1, "first")
        x_bar = called("x_bar", first(x))
        at(2, "second")
        return called("x_bar", lax.add_any(x_bar, lax.mul(x, y)))

    return total


def test_an_array_of_its_own_is_added_to() -> None:
    found = backward(two_terms(lax.sin), ROWS, ROWS)
    assert found == [
        "# model.py:1: first",
        "x_bar = np.sin(x)",
        "# model.py:2: second",
        "x_bar += x * y",
        "return x_bar",
    ]


def test_a_view_is_not_added_to() -> None:
    """It would write into the caller's array."""

    def flipped(x, y):
        return two_terms(lambda x: lax.rev(x, (0,)))(x, y)

    assert "x_bar = x_bar + x * y" in backward(flipped, ROWS, ROWS)


def test_an_argument_is_not_added_to() -> None:
    def total(x_bar, y):
        return called("x_bar", lax.add_any(x_bar, y))

    assert backward(total, ROWS, ROWS, names="x_bar y") == ["x_bar = x_bar + y", "return x_bar"]


def test_what_is_read_later_is_not_added_to() -> None:
    def total(x, y):
        x_bar = called("x_bar", lax.sin(x))
        at(2, "second")
        both = called("x_bar", lax.add_any(x_bar, y))
        return [both, lax.mul(x_bar, y)]

    found = backward(total, ROWS, ROWS)
    assert "x_bar_1 = x_bar + y" in found


def test_what_has_a_view_that_is_read_later_is_not_added_to() -> None:
    def total(x, y):
        x_bar = called("x_bar", lax.sin(x))
        view = called("flipped", lax.rev(x_bar, (0,)))
        at(2, "second")
        both = called("x_bar", lax.add_any(x_bar, y))
        return [both, lax.mul(view, y)]

    assert any("x_bar + y" in line for line in backward(total, ROWS, ROWS))


def test_a_smaller_value_is_not_added_to() -> None:
    """Broadcasting left it smaller than its type says."""

    def total(x, y):
        x_bar = called("x_bar", lax.exp(lax.broadcast_in_dim(y, (2, N), (1,))))
        at(2, "second")
        return called("x_bar", lax.add_any(x_bar, x))

    found = backward(total, f64(2, "n"), ROWS)
    assert found[-2:] == ["x_bar = x_bar + x", "return x_bar"]


def test_numbers_are_replaced() -> None:
    def total(x_bar, y):
        return called("x_bar", lax.sub(x_bar, y))

    assert backward(total, FLOAT, FLOAT, names="x_bar y") == ["x_bar -= y", "return x_bar"]


def test_a_negative_term_is_subtracted() -> None:
    def total(x, y):
        x_bar = called("x_bar", lax.sin(x))
        at(2, "second")
        return called("x_bar", lax.add_any(x_bar, lax.mul(-2.0, y)))

    assert "x_bar -= 2.0 * y" in backward(total, ROWS, ROWS)


@pytest.mark.parametrize(
    ("line", "statement"),
    [("total = total + y", "total = total + y"), ("total += y", "total += y")],
)
def test_the_user_s_own_sums_are_said_as_the_user_says_them(line: str, statement: str) -> None:
    def total(x, y):
        first = called("total", lax.sin(x))
        at(2, line)
        return lax.mul(2.0, called("total", lax.add(first, y)))

    assert statement in body(jaxpr(total, ROWS, ROWS))


# -- parts of arrays ------------------------------------------------------------------------------


def test_pad_is_an_assignment_to_a_part() -> None:
    def padded(x, y):
        return called("x_bar", lax.pad(y, 0.0, ((1, 1, 0),)))

    assert backward(padded, f64(5), f64(3)) == [
        "x_bar = np.zeros(x.shape)",
        "x_bar[1:4] = y",
        "return x_bar",
    ]


def test_parts_are_added_to_an_array() -> None:
    def total(x, y):
        x_bar = called("x_bar", lax.sin(x))
        at(2, "second")
        x_bar = called("x_bar", lax.add_any(x_bar, lax.pad(y, 0.0, ((0, 2, 0),))))
        return called("x_bar", lax.sub(x_bar, lax.pad(y, 0.0, ((0, 0, 1),))))

    assert backward(total, f64(5), f64(3))[1:] == [
        "# model.py:2: second",
        "x_bar[:3] += y",
        "x_bar[::2] -= y",
        "return x_bar",
    ]


def test_a_row_is_one_index() -> None:
    def padded(x, y):
        row = lax.broadcast_in_dim(y, (1, N), (1,))
        return called("x_bar", lax.pad(row, 0.0, ((2, 1, 0), (0, 0, 0))))

    assert backward(padded, f64(4, "n"), ROWS)[1] == "x_bar[2] = y"


def middle(x):
    return Slice((1,), (x.aval.shape[0] - 1,))


def test_an_assignment_to_a_slice_is_made_in_an_array_of_its_own() -> None:
    def stepped(x, y):
        u = called("u", lax.copy(x))
        at(2, "u[1:-1] = y")
        u = called("u", lax.update_slice(u, y, middle(x)))
        at(3, "u[1:-1] += 2.0 * y")
        return called("u", lax.update_slice(u, lax.mul(2.0, y), middle(x), add=True))

    with assuming(Assumptions()):
        found = body(jaxpr(stepped, ROWS, ShapedArray((N - 2,), np.dtype(np.float64))))
    assert [line for line in found if not line.startswith("#")] == [
        "u = x.copy()",
        "u[1:-1] = y",
        "u[1:-1] += 2.0 * y",
        "return u",
    ]


def test_an_assignment_to_a_slice_spares_the_argument() -> None:
    def stepped(x, y):
        return called("x", lax.update_slice(x, y, Slice((1,), (3,))))

    assert body(jaxpr(stepped, f64(3), f64(2))) == ["x_1 = x.copy()", "x_1[1:] = y", "return x_1"]


def test_an_assignment_to_a_slice_of_zeros_or_ones() -> None:
    def stepped(y):
        ones = lax.full((3,), 1.0, np.dtype(np.float64))
        return lax.update_slice(ones, y, Slice((0,), (2,)))

    assert body(jaxpr(stepped, f64(2), names="y"))[:2] == ["value = np.ones(3)", "value[:2] = y"]


def test_a_negative_part_is_subtracted() -> None:
    def stepped(x, y):
        x_bar = called("x_bar", lax.sin(x))
        return called(
            "x_bar", lax.update_slice(x_bar, lax.mul(-2.0, y), Slice((0,), (2,)), add=True)
        )

    assert "x_bar[:2] -= 2.0 * y" in backward(stepped, f64(3), f64(2))


def test_scatter_add_counts_each_of_equal_indices() -> None:
    places = np.array([0, 2, 0])

    def gradient(x, y):
        zeros = lax.full((N,), 0.0, np.dtype(np.float64))
        return called("x_bar", put_at(zeros, [0], [places], y, add=True))

    closed = jaxpr(gradient, f64("n"), f64(3), in_phase="cotangent")
    (found,) = compile_jaxpr(closed)(np.zeros(4), np.array([1.0, 2.0, 4.0]))
    np.testing.assert_array_equal(found, [5.0, 0.0, 2.0, 0.0])


def test_scatter_does_not_write_into_the_argument() -> None:
    places = np.array([1])
    closed = jaxpr(lambda x, y: put_at(x, [0], [places], y), f64(3), f64(1))
    x = np.zeros(3)
    (found,) = compile_jaxpr(closed)(x, np.ones(1))
    np.testing.assert_array_equal(found, [0.0, 1.0, 0.0])
    np.testing.assert_array_equal(x, 0.0)


def test_a_part_of_the_array_that_is_added_to_is_read_first() -> None:
    """`x_bar + y`, and its own first elements shifted: not those of the sum."""

    def total(x, y):
        x_bar = called("x_bar", lax.sin(x))
        at(2, "second")
        shifted = lax.pad(lax.slice(x_bar, (0,), (2,)), 0.0, ((1, 0, 0),))
        return called("x_bar", lax.add_any(lax.add_any(x_bar, y), shifted))

    closed = jaxpr(total, f64(3), f64(3), in_phase="cotangent")
    x, y = np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.25, 0.125])
    (found,) = compile_jaxpr(closed)(x, y)
    (expected,) = evaluate(closed, x, y)
    np.testing.assert_array_equal(found, expected)


# -- results --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fun", "returned"),
    [
        (lambda x: x, "return x.copy()"),
        (lambda x: lax.transpose(x, (1, 0)), "return value.copy()"),
        (lambda x: [y := lax.exp(x), y], "return value, value.copy()"),
        (lambda x: [y := lax.exp(x), lax.transpose(y, (1, 0))], "return exp_x, value.copy()"),
    ],
)
def test_results_are_arrays_of_their_own(fun, returned: str) -> None:
    assert body(jaxpr(fun, f64("n", "m")))[-1] == returned


def test_numbers_are_returned_as_they_are() -> None:
    assert body(jaxpr(lambda x: [x, lax.mul(2.0, x)], FLOAT))[-1] == "return x, value"


def test_a_broadcast_result_can_be_written_to() -> None:
    closed = jaxpr(lambda x: lax.broadcast_in_dim(x, (2, 3), (1,)), f64(3))
    (found,) = compile_jaxpr(closed)(np.arange(3.0))
    assert found.shape == (2, 3) and found.flags.writeable


# -- names and comments ---------------------------------------------------------------------------


def test_comments_stand_above_their_lines_once() -> None:
    def steps(x):
        at(1, "speed = speed + 1.0")
        speed = called("speed", lax.add(lax.mul(x, x), 1.0))
        at(2, "speed = 2.0 * speed")
        speed = called("speed", lax.mul(2.0, speed))
        with phase("cotangent"):
            return called("x_bar", lax.mul(speed, x))

    assert body(jaxpr(steps, ROWS)) == [
        "# model.py:1: speed = speed + 1.0",
        "speed = x * x + 1.0",
        "# model.py:2: speed = 2.0 * speed",
        "speed = 2.0 * speed",
        "",
        "# Backward, from the return value to the arguments.",
        "# model.py:2: speed = 2.0 * speed",
        "x_bar = speed * x",
        "return x_bar",
    ]


def test_names_of_tangents() -> None:
    def pushed(x, x_dot):
        with phase("tangent"):
            slope = lax.cos(x)
            return lax.mul(slope, lax.add(x_dot, lax.mul(slope, x_dot)))

    found = body(jaxpr(pushed, ROWS, ROWS, names="x x_dot"))
    assert found == [
        "cos_x = np.cos(x)",
        "value_dot = cos_x * (x_dot + cos_x * x_dot)",
        "return value_dot",
    ]


# -- random programs ------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(400))
def test_random_programs_compute_what_their_jaxprs_mean(seed: int) -> None:
    """To the last bit: all numbers are small integers. No argument is written to, and no result
    shares memory with an argument or another result."""
    closed, arguments = random_program(seed)
    expected = evaluate(closed, *[np.copy(a) for a in arguments])
    given = [np.copy(a) for a in arguments]
    results = compile_jaxpr(closed)(*given)
    for argument, before in zip(given, arguments, strict=True):
        np.testing.assert_array_equal(argument, before)
    for var, result, wanted in zip(closed.jaxpr.outvars, results, expected, strict=True):
        assert np.shape(result) == var.aval.shape
        np.testing.assert_array_equal(result, wanted)
    arrays = [result for result in results if np.ndim(result)]
    for position, array in enumerate(arrays):
        assert array.flags.writeable
        for other in (*given, *arrays[position + 1 :]):
            assert not np.shares_memory(array, other)
