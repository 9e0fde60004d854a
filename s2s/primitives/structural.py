"""The families of operations that are linear in their one operand, or along one of its axes, and
how rules look at operands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, TypeVar, cast

import numpy as np

from s2s.ir.dims import Size
from s2s.ir.dtypes import DType
from s2s.ir.jaxpr import JaxprEqn, Literal, ShapedArray
from s2s.primitive import BatchAxis, Primitive, Producer, Value, Zero
from s2s.trace import Tracer, aval, bind, is_concrete, named, phase, tracer_of

Kind = TypeVar("Kind", bound=Primitive)


class Structural(Primitive):
    """Linear in its one operand whatever the values: its jvp is itself."""

    is_cheap = True

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        y = bind(self, *primals)
        if isinstance(tangents[0], Zero):
            return y, Zero(aval(y))
        with phase("tangent"):
            return y, bind(self, *tangents)


class AlongAxis(Primitive):
    """Of one array, a result of its shape, made along one axis alike for each place of the others.

    `axis_parameter` is what the parameter that says the axis is called.
    """

    axis_parameter: ClassVar[str] = "axis"

    @property
    def along(self) -> int:
        """The axis."""
        return getattr(self, self.axis_parameter)

    def abstract(self, x: ShapedArray) -> ShapedArray:
        if not 0 <= self.along < x.ndim:
            raise TypeError(f"{self.name} along axis {self.along} of a value of type {x}")
        return ShapedArray(x.shape, self.dtype(x.dtype))

    def dtype(self, dtype: DType) -> DType:
        """The element type of the result."""
        return dtype

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, BatchAxis]:
        (x,), (batch,) = args, dims
        assert batch is not None
        axis = self.along + (self.along >= batch)
        return bind(replace(cast(Any, self), **{self.axis_parameter: axis}), x), batch


def defined_by(
    value: Value, kind: type[Kind], producer: Producer
) -> tuple[Kind, list[Value]] | None:
    """The primitive and the operands that define `value`, if that is an equation of this kind."""
    eqn = producer(value)
    if eqn is None or not isinstance(eqn.primitive, kind):
        return None
    return eqn.primitive, operands_of(value, eqn)


def hand_on_name(old: Value, new: Value) -> None:
    """Give a value the name of one that it takes the place of, unless it has its own."""
    if isinstance(old, Tracer) and old.variable.name is not None:
        named(new, old.variable.name)


def operands_of(value: Value, eqn: JaxprEqn) -> list[Value]:
    """The operands of the equation that defines `value`, as values to build with."""
    builder = cast(Tracer, value).builder
    return [a if isinstance(a, Literal) else tracer_of(builder, a) for a in eqn.invars]


def is_number(value: Value) -> bool:
    """Whether the value is a number known now."""
    if isinstance(value, Tracer):
        return False
    return is_concrete(value) and not isinstance(value, np.ndarray)


def number(value: Value) -> Any:
    """The number that a literal or a scalar is."""
    return value.value if isinstance(value, Literal) else value
