"""NumPy's functions that write into an array: np.copyto, np.add.at, np.fill_diagonal and others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from s2s.ir.dims import same_shape
from s2s.numpy import indexing
from s2s.numpy.arguments import as_axis, shape_text
from s2s.numpy.arithmetic import negative
from s2s.numpy.broadcasting import common_shape, stretched
from s2s.numpy.creation import counted
from s2s.numpy.mutation import assign_result, fitted, require_traced, set_item
from s2s.numpy.promotion import array_operand, aval_of_operand, convert, operand, shape_of
from s2s.numpy.registry import COUNTERPARTS, counterpart, mistake, refuse
from s2s.numpy.shaping import ravel
from s2s.numpy.ufuncs import TracedUfunc
from s2s.numpy.views import steps_between, written
from s2s.primitive import Value
from s2s.primitives import functions as lax
from s2s.trace import Tracer, named

if TYPE_CHECKING:
    from s2s.numpy.array import TracedArray


def target(array: Any, function: str) -> TracedArray:
    """An array that is written into, which must be traced."""
    if isinstance(array, np.ndarray):
        require_traced[0](cast("np.ndarray[Any, Any]", array))
    if not isinstance(array, Tracer) or not cast("TracedArray", array).is_changeable:
        raise mistake(f"{function} writes into an array, which its argument is not")
    return cast("TracedArray", array)


def write_out(out: Any, result: Value, where: Any, function: str) -> Value:
    """Put the result of a function into its argument `out`, which is then the result."""
    if isinstance(out, tuple):
        (out,) = cast("tuple[Any, ...]", out)
    array = target(out, function)
    shape = array.variable.aval.shape
    if where is not True:
        result = lax.select_n(_stretched_mask(where, array), array, fitted(result, shape, array))
    elif not same_shape(shape_of(result), shape):
        raise mistake(
            f"{function}: the result has shape {shape_text(shape_of(result))}, "
            f"and `out` {shape_text(shape)}"
        )
    assign_result(array, f"{function} with `out`", result)
    return array


def _stretched_mask(where: Any, array: TracedArray) -> Value:
    return stretched(convert(operand(where), np.dtype(bool)), array.variable.aval.shape)


@counterpart(np.copyto)
def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """Put `src`, repeated to the shape of `dst`, into it, where a mask is true."""
    array = target(dst, "np.copyto")
    if casting not in ("same_kind", "unsafe"):
        raise mistake(f"np.copyto with casting={casting!r} is not supported")
    given = operand(src, "np.copyto")
    old, new = array.variable.aval, aval_of_operand(given)
    is_weak = new.weak_type and new.dtype.kind <= old.dtype.kind
    if casting == "same_kind" and not is_weak and not np.can_cast(new.dtype, old.dtype, casting):
        raise mistake(f"np.copyto cannot put {new.dtype.name} into {old.dtype.name}")
    value = fitted(given, old.shape, array)
    array.assign(
        value if where is True else lax.select_n(_stretched_mask(where, array), array, value)
    )


@counterpart(np.putmask)
def putmask(a: Any, mask: Any, values: Any) -> None:
    """`a[mask] = values`, for one value, or values of the shape of `a`."""
    array = target(a, "np.putmask")
    shape = array.variable.aval.shape
    given = operand(values, "np.putmask")
    if shape_of(given) and not same_shape(shape_of(given), shape):
        raise mistake("np.putmask with values of another shape is not supported; use np.where")
    if not same_shape(shape_of(operand(mask)), shape):
        raise mistake("np.putmask: the mask has another shape than the array")
    array.assign(lax.select_n(_stretched_mask(mask, array), array, fitted(given, shape, array)))


@counterpart(np.put)
def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """Put values at places of the array in row-major order."""
    if mode != "raise":
        raise mistake(f"np.put with mode={mode!r} is not supported")
    array = target(a, "np.put")
    places = array_operand(ind, "np.put")
    given = array_operand(v, "np.put")
    flat = ravel(array)
    part = indexing.getitem(flat, places if shape_of(places) else lax.reshape(places, (1,)))
    if shape_of(given) and not same_shape(shape_of(given), shape_of(places)):
        raise mistake("np.put with another number of values than of places is not supported")
    steps = steps_between(cast(Tracer, array), cast(Tracer, part))
    assert steps is not None
    owner, whole = array.target(steps)
    if shape_of(given):
        given = lax.reshape(given, shape_of(part))
    owner.assign(written(owner, whole, fitted(given, shape_of(part), array)))


@counterpart(np.put_along_axis)
def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """For each place along the other axes, put values at its own indices along one axis."""
    array = target(arr, "np.put_along_axis")
    if axis is None:
        raise mistake("np.put_along_axis without an axis is not supported; flatten first")
    chosen = array_operand(indices, "np.put_along_axis")
    rank = len(array.variable.aval.shape)
    place = as_axis(axis, rank, "np.put_along_axis")
    shape = shape_of(chosen)
    own = array.variable.aval.shape
    others = [*own[:place], *own[place + 1 :]]
    if len(shape) != rank or not same_shape(others, [*shape[:place], *shape[place + 1 :]]):
        raise mistake("np.put_along_axis: indices that must be repeated are not supported")
    index = tuple(chosen if a == place else counted(shape, a) for a in range(rank))
    set_item(array, index, values)


@counterpart(np.fill_diagonal)
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Put one value, or one for each place, on the diagonal of a matrix."""
    array = target(a, "np.fill_diagonal")
    shape = array.variable.aval.shape
    if len(shape) != 2 or wrap:
        raise mistake("np.fill_diagonal is supported for matrices, without `wrap`")
    count = _shorter(shape[0], shape[1])
    given = operand(val, "np.fill_diagonal")
    if shape_of(given) and not same_shape(shape_of(given), (count,)):
        raise mistake("np.fill_diagonal with another number of values than places is not supported")
    places = counted((count,), 0)
    set_item(array, (places, places), given)


def _shorter(rows: Any, columns: Any) -> Any:
    return rows if rows <= columns else columns


@counterpart(np.place)
def place(arr: Any, mask: Any, vals: Any) -> None:
    """Put one value where a mask is true."""
    given = operand(vals, "np.place")
    if any(size != 1 for size in shape_of(given)):
        raise mistake("np.place with several values is not supported; use np.where")
    putmask(arr, mask, lax.reshape(given, ()) if shape_of(given) else given)


# -- ufunc.at -------------------------------------------------------------------------------------


def _no_loops(step: Any, start: Value, rows: Any) -> Value:
    raise mistake("a ufunc's .at with indices that may be the same needs a loop")


loop_over: list[Callable[[Any, Value, Any], Value]] = [_no_loops]
"""Gives what a step makes of a start value and of each row of some arrays, one after the other;
control flow, which lies above, replaces the one entry."""


def _at(ufunc: TracedUfunc, sign: Callable[[Any], Value] | None, sums: bool) -> Callable[..., None]:
    def at(a: Any, indices: Any, b: Any, /) -> None:
        array = target(a, f"{ufunc.__name__}.at")
        part = indexing.getitem(array, indices)
        _require_as_many_axes(ufunc, array, part, b)
        steps = steps_between(cast(Tracer, array), cast(Tracer, part))
        assert steps is not None
        owner, steps = array.target(steps)
        value = fitted(b, shape_of(part), array)
        if not any(step.repeats for step in steps):
            owner.assign(written(owner, steps, convert(ufunc(part, value), owner.dtype)))
        elif not sums:
            array.assign(_one_by_one(ufunc, array, indices, value))
        elif sum(step.selects for step in steps) > 1:
            raise _not_by_arrays_alone(ufunc)
        else:
            owner.assign(written(owner, steps, value if sign is None else sign(value), add=True))

    return at


def _require_as_many_axes(ufunc: TracedUfunc, array: TracedArray, part: Value, b: Any) -> None:
    """Refuse what NumPy gets wrong: see `placing` in the code generator."""
    sizes = shape_of(b) if isinstance(b, Tracer) else np.shape(b)
    # The size is asked for last: of what a mask selects, it is not known.
    if array.ndim == 1 and len(shape_of(part)) > 1 and len(sizes) == 1 and sizes != (1,):
        raise mistake(
            f"{ufunc.__name__}.at: for an index of several axes into a vector, NumPy reads past "
            "the end of a vector of values, and the result is arbitrary. Give the values as many "
            "axes as the index: values[None, :]."
        )


def _one_by_one(ufunc: TracedUfunc, array: TracedArray, indices: Any, value: Value) -> Value:
    """The array after each value was put to its place by the function, in their order."""
    items = cast("tuple[Any, ...]", indices) if isinstance(indices, tuple) else (indices,)
    if any(item is None or isinstance(item, (slice, type(Ellipsis), bool)) for item in items):
        raise _not_by_arrays_alone(ufunc)
    places = [array_operand(item, f"{ufunc.__name__}.at") for item in items]
    shape = common_shape("an index", [shape_of(place) for place in places])
    places = [ravel(stretched(place, shape)) for place in places]
    dtype, rest = array.variable.aval.dtype, shape_of(value)[len(shape) :]
    rows = lax.reshape(value, (*shape_of(places[0]), *rest))

    def step(x: Value, row: Any) -> Value:
        *index, operand = row
        for place, name in zip(index, "ijk", strict=False):
            named(place, name)
        part = indexing.getitem(x, tuple(index))
        steps = steps_between(cast(Tracer, x), cast(Tracer, part))
        assert steps is not None
        return written(cast(Tracer, x), steps, convert(ufunc(part, operand), dtype))

    return loop_over[0](step, cast(Value, array), (*places, rows))


def _not_by_arrays_alone(ufunc: TracedUfunc) -> Exception:
    return mistake(
        f"{ufunc.__name__}.at with slices and arrays of indices together is not supported; index "
        "by arrays alone"
    )


COUNTERPARTS[np.add.at] = _at(COUNTERPARTS[np.add], None, True)  # type: ignore[arg-type]
COUNTERPARTS[np.subtract.at] = _at(COUNTERPARTS[np.subtract], negative, True)  # type: ignore[arg-type]
_IN_TURN = (np.multiply, np.divide, np.power, np.maximum, np.minimum, np.fmax, np.fmin)
for _ufunc in _IN_TURN:
    COUNTERPARTS[_ufunc.at] = _at(COUNTERPARTS[_ufunc], None, False)  # type: ignore[arg-type]

for _function in list(COUNTERPARTS.values()):
    if isinstance(_function, TracedUfunc) and _function.numpy.nin == 2:
        if _function.numpy not in (np.add, np.subtract, *_IN_TURN):
            names = ", ".join(f"np.{u.__name__}" for u in (np.add, np.subtract, *_IN_TURN))
            refuse(f"`at` is supported of {names}", _function.numpy.at)

WRITING = frozenset(
    {
        *(np.copyto, np.fill_diagonal, np.place, np.put, np.put_along_axis, np.putmask),
        *(f.numpy.at for f in COUNTERPARTS.values() if isinstance(f, TracedUfunc)),
    }
)
"""The functions that write into their first argument."""
