"""Special functions; NumPy has no form for most of them, so they are SciPy's."""

from __future__ import annotations

import math

from s2s.primitive import Value
from s2s.primitives.arithmetic import mul, neg
from s2s.primitives.families import Unary, unary
from s2s.primitives.powers import exp, integer_pow


class Special(Unary):
    """A function from `scipy.special`, of real numbers."""

    kinds = "f"
    imports = ("scipy.special",)


class Erf(Special):
    """The error function, 2/sqrt(pi) times the integral of exp(-s**2) for s from 0 to x."""

    name = "erf"
    numpy = "scipy.special.erf({0})"
    math = "math.erf({0})"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return mul(t, mul(2 / math.sqrt(math.pi), exp(neg(integer_pow(x, 2)))))


erf = unary(Erf)
