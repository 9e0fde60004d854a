"""Numerical methods as they stand in lecture notes: roots, integrals, series, recurrences."""

import math

import numpy as np


def bisection(a):
    """The cube root of a, by halving an interval.

    >>> bisection(2.0)
    >>> bisection(0.4)
    >>> bisection(5.0)
    """
    low, high = 0.0, max(1.0, a)
    while high - low > 1e-3:
        middle = 0.5 * (low + high)
        if middle**3 < a:
            low = middle
        else:
            high = middle
    x = 0.5 * (low + high)
    for _ in range(4):
        x = x - (x**3 - a) / (3.0 * x**2)
    return x


def secant(a):
    """
    >>> secant(2.0)
    >>> secant(0.7)
    """
    x0, x1 = 1.0, 2.0
    f0 = x0 * math.exp(x0) - a
    for _ in range(20):
        f1 = x1 * math.exp(x1) - a
        if abs(f1) < 1e-9:
            break
        x0, x1, f0 = x1, x1 - f1 * (x1 - x0) / (f1 - f0), f1
    return x1


def fixed_point(a):
    """
    >>> fixed_point(0.5)
    >>> fixed_point(1.3)
    """
    x = 1.0
    iterations = 0
    error = 1.0
    while error > 1e-10 and iterations < 200:
        new = math.cos(a * x)
        error = abs(new - x)
        x = new
        iterations += 1
    return x


def horner(coefficients, x):
    """
    >>> horner(np.array([1.0, -2.0, 0.5]), 0.7)
    >>> horner(np.array([0.3, 1.0, 2.0]), -1.2)
    >>> horner(np.array([1.0, -2.0, 0.5, 3.0]), 0.7)
    """
    y = 0.0
    for c in coefficients:
        y = y * x + c
    return y


def horner_with_slope(coefficients, x):
    """
    >>> horner_with_slope(np.array([1.0, -2.0, 0.5]), 0.7)
    >>> horner_with_slope(np.array([0.3, 1.0, 2.0]), -1.2)
    """
    p = coefficients[0]
    dp = 0.0
    for i in range(1, len(coefficients)):
        dp = dp * x + p
        p = p * x + coefficients[i]
    return p * dp


def trapezoid(f_values, h):
    """
    >>> trapezoid(np.array([1.0, 2.0, 4.0, 3.0]), 0.1)
    >>> trapezoid(np.array([0.5, 2.5, 1.0, 3.0]), 0.2)
    """
    total = 0.5 * (f_values[0] + f_values[-1])
    for value in f_values[1:-1]:
        total += value
    return total * h


def simpson(a, b):
    """
    >>> simpson(0.0, 1.0)
    >>> simpson(0.5, 2.0)
    """
    n = 10
    h = (b - a) / n
    total = math.exp(-a * a) + math.exp(-b * b)
    for k in range(1, n):
        x = a + k * h
        if k % 2 == 1:
            total += 4.0 * math.exp(-x * x)
        else:
            total += 2.0 * math.exp(-x * x)
    return total * h / 3.0


def rk4(x0, k, m):
    """A mass on a spring, by the classical Runge-Kutta method.

    >>> rk4(1.0, 2.0, 0.5)
    >>> rk4(0.3, 1.0, 1.5)
    """

    def acceleration(x, v):
        return -k / m * x - 0.1 * v

    x, v, h = x0, 0.0, 0.05
    for _ in range(20):
        k1x, k1v = v, acceleration(x, v)
        k2x, k2v = v + 0.5 * h * k1v, acceleration(x + 0.5 * h * k1x, v + 0.5 * h * k1v)
        k3x, k3v = v + 0.5 * h * k2v, acceleration(x + 0.5 * h * k2x, v + 0.5 * h * k2v)
        k4x, k4v = v + h * k3v, acceleration(x + h * k3x, v + h * k3v)
        x += h / 6.0 * (k1x + 2.0 * k2x + 2.0 * k3x + k4x)
        v += h / 6.0 * (k1v + 2.0 * k2v + 2.0 * k3v + k4v)
    return 0.5 * m * v**2 + 0.5 * k * x**2


def rk4_system(y, t_end):
    """
    >>> rk4_system(np.array([1.0, 0.5]), 1.0)
    >>> rk4_system(np.array([0.6, 0.9]), 2.0)
    """

    def f(y):
        prey, predator = y
        return np.array([prey - prey * predator, prey * predator - predator])

    steps = 8
    h = t_end / steps
    for _ in range(steps):
        k1 = f(y)
        k2 = f(y + h / 2 * k1)
        k3 = f(y + h / 2 * k2)
        k4 = f(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


def adaptive_euler(rate):
    """Steps that double when the error is small and halve when it is not.

    >>> adaptive_euler(1.0)
    >>> adaptive_euler(3.1)
    """
    t, y, h = 0.0, 1.0, 0.1
    while t < 1.0:
        if t + h > 1.0:
            h = 1.0 - t
        full = y - h * rate * y
        half = y - 0.5 * h * rate * y
        half = half - 0.5 * h * rate * half
        if abs(half - full) > 0.01:
            h = 0.5 * h
            continue
        t += h
        y = half
        if abs(half - full) < 0.0004:
            h = 2.0 * h
    return y


def exponential_series(x):
    """
    >>> exponential_series(0.5)
    >>> exponential_series(-2.0)
    """
    term, total, n = 1.0, 1.0, 1
    while abs(term) > 1e-12:
        term *= x / n
        total += term
        n += 1
    return total


def arithmetic_geometric_mean(a, b):
    """
    >>> arithmetic_geometric_mean(1.0, 2.0)
    >>> arithmetic_geometric_mean(24.0, 6.0)
    """
    while abs(a - b) > 1e-12:
        a, b = 0.5 * (a + b), math.sqrt(a * b)
    return a


def continued_fraction(x):
    """
    >>> continued_fraction(0.5)
    >>> continued_fraction(1.2)
    """
    result = 0.0
    for n in range(15, 0, -2):
        result = x * x / (n - result)
    return result / x


def logistic_map(r, x):
    """
    >>> logistic_map(2.9, 0.2)
    >>> logistic_map(3.3, 0.6)
    """
    for _ in range(12):
        x = r * x * (1.0 - x)
    return x


def chebyshev(n, x):
    """
    >>> chebyshev(5, 0.3)
    >>> chebyshev(5, -0.8)
    """
    previous, current = 1.0, x
    for _ in range(n - 1):
        previous, current = current, 2.0 * x * current - previous
    return current


def legendre_all(x):
    """
    >>> legendre_all(0.3)
    >>> legendre_all(-0.8)
    """
    p = np.zeros(6)
    p[0] = 1.0
    p[1] = x
    for n in range(1, 5):
        p[n + 1] = ((2 * n + 1) * x * p[n] - n * p[n - 1]) / (n + 1)
    return p


def power_iteration(a):
    """
    >>> power_iteration(np.array([[2.0, 0.3], [0.4, 1.0]]))
    >>> power_iteration(np.array([[1.0, 0.5], [0.2, 3.0]]))
    """
    v = np.ones(len(a))
    for _ in range(30):
        w = a @ v
        v = w / np.linalg.norm(w)
    return v @ a @ v


def gradient_descent(a, b):
    """
    >>> gradient_descent(np.array([[2.0, 0.3], [0.3, 1.0]]), np.array([1.0, -0.5]))
    >>> gradient_descent(np.array([[1.0, 0.1], [0.1, 1.5]]), np.array([0.4, 0.8]))
    """
    x = np.zeros_like(b)
    step = 0.3
    for _ in range(25):
        residual = a @ x - b
        x -= step * residual
    return x @ b


def conjugate_gradient(a, b):
    """
    >>> conjugate_gradient(np.array([[2.0, 0.3], [0.3, 1.0]]), np.array([1.0, -0.5]))
    >>> conjugate_gradient(np.array([[3.0, 0.2], [0.2, 1.0]]), np.array([0.4, 0.7]))
    """
    x = np.zeros(len(b))
    r = b - a @ x
    p = r.copy()
    for _ in range(len(b)):
        ap = a @ p
        alpha = (r @ r) / (p @ ap)
        x = x + alpha * p
        r_new = r - alpha * ap
        beta = (r_new @ r_new) / (r @ r)
        p = r_new + beta * p
        r = r_new
    return np.sum(x**2)


def jacobi(a, b):
    """
    >>> jacobi(np.array([[4.0, 1.0], [0.5, 3.0]]), np.array([1.0, 2.0]))
    >>> jacobi(np.array([[2.0, 0.4], [0.3, 5.0]]), np.array([-1.0, 0.7]))
    """
    d = np.diag(a)
    x = np.zeros_like(b)
    for _ in range(40):
        x_new = (b - (a @ x - d * x)) / d
        if np.max(np.abs(x_new - x)) < 1e-12:
            break
        x = x_new
    return x


def gauss_seidel(a, b):
    """
    >>> gauss_seidel(np.array([[4.0, 1.0], [0.5, 3.0]]), np.array([1.0, 2.0]))
    >>> gauss_seidel(np.array([[2.0, 0.4], [0.3, 5.0]]), np.array([-1.0, 0.7]))
    """
    n = len(b)
    x = np.zeros(n)
    for _ in range(10):
        for i in range(n):
            s = a[i] @ x - a[i, i] * x[i]
            x[i] = (b[i] - s) / a[i, i]
    return np.sum(x * b)


def cholesky(a):
    """
    >>> cholesky(np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]]))
    >>> cholesky(np.array([[2.0, 0.1, 0.3], [0.1, 1.0, 0.2], [0.3, 0.2, 5.0]]))
    """
    n = a.shape[0]
    lower = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j] - lower[i, :j] @ lower[j, :j]
            if i == j:
                lower[i, j] = np.sqrt(s)
            else:
                lower[i, j] = s / lower[j, j]
    return np.sum(np.log(np.diag(lower)))


def thomas(lower, diagonal, upper, b):
    """Solve a tridiagonal system.

    >>> thomas(np.full(3, 0.5), np.full(4, 3.0), np.full(3, 0.7), np.array([1.0, 2.0, 0.0, 1.0]))
    >>> thomas(np.full(3, 0.2), np.full(4, 2.0), np.full(3, 0.4), np.array([0.5, 2.0, 3.0, 1.0]))
    """
    n = len(b)
    c = np.zeros(n - 1)
    d = np.zeros(n)
    c[0] = upper[0] / diagonal[0]
    d[0] = b[0] / diagonal[0]
    for i in range(1, n):
        m = diagonal[i] - lower[i - 1] * c[i - 1]
        if i < n - 1:
            c[i] = upper[i] / m
        d[i] = (b[i] - lower[i - 1] * d[i - 1]) / m
    x = np.zeros(n)
    x[-1] = d[-1]
    for i in range(n - 2, -1, -1):
        x[i] = d[i] - c[i] * x[i + 1]
    return x


def lagrange(xs, ys, x):
    """
    >>> lagrange(np.array([0.0, 1.0, 2.5]), np.array([1.0, 0.5, 2.0]), 0.7)
    >>> lagrange(np.array([0.0, 0.8, 2.0]), np.array([1.0, 1.5, 3.0]), 1.7)
    """
    total = 0.0
    n = len(xs)
    for i in range(n):
        term = ys[i]
        for j in range(n):
            if j != i:
                term = term * (x - xs[j]) / (xs[i] - xs[j])
        total += term
    return total


def table_lookup(xs, ys, x):
    """Linear interpolation by a search from the left.

    >>> table_lookup(np.array([0.0, 1.0, 2.5, 4.0]), np.array([1.0, 0.5, 2.0, 3.0]), 0.7)
    >>> table_lookup(np.array([0.0, 1.0, 2.5, 4.0]), np.array([1.0, 0.5, 2.0, 3.0]), 3.1)
    """
    i = 0
    while i < len(xs) - 2 and xs[i + 1] < x:
        i += 1
    t = (x - xs[i]) / (xs[i + 1] - xs[i])
    return ys[i] * (1.0 - t) + ys[i + 1] * t


def golden_section(a, b):
    """
    >>> golden_section(2.0, 0.7)
    >>> golden_section(1.0, 1.4)
    """
    ratio = (math.sqrt(5.0) - 1.0) / 2.0
    low, high = 0.0, 3.0
    for _ in range(5):
        c = high - ratio * (high - low)
        d = low + ratio * (high - low)
        if (c - a) ** 2 + b * c < (d - a) ** 2 + b * d:
            high = d
        else:
            low = c
    return (low + high) * a * b


def richardson(x):
    """
    >>> richardson(0.4)
    >>> richardson(1.1)
    """
    table = np.zeros((4, 4))
    h = 0.4
    for i in range(4):
        table[i, 0] = (math.sin(x + h) - math.sin(x - h)) / (2 * h)
        for j in range(1, i + 1):
            table[i, j] = table[i, j - 1] + (table[i, j - 1] - table[i - 1, j - 1]) / (4**j - 1)
        h /= 2
    return table[3, 3]


def matrix_power(a, n):
    """
    >>> matrix_power(np.array([[0.5, 0.3], [0.1, 0.9]]), 5)
    >>> matrix_power(np.array([[0.2, 0.7], [0.4, 0.6]]), 5)
    """
    result = np.eye(2)
    while n > 0:
        if n % 2 == 1:
            result = result @ a
        a = a @ a
        n //= 2
    return np.trace(result)


def matrix_exponential(a):
    """
    >>> matrix_exponential(np.array([[0.5, 0.3], [0.1, 0.9]]))
    >>> matrix_exponential(np.array([[0.2, -0.7], [0.4, 0.6]]))
    """
    term = np.eye(len(a))
    total = term.copy()
    for k in range(1, 12):
        term = term @ a / k
        total += term
    return total
