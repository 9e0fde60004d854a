"""Lists of numbers that are used as tables: items are put at indices that are values."""

import numpy as np


def shortest_paths(w):
    """
    >>> shortest_paths(np.array([[0.0, 1.0, 4.0, 9.0], [1.0, 0.0, 2.0, 5.0], [4.0, 2.0, 0.0, 1.0], [9.0, 5.0, 1.0, 0.0]]))
    >>> shortest_paths(np.array([[0.0, 3.0, 1.0, 9.0], [3.0, 0.0, 7.0, 2.0], [1.0, 7.0, 0.0, 6.0], [9.0, 2.0, 6.0, 0.0]]))
    """
    n = len(w)
    dist = [np.inf] * n
    dist[0] = 0.0
    done = [False] * n
    for _ in range(n):
        u = -1
        for v in range(n):
            if not done[v] and (u == -1 or dist[v] < dist[u]):
                u = v
        done[u] = True
        for v in range(n):
            if not done[v]:
                alt = dist[u] + w[u, v]
                if alt < dist[v]:
                    dist[v] = alt
    return sum(dist)


def sums_of_bins(x):
    """
    >>> sums_of_bins(np.array([0.1, 0.4, 0.5, 0.9]))
    >>> sums_of_bins(np.array([0.8, 0.3, 0.45, 0.2]))
    """
    sums, counts = [0.0] * 3, [0] * 3
    for v in x:
        k = int(3 * v)
        sums[k] += v**2
        counts[k] += 1
    return sum(s / c for s, c in zip(sums, counts) if c > 0)


def best_sum_without_neighbours(x):
    """
    >>> best_sum_without_neighbours(np.array([0.3, 0.4, 0.5, 0.9]))
    >>> best_sum_without_neighbours(np.array([0.8, 0.3, 0.45, 0.2]))
    >>> best_sum_without_neighbours(np.array([0.8, 0.3, 0.45, 0.2, 0.7]))
    """
    best = [0] * (len(x) + 1)
    best[1] = x[0]
    for i in range(2, len(best)):
        best[i] = max(best[i - 1], best[i - 2] + x[i - 1])
    return best[-1]


def table_of_lists(a, b):
    """
    >>> table_of_lists(np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.15, 0.22, 0.37]))
    >>> table_of_lists(np.array([0.9, 0.2, 0.5, 0.4]), np.array([0.15, 0.62, 0.37]))
    """
    n, m = len(a), len(b)
    d = [[0.0] * (m + 1) for _ in range(n + 1)]
    for i in range(1, n + 1):
        d[i][0] = d[i - 1][0] + a[i - 1]
    for j in range(1, m + 1):
        d[0][j] = d[0][j - 1] + b[j - 1]
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            change = d[i - 1][j - 1] + (a[i - 1] - b[j - 1]) ** 2
            d[i][j] = min(d[i - 1][j] + a[i - 1], d[i][j - 1] + b[j - 1], change)
    return d[n][m]


def put_once(x, k: int):
    """
    >>> put_once(0.5, 1)
    >>> put_once(1.5, 1)
    >>> put_once(0.7, 0)
    """
    xs = [x, 2 * x, x**2]
    xs[k] = x**3
    return xs[0] * xs[1] + xs[2]


class Histogram:
    def __init__(self, size):
        self.sums = [0.0] * size
        self.n = 0

    def add(self, v):
        k = int(v * len(self.sums))
        self.sums[k] += v
        self.n += 1


def histogram_object(x):
    """
    >>> histogram_object(np.array([0.1, 0.4, 0.55, 0.9, 0.2]))
    >>> histogram_object(np.array([0.8, 0.3, 0.45, 0.2, 0.7]))
    """
    h = Histogram(4)
    for v in x:
        h.add(v)
    return sum(s**2 for s in h.sums) / h.n


def list_changed_in_a_branch(x, s):
    """
    >>> list_changed_in_a_branch(np.array([0.1, 0.4, 0.5, 0.9, 0.2]), 0.5)
    >>> list_changed_in_a_branch(np.array([0.8, 0.3, 0.45, 0.2, 0.7]), -0.5)
    """
    sums = [0.0, s, 1.0]
    other = sums
    if s > 0:
        for v in x:
            sums[int(3 * v)] += v * s
    return sums[0] + 2 * sums[1] + 3 * other[2]


def list_known_by_two_names(x, s):
    """
    >>> list_known_by_two_names(np.array([0.1, 0.4, 0.5, 0.9, 0.2]), 0.5)
    >>> list_known_by_two_names(np.array([0.8, 0.3, 0.45, 0.2, 0.7]), -0.5)
    """
    sums = [0.0, s, 1.0]
    other = sums
    for v in x:
        sums[int(3 * v)] += v * s
    return sums[0] + 2 * sums[1] + 3 * other[2]


def stack_machine(x):
    """
    >>> stack_machine(np.array([0.1, 0.4, -0.5, 0.9, 0.2]))
    >>> stack_machine(np.array([-0.8, 0.3, 0.45, -0.2, -0.7]))
    """
    stack = [0.0] * 6
    top = 0
    for v in x:
        if v > 0:
            stack[top] = v
            top += 1
        elif top > 0:
            top -= 1
            stack[top] *= v
    return sum(stack)
