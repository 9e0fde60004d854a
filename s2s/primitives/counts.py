"""bind_dimension: a size made from a value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from s2s.ir.dims import Dim, Size
from s2s.ir.dtypes import INT64
from s2s.ir.jaxpr import ClosedJaxpr, ShapedArray
from s2s.primitive import BatchAxis, Primitive, Producer, Value, Zero
from s2s.primitives.reductions import reduce_max
from s2s.trace import aval, bind


@dataclass(frozen=True)
class BindDimension(Primitive):
    """Let the dimension `steps` be the value of the operand, which is the result as well.

    Partial evaluation leaves it where the count of a loop's steps is handed on without the loop.
    """

    steps: Dim

    name = "bind_dimension"
    multiple_results = True

    @property
    def bound_dimension(self) -> str | None:
        return str(self.steps)

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
        """All examples run as many steps as the one that runs most."""
        (count,), (axis,) = args, dims
        assert axis is not None
        bind(self, reduce_max(count, [axis]))
        return [count], [axis]

    def tidied(
        self,
        args: Sequence[Value],
        producer: Producer,
        tidy: Callable[[ClosedJaxpr], ClosedJaxpr],
    ) -> Sequence[Value] | None:
        eqn = producer(args[0])
        known = eqn is not None and eqn.primitive.bound_dimension == self.bound_dimension
        return list(args) if known else None
