"""Special functions; NumPy has no form for most of them, so they are SciPy's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from s2s.ir.jaxpr import ShapedArray
from s2s.primitive import Value
from s2s.primitives.arithmetic import mul, neg, sub
from s2s.primitives.families import Unary, apply, unary
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


class Erfc(Special):
    """1 - erf(x), precise for large x."""

    name = "erfc"
    numpy = "scipy.special.erfc({0})"
    math = "math.erfc({0})"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return mul(t, mul(-2 / math.sqrt(math.pi), exp(neg(integer_pow(x, 2)))))


class ErfInv(Special):
    """The inverse of erf, for x between -1 and 1."""

    name = "erf_inv"
    numpy = "scipy.special.erfinv({0})"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return mul(t, mul(math.sqrt(math.pi) / 2, exp(integer_pow(z, 2))))


class Logistic(Special):
    """1 / (1 + exp(-x)), without overflow."""

    name = "logistic"
    numpy = "scipy.special.expit({0})"
    stablehlo = "logistic"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return mul(t, mul(z, sub(1, z)))


class Lgamma(Special):
    """The logarithm of |gamma(x)|."""

    name = "lgamma"
    numpy = "scipy.special.gammaln({0})"
    math = "math.lgamma({0})"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return mul(t, digamma(x))


class Digamma(Special):
    """The derivative of lgamma."""

    name = "digamma"
    numpy = "scipy.special.digamma({0})"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return mul(t, polygamma(1, x))


@dataclass(frozen=True)
class Polygamma(Special):
    """The m-th derivative of digamma."""

    m: int

    name = "polygamma"
    numpy = "scipy.special.polygamma({m}, {0})"

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        return mul(t, polygamma(self.m + 1, x))

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        # SciPy computes it in double precision whatever the operand.
        text = super().spell(operands, avals)
        return text if avals[0].dtype == float else f"np.{avals[0].dtype.name}({text})"


erf = unary(Erf)
erfc = unary(Erfc)
erf_inv = unary(ErfInv)
logistic = unary(Logistic)
lgamma = unary(Lgamma)
digamma = unary(Digamma)


def polygamma(m: int, x: Value) -> Value:
    """The m-th derivative of digamma at x."""
    return apply(Polygamma(m), x)
