"""TracedArray: what a traced function has in place of an array or a number.

It has the operators, methods and attributes of `numpy.ndarray`, or of a Python number where it
stands for one, and takes part in NumPy's functions through NumPy's own protocols.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, cast

import numpy as np

from s2s.ir.assumptions import assumptions
from s2s.ir.dims import Dim, Shape, Size, UndecidedDimension, bound_names, number_of_size
from s2s.ir.dtypes import DType
from s2s.ir.jaxpr import Literal, ShapedArray, Var
from s2s.numpy import creation, indexing, linear, mutation, shaping, sorting, twins
from s2s.numpy.broadcasting import another
from s2s.numpy.operators import Operators
from s2s.numpy.promotion import convert, element_type
from s2s.numpy.registry import COUNTERPARTS, Counterpart, mistake, public_name
from s2s.numpy.views import (
    UNCERTAIN,
    InOrder,
    Steps,
    followed_by,
    in_order_for_view,
    is_repeated,
    read,
    steps_between,
    written,
)
from s2s.primitive import Value
from s2s.primitives import functions as lax
from s2s.primitives.identity import Copy
from s2s.trace import (
    Builder,
    Tracer,
    appending_to,
    aval,
    bind,
    builder_in_force,
    builders_in_force,
    known_value,
    tracer_of,
    tracer_type,
)


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    """The method of arrays that is one of NumPy's functions."""
    counterpart = COUNTERPARTS[function]

    def method(self: TracedArray, *args: Any, **kwargs: Any) -> Any:
        self.require_array(function.__name__)
        return counterpart(self, *args, **kwargs)

    method.__name__ = function.__name__
    method.__doc__ = counterpart.function.__doc__ if isinstance(counterpart, Counterpart) else ""
    return method


class TracedArray(Operators):
    """A traced NumPy array, NumPy scalar, or Python number."""

    __slots__ = ("_kept", "_original")

    __array_priority__ = 1000.0

    # -- type -----------------------------------------------------------------------------------

    @property
    def shape(self) -> Shape:
        """The size along each axis: integers, or named sizes."""
        self.require_array("shape")
        return self.variable.aval.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        self.require_array("ndim")
        return len(self.variable.aval.shape)

    @property
    def size(self) -> Size:
        """The number of elements."""
        self.require_array("size")
        return self.variable.aval.size

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        self.require_array("dtype")
        return self.variable.aval.dtype

    @property
    def itemsize(self) -> int:
        """The number of bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> Size:
        """The number of bytes of all elements."""
        return self.size * self.itemsize

    def require_array(self, name: str) -> None:
        """Raise AttributeError, as Python does, where this stands for a Python number."""
        if self.variable.aval.weak_type:
            kind = type(self.variable.aval.dtype.type(0).item()).__name__
            raise AttributeError(f"'{kind}' object has no attribute '{name}'")

    def __getattr__(self, name: str) -> NoReturn:
        self.require_array(name)
        if not name.startswith("_") and hasattr(np.ndarray, name):
            raise mistake(f"the array attribute `.{name}` is not supported on traced arrays")
        raise AttributeError(f"'numpy.ndarray' object has no attribute '{name}'")

    # -- protocols ------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if any(map(_has_own_ufuncs, inputs)):
            return NotImplemented
        function: Callable[..., Any] = ufunc if method == "__call__" else getattr(ufunc, method)
        return _call(function, inputs, kwargs)

    def __array_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        return _call(func, args, kwargs)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self._known("turned into an array of numbers"), dtype=dtype)

    def _known(self, what: str) -> Any:
        known = known_value(self)
        if known is None:
            raise mistake(
                f"a value that depends on the arguments cannot be {what} here: only its type is "
                "known while the function is transformed. Give an argument's value when it is "
                "(--static name=value)"
            )
        return known

    def __bool__(self) -> bool:
        return bool(self._known("used as a condition"))

    def __int__(self) -> int:
        return int(self._known("turned into an int"))

    def __float__(self) -> float:
        return float(self._known("turned into a float"))

    def __complex__(self) -> complex:
        return complex(self._known("turned into a complex number"))

    def __index__(self) -> int:
        return self._known("used as an integer").__index__()

    def __str__(self) -> str:
        return repr(self)

    def __format__(self, specification: str) -> str:
        return repr(self)

    # -- as a sequence --------------------------------------------------------------------------

    def __len__(self) -> int:
        return self._length().__index__()

    def _length(self) -> Size:
        if not self.variable.aval.shape:
            raise mistake("a number, or an array of no dimensions, has no length")
        return self.variable.aval.shape[0]

    def __iter__(self) -> Iterator[Value]:
        length = self._length()
        try:
            rows = range(length)
        except UndecidedDimension:
            if bound_names(length):
                raise mistake(
                    "how many rows this array has depends on the values of the arguments, and "
                    "these are to be taken one by one. Write a `for` statement over it"
                ) from None
            raise mistake(
                f"s2s cannot loop over the rows of an array whose number of rows, {length}, is a "
                "name; give it a number in the types of the arguments"
            ) from None
        return iter([self[row] for row in rows])

    def __reversed__(self) -> Iterator[Value]:
        return reversed(list(self))

    def __contains__(self, item: Any) -> Any:
        raise mistake("`in` asks for the values of an array; use np.any(array == item)")

    def __getitem__(self, index: Any) -> Value:
        result = indexing.getitem(self, index)
        return view(result, self) if indexing.is_view(index, result) else result

    def __setitem__(self, index: Any, value: Any) -> None:
        mutation.set_item(self, index, value)

    # -- changes in place -----------------------------------------------------------------------

    def target(self, steps: Steps) -> tuple[TracedArray, Steps]:
        """The array whose elements are those that steps from this one lead to, and the steps."""
        return self, steps

    def is_part(self, owner: TracedArray, steps: Steps) -> bool:
        """Whether these are, as a view, the elements of `owner` that the steps lead to."""
        return False

    @property
    def is_changeable(self) -> bool:
        return bool(self.variable.aval.shape)

    @property
    def original(self) -> Tracer:
        """The elements that the array had when it was made."""
        try:
            return self._original
        except AttributeError:
            return tracer_of(self.builder, self.variable)

    def keep(self, other: TracedArray) -> None:
        """Let another array, which this one may be a part of, live as long as this one."""
        self._kept = (*getattr(self, "_kept", ()), other)

    def assign(self, value: Value) -> None:
        """Make these the elements of the array, for all who hold it. Of the same type."""
        twins.require_known(self)
        self.put_elements(value)
        twins.follow(self)

    def put_elements(self, value: Value) -> None:
        """Make these the elements of the array, but not of those that it may be."""
        self._original = self.original
        mutation.note_change(self)
        builder = self.builder
        atom = builder.atom(value)
        if isinstance(atom, Literal):
            atom = cast("Tracer", bind(Copy(), atom)).variable
        if atom.name is None:
            atom.name = self.variable.name
        self.variable = atom

    def change(self, operator: str, result: Value) -> Value:
        """`x += y`, where `result` is x + y: the array itself, with other elements."""
        mutation.assign_result(self, f"`{operator}=`", result)
        return self

    # -- shapes and types -----------------------------------------------------------------------

    @property
    def T(self) -> Value:
        """The axes in reverse order."""
        self.require_array("T")
        return view(shaping.transpose(self), self)

    @property
    def mT(self) -> Value:
        """The last two axes exchanged."""
        self.require_array("mT")
        return view(shaping.matrix_transpose(self), self)

    @property
    def flat(self) -> Value:
        """The elements in row-major order."""
        self.require_array("flat")
        elements = shaping.ravel(self)
        steps = steps_between(self, elements)
        if not self.is_changeable or steps is None:
            return elements
        if isinstance(self, View):
            return Flat(self.owner, followed_by(self.steps, steps), elements, self.refused)
        return Flat(self, steps, elements, "")

    @property
    def real(self) -> Value:
        """The array itself, which is real."""
        return view(another(self, self), self)

    @property
    def imag(self) -> Value:
        """Zeros: the array is real."""
        return creation.filled(self.variable.aval.shape, 0, self.variable.aval.dtype)

    def conj(self) -> Value:
        """The array itself, which is real."""
        return self

    conjugate = conj

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> Value:
        """The elements in row-major order as an array of another shape; one size may be -1."""
        self.require_array("reshape")
        return view(shaping.reshape(self, shape[0] if len(shape) == 1 else shape, order), self)

    def ravel(self, order: str = "C") -> Value:
        """The elements in row-major order along one axis."""
        self.require_array("ravel")
        return view(shaping.ravel(self, order), self)

    def flatten(self, order: str = "C") -> Value:
        """A new array of the elements in row-major order along one axis."""
        self.require_array("flatten")
        return another(shaping.ravel(self, order), self)

    def transpose(self, *axes: Any) -> Value:
        """The axes in the given order, or reversed."""
        self.require_array("transpose")
        order = (axes[0] if len(axes) == 1 else axes) if axes else None
        return view(shaping.transpose(self, order), self)

    def swapaxes(self, axis1: Any, axis2: Any) -> Value:
        """Two axes exchanged."""
        return view(shaping.swapaxes(self, axis1, axis2), self)

    def squeeze(self, axis: Any = None) -> Value:
        """Without the axes of size 1."""
        return view(shaping.squeeze(self, axis), self)

    def astype(
        self,
        dtype: Any,
        order: str = "K",
        casting: str = "unsafe",
        subok: bool = True,
        copy: bool = True,
    ) -> Value:
        """A new array of the elements as another type."""
        self.require_array("astype")
        if casting != "unsafe":
            raise mistake(".astype with the argument `casting` is not supported; leave it out")
        result = convert(self, element_type(dtype))
        if result is self:
            return self.copy("K") if copy else self
        return as_cell(result) if self.is_changeable else result

    def copy(self, order: str = "C") -> Value:
        """A new array of the same elements."""
        self.require_array("copy")
        if order == "F":
            result = shaping.transpose(lax.copy(shaping.transpose(self)))
        else:
            result = bind(Copy(in_order=order == "C"), self)
        return as_cell(result) if self.is_changeable else result

    def __copy__(self) -> Value:
        return self.copy() if self.is_changeable else self

    def __deepcopy__(self, memo: Any) -> Value:
        return self.__copy__()

    def tolist(self) -> Any:
        """The elements as nested lists."""
        self.require_array("tolist")
        if not self.variable.aval.shape:
            return self.item()
        return [row.tolist() for row in self]

    def item(self, *index: Any) -> Value:
        """An element as a Python number; the only one if no index is given."""
        self.require_array("item")
        return indexing.as_python_number(self, index)

    def diagonal(self, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Value:
        """The elements on a diagonal of two axes, along a new last axis; read-only."""
        self.require_array("diagonal")
        return view(linear.diagonal(self, offset, axis1, axis2), self, is_writable=False)

    def fill(self, value: Any) -> None:
        """Put one value everywhere."""
        self.require_array("fill")
        mutation.set_item(self, ..., value)

    def put(self, indices: Any, values: Any, mode: str = "raise") -> None:
        """Put values at places of the array in row-major order."""
        self.require_array("put")
        COUNTERPARTS[np.put](self, indices, values, mode)

    def sort(
        self, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
    ) -> None:
        """Put the elements in order along an axis."""
        self.require_array("sort")
        self.assign(sorting.sort(self, axis, kind, order, stable=stable))

    def partition(self, kth: Any, axis: Any = -1) -> None:
        """Put the elements of some indices where sorting would put them."""
        self.require_array("partition")
        self.assign(sorting.partition(self, kth, axis))

    # -- methods that are functions of NumPy's ---------------------------------------------------

    all = _method(np.all)
    any = _method(np.any)
    argmax = _method(np.argmax)
    argmin = _method(np.argmin)
    argpartition = _method(np.argpartition)
    argsort = _method(np.argsort)
    clip = _method(np.clip)
    cumprod = _method(np.cumprod)
    cumsum = _method(np.cumsum)
    dot = _method(np.dot)
    max = _method(np.max)
    mean = _method(np.mean)
    min = _method(np.min)
    prod = _method(np.prod)
    repeat = _method(np.repeat)
    round = _method(np.round)
    searchsorted = _method(np.searchsorted)
    std = _method(np.std)
    sum = _method(np.sum)
    take = _method(np.take)
    trace = _method(np.trace)
    var = _method(np.var)


class Cell(TracedArray):
    """An array of no axes: unlike a NumPy scalar it can be changed in place."""

    __slots__ = ()

    @property
    def is_changeable(self) -> bool:
        return True


def as_cell(value: Value) -> Value:
    """A result of no axes that is an array in NumPy, not a scalar; any other as it is."""
    if builder_in_force() is None or not isinstance(value, (Tracer, np.generic)):
        return value
    kind = aval(value)
    if kind.shape or kind.weak_type or is_changeable(value):
        return cast(Value, value)
    found: Tracer = value if isinstance(value, Tracer) else bind(Copy(), value)
    return Cell(found.builder, found.variable)


def is_changeable(value: Any) -> bool:
    """Whether a value is a traced array that can be changed in place."""
    return isinstance(value, TracedArray) and value.is_changeable


class View(TracedArray):
    """An array that shares its elements with another, its `owner`, which is no view itself."""

    __slots__ = (
        *("_builder", "_forgotten", "_seen", "_variable"),
        *("in_order", "owner", "refused", "steps"),
    )

    def __init__(self, owner: TracedArray, steps: Steps, part: Tracer, refused: str) -> None:
        self.owner = owner
        self.steps = steps
        self.refused = refused
        """Why it cannot be written to, nor read again once the owner was changed, if so."""
        self.in_order: InOrder = set()
        """What must lie in row-major order for it to be a view."""
        self._seen: Var | None = owner.variable
        """That of the owner when the elements were taken."""
        self._builder = part.builder
        self._variable = part.variable
        self._forgotten = part.builder.forgotten

    @classmethod
    def unread(cls, owner: TracedArray, steps: Steps) -> View:
        """A view whose elements are taken when they are asked for."""
        part = Var(steps[-1].result if steps else owner.variable.aval)
        found = cls(owner, steps, tracer_of(owner.builder, part), "")
        found._seen = None
        return found

    @property
    def builder(self) -> Builder:
        """The builder that the elements as they are now belong to."""
        self._refresh()
        return self._builder

    @property
    def variable(self) -> Var:
        """The variable of the elements as they are now."""
        self._refresh()
        return self._variable

    @property
    def aval(self) -> ShapedArray:
        """The type of the elements, which stays what it is."""
        return self._variable.aval

    def _refresh(self) -> None:
        """Take the elements from the owner again if it was changed since, or if the equation that
        took them was taken back."""
        now = self.owner.variable
        if now is self._seen and self._is_there():
            return
        if self.refused == UNCERTAIN:
            raise mistake(UNCERTAIN)
        assumptions().in_order.update(self.in_order)
        # What the steps read may be known to a trace within that of the owner only.
        builders = [self.owner.builder, *[step.builder for step in self.steps if step.reads]]
        in_force = builders_in_force()
        home = max(builders, key=lambda b: in_force.index(b) if b in in_force else -1)
        with appending_to(home):
            part = read(tracer_of(self.owner.builder, now), self.steps)
        if part.variable.name is None and self._seen is not None:
            part.variable.name = self._variable.name
        self._seen, self._builder, self._variable = now, home, part.variable
        self._forgotten = home.forgotten

    def _is_there(self) -> bool:
        """Whether the equation that took the elements has not been taken back."""
        if self._builder.forgotten != self._forgotten:
            if self._builder.producer(tracer_of(self._builder, self._variable)) is None:
                return False
            self._forgotten = self._builder.forgotten
        return True

    @property
    def is_changeable(self) -> bool:
        return True

    def target(self, steps: Steps) -> tuple[TracedArray, Steps]:
        if self.refused:
            raise mistake(self.refused)
        assumptions().in_order.update(self.in_order)
        return self.owner, followed_by(self.steps, steps)

    def assign(self, value: Value) -> None:
        owner, steps = self.target(())
        owner.assign(written(owner, steps, value))

    def is_part(self, owner: TracedArray, steps: Steps) -> bool:
        return self.owner is owner and self.steps == steps


class Flat(View):
    """`x.flat`: what it takes of the elements is new, what is put into it is put into the array."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Value:
        return another(indexing.getitem(self, index), self)


_READ_ONLY = "NumPy's result here is read-only, and cannot be assigned to; write .copy() behind it"


def view(result: Any, base: Any, is_writable: bool = True) -> Any:
    """The result of a function that gives views, as a view of the array it was made from."""
    if isinstance(result, (list, tuple)):
        parts = [view(part, base, is_writable) for part in cast("list[Any]", result)]
        return parts if isinstance(result, list) else tuple(parts)
    if not isinstance(result, TracedArray) or result is base:
        return result
    if not is_changeable(base):
        return as_cell(result)
    steps = steps_between(base, result)
    if steps is None:
        return result
    refused = "" if is_writable and not is_repeated(steps) else _READ_ONLY
    owner = base.owner if isinstance(base, View) else base
    before = base.steps if isinstance(base, View) else ()
    in_order = in_order_for_view(owner.original, before, steps)
    if in_order is None:
        refused = UNCERTAIN
    found = View(owner, followed_by(before, steps), result, refused)
    found.in_order = in_order or set()
    if isinstance(base, View):
        found.refused = base.refused or refused
        found.in_order = base.in_order | found.in_order
    return found


def _has_own_ufuncs(value: object) -> bool:
    """Whether NumPy shall ask the value, neither traced nor an array, what a ufunc gives for it."""
    own = getattr(type(value), "__array_ufunc__", None)
    return own is not None and not isinstance(value, (Tracer, np.ndarray, np.generic))


def _call(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A NumPy function that was called with a traced value, by its counterpart."""
    counterpart = COUNTERPARTS.get(function)
    if counterpart is None:
        raise mistake(f"{public_name(function)} of traced values is not supported")
    return counterpart(*args, **kwargs)


def _number_of_size(size: Dim) -> Value:
    if builder_in_force() is None:
        raise TypeError(f"the size {size} has no value outside of a trace")
    return lax.dim_as_value(size)


def _with(numpy: Callable[..., Any], finished: Callable[[Any, tuple[Any, ...]], Any]) -> None:
    """Make the results of a counterpart what `finished` makes of them and of the arguments."""
    counterpart = COUNTERPARTS[numpy]

    @functools.wraps(counterpart)
    def with_views(*args: Any, **kwargs: Any) -> Any:
        result = counterpart(*args, **kwargs)
        return finished(result, args or tuple(kwargs.values())[:1])

    COUNTERPARTS[numpy] = with_views


def _views_of_first(result: Any, args: tuple[Any, ...]) -> Any:
    return view(result, args[0])


def _read_only_views(result: Any, args: tuple[Any, ...]) -> Any:
    return view(result, args[0], is_writable=False)


def _views_of_each(result: Any, args: tuple[Any, ...]) -> Any:
    """The results, each of which is a view of its own argument."""
    if not isinstance(result, (list, tuple)):
        return view(result, args[0])
    results = cast("tuple[Any, ...]", result)
    return type(results)([view(r, arg) for r, arg in zip(results, args, strict=True)])


def _view_of_operand(result: Any, args: tuple[Any, ...]) -> Any:
    """The result of np.einsum: a view if the formula takes elements of one array, and sums none."""
    operands = [arg for arg in args if isinstance(arg, TracedArray)]
    return view(result, operands[0]) if len(operands) == 1 else result


def _array(result: Any, args: tuple[Any, ...]) -> Any:
    return as_cell(result)


for _function in (
    *(np.reshape, np.ravel, np.squeeze, np.expand_dims),
    *(np.transpose, np.matrix_transpose, np.linalg.matrix_transpose, np.swapaxes),
    *(np.moveaxis, np.rollaxis, np.flip, np.fliplr, np.flipud, np.rot90),
    *(np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit, np.real),
    *(getattr(np, name) for name in ("unstack",) if hasattr(np, name)),
):
    _with(_function, _views_of_first)
for _function in (np.diagonal, np.diag, np.linalg.diagonal, np.broadcast_to):
    _with(_function, _read_only_views)
for _function in (np.atleast_1d, np.atleast_2d, np.atleast_3d, np.broadcast_arrays):
    _with(_function, _views_of_each)
_with(np.einsum, _view_of_operand)
for _function in (
    *(np.zeros, np.ones, np.empty, np.full),
    *(np.zeros_like, np.ones_like, np.empty_like, np.full_like),
    *(np.array, np.asarray, np.asanyarray, np.asarray_chkfinite, np.copy),
    *(np.where, np.select, np.tensordot),
):
    _with(_function, _array)

tracer_type[0] = TracedArray
number_of_size[:] = [_number_of_size]
