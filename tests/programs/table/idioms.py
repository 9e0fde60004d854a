"""Python as people write it: closures, generators, comprehensions, unpacking, wrappers."""

import functools
import itertools
import math
from functools import partial, reduce

import numpy as np

GRAVITY = 9.81
COEFFICIENTS = [1.0, -0.5, 0.25]


def closure(x: float, k: float) -> float:
    """
    >>> closure(0.3, 2.0)
    >>> closure(-0.7, 0.5)
    """

    def spring(stretch):
        return -k * stretch

    energy = lambda s: -0.5 * spring(s) * s  # noqa: E731
    return energy(x) + spring(x)


def makes_functions(x: float) -> float:
    """
    >>> makes_functions(0.3)
    >>> makes_functions(1.7)
    """

    def scaled(factor):
        def apply(value):
            return factor * math.sin(value)

        return apply

    total = 0.0
    for f in [scaled(n) for n in (1.0, 2.0, 3.0)]:
        total += f(x)
    return total


def reads_a_global(t: float, v: float) -> float:
    """
    >>> reads_a_global(0.5, 10.0)
    >>> reads_a_global(2.5, 10.0)
    """
    y = v * t - 0.5 * GRAVITY * t**2
    return y if y > 0.0 else 0.0 * t


def reads_nonlocal(x: float) -> float:
    """
    >>> reads_nonlocal(0.3)
    >>> reads_nonlocal(0.9)
    """
    calls = 0
    total = 0.0

    def add(value):
        nonlocal calls, total
        calls += 1
        total = total + value * calls

    add(x)
    add(x * x)
    add(math.exp(x))
    return total / calls


def polynomial(x: float) -> float:
    """
    >>> polynomial(0.3)
    >>> polynomial(-1.4)
    """
    return sum(c * x**k for k, c in enumerate(COEFFICIENTS))


def reduced(x: float, y: float, z: float) -> float:
    """
    >>> reduced(0.3, 0.7, 1.1)
    >>> reduced(-0.3, 0.2, 2.0)
    """
    return reduce(lambda a, b: a * b + 1.0, [x, y, z]) + reduce(max, [x, y, z], 0.5)


def partially(x: float) -> float:
    """
    >>> partially(0.3)
    >>> partially(1.3)
    """

    def power(base, exponent, scale=1.0):
        return scale * base**exponent

    square = partial(power, exponent=2)
    half_cube = partial(power, exponent=3, scale=0.5)
    return square(x) + half_cube(x)


def combinations(a):
    """
    >>> combinations(np.array([0.3, 0.8, 1.2]))
    >>> combinations(np.array([0.5, -0.4, 0.9]))
    """
    total = 0.0
    for i, j in itertools.combinations(range(3), 2):
        total += a[i] * a[j]
    for i, j in itertools.product(range(2), repeat=2):
        total -= 0.1 * a[i + j] ** 2
    return total


def accumulated(x: float) -> float:
    """
    >>> accumulated(0.5)
    >>> accumulated(1.5)
    """
    powers = list(itertools.accumulate([x] * 5, lambda a, b: a * b))
    return powers[0] + powers[2] - powers[4]


def chained_lists(x: float, y: float) -> float:
    """
    >>> chained_lists(0.5, 0.2)
    >>> chained_lists(1.5, 0.9)
    """
    total = 0.0
    for v in itertools.chain([x, y], (x * y, 2.0)):
        total = total * 0.5 + v
    return total


def own_generator(x: float) -> float:
    """
    >>> own_generator(0.5)
    >>> own_generator(1.5)
    """

    def terms(count):
        term = 1.0
        for n in range(count):
            yield term
            term = term * x / (n + 1)

    return sum(terms(8))


def starred(x: float) -> float:
    """
    >>> starred(0.5)
    >>> starred(1.5)
    """
    first, *rest, last = [x, x**2, x**3, x**4]
    return first * last + sum(rest)


def arguments_in_a_list(x: float, y: float) -> float:
    """
    >>> arguments_in_a_list(0.5, 0.2)
    >>> arguments_in_a_list(1.5, 0.9)
    """

    def weighted(*values, scale=1.0, **weights):
        total = 0.0
        for value, weight in zip(values, weights.values()):
            total += value * weight
        return scale * total

    pair = (x, y)
    options = {"a": 2.0, "b": x}
    return weighted(*pair, scale=y, **options)


def wrapped(function):
    @functools.wraps(function)
    def call(*args):
        return 2.0 * function(*args)

    return call


@wrapped
def decorated(x: float) -> float:
    """
    >>> decorated(0.5)
    >>> decorated(-1.5)
    """
    return x * math.tanh(x)


@functools.lru_cache
def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


def cached(x: float) -> float:
    """
    >>> cached(0.5)
    >>> cached(-1.5)
    """
    return sum(x**n / factorial(n) for n in range(7))


def recursive_power(x: float, n: int = 5) -> float:
    """
    >>> recursive_power(0.5)
    >>> recursive_power(1.5)
    """
    if n == 0:
        return 1.0
    half = recursive_power(x, n // 2)
    return half * half * (x if n % 2 else 1.0)


def recursive_tree(x):
    """
    >>> recursive_tree(np.array([0.5, 0.2, 0.9, 0.4]))
    >>> recursive_tree(np.array([0.1, 0.8, 0.3, 1.4]))
    """
    if len(x) == 1:
        return x[0]
    middle = len(x) // 2
    return np.sin(recursive_tree(x[:middle])) * recursive_tree(x[middle:]) + x[0]


def matched(x: float, kind: str = "cubic") -> float:
    """
    >>> matched(0.5)
    >>> matched(1.5)
    """
    match kind:
        case "linear":
            return x
        case "cubic" | "quintic":
            return x**3
        case _:
            raise ValueError(kind)


def matched_structure(x: float, y: float) -> float:
    """
    >>> matched_structure(0.5, 0.1)
    >>> matched_structure(1.5, 0.4)
    """
    total = 0.0
    for command in [("add", x), ("scale", 2.0, y), ("stop",)]:
        match command:
            case ("add", value):
                total += value
            case ("scale", factor, value):
                total = total * factor * value
            case _:
                break
    return total


def tried(x: float) -> float:
    """
    >>> tried(0.5)
    >>> tried(2.0)
    """
    table = {"a": x}
    try:
        y = table["b"]
    except KeyError:
        y = 2.0 * table["a"]
    finally:
        z = y * x
    return y + z


def quietly(x):
    """
    >>> quietly(np.array([0.5, 2.0]))
    >>> quietly(np.array([1.5, 3.0]))
    """
    with np.errstate(divide="ignore"):
        y = np.log(x) / x
    return np.sum(y)


def by_type(x, scale=2.0):
    """
    >>> by_type(np.array([0.5, 2.0]))
    >>> by_type(np.array([1.5, 3.0]))
    """
    x = np.asarray(x)
    if isinstance(scale, float):
        x = x * scale
    if x.ndim == 1 and x.shape[0] == len(x) and x.dtype == np.float64:
        x = x[None, :]
    return np.sum(x @ x.T)


def dictionary_state(x: float) -> float:
    """
    >>> dictionary_state(0.5)
    >>> dictionary_state(1.5)
    """
    state = {"position": x, "velocity": 1.0}
    for _ in range(12):
        state["velocity"] -= 0.1 * state["position"]
        state["position"] += 0.1 * state["velocity"]
    return state["position"] * state["velocity"]


def dictionary_comprehension(x: float, y: float) -> float:
    """
    >>> dictionary_comprehension(0.5, 0.2)
    >>> dictionary_comprehension(1.5, 0.7)
    """
    squares = {name: value**2 for name, value in {"x": x, "y": y}.items()}
    del squares["x"]
    squares["z"] = x * squares["y"]
    return sum(squares.values())


def nested_comprehension(a):
    """
    >>> nested_comprehension(np.array([0.5, 0.2]))
    >>> nested_comprehension(np.array([1.5, 0.7]))
    """
    outer = [[a[i] * a[j] + i for j in range(2)] for i in range(2)]
    return np.sum(np.array(outer) ** 2)


def filtered_comprehension(x: float) -> float:
    """
    >>> filtered_comprehension(0.5)
    >>> filtered_comprehension(1.5)
    """
    return sum([x**k for k in range(8) if k % 3 != 0])


def tuple_state(x: float) -> tuple[float, float]:
    """
    >>> tuple_state(0.5)
    >>> tuple_state(1.5)
    """
    state = (x, 0.0)
    for _ in range(10):
        position, velocity = state
        state = (position + 0.1 * velocity, velocity - 0.1 * position)
    return state


def returns_a_dict(x: float) -> dict:
    """
    >>> returns_a_dict(0.5)
    >>> returns_a_dict(1.5)
    """
    if x > 1.0:
        energy = x**2
    else:
        energy = 2.0 * x - 1.0
    return {"energy": energy, "force": -x}


def augmented_everything(x: float, y: float) -> float:
    """
    >>> augmented_everything(2.5, 1.2)
    >>> augmented_everything(3.5, 0.7)
    """
    z = x
    z += y
    z *= x
    z -= 1.0
    z /= y
    z **= 2
    return z


def none_at_first(xs):
    """
    >>> none_at_first(np.array([0.5, 0.2, 0.9]))
    >>> none_at_first(np.array([0.1, 0.8, 0.3]))
    """
    best = None
    for x in xs:
        if best is None:
            best = x
        else:
            best = 0.5 * (best + x * x)
    return best


def first_assigned_inside(xs):
    """
    >>> first_assigned_inside(np.array([0.5, 0.2, 0.9]))
    >>> first_assigned_inside(np.array([0.1, 0.8, 0.3]))
    """
    for x in xs:
        last = np.sin(x)
        square = last * last
    return square + last


def flags(xs):
    """
    >>> flags(np.array([0.5, 0.2, 0.9]))
    >>> flags(np.array([0.1, 0.3, 0.3]))
    """
    found = False
    total = 0.0
    for x in xs:
        if found:
            total += x
        if x > 0.4:
            found = True
    return total if found else np.sum(xs**2)


def string_keys(x: float) -> float:
    """
    >>> string_keys(0.5)
    >>> string_keys(1.5)
    """
    weights = {f"w{i}": 0.5 * i for i in range(4)}
    total = 0.0
    for name in sorted(weights):
        if name.endswith("3"):
            total += x**2
        total += weights[name] * x
    return total


def functions_of_the_last_item(x: float) -> float:
    """
    >>> functions_of_the_last_item(0.3)
    >>> functions_of_the_last_item(-1.7)
    """
    late = [lambda t: t * i + x for i in range(3)]  # noqa: B023
    early = [lambda t, i=i: t * i + x for i in range(3)]
    nearest = [min([x, 2.0, 4.0], key=lambda v: (v - i) ** 2) for i in range(2)]
    return late[0](x) ** 2 + 10.0 * early[0](x) ** 2 + nearest[1]
