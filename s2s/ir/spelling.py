"""How jaxprs spell sizes, types, literals and the values of parameters, as JAX does.

    spell_size(n * m + 1)  ->  "m*n + 1"          spell_value((n, 3))  ->  "(n, 3)"
    spell_type(aval)       ->  "f64[n,3]"         spell_value(dtype)   ->  "float64"

`s2s.ir.reading` is the way back.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from enum import Enum
from typing import Any, cast

import numpy as np

from s2s.ir.dims import Atom, Dim, Monomial, Size
from s2s.ir.dtypes import SHORT_NAMES
from s2s.ir.jaxpr import Literal, ShapedArray

WORD = r"(?:[A-Za-z_]|<[^<>\n]*>)(?:[\w.]|<[^<>\n]*>)*"
"""What a parameter that is a string may look like to need no quotes: `relu`, `f.<locals>.g`."""

_BARE = re.compile(WORD)
_CONSTANTS = {"None", "True", "False", "inf", "nan"}


def spell_size(size: Size) -> str:
    """A size: larger terms first, `n^2` for a power, `floordiv(n, 2)` for a floor division.

    This is how JAX writes symbolic dimensions; in errors and in arguments a size is written in
    Python's own notation (`str(size)`).
    """
    if isinstance(size, int):
        return str(size)
    text = ""
    for monomial, coefficient in sorted(size.terms, key=_term_key, reverse=True):
        factors = [_spell_power(*factor) for factor in sorted(monomial, key=_factor_key)]
        if abs(coefficient) != 1 or not factors:
            factors.insert(0, str(abs(coefficient)))
        sign = "- " if coefficient < 0 else "+ " if text else ""
        text += (" " if text else "") + sign + "*".join(factors)
    return text


def _spell_power(atom: Atom, power: int) -> str:
    if isinstance(atom, str):
        text = atom
    else:
        text = f"floordiv({spell_size(atom.numerator)}, {spell_size(atom.denominator)})"
    return text if power == 1 else f"{text}^{power}"


# JAX's order: first how many symbols there are, then the names.


def _size_key(size: Size) -> tuple[int, Any]:
    terms = size.terms if isinstance(size, Dim) else (((), size),)
    keys = sorted(map(_term_key, terms), reverse=True)
    return (sum(1 + abs(coefficient) * extent for extent, _, coefficient in keys), keys)


def _term_key(term: tuple[Monomial, int]) -> tuple[int, Any, int]:
    monomial, coefficient = term
    factors = sorted(map(_factor_key, monomial))
    return (sum(1 + power * extent for extent, _, _, power in factors), factors, coefficient)


def _factor_key(factor: tuple[Atom, int]) -> tuple[int, str, Any, int]:
    atom, power = factor
    if isinstance(atom, str):
        return (1, atom, (), power)
    operands = (_size_key(atom.numerator), _size_key(atom.denominator))
    return (1 + operands[0][0] + operands[1][0], "floordiv", operands, power)


def spell_type(aval: ShapedArray) -> str:
    """`f64[n,3]`; whether a type is weak is not shown."""
    shape = aval.shape
    sizes = ",".join(map(spell_size, shape)) if shape else ""
    return f"{SHORT_NAMES[aval.dtype]}[{sizes}]"


def spell_literal(literal: Literal) -> str:
    """`2.0:f64[]`: the number as Python writes it, with enough digits to be read back exactly."""
    value: Any = literal.value
    number = cast("Any", value).item() if isinstance(value, np.generic) else value
    return f"{number}:{spell_type(literal.aval)}"


def spell_value(value: Any) -> str:
    """The value of a parameter that is no jaxpr. Strings that look like names are not quoted."""
    if isinstance(value, str) and _BARE.fullmatch(value) and value not in _CONSTANTS:
        return value
    return _spell_inside(value)


def _spell_inside(value: Any) -> str:
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, Dim):
        return spell_size(value)
    if isinstance(value, ShapedArray):
        return spell_type(value)
    if isinstance(value, np.dtype):
        return str(cast("np.dtype[Any]", value))
    if isinstance(value, np.generic):
        return repr(cast("Any", value).item())
    if isinstance(value, tuple):
        return _spell_tuple(cast("tuple[Any, ...]", value))
    if isinstance(value, list):
        return f"[{', '.join(map(_spell_inside, cast('list[Any]', value)))}]"
    if isinstance(value, frozenset):
        elements = sorted(map(_spell_inside, cast("frozenset[Any]", value)))
        return f"frozenset({{{', '.join(elements)}}})"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return _spell_record(value, {name: getattr(value, name) for name in names})
    if isinstance(value, Callable):
        return str(getattr(cast("Any", value), "__name__", cast("Any", value)))
    return repr(value)


def _spell_tuple(value: tuple[Any, ...]) -> str:
    if hasattr(value, "_fields"):
        return _spell_record(value, cast("Any", value)._asdict())
    items = list(map(_spell_inside, value))
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def _spell_record(value: object, fields: dict[str, Any]) -> str:
    inside = ", ".join(f"{name}={_spell_inside(field)}" for name, field in fields.items())
    return f"{type(value).__name__}({inside})"
