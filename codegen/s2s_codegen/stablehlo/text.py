"""Types, constants and locations as StableHLO text."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from s2s.ir.dims import Dim, Shape
from s2s.ir.dtypes import BOOL, DType
from s2s.ir.jaxpr import ShapedArray, Source

ELEMENT_TYPES: dict[str, str] = {
    "bool": "i1",
    **{f"int{bits}": f"i{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"ui{bits}" for bits in (8, 16, 32, 64)},
    **{f"float{bits}": f"f{bits}" for bits in (16, 32, 64)},
    "bfloat16": "bf16",
    "complex64": "complex<f32>",
    "complex128": "complex<f64>",
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e5m2": "f8E5M2",
    "float8_e4m3b11fnuz": "f8E4M3B11FNUZ",
    "float8_e4m3": "f8E4M3",
    "float8_e3m4": "f8E3M4",
    "float8_e4m3fnuz": "f8E4M3FNUZ",
    "float8_e5m2fnuz": "f8E5M2FNUZ",
    "float8_e8m0fnu": "f8E8M0FNU",
    "int4": "i4",
    "uint4": "ui4",
    "int2": "i2",
    "uint2": "ui2",
}
"""MLIR's name of each element type, of NumPy's and of those that ml_dtypes adds."""


def element_type(dtype: DType) -> str:
    """`f64` for float64, `i1` for bool."""
    return ELEMENT_TYPES[dtype.name]


def tensor_type(aval: ShapedArray) -> str:
    """`tensor<3x?xf64>`; a named dimension is a `?`."""
    return tensor(aval.shape, element_type(aval.dtype))


def tensor(shape: Shape, element: str) -> str:
    """A tensor type from a shape and an element type's name."""
    sizes = "".join(f"{'?' if isinstance(size, Dim) else size}x" for size in shape)
    return f"tensor<{sizes}{element}>"


def function_type(operands: Sequence[str], results: Sequence[str]) -> str:
    """`(tensor<f64>) -> tensor<f64>`; several results stand in parentheses."""
    left = f"({', '.join(operands)})"
    right = results[0] if len(results) == 1 else f"({', '.join(results)})"
    return f"{left} -> {right}"


def number(value: Any, dtype: DType) -> str:
    """One element of a constant: exact to the last bit, infinities and NaN in hexadecimal."""
    if dtype.kind == "b":
        return "true" if value else "false"
    if dtype.kind in "iu":
        return str(int(value))
    if dtype.kind == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}")
        return f"({number(value.real, part)}, {number(value.imag, part)})"
    if math.isfinite(value):
        # The shortest text that reads back as the same number of this type.
        text = repr(float(value)) if dtype == np.float64 else repr(float(str(dtype.type(value))))
        mantissa, letter, exponent = text.partition("e")
        point = mantissa if "." in mantissa else f"{mantissa}.0"
        return f"{point}{letter}{exponent}"
    bits = np.array(value, dtype).view(f"u{dtype.itemsize}").item()
    return f"0x{bits:0{2 * dtype.itemsize}X}"


def dense(value: Any, dtype: DType) -> str:
    """`dense<[1.0, 2.0]>` for an array or a number; large arrays as their bytes."""
    array = np.asarray(value, dtype)
    if array.size == 0:
        return "dense<>"
    if array.size > 32 and dtype.kind != "b":
        little = np.ascontiguousarray(array).astype(dtype.newbyteorder("<"), copy=False)
        return f'dense<"0x{little.tobytes().hex().upper()}">'

    def nested(part: Any) -> str:
        if part.ndim == 0:
            return number(part[()], dtype)
        return f"[{', '.join(map(nested, part))}]"

    return f"dense<{nested(array)}>"


def location(name: str | None, source: Source | None) -> str:
    """`loc("loss"("model.py":12:1))`, so that profiles and errors speak of the user's lines."""
    if source is None:
        return f"loc({string(name)})" if name else "loc(unknown)"
    at = f"{string(source.file)}:{source.line}:1"
    return f"loc({string(name)}({at}))" if name else f"loc({at})"


def value_name(name: str) -> str:
    """`%size_n`; letters that are not plain ones by their numbers."""
    return "%" + re.sub(r"[^\x00-\x7f]", lambda letter: f"${ord(letter[0]):x}", name)


def symbol(name: str) -> str:
    """`@loss`; between quotes if there are letters in it that are not plain ones."""
    return f"@{name if re.fullmatch(r'[A-Za-z_][A-Za-z0-9_$.]*', name) else string(name)}"


def module_name(text: str) -> str | None:
    """The name of a module, as its text has it."""
    found = re.search(r'^module @(?:"([^"]+)"|([\w$.]+))', text, re.MULTILINE)
    if found is None:
        return None
    quoted, plain = found.groups()
    if quoted is None:
        return plain
    data = re.sub(r"\\([0-9A-F]{2})", lambda code: chr(int(code[1], 16)), quoted)
    return data.encode("latin-1").decode(errors="replace")


def string(text: str) -> str:
    """A string literal: what is not printable ASCII as the hexadecimal codes of its bytes."""
    plain = (chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in text.encode())
    return f'"{"".join(plain)}"'


def missing(aval: ShapedArray) -> object:
    """What stands for an element that does not exist: NaN, or the least integer."""
    if aval.dtype == BOOL:
        return False
    return np.nan if aval.dtype.kind in "fc" else np.iinfo(aval.dtype).min
