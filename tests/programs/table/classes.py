"""Classes of users: dataclasses with methods, properties, operators, callables."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np


@dataclass
class Particle:
    position: float
    velocity: float = 0.0
    history: list = field(default_factory=list)

    def step(self, force, dt):
        self.velocity += force * dt
        self.position += self.velocity * dt
        self.history.append(self.position)

    @property
    def energy(self):
        return 0.5 * self.velocity**2 + 0.5 * self.position**2


def particle(x: float) -> float:
    """
    >>> particle(0.5)
    >>> particle(-1.2)
    """
    p = Particle(x)
    for _ in range(4):
        p.step(-p.position, 0.1)
    return p.energy + p.history[1]


def particle_in_a_long_loop(x: float, v: float) -> float:
    """
    >>> particle_in_a_long_loop(0.5, 0.1)
    >>> particle_in_a_long_loop(-1.2, 0.7)
    """

    @dataclass
    class State:
        x: float
        v: float

    state = State(x, v)
    for _ in range(25):
        state.v -= 0.1 * math.sin(state.x)
        state.x += 0.1 * state.v
    return state.x**2


class Vector:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, scale):
        return Vector(scale * self.x, scale * self.y)

    __rmul__ = __mul__

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __abs__(self):
        return math.hypot(self.x, self.y)

    def __iter__(self):
        yield self.x
        yield self.y


class Polynomial:
    def __init__(self, coefficients):
        self.coefficients = coefficients

    def __call__(self, x):
        y = 0.0
        for c in self.coefficients:
            y = y * x + c
        return y

    def __getitem__(self, index):
        return self.coefficients[index]

    def __len__(self):
        return len(self.coefficients)


def callable_object(x: float, c: float) -> float:
    """
    >>> callable_object(0.5, 0.3)
    >>> callable_object(1.5, -0.7)
    """
    p = Polynomial([1.0, c, 0.5])
    return p(x) + p[1] * len(p)


class Shape:
    def __init__(self, size):
        self.size = size

    def area(self):
        raise NotImplementedError

    def scaled(self, factor):
        return type(self)(self.size * factor).area()


class Square(Shape):
    def area(self):
        return self.size**2


class Circle(Shape):
    def __init__(self, size):
        super().__init__(size)
        self.pi = math.pi

    def area(self):
        return self.pi * self.size**2 / 4


def inherited(size: float) -> float:
    """
    >>> inherited(0.5)
    >>> inherited(1.5)
    """
    total = 0.0
    for shape in (Square(size), Circle(2.0 * size)):
        total += shape.area() + shape.scaled(0.5)
    return total


class Weights(NamedTuple):
    w: float
    b: float

    def predict(self, x):
        return math.tanh(self.w * x + self.b)


def named_tuple(w: float, b: float) -> float:
    """
    >>> named_tuple(0.5, 0.1)
    >>> named_tuple(1.5, -0.2)
    """
    weights = Weights(w, b)
    for x in (0.5, -1.0, 2.0):
        error = weights.predict(x) - 0.3
        weights = weights._replace(w=weights.w - 0.1 * error * x, b=weights.b - 0.1 * error)
    return weights.w * weights.b


@dataclass(frozen=True)
class Layer:
    w: np.ndarray
    b: np.ndarray

    def __matmul__(self, x):
        return np.tanh(self.w @ x + self.b)


def layers(w, b):
    """
    >>> layers(np.array([[0.5, 0.1], [0.2, -0.4]]), np.array([0.1, 0.2]))
    >>> layers(np.array([[1.5, 0.3], [0.7, 0.4]]), np.array([-0.3, 0.6]))
    """
    first = Layer(w, b)
    second = replace(first, b=2.0 * b)
    return np.sum(second @ (first @ np.ones(2)))


class Adder:
    def __init__(self):
        self.total = 0.0

    def add(self, value):
        self.total = self.total + value
        return self

    @staticmethod
    def scale(value):
        return 3.0 * value

    @classmethod
    def starting_at(cls, value):
        made = cls()
        made.total = value
        return made


def methods_in_a_chain(x: float) -> float:
    """
    >>> methods_in_a_chain(0.5)
    >>> methods_in_a_chain(-1.5)
    """
    adder = Adder.starting_at(x).add(x * x).add(Adder.scale(x))
    if adder.total > 0.0:
        adder.add(1.0)
        adder.total *= 2.0
    return adder.total


class Tridiagonal:
    def __init__(self, diagonal, off):
        self.diagonal, self.off = diagonal, off

    def __matmul__(self, x):
        y = self.diagonal * x
        y[:-1] += self.off * x[1:]
        y[1:] += self.off * x[:-1]
        return y


def operator_of_arrays(d, o, x):
    """
    >>> operator_of_arrays(np.array([2.0, 3.0, 1.0]), np.array([0.5, 0.1]), np.array([1.0, 0.2, 0.3]))
    >>> operator_of_arrays(np.array([1.0, 0.3, 2.0]), np.array([0.2, 0.7]), np.array([0.4, 1.2, 0.1]))
    """
    m = Tridiagonal(d, o)
    for _ in range(6):
        x = m @ x
        x /= np.sqrt(x @ x)
    return x @ (m @ x)


class Interval:
    """Each method branches on values, so all are converted, whoever calls them."""

    def __init__(self, low, high):
        self.low, self.high = low, high

    def __abs__(self):
        return self.high - self.low if self.high > self.low else 0.0

    def __bool__(self):
        return self.high > self.low

    def __contains__(self, x):
        return self.low < x < self.high

    def __float__(self):
        return float(self.low) if self.low > 0.0 else float(self.high)

    def __round__(self):
        return self.low * 10.0 if self.low > 0.0 else self.high

    def __iter__(self):
        first = self.low if self.low > 0.0 else 2.0 * self.low
        yield first
        yield self.high

    def __lt__(self, other):
        return self.low < other.low if self.low > 0.0 else self.high < other.high

    def __eq__(self, other):
        return abs(self.low - other.low) < 1e-9 and abs(self.high - other.high) < 1e-9

    def __iadd__(self, x):
        self.high = self.high + x if x > 0.0 else self.high
        return self

    def __setitem__(self, end, value):
        setattr(self, end, value if value > 0.0 else -value)

    def __getattr__(self, name):
        if name == "middle":
            return 0.5 * (self.low + self.high) if self.low > 0.0 else self.high
        raise AttributeError(name)

    def __enter__(self):
        self.high = self.high * 2.0 if self.low > 0.0 else self.high
        return self

    def __exit__(self, *error):
        self.low = 3.0 * self.low if self.low > 0.0 else self.low


def asked_by_builtins(a: float, b: float) -> float:
    """
    >>> asked_by_builtins(0.3, 0.8)
    >>> asked_by_builtins(-0.3, 0.4)
    """
    interval = Interval(a, b)
    total = abs(interval) * float(interval) + round(interval)
    for end in interval:
        total += end * end
    first, second = interval
    total += first * max(interval) + sum(interval) * second
    if interval and 0.5 in interval:
        total *= a
    return total * interval.middle


def compared_by_methods(a: float, b: float) -> float:
    """
    >>> compared_by_methods(0.3, 0.8)
    >>> compared_by_methods(-0.3, 0.4)
    """
    low, high = Interval(a, b), Interval(b, a)
    total = a if low > high else b * b
    if low != high:
        total += a * b
    return total


def changed_by_methods(a: float, b: float) -> float:
    """
    >>> changed_by_methods(0.3, 0.8)
    >>> changed_by_methods(-0.3, 0.4)
    """
    interval = Interval(a, b)
    interval += a
    interval["low"] = a * interval.high
    with interval as inside:
        total = inside.low * inside.high
    return total * interval.low


def best_particle(x: float) -> float:
    """
    >>> best_particle(0.3)
    >>> best_particle(-0.3)
    """
    first, second = Particle(x, 1.0), Particle(2.0 * x, 2.0)
    best = first
    if second.position > first.position:
        best = second
    particles = [first, second]
    particles.reverse()
    for _ in range(6):
        x = 0.5 * x + best.velocity
    return best.position * particles[0].position * x


class Potential:
    def __init__(self, depth, cutoff):
        self.depth, self.cutoff = depth, cutoff

    def energy(self, r):
        if r > self.cutoff:
            return 0.0
        return self.depth * (1.0 / r**12 - 2.0 / r**6)


class Shifted(Potential):
    def energy(self, r):
        return super().energy(r) - super().energy(2.0) if r < 2.0 else 0.0


def energies(depth: float, r: float) -> float:
    """
    >>> energies(0.7, 1.2)
    >>> energies(0.9, 2.2)
    """
    return sum(p.energy(r) for p in (Potential(depth, 2.5), Shifted(depth, 2.5)))
