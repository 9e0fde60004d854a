"""What loops run over and what they carry: ranges, arrays, types that settle."""

import math

import numpy as np


def traced_bound(x: float, n: int) -> float:
    """
    >>> traced_bound(0.5, 7)
    >>> traced_bound(1.1, 7)
    >>> traced_bound(1.1, 0)
    """
    total = 1.0
    for k in range(n):
        total += x * total * 0.1 + k
    return total


def from_a_start(x: float, first: int, last: int) -> float:
    """
    >>> from_a_start(0.5, 2, 7)
    >>> from_a_start(1.1, 2, 7)
    >>> from_a_start(1.1, 5, 3)
    """
    total = x
    for k in range(first, last):
        total = math.sin(total) + x * k
    return total


def downwards(xs):
    """
    >>> downwards(np.array([0.5, 0.2, 0.9]))
    >>> downwards(np.array([0.1, 0.8, 0.3]))
    >>> downwards(np.array([0.1, 0.8, 0.3, 0.6]))
    """
    total = 0.0
    for i in range(len(xs) - 1, -1, -1):
        total = 0.7 * total + xs[i] ** 2
    return total


def every_second(xs):
    """
    >>> every_second(np.array([0.5, 0.2, 0.9]))
    >>> every_second(np.array([0.1, 0.8, 0.3]))
    >>> every_second(np.array([0.1, 0.8, 0.3, 0.6]))
    """
    total = 0.0
    for i in range(0, len(xs), 2):
        total += xs[i] ** 3
    return total


def every_second_row(a):
    """
    >>> every_second_row(np.array([[0.5, 0.2], [0.9, 0.3], [1.0, 0.1]]))
    >>> every_second_row(np.array([[0.1, 0.8], [0.3, 0.7], [0.2, 0.4]]))
    """
    total = 0.0
    for row in a[::2]:
        total += row @ row
    return total


def rows_and_columns(a):
    """
    >>> rows_and_columns(np.array([[0.5, 0.2], [0.9, 0.3], [1.0, 0.1]]))
    >>> rows_and_columns(np.array([[0.1, 0.8], [0.3, 0.7], [0.2, 0.4]]))
    """
    total = 0.0
    for row in a:
        for value in row:
            total += value**2
    for column in a.T:
        total *= np.sum(column)
    return total


def enumerated_pairs(xs, ys):
    """
    >>> enumerated_pairs(np.array([0.5, 0.2, 0.9]), np.array([1.0, 2.0, 3.0]))
    >>> enumerated_pairs(np.array([0.1, 0.8, 0.3]), np.array([0.4, 1.2, 0.3]))
    """
    total = 0.0
    for i, (x, y) in enumerate(zip(xs, ys)):
        if i % 2 == 0:
            total += x * y
        else:
            total -= x / y
    return total


def zipped_reversed(xs):
    """
    >>> zipped_reversed(np.array([0.5, 0.2, 0.9]))
    >>> zipped_reversed(np.array([0.1, 0.8, 0.3]))
    """
    total = 0.0
    for a, b in zip(xs, reversed(xs)):
        total += a**2 * b
    return total


def neighbours(xs):
    """
    >>> neighbours(np.array([0.5, 0.2, 0.9]))
    >>> neighbours(np.array([0.1, 0.8, 0.3]))
    >>> neighbours(np.array([0.1, 0.8, 0.3, 0.9]))
    """
    total = 0.0
    for a, b in zip(xs[:-1], xs[1:]):
        total += (b - a) ** 2
    return total


def integer_then_float(x: float) -> float:
    """
    >>> integer_then_float(0.5)
    >>> integer_then_float(1.5)
    """
    value = 1
    for _ in range(30):
        value = 0.9 * value + x
    return value


def number_then_array(xs):
    """
    >>> number_then_array(np.array([0.5, 0.2, 0.9]))
    >>> number_then_array(np.array([0.1, 0.8, 0.3]))
    """
    total = 0.0
    for k in range(6):
        total = total * 0.5 + xs * k
    return np.sum(total**2)


def break_of_the_outer(a):
    """
    >>> break_of_the_outer(np.array([[0.5, 0.2], [0.9, 0.3], [1.0, 0.1]]))
    >>> break_of_the_outer(np.array([[0.1, 0.8], [0.3, 0.7], [0.2, 0.4]]))
    """
    total = 0.0
    for row in a:
        for value in row:
            total += value**2
            if total > 1.0:
                break
        else:
            total += 0.1 * row[0]
            continue
        break
    return total


def return_from_inside(a, limit: float):
    """
    >>> return_from_inside(np.array([[0.5, 0.2], [0.9, 0.3]]), 0.95)
    >>> return_from_inside(np.array([[0.1, 0.8], [0.3, 0.7]]), 5.0)
    """
    total = 0.0
    for row in a:
        for value in row:
            total += value
            if total > limit:
                return total * value
    return -total


def while_else(x: float) -> float:
    """
    >>> while_else(0.5)
    >>> while_else(9.0)
    """
    n = 0
    while n < 10:
        x = x * 1.2 + 0.1
        if x > 20.0:
            break
        n += 1
    else:
        x = 2.0 * x
    return x


def nested_whiles(x: float) -> float:
    """
    >>> nested_whiles(0.5)
    >>> nested_whiles(1.7)
    """
    total = 0.0
    while x < 8.0:
        y = x
        while y > 1.0:
            y *= 0.5
            total += y
        x *= 1.7
    return total + x


def continue_in_while(x: float) -> float:
    """
    >>> continue_in_while(0.53)
    >>> continue_in_while(1.73)
    """
    k = 0
    total = 0.0
    while k < 12:
        k += 1
        if x * k % 2.0 > 1.0:
            continue
        total += x * k
    return total


def two_lists(xs):
    """
    >>> two_lists(np.array([0.5, 0.2, 0.9]))
    >>> two_lists(np.array([0.1, 0.8, 0.3]))
    >>> two_lists(np.array([0.1, 0.8]))
    """
    positions, speeds = [], []
    position, speed = 0.0, 1.0
    for x in xs:
        speed = 0.9 * speed - 0.1 * x
        position = position + speed * x
        positions.append(position)
        speeds.append(speed)
    return np.array(positions) @ np.array(speeds)


def rows_collected(a):
    """
    >>> rows_collected(np.array([[0.5, 0.2], [0.9, 0.3], [1.0, 0.1]]))
    >>> rows_collected(np.array([[0.1, 0.8], [0.3, 0.7], [0.2, 0.4]]))
    """
    return np.stack([np.tanh(row) / np.sum(row) for row in a])


def collected_with_start(xs):
    """
    >>> collected_with_start(np.array([0.5, 0.2, 0.9]))
    >>> collected_with_start(np.array([0.1, 0.8, 0.3]))
    """
    path = [0.0]
    for x in xs:
        path.append(path[-1] * 0.5 + x**2)
    return np.array(path)


def columns_of_a_table(xs):
    """
    >>> columns_of_a_table(np.array([0.5, 0.2, 0.9]))
    >>> columns_of_a_table(np.array([0.1, 0.8, 0.3]))
    """
    table = np.array([[x, x**2, np.sin(x)] for x in xs])
    return np.sum(table[:, 1] * table[:, 2])


def branch_of_types(x: float) -> float:
    """
    >>> branch_of_types(0.5)
    >>> branch_of_types(-1.5)
    """
    if x > 0.0:
        y = 1
    else:
        y = 0.5
    return x * y


def short_loop_of_arrays(a, x):
    """
    >>> short_loop_of_arrays(np.array([[0.5, 0.2], [0.9, 0.3]]), np.array([1.0, 2.0]))
    >>> short_loop_of_arrays(np.array([[0.1, 0.8], [0.3, 0.7]]), np.array([0.4, 1.2]))
    """
    for _ in range(3):
        x = a @ x + 0.1
    return np.sum(x)


def roughness(x):
    """
    >>> roughness(np.array([0.5, 1.2, -0.3, 0.8, 0.1]))
    >>> roughness(np.array([0.2, -0.4, 0.9, 1.1, 0.4]))
    """
    total = 0.0
    for k in range(1, len(x) - 1):
        total += (x[k + 1] - 2 * x[k] + x[k - 1]) ** 2
    return total


def down_by_a_list(x):
    """
    >>> down_by_a_list(np.array([0.5, 1.2, -0.3, 0.8, 0.1]))
    >>> down_by_a_list(np.array([0.2, -0.4, 0.9, 1.1, 0.4]))
    """
    kept = []
    level = 1.0
    for i in range(len(x) - 1, 0, -1):
        level = level * x[i] + i
        kept.append(level)
    return np.sum(np.array(kept) ** 2)


def insertion_sorted(xs):
    """
    >>> insertion_sorted(np.array([0.5, 0.9, 0.2, 0.4]))
    >>> insertion_sorted(np.array([0.8, 0.1, 0.3, 0.6]))
    >>> insertion_sorted(np.array([0.7, 0.4]))
    """
    ys = xs.copy()
    for i in range(1, len(ys)):
        j = i
        while j > 0 and ys[j - 1] > ys[j]:
            ys[j - 1], ys[j] = ys[j], ys[j - 1]
            j -= 1
    return np.sum(ys**2 * np.arange(len(ys)))
