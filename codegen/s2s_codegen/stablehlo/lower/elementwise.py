"""Elementwise primitives that are not one StableHLO operation on operands of the result's type."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s import lax
from s2s.ir.dtypes import BOOL
from s2s.ir.jaxpr import ShapedArray
from s2s.primitives import arithmetic, logic, powers, special, trigonometric
from s2s.primitives.families import Elementwise
from s2s.trace import make
from s2s_codegen.stablehlo.emit import Emitter, Operand, composition, lower
from s2s_codegen.stablehlo.text import function_type, tensor_type


def same_shape(emitter: Emitter, operands: list[Operand], result: ShapedArray) -> list[Operand]:
    """The operands with those of rank 0 repeated to the shape of the result."""
    return [
        emitter.broadcast(x, result.shape) if x.aval.ndim == 0 and result.shape else x
        for x in operands
    ]


def compare(emitter: Emitter, direction: str, x: Operand, y: Operand) -> Operand:
    """`x direction y` (EQ, NE, LT, LE, GT, GE) of two values of one type."""
    kind = {"f": "FLOAT", "c": "FLOAT", "i": "SIGNED"}.get(x.aval.dtype.kind, "UNSIGNED")
    result = ShapedArray(x.aval.shape, BOOL)
    types = function_type([x.type, y.type], [tensor_type(result)])
    return emitter.op(
        f"stablehlo.compare {direction}, {x.name}, {y.name}, {kind} : {types}", result
    )


def select(emitter: Emitter, which: Operand, true: Operand, false: Operand) -> Operand:
    """`true` where `which`, else `false`; all of one shape."""
    return emitter.op(
        f"stablehlo.select {which.name}, {true.name}, {false.name} : {which.type}, {true.type}",
        true.aval,
    )


@lower.register
def _(
    primitive: logic.Comparison,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    x, y = same_shape(emitter, operands, results[0])
    return [compare(emitter, primitive.name.upper(), x, y)]


@lower.register
def _(
    primitive: logic.IsFinite, emitter: Emitter, operands: list[Operand], results: list[ShapedArray]
) -> list[Operand]:
    (x,) = operands
    if x.aval.dtype.kind != "f":
        return [emitter.full(True, results[0])]
    types = function_type([x.type], [tensor_type(results[0])])
    return [emitter.op(f"stablehlo.is_finite {x.name} : {types}", results[0])]


@lower.register
def _(
    primitive: logic.IsNan, emitter: Emitter, operands: list[Operand], results: list[ShapedArray]
) -> list[Operand]:
    (x,) = operands
    return [compare(emitter, "NE", x, x)]


@lower.register
def _(
    primitive: logic.IsInf, emitter: Emitter, operands: list[Operand], results: list[ShapedArray]
) -> list[Operand]:
    (x,) = operands
    if x.aval.dtype.kind != "f":
        return [emitter.full(False, results[0])]
    size = emitter.unary("abs", x)
    return [compare(emitter, "EQ", size, emitter.full(np.inf, x.aval))]


@lower.register
def _(
    primitive: logic.SignBit, emitter: Emitter, operands: list[Operand], results: list[ShapedArray]
) -> list[Operand]:
    (x,) = operands
    bits = ShapedArray(x.aval.shape, np.dtype(f"int{8 * x.aval.dtype.itemsize}"))
    types = function_type([x.type], [tensor_type(bits)])
    pattern = emitter.op(f"stablehlo.bitcast_convert {x.name} : {types}", bits)
    return [compare(emitter, "LT", pattern, emitter.full(0, bits))]


@lower.register
def _(
    primitive: logic.SelectN, emitter: Emitter, operands: list[Operand], results: list[ShapedArray]
) -> list[Operand]:
    which, *cases = operands
    cases = same_shape(emitter, cases, results[0])
    if which.aval.dtype == BOOL:
        (which,) = same_shape(emitter, [which], results[0])
        return [select(emitter, which, cases[1], cases[0])]
    (which,) = same_shape(emitter, [which], results[0])
    chosen = cases[-1]
    for index in reversed(range(len(cases) - 1)):
        is_this = compare(emitter, "EQ", which, emitter.full(index, which.aval))
        chosen = select(emitter, is_this, cases[index], chosen)
    return [chosen]


@lower.register
def _(
    primitive: arithmetic.Clamp,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    low, x, high = same_shape(emitter, operands, results[0])
    # NumPy's clip is minimum(maximum(x, low), high): high wins where the bounds cross.
    return [emitter.binary("minimum", emitter.binary("maximum", x, low), high)]


@lower.register
def _(
    primitive: powers.IntegerPow,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    (x,) = operands
    exponent = abs(primitive.y)
    total: Operand | None = None
    power = x
    while exponent:
        if exponent % 2:
            total = power if total is None else emitter.binary("multiply", total, power)
        exponent //= 2
        if exponent:
            power = emitter.binary("multiply", power, power)
    one = emitter.full(1, x.aval)
    if total is None:
        return [one]
    return [emitter.binary("divide", one, total) if primitive.y < 0 else total]


def _chlo(kind: type[Elementwise], op: str) -> None:
    """The primitive is one operation of the chlo dialect."""

    def lowering(
        primitive: Any, emitter: Emitter, operands: list[Operand], results: list[ShapedArray]
    ) -> list[Operand]:
        full = same_shape(emitter, operands, results[0])
        names = ", ".join(x.name for x in full)
        types = ", ".join(x.type for x in full)
        return [emitter.op(f"chlo.{op} {names} : {types} -> {tensor_type(results[0])}", results[0])]

    lower.register(kind, lowering)


for _kind, _op in {
    trigonometric.Asin: "asin",
    trigonometric.Acos: "acos",
    trigonometric.Atan: "atan",
    trigonometric.Sinh: "sinh",
    trigonometric.Cosh: "cosh",
    trigonometric.Asinh: "asinh",
    trigonometric.Acosh: "acosh",
    trigonometric.Atanh: "atanh",
    special.Erf: "erf",
    special.Erfc: "erfc",
    special.ErfInv: "erf_inv",
    special.Lgamma: "lgamma",
    special.Digamma: "digamma",
}.items():
    _chlo(_kind, _op)


def _nan_safe_logaddexp(primitive: Any, x: Any, y: Any) -> Any:
    # Equal operands, infinite ones among them: x + log(2).
    high, low = lax.max(x, y), lax.min(x, y)
    apart = lax.add(high, lax.log1p(lax.exp(lax.sub(low, high))))
    return lax.select_n(lax.eq(x, y), apart, lax.add(x, float(np.log(2.0))))


def _square(primitive: Any, x: Any) -> Any:
    return lax.mul(x, x)


def _reciprocal(primitive: Any, x: Any) -> Any:
    return lax.div(1.0, x)


lower.register(powers.LogAddExp, composition(_nan_safe_logaddexp))
lower.register(powers.Square, composition(_square))
lower.register(powers.Reciprocal, composition(_reciprocal))


def _floor_remainder(x: Any, y: Any) -> Any:
    """The remainder that has the sign of the divisor."""
    r = lax.rem(x, y)
    zero = 0 if _is_integer(x) else 0.0
    other_sign = lax.ne(lax.lt(r, zero), lax.lt(y, zero))
    return lax.select_n(lax.bitwise_and(lax.ne(r, zero), other_sign), r, lax.add(r, y))


def _is_integer(x: Any) -> bool:
    return x.aval.dtype.kind in "iu"


def _floor_quotient(x: Any, y: Any) -> list[Any]:
    """A dividend that the divisor divides exactly, and the divisor with 1 in place of 0."""
    return [lax.sub(x, _floor_remainder(x, y)), lax.select_n(lax.eq(y, 0), y, 1)]


@lower.register
def _(
    primitive: arithmetic.FloorDivide,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    x, y = same_shape(emitter, operands, results[0])
    whole, safe = emitter.inline(make(_floor_quotient, [x.aval, y.aval]), [x, y])
    quotient = emitter.binary("divide", whole, safe)
    by_zero = compare(emitter, "EQ", y, emitter.full(0, y.aval))
    if x.aval.dtype.kind == "f":
        quotient = emitter.unary("round_nearest_even", quotient)
        return [select(emitter, by_zero, emitter.binary("divide", x, y), quotient)]
    # As NumPy has it, a quotient of integers by zero is zero.
    return [select(emitter, by_zero, emitter.full(0, x.aval), quotient)]


def _remainder(primitive: Any, x: Any, y: Any) -> Any:
    r = _floor_remainder(x, y)
    return lax.select_n(lax.eq(y, 0), r, 0) if _is_integer(x) else r


def _hypot(primitive: Any, x: Any, y: Any) -> Any:
    # Scaled by the larger one, so that squares neither overflow nor vanish.
    x, y = lax.abs(x), lax.abs(y)
    high, low = lax.max(x, y), lax.min(x, y)
    ratio = lax.div(low, lax.select_n(lax.eq(high, 0.0), high, 1.0))
    length = lax.mul(high, lax.sqrt(lax.add(1.0, lax.mul(ratio, ratio))))
    return lax.select_n(lax.eq(high, np.inf), length, np.inf)


def _logaddexp2(primitive: Any, x: Any, y: Any) -> Any:
    log_of_2 = float(np.log(2.0))
    scaled = _nan_safe_logaddexp(primitive, lax.mul(x, log_of_2), lax.mul(y, log_of_2))
    return lax.div(scaled, log_of_2)


def _of_python(primitive: arithmetic.OfPython, x: Any, y: Any) -> Any:
    return lax.select_n(primitive.beats(y, x), x, y)


def _trunc(primitive: Any, x: Any) -> Any:
    return lax.select_n(lax.lt(x, 0.0), lax.floor(x), lax.ceil(x))


def _copysign(primitive: Any, x: Any, y: Any) -> Any:
    size = lax.abs(x)
    return lax.select_n(lax.signbit(y), size, lax.neg(size))


def _exp2(primitive: Any, x: Any) -> Any:
    return lax.pow(2.0, x)


def _log2(primitive: Any, x: Any) -> Any:
    return lax.div(lax.log(x), float(np.log(2.0)))


def _log10(primitive: Any, x: Any) -> Any:
    return lax.div(lax.log(x), float(np.log(10.0)))


lower.register(arithmetic.Remainder, composition(_remainder))
lower.register(arithmetic.OfPython, composition(_of_python))
lower.register(arithmetic.Trunc, composition(_trunc))
lower.register(arithmetic.CopySign, composition(_copysign))
lower.register(powers.Hypot, composition(_hypot))
lower.register(powers.Exp2, composition(_exp2))
lower.register(powers.Log2, composition(_log2))
lower.register(powers.Log10, composition(_log10))
lower.register(powers.LogAddExp2, composition(_logaddexp2))
_chlo(arithmetic.NextAfter, "next_after")


@lower.register
def _(
    primitive: special.Polygamma,
    emitter: Emitter,
    operands: list[Operand],
    results: list[ShapedArray],
) -> list[Operand]:
    (x,) = operands
    order = emitter.full(primitive.m, x.aval)
    types = f"{order.type}, {x.type} -> {x.type}"
    return [emitter.op(f"chlo.polygamma {order.name}, {x.name} : {types}", x.aval)]
