"""The energy of a cluster of atoms that attract each other: argon, say."""

from typing import Annotated

import numpy as np


def energy(positions: Annotated[np.ndarray, "f64[n, 3]"]) -> float:
    """Lennard-Jones energy over all pairs, in units of the depth and width of the well."""
    separation = positions[:, None, :] - positions[None, :, :]
    # An atom and itself are given the distance 1, where the potential is zero.
    squared_distance = np.sum(separation**2, axis=2) + np.eye(len(positions))
    attraction = squared_distance**-3
    return 2.0 * np.sum(attraction**2 - attraction)
