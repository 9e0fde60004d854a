"""NumPy's broadcasting, written out: operands of one shape, or of rank 0.

x:f64[3,4], b:f64[4]  ->  x, broadcast_in_dim[shape=(3, 4) broadcast_dimensions=(1,)] b
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2s.ir.dims import Shape, Size, require_same, same_shape, same_size
from s2s.numpy.arguments import about_counts, as_shape, shape_text
from s2s.numpy.promotion import array_operand, shape_of
from s2s.numpy.registry import counterpart, mistake
from s2s.primitive import Value
from s2s.primitives import functions as lax
from s2s.trace import Tracer, tracer_of


def common_shape(function: str, shapes: Sequence[Shape]) -> Shape:
    """The shape that arrays of these shapes broadcast to, in a function of the given name."""
    first = shapes[0]
    if all(same_shape(shape, first) for shape in shapes):
        return first
    ndim = max(map(len, shapes))
    result: list[Size] = []
    for axis in range(-ndim, 0):
        size: Size = 1
        for shape in shapes:
            if -axis > len(shape) or same_size(shape[axis], 1):
                continue
            if same_size(size, 1):
                size = shape[axis]
            elif not require_same(size, shape[axis]):
                listed = " and ".join(map(shape_text, shapes))
                raise mistake(
                    f"{function}: operands could not be broadcast together with shapes {listed}"
                    f"{about_counts(shapes)}"
                )
        result.append(size)
    return tuple(result)


def stretched(value: Value, shape: Shape) -> Value:
    """An operand repeated to `shape`, which it must broadcast to."""
    own = shape_of(value)
    if same_shape(own, shape):
        return value
    return lax.broadcast_in_dim(value, shape, tuple(range(len(shape) - len(own), len(shape))))


def stretched_together(function: str, *values: Value) -> list[Value]:
    """Operands of one common shape; those of rank 0 stay as they are, as primitives allow."""
    shapes = [shape for value in values if (shape := shape_of(value)) != ()]
    if not shapes:
        return list(values)
    shape = common_shape(function, shapes)
    return [stretched(value, shape) if shape_of(value) != () else value for value in values]


def another(value: Value, operand: Value) -> Value:
    """`value` as an array object of its own, where it is the very `operand` it was made from."""
    if value is operand and isinstance(value, Tracer):
        return tracer_of(value.builder, value.variable)
    return value


@counterpart(np.broadcast_to)
def broadcast_to(array: Any, shape: Any) -> Value:
    """The array repeated to `shape`."""
    value = array_operand(array, "np.broadcast_to")
    wanted = as_shape(shape)
    own = shape_of(value)
    fits = len(own) <= len(wanted) and all(
        same_size(size, 1) or require_same(size, wanted[axis])
        for axis, size in zip(range(-len(own), 0), own, strict=True)
    )
    if not fits:
        raise mistake(
            f"np.broadcast_to: an array of shape {shape_text(own)} "
            f"cannot be broadcast to shape {shape_text(wanted)}"
        )
    return another(stretched(value, wanted), value)


@counterpart(np.broadcast_arrays)
def broadcast_arrays(*args: Any) -> tuple[Value, ...]:
    """The arrays repeated to their common shape."""
    values = [array_operand(arg, "np.broadcast_arrays") for arg in args]
    if not values:
        return ()
    shape = common_shape("np.broadcast_arrays", [shape_of(value) for value in values])
    return tuple(another(stretched(value, shape), value) for value in values)


@counterpart(np.broadcast_shapes)
def broadcast_shapes(*args: Any) -> Shape:
    """The shape that arrays of the given shapes broadcast to."""
    return common_shape("np.broadcast_shapes", [as_shape(arg) for arg in args]) if args else ()
