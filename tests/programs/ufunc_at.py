"""Small functions that change elements one after the other, some of them more than once."""

import numpy as np

PLACES = np.array([0, 2, 0, 3])


def multiplied(x, a):
    y = x * 2.0
    np.multiply.at(y, PLACES, a[0])
    return np.sum(y**2)


def largest_of_places(x, a):
    y = x.copy()
    np.maximum.at(y, [0, 2, 0, 3], a[1])
    np.minimum.at(y, 1, a[0, 0])
    return np.sum(y**2)


def divided_by_pairs(x, a):
    y = a.copy()
    np.divide.at(y, (np.array([0, 2, 0]), np.array([1, 1, -3])), 1.5 + x[:3] ** 2)
    np.multiply.at(y, np.array([[0, 2], [0, 0]]), 2.0)
    np.subtract.at(y, ([0, 0], [1, 1]), x[:2])
    return np.sum(y**2)


def rows_multiplied(x, a):
    y = a.copy()
    np.multiply.at(y, np.array([0, 2, 0]), x)
    np.power.at(y[1:], ([0, 1, 0], [1, 1, 1]), 2.0)
    return np.sum(y**2)


def at_traced_places(x, a):
    y = np.abs(x) + 1.0
    order = np.argsort(a[0])
    np.multiply.at(y, order // 2, a[1])
    return np.sum(y * x)
