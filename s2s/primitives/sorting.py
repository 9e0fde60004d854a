"""Sorting along one axis: elements in order, and the permutation that puts them so.

A permutation is a value like another, of the type of indices. Of several arrays sorted together by
the first of them, each is taken at the one permutation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from s2s.ir.dims import Size
from s2s.ir.dtypes import INT64, DType
from s2s.ir.jaxpr import ShapedArray
from s2s.primitive import BatchAxis, Primitive, Value, Zero
from s2s.primitives.core import broadcast_in_dim, convert_element_type, move_batch_axis, reduce_sum
from s2s.primitives.creation import broadcasted_iota
from s2s.primitives.indexing import take_at
from s2s.primitives.logic import le, lt
from s2s.primitives.structural import AlongAxis
from s2s.trace import aval, bind, phase


class Rearrangement(AlongAxis):
    """A rearrangement of the elements along `dimension`, the same way for each place of the other
    axes."""

    dimension: int

    axis_parameter = "dimension"

    def abstract(self, x: ShapedArray) -> ShapedArray:
        if x.dtype.kind == "c":
            raise TypeError(f"{self.name} along axis {self.dimension} of a value of type {x}")
        return super().abstract(x)

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        is_last = self.dimension == avals[0].ndim - 1
        axis = "" if is_last else f", axis={self.dimension}"
        return f"{self.numpy}({operands[0]}{self.arguments()}{axis})"

    def arguments(self) -> str:
        """The other arguments of the call."""
        return ""


class Sorting(Rearrangement):
    """Smaller elements come first, NaN last; with `is_stable`, equal ones stay in their order."""

    is_stable: bool

    def arguments(self) -> str:
        return ', kind="stable"' if self.is_stable else ""


@dataclass(frozen=True)
class Sort(Sorting):
    """The elements in order along `dimension`."""

    dimension: int
    is_stable: bool = True

    name = "sort"
    numpy = "np.sort"

    def printed_parameters(self) -> Mapping[str, Any]:
        return {**self.parameters(), "num_keys": 1}

    @classmethod
    def printed_types(cls) -> dict[str, Any]:
        return {**super().printed_types(), "num_keys": int}

    @classmethod
    def from_printed(
        cls, printed: Mapping[str, Any], out_avals: Sequence[ShapedArray]
    ) -> Primitive:
        return Sort(printed["dimension"], printed["is_stable"])

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        (x,), (t,) = primals, tangents
        z = bind(self, x)
        if isinstance(t, Zero):
            return z, Zero(aval(z))
        with phase("tangent"):
            order = argsort(x, self.dimension, self.is_stable)
            return z, take_along(t, order, self.dimension)


class IndexOfOrder(Primitive):
    """Its result is a permutation, which changes with no small change of the operand."""

    def dtype(self, dtype: DType) -> DType:
        return INT64

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        z = bind(self, *primals)
        return z, Zero(aval(z))


@dataclass(frozen=True)
class ArgSort(IndexOfOrder, Sorting):
    """The indices of the elements in order along `dimension`."""

    dimension: int
    is_stable: bool = True

    name = "argsort"
    numpy = "np.argsort"


# -- partly sorted --------------------------------------------------------------------------------


class Partitioning(Rearrangement):
    """The elements with the indices `kth` are where sorting would put them; before each stand
    smaller ones, and behind it greater ones, in no particular order."""

    kth: tuple[int, ...]

    def arguments(self) -> str:
        return f", {self.kth[0] if len(self.kth) == 1 else self.kth}"


@dataclass(frozen=True)
class Partition(Partitioning):
    """The elements partly in order along `dimension`: those of the indices `kth` have their place,
    smaller ones stand before them, greater ones behind."""

    kth: tuple[int, ...]
    dimension: int

    name = "partition"
    numpy = "np.partition"

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        (x,), (t,) = primals, tangents
        z = bind(self, x)
        if isinstance(t, Zero):
            return z, Zero(aval(z))
        with phase("tangent"):
            # In which order the elements stand is NumPy's affair: the k-th smallest of the result
            # is the k-th smallest of the operand.
            sorted_t = take_along(t, argsort(x, self.dimension), self.dimension)
            ranks = argsort(argsort(z, self.dimension), self.dimension)
            return z, take_along(sorted_t, ranks, self.dimension)

    def composition(self, *operands: Value) -> Value:
        return bind(Sort(self.dimension), *operands)


@dataclass(frozen=True)
class ArgPartition(IndexOfOrder, Partitioning):
    """The indices of the elements partly in order along `dimension`, as `partition` has them."""

    kth: tuple[int, ...]
    dimension: int

    name = "argpartition"
    numpy = "np.argpartition"

    def composition(self, *operands: Value) -> Value:
        return argsort(operands[0], self.dimension)


# -- places in what is sorted ---------------------------------------------------------------------


@dataclass(frozen=True)
class SearchSorted(Primitive):
    """The indices at which elements v would be put into a vector a that is in order, before
    (`left`) or behind (`right`) those that are equal."""

    side: str = "left"

    name = "searchsorted"

    def abstract(self, a: ShapedArray, v: ShapedArray) -> ShapedArray:
        if a.ndim != 1 or a.dtype != v.dtype or a.dtype.kind == "c":
            raise TypeError(f"searchsorted of values of type {v} in one of type {a}")
        return ShapedArray(v.shape, INT64)

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        z = bind(self, *primals)
        return z, Zero(aval(z))

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, BatchAxis]:
        a, v = args
        if dims[0] is None:
            return bind(self, a, v), dims[1]
        a, v = (move_batch_axis(arg, axis, 0, size) for arg, axis in zip(args, dims, strict=True))
        return self._counted(a, v, 1), 0

    def composition(self, *operands: Value) -> Value:
        a, v = operands
        return self._counted(a, v, 0)

    def _counted(self, a: Value, v: Value, batch: int) -> Value:
        """How many elements of a precede each of v, both with `batch` leading axes in common."""
        shape = (*aval(v).shape, aval(a).shape[-1])
        last = len(shape) - 1
        a = broadcast_in_dim(a, shape, (*range(batch), last))
        v = broadcast_in_dim(v, shape, range(last))
        precedes = lt(a, v) if self.side == "left" else le(a, v)
        return reduce_sum(convert_element_type(precedes, INT64), (last,))

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        side = "" if self.side == "left" else ', side="right"'
        return f"np.searchsorted({operands[0]}, {operands[1]}{side})"


# -- functions ------------------------------------------------------------------------------------


def sort(operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Value:
    """The elements of `operand` in order along `dimension`, NaN last.

    Of a sequence of arrays of one shape, all in the order of the first `num_keys` of them, of
    which the first matters most.
    """
    if not isinstance(operand, (list, tuple)):
        return bind(Sort(dimension % aval(operand).ndim, is_stable), operand)
    operands = cast("Sequence[Value]", operand)
    axis = dimension % aval(operands[0]).ndim
    order = lexsort(operands[:num_keys], axis)
    return [take_along(x, order, axis) for x in operands]


def argsort(operand: Value, dimension: int = -1, is_stable: bool = True) -> Value:
    """The indices of the elements of `operand` in order along `dimension`, NaN last."""
    return bind(ArgSort(dimension % aval(operand).ndim, is_stable), operand)


def partition(operand: Value, kth: tuple[int, ...], dimension: int = -1) -> Value:
    """The elements of `operand` partly in order along `dimension`, as `np.partition` has them."""
    return bind(Partition(kth, dimension % aval(operand).ndim), operand)


def argpartition(operand: Value, kth: tuple[int, ...], dimension: int = -1) -> Value:
    """The indices of the elements of `operand` as `partition` has them."""
    return bind(ArgPartition(kth, dimension % aval(operand).ndim), operand)


def searchsorted(a: Value, v: Value, side: str = "left") -> Value:
    """The indices at which elements `v` would be put into the vector `a`, which is in order."""
    return bind(SearchSorted(side), a, v)


def lexsort(keys: Sequence[Value], dimension: int) -> Value:
    """The indices that put the places along `dimension` in the order of the first key, those with
    equal ones in the order of the second, and so on."""
    *others, last = keys
    order = argsort(last, dimension)
    for key in reversed(others):
        order = take_along(order, argsort(take_along(key, order, dimension), dimension), dimension)
    return order


def take_along(x: Value, indices: Value, axis: int) -> Value:
    """For each place along the other axes, the elements of x at its own indices along `axis`."""
    return take_at(x, range(aval(x).ndim), along(indices, axis))


def along(indices: Value, axis: int) -> list[Value]:
    """An index for each axis, that along `axis` given for each place along the others."""
    shape = aval(indices).shape
    return [
        indices if other == axis else broadcasted_iota(INT64, shape, other)
        for other in range(len(shape))
    ]
