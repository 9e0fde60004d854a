"""From an example's sizes to named dimensions: what becomes one, what is fixed, what is assumed."""

import numpy as np
import pytest

from s2s.errors import UserError
from s2s.frontend.argument_types.generalise import generalise
from s2s.frontend.argument_types.text import parse_arguments
from s2s.frontend.argument_types.types import render, type_of_example
from s2s.ir import dims


def run(attempt, given="", **examples):
    """The types and lower bounds with which `attempt(*shapes)` went through."""
    of_examples = {name: type_of_example(value) for name, value in examples.items()}
    arguments = {**of_examples, **parse_arguments(given)}

    def attempt_with(types):
        attempt(*[argument.shape for argument in types.values()])
        text = ", ".join(f"{name}: {render(argument)}" for name, argument in types.items())
        return text, dict(dims.assumptions().minimum)

    return generalise(arguments, of_examples, attempt_with)


def test_an_axis_that_nothing_asks_about_is_a_dimension_of_its_own():
    found = run(lambda x, y, z: None, x=np.ones((3, 2)), y=np.ones(3), z=1.0)
    assert found == ("x: f64[n, m], y: f64[k], z: float", {})


def test_an_axis_of_size_one_or_zero_stays():
    found = run(lambda x: None, x=np.ones((1, 0, 4)))
    assert found == ("x: f64[1, 0, n]", {})


def test_sizes_that_an_operation_needs_equal_become_one():
    def matmul(x, w):
        assert dims.require_same(x[1], w[0])

    found = run(matmul, x=np.ones((3, 2)), w=np.ones((2, 3)))
    assert found == ("x: f64[n, m], w: f64[m, k]", {})


def test_sizes_that_the_example_has_different_do_not():
    def matmul(x, w):
        assert not dims.require_same(x[0], w[0])

    found = run(matmul, x=np.ones(3), w=np.ones(2))
    assert found == ("x: f64[n], w: f64[m]", {})


def test_one_size_may_follow_from_another():
    def difference(x, dx):
        assert dims.require_same(x[0] - 1, dx[0])

    assert run(difference, x=np.ones(4), dx=np.ones(3)) == ("x: f64[n + 1], dx: f64[n]", {})


def test_a_product_that_must_agree():
    def reshape(x, y):
        assert dims.require_same(x[0] * x[1], y[0])

    assert run(reshape, x=np.ones((3, 2)), y=np.ones(6)) == ("x: f64[n, m], y: f64[m*n]", {})


def test_what_cannot_be_solved_is_fixed():
    def square(x, y):
        assert dims.require_same(x[0] * x[0], y[0] * y[0])

    assert run(square, x=np.ones(3), y=np.ones(3)) == ("x: f64[3], y: f64[3]", {})


def test_one_axis_is_fixed_where_that_is_enough():
    def coordinates(x):
        rows = x[0] * x[1] // 3
        assert dims.require_same(rows * 3, x[0] * x[1])

    assert run(coordinates, x=np.ones((8, 3))) == ("x: f64[n, 3]", {})


def test_a_number_that_is_needed_is_fixed():
    def unrolled(x, y):
        assert list(range(x[0])) == [0, 1, 2]

    assert run(unrolled, x=np.ones(3), y=np.ones(3)) == ("x: f64[3], y: f64[n]", {})


def test_a_comparison_that_a_bound_makes_true_is_assumed():
    def inner(x):
        assert x[0] > 2
        assert not x[0] == 3
        assert not x[0] < 4

    assert run(inner, x=np.ones(5)) == ("x: f64[n]", {"n": 4})


@pytest.mark.parametrize(
    "question",
    [
        lambda x, y: x[0] < y[0],
        lambda x, y: x[0] != y[0],
        lambda x, y: not x[0] == y[0],
        lambda x, y: y[0] >= x[0] + 1,
    ],
)
def test_a_comparison_of_two_sizes_that_differ_fixes_the_lesser(question):
    def attempt(x, y):
        assert question(x, y)

    assert run(attempt, x=np.ones(3), y=np.ones(4)) == ("x: f64[3], y: f64[n]", {"n": 4})


def test_a_small_size_that_a_bound_cannot_hold_is_fixed():
    def short(x):
        assert x[0] < 5

    assert run(short, x=np.ones(3)) == ("x: f64[3]", {})


def test_a_bound_is_not_assumed_beyond_the_example():
    def inner(x):
        dims.require_at_least(x[0], 4, "n >= 4")

    assert run(inner, x=np.ones(3)) == ("x: f64[3]", {})
    assert run(inner, x=np.ones(4)) == ("x: f64[n]", {"n": 4})


def test_no_handler_of_the_users_stops_a_restart():
    def attempt(x, w):
        try:
            dims.require_same(x[0], w[0])
        except Exception:
            pass

    assert run(attempt, x=np.ones(3), w=np.ones(3)) == ("x: f64[n], w: f64[n]", {})


def test_names_that_the_user_gave_are_kept():
    def matmul(w, x, b):
        assert dims.require_same(x[1], w[0])
        assert not dims.require_same(x[0], w[0])

    found = run(matmul, given="x: f64[rows, n]", w=np.ones(3), x=np.ones((3, 3)), b=np.ones(3))
    assert found == ("w: f64[n], x: f64[rows, n], b: f64[m]", {})


def test_two_names_of_the_users_are_never_one():
    def attempt(x):
        assert x[0] == x[1]

    with pytest.raises(
        dims.UndecidedDimension, match="whether n == m depends on the sizes m and n"
    ):
        run(attempt, given="x: f64[n, m]", x=np.ones((3, 3)))


def test_names_do_not_collide_with_parameters():
    found = run(lambda n, m: None, n=np.ones(3), m=np.ones(2))
    assert found == ("n: f64[k], m: f64[p]", {})


def test_what_cannot_be_done_with_names_is_done_with_numbers():
    def attempt(x, y):
        if x[0].__class__ is not int:
            raise UserError(f"s2s needs the number of rows, {x[0]}, for this.")

    assert run(attempt, x=np.ones(3), y=np.ones((2, 4))) == ("x: f64[3], y: f64[2, 4]", {})


def test_an_error_is_about_the_sizes_of_the_example():
    def attempt(x, w):
        if not dims.require_same(x[1], w[0]):
            raise UserError(f"the sizes {x[1]} and {w[0]} do not match.")

    with pytest.raises(UserError, match="the sizes 4 and 3 do not match"):
        run(attempt, x=np.ones((2, 4)), w=np.ones(3))
