"""Arrays changed in place: elements, slices, masks, views and aliases."""

import numpy as np

A = np.array([[0.4, -0.3, 1.1, 0.2], [0.6, 0.8, -0.7, 0.5], [-0.2, 0.1, 0.35, 0.9]])


def elements(x, a):
    """
    >>> elements(np.array([0.3, -1.2, 0.9, 0.7]), A)
    >>> elements(np.array([-0.3, 1.2, -0.9, -0.7]), 0.9 * A)
    >>> elements(np.array([0.7, 0.9, -1.2, 0.3]), A[::-1])
    """
    y = x.copy()
    y[0] = x[1] * x[2]
    y[-1] += a[0, 1]
    y[1] *= y[2]
    return np.sum(y**2)


def slices(x, a):
    """
    >>> slices(np.array([0.3, -1.2, 0.9, 0.7]), A)
    >>> slices(np.array([-0.3, 1.2, -0.9, -0.7]), 0.9 * A)
    >>> slices(np.array([0.7, 0.9, -1.2, 0.3]), A[::-1])
    """
    y = x * 1.0
    y[1:-1] += x[2:] * a[0, 1:3]
    y[::2] = np.sin(y[1::2])
    y[::-1][0] -= x[0]
    return np.sum(y * x)


def shifted(x, a):
    """
    >>> shifted(np.array([0.3, -1.2, 0.9, 0.7]), A)
    >>> shifted(np.array([-0.3, 1.2, -0.9, -0.7]), 0.9 * A)
    >>> shifted(np.array([0.7, 0.9, -1.2, 0.3]), A[::-1])
    """
    y = x**2
    y[1:] = y[:-1]
    y[:-1] -= 0.5 * y[1:]
    return np.sum(y**2)


def swapped(x, a):
    """
    >>> swapped(np.array([0.3, -1.2, 0.9, 0.7]), A)
    >>> swapped(np.array([-0.3, 1.2, -0.9, -0.7]), 0.9 * A)
    >>> swapped(np.array([0.7, 0.9, -1.2, 0.3]), A[::-1])
    """
    b = a.copy()
    b[[0, 1]] = b[[1, 0]]
    b[0, 0], b[1, 1] = b[1, 1], b[0, 0]
    return np.sum(b * b * x)


def filled_by_a_loop(x, a):
    """
    >>> filled_by_a_loop(np.array([0.3, -1.2, 0.9, 0.7]), A)
    >>> filled_by_a_loop(np.array([-0.3, 1.2, -0.9, -0.7]), 0.9 * A)
    >>> filled_by_a_loop(np.array([0.7, 0.9, -1.2, 0.3]), A[::-1])
    """
    out = np.empty(4)
    for i in range(4):
        out[i] = x[i] ** 2 + a[1, i]
    return np.prod(out)


def recurrence(x, a):
    """
    >>> recurrence(np.array([0.3, -1.2, 0.9, 0.7]), A)
    >>> recurrence(np.array([-0.3, 1.2, -0.9, -0.7]), 0.9 * A)
    >>> recurrence(np.array([0.7, 0.9, -1.2, 0.3]), A[::-1])
    """
    y = x.copy()
    for i in range(1, len(x)):
        y[i] += 0.5 * np.tanh(y[i - 1])
    return np.sum(y**2)


def diffusion(x, a):
    """
    >>> diffusion(np.array([0.3, -1.2, 0.9, 0.7]), A)
    >>> diffusion(np.array([-0.3, 1.2, -0.9, -0.7]), 0.9 * A)
    >>> diffusion(np.array([0.7, 0.9, -1.2, 0.3]), A[::-1])
    """
    u = x.copy()
    for _ in range(20):
        u[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def product_in_place(x, a):
    """
    >>> product_in_place(np.array([0.3, -1.2, 0.9, 0.7]), A)
    >>> product_in_place(np.array([-0.3, 1.2, -0.9, -0.7]), 0.9 * A)
    >>> product_in_place(np.array([0.7, 0.9, -1.2, 0.3]), A[::-1])
    """
    y = x.copy()
    for _ in range(3):
        y[1:] *= y[:-1]
    return np.sum(y)


def row_view(x, a):
    """
    >>> row_view(np.array([0.3, -1.2, 0.9, 0.7]), A)
    >>> row_view(np.array([-0.3, 1.2, -0.9, -0.7]), 0.9 * A)
    >>> row_view(np.array([0.7, 0.9, -1.2, 0.3]), A[::-1])
    """
    b = a.copy()
    row = b[1]
    row *= x
    row[1:3] -= row[0] * 0.5
    return np.sum(b**2)


def rows_in_place(x, a):
    """
    >>> rows_in_place(np.array([0.3, -1.2, 0.9, 0.7]), A)
    >>> rows_in_place(np.array([-0.3, 1.2, -0.9, -0.7]), 0.9 * A)
    >>> rows_in_place(np.array([0.7, 0.9, -1.2, 0.3]), A[::-1])
    """
    b = a.copy()
    for row in b:
        row -= np.mean(row)
        row[0] = x[0] * row[1]
    return np.sum(b**2 * x)


def column_view(x, a):
    """
    >>> column_view(np.array([0.3, -1.2, 0.9, 0.7]), A)
    >>> column_view(np.array([-0.3, 1.2, -0.9, -0.7]), 0.9 * A)
    >>> column_view(np.array([0.7, 0.9, -1.2, 0.3]), A[::-1])
    """
    b = a * 1.0
    column = b.T[2]
    column += x[:3] * b[:, 0]
    flat = b.reshape(-1)
    flat[5] = column[0]
    return np.sum(b**2)


def alias(x, a):
    """
    >>> alias(np.array([0.3, -1.2, 0.9, 0.7]), A)
    >>> alias(np.array([-0.3, 1.2, -0.9, -0.7]), 0.9 * A)
    >>> alias(np.array([0.7, 0.9, -1.2, 0.3]), A[::-1])
    """
    y = x * 2.0
    z = y
    y += x
    z *= y
    return np.sum(y)


def mask(x, a):
    """
    >>> mask(np.array([0.3, -1.2, 0.9, 0.7]), A)
    >>> mask(np.array([-0.3, 1.2, -0.9, -0.7]), 0.9 * A)
    >>> mask(np.array([0.7, 0.9, -1.2, 0.3]), A[::-1])
    """
    y = x**2
    y[x > 0.5] = 0.25
    y[a[0] > a[1]] = x[0]
    return np.sum(y**2)


def integer_arrays(x, a):
    """
    >>> integer_arrays(np.array([0.3, -1.2, 0.9, 0.7]), A)
    >>> integer_arrays(np.array([-0.3, 1.2, -0.9, -0.7]), 0.9 * A)
    >>> integer_arrays(np.array([0.7, 0.9, -1.2, 0.3]), A[::-1])
    """
    y = x.copy()
    y[np.array([0, 0, 1])] += a[0, :3]
    np.add.at(y, [2, 2, 3], x[:3] * 2.0)
    return np.sum(y**3)


def assembled(x, a):
    """
    >>> assembled(np.array([0.3, -1.2, 0.9, 0.7]), A)
    >>> assembled(np.array([-0.3, 1.2, -0.9, -0.7]), 0.9 * A)
    >>> assembled(np.array([0.7, 0.9, -1.2, 0.3]), A[::-1])
    """
    total = np.zeros((4, 4))
    for i in range(3):
        total[i : i + 2, i : i + 2] += a[i, 0] * np.outer(x[i : i + 2], x[i : i + 2])
    np.fill_diagonal(total, x)
    return np.sum(total**2)


def results_into(x, a):
    """
    >>> results_into(np.array([0.3, -1.2, 0.9, 0.7]), A)
    >>> results_into(np.array([-0.3, 1.2, -0.9, -0.7]), 0.9 * A)
    >>> results_into(np.array([0.7, 0.9, -1.2, 0.3]), A[::-1])
    """
    out = np.zeros(4)
    np.multiply(x, a[0], out=out)
    np.add(out, x, out=out[:])
    np.copyto(out[1:3], x[:2], where=np.array([True, False]))
    return np.sum(out**2)


def own_constants(x, a):
    """
    >>> own_constants(np.array([0.3, -1.2, 0.9, 0.7]), A)
    >>> own_constants(np.array([-0.3, 1.2, -0.9, -0.7]), 0.9 * A)
    >>> own_constants(np.array([0.7, 0.9, -1.2, 0.3]), A[::-1])
    """
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    weights[1:] *= x[1:]
    return np.sum(weights * x)


def arguments(x, a):
    """
    >>> arguments(np.array([0.3, -1.2, 0.9, 0.7]), A)
    >>> arguments(np.array([-0.3, 1.2, -0.9, -0.7]), 0.9 * A)
    >>> arguments(np.array([0.7, 0.9, -1.2, 0.3]), A[::-1])
    """
    x *= 2.0
    a[0] = x
    return np.sum(a**2)


def containers(x, a):
    """
    >>> containers(np.array([0.3, -1.2, 0.9, 0.7]), A)
    >>> containers(np.array([-0.3, 1.2, -0.9, -0.7]), 0.9 * A)
    >>> containers(np.array([0.7, 0.9, -1.2, 0.3]), A[::-1])
    """
    parts = {"y": x.copy(), "z": np.zeros(4)}
    parts["z"][1:] = parts["y"][:-1] ** 2
    parts["y"] += parts["z"]
    return np.sum(parts["y"] * x)


def branches(x, a):
    """
    >>> branches(np.array([0.3, -1.2, 0.9, 0.7]), A)
    >>> branches(np.array([-0.3, 1.2, -0.9, -0.7]), 0.9 * A)
    >>> branches(np.array([0.7, 0.9, -1.2, 0.3]), A[::-1])
    """
    y = x.copy()
    if x[0] > 0.0:
        y[1] = x[0] * y[2]
    else:
        y *= 2.0
    return np.sum(y**2)


def branches_in_a_loop(x, a):
    """
    >>> branches_in_a_loop(np.array([0.3, -1.2, 0.9, 0.7]), A)
    >>> branches_in_a_loop(np.array([-0.3, 1.2, -0.9, -0.7]), 0.9 * A)
    >>> branches_in_a_loop(np.array([0.7, 0.9, -1.2, 0.3]), A[::-1])
    """
    y = x.copy()
    for i in range(4):
        if y[i] > 0.0:
            y[i] *= y[i]
    return np.sum(y)


def elimination(x, a):
    """
    >>> elimination(np.array([0.3, -1.2, 0.9, 0.7]), A)
    >>> elimination(np.array([-0.3, 1.2, -0.9, -0.7]), 0.9 * A)
    >>> elimination(np.array([0.7, 0.9, -1.2, 0.3]), A[::-1])
    """
    b = a[:, :3] @ a[:, :3].T + 4.0 * np.eye(3)
    for k in range(3):
        for i in range(k + 1, 3):
            factor = b[i, k] / b[k, k]
            b[i] -= factor * b[k]
    return np.log(np.abs(b[0, 0] * b[1, 1] * b[2, 2])) + np.sum(x**2)
