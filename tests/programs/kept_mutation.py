"""Functions that change what they are given, and leave it changed for their caller."""

from dataclasses import dataclass

import numpy as np


def step(x, dt):
    """
    >>> step(np.linspace(1.0, 2.0, 5), 0.3)
    """
    x[0] += dt
    x *= 2.0
    return np.sum(x**2)


def smoothed(x, y):
    """
    >>> smoothed(np.linspace(1.0, 2.0, 5), np.linspace(2.0, 3.0, 5))
    """
    for i in range(1, len(x)):
        x[i] += 0.5 * x[i - 1] * y[i]
    return np.sum(x * y)


def either(x, y):
    """
    >>> either(np.linspace(1.0, 2.0, 5), np.linspace(2.0, 3.0, 5))
    """
    if y[0] > 1:
        x[1:] = y[:-1]
    else:
        x[0] = y[1]
    return np.sum(x * y)


def rebound_then_changed(x, y):
    """
    >>> rebound_then_changed(np.linspace(1.0, 2.0, 5), np.linspace(2.0, 3.0, 5))
    """
    given = x
    x = x + y
    given[:] = 7.0
    return np.sum(x)


def changed_then_rebound(x, y):
    """
    >>> changed_then_rebound(np.linspace(1.0, 2.0, 5), np.linspace(2.0, 3.0, 5))
    """
    x[0] = y[0] ** 2
    x = x * y
    return np.sum(x)


def old_values(x):
    """
    >>> old_values(np.linspace(1.0, 2.0, 5))
    """
    old = x.copy()
    x[1:] = x[:-1]
    return old @ x


def parameters(p, rate):
    """
    >>> parameters({"w": np.linspace(1.0, 2.0, 5), "b": 1.5, "l": [np.ones(2)]}, 0.1)
    """
    p["w"] -= rate * p["w"] ** 2
    p["b"] = p["b"] - rate
    p["l"][0][:] = 2 * p["w"][:2]
    return np.sum(p["w"]) * p["b"]


@dataclass
class Layer:
    w: np.ndarray
    b: np.ndarray


def layer(m, x):
    """
    >>> layer(Layer(np.ones(3), np.full(3, 2.0)), np.linspace(1.0, 2.0, 3))
    """
    m.w = m.w * x
    m.b[0] = x[1]
    return np.sum(m.w * m.b)


def into(out, x):
    """
    >>> into(np.ones(3), np.linspace(1.0, 2.0, 3))
    """
    np.multiply(x, 2.0, out=out)
    out.sort()
    out[::-1][0] = 1.0
    return out @ x


def through_views(x):
    """
    >>> through_views(np.ones((3, 4)))
    """
    row = x[1]
    row += 1.0
    x.T[0] = 5.0
    x[x > 3] = 0.0
    return np.sum(x**2)
