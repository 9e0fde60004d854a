"""One list, dict or object under two names, where branches and loops make new ones of it."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Point:
    x: float


def one_of_two_lists(x: float) -> float:
    """
    >>> one_of_two_lists(0.3)
    """
    p, q = [x], [2.0 * x]
    r = p if x > 0.0 else q
    r[0] = 5.0 * x
    return p[0] * q[0]


def one_point_in_two_places(x: float) -> float:
    """
    >>> one_point_in_two_places(0.3)
    """
    if x > 0.0:
        p = Point(x)
        box = [p]
    else:
        p = Point(2.0 * x)
        box = [p]
    p.x = 5.0 * x
    return box[0].x * x


def best_of_the_steps(x: float, n: int) -> float:
    """
    >>> best_of_the_steps(0.3, 3)
    """
    p, r = [x], [2.0 * x]
    best = p
    for i in range(n):
        if i * x > 0.5:
            best = r
        best[0] = best[0] + x
    return p[0] * r[0]


class Plain:
    def __init__(self, x):
        self.x = x


def one_of_two_objects(x: float) -> float:
    """
    >>> one_of_two_objects(0.3)
    """
    r = Plain(x) if x > 0.0 else Plain(x * x)
    return r.x


def turned_again_and_again(x, a):
    """
    >>> turned_again_and_again(np.array([0.3, -0.2]), np.arange(6.0).reshape(3, 2))
    """
    for weight in x * 1.0:
        for _ in range(3):
            x = a[0, :]
            if weight > 0.2:
                a = a[::-1]
                a *= 0.8
    return np.sum(x * a)
