"""Arrays of the user's module that a generated module holds as constants."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any

import numpy as np

from s2s.errors import UserError
from s2s.ir.jaxpr import ClosedJaxpr
from s2s_codegen.numpy_source.expression import dtype_name, tuple_of
from s2s_codegen.numpy_source.format import LINE_LENGTH, format_statements
from s2s_codegen.numpy_source.name import Names
from s2s_codegen.numpy_source.statements import Line

LARGEST = 100_000
_SHORT = 30


class Constants:
    """The constants of a module. All functions share them; equal ones of one name are one."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray[Any, Any]] = {}
        self._names: dict[Hashable, str] = {}

    def name(self, closed: ClosedJaxpr, names: Names) -> None:
        """Name the constvars of a jaxpr.

        Raises UserError for an array of more than LARGEST elements.
        """
        for var, value in zip(closed.jaxpr.constvars, closed.consts, strict=True):
            array = np.asarray(value)
            if array.size > LARGEST:
                name = f"`{var.name}`" if var.name else "a constant"
                raise UserError(
                    f"{name} is an array of shape {array.shape}, too large to be written into a "
                    f"module. Make it an argument of the function instead."
                )
            hint = re.sub(r"\W+", "_", var.name or "constant").upper()
            key = (hint, array.shape, array.dtype, array.tobytes())
            if key not in self._names:
                self._names[key] = self._new_name(hint, names)
                self.arrays[self._names[key]] = array
            names.hold(None, self._names[key])
            names.alias(var, self._names[key])

    def _new_name(self, hint: str, names: Names) -> str:
        name, number = hint, 0
        while name in self.arrays or names.is_taken(name):
            number += 1
            name = f"{hint}_{number}"
        return name

    def definitions(self) -> list[str]:
        """The lines that define them."""
        return [line for name, array in self.arrays.items() for line in _definition(name, array)]


def array_text(array: np.ndarray[Any, Any]) -> str | None:
    """The expression of a short array; None for others."""
    # What numbers say of their type, no numbers do not.
    said = (np.float64, np.int64, np.bool_, np.complex128) if array.size else (np.float64,)
    dtype = "" if array.dtype in said else f", dtype={dtype_name(array.dtype)}"
    if not array.size:
        return f"np.zeros({tuple_of([str(size) for size in array.shape])}{dtype})"
    if array.size <= _SHORT and np.isfinite(array).all():
        return f"np.array({array.tolist()}{dtype})"
    return None


def _definition(name: str, array: np.ndarray[Any, Any]) -> list[str]:
    short = array_text(array)
    if short is not None:
        return list(format_statements([Line(f"{name} = {short}")], 0))
    # As words of a text, many to a line: black would put each number on a line of its own.
    words = [str(item) for item in array.ravel().tolist()]
    if array.dtype.kind == "b":
        words = [str(int(item)) for item in array.ravel().tolist()]
    rows = [""]
    for word in words:
        if len(rows[-1]) + len(word) + 1 > LINE_LENGTH:
            rows.append("")
        rows[-1] += f" {word}" if rows[-1] else word
    kind = f"dtype={dtype_name(array.dtype)}" if array.dtype.kind != "b" else "dtype=int"
    shape = "" if array.ndim == 1 else f".reshape({', '.join(map(str, array.shape))})"
    truth = ".astype(bool)" if array.dtype.kind == "b" else ""
    return [
        f"{name} = np.array(",
        '    """',
        *rows,
        '""".split(),',
        f"    {kind},",
        f"){truth}{shape}",
    ]
