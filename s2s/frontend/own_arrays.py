"""Arrays of plain numbers that a traced function makes for itself, and then puts traced values in.

Such an array must be traced from the beginning, which shows only when it is written to:

    weights = np.array([1.0, 2.0])      # nothing here depends on the arguments
    weights[0] = x                      # but it does from here on

Then the trace starts again, and what that first line makes is traced.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Generator, Sequence
from typing import Any

import numpy as np

from s2s.frontend.leaks import owner_of
from s2s.ir.jaxpr import Source
from s2s.numpy import mutation
from s2s.numpy.array import as_cell
from s2s.numpy.registry import mistake
from s2s.primitives import functions as lax
from s2s.primitives.core import convert_element_type
from s2s.trace import builder_in_force


class TraceAgain(BaseException):
    """The line on which an array was made that must be traced. No error of the user's to handle."""

    def __init__(self, line: Source) -> None:
        self.line = line


class OwnArrays:
    """The arrays that the function being traced has made, with the lines on which it did."""

    def __init__(self) -> None:
        self.traced_lines: set[tuple[str, int]] = set()
        self.made: dict[int, tuple[weakref.ref[Any], Source]] = {}
        self.types_differ = False
        """Whether there are values of other types than Python's numbers have in an array."""
        self.has_items = False
        """Whether numbers of lists have been kept in arrays."""


_in_force: list[OwnArrays] = []


@contextlib.contextmanager
def own_arrays(arrays: OwnArrays) -> Generator[None]:
    """Put a record of arrays in force for the duration of a `with` block."""
    arrays.made.clear()
    _in_force.append(arrays)
    try:
        yield
    finally:
        _in_force.pop()


def made(result: Any, operands: Sequence[Any]) -> Any:
    """What NumPy made of operands in the user's code: traced, if the line must be."""
    builder = builder_in_force()
    if builder is None or builder.source is None or not _in_force:
        return result
    arrays, line = _in_force[-1], builder.source
    is_new = result.__class__ is np.ndarray and result.base is None
    if not is_new or any(result is operand for operand in operands):
        return result
    if (line.file, line.line) in arrays.traced_lines:
        return lax.copy(result) if result.ndim else as_cell(result[()])
    arrays.made[id(result)] = weakref.ref(result), line
    return result


def as_python_number(item: Any) -> Any:
    """A number of a list that is kept in an array. It is Python's where that makes a difference:
    a float of Python's times an array of f32 is one of f32, and one of NumPy's is not."""
    if not _in_force:
        return item
    _in_force[-1].has_items = True
    if not _in_force[-1].types_differ:
        return item
    return convert_element_type(item, item.dtype, weak_type=True)


def require_traced(array: Any) -> None:
    """Before a traced value is put into an array that is not: raise TraceAgain if the function made
    it, and UserError if it is not the function's own."""
    root = owner_of(array)
    for arrays in reversed(_in_force):
        found = arrays.made.get(id(root))
        if found is not None and found[0]() is root:
            raise TraceAgain(found[1])
    raise mistake(
        "a value that depends on the arguments is put into an array that lives on outside of the "
        "function; the generated function would not change that. Work on a copy of it, and return "
        "that."
    )


mutation.require_traced[0] = require_traced
