"""Loops over arrays and containers, and what they collect."""

import numpy as np


def rows(xs):
    """
    >>> rows(np.array([0.47, 0.05, 1.0, 0.23, 0.36]))
    >>> rows(np.array([1.06, 0.64, 1.02, 0.79, 0.9]))
    >>> rows(np.array([0.16, 0.67, 0.63]))
    """
    h = 0.0
    for x in xs:
        h = np.tanh(h + x)
    return h


def zipped(xs, ys):
    """
    >>> zipped(np.array([1.05, 0.47, 0.74, 0.12, 0.5]), np.array([0.42, 0.22, 0.99, 0.49, 1.18]))
    >>> zipped(np.array([0.73, 0.75, 0.78, 0.83, 0.22]), np.array([0.56, 0.33, 0.51, 0.16, 1.16]))
    >>> zipped(np.array([0.3, 0.82, 0.4]), np.array([1.06, 0.81, 0.2]))
    """
    total = 0.0
    for x, y in zip(xs, ys):
        total += x * y**2
    return total


def enumerated(xs):
    """
    >>> enumerated(np.array([1.02, 1.14, 1.09, 0.71, 0.22]))
    >>> enumerated(np.array([0.27, 1.12, 0.69, 0.26, 1.07]))
    >>> enumerated(np.array([0.79, 0.71, 0.48]))
    """
    total = 0.0
    for i, x in enumerate(xs):
        total += (i + 1) * x**2
    return total


def reverse(xs):
    """
    >>> reverse(np.array([0.52, 0.33, 0.09, 1.06, 0.59]))
    >>> reverse(np.array([0.68, 0.42, 0.91, 0.08, 0.48]))
    >>> reverse(np.array([0.08, 0.19, 1.16]))
    """
    value = 0.0
    for x in reversed(xs):
        value = value * 0.5 + x**2
    return value


def collected(xs):
    """
    >>> collected(np.array([0.81, 0.54, 0.65, 1.05, 0.45]))
    >>> collected(np.array([0.73, 0.84, 0.46, 0.65, 0.93]))
    >>> collected(np.array([1.1, 0.22, 1.12]))
    """
    outs = []
    h = 0.0
    for x in xs:
        h = np.tanh(h + x)
        outs.append(h)
    return np.sum(np.array(outs) ** 2)


def comprehension(xs):
    """
    >>> comprehension(np.array([0.06, 0.92, 0.98, 0.21, 0.53]))
    >>> comprehension(np.array([0.99, 0.07, 0.77, 0.96, 0.64]))
    >>> comprehension(np.array([0.88, 0.31, 0.28]))
    """
    return np.sum(np.array([np.sin(x) * x for x in xs]))


def generator(xs):
    """
    >>> generator(np.array([0.47, 0.26, 0.45, 1.14, 0.71]))
    >>> generator(np.array([0.44, 0.36, 1.14, 0.56, 1.18]))
    >>> generator(np.array([0.64, 0.65, 1.08]))
    """
    return sum(x**3 for x in xs)


def indexed(xs):
    """
    >>> indexed(np.array([0.9, 0.72, 0.54, 1.06, 0.52]))
    >>> indexed(np.array([1.11, 0.13, 0.54, 0.65, 1.14]))
    >>> indexed(np.array([0.34, 0.98, 0.83]))
    """
    total = 0.0
    for i in range(len(xs)):
        total += xs[i] * xs[i - 1]
    return total


def maximum(xs):
    """
    >>> maximum(np.array([0.87, 0.77, 1.17, 0.43, 0.51]))
    >>> maximum(np.array([0.28, 0.11, 0.29, 1.1, 1.02]))
    >>> maximum(np.array([0.18, 0.74, 0.6]))
    """
    best = xs[0]
    for x in xs[1:]:
        if x > best:
            best = x
    return best**2


def count_positive(xs):
    """
    >>> count_positive(np.array([0.73, 0.81, 0.4, 1.16, 0.59]))
    >>> count_positive(np.array([0.77, 0.78, 0.26, 0.12, 0.52]))
    >>> count_positive(np.array([0.93, 0.99, 0.89]))
    """
    total = 0.0
    count = 0
    for x in xs:
        if x > 0.5:
            total += x**2
            count += 1
    return total / count if count > 0 else 0.0


def first_above(xs):
    """
    >>> first_above(np.array([0.18, 1.1, 0.97, 1.06, 0.65]))
    >>> first_above(np.array([1.1, 0.1, 0.08, 0.07, 0.34]))
    >>> first_above(np.array([0.34, 0.27, 0.7]))
    """
    for x in xs:
        if x > 0.6:
            return x * x
    return np.sum(xs)


def update_in_loop(xs):
    """
    >>> update_in_loop(np.array([0.71, 0.1, 0.97, 1.15, 1.03]))
    >>> update_in_loop(np.array([0.11, 0.44, 0.42, 0.18, 0.77]))
    >>> update_in_loop(np.array([0.97, 0.41, 1.04]))
    """
    out = np.zeros(len(xs))
    for i in range(len(xs)):
        out[i] = xs[i] ** 2 + out[i - 1]
    return np.sum(out)


def update_in_branch(xs):
    """
    >>> update_in_branch(np.array([0.97, 0.2, 0.93, 1.07, 0.28]))
    >>> update_in_branch(np.array([0.71, 0.78, 0.75, 0.16, 0.81]))
    >>> update_in_branch(np.array([0.78, 1.0, 0.97]))
    """
    out = xs.copy()
    if xs[0] > 0.5:
        out[1] = out[0] * 2.0
    else:
        out[2] = out[0] * 3.0
    return np.sum(out**2)


def two_states(xs):
    """
    >>> two_states(np.array([1.08, 0.24, 0.08, 0.8, 0.3]))
    >>> two_states(np.array([0.7, 1.14, 0.49, 0.34, 0.57]))
    >>> two_states(np.array([0.81, 0.17, 0.49]))
    """
    a, b = 0.0, 1.0
    for x in xs:
        a, b = a + b * x, b * 0.9
    return a * b
