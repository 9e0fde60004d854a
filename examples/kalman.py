"""Kalman filter: how well noise levels explain the measured positions of a moving body."""

import numpy as np

from s2s import lax


def surprise(log_drift, log_noise, positions, dt):
    """Negative log-likelihood of `positions`, measured every `dt`, divided by their number.

    The body's speed drifts with variance `exp(log_drift)` per unit of time; positions are measured
    with variance `exp(log_noise)`.

    >>> positions = np.array([0.0, 0.9, 2.1, 2.9])
    >>> round(float(surprise(0.0, -2.0, positions, 1.0)), 6)
    1.651588
    """
    step = np.array([[1.0, dt], [0.0, 1.0]])
    drift = np.exp(log_drift) * np.array([[dt**3 / 3, dt**2 / 2], [dt**2 / 2, dt]])
    noise = np.exp(log_noise)

    def measure(state, position):
        mean, covariance = state
        mean = step @ mean
        covariance = step @ covariance @ step.T + drift
        error = position - mean[0]
        variance = covariance[0, 0] + noise
        gain = covariance[:, 0] / variance
        mean = mean + gain * error
        covariance = covariance - np.outer(gain, covariance[0])
        return (mean, covariance), 0.5 * (np.log(2.0 * np.pi * variance) + error**2 / variance)

    start = np.array([positions[0], 0.0]), 10.0 * np.eye(2)
    _, terms = lax.scan(measure, start, positions)
    return np.mean(terms)
