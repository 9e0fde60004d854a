"""Comparisons, boolean and bitwise operations, and the choice between values."""

from __future__ import annotations

from collections.abc import Sequence

from s2s.ir.dims import require_same
from s2s.ir.jaxpr import ShapedArray
from s2s.primitive import Linear, Precedence, Producer, Value, Zero
from s2s.primitives.core import fill, is_number, number, unbroadcast
from s2s.primitives.families import (
    Elementwise,
    LocallyConstant,
    Predicate,
    binary,
    defined_by,
    harmonized,
    unary,
)
from s2s.trace import Tracer, aval, bind


class Comparison(Predicate):
    """A comparison of two values of one type."""

    precedence = Precedence.COMPARISON
    stablehlo = "compare"


class Eq(Comparison):
    """x == y."""

    name = "eq"
    numpy = "{0} == {1}"


class Ne(Comparison):
    """x != y."""

    name = "ne"
    numpy = "{0} != {1}"


class Lt(Comparison):
    """x < y."""

    name = "lt"
    numpy = "{0} < {1}"


class Le(Comparison):
    """x <= y."""

    name = "le"
    numpy = "{0} <= {1}"


class Gt(Comparison):
    """x > y."""

    name = "gt"
    numpy = "{0} > {1}"


class Ge(Comparison):
    """x >= y."""

    name = "ge"
    numpy = "{0} >= {1}"


class IsFinite(Predicate):
    """Whether x is neither infinite nor NaN."""

    name = "is_finite"
    numpy = "np.isfinite({0})"
    math = "math.isfinite({0})"
    stablehlo = "is_finite"


class IsNan(Predicate):
    """Whether x is NaN."""

    name = "isnan"
    numpy = "np.isnan({0})"
    math = "math.isnan({0})"


class IsInf(Predicate):
    """Whether x is infinite."""

    name = "isinf"
    numpy = "np.isinf({0})"
    math = "math.isinf({0})"


class SignBit(Predicate):
    """Whether x is negative, or -0.0."""

    kinds = "f"
    name = "signbit"
    numpy = "np.signbit({0})"


class Bitwise(LocallyConstant):
    """An operation on booleans, or on the bits of integers."""

    kinds = "biu"

    def fold(self, args: Sequence[Value], producer: Producer) -> Value | None:
        return self.fold_truth(args, producer)


class Idempotent(Bitwise):
    """Of a value and itself it is that value."""

    def fold(self, args: Sequence[Value], producer: Producer) -> Value | None:
        first, second = args
        return first if _is_same(first, second) else super().fold(args, producer)


class And(Idempotent):
    """x and y: of booleans, or bit by bit."""

    name = "and"
    numpy = "{0} & {1}"
    precedence = Precedence.AND
    stablehlo = "and"


class Or(Idempotent):
    """x or y: of booleans, or bit by bit."""

    name = "or"
    numpy = "{0} | {1}"
    precedence = Precedence.OR
    stablehlo = "or"


class Xor(Bitwise):
    """Either x or y: of booleans, or bit by bit."""

    name = "xor"
    numpy = "{0} ^ {1}"
    precedence = Precedence.XOR
    stablehlo = "xor"


class Not(Bitwise):
    """not x: of booleans, or bit by bit."""

    name = "not"
    # `~True` is -2 in Python, so the operator would be wrong on Python scalars.
    numpy = "np.invert({0})"
    stablehlo = "not"

    def fold(self, args: Sequence[Value], producer: Producer) -> Value | None:
        # Not of comparisons: not (x < y) holds where either is NaN, x >= y does not.
        inner = defined_by(args[0], Not, producer)
        return super().fold(args, producer) if inner is None else inner[1][0]


class ShiftLeft(Bitwise):
    """x * 2**y for integers."""

    kinds = "iu"
    name = "shift_left"
    numpy = "{0} << {1}"
    precedence = Precedence.SHIFT
    stablehlo = "shift_left"


class ShiftRightArithmetic(Bitwise):
    """The floor of x / 2**y for integers."""

    kinds = "iu"
    name = "shift_right_arithmetic"
    numpy = "{0} >> {1}"
    precedence = Precedence.SHIFT
    stablehlo = "shift_right_arithmetic"


class SelectN(Elementwise):
    """`cases[which]`, element by element; a boolean `which` chooses the first case where false."""

    name = "select_n"
    numpy = "np.where({0}, {2}, {1})"
    stablehlo = "select"

    def abstract(self, *avals: ShapedArray) -> ShapedArray:
        which, *cases = avals
        if which.dtype.kind not in ("b" if len(cases) == 2 else "iu"):
            if not (len(cases) == 2 and which.dtype.kind in "iu"):
                self.refuse(avals, "do not begin with a condition")
        shape = which.shape
        for case in cases:
            if case.dtype != cases[0].dtype:
                self.refuse(avals, "have different element types")
            if not shape:
                shape = case.shape
            elif case.shape and not (
                len(shape) == case.ndim and all(map(require_same, shape, case.shape))
            ):
                self.refuse(avals, "have different shapes")
        weak = all(case.weak_type for case in (which, *cases))
        return ShapedArray(shape, cases[0].dtype, weak)

    def tangent(self, tangents: Sequence[Value], z: Value, *operands: Value) -> Value:
        if all(isinstance(t, Zero) for t in tangents):
            return Zero(aval(z))
        dtype = aval(z).dtype
        terms = [dtype.type(0) if isinstance(t, Zero) else t for t in tangents[1:]]
        return select_n(operands[0], *terms)

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        (ct,), (which, *cases) = cts, args
        results: list[Value] = [None]
        for position, case in enumerate(cases):
            if isinstance(case, Linear):
                only = [ct if i == position else case.aval.dtype.type(0) for i in range(len(cases))]
                results.append(unbroadcast(select_n(which, *only), case.aval))
            else:
                results.append(None)
        return results

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        if avals[0].dtype.kind == "b":
            return super().spell(operands, avals)
        return f"np.choose({operands[0]}, [{', '.join(operands[1:])}])"

    def fold(self, args: Sequence[Value], producer: Producer) -> Value | None:
        which, *cases = args
        if is_number(which):
            return select_n(which, *cases)
        first = cases[0]
        if all(_is_same(case, first) for case in cases[1:]):
            return fill(first, aval(which).shape)
        return super().fold(args, producer)


def _is_same(a: Value, b: Value) -> bool:
    """Whether two operands are one value, or the same number."""
    if isinstance(a, Tracer) or isinstance(b, Tracer):
        return isinstance(a, Tracer) and isinstance(b, Tracer) and a.variable is b.variable
    return (
        is_number(a) and is_number(b) and aval(a) == aval(b) and repr(number(a)) == repr(number(b))
    )


eq = binary(Eq)
ne = binary(Ne)
lt = binary(Lt)
le = binary(Le)
gt = binary(Gt)
ge = binary(Ge)
is_finite = unary(IsFinite)
isnan = unary(IsNan)
isinf = unary(IsInf)
signbit = unary(SignBit)
bitwise_and = binary(And)
bitwise_or = binary(Or)
bitwise_xor = binary(Xor)
bitwise_not = unary(Not)
shift_left = binary(ShiftLeft)
shift_right_arithmetic = binary(ShiftRightArithmetic)

_SELECT_N = SelectN()


def select_n(which: Value, *cases: Value) -> Value:
    """`cases[which]`, element by element; a boolean `which` chooses the first case where false."""
    operands = harmonized(cases)
    if is_number(which):
        shape = next((aval(case).shape for case in cases if aval(case).shape), ())
        return fill(operands[int(number(which))], shape)
    return bind(_SELECT_N, which, *operands)
