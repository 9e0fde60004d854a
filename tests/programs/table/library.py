"""What NumPy's library has for signals, statistics and polynomials, as it is called by users."""

import numpy as np


def weighted_windows(x, w):
    """
    >>> weighted_windows(np.array([0.3, -1.2, 0.8, 2.1, -0.4]), np.array([0.2, 0.5, 0.3]))
    >>> weighted_windows(np.array([0.5, 1.3, -0.6, 0.2, 1.9]), np.array([0.1, 0.5, 0.4]))
    """
    places = np.arange(len(x) - 2)[:, None] + np.arange(3)
    return np.sum(x[places] * w)


def two_filters(x, w):
    """
    >>> two_filters(np.array([0.3, -1.2, 0.8, 2.1, -0.4]), np.array([0.2, 0.5, 0.3]))
    >>> two_filters(np.array([0.5, 1.3, -0.6, 0.2, 1.9]), np.array([0.1, 0.5, 0.4]))
    """
    near = np.arange(5)[:, None] + np.arange(3)
    padded = np.pad(x, 1)
    wide = np.pad(x, 2)
    return np.sum(padded[near] * w, axis=1) * np.sum(wide[near] * w[::-1], axis=1)
