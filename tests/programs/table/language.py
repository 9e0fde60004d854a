"""What else the language has: lists that grow until a test fails, generators with conditions,
jumps out of `with`, `try` and `match`, classes, decorators, closures."""

import dataclasses
import functools
import itertools
import math

import numpy as np

# -- lists that grow in loops of unknown length ---------------------------------------------------


def newton_until(a: float) -> float:
    """
    >>> newton_until(0.77)
    >>> newton_until(5.2)
    """
    x = a + 1.0
    steps = 0.0
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
        steps += 1.0
    return x * steps


def mean_of_history(xs):
    """
    >>> mean_of_history(np.array([0.5, 1.4, 0.3]))
    >>> mean_of_history(np.array([0.6, 1.2, 0.5]))
    """
    state = xs
    history = [state]
    while np.sum(state) > 0.5:
        state = state * 0.7
        history.append(state)
    return np.mean(np.array(history)[:, 0] ** 2) + np.sum(history[-1])


def until_it_is_enough(xs):
    """
    >>> until_it_is_enough(np.array([0.5, 1.4, 0.3, 0.7]))
    >>> until_it_is_enough(np.array([0.6, 0.1, 1.5, 0.2]))
    """
    out = []
    total = 0.0
    for x in xs:
        total += x
        out.append(total * x)
        if total > 1.5:
            break
    return np.sum(np.array(out) ** 2)


def differences_along_the_way(a):
    """
    >>> differences_along_the_way(np.float64(0.77))
    >>> differences_along_the_way(np.float64(0.82))
    """
    x = a + 2.0
    history = [x]
    while True:
        new = 0.5 * (x + a / x)
        history.append(new)
        if np.abs(new - x) < 1e-9:
            break
        x = new
    h = np.array(history)
    return np.sum(np.diff(h) ** 2) + len(history) * a


# -- comprehensions and generators ----------------------------------------------------------------


def sum_of_some(xs):
    """
    >>> sum_of_some(np.array([0.5, 1.4, 0.3, 0.7]))
    >>> sum_of_some(np.array([0.6, 0.1, 1.5, 0.2]))
    """
    return sum((k * x**2 for k, x in enumerate(xs) if x > 0.55 if k > 0), 1.0)


def all_pairs(xs, ys):
    """
    >>> all_pairs(np.array([0.5, 1.4, 0.3]), np.array([0.2, 0.9]))
    >>> all_pairs(np.array([0.6, 0.1, 1.5]), np.array([1.2, 0.3]))
    """
    return sum(x * y**2 for x in xs for y in ys)


def any_and_all(xs):
    """
    >>> any_and_all(np.array([0.5, 1.4, 0.3]))
    >>> any_and_all(np.array([0.6, 0.1, 0.5]))
    >>> any_and_all(np.array([-0.6, 1.1, 0.5]))
    """
    if any(x > 1.0 for x in xs) and all(x > 0.0 for x in xs):
        return np.sum(xs**2)
    return np.sum(xs) * xs[0]


def largest_of_all(xs):
    """
    >>> largest_of_all(np.array([0.5, 1.4, 0.3]))
    >>> largest_of_all(np.array([0.6, 0.1, 0.5]))
    """
    return max(x * x for x in xs) * min(x + 1.0 for x in xs)


def table_of_products(xs, ys):
    """
    >>> table_of_products(np.array([0.5, 1.4, 0.3]), np.array([0.2, 0.9]))
    >>> table_of_products(np.array([0.6, 0.1, 1.5]), np.array([1.2, 0.3]))
    """
    table = [[x * y for x in xs] for y in ys]
    return np.sum(np.array(table) ** 2) + table[1][2] + sum(sum(row) for row in table)


def halved_when_large(value, count):
    for _ in range(count):
        if value > 1.0:
            value = value * 0.5
        else:
            value = value + 0.7
        yield value


def generated(x: float) -> float:
    """
    >>> generated(0.4)
    >>> generated(1.9)
    """
    total = x
    for value in halved_when_large(x, 3):
        total = total * 0.5 + value * value
    return total


# -- loops ----------------------------------------------------------------------------------------


def down_from_the_largest(xs):
    """
    >>> down_from_the_largest(np.array([0.5, 0.4, 1.3, 0.7]))
    >>> down_from_the_largest(np.array([0.6, 1.1, 0.5, 0.2]))
    """
    total = 0.0
    for i in range(np.argmax(xs), -1, -1):
        total = total * 0.5 + xs[i] ** 2
    return total


def every_other(xs):
    """
    >>> every_other(np.array([0.5, 0.4, 1.3, 0.7]))
    >>> every_other(np.array([0.6, 0.1, 0.5, 1.2]))
    """
    total = 0.0
    for i in range(0, np.argmax(xs) + 1, 2):
        total += xs[i] ** 3
    return total


def triangle_until(xs):
    """
    >>> triangle_until(np.array([0.5, 0.4, 1.3]))
    >>> triangle_until(np.array([0.6, 0.1, 0.5]))
    """
    total = 0.0
    for x in xs:
        for y in xs:
            if y > x:
                break
            total += x * y
    return total


def assigned_in_the_test(x: float) -> float:
    """
    >>> assigned_in_the_test(0.9)
    >>> assigned_in_the_test(3.1)
    """
    total = 0.0
    while (y := x * 0.5) > 0.1:
        total += y
        x = y
    else:
        total = total * 2.0
    return total + x


# -- jumps out of other blocks --------------------------------------------------------------------


def returned_from_with(x: float) -> float:
    """
    >>> returned_from_with(0.3)
    >>> returned_from_with(0.8)
    """
    with np.errstate(all="ignore"):
        if x > 0.5:
            return x * x
        y = x * 3.0
    return y


def left_from_with(xs):
    """
    >>> left_from_with(np.array([0.5, 0.4, 1.3, 0.7]))
    >>> left_from_with(np.array([0.6, 0.1, 0.2, 0.4]))
    """
    total = 0.0
    for x in xs:
        with np.errstate(all="ignore"):
            if x < 0.3:
                continue
            if x > 1.0:
                break
        total += x * x
    return total


def returned_from_try(x: float) -> float:
    """
    >>> returned_from_try(0.3)
    >>> returned_from_try(0.8)
    """
    scale = 1.0
    try:
        if x > 0.5:
            return x * x * scale
        try:
            y = {"a": x}["b"]
        except KeyError:
            y = x * 5.0
    finally:
        scale = 2.0
    return y * scale


def returned_from_match(x: float) -> float:
    """
    >>> returned_from_match(0.3)
    >>> returned_from_match(0.8)
    """
    match ("square", 2):
        case ("square", power):
            if x > 0.5:
                return x**power
        case _:
            return x
    return math.exp(x)


# -- functions and classes ------------------------------------------------------------------------


def doubled(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs) * 2.0

    return inner


@doubled
def capped(x):
    return 1.0 if x > 1.0 else x * x


@functools.cache
def coefficient(n):
    return 1.0 / (n + 1)


@functools.lru_cache
def squared(x):
    return x * x


def decorated(x: float) -> float:
    """
    >>> decorated(0.3)
    >>> decorated(1.8)
    """
    return capped(x) * coefficient(2) + squared(x)


def folded(x: float, y: float) -> float:
    """
    >>> folded(0.3, 0.7)
    >>> folded(1.8, 0.2)
    """
    scaled = functools.partial(lambda a, b: a * b + a, b=3.0)
    product = functools.reduce(lambda a, b: a * b + 1.0, [x, y, x])
    for a, b in itertools.combinations([x, y, x * y], 2):
        product = product + a * b
    return scaled(product)


@dataclasses.dataclass
class Body:
    position: float
    velocity: float

    @property
    def energy(self):
        return 0.5 * self.velocity**2 + self.potential()

    def potential(self):
        if self.position > 0.0:
            return 0.5 * self.position**2
        return -self.position

    def __add__(self, other):
        return Body(self.position + other.position, self.velocity + other.velocity)

    def __call__(self, step):
        return Body(step * self.velocity, -step * self.position)


def moved_body(position: float, velocity: float) -> float:
    """
    >>> moved_body(0.3, 0.7)
    >>> moved_body(0.4, -1.1)
    """
    body = Body(position, velocity)
    for _ in range(10):
        body = body + body(0.1)
    return dataclasses.replace(body, velocity=0.5).energy * body.energy


def counted(x: float) -> float:
    """
    >>> counted(0.3)
    >>> counted(1.3)
    """
    total = 0.0

    def add(value):
        nonlocal total
        if value > 0.5:
            total += value * value
        else:
            total -= value

    for k in range(10):
        add(x * k * 0.1)
    return total


def grouped(x: float, y: float) -> float:
    """
    >>> grouped(0.3, 0.7)
    >>> grouped(1.3, 0.2)
    """
    first, *rest = [x, y, x * y]
    values = {f"value {k}": v for k, v in enumerate(rest)}
    quotient, remainder = divmod(x * 7.0, 2.0)
    total = first * quotient + remainder * values["value 1"]
    for (name, value), weight in zip(values.items(), reversed([1.0, 2.0])):
        total += value * weight * len(name)
    return round(x * 10.0) * total + pow(x, 2) * abs(-y)


# -- comparisons ----------------------------------------------------------------------------------


def membership(x: float, k: int) -> float:
    """
    >>> membership(0.3, 4)
    >>> membership(0.3, 2)
    >>> membership(0.4, 4)
    """
    if k in (1, 2, 3):
        return x
    return x * x if k not in range(7, 9) and 0.5 not in (x, k) else x**4


def in_order(x: float, y: float) -> float:
    """
    >>> in_order(0.3, 4.0)
    >>> in_order(0.4, 0.3)
    """
    if (x, 1.0) < (y, 2.0) and [x, y] != [y, x]:
        return y * x
    return x * x


def item_of_a_list(x: float, k: int) -> float:
    """
    >>> item_of_a_list(0.3, 1)
    >>> item_of_a_list(0.3, 2)
    >>> item_of_a_list(0.4, 1)
    """
    weights = [1.0, 2.0, 3.5]
    powers = (x, x * x, 2.0)
    return weights[k] * x + powers[k - 1]


# -- lists that grow, and are read while they do ----------------------------------------------------


def until_it_is_enough_of_four(xs):
    """
    >>> until_it_is_enough_of_four(np.array([0.5, 1.4, 0.3, 0.7]))
    >>> until_it_is_enough_of_four(np.array([0.6, 0.1, 1.5, 0.2]))
    """
    out = []
    total = 0.0
    for k in range(4):
        total += xs[k]
        out.append(total * xs[k])
        if total > 1.5:
            break
    return np.sum(np.array(out) ** 2)


def squares_or_not(xs):
    """
    >>> squares_or_not(np.array([0.3, -0.5, 1.1, 0.2, 0.05]))
    >>> squares_or_not(np.array([0.3, -0.2, 0.1, 0.35, -0.05]))
    """
    out = []
    for x in xs:
        if x > 0.0:
            out.append(x * x)
        else:
            out.append(-x)
    return np.sum(np.array(out) ** 2) * len(out)


def recurrence_of_a_list(x: float, n: int) -> float:
    """
    >>> recurrence_of_a_list(0.3, 4)
    >>> recurrence_of_a_list(0.3, 7)
    >>> recurrence_of_a_list(0.4, 4)
    """
    h = [x, x * 0.5]
    for _ in range(n):
        h.append(h[-1] + 0.1 * h[-2] ** 2)
    return h[-1] * sum(h)


def until_it_settles(x: float) -> float:
    """
    >>> until_it_settles(0.9)
    >>> until_it_settles(0.5)
    """
    history = [2.0 * x, x]
    while abs(history[-1] - history[-2]) > 0.05:
        history.append(history[-1] * 0.7)
    return np.sum(np.array(history) ** 2)
