"""Functions that the tests of the API transform, as a user writes them."""

import dataclasses
from typing import NamedTuple

import numpy as np


def loss(w, x):
    """A number from a vector and a matrix."""
    return np.sum(np.tanh(x @ w) ** 2)


def field(x):
    """A vector from a vector."""
    return np.stack([x[0] * x[1], np.sin(x[1]) + x[2], np.exp(x[2] - x[0]), x[0] ** 3])


def network(params, x):
    """A number from nested containers."""
    h = x
    for layer in params["layers"]:
        h = np.tanh(h @ layer["w"] + layer["b"])
    return np.mean(h) * params["scale"]


def with_auxiliary(w, x):
    prediction = x @ w
    return np.mean(prediction**2), {"prediction": prediction, "count": x.shape[0]}


class Point(NamedTuple):
    x: float
    y: float


@dataclasses.dataclass
class Spring:
    stiffness: float
    rest: float

    def energy(self, length):
        return 0.5 * self.stiffness * (length - self.rest) ** 2


def distance(p: Point, q: Point):
    return np.hypot(p.x - q.x, p.y - q.y)


def stretched(spring: Spring, length: float):
    return spring.energy(length)


def network_arguments(seed=0):
    random = np.random.default_rng(seed)
    layers = [
        {"w": random.normal(size=(3, 4)), "b": random.normal(size=4)},
        {"w": random.normal(size=(4, 2)), "b": random.normal(size=2)},
    ]
    return {"layers": layers, "scale": np.float64(1.5)}, random.normal(size=(5, 3))
