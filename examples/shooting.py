"""A shot against the wind: an adaptive solver of the equations of motion, and where it lands."""

import numpy as np

from s2s import lax


def acceleration(velocity, drag):
    """Gravity and the resistance of the air."""
    return np.array([0.0, -9.81]) - drag * np.sqrt(velocity @ velocity) * velocity


def miss(velocity, drag, target, duration):
    """Squared distance to `target` after `duration` seconds of flight from the origin.

    Solved in steps of Heun's method, each as long as Euler's agrees with it to 1e-3.

    >>> round(float(miss(np.array([20.0, 20.0]), 0.01, np.array([50.0, 5.0]), 3.0)), 3)
    28.568
    """

    def flies(state):
        time, _, _, _ = state
        return time < duration

    def attempt(state):
        time, position, speed, step = state
        step = np.minimum(step, duration - time)
        first = acceleration(speed, drag)
        second = acceleration(speed + step * first, drag)
        error = 0.5 * step * np.max(np.abs(second - first))
        accepted = error < 1e-3

        def advance(position, speed):
            moved = position + step * (speed + 0.5 * step * first)
            return time + step, moved, speed + 0.5 * step * (first + second)

        time, position, speed = lax.cond(
            accepted, advance, lambda position, speed: (time, position, speed), position, speed
        )
        step = step * np.clip(0.9 * np.sqrt(1e-3 / (error + 1e-12)), 0.2, 5.0)
        return time, position, speed, step

    start = 0.0, np.zeros(2), velocity, 0.1
    _, position, _, _ = lax.while_loop(flies, attempt, start)
    return np.sum((position - target) ** 2)
