"""Variables that are None until there is a value."""

import numpy as np


def smallest(xs):
    """
    >>> smallest(np.array([0.3, -0.2, 0.7]))
    >>> smallest(np.array([0.9, 1.2, 0.1]))
    """
    best = None
    for x in xs:
        if best is None or x * x < best:
            best = x * x
    return best


def none_until_there_is_a_value(xs):
    """
    >>> none_until_there_is_a_value(np.array([0.3, -0.2]))
    >>> none_until_there_is_a_value(np.array([-0.3, -0.2]))
    """
    best = None
    for x in xs:
        if x > 0.0 and (best is None or x < best):
            best = x
    return -1.0 if best is None else 2.0 * best


def nearest_of_some(points, weights, steps: int = 3):
    """
    >>> nearest_of_some(np.array([[0.3, -0.2], [0.5, 0.1], [0.2, 0.9]]), np.array([0.4, 0.3]))
    >>> nearest_of_some(np.array([[0.3, 0.2], [-0.5, 0.1], [0.2, -0.9]]), np.array([0.6, -0.7]))
    """
    best, best_i = None, None
    for i in range(steps):
        distance = np.sum((points[i] - weights) ** 2)
        if best is None or distance < best:
            best, best_i = distance, i
    if best_i is None:
        return np.sum(weights)
    return best * np.sum(points[best_i])


def root_between(values, level: float):
    """
    >>> root_between(np.array([0.1, 0.4, 0.9, 1.3]), 0.5)
    >>> root_between(np.array([0.1, 0.4, 0.3, 0.2]), 0.5)
    """
    found = None
    for i in range(len(values) - 1):
        if values[i] < level <= values[i + 1]:
            found = i + (level - values[i]) / (values[i + 1] - values[i])
            break
    if found is not None:
        return found * level
    return np.sum(values) * level


def differences(xs):
    """
    >>> differences(np.array([0.3, -0.2, 0.7]))
    >>> differences(np.array([0.9, 1.2, 0.1]))
    """
    previous, total = None, 0.0
    for x in xs:
        if previous is not None:
            total += (x - previous) ** 2
        previous = x
    return total


def products_of_positive(xs):
    """
    >>> products_of_positive(np.array([0.3, -0.2, 0.7, 1.1]))
    >>> products_of_positive(np.array([-0.9, -1.2, 0.1, -0.3]))
    """
    last, total = None, 0.0
    for x in xs:
        if x > 0.0:
            if last is not None:
                total += x * last
            last = np.sin(x)
    return total


def first_above(xs, level):
    for x in xs:
        if x > level:
            return x
    return None


def from_a_helper(xs, level: float):
    """
    >>> from_a_helper(np.array([0.3, 0.7, 1.1]), 0.5)
    >>> from_a_helper(np.array([0.3, 0.2, 0.1]), 0.5)
    """
    found = first_above(xs, level)
    if found is None:
        return level * np.sum(xs)
    return found * level


def best_pair(a, x):
    """
    >>> best_pair(np.array([[0.3, -0.2], [0.5, 0.1], [0.2, 0.9]]), np.array([0.4, 0.3]))
    >>> best_pair(np.array([[-0.3, -0.2], [-0.5, -0.1], [-0.2, -0.9]]), np.array([0.4, 0.3]))
    """
    best = None
    for row in a:
        score = np.sum(row * x)
        if score > 0.0 and (best is None or score > best[0]):
            best = (score, row)
    if best is None:
        return np.sum(a)
    score, row = best
    return score * np.sum(row**2)


class Tracker:
    def __init__(self):
        self.peak = None
        self.changes = 0

    def see(self, value):
        if self.peak is None or value > self.peak:
            self.peak = value
            self.changes += 1


def peak_of_a_tracker(xs):
    """
    >>> peak_of_a_tracker(np.array([0.3, 0.7, 0.1, 1.2]))
    >>> peak_of_a_tracker(np.array([0.9, 0.2, 0.1, 0.3]))
    """
    tracker = Tracker()
    for x in xs:
        tracker.see(np.sin(x))
    return tracker.peak * tracker.changes


def chosen_bound(x: float, y: float):
    """
    >>> chosen_bound(0.7, 0.4)
    >>> chosen_bound(-0.7, 0.4)
    """
    bound = np.tanh(y) if x > 0.0 else None
    if bound is not None and y * x > bound:
        return bound
    return x * y


def last_of_a_while(x: float, tolerance: float):
    """
    >>> last_of_a_while(0.7, 0.1)
    >>> last_of_a_while(0.02, 0.3)
    """
    old = None
    while old is None or abs(x - old) > tolerance:
        old = x
        x = 0.5 * (x + 1.0 / (1.0 + x))
    return x * old


def changed_row(a):
    """
    >>> changed_row(np.array([[0.3, -0.2], [0.5, 0.1], [0.2, 0.9]]))
    >>> changed_row(np.array([[-0.3, -0.2], [-0.5, -0.1], [-0.2, -0.9]]))
    """
    a = a.copy()
    longest = None
    for row in a:
        if row[0] > 0.0 and (longest is None or row @ row > longest @ longest):
            longest = row
    if longest is not None:
        longest *= 2.0
    return np.sum(a**3)


def products_of_neighbours(readings, total):
    """
    >>> products_of_neighbours(np.array([1.2, -2.0, 0.3, 0.5]), 0.7)
    >>> products_of_neighbours(np.array([-1.0, -2.0, -3.0, -4.0]), 0.7)
    >>> products_of_neighbours(np.array([-1.0, 2.0, -3.0, -4.0]), 0.4)
    """
    before = None
    for value in readings[readings > 0.0]:
        if before is not None:
            total = total + value * before
        before = value
    return total


def products_of_inner_neighbours(readings, total):
    """
    >>> products_of_inner_neighbours(np.array([1.2, -2.0, 0.3, 0.5, 1.4]), 0.7)
    >>> products_of_inner_neighbours(np.array([-1.0, -2.0, -3.0, -4.0, 0.3]), 0.7)
    >>> products_of_inner_neighbours(np.array([1.2, 2.0, 0.3, 0.5, 1.4]), 0.7)
    """
    kept = readings[readings > 0.0]
    before = None
    for i in range(1, len(kept) - 1):
        if before is not None:
            total = total + kept[i] * before
        before = kept[i]
    return total
