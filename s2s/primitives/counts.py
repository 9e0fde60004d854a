"""Sizes that are values: bind_dimension makes one of a number, nonzero one of how many truth values
are true; rows_of_steps is what a loop of such a size made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s.ir.dims import Dim, Size
from s2s.ir.dtypes import BOOL, INT64
from s2s.ir.jaxpr import ShapedArray
from s2s.primitive import BatchAxis, Primitive, Value, Zero
from s2s.primitives.reductions import reduce_max
from s2s.trace import aval, bind


@dataclass(frozen=True)
class BindDimension(Primitive):
    """Let the dimension `steps` be the value of the operand, which is the result as well.

    Slices have ends that are values by it, which are `exact`: each example of a batch has its own.
    And partial evaluation leaves it where the count of a loop's steps is handed on without a loop.
    """

    steps: Size
    exact: bool = False

    is_cheap = True
    name = "bind_dimension"
    multiple_results = True

    @property
    def bound_dimension(self) -> str | None:
        return str(self.steps) if isinstance(self.steps, Dim) else None

    def printed_parameters(self) -> Mapping[str, Any]:
        return self.parameters() if self.exact else {"steps": self.steps}

    def abstract(self, *avals: ShapedArray) -> list[ShapedArray]:
        return [ShapedArray((), INT64)]

    def evaluate(self, *arrays: Any) -> list[Any]:
        return list(arrays)

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        results = bind(self, *primals)
        return results, [Zero(aval(result)) for result in results]

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, Any]:
        """All examples of a loop run as many steps as the one that runs most."""
        (count,), (axis,) = args, dims
        assert axis is not None
        if self.exact:
            raise Ragged
        bind(self, reduce_max(count, [axis]))
        return [count], [axis]


class Ragged(Exception):
    """In a batch, an array would have another size for each example."""


@dataclass(frozen=True)
class NonZero(Primitive):
    """How many elements are true, which is the value of the dimension `steps`, and the indices of
    these in row-major order, an array for each axis."""

    steps: Size

    name = "nonzero"
    multiple_results = True

    @property
    def bound_dimension(self) -> str | None:
        return str(self.steps) if isinstance(self.steps, Dim) else None

    def abstract(self, *avals: ShapedArray) -> list[ShapedArray]:
        (x,) = avals
        if not x.ndim or x.dtype != BOOL:
            raise TypeError(f"{self.name} of a value of type {x}")
        return [ShapedArray((), INT64), *[ShapedArray((self.steps,), INT64)] * x.ndim]

    def evaluate(self, *arrays: Any) -> list[Any]:
        indices = np.nonzero(arrays[0])
        return [np.int64(len(indices[0])), *indices]

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        results = bind(self, *primals)
        return results, [Zero(aval(result)) for result in results]

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, Any]:
        raise Ragged


class RowsOfSteps(Primitive):
    """The second operand, rows that a loop made in its steps; the first is the number of these.

    In a batch, the examples must make the same number of steps, or are computed one by one: no
    array has rows of different number for each.
    """

    name = "rows_of_steps"
    numpy = "{1}"

    def abstract(self, *avals: ShapedArray) -> ShapedArray:
        return avals[1]

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        count, t = primals[0], tangents[1]
        return bind(self, *primals), t if isinstance(t, Zero) else bind(self, count, t)

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        return [None, bind(self, args[0], cts[0])]

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, Any]:
        if dims[0] is not None:
            raise Ragged
        return bind(self, *args), dims[1]

    def finish(self, args: Sequence[Value]) -> Sequence[Value]:
        return [args[1]]
