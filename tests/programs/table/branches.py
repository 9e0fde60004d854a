"""Decisions on values: branches, conditional expressions, truth values, early returns."""

import math

import numpy as np


def relu(x: float) -> float:
    """
    >>> relu(0.7)
    >>> relu(-0.4)
    """
    if x > 0.0:
        y = x
    else:
        y = 0.0
    return y


def piecewise(x: float) -> float:
    """
    >>> piecewise(0.1)
    >>> piecewise(0.5)
    >>> piecewise(0.9)
    """
    if x < 0.3:
        return x * x
    elif x < 0.7:
        return math.sin(x)
    else:
        return 2.0 * x - 1.0


def early_return(x: float, y: float) -> float:
    """
    >>> early_return(0.8, 0.3)
    >>> early_return(0.5, 0.9)
    >>> early_return(0.1, 0.4)
    """
    if x > y:
        return x * y
    z = x + y
    if z > 1.0:
        return z * z
    return math.exp(z)


def conditional_expression(x: float, y: float) -> float:
    """
    >>> conditional_expression(0.8, 0.3)
    >>> conditional_expression(0.2, 0.3)
    """
    return x * y if x > y else x - 2.0 * y


def and_or(x: float, y: float) -> float:
    """
    >>> and_or(0.5, 0.3)
    >>> and_or(0.1, 0.7)
    >>> and_or(0.1, 0.3)
    >>> and_or(4.0, 0.4)
    """
    if (x > 0.2 and 1.0 / x > y) or not y < 0.5:
        return x * y * y
    return x + y


def chained(x: float, y: float) -> float:
    """
    >>> chained(0.4, 0.6)
    >>> chained(0.1, 0.6)
    >>> chained(0.8, 0.3)
    >>> chained(0.8, 1.3)
    """
    if 0.2 < x < y * 2.0 < 1.8:
        return x**3 * y
    return x * y


def nested_branches(x: float, y: float) -> float:
    """
    >>> nested_branches(0.7, 0.8)
    >>> nested_branches(0.7, 0.2)
    >>> nested_branches(0.3, 0.2)
    """
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
    """
    >>> fall_through(0.5, 0.95)
    >>> fall_through(0.5, 0.3)
    >>> fall_through(0.1, 0.3)
    """
    if x > 0.2:
        if y > 0.9:
            return x * y
        x = x * 2.0
    return x * x + y


def swap(x: float, y: float) -> float:
    """
    >>> swap(0.5, 0.3)
    >>> swap(0.2, 0.3)
    """
    if x > y:
        x, y = y, x
    return x * x + 3.0 * y


def helper(x):
    if x > 0.5:
        return x * x
    return -x


def calls_helper(x: float, y: float) -> float:
    """
    >>> calls_helper(0.7, 0.9)
    >>> calls_helper(0.7, 0.6)
    >>> calls_helper(0.3, 0.6)
    """
    return helper(x) * helper(y) + helper(x * y)


def walrus(x: float) -> float:
    """
    >>> walrus(0.3)
    >>> walrus(0.8)
    """
    if (y := x * x) > 0.25:
        return y * 2.0
    return y - 1.0


def clipped(x: float) -> float:
    """
    >>> clipped(0.5)
    >>> clipped(0.05)
    >>> clipped(1.4)
    """
    return max(0.1, min(x, 0.8)) * x


def branch_in_list(x: float, y: float) -> float:
    """
    >>> branch_in_list(0.5, 0.3)
    >>> branch_in_list(0.2, 0.3)
    """
    values = [x, y]
    if x > y:
        values[0] = y * y
    else:
        values[1] = x * x
    return values[0] * values[1]


def huber(r, delta):
    """Quadratic near zero, linear beyond `delta`.

    >>> huber(0.4, 1.0)
    >>> huber(-2.5, 1.0)
    >>> huber(1.5, 0.7)
    """
    a = abs(r)
    if a <= delta:
        return 0.5 * a**2
    return delta * (a - 0.5 * delta)


def reynolds_drag(speed, diameter, viscosity):
    """Drag coefficient of a sphere, by regime of the Reynolds number.

    >>> reynolds_drag(0.001, 0.01, 1e-3)
    >>> reynolds_drag(0.8, 0.1, 1e-3)
    >>> reynolds_drag(60.0, 0.1, 1e-3)
    """
    re = speed * diameter / viscosity
    if re < 1.0:
        drag = 24.0 / re
    elif re < 1000.0:
        drag = 24.0 / re * (1.0 + 0.15 * re**0.687)
    else:
        drag = 0.44
    return drag * 0.5 * speed**2


def tax(income):
    """Income tax in brackets, in thousands.

    >>> tax(8.0)
    >>> tax(25.0)
    >>> tax(80.0)
    """
    if income <= 10.0:
        return 0.0
    if income <= 40.0:
        return 0.2 * (income - 10.0)
    return 6.0 + 0.4 * (income - 40.0) ** 1.1


def select_by_norm(v):
    """
    >>> select_by_norm(np.array([0.3, 0.4]))
    >>> select_by_norm(np.array([3.0, 4.0]))
    """
    norm = np.linalg.norm(v)
    if norm > 1.0:
        v = v / norm
    return v[0] * v[1] + norm


def first_that_is_positive(x: float, y: float) -> float:
    """
    >>> first_that_is_positive(0.5, 0.2)
    >>> first_that_is_positive(-0.5, 0.2)
    >>> first_that_is_positive(-0.5, -0.2)
    """
    z = (x > 0 and x) or (y > 0 and y) or -1.5
    return z * x


def and_before_or(x: float, y: float) -> float:
    """
    >>> and_before_or(0.5, 0.2)
    >>> and_before_or(-0.5, 0.2)
    >>> and_before_or(0.5, 1.2)
    """
    scale, shift = (x > 0.0 and y < 1.0 and (math.log(x), y)) or (y, 2.0)
    return scale * x + shift


def square(t):
    return t * t


def a_function_by_sign(x: float) -> float:
    """
    >>> a_function_by_sign(1.5)
    >>> a_function_by_sign(0.5)
    >>> a_function_by_sign(-0.5)
    """
    if x > 1.0:
        f = math.sin
    elif x > 0.0:
        f = square
    else:

        def f(t):
            return t * x - 1.0

    return f(x) + f(2.0 * x)


def an_activation(x: float) -> float:
    """
    >>> an_activation(0.4)
    >>> an_activation(-0.4)
    """
    activation = np.tanh if x > 0.0 else np.sin
    y = x
    for k in range(4):
        y = activation(y) + 0.1 * k
    return y


def assigned_behind_and(x: float, y: float) -> float:
    """
    >>> assigned_behind_and(0.8, 0.3)
    >>> assigned_behind_and(-0.8, 0.3)
    >>> assigned_behind_and(0.2, 0.3)
    """
    if x > 0.0 and (m := 2.0 * x) > 1.0:
        return m * m * y
    if y > 0.0 and x > 0.0 and (root := math.sqrt(x * y)) < 5.0:
        scale = root + y
    else:
        scale = x - y
    return scale * y


def a_function_that_counts(x: float) -> float:
    """
    >>> a_function_that_counts(1.5)
    >>> a_function_that_counts(0.5)
    >>> a_function_that_counts(-0.5)
    """
    total = 0.0

    def linear(t):
        nonlocal total
        total = total + t
        return 2.0 * t

    def quadratic(t):
        nonlocal total
        total = total - 3.0 * t
        return t * t

    f = np.sin
    if x > 0.0:
        f = linear if x > 1.0 else quadratic
    return f(x) + total * f(2.0 * x)
