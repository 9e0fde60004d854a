"""The order of equations, and the lines that they stand under."""

from s2s import lax
from s2s.ir.jaxpr import Jaxpr, Source
from s2s.trace import phase
from s2s_codegen.numpy_source.schedule import Lines, Placed, schedule
from tests.codegen.numpy_source.bodies import at, called, f64, jaxpr


def scheduled(jaxpr: Jaxpr) -> list[Placed]:
    return schedule(jaxpr, Lines(jaxpr))


def shown(placed: list[Placed]) -> list[tuple[str, int | None, str]]:
    return [
        (p.eqn.primitive.name, p.line.line if p.line else None, "back" if p.backward else "")
        for p in placed
    ]


def test_without_a_backward_part_nothing_moves() -> None:
    def double(x):
        at(3, "y = np.sin(x)")
        y = lax.sin(x)
        at(4, "return 2.0 * y")
        return lax.mul(2.0, y)

    assert shown(scheduled(jaxpr(double, f64("n")).jaxpr)) == [("sin", 3, ""), ("mul", 4, "")]


def gradient(x, x_bar):
    at(3, "y = np.tanh(x)")
    y = called("y", lax.tanh(x))
    at(4, "z = np.cos(y) * y")
    slope = lax.cos(y)
    at(5, "return np.exp(x)")
    unnamed = lax.exp(x)
    with phase("cotangent"):
        at(5, "return np.exp(x)")
        first = lax.mul(x_bar, unnamed)
        at(4, "z = np.cos(y) * y")
        return lax.mul(first, slope)


def test_named_values_stay_and_unnamed_ones_go_to_where_they_are_read() -> None:
    closed = jaxpr(gradient, f64("n"), f64("n"))
    assert shown(scheduled(closed.jaxpr)) == [
        ("tanh", 3, ""),
        ("exp", 5, "back"),
        ("mul", 5, "back"),
        ("cos", 4, "back"),
        ("mul", 4, "back"),
    ]


def test_results_of_the_user_s_own_stay() -> None:
    def with_value(x, x_bar):
        value = lax.exp(x)
        with phase("cotangent"):
            return [value, lax.mul(x_bar, value)]

    assert shown(scheduled(jaxpr(with_value, f64("n"), f64("n")).jaxpr)) == [
        ("exp", None, ""),
        ("mul", None, "back"),
    ]


def test_what_waits_keeps_its_own_order() -> None:
    """`b` is read first, and reads `a`, which is read later too."""

    def chain(x, x_bar):
        a = lax.sin(x)
        b = lax.mul(a, x)
        with phase("cotangent"):
            return lax.mul(lax.mul(x_bar, b), a)

    names = [name for name, _, _ in shown(scheduled(jaxpr(chain, f64("n"), f64("n")).jaxpr))]
    assert names == ["sin", "mul", "mul", "mul"]


def test_a_helper_of_one_line_stands_under_the_line_that_calls_it() -> None:
    caller = Source("model.py", 7, "return helper(x)")

    def helper(x):
        at(2, "return np.sin(np.cos(x))", caller)
        return lax.sin(lax.cos(x))

    placed = scheduled(jaxpr(helper, f64("n")).jaxpr)
    assert [p.line for p in placed] == [caller, caller]


def test_a_helper_of_several_lines_has_its_own() -> None:
    wrapped = Source(
        "helpers.py", 2, "return function(x)", Source("model.py", 7, "return helper(x)")
    )

    def helper(x):
        at(5, "y = np.cos(x)", wrapped)
        y = lax.cos(x)
        at(6, "return np.sin(y)", wrapped)
        return lax.sin(y)

    placed = scheduled(jaxpr(helper, f64("n")).jaxpr)
    assert shown(placed) == [("cos", 5, ""), ("sin", 6, "")]


def test_values_of_the_user_s_that_read_a_derivative_come_after_it() -> None:
    def outer(x):
        with phase("cotangent"):
            inner = lax.mul(2.0, x)
        return called("y", lax.sin(inner))

    assert shown(scheduled(jaxpr(outer, f64("n")).jaxpr)) == [
        ("mul", None, "back"),
        ("sin", None, "back"),
    ]
