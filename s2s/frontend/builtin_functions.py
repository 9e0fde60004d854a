"""Python's builtins on traced values and named sizes."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable
from typing import Any, cast

import numpy as np

from s2s import lax
from s2s.frontend.control_flow.branches import (
    any_of,
    as_value,
    choose,
    negation,
    not_negative,
    tested,
)
from s2s.frontend.control_flow.comparisons import compare, contains
from s2s.frontend.control_flow.comprehensions import (
    are_all,
    comprehension,
    extreme,
    is_any,
    is_sequence,
    total,
)
from s2s.frontend.control_flow.growing import Growing
from s2s.frontend.control_flow.iteration import (
    enumerate_items,
    items_of,
    mapped_items,
    range_items,
    zip_items,
)
from s2s.frontend.control_flow.stacked import StackedList
from s2s.frontend.control_flow.state import MISSING
from s2s.frontend.dispatch import (
    always,
    call,
    counterparts,
    is_traced_inside,
    iterated,
    python_type,
)
from s2s.frontend.hooks import set_attribute
from s2s.frontend.notes import note
from s2s.frontend.options import choices
from s2s.frontend.overloads import COMPARISONS, OPERATORS, UNARY, binary, item, overloads, unary
from s2s.frontend.texts import formatted, is_shown_later, statement
from s2s.frontend.users_functions import users_method
from s2s.ir.dims import Dim, same_size
from s2s.ir.dtypes import BOOL, COMPLEX128, FLOAT64, INT64, PYTHON_SCALARS, DType
from s2s.numpy.promotion import operand
from s2s.numpy.registry import COUNTERPARTS, mistake
from s2s.numpy.ufuncs import TracedUfunc, as_python_scalar
from s2s.primitive import Value
from s2s.primitives.arithmetic import Extremum, Max, Min, PythonMax, PythonMin
from s2s.primitives.effects import Print
from s2s.primitives.families import apply
from s2s.trace import Tracer, aval, bind, known_value

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
    return _python_number(value, FLOAT64, float)


@_replaces(int)
def _int(value: Any = 0, *base: Any) -> Any:
    return value if isinstance(value, Dim) else _python_number(value, INT64, int)


@_replaces(bool)
def _bool(value: Any = False) -> Any:
    return _python_number(tested(value), BOOL, bool)


@_replaces(complex)
def _complex(real: Any = 0.0, *imag: Any) -> Any:
    if imag:
        raise mistake(
            "complex numbers are not supported yet; write the function on the real and imaginary "
            "parts"
        )
    return _python_number(real, COMPLEX128, complex)


def _python_number(value: Any, dtype: DType, target: type) -> Any:
    """A value as the Python number that `target`, a class such as float, makes of it."""
    if isinstance(value, Dim):
        value = lax.dim_as_value(value)
    if not isinstance(value, Tracer):
        return target(value)
    found = value.aval
    if not all(same_size(size, 1) for size in found.shape):
        raise mistake(
            f"{target.__name__}() takes a single number, not an array of type {found}. Write "
            f"x.astype({target.__name__}) to convert each element."
        )
    if found.dtype.kind == "c" and dtype.kind != "c":
        raise mistake(f"{target.__name__}() takes a real number. Write z.real, or abs(z).")
    if found.shape:
        value = lax.reshape(value, ())
    return lax.convert_element_type(value, dtype, weak_type=True)


# -- sizes ----------------------------------------------------------------------------------------


@_replaces(len)
def _len(value: Any) -> Any:
    if isinstance(value, (Growing, StackedList)):
        return not_negative(value.length)
    if not isinstance(value, Tracer):
        return len(value)
    if value.aval.shape == ():
        raise mistake("len() of a value that has no axes.")
    return value.aval.shape[0]


@_replaces(list)
def _list(values: Any = ()) -> Any:
    if isinstance(values, StackedList):
        return values.copy()
    items = items_of(values)
    if items is None or isinstance(items.length, int):
        return list(values)
    return comprehension(items, lambda item: item)


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
    items = listed(values)
    if any(overloads(item.__class__) for item in items):
        return functools.reduce(functools.partial(binary, "+"), items, start)
    return sum(items, start)


def listed(values: Any) -> list[Any]:
    """The items of an iterable, which may be an object of the user's."""
    return list(iterated(values))


# -- functions of several values ------------------------------------------------------------------


def _extremum(
    builtin: Function,
    symbol: str,
    ufunc: np.ufunc,
    of_array: Function,
    of_numpy: Extremum,
    of_python: Extremum,
) -> Function:
    """max or min: of traced scalars one after the other, of a traced vector as a whole."""

    def emit(x: Value, y: Value) -> Value:
        # Of numbers of another type, Python might give one that the type of the result is not.
        return bind(of_python if aval(x).dtype in (FLOAT64, INT64) else of_numpy, x, y)

    of_scalars = TracedUfunc(ufunc, emit)

    def of_numbers(x: Any, y: Any) -> Any:
        if _ndim(x) or _ndim(y):
            raise mistake(
                f"{builtin.__name__}() cannot choose between arrays. "
                f"Use np.{ufunc.__name__}(...) to choose elementwise."
            )
        kinds = [_kind_of_python_scalar(value) for value in (x, y)]
        if None in kinds:
            return of_scalars(x, y)
        dtype = FLOAT64 if "f" in kinds else INT64
        return apply(of_python, *[as_python_scalar(operand(value), dtype) for value in (x, y)])

    def compared(key: Function | None) -> Function:
        """By a function of the values, or by an operator of theirs: the first of equal ones."""

        def of_two(x: Any, y: Any) -> Any:
            keys = [value if key is None else call(key, value) for value in (y, x)]
            return choose(compare(symbol, *keys), lambda: y, lambda: x)

        return of_two

    def extremum(*args: Any, default: Any = MISSING, key: Function | None = None) -> Any:
        values: Any = args[0] if len(args) == 1 else tuple(map(as_value, args))
        if key is None and isinstance(values, Tracer) and values.aval.ndim == 1:
            return COUNTERPARTS[of_array](values)
        items = items_of(values) if is_sequence(values) else None
        if not is_sequence(values) or (items is not None and isinstance(items.length, int)):
            values = listed(values)
            if not values:
                return builtin(values) if default is MISSING else default
            has_own = any(overloads(value.__class__) for value in values)
            if key is None and not has_own and not any(isinstance(v, Tracer) for v in values):
                return builtin(values)
            if has_own:
                return extreme(values, compared(key))
        return extreme(values, of_numbers if key is None else compared(key), default)

    return extremum


def _ndim(value: Any) -> int:
    return value.aval.ndim if isinstance(value, Tracer) else np.ndim(value)


def _kind_of_python_scalar(value: Any) -> str | None:
    if isinstance(value, Tracer):
        return value.aval.dtype.kind if value.aval.weak_type else None
    if isinstance(value, Dim):
        return "i"
    found = PYTHON_SCALARS.get(value.__class__)
    return None if found is None else found.kind


always[max] = _extremum(max, ">", np.maximum, np.max, Max(), PythonMax())
always[min] = _extremum(min, "<", np.minimum, np.min, Min(), PythonMin())


@_replaces(any, table=always)
def _any(values: Iterable[Any]) -> Any:
    if is_sequence(values):
        return is_any(values)
    return any_of([tested(value) for value in listed(values)])


@_replaces(all, table=always)
def _all(values: Iterable[Any]) -> Any:
    if is_sequence(values):
        return are_all(values)
    return negation(any_of([negation(value) for value in listed(values)]))


@_replaces(sorted, table=always)
def _sorted(values: Iterable[Any], /, **kwargs: Any) -> list[Any]:
    items = listed(values)
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


@_replaces(divmod, table=always)
def _divmod(x: Any, y: Any) -> tuple[Any, Any]:
    for owner, name, other in ((x, "__divmod__", y), (y, "__rdivmod__", x)):
        method = users_method(owner.__class__, name)
        if method is not None:
            return call(method, owner, other)
    return (x // y, x % y) if is_traced_inside((x, y)) else divmod(x, y)


@_replaces(pow, table=always)
def _pow(base: Any, exponent: Any, modulus: Any = None) -> Any:
    if modulus is None:
        return binary("**", base, exponent)
    if is_traced_inside((base, exponent, modulus)):
        raise mistake("pow() with a modulus of values that depend on the arguments.")
    return cast("Any", pow)(base, exponent, modulus)


always.update(
    {
        **{function: functools.partial(binary, s) for s, function in OPERATORS.items()},
        **{function: functools.partial(compare, s) for s, function in COMPARISONS.items()},
        **{function: functools.partial(unary, s) for s, function in UNARY.items()},
        operator.contains: contains,
        operator.getitem: item,
        operator.not_: negation,
        operator.truth: _bool,
    }
)


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
        note(
            f"{what} of values that depend on the arguments is left out of the generated function"
            + ("" if choices().keep_prints else " (--keep-prints keeps it)")
        )
