"""Iterations that keep where they have been, and what is made of the whole way."""

import numpy as np


def largest_total_of_cooling(start):
    """
    >>> largest_total_of_cooling(np.array([1.5, 0.8]))
    >>> largest_total_of_cooling(np.array([0.9, -0.6]))
    >>> largest_total_of_cooling(np.array([0.4, 0.7]))
    """
    temperature, rate = start[0], 0.6 + 0.1 * start[1]
    temperatures = [temperature]
    while temperature > 0.1:
        temperature = temperature * rate - 0.02
        temperatures.append(temperature)
    return np.max(np.cumsum(np.array(temperatures)))


def spread_about_levels(level, steps):
    """
    >>> spread_about_levels(0.7, 5)
    >>> spread_about_levels(1.3, 5)
    >>> spread_about_levels(1.1, 2)
    """
    levels = [level]
    for _ in range(steps):
        levels.append(np.sin(levels[-1]) * levels[0])
    away = np.array(levels)[:, None] - np.array([0.5, 1.0, 1.5])
    return np.mean(away**2)


def latest_first(position):
    """
    >>> latest_first(np.array([1.0, 0.5, -0.3]))
    >>> latest_first(np.array([0.2, 1.5, 0.9]))
    """
    visited = [position]
    while np.sum(position**2) > 0.1:
        position = position * 0.6
        visited.append(position)
    latest = np.array(visited[::-1])
    weights = np.exp(-np.arange(len(latest)))
    return weights @ latest


def forces_on_the_way(position, stiffness):
    """
    >>> forces_on_the_way(np.array([1.0, 0.5]), np.array([[2.0, 0.3], [0.1, 1.0]]))
    >>> forces_on_the_way(np.array([0.2, 1.5]), np.array([[1.0, -0.4], [0.5, 0.7]]))
    """
    forces = []
    while np.sum(position**2) > 0.1:
        forces.append(stiffness @ position)
        position = position * 0.6
    columns = np.stack(forces, axis=1)
    return np.sum(np.linalg.norm(columns, axis=0)) + np.sum(np.tanh(stiffness @ columns))


def simpson_and_midpoint(y, h):
    """
    >>> simpson_and_midpoint(2.0, 0.3)
    >>> simpson_and_midpoint(0.9, 0.2)
    """
    ys = [y]
    while ys[-1] > 0.3:
        ys.append(ys[-1] - h * ys[-1] ** 2)
    ys = np.array(ys)
    return h * (ys[0] + 2.0 * np.sum(ys[1:-1]) + ys[-1]) + ys[len(ys) // 2] ** 2


def middle_of_the_gains(changes):
    """
    >>> middle_of_the_gains(np.array([1.0, -2.0, 3.0, 4.0, 5.0, -6.0, 7.0]))
    >>> middle_of_the_gains(np.array([-1.0, 2.0, -0.3, -4.0, 0.5, -6.0, -0.7]))
    """
    gains = changes[changes > 0.0]
    return gains[-(len(gains) // 2)] ** 2 + np.sum(gains[1:-1])
