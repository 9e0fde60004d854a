"""Changes of arrays in place: assignment to elements, `x += y`, and NumPy's functions that write.

A traced array is a cell, whose elements are replaced as a whole: by those of an array that is the
old one with some elements replaced.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from s2s.ir.dims import Shape, require_same, same_shape, same_size
from s2s.numpy import indexing, masks
from s2s.numpy.arguments import about_counts, shape_text
from s2s.numpy.broadcasting import stretched
from s2s.numpy.promotion import aval_of_operand, convert, operand, shape_of
from s2s.numpy.registry import mistake
from s2s.numpy.views import steps_between, written
from s2s.primitive import Value
from s2s.primitives import functions as lax
from s2s.trace import Builder, Tracer, builder_in_force, tracer_of

if TYPE_CHECKING:
    from s2s.ir.jaxpr import Var
    from s2s.numpy.array import TracedArray

# -- what was changed -----------------------------------------------------------------------------


class Changes:
    """The arrays that were changed while a body was traced, each with what it was before.

    They are state of the body: each is an input, `before`, and a result, its present elements.
    """

    def __init__(self) -> None:
        self.before: dict[int, tuple[TracedArray, Builder, Var]] = {}

    def undo(self) -> list[tuple[TracedArray, Value]]:
        """Give the arrays their elements from before; the list has those that they had now."""
        changed: list[tuple[TracedArray, Value]] = []
        for array, builder, var in self.before.values():
            changed.append((array, tracer_of(array.builder, array.variable)))
            array.builder, array.variable = builder, var
        return changed


_recording: list[Changes] = []

observers: list[Callable[[Any], None]] = []
"""Called with each traced array before it is changed."""


@contextlib.contextmanager
def recorded_changes() -> Generator[Changes]:
    """Allow a body that is traced by a builder of its own to change arrays from outside of it.

    Whoever traces the body makes them state of it:

        with recorded_changes() as changes:
            ...                             # trace the body
            after = changes.undo()          # before the builder of the body is left
        ...                                 # bind the loop or branch with these as results
        array.assign(result)                # for each array in `after`
    """
    changes = Changes()
    _recording.append(changes)
    try:
        yield changes
    finally:
        _recording.pop()


def note_change(array: TracedArray) -> None:
    """Before an array is changed: it must belong to the trace in force, or become state of it."""
    for observe in observers:
        observe(array)
    builder = builder_in_force()
    if builder is None:
        raise mistake("a traced array is changed after its trace has ended")
    if array.builder is builder:
        return
    if not _recording:
        raise mistake(
            "an array from outside is changed within a function that is transformed by itself; "
            "return its new value from the function instead"
        )
    _recording[-1].before.setdefault(id(array), (array, array.builder, array.variable))
    atom = builder.atom(array)
    array.builder, array.variable = builder, cast("Var", atom)


def _refuse(array: Any) -> None:
    raise mistake("a traced value is put into an array that is not traced")


require_traced: list[Callable[[Any], None]] = [_refuse]
"""What is done before a traced value is put into an array that is not traced; the front end
replaces the one entry."""


# -- assignment to elements -----------------------------------------------------------------------


def set_item(array: TracedArray, index: Any, value: Any) -> None:
    """`array[index] = value`."""
    if not array.is_changeable:
        raise mistake("a number cannot be assigned to in place; give the variable a new value")
    if _choose(array, index, value):
        return
    part = indexing.getitem(array, index)
    steps = steps_between(array, part)
    assert steps is not None
    base, steps = array.target(steps)
    if isinstance(value, Tracer) and cast("TracedArray", value).is_part(base, steps):
        return  # x[i] += y has changed x already
    base.assign(written(base, steps, fitted(value, shape_of(part), array)))


def _choose(array: TracedArray, index: Any, value: Any) -> bool:
    """`x[mask] = v` as a choice between old elements and new ones, if the new ones do not depend on
    how many the mask selects; whether this is so."""
    found = masks.beside_slices(index)
    if found is None:
        return False
    basic, mask = found
    whole = all(item is Ellipsis for item in basic)
    part = array if whole else indexing.getitem(array, basic)
    shape, covered = shape_of(part), shape_of(mask)
    axis = masks.first_axis(index, covered, shape)
    new = masks.beside(operand(value, "an assignment"), covered, len(shape) - axis - len(covered))
    if new is None:
        return False
    masks.require_fitting(covered, shape, axis)
    wide = lax.broadcast_in_dim(mask, shape, tuple(range(axis, axis + len(covered))))
    chosen = lax.select_n(wide, part, fitted(new, shape, array))
    if whole:
        array.assign(chosen)
    else:
        set_item(array, basic, chosen)
    return True


def fitted(value: Any, shape: Shape, array: TracedArray) -> Value:
    """What is assigned to elements of an array, in their shape and with the array's type."""
    given = operand(value, "an assignment")
    own = shape_of(given)
    extra = len(own) - len(shape)
    if extra > 0 and all(same_size(size, 1) for size in own[:extra]):
        given, own = lax.reshape(given, own[extra:]), own[extra:]
    pairs = zip(reversed(own), reversed(shape), strict=False)
    if len(own) > len(shape) or not all(same_size(n, 1) or require_same(n, m) for n, m in pairs):
        raise mistake(
            f"an array of shape {shape_text(shape_of(given))} cannot be assigned to elements of "
            f"shape {shape_text(shape)}{about_counts([shape_of(given), shape])}"
        )
    dtype = array.variable.aval.dtype
    if aval_of_operand(given).dtype.kind == "c" and dtype.kind != "c":
        raise mistake("a complex value cannot be assigned to elements of a real array")
    return stretched(convert(given, dtype), shape)


# -- x += y ---------------------------------------------------------------------------------------


def assign_result(array: TracedArray, what: str, result: Value) -> None:
    """Make a result the elements of an array: that of `x + y`, say, where `what` is `x += y`."""
    old, new = array.variable.aval, aval_of_operand(result)
    if not same_shape(new.shape, old.shape):
        raise mistake(
            f"{what} would give an array of shape {shape_text(new.shape)}, which does not "
            f"fit into one of shape {shape_text(old.shape)}"
        )
    if not np.can_cast(new.dtype, old.dtype, "same_kind"):
        raise mistake(
            f"{what} would put elements of type {new.dtype.name} into an array of type "
            f"{old.dtype.name}; make a new array of the result"
        )
    array.assign(convert(result, old.dtype))
