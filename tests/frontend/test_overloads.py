"""Operators and properties of the user's classes are converted as functions are."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

from tests.frontend.tracing import FLOAT, agrees, names, traced


class Vector:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        x = self.x + other.x
        return Vector(x, self.y + other.y)

    def __mul__(self, factor):
        if isinstance(factor, Vector):
            return self.x * factor.x + self.y * factor.y
        return Vector(factor * self.x, factor * self.y)

    __rmul__ = __mul__

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __lt__(self, other):
        return NotImplemented

    def __gt__(self, other):
        return self.x > other.x

    def __getitem__(self, index):
        return math.exp((self.x, self.y)[index])

    @property
    def length(self):
        return math.hypot(self.x, self.y)

    @functools.cached_property
    def angle(self):
        return math.atan2(self.y, self.x)


class Longer(Vector):
    def __radd__(self, other):
        return math.cos(self.x) * other.x


@dataclass
class Named:
    value: Any

    def __rsub__(self, other):
        return other * math.sqrt(self.value)


def test_operators() -> None:
    def function(a, b):
        v = Vector(a, b)
        w = v + 2.0 * v * 3.0
        return v * -w

    agrees(function, 0.5, 1.5)


def test_reflected_operators_go_first_for_subclasses() -> None:
    agrees(lambda a: Vector(a, a) + Longer(a, a), 0.5)
    agrees(lambda a: a - Named(a), 0.5)


def test_comparisons_may_be_reflected() -> None:
    agrees(lambda a: Vector(a, a) < Vector(2.0 * a, a), 0.5)


def test_subscripts() -> None:
    agrees(lambda a: Vector(a, 2.0)[0] + Vector(a, 2.0)[-1], 0.5)


def test_properties() -> None:
    agrees(lambda a, b: Vector(a, b).length, 0.5, 1.5)
    assert names(traced(lambda a: Vector(a + 1.0, a).length, FLOAT))[0] == "x"


def test_cached_property_keeps_no_traced_value() -> None:
    fixed = Vector(1.0, 2.0)
    agrees(lambda a: a * fixed.angle, 0.5)
    assert "angle" in vars(fixed), "it does not depend on the argument"
    moving = Vector(1.0, 2.0)

    def function(a, vector=moving):
        shifted = vector + Vector(a, a)
        return shifted.angle + shifted.angle

    agrees(function, 0.5)
