"""Polynomials by their coefficients, and their fit to points."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from s2s.ir.dtypes import FLOAT64, INT64
from s2s.numpy.arguments import as_number, as_size
from s2s.numpy.arithmetic import add, divide, multiply, subtract
from s2s.numpy.creation import zeros_like
from s2s.numpy.elementary import sqrt
from s2s.numpy.joining import concatenate, stack
from s2s.numpy.linalg import lstsq
from s2s.numpy.promotion import array_operand, aval_of_operand, convert, operand, shape_of
from s2s.numpy.reductions import sum as total
from s2s.numpy.registry import counterpart, mistake, refuse
from s2s.numpy.shaping import atleast_1d, transpose, with_axes
from s2s.numpy.slicing import sliced
from s2s.primitive import Value
from s2s.primitives import functions as lax


@counterpart(np.polyval)
def polyval(p: Any, x: Any) -> Value:
    """The polynomial with the given coefficients, the highest power's first, at x."""
    given = cast(Value, p) if isinstance(p, (list, tuple)) else array_operand(p, "np.polyval")
    point = array_operand(x, "np.polyval")
    result = zeros_like(point)
    for coefficient in given:
        result = add(multiply(result, point), array_operand(coefficient, "np.polyval"))
    return result


@counterpart(np.polynomial.polynomial.polyval)
def polyval_rising(x: Any, c: Any, tensor: Any = True) -> Value:
    """The polynomial with the given coefficients, the lowest power's first, at x."""
    name = "np.polynomial.polynomial.polyval"
    given = atleast_1d(array_operand(c, name))
    point = array_operand(x, name)
    if len(shape_of(given)) != 1:
        raise mistake(f"{name} with coefficients of more than one axis is not supported")
    if aval_of_operand(given).dtype.kind in "biu":
        given = convert(given, FLOAT64)
    size = as_number(shape_of(given)[0], f"the number of coefficients of {name}")
    coefficients = [lax.squeeze(sliced(given, 0, k, k + 1), (0,)) for k in reversed(range(size))]
    result = add(coefficients[0], multiply(point, 0))
    for coefficient in coefficients[1:]:
        result = add(coefficient, multiply(result, point))
    return result


def _coefficients(p: Any, function: str) -> Value:
    value = array_operand(p, function)
    if len(shape_of(value)) != 1:
        raise mistake(f"{function} is of a vector of coefficients")
    return value


def _falling(value: Value) -> Value:
    """`n, n - 1, ..., 1` for a vector of n elements."""
    (size,) = shape_of(value)
    count = lax.iota(INT64, (size,), 0)
    return subtract(lax.dim_as_value(size), count)


@counterpart(np.polyder)
def polyder(p: Any, m: Any = 1) -> Value:
    """The coefficients of the m-th derivative, the highest power's first."""
    value = _coefficients(p, "np.polyder")
    for _ in range(as_number(m, "the order of np.polyder")):
        value = sliced(value, 0, None, -1)
        value = multiply(value, _falling(value))
    return value


@counterpart(np.polyint)
def polyint(p: Any, m: Any = 1, k: Any = None) -> Value:
    """The coefficients of the m-th integral, the highest power's first, with constants `k`."""
    value = _coefficients(p, "np.polyint")
    order = as_number(m, "the order of np.polyint")
    constants = [operand(0.0 if k is None else k, "np.polyint")] * order
    if k is not None and shape_of(constants[0]):
        constants = [lax.squeeze(sliced(constants[0], 0, j, j + 1), (0,)) for j in range(order)]
    for constant in constants:
        value = concatenate([divide(value, _falling(value)), with_axes(constant, (0,))])
    return value


@counterpart(np.polyadd)
def polyadd(a1: Any, a2: Any) -> Value:
    """The coefficients of the sum of two polynomials."""
    return add(*_of_one_length(a1, a2, "np.polyadd"))


@counterpart(np.polysub)
def polysub(a1: Any, a2: Any) -> Value:
    """The coefficients of the difference of two polynomials."""
    return subtract(*_of_one_length(a1, a2, "np.polysub"))


def _of_one_length(a1: Any, a2: Any, function: str) -> list[Value]:
    values = [atleast_1d(array_operand(value, function)) for value in (a1, a2)]
    sizes = [as_number(shape_of(v)[0], f"a number of coefficients of {function}") for v in values]
    return [
        concatenate([np.zeros(max(sizes) - size), value]) if size < max(sizes) else value
        for value, size in zip(values, sizes, strict=True)
    ]


@counterpart(np.vander)
def vander(x: Any, N: Any = None, increasing: Any = False) -> Value:
    """A row of powers of each element, the highest first, or last if `increasing`."""
    value = _coefficients(x, "np.vander")
    count = as_size(shape_of(value)[0] if N is None else N, "the number of columns of np.vander")
    if not isinstance(count, int) or count < 1:
        raise mistake("np.vander needs to know the number of columns; give it as a number, N=3")
    if aval_of_operand(value).dtype.kind in "biu":
        value = convert(value, INT64)
    columns = [lax.full(shape_of(value), 1, aval_of_operand(value).dtype)]
    for power in range(1, count):
        columns.append(value if power == 1 else multiply(columns[-1], value))
    return stack(columns if increasing else columns[::-1], axis=1)


@counterpart(np.polyfit)
def polyfit(x: Any, y: Any, deg: Any, w: Any = None) -> Value:
    """The coefficients of the polynomial that fits points best, the highest power's first."""
    point = add(_coefficients(x, "np.polyfit"), 0.0)
    right = add(array_operand(y, "np.polyfit"), 0.0)
    powers = vander(point, as_number(deg, "the degree of np.polyfit") + 1)
    if w is not None:
        weight = add(array_operand(w, "np.polyfit"), 0.0)
        powers = multiply(powers, with_axes(weight, (1,)))
        right = multiply(right, with_axes(weight, (1,)) if len(shape_of(right)) == 2 else weight)
    scale = sqrt(total(multiply(powers, powers), 0))
    solution = lstsq(divide(powers, scale), right)[0]
    return transpose(divide(transpose(solution), scale))


refuse(
    "leading coefficients that are zero are dropped, so how many the result has depends on values; "
    "use np.convolve for the product",
    np.polymul,
    np.polydiv,
    np.roots,
    np.poly,
)
