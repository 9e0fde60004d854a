"""TracedArray: what a traced function has in place of an array or a number.

It has the operators, methods and attributes of `numpy.ndarray`, or of a Python number where it
stands for one, and takes part in NumPy's functions through NumPy's own protocols.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from s2s.ir.dims import Dim, Shape, Size, UndecidedDimension, number_of_size
from s2s.ir.dtypes import DType
from s2s.numpy import creation, indexing, shaping
from s2s.numpy.broadcasting import another
from s2s.numpy.operators import Operators
from s2s.numpy.promotion import convert, element_type
from s2s.numpy.registry import COUNTERPARTS, Counterpart, mistake, public_name
from s2s.primitive import Value
from s2s.primitives import functions as lax
from s2s.trace import builder_in_force, known_value, tracer_type


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

    __slots__ = ()

    __array_priority__ = 1000.0

    # -- type -----------------------------------------------------------------------------------

    def _is_python_scalar(self) -> bool:
        return self.variable.aval.weak_type

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
                f"a traced value cannot be {what} here: it depends on the arguments, and has no "
                "value while the function is being transformed"
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
            raise mistake(
                f"s2s cannot loop over the rows of an array whose number of rows, {length}, is a "
                "name; give it a number in the types of the arguments"
            ) from None
        return iter([indexing.getitem(self, row) for row in rows])

    def __reversed__(self) -> Iterator[Value]:
        return reversed(list(self))

    def __contains__(self, item: Any) -> Any:
        raise mistake("`in` asks for the values of an array; use np.any(array == item)")

    def __getitem__(self, index: Any) -> Value:
        return indexing.getitem(self, index)

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise mistake(
            "s2s does not support changing an array in place yet; build a new array, for example "
            "with np.where, np.concatenate or np.stack"
        )

    # -- shapes and types -----------------------------------------------------------------------

    @property
    def T(self) -> Value:
        """The axes in reverse order."""
        self.require_array("T")
        return shaping.transpose(self)

    @property
    def mT(self) -> Value:
        """The last two axes exchanged."""
        self.require_array("mT")
        return shaping.matrix_transpose(self)

    @property
    def flat(self) -> Value:
        """The elements in row-major order."""
        self.require_array("flat")
        return shaping.ravel(self)

    @property
    def real(self) -> Value:
        """The array itself, which is real."""
        return another(self, self)

    @property
    def imag(self) -> Value:
        """Zeros: the array is real."""
        return creation.filled(self.variable.aval.shape, 0, self.variable.aval.dtype)

    def conj(self) -> Value:
        """A new array of the same elements, which are real."""
        return another(self, self)

    conjugate = conj

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> Value:
        """The elements in row-major order as an array of another shape; one size may be -1."""
        self.require_array("reshape")
        return shaping.reshape(self, shape[0] if len(shape) == 1 else shape, order)

    def ravel(self, order: str = "C") -> Value:
        """The elements in row-major order along one axis."""
        self.require_array("ravel")
        return shaping.ravel(self, order)

    flatten = ravel

    def transpose(self, *axes: Any) -> Value:
        """The axes in the given order, or reversed."""
        self.require_array("transpose")
        return shaping.transpose(self, (axes[0] if len(axes) == 1 else axes) if axes else None)

    def swapaxes(self, axis1: Any, axis2: Any) -> Value:
        """Two axes exchanged."""
        return shaping.swapaxes(self, axis1, axis2)

    def squeeze(self, axis: Any = None) -> Value:
        """Without the axes of size 1."""
        return shaping.squeeze(self, axis)

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
        return another(convert(self, element_type(dtype)), self)

    def copy(self, order: str = "C") -> Value:
        """A new array of the same elements."""
        self.require_array("copy")
        return another(self, self)

    def __copy__(self) -> Value:
        return another(self, self)

    def __deepcopy__(self, memo: Any) -> Value:
        return another(self, self)

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

    # -- methods that are functions of NumPy's ---------------------------------------------------

    all = _method(np.all)
    any = _method(np.any)
    argmax = _method(np.argmax)
    argmin = _method(np.argmin)
    clip = _method(np.clip)
    cumprod = _method(np.cumprod)
    cumsum = _method(np.cumsum)
    diagonal = _method(np.diagonal)
    dot = _method(np.dot)
    max = _method(np.max)
    mean = _method(np.mean)
    min = _method(np.min)
    prod = _method(np.prod)
    repeat = _method(np.repeat)
    round = _method(np.round)
    std = _method(np.std)
    sum = _method(np.sum)
    take = _method(np.take)
    trace = _method(np.trace)
    var = _method(np.var)


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


tracer_type[0] = TracedArray
number_of_size[:] = [_number_of_size]
