"""Conversion of element types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from s2s.ir.dims import Size
from s2s.ir.dtypes import PYTHON_SCALARS, DType, is_inexact
from s2s.ir.jaxpr import ShapedArray
from s2s.primitive import BatchAxis, Precedence, Producer, Value, Zero
from s2s.primitives.structural import Structural, defined_by, is_number, number
from s2s.trace import aval, bind

PYTHON_TYPE: dict[str, type] = {dtype.kind: scalar for scalar, dtype in PYTHON_SCALARS.items()}
"""Python's type of number for each kind of element type."""


@dataclass(frozen=True)
class ConvertElementType(Structural):
    """The elements converted to another type; with `weak_type`, to a Python scalar."""

    new_dtype: DType
    weak_type: bool = False

    name = "convert_element_type"
    stablehlo = "convert"

    def abstract(self, x: ShapedArray) -> ShapedArray:
        if self.weak_type and x.shape:
            raise TypeError(f"a value of type {x} cannot become a Python number")
        return ShapedArray(x.shape, self.new_dtype, self.weak_type)

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        if is_inexact(self.new_dtype):
            return super().jvp(primals, tangents)
        y = bind(self, *primals)
        return y, Zero(aval(y))

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        x = aval(args[0])
        return [convert_element_type(cts[0], x.dtype, x.weak_type)]

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, BatchAxis]:
        return convert_element_type(args[0], self.new_dtype), dims[0]

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        (x,), (x_aval,) = operands, avals
        if self.weak_type:
            return f"{PYTHON_TYPE[self.new_dtype.kind].__name__}({x})"
        dtype = "np.bool_" if self.new_dtype.kind == "b" else f"np.{self.new_dtype.name}"
        return f"{x}.astype({dtype})" if x_aval.shape else f"{dtype}({x})"

    def operand_precedence(self, position: int) -> Precedence:
        return Precedence.ATOM

    def fold(self, args: Sequence[Value], producer: Producer) -> Value | None:
        x = aval(args[0])
        if x.dtype == self.new_dtype and x.weak_type == self.weak_type:
            return args[0]
        inner = defined_by(args[0], ConvertElementType, producer)
        if inner is not None and self.new_dtype.kind == "b" and x.dtype.kind in "iu":
            (truth,) = inner[1]
            return truth if aval(truth).dtype.kind == "b" else None
        return None


def convert_element_type(operand: Value, new_dtype: DType, weak_type: bool = False) -> Value:
    """The elements of `operand` as `new_dtype`; with `weak_type`, a Python scalar."""
    x = aval(operand)
    weak_type = weak_type and not x.shape
    if x.dtype == new_dtype and x.weak_type == weak_type:
        return operand
    if is_number(operand):
        converted = PYTHON_TYPE[new_dtype.kind] if weak_type else new_dtype.type
        return converted(number(operand))
    return bind(ConvertElementType(new_dtype, weak_type), operand)
