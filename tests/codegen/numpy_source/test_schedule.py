"""The order of equations, and the lines that they stand under."""

from s2s import lax
from s2s.ir.jaxpr import Source
from s2s.trace import builder_in_force, phase
from s2s_codegen.numpy_source.schedule import Placed, schedule
from tests.codegen.numpy_source.bodies import at, called, f64, jaxpr


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

    assert shown(schedule(jaxpr(double, f64("n")).jaxpr)) == [("sin", 3, ""), ("mul", 4, "")]


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
    assert shown(schedule(closed.jaxpr)) == [
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

    assert shown(schedule(jaxpr(with_value, f64("n"), f64("n")).jaxpr)) == [
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

    names = [name for name, _, _ in shown(schedule(jaxpr(chain, f64("n"), f64("n")).jaxpr))]
    assert names == ["sin", "mul", "mul", "mul"]


def test_the_line_is_that_of_the_transformed_function() -> None:
    def helper(x):
        caller = Source("model.py", 7, "return helper(x)")
        builder = builder_in_force()
        assert builder is not None
        builder.source = Source("helpers.py", 2, "return np.sin(x)", caller)
        return lax.sin(x)

    (placed,) = schedule(jaxpr(helper, f64("n")).jaxpr)
    assert placed.line == Source("model.py", 7, "return helper(x)")


def test_values_of_the_user_s_that_read_a_derivative_come_after_it() -> None:
    def outer(x):
        with phase("cotangent"):
            inner = lax.mul(2.0, x)
        return called("y", lax.sin(inner))

    assert shown(schedule(jaxpr(outer, f64("n")).jaxpr)) == [
        ("mul", None, "back"),
        ("sin", None, "back"),
    ]
