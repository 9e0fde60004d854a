"""Views, swaps, overlapping slices, masks and accumulation: what changes what, as NumPy has it."""

import numpy as np


def write_through_a_slice(x):
    """
    >>> write_through_a_slice(np.array([0.5, 0.2, 0.9, 0.4]))
    >>> write_through_a_slice(np.array([0.1, 0.8, 0.3, 0.7]))
    """
    y = x.copy()
    tail = y[1:]
    tail *= 2.0
    tail[-1] = y[0]
    return np.sum(y**2)


def view_of_a_view(x):
    """
    >>> view_of_a_view(np.array([0.5, 0.2, 0.9, 0.4]))
    >>> view_of_a_view(np.array([0.1, 0.8, 0.3, 0.7]))
    """
    y = x * 1.0
    inner = y[1:][::-1]
    inner[0] += y[0]
    y[2] = 3.0
    return inner @ y[1:]


def reshape_is_a_view(x):
    """
    >>> reshape_is_a_view(np.array([0.5, 0.2, 0.9, 0.4]))
    >>> reshape_is_a_view(np.array([0.1, 0.8, 0.3, 0.7]))
    """
    y = x.copy()
    square = y.reshape(2, 2)
    square[0] += square[1]
    square.T[1, 0] = y[3] ** 2
    return y[0] * y[1] + y[2]


def ravel_and_transpose(a):
    """
    >>> ravel_and_transpose(np.array([[0.5, 0.2], [0.9, 0.3]]))
    >>> ravel_and_transpose(np.array([[0.1, 0.8], [0.3, 0.7]]))
    """
    b = a.copy()
    b.ravel()[1:3] *= 2.0
    b.transpose()[0] += 1.0
    return np.sum(b**2)


def squeezed(a):
    """
    >>> squeezed(np.array([[0.5, 0.2, 0.3]]))
    >>> squeezed(np.array([[0.1, 0.8, 0.7]]))
    """
    b = a.copy()
    row = np.squeeze(b)
    row[1:] -= row[:-1]
    return np.sum(b**2)


def diagonal(a):
    """
    >>> diagonal(np.array([[0.5, 0.2], [0.9, 0.3]]))
    >>> diagonal(np.array([[0.1, 0.8], [0.3, 0.7]]))
    """
    b = a.copy()
    d = np.diagonal(b)
    b[0, 0] = b[1, 0] * 2.0
    np.fill_diagonal(b, b[0] + 1.0)
    return np.sum(b**2) + d[0]


def swap_rows(a):
    """
    >>> swap_rows(np.array([[0.5, 0.2], [0.9, 0.3]]))
    >>> swap_rows(np.array([[0.1, 0.8], [0.3, 0.7]]))
    """
    a = a.copy()
    a[[0, 1]] = a[[1, 0]]
    a[:, [0, 1]] = a[:, [1, 0]]
    return a[0, 0] * a[1, 1] ** 2


def swap_that_loses(x):
    """
    >>> swap_that_loses(np.array([0.5, 0.2, 0.9]))
    >>> swap_that_loses(np.array([0.1, 0.8, 0.3]))
    """
    y = x.copy()
    a = y[0:1]
    b = y[1:2]
    y[0], y[1] = y[1] ** 2, y[0]
    return a[0] + 2.0 * b[0] + y[2]


def pivoting(a, b):
    """
    >>> pivoting(np.array([[0.1, 1.0], [2.0, 0.3]]), np.array([1.0, 0.5]))
    >>> pivoting(np.array([[2.1, 1.0], [0.5, 1.3]]), np.array([0.3, 1.5]))
    """
    a, b = a.copy(), b.copy()
    if abs(a[1, 0]) > abs(a[0, 0]):
        a[[0, 1]] = a[[1, 0]]
        b[[0, 1]] = b[[1, 0]]
    factor = a[1, 0] / a[0, 0]
    a[1] -= factor * a[0]
    b[1] -= factor * b[0]
    y = b[1] / a[1, 1]
    return (b[0] - a[0, 1] * y) / a[0, 0] + y


def shifted_overlap(x):
    """
    >>> shifted_overlap(np.array([0.5, 0.2, 0.9, 0.4]))
    >>> shifted_overlap(np.array([0.1, 0.8, 0.3, 0.7]))
    """
    y = x.copy()
    y[1:] += y[:-1]
    y[:-1] = y[1:] * y[:-1]
    y[::-1] -= 0.5 * y
    return np.sum(y**2)


def masked(x):
    """
    >>> masked(np.array([0.5, -0.2, 0.9, -0.4]))
    >>> masked(np.array([-0.1, 0.8, -0.3, 0.7]))
    """
    y = x.copy()
    y[y < 0.0] = 0.1
    y[(y > 0.4) & (x < 0.85)] = 2.0
    return np.sum(y * x)


def masked_rows(a):
    """
    >>> masked_rows(np.array([[0.5, 0.2], [-0.9, 0.3]]))
    >>> masked_rows(np.array([[-0.1, 0.8], [0.3, 0.7]]))
    """
    b = a**2
    b[a[:, 0] > 0.0] = 1.0
    b[a < 0.0] = 3.0 * a[0, 1]
    return np.sum(b * a)


def repeated_indices(x):
    """
    >>> repeated_indices(np.array([0.5, 0.2, 0.9]))
    >>> repeated_indices(np.array([0.1, 0.8, 0.3]))
    """
    bins = np.array([0, 1, 1])
    once = np.zeros(2)
    once[bins] += x
    each = np.zeros(2)
    np.add.at(each, bins, x**2)
    return once @ each


def scatter_in_a_loop(x):
    """
    >>> scatter_in_a_loop(np.array([0.5, 0.2, 0.9, 0.4]))
    >>> scatter_in_a_loop(np.array([0.1, 0.8, 0.3, 0.7]))
    """
    bins = np.array([2, 0, 2, 1])
    out = np.zeros(3)
    for i in range(4):
        out[bins[i]] += x[i] ** 2
    return out


def outer_accumulation(x):
    """
    >>> outer_accumulation(np.array([0.5, 0.2, 0.9]))
    >>> outer_accumulation(np.array([0.1, 0.8, 0.3]))
    """
    m = np.zeros((3, 3))
    for i in range(3):
        m[i, i:] += x[i] * x[i:]
        m[:i, i] -= x[i]
    return np.sum(m**2)


def fills(x):
    """
    >>> fills(np.array([0.5, 0.2, 0.9]))
    >>> fills(np.array([0.1, 0.8, 0.3]))
    """
    y = np.empty(3)
    y.fill(2.0)
    y[...] *= x
    y[1:].fill(x[0])
    return np.sum(y)


def results_in(x, y):
    """
    >>> results_in(np.array([0.5, 0.2, 0.9]), np.array([1.0, 2.0, 3.0]))
    >>> results_in(np.array([0.1, 0.8, 0.3]), np.array([0.4, 1.2, 0.3]))
    """
    out = np.empty_like(x)
    np.multiply(x, y, out=out)
    np.sin(out, out=out)
    np.add(out[1:], out[:-1], out=out[1:])
    return np.sum(out)


def state_in_a_matrix(x):
    """
    >>> state_in_a_matrix(np.array([0.5, 0.2]))
    >>> state_in_a_matrix(np.array([0.1, 0.8]))
    """
    path = np.zeros((8, 2))
    path[0] = x
    for t in range(7):
        path[t + 1] = path[t] + 0.1 * np.array([path[t, 1], -path[t, 0]])
    return path[-1, 0] * path[3, 1]


def list_of_arrays(x):
    """
    >>> list_of_arrays(np.array([0.5, 0.2]))
    >>> list_of_arrays(np.array([0.1, 0.8]))
    """
    rows = [x.copy() for _ in range(2)]
    rows[0][0] = 5.0 * x[1]
    rows.append(rows[0])
    rows[2] += 1.0
    return np.sum(rows[0] * rows[1])


def argument_changed(x, a):
    """
    >>> argument_changed(np.array([0.5, 0.2]), np.eye(2))
    >>> argument_changed(np.array([0.1, 0.8]), np.ones((2, 2)))
    """
    a[0] += x
    a *= 2.0
    x -= a[1]
    return np.sum(a @ x)


def copies_are_apart(x):
    """
    >>> copies_are_apart(np.array([0.5, 0.2, 0.9]))
    >>> copies_are_apart(np.array([0.1, 0.8, 0.3]))
    """
    y = x + 0.0
    fancy = y[[0, 1]]
    copied = y[1:].copy()
    y[:] = 0.0
    fancy[0] *= 2.0
    copied += 1.0
    return np.sum(fancy) * np.sum(copied) + np.sum(y)


def view_in_branches(x, s: float):
    """
    >>> view_in_branches(np.array([0.5, 0.2, 0.9]), 0.7)
    >>> view_in_branches(np.array([0.1, 0.8, 0.3]), -0.4)
    """
    y = x.copy()
    part = y[:2]
    if s > 0.0:
        part[0] = s * y[2]
    else:
        y[1] *= s
    return part[0] * part[1] + y[2]


def bubble(x):
    """
    >>> bubble(np.array([0.5, 0.2, 0.9, 0.1]))
    >>> bubble(np.array([0.1, 0.8, 0.3, 0.7]))
    """
    y = x.copy()
    for i in range(3):
        for j in range(3 - i):
            if y[j] > y[j + 1]:
                y[j], y[j + 1] = y[j + 1], y[j]
    return y @ np.array([1.0, 2.0, 3.0, 4.0])


def rows_written_in_a_loop(a):
    """
    >>> rows_written_in_a_loop(np.array([[0.5, 0.2, 0.9], [0.8, 0.1, 0.3], [0.4, 0.6, 0.7]]))
    >>> rows_written_in_a_loop(np.array([[0.8, 0.1, 0.3], [0.4, 0.6, 0.7], [0.2, 0.5, 0.1]]))
    >>> rows_written_in_a_loop(np.array([[0.8, 0.1], [0.4, 0.6]]))
    """
    b = a.copy()
    for i in range(1, len(b)):
        row = b[i]
        row *= b[i - 1]
        row[1:] += row[:-1]
    return np.sum(b**2)


def turned_in_each_step(a, s, n: int = 5):
    """
    >>> turned_in_each_step(np.array([[0.1, 0.2], [0.3, 0.4]]), 0.5)
    >>> turned_in_each_step(np.array([[0.7, 0.2], [0.3, 0.1]]), -0.5)
    """
    a = a.copy()
    b = a
    for k in range(n):
        a = a.T[::-1]
        a[0] *= s + 0.1 * k
        b[1] += 0.1 * a[0]
    return np.sum(a * a) + b[0, 0] ** 3
