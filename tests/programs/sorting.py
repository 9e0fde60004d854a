"""Small functions that sort, and that find places and numbers in what is sorted."""

import numpy as np


def in_order(x, a):
    return np.sum(np.sort(x) * a[0]) + np.sum(np.sort(a, axis=0) * x)


def sorted_in_place(x, a):
    y = x**2
    y.sort()
    b = a * 2.0
    b[1].sort()
    b.T[0, ::-1].sort()
    b.sort(axis=1)
    return np.sum(y * x) + np.sum(b * x)


def descending(x, a):
    top = np.sort(x)[::-1][:2]
    least = -np.sort(-a, axis=None)
    return top @ a[0, :2] + np.sum(least[:3] ** 2)


def by_another_array(x, a):
    order = np.argsort(x)
    y = a[0][order]
    b = a[:, order]
    b[0] += y
    return np.sum(np.cumsum(y) * x) + np.sum(b[1] * y)


def rows_by_their_own_order(x, a):
    order = a.argsort(axis=1)
    ranked = np.take_along_axis(a, order, axis=1)
    return np.sum(ranked * x) + np.sum(np.take_along_axis(a * x, order[:, ::-1], axis=1)[:, 0])


def ranks(x, a):
    place = np.argsort(np.argsort(x))
    return np.sum(a[0][place] * x)


def stably_by_two_keys(x, a):
    first = (np.abs(x) > 0.8).astype(float)
    order = np.lexsort((x, first))
    y = x[order]
    order = np.argsort(first, kind="stable")
    return np.sum(y * a[1]) + np.sum(a[2][order] * x)


def median_of_rows(x, a):
    return np.median(x) * np.median(a) + np.sum(np.median(a, axis=1) ** 2)


def median_deviation(x, a):
    center = np.median(a, axis=0)
    spread = np.median(np.abs(a - center), axis=0, keepdims=True)
    return np.sum((a - center) / (spread + 1.0) * x)


def quantiles(x, a):
    low, high = np.quantile(x, [0.1, 0.75])
    return high - low * np.percentile(a, 90.0) + np.sum(np.percentile(a, 30, axis=1))


def median_over_two_axes(x, a):
    cube = np.stack([a, a * x, a + 1.0])
    return np.sum(np.median(cube, axis=(0, 2)) ** 2) + np.sum(np.quantile(cube, 0.3, axis=(1, 2)))


def partly_sorted(x, a):
    y = np.partition(x, 2)
    b = a.copy()
    b.partition(1, axis=1)
    nearest = np.argpartition(np.abs(x - 0.5), 2)[:2]
    return np.sum(y[:2]) + y[2] * y[3] + np.sum(b[:, 1] ** 2) + np.sum(x[nearest] ** 2)


def trimmed_mean(x, a):
    ordered = np.sort(a, axis=None)
    return np.mean(ordered[2:-2]) * np.max(x)


def looked_up(x, a):
    knots = np.sort(x)
    place = np.clip(np.searchsorted(knots, a) - 1, 0, 2)
    weight = (a - knots[place]) / (knots[place + 1] - knots[place])
    return np.sum(weight**2)


def binned(x, a):
    limits = np.array([-0.25, 0.15, 0.55])
    weights = np.array([1.0, 2.0, 4.0, 8.0])
    return np.sum(weights[np.digitize(a, limits)] * a) + np.sum(
        weights[np.digitize(x, limits[::-1], right=True)] * x
    )


def largest_of_each_row(x, a):
    columns = np.argsort(a, axis=1)[:, -2:]
    return np.sum(np.take_along_axis(a, columns, axis=1) ** 2 * x[:2])


def sorted_in_a_loop(x, a):
    y = x.copy()
    for row in a:
        y += row
        y.sort()
        y[0] *= 0.5
    return np.sum(y * x)


def isotonic(x, a):
    y = np.sort(x) - np.sort(a[0])
    return np.mean(np.abs(y) ** 2)


def sorted_into(x, a):
    y = np.zeros(4)
    y[:] = np.sort(x)
    np.copyto(y[1:3], np.sort(a[0])[:2])
    y[::-1].sort()
    return np.sum(y * x)
