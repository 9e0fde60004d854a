"""Loops: over ranges, while, with breaks, continues, returns and else."""

import math

import numpy as np


def newton(a: float) -> float:
    """
    >>> newton(0.77)
    >>> newton(1.08)
    >>> newton(0.94)
    """
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


def while_true(a: float) -> float:
    """
    >>> while_true(0.31)
    >>> while_true(0.4)
    >>> while_true(1.05)
    """
    x = 1.0
    while True:
        new = 0.5 * (x + a / x)
        if abs(new - x) < 1e-14:
            return new
        x = new


def while_break(a: float) -> float:
    """
    >>> while_break(0.06)
    >>> while_break(0.99)
    >>> while_break(0.97)
    """
    x = 1.0
    count = 0
    while count < 60:
        x = 0.5 * (x + a / x)
        if abs(x * x - a) < 1e-13:
            break
        count += 1
    return x * a


def for_break(a: float) -> float:
    """
    >>> for_break(0.59)
    >>> for_break(0.4)
    >>> for_break(0.37)
    """
    total = 0.0
    term = 1.0
    for k in range(1, 200):
        term = term * a / k
        if abs(term) < 1e-17:
            break
        total += term
    return total


def for_else(a: float) -> float:
    """
    >>> for_else(0.34)
    >>> for_else(0.56)
    >>> for_else(0.63)
    """
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
    """
    >>> for_continue(0.69)
    >>> for_continue(1.19)
    >>> for_continue(0.96)
    """
    total = 0.0
    for k in range(10):
        if x * k > 2.0:
            continue
        total += math.sin(x * k)
    return total


def for_return(x: float) -> float:
    """
    >>> for_return(0.77)
    >>> for_return(1.19)
    >>> for_return(0.3)
    """
    y = x
    for k in range(50):
        y = y * 1.3
        if y > 5.0:
            return y * k
    return y


def long_loop(x: float) -> float:
    """
    >>> long_loop(0.23)
    >>> long_loop(0.75)
    >>> long_loop(0.1)
    """
    for _ in range(100):
        x = x + 0.01 * math.sin(x)
    return x


def short_loop(x: float) -> float:
    """
    >>> short_loop(0.09)
    >>> short_loop(0.64)
    >>> short_loop(0.59)
    """
    for k in range(3):
        x = x * x + k
    return x


def integer_start(x: float) -> float:
    """
    >>> integer_start(1.1)
    >>> integer_start(0.77)
    >>> integer_start(0.64)
    """
    total = 0
    for k in range(20):
        total += x * k
    return total


def backwards(x: float) -> float:
    """
    >>> backwards(0.62)
    >>> backwards(0.33)
    >>> backwards(0.06)
    """
    total = 0.0
    for k in range(20, 0, -3):
        total = total * x + k
    return total


def nested_loops(x: float) -> float:
    """
    >>> nested_loops(0.27)
    >>> nested_loops(0.85)
    >>> nested_loops(0.28)
    """
    total = 0.0
    for i in range(6):
        inner = x
        for j in range(5):
            inner = inner * 0.5 + i * x + j
        total += inner * inner
    return total


def growing_array(x: float) -> float:
    """
    >>> growing_array(0.09)
    >>> growing_array(0.73)
    >>> growing_array(0.24)
    """
    values = np.array([1.0, 2.0])
    for _ in range(3):
        values = np.concatenate([values, values * x])
    return np.sum(values)


def layers(x: float) -> float:
    """
    >>> layers(0.83)
    >>> layers(0.07)
    >>> layers(0.41)
    """
    for scale in [0.5, 1.5, 2.5]:
        x = math.tanh(scale * x)
    return x


def dictionary(x: float, y: float) -> float:
    """
    >>> dictionary(1.13, 0.67)
    >>> dictionary(0.98, 0.81)
    >>> dictionary(0.75, 0.27)
    """
    total = 0.0
    for name, value in {"a": x, "b": y}.items():
        total += value * len(name) * 2.0
    return total * x


def power(x: float) -> float:
    """
    >>> power(0.43)
    >>> power(0.88)
    >>> power(1.05)
    """
    result = 1.0
    while x > 0.1:
        result = result * (1.0 + x)
        x = x * 0.5
    else:
        result = result * 2.0
    return result


def found_before_break(xs):
    """
    >>> found_before_break(np.array([0.3, -0.5, 1.1, 0.2, 0.05]))
    >>> found_before_break(np.array([0.3, -0.2, 0.1, 0.35, 0.05]))
    """
    for i, x in enumerate(xs):
        if x > 1.0:
            found, where = x, i
            break
    else:
        found, where = 0.5 * xs[0], -1
    return found * found + where * xs[1]


def result_before_break(a: float) -> float:
    """
    >>> result_before_break(0.3)
    >>> result_before_break(2.0)
    """
    x = a
    while True:
        x = 0.5 * x + 0.1
        if x < 0.3:
            if x < 0.22:
                result = x * x
            else:
                result = -x
            break
    return result


def gaps(x):
    """
    >>> gaps(np.array([0.1, 0.4, 0.9, 1.7]))
    >>> gaps(np.array([0.2, 0.5, 0.7, 1.9]))
    """
    n = len(x)
    total = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            d = x[j] - x[i]
            total += d * d + 1.0 / d
    return total


def filtered(h, x):
    """
    >>> filtered(np.array([0.2, 0.5]), np.array([1.0, 2.0, 0.5, -1.0]))
    >>> filtered(np.array([0.3, -0.5]), np.array([0.4, 1.0, 0.2, -0.7]))
    """
    n = len(x)
    out = np.zeros(n)
    for i in range(n):
        acc = 0.0
        for j in range(len(h)):
            if i - j >= 0:
                acc += h[j] * x[i - j]
        out[i] = acc
    return np.mean(out**2)


def path_average(s0, drift, noise):
    """
    >>> path_average(1.5, 0.1, np.array([0.1, -0.5, 0.3, 0.9, 0.2]))
    >>> path_average(0.7, 0.2, np.array([0.4, 0.5, -0.3, 0.1, 0.6]))
    """
    path = [s0]
    s = s0
    for z in noise:
        s = s * (1.0 + drift + 0.2 * z)
        path.append(s)
    return np.mean(np.array(path))


def penalised(theta, t, y):
    """
    >>> penalised(np.array([1.2, -0.3, 2.0]), np.linspace(0.1, 1.0, 4), np.ones(4))
    >>> penalised(np.array([-0.6, 0.4, 1.0]), np.linspace(0.2, 0.9, 4), np.zeros(4))
    """
    amplitude, decay, frequency = theta
    model = amplitude * np.exp(-decay * t) * np.cos(frequency * t)
    loss = np.sum((model - y) ** 2)
    for p in theta:
        if p < 0.0:
            loss = loss + 10.0 * p**2
    return loss


def assigned_in_the_first_step(xs):
    """
    >>> assigned_in_the_first_step(np.array([0.3, -0.2, 0.5, 1.4, 0.1, 0.7]))
    >>> assigned_in_the_first_step(np.array([-0.3, -0.2, -0.5, 1.4, 0.2, 0.1]))
    """
    for k, x in enumerate(xs):
        if k == 0:
            previous = x
            total = 0.5 * x
        else:
            total = total + (x - previous) ** 2
            previous = x if x > previous else previous
    return total * previous


def until_it_is_done(x: float) -> float:
    """
    >>> until_it_is_done(0.4)
    >>> until_it_is_done(3.3)
    """
    done = False
    steps = 0
    while not done:
        y = math.sin(x) + 0.5 * x
        done = abs(y - x) < 0.01 or steps > 20
        x, steps = y, steps + 1
    return y * steps


HALF = np.array(0.5)


def scaled_by_an_array_without_axes(x):
    """
    >>> scaled_by_an_array_without_axes(np.array([1.2, -2.0, 0.3]))
    >>> scaled_by_an_array_without_axes(np.array([0.2, 2.0, -0.3]))
    """
    low, high = x[0], x[1]
    for v in x:
        high = high + low * v
        low = low + high
    return low * HALF + high * HALF
