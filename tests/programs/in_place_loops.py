"""Loops that fill an array step by step, from what is in it already."""

import numpy as np


def recurrence(x, rate):
    """
    >>> recurrence(np.linspace(0.5, 2.0, 9), 0.5)
    """
    out = np.zeros(len(x))
    out[0] = x[0]
    for i in range(1, len(x)):
        out[i] = rate * out[i - 1] + x[i]
    return np.sum(out**2)


def products(start, rates):
    """
    >>> products(1.5, np.linspace(0.1, 0.5, 7))
    """
    out = np.zeros(len(rates))
    out[0] = start
    for i in range(1, len(rates)):
        out[i] = rates[i] * out[i - 1]
    return np.sum(out)


def hidden_states(x, w):
    """
    >>> hidden_states(np.full((8, 3), 0.4), np.full((3, 3), 0.2))
    """
    h = np.zeros(x.shape)
    for t in range(1, x.shape[0]):
        h[t] = np.tanh(h[t - 1] @ w + x[t])
    return np.sum(h)


def accumulated(x, y):
    """
    >>> accumulated(np.linspace(1.0, 2.0, 6), np.linspace(1.0, 3.0, 6))
    """
    out = x.copy()
    for t in range(1, x.shape[0]):
        out[t] += np.sin(out[t - 1]) * y[t]
    return np.sum(out**2)


def two_arrays(x, speed):
    """
    >>> two_arrays(np.linspace(1.0, 2.0, 6), 0.3)
    """
    n = len(x)
    position = np.zeros(n)
    velocity = np.zeros(n)
    velocity[0] = speed
    for i in range(n - 1):
        velocity[i + 1] = velocity[i] - 0.1 * position[i] * x[i]
        position[i + 1] = position[i] + 0.1 * velocity[i + 1]
    return np.sum(position * velocity)


def heat(u, c):
    """
    >>> heat(np.linspace(1.0, 2.0, 6), 0.1)
    """
    n = len(u)
    grid = np.zeros((5, n))
    grid[0] = u
    for k in range(4):
        for j in range(1, n - 1):
            grid[k + 1, j] = grid[k, j] + c * (grid[k, j - 1] - 2 * grid[k, j] + grid[k, j + 1])
    return np.sum(grid[-1] ** 2)


def time_warping(a, b):
    """
    >>> time_warping(np.linspace(1.0, 2.0, 4), np.linspace(1.0, 3.0, 5))
    """
    n, m = len(a), len(b)
    d = np.zeros((n + 1, m + 1))
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (a[i - 1] - b[j - 1]) ** 2
            d[i, j] = cost + 0.3 * d[i - 1, j] + 0.2 * d[i, j - 1] + d[i - 1, j - 1]
    return d[n, m]


def tridiagonal(a, b, c, d):
    """
    >>> tridiagonal(np.full(6, 0.2), np.full(6, 2.5), np.full(6, 0.3), np.linspace(1.0, 2.0, 6))
    """
    n = len(d)
    upper = np.zeros(n)
    right = np.zeros(n)
    x = np.zeros(n)
    upper[0] = c[0] / b[0]
    right[0] = d[0] / b[0]
    for i in range(1, n):
        pivot = b[i] - a[i] * upper[i - 1]
        upper[i] = c[i] / pivot
        right[i] = (d[i] - a[i] * right[i - 1]) / pivot
    x[-1] = right[-1]
    for i in range(n - 2, -1, -1):
        x[i] = right[i] - upper[i] * x[i + 1]
    return np.sum(x)


def histogram(x, w):
    """
    >>> histogram(np.linspace(1.0, 2.0, 6), np.linspace(1.0, 3.0, 6))
    """
    counts = np.zeros(3)
    for i in range(len(x)):
        counts[i % 3] += x[i] * w[i]
    return np.sum(counts**2)


def relaxed(x, c):
    """
    >>> relaxed(np.linspace(1.0, 2.0, 6), 0.3)
    """
    y = x.copy()
    for _ in range(10):
        for i in range(1, len(x) - 1):
            y[i] = (1 - c) * y[i] + c * 0.5 * (y[i - 1] + y[i + 1])
    return np.sum(y**2)


def chosen(x, rate):
    """
    >>> chosen(np.linspace(-1.0, 2.0, 6), 0.5)
    """
    out = np.zeros(len(x))
    for i in range(1, len(x)):
        if x[i] > 0:
            out[i] = rate * out[i - 1] + x[i]
        else:
            out[i] = -out[i - 1]
    return np.sum(out**2)


def corrected(x, rate):
    """
    >>> corrected(np.linspace(-1.0, 2.0, 6), 0.5)
    """
    out = x.copy()
    for i in range(1, len(x)):
        if out[i] > 0:
            out[i] = rate * out[i - 1] * out[i]
    return np.sum(out**2)


def until_small(x, bound):
    """
    >>> until_small(np.linspace(1.0, 2.0, 6), 0.3)
    """
    out = x.copy()
    i = 1
    while i < len(x) and out[i - 1] > bound:
        out[i] = 0.5 * out[i - 1] * out[i]
        i += 1
    return np.sum(out**2)
