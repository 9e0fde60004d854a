"""Small functions in the style of users, with control flow on values."""

import math

import numpy as np


def relu(x: float) -> float:
    if x > 0.0:
        y = x
    else:
        y = 0.0
    return y


def piecewise(x: float) -> float:
    if x < 0.3:
        return x * x
    elif x < 0.7:
        return math.sin(x)
    else:
        return 2.0 * x - 1.0


def early_return(x: float, y: float) -> float:
    if x > y:
        return x * y
    z = x + y
    if z > 1.0:
        return z * z
    return math.exp(z)


def conditional_expression(x: float, y: float) -> float:
    return x * y if x > y else x - 2.0 * y


def and_or(x: float, y: float) -> float:
    if (x > 0.2 and 1.0 / x > y) or not y < 0.5:
        return x * y * y
    return x + y


def chained(x: float, y: float) -> float:
    if 0.2 < x < y * 2.0 < 1.8:
        return x**3 * y
    return x * y


def nested_branches(x: float, y: float) -> float:
    total = 0.0
    if x > 0.5:
        if y > 0.5:
            total = x * y
        else:
            total += math.cos(x)
        total = total * 2.0
    else:
        total = y
    return total + x


def fall_through(x: float, y: float) -> float:
    if x > 0.2:
        if y > 0.9:
            return x * y
        x = x * 2.0
    return x * x + y


def swap(x: float, y: float) -> float:
    if x > y:
        x, y = y, x
    return x * x + 3.0 * y


def newton(a: float) -> float:
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


def while_true(a: float) -> float:
    x = 1.0
    while True:
        new = 0.5 * (x + a / x)
        if abs(new - x) < 1e-14:
            return new
        x = new


def while_break(a: float) -> float:
    x = 1.0
    count = 0
    while count < 60:
        x = 0.5 * (x + a / x)
        if abs(x * x - a) < 1e-13:
            break
        count += 1
    return x * a


def for_break(a: float) -> float:
    total = 0.0
    term = 1.0
    for k in range(1, 200):
        term = term * a / k
        if abs(term) < 1e-17:
            break
        total += term
    return total


def for_else(a: float) -> float:
    x = a
    for _ in range(3):
        if x > 4.0:
            x = x * 0.5
            break
        x = x * (1.0 + a)
    else:
        x = x + 10.0 * a
    return x


def for_continue(x: float) -> float:
    total = 0.0
    for k in range(10):
        if x * k > 2.0:
            continue
        total += math.sin(x * k)
    return total


def for_return(x: float) -> float:
    y = x
    for k in range(50):
        y = y * 1.3
        if y > 5.0:
            return y * k
    return y


def long_loop(x: float) -> float:
    for _ in range(100):
        x = x + 0.01 * math.sin(x)
    return x


def short_loop(x: float) -> float:
    for k in range(3):
        x = x * x + k
    return x


def integer_start(x: float) -> float:
    total = 0
    for k in range(20):
        total += x * k
    return total


def backwards(x: float) -> float:
    total = 0.0
    for k in range(20, 0, -3):
        total = total * x + k
    return total


def nested_loops(x: float) -> float:
    total = 0.0
    for i in range(6):
        inner = x
        for j in range(5):
            inner = inner * 0.5 + i * x + j
        total += inner * inner
    return total


def rows(xs: np.ndarray) -> float:
    h = 0.0
    for x in xs:
        h = np.tanh(h + x)
    return h


def zipped(xs: np.ndarray, ys: np.ndarray) -> float:
    total = 0.0
    for x, y in zip(xs, ys):
        total += x * y**2
    return total


def enumerated(xs: np.ndarray) -> float:
    total = 0.0
    for i, x in enumerate(xs):
        total += (i + 1) * x**2
    return total


def reverse(xs: np.ndarray) -> float:
    value = 0.0
    for x in reversed(xs):
        value = value * 0.5 + x**2
    return value


def collected(xs: np.ndarray) -> float:
    outs = []
    h = 0.0
    for x in xs:
        h = np.tanh(h + x)
        outs.append(h)
    return np.sum(np.array(outs) ** 2)


def comprehension(xs: np.ndarray) -> float:
    return np.sum(np.array([np.sin(x) * x for x in xs]))


def generator(xs: np.ndarray) -> float:
    return sum(x**3 for x in xs)


def indexed(xs: np.ndarray) -> float:
    total = 0.0
    for i in range(len(xs)):
        total += xs[i] * xs[i - 1]
    return total


def maximum(xs: np.ndarray) -> float:
    best = xs[0]
    for x in xs[1:]:
        if x > best:
            best = x
    return best**2


def count_positive(xs: np.ndarray) -> float:
    total = 0.0
    count = 0
    for x in xs:
        if x > 0.5:
            total += x**2
            count += 1
    return total / count if count > 0 else 0.0


def first_above(xs: np.ndarray) -> float:
    for x in xs:
        if x > 0.6:
            return x * x
    return np.sum(xs)


def growing_array(x: float) -> float:
    values = np.array([1.0, 2.0])
    for _ in range(3):
        values = np.concatenate([values, values * x])
    return np.sum(values)


def layers(x: float) -> float:
    for scale in [0.5, 1.5, 2.5]:
        x = math.tanh(scale * x)
    return x


def dictionary(x: float, y: float) -> float:
    total = 0.0
    for name, value in {"a": x, "b": y}.items():
        total += value * len(name) * 2.0
    return total * x


def branch_in_list(x: float, y: float) -> float:
    values = [x, y]
    if x > y:
        values[0] = y * y
    else:
        values[1] = x * x
    return values[0] * values[1]


def update_in_loop(xs: np.ndarray) -> float:
    out = np.zeros(len(xs))
    for i in range(len(xs)):
        out[i] = xs[i] ** 2 + out[i - 1]
    return np.sum(out)


def update_in_branch(xs: np.ndarray) -> float:
    out = xs.copy()
    if xs[0] > 0.5:
        out[1] = out[0] * 2.0
    else:
        out[2] = out[0] * 3.0
    return np.sum(out**2)


def helper(x):
    if x > 0.5:
        return x * x
    return -x


def calls_helper(x: float, y: float) -> float:
    return helper(x) * helper(y) + helper(x * y)


def power(x: float) -> float:
    result = 1.0
    while x > 0.1:
        result = result * (1.0 + x)
        x = x * 0.5
    else:
        result = result * 2.0
    return result


def walrus(x: float) -> float:
    if (y := x * x) > 0.25:
        return y * 2.0
    return y - 1.0


def clipped(x: float) -> float:
    return max(0.1, min(x, 0.8)) * x


def two_states(xs: np.ndarray) -> float:
    a, b = 0.0, 1.0
    for x in xs:
        a, b = a + b * x, b * 0.9
    return a * b
