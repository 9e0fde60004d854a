"""Arrays of the user's module that a generated module holds as constants."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s.errors import UserError
from s2s.ir.jaxpr import ClosedJaxpr
from s2s_codegen.numpy_source.expression import tuple_of
from s2s_codegen.numpy_source.format import LINE_LENGTH, format_statements
from s2s_codegen.numpy_source.name import Names
from s2s_codegen.numpy_source.scope import dtype_name
from s2s_codegen.numpy_source.statements import Line

LARGEST = 100_000
_SHORT = 30


def write_constants(closed: ClosedJaxpr, names: Names) -> list[str]:
    """The lines that define the constants of a jaxpr, under the names that its constvars have.

    Raises UserError for an array of more than LARGEST elements.
    """
    lines: list[str] = []
    for var, value in zip(closed.jaxpr.constvars, closed.consts, strict=True):
        array = np.asarray(value)
        if array.size > LARGEST:
            name = f"`{var.name}`" if var.name else "a constant"
            raise UserError(
                f"{name} is an array of shape {array.shape}, too large to be written into a "
                f"module. Make it an argument of the function instead."
            )
        lines += _definition(names[var], array)
    return lines


def _definition(name: str, array: np.ndarray[Any, Any]) -> list[str]:
    default = array.dtype in (np.float64, np.int64, np.bool_, np.complex128)
    dtype = "" if default else f", dtype={dtype_name(array.dtype)}"
    if not array.size:
        return [f"{name} = np.zeros({tuple_of([str(size) for size in array.shape])}{dtype})"]
    if array.size <= _SHORT and np.isfinite(array).all():
        return list(format_statements([Line(f"{name} = np.array({array.tolist()}{dtype})")], 0))
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
