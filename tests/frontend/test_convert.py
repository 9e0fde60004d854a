"""Conversion keeps what Python means, gives names, and finds each line."""

from __future__ import annotations

import contextlib
import functools
import inspect
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from s2s.frontend.conversion import convert
from s2s.frontend.load import load
from s2s.frontend.sources import definition_of
from s2s.frontend.users_functions import converted
from tests.frontend.tracing import FLOAT, agrees, f64, names, traced

X = np.array([0.5, -1.25, 2.0])
Y = np.array([1.5, 0.25, -3.0])
WEIGHTS = np.array([1.0, 2.0, 3.0])
SCALE = 2.5


# -- whole programs, as users write them ----------------------------------------------------------


def straight_line(x, y):
    a = np.sin(x) * y
    b = a + x
    return np.sum(a * b)


def helper(t, factor=2.0):
    return t * factor


def calls_helpers(x):
    return helper(x) + helper(x, 3.0) + helper(factor=4.0, t=x)


def make_adder(amount):
    def add(x):
        return x + amount

    return add


add_weights = make_adder(WEIGHTS)


def nested_functions(x, y):
    def inner(t):
        return t * y

    def outer(t):
        return inner(t) + inner(inner(t))

    return outer(x)


def lambdas(x):
    square = lambda t: t * t  # noqa: E731
    compose = lambda f, g: lambda t: f(g(t))  # noqa: E731
    return compose(square, lambda t: t + 1.0)(x)


def defaults(x, scale=SCALE, *, shift=1.0):
    return x * scale + shift


def star_arguments(*xs, **options):
    total = sum(xs)
    return total * options["factor"] + options["offset"]


def spread(x, y):
    pair = (x, y)
    options = {"factor": x, "offset": y}
    return star_arguments(*pair, *[x], **options)


def comprehensions(x, y):
    parts = [a * b for a in (x, y) for b in (x, y) if a is not b]
    table = {name: value for name, value in zip("ab", parts)}
    return sum(v for v in table.values()) + sum([t for t in parts])


def module_constants(x):
    return np.sum(WEIGHTS * x) * SCALE


def static_control_flow(x, n=3):
    total = 0.0
    for i in range(n):
        if i % 2 == 0:
            continue
        total = total + x[i] * i
    else:
        total = total * 2.0
    k = 0
    while k < n:
        k += 1
        if k == 2:
            break
    return total + k


def loops_over_containers(x, y):
    total = 0.0
    for i, (name, value) in enumerate({"x": x, "y": y}.items()):
        total += np.sum(value) * (i + 1) * len(name)
    for a, b in zip(x, reversed(list(y))):
        total += a * b
    return total


def rows(x):
    total = 0.0
    for row in x.reshape(3, 1):
        total += row[0]
    return total


def generator(x):
    def steps(value):
        for k in range(3):
            value = value * (k + 1)
            yield value

    return sum(steps(x))


def walrus(x):
    if (n := len(x)) > 2:
        return x * n
    return x


def starred(x):
    first, *rest = x
    (second, third) = rest
    return first * second + third


def swap(x, y):
    x, y = y, x
    return x - y, [y]


def chained(x):
    a = b = x * 2.0
    return a + b


def augmented(x):
    total = 0.0
    for v in x:
        total += v
        total *= 2.0
    total -= 1.0
    total /= 3.0
    return total


def conditional_expression(x, flag=True):
    return x if flag and flag is not None else -x


def early_return(x, mode="double"):
    if mode == "double":
        return x * 2.0
    for _ in range(3):
        if mode == "triple":
            return x * 3.0
    return x


def containers(x, y):
    data = {"list": []}
    data["list"].append(x)
    data["list"] += [y]
    data["sum"] = x + y
    data["list"][0] = data["sum"]
    return data["list"][0] * data["list"][1]


def handles_static_error(x):
    try:
        value = {}["missing"]
    except KeyError:
        value = 2.0
    finally:
        scale = 3.0
    return x * value * scale


def with_errstate(x):
    with np.errstate(divide="ignore"), contextlib.suppress(KeyError):
        return np.log(x * x)


def matches(x, mode=("add", 2)):
    match mode:
        case ("add", k) if k > 1:
            return x + k
        case _:
            return x


def formatted(x, n=3):
    label = f"{n:03d}"
    return x * int(label)


def uses_locals(x):
    y = x * 2.0
    return len(locals()) * y


def recursion(x, depth=3):
    return x if depth == 0 else recursion(x * x, depth - 1)


def nonlocal_counter(x):
    count = 0

    def step(t):
        nonlocal count
        count += 1
        return t * count

    return step(x) + step(x) + count


def math_on_floats(a: float, b: float):
    return math.sin(a) * math.exp(-b) + math.atan2(a, b) ** 2


def class_inside(x):
    class Pair:
        factor = 2.0

        def __init__(self, a):
            self.a = a

        def value(self):
            return self.a * self.factor

    return Pair(x).value()


def unpack_into_parts(x, y):
    cell = [None, None]
    i = 0
    cell[i], i = x, 1
    cell[i], (cell[0], i) = y, (cell[0] * 2.0, 5)
    return cell[0] * cell[1] * i


@pytest.mark.parametrize(
    "function",
    [
        straight_line,
        calls_helpers,
        add_weights,
        nested_functions,
        lambdas,
        defaults,
        spread,
        comprehensions,
        module_constants,
        static_control_flow,
        loops_over_containers,
        rows,
        generator,
        walrus,
        starred,
        swap,
        chained,
        augmented,
        conditional_expression,
        early_return,
        containers,
        handles_static_error,
        with_errstate,
        matches,
        formatted,
        uses_locals,
        recursion,
        nonlocal_counter,
        class_inside,
        unpack_into_parts,
    ],
)
def test_traced_function_computes_what_the_function_computes(function: Callable[..., Any]) -> None:
    count = sum(name in ("x", "y") for name in inspect.signature(function).parameters)
    agrees(function, *(X, Y)[:count])


def test_python_floats() -> None:
    agrees(math_on_floats, 0.5, 1.5)


def test_star_arguments() -> None:
    agrees(star_arguments, X, Y, factor=2.0, offset=X)


# -- classes --------------------------------------------------------------------------------------


class Layer:
    def __init__(self, weight, bias):
        self.weight = weight
        self.__bias = bias

    def __call__(self, x):
        return np.tanh(self.weight * x + self.__bias)

    def twice(self, x):
        return self(self(x))

    @classmethod
    def of_ones(cls, bias):
        return cls(np.ones(3), bias)

    @staticmethod
    def norm(x):
        return np.sqrt(np.sum(x * x))


class Deeper(Layer):
    def __call__(self, x):
        return super().__call__(x) + super().norm(x)


LAYER = Layer(np.array([0.5, 1.0, 2.0]), 0.25)


@dataclass
class Config:
    rate: Any
    doubled: Any = None

    def __post_init__(self):
        self.doubled = math.exp(0.0) * self.rate * 2.0

    def step(self, x):
        return x * self.doubled


class State(NamedTuple):
    position: Any
    speed: Any

    def moved(self, dt):
        return self._replace(position=self.position + dt * self.speed)


def test_methods_and_callable_objects() -> None:
    agrees(LAYER, X)
    agrees(LAYER.twice, X)
    agrees(lambda x: LAYER(x) + LAYER.twice(x), X)
    agrees(Layer.norm, X)


def test_objects_made_inside() -> None:
    agrees(lambda x, y: Layer(x, y)(x), X, Y)
    agrees(lambda x, y: Layer.of_ones(x)(y), X, Y)
    agrees(lambda x, y: Deeper(x, y)(x), X, Y)
    agrees(lambda x, r: Config(r).step(x), X, 0.5)
    agrees(lambda x, y: State(x, y).moved(0.5), X, Y)


def test_arguments_may_be_objects() -> None:
    agrees(lambda state: state.moved(0.5).position, State(X, Y))


# -- decorators -----------------------------------------------------------------------------------


def doubled(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return 2.0 * function(*args, **kwargs)

    return wrapper


@doubled
def decorated(x, y):
    return x * y


@functools.lru_cache
def cached(n, x):
    return x * n


@contextlib.contextmanager
def scaled(x) -> Iterator[Any]:
    yield math.exp(1.0) * x


def test_decorated_functions() -> None:
    agrees(decorated, X, Y)
    agrees(lambda x: cached(2, x) + cached(2, x), 0.5)
    agrees(functools.partial(decorated, y=Y), X)
    agrees(functools.partial(helper, factor=3.0), X)


def test_decorators_inside() -> None:
    def function(x):
        @doubled
        def inner(t):
            return t + x

        with scaled(x) as y:
            return inner(y)

    agrees(function, X)


def test_cached_function_keeps_no_traced_value() -> None:
    cached.cache_clear()
    agrees(lambda x: cached(3, x), 2.0)
    assert cached.cache_info().currsize == 1, "only the call on the number itself"


# -- names and lines ------------------------------------------------------------------------------


def test_assignments_give_names() -> None:
    def function(x, y):
        a = x * y
        b, (c, _) = a + 1.0, (a - 1.0, 2)
        d = a
        if (e := b * c) is not None:
            e -= d
        for f in [e * 2.0]:
            pass
        return f

    found = names(traced(function, FLOAT, FLOAT))
    assert found == ["a", "b", "c", "e", "e", "f"], "d is a, and has its name"


def test_parameters_name_values_without_a_name() -> None:
    def inner(t):
        return t * t

    assert names(traced(lambda x: inner(x + 1.0), FLOAT)) == ["t", None]


def test_attributes_and_entries_name_values() -> None:
    def function(x):
        layer = Layer(x * 2.0, x * 3.0)
        return layer.weight + 1.0

    assert names(traced(function, FLOAT))[:2] == ["weight", "bias"]


def test_constants_have_the_names_by_which_they_are_read() -> None:
    found = traced(lambda x: np.sum(WEIGHTS * x) + np.sum(x * X), f64(3))
    assert [var.name for var in found.closed.jaxpr.constvars] == ["WEIGHTS", "X"]
    found = traced(add_weights, f64(3))
    assert [var.name for var in found.closed.jaxpr.constvars] == ["amount"]


def lines(function: Callable[..., Any], *types: Any) -> list[str]:
    start = function.__code__.co_firstlineno
    sources = [eqn.source for eqn in traced(function, *types).closed.eqns]
    found = [source and f"{source.line - start} {source.text}" for source in sources]
    return [text for k, text in enumerate(found) if text and text not in found[:k]]


def test_equations_know_their_lines(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(
        """
def function(x):
    a = x * 2.0  # a comment
    b = (
        a
        + 1.0,  # another one
        [
            "é", a,
        ],
    )[0]
    for k in range(2):
        a = a * b
    while k < 3: k += 1; b = b * 3.0  # in one line
    if k: return [a,
                  b - 1.0]
    return b
"""
    )
    assert lines(load(f"{file}:function"), FLOAT) == [
        "1 a = x * 2.0",
        '2 b = (a + 1.0, ["é", a])[0]',
        "10 a = a * b",
        "11 b = b * 3.0",
        "12 return [a, b - 1.0]",
    ]


def test_tests_of_loops_have_their_line() -> None:
    def function(x):
        k = 0
        while np.shape(x * 2.0) == (3,) and k < 2:
            k += 1
        return x

    assert lines(function, f64(3)) == ["2 while np.shape(x * 2.0) == (3,) and k < 2:"]


def test_lines_of_helpers_have_the_line_that_calls_them() -> None:
    def function(x):
        a = helper(x)
        return a + 1.0

    first, second = (eqn.source for eqn in traced(function, FLOAT).closed.eqns)
    assert first is not None and second is not None
    assert first.text == "return t * factor"
    assert first.caller is not None and first.caller.text == "a = helper(x)"
    assert first.caller.caller is None
    assert second.text == "return a + 1.0" and second.caller is None


# -- what stays the user's ------------------------------------------------------------------------


def test_globals_and_attributes_of_functions_stay() -> None:
    before = set(globals())
    traced(straight_line, f64(3), f64(3))
    assert set(globals()) == before
    found = converted(straight_line)
    assert found is not straight_line and found.__globals__ is straight_line.__globals__
    assert found.__name__ == "straight_line" and found.__qualname__ == "straight_line"
    assert found.__code__.co_filename == __file__
    assert converted(found) is found


def test_functions_without_source_run_as_they_are() -> None:
    space: dict[str, Any] = {"np": np}
    exec("def unknown(x):\n    y = np.sin(x) * 2.0\n    return np.sum(y)", space)
    assert converted(space["unknown"]) is space["unknown"]
    agrees(space["unknown"], X)


def test_lambdas_on_one_line_are_told_apart() -> None:
    functions = [lambda x: x + 1.0, lambda x: x * 2.0, lambda x: (lambda x: x - 3.0)(x)]
    for function in functions:
        agrees(function, X)


def test_converted_functions_work_outside_of_a_trace() -> None:
    assert converted(straight_line)(X, Y) == straight_line(X, Y)


def test_conversion_is_fast_and_done_once(tmp_path: Path) -> None:
    body = "".join(
        f"    a{k} = np.tanh(x @ w + {k}.0)\n    if k > {k}:\n        a{k} = f(a{k}, k=[1, 2][0])\n"
        for k in range(16)
    )
    file = tmp_path / "fifty_lines.py"
    text = f"import numpy as np\n\ndef f(x, w=None, k=0):\n{body}    return a0\n"
    file.write_text(text)
    function = load(f"{file}:f")
    code = converted(function).__code__
    assert converted(function).__code__ is code
    definition = definition_of(function.__code__, function.__globals__)
    assert definition is not None

    def shortest(work: Callable[[], Any]) -> float:
        times: list[float] = []
        for _ in range(20):
            start = time.process_time()
            work()
            times.append(time.process_time() - start)
        return min(times)

    conversion = shortest(lambda: convert(function.__code__, definition, function.__globals__))
    # Some five milliseconds, 13 times as long as Python takes to compile such plain text.
    assert conversion < 25.0 * shortest(lambda: compile(text, str(file), "exec"))
