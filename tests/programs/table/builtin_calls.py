"""Python's builtins on values that depend on the arguments."""

import math

import numpy as np


def absolute(x: float, y: float) -> float:
    """
    >>> absolute(0.5, -0.3)
    >>> absolute(-1.5, 0.7)
    """
    return abs(x) * abs(y - x) + abs(-2.0)


def extremes(x: float, y: float, z: float) -> float:
    """
    >>> extremes(0.5, -0.3, 0.1)
    >>> extremes(-1.5, 0.7, 2.0)
    """
    return max(x, y, z) * min(x, y) + max([x, z]) - min((y, z))


def extremes_of_an_array(xs):
    """
    >>> extremes_of_an_array(np.array([0.5, -0.3, 0.1]))
    >>> extremes_of_an_array(np.array([-1.5, 0.7, 2.0]))
    """
    return max(xs) - min(xs) * sum(xs)


def powers(x: float, n: float) -> float:
    """
    >>> powers(0.5, 1.3)
    >>> powers(1.5, -0.7)
    """
    return pow(x, 3) + pow(x, n) + x**2


def rounded(x: float) -> float:
    """
    >>> rounded(0.53)
    >>> rounded(-2.2)
    """
    return x * round(x) + x * round(x * 3.0)


def whole_part(x: float) -> float:
    """
    >>> whole_part(0.53)
    >>> whole_part(2.2)
    """
    return (x - math.floor(x)) ** 2 + math.ceil(x) * x


def modulus(x: float, y: float) -> float:
    """
    >>> modulus(5.3, 2.0)
    >>> modulus(-2.2, 0.7)
    """
    return (x % y) * (x // y) + x


def quotient_and_remainder(x: float, y: float) -> float:
    """
    >>> quotient_and_remainder(5.3, 2.0)
    >>> quotient_and_remainder(-2.2, 0.7)
    """
    quotient, remainder = divmod(x, y)
    return quotient * y + remainder**2


def as_float(x):
    """
    >>> as_float(np.array([0.5, 0.2]))
    >>> as_float(np.array([1.5, 0.7]))
    """
    return x[0] * float(3) + np.sum(x)


def truths(x: float, y: float) -> float:
    """
    >>> truths(0.5, 0.2)
    >>> truths(-1.5, 0.7)
    >>> truths(-1.5, -0.7)
    """
    if all([x > 0.0, y > 0.0]):
        return x * y
    if any(v > 0.0 for v in (x, y)):
        return x - y
    return x


def truth_of_arrays(xs):
    """
    >>> truth_of_arrays(np.array([0.5, 0.2]))
    >>> truth_of_arrays(np.array([-1.5, 0.7]))
    >>> truth_of_arrays(np.array([-1.5, -0.7]))
    """
    if np.all(xs > 0.0):
        return np.prod(xs)
    if np.any(xs > 0.0):
        return np.sum(xs**2)
    return xs[0]


def mapped(xs):
    """
    >>> mapped(np.array([0.5, 0.2, 0.9]))
    >>> mapped(np.array([-1.5, 0.7, 0.1]))
    """
    return sum(map(lambda x: x**2, xs)) + sum(map(math.exp, [1.0, 2.0]))


def filtered(x: float) -> float:
    """
    >>> filtered(0.5)
    >>> filtered(1.5)
    """
    return sum(x**k for k in filter(lambda k: k % 2, range(6)))


def zipped_lists(x: float, y: float) -> float:
    """
    >>> zipped_lists(0.5, 0.3)
    >>> zipped_lists(1.5, 0.9)
    """
    total = 0.0
    for value, weight, name in zip([x, y], (0.5, 2.0), "ab"):
        total += value**2 * weight
    return total


def reversed_list(x: float, y: float) -> float:
    """
    >>> reversed_list(0.5, 0.3)
    >>> reversed_list(1.5, 0.9)
    """
    total = 0.0
    for value in reversed([x, y, x * y]):
        total = 0.5 * total + value
    return total


def lengths(xs):
    """
    >>> lengths(np.array([0.5, 0.2, 0.9]))
    >>> lengths(np.array([-1.5, 0.7, 0.1]))
    >>> lengths(np.array([-1.5, 0.7]))
    """
    return sum(xs) / len(xs) + xs.size * xs[0]


def summed_from(xs):
    """
    >>> summed_from(np.array([0.5, 0.2, 0.9]))
    >>> summed_from(np.array([-1.5, 0.7, 0.1]))
    """
    return sum(xs, 10.0) * sum([x * x for x in xs])


def mathematics(x: float, y: float) -> float:
    """
    >>> mathematics(0.5, 0.3)
    >>> mathematics(0.9, 0.6)
    """
    a = math.sqrt(x) + math.log(y) + math.atan2(y, x) + math.hypot(x, y)
    b = math.log1p(x) * math.expm1(y) + math.asin(x) * math.cosh(y)
    return a * b + math.fabs(x - y) + math.copysign(1.0, -x) * y


def sorted_static(x: float) -> float:
    """
    >>> sorted_static(0.5)
    >>> sorted_static(1.5)
    """
    total = 0.0
    for k in sorted([3, 1, 2], reverse=True):
        total = total * x + k
    return total


def boolean_arithmetic(x: float, y: float) -> float:
    """
    >>> boolean_arithmetic(0.5, 0.3)
    >>> boolean_arithmetic(0.1, 0.9)
    """
    return (x > y) * x + (x <= y) * y * y


def integers(x: float) -> float:
    """
    >>> integers(0.5)
    >>> integers(1.5)
    """
    count = 0
    y = x
    while y < 10.0:
        y *= 2.0
        count += 1
    return y * count + count % 2 * x


def converted_numbers(x, t: float) -> float:
    """
    >>> converted_numbers(np.array([0.3, 1.2, 2.5, -0.4]), 1.3)
    >>> converted_numbers(np.array([0.7, -1.2, 0.5, 0.4]), 2.6)
    """
    i = int(t)
    weight = t - i
    total = float(x[i]) * (1.0 - weight) + float(x[i + 1]) * weight
    for k in range(int(t * 2.0)):
        total += t / (k + 1)
    if bool(x[0] > 0.5) and not bool(x[1] > 0.0):
        total = total * total
    return total + x[int(np.argmax(x))] * int(x[0] > 0.5) + float(t > 2.0) * t


def greatest_by_key(xs, y: float) -> float:
    """
    >>> greatest_by_key(np.array([0.3, -0.5, 0.1, 0.2, 0.05]), 0.4)
    >>> greatest_by_key(np.array([0.3, -0.2, 0.1, 0.25, 0.05]), -0.1)
    """
    largest = max(xs, key=abs)
    best, weight = max([(y, 1.0), (xs[0], 2.0)], key=lambda pair: pair[0])
    at = min(range(len(xs)), key=lambda i: xs[i])
    return largest * best * weight + xs[at] ** 2


def greatest_of_few(xs, y: float) -> float:
    """
    >>> greatest_of_few(np.array([0.3, -0.5, 0.1, 0.2, 0.05]), 0.4)
    >>> greatest_of_few(np.array([-0.3, -0.2, -0.1, -0.25, -0.05]), -0.1)
    """
    greatest = max((x * x for x in xs if x > 0.0), default=y)
    return greatest + min([], default=y) * min([y, 2.0], default=1.0)


def chosen_by_a_comparison(x: float, y: float) -> float:
    """
    >>> chosen_by_a_comparison(0.4, 0.3)
    >>> chosen_by_a_comparison(-0.4, 0.3)
    """
    return [x * y, x - y][x > 0.0] + (x, y)[int(y > x)] ** 2
