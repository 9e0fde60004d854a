"""Gaussian process regression: how well a smooth random function explains noisy measurements."""

import numpy as np


def surprise(log_length, log_size, log_noise, x, y):
    """Negative log-likelihood of measurements `y` at the places `x` (Rasmussen & Williams 2006,
    equation 2.30).

    The function varies by about `exp(log_size)` over distances of about `exp(log_length)`; the
    standard deviation of its measurements is `exp(log_noise)`.

    >>> x = np.array([0.0, 0.4, 1.1, 1.5])
    >>> y = np.array([0.1, 0.5, 0.8, 1.1])
    >>> round(float(surprise(0.0, 0.0, -2.0, x, y)), 6)
    2.189658
    """
    distance = (x[:, None] - x) / np.exp(log_length)
    smooth = np.exp(2.0 * log_size - 0.5 * distance**2)
    covariance = smooth + np.exp(2.0 * log_noise) * np.eye(len(x))
    factor = np.linalg.cholesky(covariance)
    whitened = np.linalg.solve(factor, y)
    misfit = 0.5 * whitened @ whitened
    volume = np.sum(np.log(np.diag(factor)))
    return misfit + volume + 0.5 * len(x) * np.log(2.0 * np.pi)
