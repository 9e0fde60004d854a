"""The identity with a meaning for passes: stop_gradient and copy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from s2s.primitive import Value
from s2s.primitives.families import LocallyConstant, Unary, unary


class StopGradient(LocallyConstant):
    """x, whose derivative is taken to be zero."""

    kinds = "biufc"
    name = "stop_gradient"
    numpy = "{0}"

    def finish(self, args: Sequence[Value]) -> Sequence[Value]:
        return args


@dataclass(frozen=True)
class Copy(Unary):
    """A new array with the elements of x.

    `in_order` says whether NumPy lays it out in row-major order, as `x.copy()`, or else like x, as
    `np.copy(x)`: it decides whether a reshape of it is a view.
    """

    in_order: bool = True

    kinds = "biufc"
    name = "copy"
    numpy = "np.copy({0})"

    def printed_parameters(self) -> Mapping[str, Any]:
        return {} if self.in_order else self.parameters()

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        # The tangent too may be written into afterwards, with a name of its own.
        return copy(t)

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        return [cts[0]]


stop_gradient = unary(StopGradient)
copy = unary(Copy)
