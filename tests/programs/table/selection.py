"""Elements that a mask selects, and the places where it is true: how many, only values tell."""

import numpy as np


def mean_of_logarithms(x):
    """
    >>> mean_of_logarithms(np.array([1.0, -2.0, 3.0, 0.5]))
    >>> mean_of_logarithms(np.array([-0.5, 2.0, -1.0, 0.25]))
    """
    return np.mean(np.log(x[x > 0]))


def count_and_range(x, y):
    """
    >>> count_and_range(np.array([1.0, -2.0, 3.0]), np.array([1.0, 2.0, 3.5]))
    >>> count_and_range(np.array([-1.0, 2.0, 0.5]), np.array([1.0, 2.0, -3.5]))
    """
    m = (x > 0) & (y < 3.0)
    chosen = x[m]
    return np.sum(chosen * y[m]) + len(chosen) * x[0] + chosen.size


def missing_values(x):
    """
    >>> missing_values(np.array([1.0, -99.0, 3.0, -0.5]))
    >>> missing_values(np.array([2.0, 0.5, -99.0, 1.5]))
    """
    known = x[x > -90.0]
    deviation = known - known.mean()
    return np.sqrt(np.mean(deviation**2))


def scaled_in_place(a):
    """
    >>> scaled_in_place(np.array([[1.0, -2.0, 0.3], [0.5, 2.0, -1.0]]))
    >>> scaled_in_place(np.array([[-1.0, 0.2, 1.3], [0.9, -2.0, 0.1]]))
    """
    b = a.copy()
    b[b < 0.25] *= 3.0
    b[a > 0.55] -= b[a > 0.55] ** 2
    return np.sum(b**2)


def rows_of_a_table(a, w):
    """
    >>> rows_of_a_table(np.array([[1.0, -2.0], [0.5, 2.0], [0.2, 0.7]]), np.array([1.0, 2.0]))
    >>> rows_of_a_table(np.array([[1.0, 2.0], [0.5, -2.0], [0.2, -0.7]]), np.array([0.5, -2.0]))
    """
    good = a[a[:, 1] > 0]
    total = 0.0
    for row in good:
        total += np.tanh(row @ w)
    return total + np.sum(good @ w) / len(good)


def nothing_selected(x, threshold):
    """
    >>> nothing_selected(np.array([1.0, -2.0, 3.0]), 0.5)
    >>> nothing_selected(np.array([0.7, 2.0, -3.0]), 5.0)
    """
    above = x[x > threshold]
    if len(above) == 0:
        return threshold * x[0]
    return np.sum(above**2) / len(above)


def trimmed_until_small(x, k):
    """
    >>> trimmed_until_small(np.array([1.0, -2.0, 3.0, 0.5]), 0.7)
    >>> trimmed_until_small(np.array([0.3, 0.9, 0.1, -0.5]), 0.5)
    """
    total = 0.0
    for t in range(6):
        rest = x[x > k * t * 0.5]
        if rest.size < 1:
            break
        total += np.sum(rest * np.sqrt(rest + 1.0))
    return total


def at_places(x):
    """
    >>> at_places(np.array([1.2, -2.0, 3.0, 0.5]))
    >>> at_places(np.array([-1.0, 2.0, 0.3, 1.5]))
    """
    out = np.zeros_like(x)
    for i in np.flatnonzero(x > 0):
        out[i] = x[i] ** 2
    (small,) = np.where(x < 1)
    return out.sum() + np.prod(x[small])


def places_in_a_matrix(a):
    """
    >>> places_in_a_matrix(np.array([[1.0, -2.0, 0.3], [0.6, 2.0, -1.0]]))
    >>> places_in_a_matrix(np.array([[-1.0, 0.2, 1.3], [0.9, -2.0, 0.1]]))
    """
    rows, columns = np.nonzero(a > 0)
    return np.sum(a[rows, columns] * rows) + np.sum(np.argwhere(a > 0.5) @ a[0, :2])


def smallest_positive(x):
    """
    >>> smallest_positive(np.array([1.0, -2.0, 3.0, 0.5]))
    >>> smallest_positive(np.array([-1.0, 2.0, 0.3, 1.5]))
    """
    positive = x[x > 0]
    return positive.min() * positive.max() + positive[0] + np.sort(positive)[-1]


def between_neighbours(x):
    """
    >>> between_neighbours(np.array([1.0, -2.0, 3.0, 0.5]))
    >>> between_neighbours(np.array([-1.0, 2.0, -0.3, -1.5]))
    """
    kept = x[x > -0.5]
    return np.sum(np.diff(kept) ** 2) + np.sum(kept[1:] * kept[:-1])


def centres(points, centers, steps: int = 3):
    """
    >>> centres(np.arange(10.0).reshape(5, 2) ** 1.1, np.array([[0.5, 1.0], [6.0, 7.5]]))
    >>> centres(np.arange(10.0).reshape(5, 2) ** 0.9, np.array([[0.5, 1.0], [60.0, 7.5]]))
    """
    for _ in range(steps):
        distances = ((points[:, None] - centers) ** 2).sum(axis=-1)
        nearest = distances.argmin(axis=1)
        for k in range(len(centers)):
            members = points[nearest == k]
            if len(members):
                centers[k] = members.mean(axis=0)
    return ((points - centers[nearest]) ** 2).sum()


def pairs_of_selected(x):
    """
    >>> pairs_of_selected(np.array([1.0, -2.0, 3.0, 0.5]))
    >>> pairs_of_selected(np.array([-1.0, 2.0, -0.3, 1.5]))
    """
    v = x[x > 0]
    return np.sum(v[:, None] * np.sin(v[None, :])) / (v @ v)


def put_elsewhere(x):
    """
    >>> put_elsewhere(np.array([1.0, -2.0, 3.0, 0.5]))
    >>> put_elsewhere(np.array([-1.0, 2.0, 0.3, 1.5]))
    """
    m = x > 0
    y = x[m]
    y[0] = 2.0 * x[1]
    y *= x[m]
    out = np.ones_like(x)
    out[m] = y
    return np.sum(out**2)


def selected_of_selected(x, s):
    """
    >>> selected_of_selected(np.array([1.2, -2.0, 0.3, 0.5]), 0.7)
    >>> selected_of_selected(np.array([-1.0, 2.0, 0.4, 1.5]), 0.2)
    """
    positive = x[x > 0]
    large = positive[positive > 0.45]
    places = np.flatnonzero(positive > 0.45)
    return np.sum(large**2) * s + np.sum(places) * len(large)


def as_many_of_another(x, y):
    """
    >>> as_many_of_another(np.array([1.2, -2.0, 0.3, 0.5]), np.array([1.0, 0.2, -0.5, 2.0]))
    >>> as_many_of_another(np.array([-1.0, 2.0, -0.4, 1.5]), np.array([0.5, 1.2, 0.7, -1.0]))
    """
    positive = x[x > 0]
    return np.sum(y[: len(positive)] ** 2) * x[0] + np.sum(x[y > 0])


def between_places(x, s):
    """
    >>> between_places(np.array([1.2, -2.0, 0.3, 0.5]), 0.7)
    >>> between_places(np.array([-1.2, -2.0, -0.3, -0.5]), 0.2)
    """
    starts = np.flatnonzero(x > 0)
    total = s
    for i in range(len(starts) - 1):
        total += np.sum(x[starts[i] : starts[i + 1]]) ** 2
    return total


def places_in_another(x, y, s):
    """
    >>> places_in_another(np.array([1.2, -2.0, 0.3]), np.array([1.0, 0.2, -0.5, 2.0]), 0.7)
    >>> places_in_another(np.array([-1.0, 2.0, 0.4]), np.array([0.5, 1.2, 0.7, -1.0]), 0.2)
    """
    where = np.flatnonzero(x > 0)
    positive = x[where]
    total = np.sum(y[where] ** 2) + np.sum(y[np.flatnonzero(positive > 0.45)]) * s
    for i in range(len(x)):
        smaller = len(x[x < x[i] + 0.01])
        total += np.sum(y[:smaller]) * (smaller + 1)
    return total


def neighbours_among_selected(x, y):
    """
    >>> neighbours_among_selected(np.array([1.2, -2.0, 0.3, 0.5]), np.array([1.0, 0.2, -0.5, 2.0]))
    >>> neighbours_among_selected(np.array([-1.0, 2.0, 0.4, -3.0]), np.array([0.5, 1.2, 0.7, -1.0]))
    """
    positive = [v for v in x if v > 0]
    total = sum(v * w for v, w in zip(positive, positive[1:], strict=False))
    for v, w in zip(x[x > 0], y[y > 0], strict=False):
        total = np.sin(total) + v * w
    return total
