"""Python's builtins on traced values and named sizes."""

from __future__ import annotations

import builtins
import functools
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from s2s import lax
from s2s.frontend.control_flow.branches import any_of, negation, tested
from s2s.frontend.control_flow.comprehensions import (
    are_all,
    extreme,
    is_any,
    is_sequence,
    total,
)
from s2s.frontend.control_flow.growing import StackedList
from s2s.frontend.control_flow.iteration import (
    Items,
    enumerate_items,
    items_of,
    mapped_items,
    range_items,
    zip_items,
)
from s2s.frontend.dispatch import always, call, counterparts, is_traced_inside, python_type
from s2s.frontend.hooks import set_attribute, truth
from s2s.frontend.options import choices
from s2s.frontend.texts import formatted, is_shown_later, statement
from s2s.ir.dims import Dim, Size
from s2s.ir.dtypes import FLOAT64, INT64, PYTHON_SCALARS
from s2s.numpy.promotion import operand
from s2s.numpy.registry import COUNTERPARTS, mistake
from s2s.numpy.ufuncs import as_python_scalar
from s2s.primitives.effects import Print
from s2s.trace import Tracer, bind, builder_in_force, known_value

Function = Callable[..., Any]


def _replaces(*functions: Function, table: dict[Function, Function] = counterparts) -> Any:
    def register(counterpart: Function) -> Function:
        for function in functions:
            table[function] = counterpart
        return counterpart

    return register


# -- types ----------------------------------------------------------------------------------------


@_replaces(isinstance)
def _isinstance(value: Any, classes: Any) -> bool:
    if isinstance(value, Dim):
        return isinstance(1, classes)
    if not isinstance(value, Tracer):
        return isinstance(value, classes)
    if isinstance(value, classes):
        return True
    kind = python_type(value)
    if kind is not np.ndarray:
        return isinstance(kind(0), classes)
    if isinstance(np.empty(0, value.aval.dtype), classes):
        return True
    # A result of NumPy's without axes is a NumPy scalar.
    return value.aval.shape == () and isinstance(value.aval.dtype.type(0), classes)


@_replaces(type)
def _type(value: Any, *rest: Any) -> Any:
    if rest or not isinstance(value, (Tracer, Dim)):
        return type(value, *rest)
    return int if isinstance(value, Dim) else python_type(value)


@_replaces(float)
def _float(value: Any = 0.0) -> Any:
    if isinstance(value, Dim):
        return lax.convert_element_type(lax.dim_as_value(value), FLOAT64, weak_type=True)
    return _as_python_number(value, "f", float)


@_replaces(int)
def _int(value: Any = 0, *base: Any) -> Any:
    if isinstance(value, Dim):
        return value
    return _as_python_number(value, "i", int)


@_replaces(bool)
def _bool(value: Any = False) -> bool:
    return builtins.bool(truth(value))


@_replaces(complex)
def _complex(*parts: Any) -> Any:
    return _as_python_number(next(filter(is_traced_inside, parts)), "c", complex)


def _as_python_number(value: Any, kind: str, target: Callable[[Any], Any]) -> Any:
    if not isinstance(value, Tracer):
        return target(value)
    if value.aval.weak_type and value.aval.dtype.kind == kind:
        return value
    known = known_value(value)
    if known is not None:
        return target(known)
    name = target.__name__ if isinstance(target, type) else str(target)
    raise mistake(
        f"{name}() needs a number, but this value depends on the arguments, and only their types "
        f"are known here. Leave {name}() out"
        + (", or use np.floor(...) or np.rint(...)." if kind == "i" else ".")
    )


# -- sizes ----------------------------------------------------------------------------------------


@_replaces(len)
def _len(value: Any) -> Size:
    if isinstance(value, StackedList):
        return value.length
    if not isinstance(value, Tracer):
        return len(value)
    if value.aval.shape == ():
        raise mistake("len() of a value that has no axes.")
    return value.aval.shape[0]


@_replaces(range)
def _range(*bounds: Any) -> Any:
    given = [_step_count(bound) for bound in bounds]
    if any(isinstance(bound, (Tracer, Dim)) for bound in given):
        return range_items(*given)
    return range(*given)


def _step_count(bound: Any) -> Any:
    known = known_value(bound) if isinstance(bound, Tracer) else None
    return bound if known is None else known


@_replaces(zip)
def _zip(*parts: Any, strict: bool = False) -> Any:
    found = zip_items(*parts, strict=strict)
    return zip(*parts, strict=strict) if found is None else found


@_replaces(enumerate)
def _enumerate(part: Any, start: Any = 0) -> Any:
    found = enumerate_items(part, start)
    return enumerate(part, start) if found is None else found


@_replaces(reversed)
def _reversed(part: Any) -> Any:
    items = items_of(part)
    return reversed(part) if items is None else items.backwards()


@_replaces(map, table=always)
def _map(function: Any, *parts: Any) -> Any:
    called = functools.partial(call, function)
    items = (
        mapped_items(parts[0], called) if len(parts) == 1 and is_traced_inside(parts[0]) else None
    )
    return map(called, *parts) if items is None else items


@_replaces(sum, table=always)
def _sum(values: Any, /, start: Any = 0) -> Any:
    if is_sequence(values):
        return total(values, start)
    return sum(values, start)


# -- functions of several values ------------------------------------------------------------------


def _extremum(builtin: Function, ufunc: np.ufunc, of_array: Function, choose: Function) -> Function:
    """max or min: of traced scalars one after the other, of a traced vector as a whole."""

    def chosen(x: Any, y: Any) -> Any:
        kinds = [_kind_of_python_scalar(value) for value in (x, y)]
        if None in kinds:
            return COUNTERPARTS[ufunc](x, y)
        dtype = FLOAT64 if "f" in kinds else INT64
        return choose(*[as_python_scalar(operand(value), dtype) for value in (x, y)])

    def extremum(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and _is_traced_vector(args[0]):
            return COUNTERPARTS[of_array](args[0])
        if len(args) == 1 and not kwargs and isinstance(args[0], (Items, StackedList)):
            items = items_of(args[0])
            if items is not None and not isinstance(items.length, int):
                return extreme(items, chosen)
        values: list[Any] = list(args[0] if len(args) == 1 else args)
        if "key" in kwargs and any(map(is_traced_inside, values)):
            raise mistake(
                f"{builtin.__name__}() with a key chooses one of the values, and which one depends "
                "on the values of the arguments. Write it with `if`."
            )
        if kwargs or not any(isinstance(value, Tracer) for value in values):
            return builtin(values, **kwargs)
        if any(_ndim(value) for value in values):
            raise mistake(
                f"{builtin.__name__}() cannot choose between arrays. "
                f"Use np.{ufunc.__name__}(...) to choose elementwise."
            )
        return functools.reduce(chosen, values)

    return extremum


def _is_traced_vector(value: Any) -> bool:
    return isinstance(value, Tracer) and value.aval.ndim == 1


def _ndim(value: Any) -> int:
    return value.aval.ndim if isinstance(value, Tracer) else np.ndim(value)


def _kind_of_python_scalar(value: Any) -> str | None:
    if isinstance(value, Tracer):
        return value.aval.dtype.kind if value.aval.weak_type else None
    if isinstance(value, Dim):
        return "i"
    found = PYTHON_SCALARS.get(value.__class__)
    return None if found is None else found.kind


always[max] = _extremum(max, np.maximum, np.max, lax.max)
always[min] = _extremum(min, np.minimum, np.min, lax.min)


@_replaces(any, table=always)
def _any(values: Iterable[Any]) -> Any:
    if is_sequence(values):
        return is_any(values)
    return any_of([tested(value) for value in values])


@_replaces(all, table=always)
def _all(values: Iterable[Any]) -> Any:
    if is_sequence(values):
        return are_all(values)
    return negation(any_of([negation(value) for value in values]))


@_replaces(sorted, table=always)
def _sorted(values: Iterable[Any], /, **kwargs: Any) -> list[Any]:
    items = list(values)
    if kwargs.get("key") is None and any(isinstance(item, Tracer) for item in items):
        raise mistake(
            "sorted() needs to know which value is greater, but these depend on the arguments, "
            "and only their types are known here. Use np.sort(...)."
        )
    key = kwargs.pop("key", None)
    return sorted(items, key=None if key is None else functools.partial(call, key), **kwargs)


@_replaces(abs)
def _abs(value: Any) -> Any:
    if isinstance(value, Dim):
        return value if value >= 0 else -value
    return abs(value)


@_replaces(divmod)
def _divmod(x: Any, y: Any) -> tuple[Any, Any]:
    return x // y, x % y


@_replaces(pow)
def _pow(base: Any, exponent: Any, modulus: Any = None) -> Any:
    if modulus is not None:
        raise mistake("pow() with a modulus of values that depend on the arguments.")
    return base**exponent


@_replaces(round)
def _round(value: Any, digits: int | None = None) -> Any:
    if isinstance(value, Dim):
        return value
    if digits is None:
        return lax.convert_element_type(COUNTERPARTS[np.rint](value), INT64, weak_type=True)
    if value.aval.weak_type:
        raise mistake(
            "round() to a number of digits of a value that depends on the arguments is not "
            "supported. Leave it out, or round the result outside of the function."
        )
    return COUNTERPARTS[np.round](value, digits)


# -- objects --------------------------------------------------------------------------------------


@_replaces(setattr, table=always)
def _setattr(owner: Any, name: str, value: Any) -> None:
    set_attribute(value, owner, name)


@_replaces(str)
def _str(value: Any = "") -> Any:
    return formatted((value, "s")) if is_shown_later(value) else str(value)


@_replaces(repr)
def _repr(value: Any) -> Any:
    return formatted((value, "r")) if is_shown_later(value) else repr(value)


@_replaces(format)
def _format(value: Any, format_: Any = "") -> Any:
    return formatted((value, "", format_))


@_replaces(print, table=always)
def _print(*values: Any, **kwargs: Any) -> None:
    is_traced = any(map(is_traced_inside, values))
    if not is_traced and not choices().keep_prints:
        print(*values, **kwargs)
    elif choices().keep_prints and kwargs.keys() <= {"sep", "end", "flush"}:
        texts, operands = statement(values)
        sep, end = kwargs.get("sep"), kwargs.get("end")
        bind(Print(texts, " " if sep is None else sep, "\n" if end is None else end), *operands)
    else:
        what = "print() to a file" if choices().keep_prints else "print()"
        builder = builder_in_force()
        source = builder.source if builder is not None else None
        warnings.warn_explicit(
            f"{what} of values that depend on the arguments is left out of the generated function"
            + ("" if choices().keep_prints else " (--keep-prints keeps it)"),
            UserWarning,
            source.file if source is not None else "<traced>",
            source.line if source is not None else 0,
        )
