"""Static arguments: shapes, sizes, axes and numbers that must be known while tracing."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np

from s2s.ir.dims import Dim, Shape, Size, bound_names
from s2s.numpy.registry import mistake
from s2s.trace import Tracer, known_value


def shape_text(shape: Shape) -> str:
    """A shape as Python writes it: `(3,)`, `(n, 4)`, with `?` for what only values tell."""
    sizes = ["?" if bound_names(size) else str(size) for size in shape]
    return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"


def about_counts(shapes: Iterable[Shape]) -> str:
    """What is to be said of shapes that do not fit if sizes among them depend on values."""
    if not any(bound_names(size) for shape in shapes for size in shape):
        return ""
    return (
        ". How many elements a mask selects, and how many steps a loop takes, depends on values: "
        "what two masks select goes together only if they are computed alike; give the mask a "
        "name, m = x > 0, and use it for both"
    )


def static(value: Any, what: str) -> Any:
    """An argument that must be known while tracing: itself, or the value of constants.

    `what` says what it is, for the error if it depends on the values of the traced function's
    arguments: `the shift of np.roll`.
    """
    if not isinstance(value, Tracer):
        return value
    known = known_value(value)
    if known is None:
        raise mistake(
            f"{what} depends on the values of the arguments; the types of all results must follow "
            "from those of the arguments. Make it a static argument, or compute it from shapes"
        )
    return known


def as_size(size: Any, what: str = "a size") -> Size:
    """A size as the user gave it: an integer or a named size."""
    if isinstance(size, Dim):
        return size
    try:
        return operator.index(static(size, what))
    except TypeError:
        raise mistake(f"{what} must be an integer, not {size!r}") from None


def as_number(value: Any, what: str) -> int:
    """An integer that must be a number rather than a named size, such as an axis."""
    try:
        return operator.index(static(value, what))
    except TypeError:
        raise mistake(f"{what} must be an integer, not {value!r}") from None


def as_shape(shape: Any, what: str = "a size") -> Shape:
    """A shape as the user gave it: an integer, or a sequence of integers and named sizes."""
    shape = static(shape, what)
    if isinstance(shape, (tuple, list)) or (isinstance(shape, np.ndarray) and shape.ndim):
        sizes: Sequence[Any] = shape  # type: ignore[assignment]
        return tuple(as_size(size, what) for size in sizes)
    return (as_size(shape, what),)


def as_sequence(value: Any) -> Sequence[Any]:
    """A tuple or list as it is; anything else as the only entry of one."""
    return cast("Sequence[Any]", value) if isinstance(value, (tuple, list)) else (value,)


def named_sizes(value: Any) -> Sequence[Size] | None:
    """A sequence of sizes with a named one among them, whose sum and product are sizes too."""
    if not isinstance(value, (tuple, list)):
        return None
    sizes = cast("Sequence[Any]", value)
    named = any(isinstance(size, Dim) for size in sizes)
    return sizes if named and all(isinstance(size, (Dim, int)) for size in sizes) else None


def as_axis(axis: Any, ndim: int, function: str) -> int:
    """An axis as the user gave it, counted from the front."""
    number = as_number(axis, f"the axis of {function}")
    if not -ndim <= number < ndim:
        raise mistake(
            f"{function}: axis {number} is out of bounds for an array of dimension {ndim}"
        )
    return number % ndim


def as_axes(axis: Any, ndim: int, function: str) -> tuple[int, ...]:
    """One axis, a sequence of axes or None for all, counted from the front, in the user's order."""
    if axis is None:
        return tuple(range(ndim))
    axes = as_sequence(axis)
    found = tuple(as_axis(one, ndim, function) for one in axes)
    if len(set(found)) != len(found):
        raise mistake(f"{function}: an axis is given twice in {tuple(axes)}")
    return found
