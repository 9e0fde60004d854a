"""Assignments to slices as functions: update_slice and update_slice_add, adjoints of slice.

`x[1:-1] = u` gives the array that x is afterwards, `x[1:-1] += u` likewise; x itself stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from s2s.ir.dims import Shape, Size, require_same
from s2s.ir.dtypes import BOOL
from s2s.ir.jaxpr import ShapedArray
from s2s.primitive import BatchAxis, Linear, Primitive, Value, Zero
from s2s.primitives.arithmetic import add as plus
from s2s.primitives.core import full, instantiate, move_batch_axis
from s2s.primitives.layout import Slice, slice_text
from s2s.primitives.logic import select_n
from s2s.trace import aval, bind, phase


@dataclass(frozen=True)
class UpdateSlice(Primitive):
    """An array with a slice replaced: the operands are the array and the slice's new elements."""

    start_indices: Shape
    limit_indices: Shape
    strides: tuple[int, ...] | None = None

    is_cheap = True
    name = "update_slice"
    operator: ClassVar[str] = "="

    @property
    def part(self) -> Slice:
        """The slice of the array that is assigned to."""
        return Slice(self.start_indices, self.limit_indices, self.strides)

    def abstract(self, x: ShapedArray, update: ShapedArray) -> ShapedArray:
        part = self.part.abstract(x)
        fits = part.dtype == update.dtype and part.ndim == update.ndim
        if not fits or not all(map(require_same, part.shape, update.shape)):
            raise TypeError(f"{update} cannot be put into a slice of type {part}")
        return ShapedArray(x.shape, x.dtype)

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        y = bind(self, *primals)
        if all(isinstance(t, Zero) for t in tangents):
            return y, Zero(aval(y))
        with phase("tangent"):
            return y, self._tangent(*tangents)

    def _tangent(self, t: Value, t_update: Value) -> Value:
        if isinstance(t, Zero):
            (placed,) = self.part.transpose([instantiate(t_update)], t)
            return placed
        return bind(self, t, instantiate(t_update))

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        (ct,), (x, update) = cts, args
        kept = bind(self, ct, instantiate(Zero(aval(update)))) if isinstance(x, Linear) else None
        taken = bind(self.part, ct) if isinstance(update, Linear) else None
        return [kept, taken]

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, BatchAxis]:
        x, update = (
            move_batch_axis(arg, axis, 0, size) for arg, axis in zip(args, dims, strict=True)
        )
        steps = None if self.strides is None else (1, *self.strides)
        new = type(self)((0, *self.start_indices), (size, *self.limit_indices), steps)
        return bind(new, x, update), 0

    def composed(self, x: Value, update: Value) -> Value:
        """The same by padding, for targets that have no such assignment."""
        (placed,) = self.part.transpose([update], x)
        (mask,) = self.part.transpose([full(aval(update).shape, True, BOOL)], x)
        return select_n(mask, x, placed)

    def index(self, shape: Shape) -> str:
        """What stands between the brackets, for an operand of this shape."""
        index = [
            slice_text(start, limit, step, size)
            for start, limit, step, size in zip(
                self.start_indices, self.limit_indices, self.part.steps(), shape, strict=True
            )
        ]
        return ", ".join(index)

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        # As an expression, for evaluation. The generator writes a statement.
        index, (x, update) = f"np.s_[{self.index(avals[0].shape)}]", operands
        if self.operator == "=":
            put = f"result.__setitem__({index}, {update})"
        else:
            put = f"result.__setitem__({index}, result[{index}] + {update})"
        return f"(lambda result: {put} or result)(np.array({x}))"


@dataclass(frozen=True)
class UpdateSliceAdd(UpdateSlice):
    """An array with something added to a slice of it: the operands are as in `UpdateSlice`."""

    name = "update_slice_add"
    operator = "+="

    def _tangent(self, t: Value, t_update: Value) -> Value:
        if isinstance(t_update, Zero):
            return t
        return super()._tangent(t, t_update)

    def composed(self, x: Value, update: Value) -> Value:
        (placed,) = self.part.transpose([update], x)
        return plus(x, placed)

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        (ct,), (x, update) = cts, args
        return [
            ct if isinstance(x, Linear) else None,
            bind(self.part, ct) if isinstance(update, Linear) else None,
        ]


def update_slice(operand: Value, update: Value, part: Slice, *, add: bool = False) -> Value:
    """`operand` with the elements that `part` takes of it replaced by `update`, or added to."""
    kind = UpdateSliceAdd if add else UpdateSlice
    return bind(kind(part.start_indices, part.limit_indices, part.strides), operand, update)
