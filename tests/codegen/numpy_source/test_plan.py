"""Which values become statements."""

import pytest

from s2s import lax
from s2s.ir.dims import dimension
from s2s.trace import phase
from tests.codegen.numpy_source.bodies import FLOAT, at, body, called, f64, jaxpr

N, M = dimension("n"), dimension("m")


def lines(fun, *avals, **options) -> list[str]:
    return [line for line in body(jaxpr(fun, *avals, **options)) if not line.startswith("#")]


def test_a_value_read_once_is_written_where_it_is_read() -> None:
    found = lines(lambda x, y: lax.tanh(lax.add(lax.mul(x, y), y)), f64("n"), f64("n"))
    assert found == ["value = np.tanh(x * y + y)", "return value"]


def test_a_value_read_twice_is_computed_once() -> None:
    def square(x):
        y = lax.sin(x)
        return lax.mul(y, y)

    assert lines(square, f64("n")) == ["sin_x = np.sin(x)", "value = sin_x * sin_x", "return value"]


def test_a_value_that_the_user_named_has_a_statement() -> None:
    found = lines(lambda x: lax.sin(called("angle", lax.mul(2.0, x))), f64("n"))
    assert found == ["angle = 2.0 * x", "value = np.sin(angle)", "return value"]


def test_a_value_of_another_line_has_a_statement() -> None:
    def two_lines(x):
        at(3, "values.append(2.0 * x)")
        y = lax.mul(2.0, x)
        at(4, "return np.sin(values[0])")
        return lax.sin(y)

    assert lines(two_lines, f64("n")) == [
        "twice_x = 2.0 * x",
        "value = np.sin(twice_x)",
        "return value",
    ]


def test_a_line_that_is_left_and_met_again_is_another_run() -> None:
    """What is computed in the first turn of a loop is not put off to the second."""

    def loop(x):
        at(3, "h = f(h)")
        y = lax.sin(x)
        at(4, "total += h")
        total = called("total", lax.mul(2.0, x))
        at(3, "h = f(h)")
        return lax.add(lax.cos(y), total)

    assert lines(loop, f64("n"))[0] == "sin_x = np.sin(x)"


def test_views_and_broadcasts_are_written_at_each_use() -> None:
    def twice(x, y):
        column = lax.broadcast_in_dim(y, (N, M), (0,))
        return lax.add(lax.mul(x, column), lax.exp(column))

    assert lines(twice, f64("n", "m"), f64("n")) == [
        "value = x * y[:, None] + np.exp(y[:, None])",
        "return value",
    ]


def test_what_a_view_is_taken_of_is_computed_once() -> None:
    def twice(x):
        rows = lax.transpose(lax.exp(x), (1, 0))
        return lax.add(rows, lax.sin(rows))

    assert lines(twice, f64("n", "m")) == [
        "exp_x = np.exp(x)",
        "value = exp_x.T + np.sin(exp_x.T)",
        "return value",
    ]


def test_an_array_that_the_user_filled_has_a_statement() -> None:
    def start(x):
        h = called("h", lax.broadcast_in_dim(0.0, (N,), ()))
        return lax.add(x, h)

    assert lines(start, f64("n")) == ["h = np.zeros(n)", "value = x + h", "return value"]


def test_rows_that_a_loop_runs_over_are_written_in_place() -> None:
    def rows(xs):
        at(3, "for x in xs:")
        first = lax.slice(xs, (0, 0), (1, M))
        x = called("x", lax.squeeze(first, (0,)))
        at(4, "total = np.sin(x)")
        return lax.sin(x)

    assert lines(rows, f64(2, "m"), names="xs") == ["value = np.sin(xs[0])", "return value"]


def test_an_operand_that_an_expression_names_twice_is_computed_once() -> None:
    found = lines(lambda x: lax.sign(lax.exp(x)), FLOAT)
    assert found == [
        "exp_x = math.exp(x)",
        "value = math.copysign(bool(exp_x), exp_x)",
        "return value",
    ]


def test_long_derivatives_are_broken_at_their_longest_part() -> None:
    def long(x, y):
        terms = [lax.mul(lax.mul(float(i + 1), x), lax.exp(lax.mul(x, y))) for i in range(4)]
        product = lax.sin(lax.add(lax.add(terms[0], terms[1]), lax.add(terms[2], terms[3])))
        return lax.mul(product, y)

    found = lines(long, f64("n"), f64("n"), names="temperature pressure", in_phase="cotangent")
    assert len(found) > 2
    assert all(len(line) <= 84 for line in found)


@pytest.mark.parametrize("steps", [1, 40])
def test_cotangents_are_summed_under_their_own_lines(steps: int) -> None:
    def accumulate(x, y):
        total = x
        with phase("cotangent"):
            for step in range(steps):
                at(step, f"line {step}")
                total = called("x_bar", lax.add_any(total, lax.mul(float(step + 2), y)))
        return total

    found = lines(accumulate, f64("n"), f64("n"))
    assert found[0] == "x_bar = x + 2.0 * y"
    assert found[1:-1] == [f"x_bar += {step + 2.0} * y" for step in range(1, steps)]
