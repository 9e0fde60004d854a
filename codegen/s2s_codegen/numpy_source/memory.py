"""Which results are views of an operand's array, and which are arrays of their own."""

from __future__ import annotations

from s2s.ir.dims import same_size
from s2s.ir.jaxpr import JaxprEqn
from s2s.primitives.core import BroadcastInDim, Reshape, Transpose
from s2s.primitives.creation import DimAsValue
from s2s.primitives.families import Elementwise


def is_transparent(eqn: JaxprEqn) -> bool:
    """Whether it is nothing to compute: a size, or what NumPy's broadcasting does by itself."""
    return isinstance(eqn.primitive, (BroadcastInDim, DimAsValue))


def is_basic_view(eqn: JaxprEqn) -> bool:
    """Whether it costs next to nothing to write and to take the view again at each use."""
    primitive = eqn.primitive
    if isinstance(primitive, Reshape):
        operand = [size for size in eqn.invars[0].aval.shape if not same_size(size, 1)]
        result = [size for size in primitive.new_sizes if not same_size(size, 1)]
        return len(operand) == len(result) and all(map(same_size, operand, result))
    return isinstance(primitive, Transpose)


def may_alias(eqn: JaxprEqn) -> bool:
    """Whether the result may be an operand's array, or a view of it."""
    return not is_owned(eqn)


def is_owned(eqn: JaxprEqn) -> bool:
    """Whether the result is surely an array that nothing else refers to."""
    return isinstance(eqn.primitive, Elementwise)
