"""Filters, recurrences and dynamic programming: state that branches, windows, tables, paths."""

import collections
import math

import numpy as np

TRANSITIONS = np.array([[0.7, 0.3], [0.4, 0.6]])


def above_the_recent(xs):
    """
    >>> above_the_recent(np.array([0.3, -0.2, 0.7, 1.1, 0.4]))
    >>> above_the_recent(np.array([0.1, 2.9, -0.7, 0.2, 0.6]))
    """
    window = collections.deque(maxlen=3)
    total = 0.0
    for x in xs:
        window.append(x)
        mean = sum(window) / len(window)
        if x > mean:
            total += (x - mean) ** 2
    return total


def smoothed(xs, alpha: float):
    """
    >>> smoothed(np.array([0.3, -0.2, 0.7, 1.1, 0.4]), 0.3)
    >>> smoothed(np.array([0.1, 2.9, -0.7, 0.2, 0.6]), 0.6)
    """
    out = []
    state = None
    for x in xs:
        state = x if state is None else alpha * x + (1.0 - alpha) * state
        out.append(np.clip(state, -0.5, 0.8))
    return np.sum(np.array(out) ** 2)


def adaptive_steps(y: float, k: float) -> float:
    """
    >>> adaptive_steps(1.0, 0.7)
    >>> adaptive_steps(0.5, 1.9)
    """

    def f(t, y):
        return -k * y + math.sin(t)

    t, h = 0.0, 0.3
    while t < 2.0:
        h = min(h, 2.0 - t)
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + 3 * h / 4, y + 3 * h / 4 * k2)
        y3 = y + h * (2 / 9 * k1 + 1 / 3 * k2 + 4 / 9 * k3)
        k4 = f(t + h, y3)
        y2 = y + h * (7 / 24 * k1 + 1 / 4 * k2 + 1 / 3 * k3 + 1 / 8 * k4)
        error = abs(y3 - y2)
        if error < 1e-3:
            t += h
            y = y3
        h *= min(2.0, max(0.2, 0.9 * (1e-3 / (error + 1e-12)) ** (1 / 3)))
    return y


def viterbi(log_e):
    """
    >>> viterbi(np.array([[0.3, -0.2], [0.1, 0.7], [-0.4, 0.2], [0.9, 0.3]]))
    >>> viterbi(np.array([[0.1, 0.2], [0.8, -0.7], [0.4, 0.3], [-0.9, 0.35]]))
    """
    n, k = log_e.shape
    score = log_e[0].copy()
    back = np.zeros((n, k), dtype=int)
    for t in range(1, n):
        new = np.zeros(k)
        for j in range(k):
            best, arg = -np.inf, 0
            for i in range(k):
                cand = score[i] + np.log(TRANSITIONS[i, j])
                if cand > best:
                    best, arg = cand, i
            new[j] = best + log_e[t, j]
            back[t, j] = arg
        score = new
    last = int(np.argmax(score))
    path = [last]
    for t in range(n - 1, 0, -1):
        path.append(int(back[t, path[-1]]))
    return np.max(score) + 0.1 * sum(path) * log_e[0, 0]
