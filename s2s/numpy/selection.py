"""The elements that a mask selects, where which ones these are depends on values.

How many there are is not known, so they are kept where they stand: an array of which only the
elements under the mask count. What is computed of them element by element is computed everywhere,

    y[m] = np.exp(y[m])         y = np.where(m, np.exp(np.where(m, y, 1.0)), y)

and where the elements do not count, a function that might not be defined there is given a number at
which it is: neither values nor derivatives of what NumPy would not compute come to light.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn, cast

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from s2s.ir.dims import Shape, same_shape, same_size
from s2s.ir.dtypes import DType
from s2s.ir.jaxpr import Atom, Literal
from s2s.numpy import indexing, mutation
from s2s.numpy.arguments import shape_text
from s2s.numpy.array import TracedArray
from s2s.numpy.promotion import array_operand, convert, element_type, operand, shape_of
from s2s.numpy.registry import COUNTERPARTS, mistake, public_name
from s2s.primitive import Value
from s2s.primitives import functions as lax
from s2s.trace import Builder, Tracer, known_value, tracer_of

_LINEAR = frozenset(
    {
        *(np.add, np.subtract, np.negative, np.positive),
        *(np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal),
        *(np.logical_and, np.logical_or, np.logical_not, np.isfinite, np.isnan, np.isinf),
    }
)
"""Functions that may be given any numbers: their derivatives do not depend on these."""
_BOUNDED = frozenset(
    {
        *(np.multiply, np.square, np.absolute, np.maximum, np.minimum, np.sign),
        *(np.sin, np.cos, np.tanh, np.arctan, np.floor, np.ceil, np.rint, np.trunc),
    }
)
"""Functions that have a value and a derivative at every finite number."""
_INSIDE = frozenset({np.arcsin, np.arccos, np.arctanh})
"""Functions that have none at 1."""
ELEMENTWISE = frozenset(
    {np.clip, np.where, np.nan_to_num, np.round, np.around, np.zeros_like, np.ones_like}
)
"""Functions other than ufuncs that take elements one by one."""


class Selected(NDArrayOperatorsMixin):
    """The elements of an array that a mask selects, in the place of `x[mask]`.

    `values` has the shape of the array, of which the axes from `axis` on are the mask's.
    """

    __slots__ = ("__weakref__", "axis", "is_finite", "mask", "values")

    def __init__(self, values: Tracer, mask: Tracer, axis: int, is_finite: bool = False) -> None:
        self.values = cast("TracedArray", tracer_of(values.builder, values.variable))
        self.mask = mask
        self.axis = axis
        self.is_finite = is_finite
        """Whether the elements that do not count are numbers too."""

    # -- what is known --------------------------------------------------------------------------

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self.values.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.values.aval.shape) - self.mask.aval.ndim + 1

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_") or not hasattr(np.ndarray, name):
            raise AttributeError(f"'numpy.ndarray' object has no attribute '{name}'")
        raise refusal(f".{name}")

    def __repr__(self) -> str:
        return f"<the elements of {self.values} that {self.mask} selects>"

    def __len__(self) -> int:
        raise refusal("len(...)")

    def __iter__(self) -> NoReturn:
        raise refusal("a loop over them")

    def __bool__(self) -> NoReturn:
        raise refusal("a condition")

    def __hash__(self) -> int:
        return id(self)

    # -- what is computed of them -----------------------------------------------------------------

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__":
            raise refusal(f"np.{ufunc.__name__}.{method}")
        return applied(ufunc, inputs, kwargs)

    def __array_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        return applied(func, args, kwargs)

    def copy(self, order: str = "C") -> Selected:
        """A new array of the same elements."""
        return Selected(self.values, self.mask, self.axis, self.is_finite)

    def astype(self, dtype: Any, **kwargs: Any) -> Selected:
        """The elements as another type."""
        converted = convert(self.values, element_type(dtype))
        return Selected(converted, self.mask, self.axis, self.is_finite)

    def __getitem__(self, index: Any) -> Selected:
        if index is Ellipsis or index == slice(None):
            return self
        raise refusal("an index into them")

    def __setitem__(self, index: Any, value: Any) -> None:
        if index is not Ellipsis and index != slice(None):
            raise refusal("an assignment to some of them")
        shape = self.values.aval.shape
        self.values.assign(mutation.fitted(self.aligned(value), shape, self.values))

    def wide_mask(self, shape: Shape | None = None) -> Value:
        """The mask in the shape of the array."""
        shape = self.values.aval.shape if shape is None else shape
        if len(shape) == self.mask.aval.ndim:
            return self.mask
        axes = range(self.axis, self.axis + self.mask.aval.ndim)
        return lax.broadcast_in_dim(self.mask, shape, tuple(axes))

    def defined(self, number: float) -> Value:
        """The elements, and a number where they do not count."""
        values = tracer_of(self.values.builder, self.values.variable)
        if values.aval.dtype.kind == "b":
            return values
        return lax.select_n(self.wide_mask(), number, values)

    def aligned(self, other: Any) -> Value:
        """An operand that goes with the selected elements, as one that goes with the array."""
        if isinstance(other, Selected):
            self.require_alike(other)
            return tracer_of(other.values.builder, other.values.variable)
        value = operand(other, "an operation on selected elements")
        shape = shape_of(value)
        behind = len(self.values.aval.shape) - self.axis - self.mask.aval.ndim
        if len(shape) <= behind:
            return value
        if not same_size(shape[-behind - 1], 1):
            raise mistake(
                f"an array of shape {shape_text(shape)} does not go with the elements that a mask "
                "selects: how many these are depends on values; use np.where(mask, ..., ...) on "
                "whole arrays"
            )
        place = len(shape) - behind - 1
        ones = (1,) * self.mask.aval.ndim
        return lax.reshape(value, (*shape[:place], *ones, *shape[place + 1 :]))

    def require_alike(self, other: Selected) -> None:
        """Raise UserError unless other elements are selected by the same mask."""
        alike = self.axis == other.axis and is_same_value(self.mask, other.mask)
        if not alike or not same_shape(self.values.aval.shape, other.values.aval.shape):
            raise mistake(
                "elements that two masks select go together only if the masks are the same; give "
                "the mask a name, m = x > 0, and use it for both"
            )


def refusal(what: str) -> Any:
    """The error about what depends on how many elements are selected."""
    return mistake(needs_count(what))


def needs_count(what: str) -> str:
    """Why something cannot be had of selected elements, and what to do."""
    return (
        f"how many elements the mask selects depends on values, and {what} needs to know it; use "
        "np.where(mask, x, 0) in place of x[mask], and np.count_nonzero(mask) for their number"
    )


def applied(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """A NumPy function of selected elements, which takes them one by one."""
    counterpart = COUNTERPARTS.get(function)
    if counterpart is None or not (isinstance(function, np.ufunc) or function in ELEMENTWISE):
        raise refusal(public_name(function))
    kwargs = dict(kwargs)
    out = kwargs.pop("out", None)
    (target,) = cast("tuple[Any, ...]", out) if isinstance(out, tuple) else (out,)
    selections = [arg for arg in (*args, target) if isinstance(arg, Selected)]
    if not selections or any(isinstance(value, Selected) for value in kwargs.values()):
        raise refusal(public_name(function))
    first = selections[0]
    constant = any(not isinstance(arg, (Tracer, Selected)) for arg in args)
    linear = function in _LINEAR or (function in (np.multiply, np.divide) and constant)
    if function is np.divide and isinstance(args[1], Selected):
        linear = False
    bounded = function in _BOUNDED
    operands: list[Value] = []
    for arg in args:
        if isinstance(arg, Selected):
            first.require_alike(arg)
            as_it_is = linear or (bounded and arg.is_finite)
            number = 0.5 if function in _INSIDE else 1
            operands.append(first.aligned(arg) if as_it_is else arg.defined(number))
        else:
            operands.append(first.aligned(arg))
    result = array_operand(counterpart(*operands, **kwargs))
    if len(shape_of(result)) < len(first.values.aval.shape):
        result = lax.broadcast_in_dim(result, first.values.aval.shape, ())
    finite = bounded or (linear and all(arg.is_finite for arg in args if isinstance(arg, Selected)))
    if target is None:
        return Selected(result, first.mask, first.axis, finite)
    if not isinstance(target, Selected):
        raise refusal("the argument `out`")
    mutation.assign_result(target.values, f"{public_name(function)} with `out`", result)
    target.is_finite = finite
    return target


# -- indexing by a mask ---------------------------------------------------------------------------


def selected(array: Any, index: Any) -> Selected | None:
    """`array[index]` where the index has a mask whose values are not known; None if it has not."""
    found = without_mask(index)
    if found is None:
        return None
    basic, mask, position = found
    base = array_operand(array, "an index")
    part = indexing.getitem(base, basic)
    if not isinstance(part, Tracer):
        part = lax.copy(part)
    return Selected(part, mask, _axis(shape_of(base), basic, position, mask))


def put(array: TracedArray, index: Any, value: Any) -> bool:
    """`array[index] = value` where the index has such a mask; whether it has."""
    found = without_mask(index)
    if found is None:
        return False
    basic, mask, position = found
    whole = all(item is Ellipsis or item == slice(None) for item in basic)
    part = cast(Tracer, array if whole else indexing.getitem(array, basic))
    old = Selected(part, mask, _axis(array.variable.aval.shape, basic, position, mask))
    new = mutation.fitted(old.aligned(value), old.values.aval.shape, array)
    result = lax.select_n(old.wide_mask(), part, new)
    if whole:
        array.assign(result)
    else:
        mutation.set_item(array, basic, result)
    return True


def without_mask(index: Any) -> tuple[tuple[Any, ...], Tracer, int] | None:
    """An index with slices in place of the one mask in it whose values are not known, that mask,
    and the place of the first of these slices; None if there is no such mask."""
    items = cast("tuple[Any, ...]", index) if isinstance(index, tuple) else (index,)
    masks = [
        place
        for place, item in enumerate(items)
        if isinstance(item, Tracer) and item.aval.dtype.kind == "b" and known_value(item) is None
    ]
    if not masks:
        return None
    (place, *more), others = masks, [*items[: masks[0]], *items[masks[0] + 1 :]]
    mask = items[place]
    advanced = [i for i in others if not (i is Ellipsis or isinstance(i, (int, slice)))]
    numbers = [i for i, item in enumerate(items) if isinstance(item, int)]
    apart = any(not same_items(items, place, number) for number in numbers)
    if more or advanced or apart or not mask.aval.shape:
        raise mistake(
            "a mask whose values are not known can stand in an index beside slices only, and "
            "integers next to it; index first, or use np.where"
        )
    mask = tracer_of(mask.builder, mask.variable)
    slices = (slice(None),) * mask.aval.ndim
    return (*items[:place], *slices, *items[place + 1 :]), mask, place


def same_items(items: Sequence[Any], place: int, number: int) -> bool:
    """Whether only integers stand between an integer and the mask, which then go together."""
    low, high = sorted((place, number))
    return all(isinstance(item, int) for item in items[low + 1 : high])


def _axis(shape: Shape, basic: Sequence[Any], position: int, mask: Tracer) -> int:
    """The axis of the part at which the mask begins; the mask must fit there."""
    before, behind = basic[:position], basic[position:]
    axis = sum(item is not Ellipsis and not isinstance(item, int) for item in before)
    start = sum(item is not Ellipsis for item in before)
    if Ellipsis in before:
        missing = len(shape) - sum(item is not Ellipsis for item in (*before, *behind))
        axis, start = axis + missing, start + missing
    covered = mask.aval.shape
    if not same_shape(shape[start : start + len(covered)], covered):
        raise mistake(
            f"a mask of shape {shape_text(covered)} does not fit an array of shape "
            f"{shape_text(shape)}"
        )
    return axis


def is_same_value(x: Tracer, y: Tracer) -> bool:
    """Whether two traced values are computed alike from the same ones."""
    return x.builder is y.builder and _is_same(x.variable, y.variable, x.builder, 8)


def _is_same(a: Atom, b: Atom, builder: Builder, depth: int) -> bool:
    if isinstance(a, Literal) and isinstance(b, Literal):
        return a.aval == b.aval and bool(a.value == b.value)
    if isinstance(a, Literal) or isinstance(b, Literal):
        return False
    if a is b:
        return True
    first, second = (builder.producer(tracer_of(builder, atom)) for atom in (a, b))
    if depth == 0 or first is None or second is None or first.primitive != second.primitive:
        return False
    if len(first.outvars) > 1 or first.primitive.has_effect:
        return False
    pairs = zip(first.invars, second.invars, strict=True)
    return all(_is_same(p, q, builder, depth - 1) for p, q in pairs)


mutation.masked_assignment[0] = put
