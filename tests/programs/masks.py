"""Small functions with masks that depend on values: assignments to the elements they select."""

import numpy as np


def added(x, a):
    y = x * 1.0
    y[x > 0.4] += 2.0
    y[x < 0.0] *= -3.0
    return np.sum(y**2)


def from_another_array(x, a):
    y = x * 1.0
    m = x > 0.4
    y[m] += a[0][m]
    y[~m] = a[1][~m] * 2.0 - y[~m]
    return np.sum(y**2)


def function_of_selected(x, a):
    y = x * 1.0
    y[y < 0.0] = np.exp(y[y < 0.0])
    y[x > 0.5] = np.log(x[x > 0.5]) / (1.0 + a[2][x > 0.5])
    return np.sum(y**2)


def stable_sigmoid(x, a):
    z = a * 2000.0 * x
    out = np.empty_like(z)
    positive = z >= 0.0
    out[positive] = 1.0 / (1.0 + np.exp(-z[positive]))
    e = np.exp(z[~positive])
    out[~positive] = e / (1.0 + e)
    return np.sum(out * x) + np.sum(np.tanh(a))


def root_where_it_is_defined(x, a):
    y = np.zeros_like(x)
    m = x > 0.0
    y[m] = np.sqrt(x[m]) * a[0, 0] / x[m]
    return np.sum(y**3)


def inverse_sine_inside(x, a):
    y = np.full(4, 0.25)
    m = np.abs(x) < 1.0
    y[m] = np.arcsin(x[m]) ** 2
    return np.sum(y * x)


def reciprocal_into(x, a):
    s = np.zeros(4)
    np.divide(a[0, 0], x, out=s, where=x > 0.5)
    np.sqrt(x, out=s, where=x > 0.8)
    return np.sum(s**2)


def of_a_matrix(x, a):
    b = a.copy()
    b[b < 0.3] *= 3.0
    b[a > 0.55] -= b[a > 0.55] ** 2
    return np.sum(b**2)


def rows(x, a):
    b = a.copy()
    m = a[:, 0] > 0.0
    b[m] = x
    b[m] *= 2.0 * x
    b[~m, 1:] += x[1:]
    return np.sum(b**2)


def columns_and_elements(x, a):
    b = a.copy()
    m = a[:, 0] > 0.0
    b[m, 1] = 3.0 * x[0]
    b[:, x > 0.5] += 1.0
    b[2, x > 0.8] = x[1]
    return np.sum(b**2)


def clamped_row(x, a):
    b = a.copy()
    row = b[1]
    row[row > 0.55] = 0.55
    row[row < -0.5] = np.square(row[row < -0.5])
    return np.sum(b**2)


def two_arrays_exchange(x, a):
    y = x.copy()
    z = a[0].copy()
    m = y < z
    y[m], z[m] = z[m], y[m]
    return np.sum(y * x) - np.sum(z)


def changed_apart(x, a):
    y = x.copy()
    m = x > 0.4
    z = y[m]
    w = z
    z *= 2.0
    y[m] = w + a[0, 0]
    return np.sum(y * x)


def in_a_loop(x, a):
    y = x.copy()
    for row in a:
        m = y > row
        y[m] -= 0.5 * (y[m] - row[m])
        y[~m] *= 1.1
    return np.sum(y**2)


def in_a_branch(x, a):
    y = x.copy()
    if x[0] > 0.0:
        y[y > 0.5] = 0.5 * x[2]
    else:
        y[y < 0.5] = a[0, 0]
    return np.sum(y * x)


def huber(x, a):
    r = a @ x
    loss = 0.5 * r**2
    large = np.abs(r) > 0.4
    loss[large] = 0.4 * (np.abs(r[large]) - 0.2)
    return np.sum(loss)


def clipped_and_converted(x, a):
    y = x.copy()
    m = x < 0.8
    y[m] = np.clip(y[m], -1.0, 0.5) ** 2
    y[m] = np.where(y[m] > 0.3, y[m], 2.0 * y[m])
    return np.sum(y * a[0])


def numbers_times_selected(x, a):
    d, size = a[0, 0], np.abs(x)
    near = size <= 0.4
    y = np.zeros(len(x))
    y[near] = 0.5 * x[near] ** 2
    y[~near] = d * (size[~near] - 0.5 * d) - d / (2.0 + size[~near])
    return np.mean(y)
