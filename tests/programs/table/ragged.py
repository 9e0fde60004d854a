"""Slices whose ends are values: linear algebra by hand, prefixes, windows, data that is ragged."""

import numpy as np

SQUARE = np.array([[4.0, 1.0, -0.5], [0.3, 3.0, 0.8], [-0.7, 0.4, 5.0]])
POSITIVE = np.array([[4.0, 1.0, -0.5], [1.0, 3.0, 0.8], [-0.5, 0.8, 5.0]])
TALL = np.array([[1.0, 0.2, -0.4], [0.5, 2.0, 0.3], [-0.3, 0.6, 1.5], [0.9, -0.8, 0.7]])


def back_substitution(u, b):
    """
    >>> back_substitution(SQUARE, np.array([0.3, -1.2, 0.9]))
    >>> back_substitution(0.9 * SQUARE, np.array([1.3, 0.2, -0.9]))
    """
    n = len(b)
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - u[i, i + 1 :] @ x[i + 1 :]) / u[i, i]
    return np.sum(x**2)


def lu(a):
    """
    >>> lu(SQUARE)
    >>> lu(SQUARE.T)
    """
    a = a.copy()
    n = len(a)
    for k in range(n - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return np.sum(np.cos(a))


def cholesky_by_columns(a):
    """
    >>> cholesky_by_columns(POSITIVE)
    >>> cholesky_by_columns(1.1 * POSITIVE)
    """
    n = a.shape[0]
    low = np.zeros((n, n))
    for j in range(n):
        low[j, j] = np.sqrt(a[j, j] - np.sum(low[j, :j] ** 2))
        for i in range(j + 1, n):
            low[i, j] = (a[i, j] - low[i, :j] @ low[j, :j]) / low[j, j]
    return np.sum(np.log(np.diag(low)))


def gram_schmidt(a):
    """
    >>> gram_schmidt(TALL)
    >>> gram_schmidt(TALL[::-1])
    """
    q = np.zeros(a.shape)
    for j in range(a.shape[1]):
        v = a[:, j] - q[:, :j] @ (q[:, :j].T @ a[:, j])
        q[:, j] = v / np.linalg.norm(v)
    return np.sum(np.exp(q))


def levinson(r, y):
    """
    >>> levinson(np.array([4.0, 1.0, 0.5, 0.2]), np.array([0.3, -1.2, 0.9, 0.7]))
    >>> levinson(np.array([5.0, -1.0, 0.7, 0.1]), np.array([1.3, 0.2, -0.9, 0.4]))
    """
    n = len(y)
    x = np.zeros(n)
    f = np.zeros(n)
    f[0] = 1.0 / r[0]
    x[0] = y[0] / r[0]
    for k in range(1, n):
        e = r[1 : k + 1][::-1] @ f[:k]
        g = f[: k + 1].copy()
        f[: k + 1] = (g - e * g[::-1]) / (1.0 - e * e)
        d = y[k] - r[1 : k + 1][::-1] @ x[:k]
        x[: k + 1] += d * f[: k + 1][::-1]
    return np.sum(x**2)


def prefix_means(x):
    """
    >>> prefix_means(np.array([0.3, -1.2, 0.9, 0.7]))
    >>> prefix_means(np.array([1.3, 0.2, -0.9, 0.4]))
    """
    means = np.zeros(len(x))
    for i in range(len(x)):
        means[i] = np.mean(x[: i + 1])
    return np.sum(means**2)


def added_to_the_rest(x):
    """
    >>> added_to_the_rest(np.array([0.3, -1.2, 0.9, 0.7]))
    >>> added_to_the_rest(np.array([1.3, 0.2, -0.9, 0.4]))
    """
    out = np.zeros(len(x))
    for j in range(len(x)):
        out[j:] += x[j] ** 2
    return np.sum(np.sin(out))


def windows(x, w):
    """
    >>> windows(np.array([0.3, -1.2, 0.9, 0.7, 0.1]), np.array([0.5, 0.2, -0.4]))
    >>> windows(np.array([1.3, 0.2, -0.9, 0.4, 0.6]), np.array([0.1, -0.7, 0.3]))
    """
    k = len(w)
    n = len(x)
    out = np.zeros(n - k + 1)
    for i in range(n - k + 1):
        out[i] = np.sum(x[i : i + k] * w)
    return np.sum(out**2)


def blocks(a):
    """
    >>> blocks(TALL)
    >>> blocks(TALL[::-1])
    """
    n, m = a.shape
    total = 0.0
    for i in range(0, n, 3):
        for j in range(0, m, 2):
            total += np.sum(a[i : i + 3, j : j + 2]) ** 2
    return total


def partial_pivoting(a):
    """
    >>> partial_pivoting(SQUARE[::-1])
    >>> partial_pivoting(SQUARE[::-1].T)
    """
    a = a.copy()
    n = len(a)
    for k in range(n - 1):
        p = k + np.argmax(np.abs(a[k:, k]))
        row = a[k, :].copy()
        a[k, :] = a[p, :]
        a[p, :] = row
        for i in range(k + 1, n):
            a[i, k] = a[i, k] / a[k, k]
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
    return np.sum(np.log(np.abs(np.diag(a))))


def between_extremes(x, s):
    """
    >>> between_extremes(np.array([1.2, -2.0, 0.3, 3.0]), 0.7)
    >>> between_extremes(np.array([-1.0, 2.0, 0.4, -3.0]), 0.2)
    """
    if s > 0.5:
        first, last = 0, np.argmax(x)
    else:
        first, last = np.argmin(x), len(x)
    return np.sum(x[first:last] ** 2) * s


def best_chain(x, s):
    """
    >>> best_chain(np.array([1.2, 2.0, 0.3, 3.0]), 0.7)
    >>> best_chain(np.array([-1.0, 2.0, 0.4, -3.0]), 0.2)
    """
    best = np.zeros(len(x))
    for i in range(len(x)):
        smaller = x[:i] < x[i]
        best[i] = x[i] + (best[:i][smaller].max() if smaller.any() else 0.0)
    return best.max() * s


def up_and_down(x, s, steps=5):
    """
    >>> up_and_down(np.array([1.2, 2.0, 0.3, 3.0]), 0.7)
    >>> up_and_down(np.array([-1.0, 2.0, 0.4, -3.0]), 0.2)
    """
    i = 0
    z = x.copy()
    for _ in range(steps):
        if z[i] > 0 and i + 1 < len(x):
            i += 1
        elif i > 0:
            i -= 1
        z[:i] += 0.1
        z[i:] -= 0.05 * s
    return np.sum(z * z)
