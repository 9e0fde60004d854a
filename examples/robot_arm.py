"""Inverse kinematics: the angles at which a robot arm's hand reaches a target."""

import numpy as np


def hand(angles, lengths):
    """Position of the hand in the frame of the base.

    The base turns about the vertical axis; each further joint bends the arm in its plane.
    """
    reach = 0.0
    height = lengths[0]
    elevation = 0.0
    for angle, length in zip(angles[1:], lengths[1:]):
        elevation = elevation + angle
        reach = reach + length * np.cos(elevation)
        height = height + length * np.sin(elevation)
    return np.array([reach * np.cos(angles[0]), reach * np.sin(angles[0]), height])


def miss(angles, lengths, target):
    """Squared distance of the hand to the target.

    >>> lengths = np.array([0.5, 1.0, 0.75, 0.25])
    >>> float(miss(np.zeros(4), lengths, np.array([2.0, 0.0, 1.5])))
    1.0
    """
    distance = hand(angles, lengths) - target
    return distance @ distance
