"""NumPy's functions that call a Python function for parts of an array, or run over elements.

They are loops, in the order of NumPy's own, and become what a loop of the user's would.

    np.vectorize(f)(x, y)            np.array([f(x_i, y_i) for x_i, y_i in zip(x, y)])
    np.apply_along_axis(f, 1, a)     np.array([f(row) for row in a])
    np.piecewise(x, [mask], [f])     y[mask] = f(x[mask])
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from s2s.frontend.control_flow.comprehensions import comprehension
from s2s.frontend.control_flow.iteration import Counter, Items, Rows, zip_items
from s2s.frontend.dispatch import always, call, counterparts
from s2s.ir.dims import Dim, Size, product
from s2s.ir.dtypes import BOOL, FLOAT64, INT64
from s2s.numpy.registry import COUNTERPARTS, mistake
from s2s.primitives.creation import dim_as_value
from s2s.trace import Tracer, builder_in_force

Function = Callable[..., Any]


def _vectorized(target: np.vectorize, *args: Any, **kwargs: Any) -> Any:
    """A function of numbers called for the elements of arrays: `np.vectorize(f)(x, y)`."""
    if builder_in_force() is None:
        return target(*args, **kwargs)
    settings: Any = target
    if settings.signature is not None or settings.excluded or kwargs or not args:
        raise mistake(
            "np.vectorize with a signature, excluded arguments or arguments by name is not "
            "supported. Write the loop: np.array([f(v) for v in x])."
        )
    is_array = [call(np.ndim, arg) > 0 for arg in args]
    arrays = [arg for arg, has_axes in zip(args, is_array, strict=True) if has_axes]
    if not settings.otypes:
        _require_type_of_results(arrays)
    if len(arrays) > 1:
        arrays = call(np.broadcast_arrays, *arrays)

    def of_elements(elements: Sequence[Any]) -> Any:
        rest = iter(elements)
        values = [
            next(rest) if has_axes else arg for arg, has_axes in zip(args, is_array, strict=True)
        ]
        result = call(settings.pyfunc, *map(_python_number, values))
        if isinstance(result, tuple):
            raise mistake(
                "np.vectorize of a function of several results is not supported. Give it one "
                "result, or write the loop: np.array([f(v) for v in x])."
            )
        return result

    dtype = settings.otypes[0] if settings.otypes else None
    if not arrays:
        return call(np.array, of_elements(()), dtype=dtype)
    flat = [call(np.ravel, array) for array in arrays]
    items = zip_items(*flat)
    values = comprehension(zip(*flat, strict=True) if items is None else items, of_elements)
    return call(np.reshape, call(np.array, values, dtype=dtype), call(np.shape, arrays[0]))


always[np.vectorize.__call__] = _vectorized


def _require_type_of_results(arrays: Sequence[Any]) -> None:
    """Raise UserError unless results have the type that they have of numbers of Python's: NumPy
    finds it from the first elements as they are in the arrays."""
    for array in arrays:
        dtype = array.aval.dtype if isinstance(array, Tracer) else np.asarray(array).dtype
        if dtype not in (FLOAT64, INT64, BOOL):
            raise mistake(
                f"np.vectorize of an array of {dtype.name}: say what the results are, "
                "np.vectorize(f, otypes=[float])."
            )


def _python_number(element: Any) -> Any:
    """An element as np.vectorize gives it to the function, which is a number of Python's."""
    if not isinstance(element, Tracer):
        return np.asarray(element).item()
    return call({"b": bool, "i": int, "u": int, "f": float}[element.aval.dtype.kind], element)


def _along_axis(func1d: Function, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.apply_along_axis`: a function called for each of the vectors along an axis."""
    moved = call(np.moveaxis, arr, axis, -1)
    outer: Sequence[Size] = call(np.shape, moved)[:-1]
    if not outer:
        return call(np.asarray, call(func1d, moved, *args, **kwargs))
    rows = moved if len(outer) == 1 else call(np.reshape, moved, (product(outer), -1))
    results = call(np.array, comprehension(rows, lambda row: call(func1d, row, *args, **kwargs)))
    own = call(np.shape, results)[1:]
    whole = results if len(outer) == 1 else call(np.reshape, results, (*outer, *own))
    first = axis + len(outer) + 1 if axis < 0 else axis
    sources = range(len(outer), len(outer) + len(own))
    return call(np.moveaxis, whole, [*sources], [*range(first, first + len(own))])


always[np.apply_along_axis] = _along_axis


def _piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Any:
    """`np.piecewise`: what functions give of the elements for which conditions hold."""
    is_one = call(np.ndim, condlist) == 0 or (
        call(np.ndim, condlist[0]) == 0 and call(np.ndim, x) > 0
    )
    given: Sequence[Any] = [condlist] if is_one else condlist
    masks = [call(np.atleast_1d, condition) for condition in given]
    if len(funclist) == len(masks) + 1:
        masks.append(~functools.reduce(lambda a, b: a | b, masks))
    elif len(funclist) != len(masks):
        raise mistake("np.piecewise needs a function for each condition, and may have one more")
    source = call(np.atleast_1d, x)
    result = call(np.zeros_like, source)
    for mask, function in zip(masks, funclist, strict=True):
        result[mask] = call(function, source[mask], *args, **kw) if callable(function) else function
    return call(np.reshape, result, call(np.shape, x))


always[np.piecewise] = _piecewise


def _from_iterable(iter: Any, dtype: Any, count: int = -1) -> Any:
    """`np.fromiter`: a vector of what is run over."""
    if count != -1:
        raise mistake("np.fromiter with a count is not supported. Use itertools.islice.")
    return call(np.array, call(list, iter), dtype=dtype)


always[np.fromiter] = _from_iterable


def _enumerated(arr: Any) -> Any:
    """`np.ndenumerate`: the indices of each element, and the element, in row-major order."""
    if not isinstance(arr, Tracer):
        return np.ndenumerate(arr)
    shape = arr.aval.shape

    def item(values: Sequence[Any]) -> Any:
        number, element = values
        return _indices(number, shape), element

    return Items(product(shape), [Counter(0), Rows(COUNTERPARTS[np.ravel](arr))], item)


def _indices(number: Any, shape: Sequence[Size]) -> tuple[Any, ...]:
    """The indices of an element from its number in row-major order."""
    found: list[Any] = []
    for size in reversed(shape[1:]):
        count = dim_as_value(size) if isinstance(size, Dim) else size
        found.append(number % count)
        number = number // count
    return (number, *reversed(found)) if shape else ()


counterparts[cast("Any", np.ndenumerate)] = _enumerated


def _index_tuples(*shape: Any) -> Any:
    """`np.ndindex`: the indices of the elements of an array of a shape, in row-major order."""
    is_one = len(shape) == 1 and isinstance(shape[0], tuple)
    sizes = cast("Sequence[Size]", shape[0] if is_one else shape)
    return Items(product(sizes), [Counter(0)], lambda values: _indices(values[0], sizes))


always[cast("Any", np.ndindex)] = _index_tuples
