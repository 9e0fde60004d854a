"""Which results are views of an operand's array, and which are arrays of their own."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from s2s.ir.dims import same_size
from s2s.ir.jaxpr import Atom, JaxprEqn, Literal, Var
from s2s.primitive import Primitive
from s2s.primitives.contractions import DotGeneral
from s2s.primitives.core import (
    AxesReduction,
    BroadcastInDim,
    ConvertElementType,
    Reshape,
    Transpose,
)
from s2s.primitives.creation import DimAsValue, Iota
from s2s.primitives.cumulative import Cumulative
from s2s.primitives.dynamic import DynamicUpdateSlice
from s2s.primitives.families import Elementwise
from s2s.primitives.identity import Copy, StopGradient
from s2s.primitives.indexing import Gather, Scatter, ScatterAdd
from s2s.primitives.joining import Concatenate, Stack
from s2s.primitives.layout import Pad, Rev, Slice, Squeeze
from s2s.primitives.matrices import LinearAlgebra
from s2s.primitives.order_statistics import OrderStatistic
from s2s.primitives.sorting import AlongAxis, SearchSorted
from s2s.primitives.triangles import Triangle
from s2s.primitives.updates import UpdateSlice, UpdateSliceAdd

_OWNED = (
    AxesReduction,
    Concatenate,
    ConvertElementType,
    Cumulative,
    DotGeneral,
    DynamicUpdateSlice,
    Elementwise,
    AlongAxis,
    Iota,
    LinearAlgebra,
    OrderStatistic,
    Pad,
    Scatter,
    SearchSorted,
    Stack,
    Triangle,
    UpdateSlice,
)


def is_transparent(eqn: JaxprEqn) -> bool:
    """Whether it is nothing to compute: a size, or what NumPy's broadcasting does by itself."""
    primitive = eqn.primitive
    if isinstance(primitive, ConvertElementType):
        # From an integer, to which NumPy does the same; or a truth value as the number of a branch.
        operand, dtype = eqn.invars[0].aval, primitive.new_dtype
        is_branch = operand.dtype.kind == "b" and dtype.name == "int32"
        is_float = operand.dtype.kind == "i" and dtype.name == "float64"
        return (operand.weak_type or is_branch or is_float) and not operand.shape
    return isinstance(primitive, (BroadcastInDim, DimAsValue, StopGradient))


def is_new_each_time(eqn: JaxprEqn) -> bool:
    """Whether it is a new array of one number wherever it is read: the user gave it no line."""
    if not isinstance(eqn.primitive, BroadcastInDim) or eqn.invars[0].aval.shape:
        return False
    return eqn.outvars[0].name is None or eqn.phase != "primal"


def is_basic_view(eqn: JaxprEqn) -> bool:
    """Whether it costs next to nothing to write and to take the view again at each use."""
    primitive = eqn.primitive
    if isinstance(primitive, Reshape):
        operand = [size for size in eqn.invars[0].aval.shape if not same_size(size, 1)]
        result = [size for size in primitive.new_sizes if not same_size(size, 1)]
        return len(operand) == len(result) and all(map(same_size, operand, result))
    return isinstance(primitive, (Rev, Slice, Squeeze, Transpose))


def may_alias(eqn: JaxprEqn) -> bool:
    """Whether the result may be an operand's array, or a view of it."""
    return not is_owned(eqn)


def is_owned(eqn: JaxprEqn) -> bool:
    """Whether the result is surely an array that nothing else refers to."""
    primitive = eqn.primitive
    if primitive.is_call or primitive.copied_function is not None:
        return True  # A function returns arrays of its own.
    if isinstance(primitive, BroadcastInDim):
        return not eqn.invars[0].aval.shape
    if isinstance(primitive, Copy):
        return bool(eqn.invars[0].aval.shape)  # what has no axes is written without its copy
    if isinstance(primitive, Gather):
        # With arrays of indices NumPy copies; with numbers alone it takes a view.
        return any(index.aval.shape for index in eqn.invars[1:])
    return _makes_new(type(primitive))


@functools.cache
def _makes_new(kind: type[Primitive]) -> bool:
    """Whether the result of a primitive of this kind is always an array of its own."""
    return issubclass(kind, _OWNED) and not issubclass(kind, StopGradient)


def writes_into(primitive: Primitive) -> bool:
    """Whether it is said by assignments to a part of an array, which only a statement can."""
    return isinstance(primitive, (DynamicUpdateSlice, Pad, Scatter, UpdateSlice))


def updates_part(inner: JaxprEqn, outer: JaxprEqn, definitions: Mapping[Var, JaxprEqn]) -> bool:
    """Whether an array is written into where the other one takes a view of it, and puts it back:

    `row = x[i]; row[1:] = v; x[i] = row`, which is `x[i][1:] = v`.
    """
    base = inner.invars[0]
    taken = None if isinstance(base, Literal) else definitions.get(base)
    if taken is None or isinstance(inner.primitive, Pad):
        return False
    primitive, (x, *rest) = outer.primitive, outer.invars
    if isinstance(primitive, UpdateSlice):
        read, update, indices = primitive.part, rest[0], []
        if isinstance(primitive, UpdateSliceAdd):
            return False
    elif isinstance(primitive, Scatter) and not isinstance(primitive, ScatterAdd):
        *indices, update = rest
        if any(index.aval.shape for index in indices):
            return False
        read = primitive.taking(x.aval, update.aval)
    else:
        return False
    same = len(taken.invars) == len(indices) + 1 and all(map(_is_same, taken.invars, (x, *indices)))
    return update is inner.outvars[0] and taken.primitive == read and same


def _is_same(a: Atom, b: Atom) -> bool:
    if isinstance(a, Literal) and isinstance(b, Literal):
        return a.aval == b.aval and bool(a.value == b.value)
    return a is b


def adds_into_zeros(eqn: JaxprEqn, is_zero_array: bool) -> bool:
    """Whether the result is zero but for some elements, so that it can be added to an array there.

    `is_zero_array` says whether the first operand is an array of zeros.
    """
    if isinstance(eqn.primitive, Pad):
        return is_zero(eqn.invars[1])
    return isinstance(eqn.primitive, ScatterAdd) and is_zero_array


def is_zero(atom: object) -> bool:
    """Whether an operand is the number zero."""
    return isinstance(atom, Literal) and bool(atom.value == 0)
