"""One or more samples of every primitive: small functions that apply it, with operands.

Adding a primitive is adding a line here. The laws of `test_laws.py` hold for each line. Axes of
size 3, 4 and 5 become the named dimensions n, m and k where a sample is traced symbolically, so a
function takes sizes from its operands' types, never from these numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.special

from s2s import lax
from s2s.ir.dims import Shape, bound_dimension
from s2s.ir.jaxpr import ShapedArray
from s2s.primitive import Value
from s2s.primitives.counts import BindDimension, NonZero, RowsOfSteps
from s2s.primitives.creation import Empty
from s2s.primitives.decompositions import Eigvalsh, Svdvals
from s2s.primitives.determinants import cofactors
from s2s.primitives.layout import Slice
from s2s.primitives.updates import update_slice
from s2s.trace import aval, bind

F32, F64, I64, BOOL = map(np.dtype, (np.float32, np.float64, np.int64, np.bool_))


@dataclass(frozen=True)
class Operand:
    """An operand: its type, and the range its values are drawn from."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any] = F64
    low: float = -2.0
    high: float = 2.0

    def draw(self, random: np.random.Generator) -> Any:
        """Values, pairwise different and away from each other where they are real numbers.

        So no sample stands at a kink: no two elements are equal, none is an integer.
        """
        if self.dtype == BOOL:
            return random.random(self.shape) < 0.5
        if self.dtype.kind in "iu":
            return random.integers(int(self.low), int(self.high), self.shape).astype(self.dtype)
        count = int(np.prod(self.shape))
        places = random.permutation(count) + 0.5 + 0.3 * random.uniform(-1, 1, count)
        values = self.low + (self.high - self.low) * places / count
        near = np.abs(values - np.round(values)) < 1e-2
        return np.where(near, values + 0.0217, values).reshape(self.shape).astype(self.dtype)[()]


def real(*shape: int, low: float = -2.0, high: float = 2.0) -> Operand:
    return Operand(shape, F64, low, high)


def positive(*shape: int) -> Operand:
    return real(*shape, low=0.3, high=2.5)


def integer(*shape: int, low: int = -4, high: int = 9) -> Operand:
    return Operand(shape, I64, low, high)


def boolean(*shape: int) -> Operand:
    return Operand(shape, BOOL)


@dataclass(frozen=True)
class Sample:
    """`fun` on operands like `operands` applies the primitive called `primitive`.

    `numpy` computes the same with NumPy, to the last bit; `jax` names the same function in JAX
    where its derivative is to be compared, the value `None` standing for `jax.lax.<primitive>`.
    """

    primitive: str
    fun: Callable[..., Value]
    operands: tuple[Operand, ...]
    numpy: Callable[..., Any] | None = None
    label: str = ""

    def __str__(self) -> str:
        shapes = ",".join("x".join(map(str, o.shape)) or "0" for o in self.operands)
        return f"{self.primitive}-{self.label or shapes}"


def shape(x: Value) -> Shape:
    return aval(x).shape


def _unary() -> list[Sample]:
    functions: list[tuple[str, Any, Any, Operand]] = [
        ("neg", lax.neg, np.negative, real(3)),
        ("abs", lax.abs, np.abs, real(3)),
        ("sign", lax.sign, np.sign, real(3)),
        ("floor", lax.floor, np.floor, real(3)),
        ("ceil", lax.ceil, np.ceil, real(3)),
        ("trunc", lax.trunc, np.trunc, real(3)),
        ("round", lax.round, np.rint, real(3)),
        ("square", lax.square, np.square, real(3)),
        ("reciprocal", lax.reciprocal, np.reciprocal, positive(3)),
        ("sqrt", lax.sqrt, np.sqrt, positive(3)),
        ("rsqrt", lax.rsqrt, lambda x: 1.0 / np.sqrt(x), positive(3)),
        ("cbrt", lax.cbrt, np.cbrt, real(3)),
        ("exp", lax.exp, np.exp, real(3)),
        ("exp2", lax.exp2, np.exp2, real(3)),
        ("expm1", lax.expm1, np.expm1, real(3)),
        ("log", lax.log, np.log, positive(3)),
        ("log1p", lax.log1p, np.log1p, real(3, low=-0.7)),
        ("log2", lax.log2, np.log2, positive(3)),
        ("log10", lax.log10, np.log10, positive(3)),
        ("sin", lax.sin, np.sin, real(3)),
        ("cos", lax.cos, np.cos, real(3)),
        ("tan", lax.tan, np.tan, real(3, low=-1.2, high=1.2)),
        ("asin", lax.asin, np.arcsin, real(3, low=-0.8, high=0.8)),
        ("acos", lax.acos, np.arccos, real(3, low=-0.8, high=0.8)),
        ("atan", lax.atan, np.arctan, real(3)),
        ("sinh", lax.sinh, np.sinh, real(3)),
        ("cosh", lax.cosh, np.cosh, real(3)),
        ("tanh", lax.tanh, np.tanh, real(3)),
        ("asinh", lax.asinh, np.arcsinh, real(3)),
        ("acosh", lax.acosh, np.arccosh, real(3, low=1.3, high=3.0)),
        ("atanh", lax.atanh, np.arctanh, real(3, low=-0.8, high=0.8)),
        ("erf", lax.erf, scipy.special.erf, real(3)),
        ("erfc", lax.erfc, scipy.special.erfc, real(3)),
        ("erf_inv", lax.erf_inv, scipy.special.erfinv, real(3, low=-0.8, high=0.8)),
        ("logistic", lax.logistic, scipy.special.expit, real(3)),
        ("lgamma", lax.lgamma, scipy.special.gammaln, positive(3)),
        ("digamma", lax.digamma, scipy.special.digamma, positive(3)),
        ("polygamma", lambda x: lax.polygamma(1, x), None, positive(3)),
        ("is_finite", lax.is_finite, np.isfinite, real(3)),
        ("isnan", lax.isnan, np.isnan, real(3)),
        ("isinf", lax.isinf, np.isinf, real(3)),
        ("signbit", lax.signbit, np.signbit, real(3)),
        ("not", lax.bitwise_not, np.logical_not, boolean(3)),
        ("not", lax.bitwise_not, np.invert, integer(3)),
        ("neg", lax.neg, np.negative, integer(3)),
        ("copy", lax.copy, np.copy, real(3)),
        ("stop_gradient", lax.stop_gradient, None, real(3)),
        ("integer_pow", lambda x: lax.integer_pow(x, 2), lambda x: x**2, real(3)),
        ("integer_pow", lambda x: lax.integer_pow(x, 3), lambda x: x**3, integer(3)),
        ("integer_pow", lambda x: lax.integer_pow(x, -3), lambda x: x**-3, positive(4)),
        ("integer_pow", lambda x: lax.integer_pow(x, 0), lambda x: x**0, real(5)),
    ]
    samples: list[Sample] = []
    for name, fun, numpy, operand in functions:
        samples.append(Sample(name, fun, (operand,), numpy))
        if operand.dtype == F64 and name != "integer_pow":
            scalar = Operand((), F64, operand.low, operand.high)
            samples.append(Sample(name, fun, (scalar,), numpy))
            matrix = Operand((3, 4), F64, operand.low, operand.high)
            samples.append(Sample(name, fun, (matrix,), numpy))
    return samples


def _binary() -> list[Sample]:
    samples: list[Sample] = []
    near_1 = real(3, low=0.95, high=0.99)
    functions: list[tuple[str, Any, Any, Operand, Operand]] = [
        ("add", lax.add, np.add, real(3), real(3)),
        ("add_any", lax.add_any, np.add, real(3), real(3)),
        ("sub", lax.sub, np.subtract, real(3), real(3)),
        ("mul", lax.mul, np.multiply, real(3), real(3)),
        ("div", lax.div, np.divide, real(3), positive(3)),
        # The quotients stay between 2 and 3.
        ("floor_divide", lax.floor_divide, np.floor_divide, real(3, low=2.2, high=2.8), near_1),
        ("remainder", lax.remainder, np.remainder, real(3, low=2.2, high=2.8), near_1),
        ("rem", lax.rem, np.fmod, real(3, low=2.2, high=2.8), near_1),
        ("nextafter", lax.nextafter, np.nextafter, real(3), real(3)),
        ("pow", lax.pow, np.power, positive(3), real(3)),
        ("hypot", lax.hypot, np.hypot, real(3), real(3)),
        ("atan2", lax.atan2, np.arctan2, real(3), real(3)),
        ("logaddexp", lax.logaddexp, np.logaddexp, real(3), real(3)),
        ("logaddexp2", lax.logaddexp2, np.logaddexp2, real(3), real(3)),
        ("copysign", lax.copysign, np.copysign, real(3), real(3)),
        ("max", lax.max, np.maximum, real(3), real(3, low=-1.9)),
        ("min", lax.min, np.minimum, real(3), real(3, low=-1.9)),
        ("python_max", lax.python_max, np.maximum, real(3), real(3, low=-1.9)),
        ("python_min", lax.python_min, np.minimum, real(3), real(3, low=-1.9)),
        ("eq", lax.eq, np.equal, real(3), real(3)),
        ("ne", lax.ne, np.not_equal, real(3), real(3)),
        ("lt", lax.lt, np.less, real(3), real(3)),
        ("le", lax.le, np.less_equal, real(3), real(3)),
        ("gt", lax.gt, np.greater, real(3), real(3)),
        ("ge", lax.ge, np.greater_equal, real(3), real(3)),
        ("and", lax.bitwise_and, np.logical_and, boolean(3), boolean(3)),
        ("or", lax.bitwise_or, np.logical_or, boolean(3), boolean(3)),
        ("xor", lax.bitwise_xor, np.logical_xor, boolean(3), boolean(3)),
        ("and", lax.bitwise_and, np.bitwise_and, integer(3), integer(3)),
        ("or", lax.bitwise_or, np.bitwise_or, integer(3), integer(3)),
        ("xor", lax.bitwise_xor, np.bitwise_xor, integer(3), integer(3)),
        ("shift_left", lax.shift_left, np.left_shift, integer(3), integer(3, low=0, high=5)),
        (
            "shift_right_arithmetic",
            lax.shift_right_arithmetic,
            np.right_shift,
            integer(3),
            integer(3, low=0, high=5),
        ),
        ("add", lax.add, np.add, integer(4), integer(4)),
        ("mul", lax.mul, np.multiply, integer(4), integer(4)),
        ("floor_divide", lax.floor_divide, np.floor_divide, integer(4), integer(4, low=1)),
        ("remainder", lax.remainder, np.remainder, integer(4), integer(4, low=1)),
        ("max", lax.max, np.maximum, integer(4), integer(4)),
        ("lt", lax.lt, np.less, integer(4), integer(4)),
    ]
    for name, fun, numpy, x, y in functions:
        shapes = [((3,), (3,)), ((), ()), ((), (3,)), ((3, 4), ()), ((3, 4), (3, 4))]
        if name == "add_any" or x.dtype != F64:
            shapes = [(x.shape, y.shape)]
        for x_shape, y_shape in shapes:
            operands = (
                Operand(x_shape, x.dtype, x.low, x.high),
                Operand(y_shape, y.dtype, y.low, y.high),
            )
            samples.append(Sample(name, fun, operands, numpy))
    return samples


def _elementwise_with_numbers() -> list[Sample]:
    """A Python number as an operand takes the element type of the other one."""
    return [
        Sample("mul", lambda x: lax.mul(2, x), (real(3),), lambda x: 2 * x, "number"),
        Sample("div", lambda x: lax.div(1, x), (positive(3),), lambda x: 1 / x, "number"),
        Sample("pow", lambda x: lax.pow(x, 2.5), (positive(3),), lambda x: x**2.5, "number"),
        Sample("pow", lambda x: lax.pow(3.0, x), (real(3),), lambda x: 3.0**x, "number-base"),
        Sample(
            "max", lambda x: lax.max(x, 0.5), (real(3),), lambda x: np.maximum(x, 0.5), "number"
        ),
        Sample(
            "min", lambda x: lax.min(0.5, x), (real(3),), lambda x: np.minimum(0.5, x), "number"
        ),
        Sample("atan2", lambda x: lax.atan2(1.0, x), (real(3),), None, "number"),
        Sample(
            "clamp",
            lambda x: lax.clamp(-1.0, x, 1.0),
            (real(5),),
            lambda x: np.clip(x, -1.0, 1.0),
            "numbers",
        ),
        Sample("clamp", lax.clamp, (real(5, high=-0.1), real(5), real(5, low=0.1))),
        Sample("clamp", lax.clamp, (real(), real(5, low=-1.8), real())),
        Sample("select_n", lax.select_n, (boolean(3), real(3), real(3))),
        Sample("select_n", lax.select_n, (boolean(), real(3), real(3))),
        Sample("select_n", lax.select_n, (boolean(3), real(), real(3))),
        Sample("select_n", lax.select_n, (boolean(3), real(), real())),
        Sample("select_n", lax.select_n, (integer(5, low=0, high=3), real(5), real(5), real(5))),
        Sample(
            "select_n", lambda c, x: lax.select_n(c, x, 1), (boolean(3), real(3)), None, "number"
        ),
        Sample(
            "convert_element_type",
            lambda x: lax.convert_element_type(x, F32),
            (Operand((3,), F64),),
            lambda x: x.astype(np.float32),
            "f32",
        ),
        Sample(
            "convert_element_type",
            lambda x: lax.convert_element_type(x, F64),
            (integer(3),),
            lambda x: x.astype(np.float64),
            "from-i64",
        ),
        Sample(
            "convert_element_type",
            lambda x: lax.convert_element_type(x, I64),
            (real(3),),
            lambda x: x.astype(np.int64),
            "to-i64",
        ),
        Sample(
            "convert_element_type", lambda x: lax.convert_element_type(x, F64), (boolean(),), None
        ),
    ]


def _layout() -> list[Sample]:
    def broadcast(axes: Sequence[int], *extra: int) -> Callable[[Value], Value]:
        def fun(x: Value) -> Value:
            sizes = iter(extra)
            own = dict(zip(axes, shape(x), strict=True))
            rank = len(axes) + len(extra)
            result = tuple(own[a] if a in own else next(sizes) for a in range(rank))
            return lax.broadcast_in_dim(x, result, axes)

        return fun

    return [
        Sample("broadcast_in_dim", broadcast((), 2), (real(),)),
        Sample("broadcast_in_dim", broadcast((), 2, 2), (real(),), None, "0-2x2"),
        Sample("broadcast_in_dim", broadcast((0,), 2), (real(3),), None, "in-front"),
        Sample("broadcast_in_dim", broadcast((1,), 2), (real(3),), None, "behind"),
        Sample("broadcast_in_dim", broadcast((1,), 1, 1), (real(3),), None, "axes-of-1"),
        Sample("broadcast_in_dim", broadcast((0, 2), 2), (real(3, 4),), None, "between"),
        Sample(
            "broadcast_in_dim",
            lambda x: lax.broadcast_in_dim(x, (*shape(x)[:1], 2, 2), (0, 1)),
            (real(3, 1),),
            None,
            "stretched",
        ),
        Sample("reshape", lambda x: lax.reshape(x, (shape(x)[0] * shape(x)[1],)), (real(3, 4),)),
        Sample("reshape", lambda x: lax.reshape(x, (2, shape(x)[0], 1)), (real(3, 2),)),
        Sample("reshape", lambda x: lax.reshape(x, (1, 1)), (real(),)),
        Sample("transpose", lambda x: lax.transpose(x, (1, 0)), (real(3, 4),), np.transpose),
        Sample("transpose", lambda x: lax.transpose(x, (1, 2, 0)), (real(3, 4, 2),)),
        Sample("squeeze", lambda x: lax.squeeze(x, (0, 2)), (real(1, 3, 1),), np.squeeze),
        Sample("squeeze", lambda x: lax.squeeze(x, (1,)), (real(3, 1, 4),)),
        Sample("rev", lambda x: lax.rev(x, (0,)), (real(3),), lambda x: x[::-1]),
        Sample("rev", lambda x: lax.rev(x, (1,)), (real(3, 4),), lambda x: x[:, ::-1]),
        Sample(
            "slice",
            lambda x: lax.slice(x, (1,), (shape(x)[0] - 1,)),
            (real(5),),
            lambda x: x[1:-1],
        ),
        Sample(
            "slice",
            lambda x: lax.slice(x, (0, 1), shape(x), (1, 2)),
            (real(3, 4),),
            lambda x: x[:, 1::2],
        ),
        Sample("slice", lambda x: lax.slice(x, (0,), (2,)), (real(3),), lambda x: x[:2], "first"),
        Sample(
            "pad",
            lambda x, v: lax.pad(x, v, [(1, 2, 0)]),
            (real(3), real()),
            lambda x, v: np.pad(x, (1, 2), constant_values=v),
        ),
        Sample("pad", lambda x, v: lax.pad(x, v, [(0, 1, 2), (2, 0, 1)]), (real(3, 4), real())),
        Sample("pad", lambda x: lax.pad(x, 0.0, [(0, 1, 1)]), (real(3),)),
        Sample(
            "concatenate",
            lambda x, y: lax.concatenate([x, y], 0),
            (real(3), real(4)),
            lambda x, y: np.concatenate([x, y]),
        ),
        Sample(
            "concatenate",
            lambda x, y, z: lax.concatenate([x, y, z], 1),
            (real(3, 1), real(3, 4), real(3, 2)),
            lambda x, y, z: np.concatenate([x, y, z], axis=1),
        ),
        Sample("stack", lambda x, y: lax.stack([x, y]), (real(3), real(3))),
        Sample("stack", lambda x, y: lax.stack([x, y], 1), (real(3, 4), real(3, 4))),
        Sample("stack", lambda x, y: lax.stack([x, y]), (real(), real())),
        Sample("iota", lambda x: lax.add(x, lax.iota(F64, shape(x), 1)), (real(3, 4),)),
        Sample("iota", lambda x: lax.mul(x, lax.iota(F64, shape(x)[0])), (real(3),)),
        Sample(
            "linspace",
            lambda x, y: lax.linspace(x, y, 4),
            (real(), real()),
            lambda x, y: np.linspace(x, y, 4),
        ),
        Sample(
            "linspace",
            lambda x, y: lax.mul(y, lax.linspace(x, 2.5, shape(y)[0], endpoint=False)),
            (real(), real(3)),
        ),
        Sample("linspace", lambda x: lax.linspace(x, x, 1), (real(),)),
        Sample(
            "empty",
            lambda x: lax.select_n(lax.isnan(x), x, bind(Empty(aval(x).dtype, shape(x)))),
            (real(3),),
        ),
        Sample(
            "dim_as_value",
            lambda x: lax.div(x, lax.convert_element_type(lax.dim_as_value(shape(x)[0]), F64)),
            (real(3),),
            lambda x: x / 3,
        ),
        Sample(
            "bind_dimension",
            lambda n: bind(BindDimension(bound_dimension("steps")), n)[0],
            (integer(low=0),),
            lambda n: n,
        ),
        Sample(
            "nonzero",
            lambda x: bind(NonZero(bound_dimension("steps")), x)[0],
            (boolean(3),),
            np.count_nonzero,
        ),
        Sample(
            "rows_of_steps",
            lambda x: bind(RowsOfSteps(), np.int64(3), x),
            (real(3, 4),),
            lambda x: x,
        ),
    ]


def _sorting() -> list[Sample]:
    def searched(side: Any) -> Sample:
        return Sample(
            "searchsorted",
            lambda a, v: lax.searchsorted(lax.sort(a), v, side),
            (real(5), real(3, 4)),
            lambda a, v: np.searchsorted(np.sort(a), v, side),
            side,
        )

    v, m = (real(5),), (real(3, 4),)
    return [
        Sample("sort", lambda x: lax.sort(x), v, np.sort),
        Sample("sort", lambda x: lax.sort(x, 0, False), m, lambda x: np.sort(x, 0)),
        Sample("argsort", lambda x: lax.argsort(x), v, np.argsort),
        Sample("argsort", lambda x: lax.argsort(x, 0), m, lambda x: np.argsort(x, 0)),
        Sample("partition", lambda x: lax.partition(x, (2,)), v, lambda x: np.partition(x, 2)),
        Sample(
            "partition",
            lambda x: lax.partition(x, (0, 2), 0),
            m,
            lambda x: np.partition(x, (0, 2), 0),
        ),
        Sample(
            "argpartition", lambda x: lax.argpartition(x, (2,)), v, lambda x: np.argpartition(x, 2)
        ),
        searched("left"),
        searched("right"),
        Sample("median", lambda x: lax.median(x), v, np.median),
        Sample("median", lambda x: lax.median(x, 1), m, lambda x: np.median(x, 1)),
        Sample("median", lambda x: lax.median(x, 0), m, lambda x: np.median(x, 0)),
        Sample("quantile", lambda x: lax.quantile(x, 0.3), v, lambda x: np.quantile(x, 0.3)),
        Sample(
            "quantile",
            lambda x: lax.quantile(x, (0.2, 1.0), 0),
            m,
            lambda x: np.quantile(x, [0.2, 1.0], 0),
        ),
    ]


def _reductions() -> list[Sample]:
    samples: list[Sample] = []
    over_axes: list[tuple[str, Any, Any]] = [
        ("reduce_sum", lax.reduce_sum, np.sum),
        ("reduce_prod", lax.reduce_prod, np.prod),
        ("reduce_max", lax.reduce_max, np.max),
        ("reduce_min", lax.reduce_min, np.min),
    ]
    for name, fun, numpy in over_axes:
        for size, axes in [((3,), (0,)), ((3, 4), (1,)), ((3, 4), (0, 1)), ((2, 3, 2), (0, 2))]:

            def reduce(x: Value, fun: Any = fun, axes: Any = axes) -> Value:
                return fun(x, axes)

            def expected(x: Any, numpy: Any = numpy, axes: Any = axes) -> Any:
                return numpy(x, axis=axes)

            label = f"{'x'.join(map(str, size))}-over-{'-'.join(map(str, axes))}"
            samples.append(Sample(name, reduce, (real(*size),), expected, label))
    along_axis: list[tuple[str, Any, Any]] = [
        ("cumsum", lax.cumsum, np.cumsum),
        ("cumprod", lax.cumprod, np.cumprod),
        ("cummax", lax.cummax, np.maximum.accumulate),
        ("cummin", lax.cummin, np.minimum.accumulate),
    ]
    for name, fun, numpy in along_axis:
        for size, axis in [((5,), 0), ((3, 4), 0), ((3, 4), 1)]:
            for reverse in (False, True):

                def running(x: Value, fun: Any = fun, axis: Any = axis, r: Any = reverse) -> Value:
                    return fun(x, axis, r)

                def expected(x: Any, numpy: Any = numpy, axis: Any = axis, r: Any = reverse) -> Any:
                    return np.flip(numpy(np.flip(x, axis), axis), axis) if r else numpy(x, axis)

                label = f"{'x'.join(map(str, size))}-{axis}{'-reverse' * reverse}"
                samples.append(Sample(name, running, (real(*size),), expected, label))
    return [
        *samples,
        Sample("reduce_sum", lambda x: lax.reduce_sum(x, (0,)), (integer(3),), np.sum, "i64"),
        Sample("reduce_sum", lambda x: lax.reduce_sum(x, (0,)), (boolean(3),), np.sum, "bool"),
        Sample("reduce_prod", lambda x: lax.reduce_prod(x, (0,)), (integer(3),), np.prod, "i64"),
        Sample("reduce_and", lambda x: lax.reduce_and(x, (0,)), (boolean(3, 4),)),
        Sample("reduce_or", lambda x: lax.reduce_or(x, (0, 1)), (boolean(3, 4),)),
        *_sorting(),
        Sample("argmax", lambda x: lax.argmax(x, 1), (real(3, 4),), lambda x: np.argmax(x, 1)),
        Sample("argmin", lambda x: lax.argmin(x, 0), (real(3),), np.argmin),
    ]


def _contractions() -> list[Sample]:
    table: list[tuple[tuple[int, ...], tuple[int, ...], Any]] = [
        ((3,), (3,), (((0,), (0,)), ((), ()))),
        ((3, 4), (4,), (((1,), (0,)), ((), ()))),
        ((3, 4), (3,), (((0,), (0,)), ((), ()))),
        ((3,), (3, 4), (((0,), (0,)), ((), ()))),
        ((4,), (3, 4), (((0,), (1,)), ((), ()))),
        ((3, 4), (4, 5), (((1,), (0,)), ((), ()))),
        ((3, 4), (5, 4), (((1,), (1,)), ((), ()))),
        ((4, 3), (4, 5), (((0,), (0,)), ((), ()))),
        ((4, 3), (5, 4), (((0,), (1,)), ((), ()))),
        ((3,), (4,), (((), ()), ((), ()))),
        ((3, 2), (4,), (((), ()), ((), ()))),
        ((3, 4), (3, 4), (((0, 1), (0, 1)), ((), ()))),
        ((2, 3, 4), (4, 3, 5), (((2, 1), (0, 1)), ((), ()))),
        ((3, 4), (3, 4), (((1,), (1,)), ((0,), (0,)))),
        ((2, 3, 4), (2, 4, 5), (((2,), (1,)), ((0,), (0,)))),
        ((3, 4, 2), (5, 2, 4), (((1,), (2,)), ((2,), (1,)))),
        ((2, 3), (2, 4), (((), ()), ((0,), (0,)))),
    ]

    def dot(numbers: Any) -> Callable[[Value, Value], Value]:
        return lambda x, y: lax.dot_general(x, y, numbers)

    return [
        Sample("dot_general", dot(numbers), (real(*x), real(*y)), None, f"{x}{y}{numbers}")
        for x, y, numbers in table
    ]


def _indexing() -> list[Sample]:
    index = integer(4, low=-3, high=3)

    def put(x: Value, i: Value, u: Value) -> Value:
        return lax.put_at(x, [0], [i], u)

    def add(x: Value, i: Value, u: Value) -> Value:
        return lax.put_at(x, [0], [i], u, add=True)

    def add_statement(x: Any, i: Any, u: Any) -> Any:
        result = x.copy()
        np.add.at(result, i, u)
        return result

    def put_statement(x: Any, i: Any, u: Any) -> Any:
        result = x.copy()
        result[i] = u
        return result

    windows = lax.GatherDimensionNumbers((1,), (), (0,))
    put_windows = lax.ScatterDimensionNumbers((1,), (), (0,))
    clip = lax.GatherScatterMode.CLIP
    number = integer(low=-3, high=3)
    return [
        Sample(
            "gather", lambda x, i: lax.take_at(x, [0], [i]), (real(3), number), lambda x, i: x[i]
        ),
        Sample(
            "gather", lambda x, i: lax.take_at(x, [0], [i]), (real(3), index), lambda x, i: x[i]
        ),
        Sample(
            "gather",
            lambda x, i: lax.take_at(x, [1], [i]),
            (real(5, 3), index),
            lambda x, i: x[:, i],
            "columns",
        ),
        Sample(
            "gather",
            lambda x, i, j: lax.take_at(x, [0, 1], [i, j]),
            (real(3, 3, 2), index, index),
            lambda x, i, j: x[i, j],
            "pairs",
        ),
        Sample(
            "gather",
            lambda x, i, j: lax.take_at(x, [0, 2], [i, j]),
            (real(3, 2, 3), index, number),
            lambda x, i, j: x[i, :, j],
            "apart",
        ),
        Sample(
            "gather",
            lambda x, i: lax.take_at(x, [1], [i]),
            (real(2, 3), integer(4, 5, low=-3, high=3)),
            lambda x, i: x[:, i],
            "matrix-of-indices",
        ),
        Sample(
            "gather",
            lambda x, i: lax.gather(x, [i], windows, (2,), clip),
            (real(5), integer(4, low=-1, high=7)),
            None,
            "windows",
        ),
        Sample("scatter", put, (real(3), integer(2, low=-3, high=3), real(2)), put_statement),
        Sample("scatter", put, (real(3), index, real(4)), put_statement, "repeated"),
        Sample("scatter", put, (real(3, 2), index, real(4, 2)), put_statement, "rows"),
        Sample("scatter", put, (real(3, 2), number, real(2)), put_statement, "row"),
        Sample(
            "scatter",
            lambda x, i, u: lax.scatter(x, [i], u, put_windows, mode=clip),
            (real(5), integer(4, low=-1, high=7), real(4, 2)),
            None,
            "windows",
        ),
        Sample("scatter-add", add, (real(3), index, real(4)), add_statement),
        Sample("scatter-add", add, (real(3, 2), index, real(4, 2)), add_statement),
        Sample("scatter-add", add, (real(3), number, real()), add_statement),
        Sample(
            "scatter-add",
            lambda x, i, j, u: lax.put_at(x, [0, 1], [i, j], u, add=True),
            (real(3, 3), index, index, real(4)),
            None,
            "pairs",
        ),
        Sample(
            "dynamic_slice",
            lambda x, i: lax.dynamic_slice(x, [i], (2,)),
            (real(5), integer(low=-1, high=6)),
        ),
        Sample(
            "dynamic_slice",
            lambda x, i: lax.dynamic_slice(x, [i, 0], (1, *shape(x)[1:])),
            (real(3, 4), integer(low=0, high=3)),
        ),
        Sample(
            "update_slice",
            lambda x, u: update_slice(x, u, Slice((1,), (3,))),
            (real(5), real(2)),
        ),
        Sample(
            "update_slice",
            lambda x, u: update_slice(x, u, Slice((0, 1), (shape(x)[0], 4), (1, 2))),
            (real(3, 4), real(3, 2)),
        ),
        Sample(
            "update_slice_add",
            lambda x, u: update_slice(x, u, Slice((1, 0), (3, shape(x)[1])), add=True),
            (real(3, 4), real(2, 4)),
        ),
        Sample(
            "dynamic_update_slice",
            lambda x, u, i: lax.dynamic_update_slice(x, u, [i]),
            (real(5), real(2), integer(low=-1, high=6)),
        ),
        Sample(
            "dynamic_update_slice",
            lambda x, u, i, j: lax.dynamic_update_slice(x, u, [i, j]),
            (real(3, 4), real(2, 2), integer(low=0, high=3), integer(low=0, high=3)),
        ),
    ]


def _linear_algebra() -> list[Sample]:
    def spread(x: Value) -> Value:
        """A matrix of x whose eigenvalues and singular values are apart from zero and each other:
        near 1, 2, 3 and so on."""
        size, rank = shape(x)[-1], len(shape(x))
        rows, columns = (lax.broadcasted_iota(F64, (size, size), axis) for axis in (0, 1))
        numbers = lax.convert_element_type(lax.add(rows, 1.0), aval(x).dtype)
        diagonal = lax.select_n(lax.eq(rows, columns), aval(x).dtype.type(0), numbers)
        diagonal = lax.broadcast_in_dim(diagonal, shape(x), (rank - 2, rank - 1))
        return lax.add(lax.mul(0.15, x), diagonal)

    def tall(x: Value, y: Value) -> Value:
        return lax.concatenate([spread(x), spread(y)], len(shape(x)) - 2)

    def wide(x: Value, y: Value) -> Value:
        return lax.concatenate([spread(x), spread(y)], len(shape(x)) - 1)

    def lower(a: Value, b: Value) -> Value:
        return lax.triangular_solve(lax.tril(spread(a)), b, lower=True)

    def upper(a: Value, b: Value) -> Value:
        return lax.triangular_solve(lax.triu(spread(a)), b, lower=False)

    def lower_transposed(a: Value, b: Value) -> Value:
        return lax.triangular_solve(lax.tril(spread(a)), b, lower=True, transpose_a=True)

    def solve(a: Value, b: Value) -> Value:
        return lax.solve(spread(a), b)

    matrix, stack = real(3, 3), real(2, 3, 3)
    vector, columns, stacked = real(3), real(3, 4), real(2, 3, 4)
    samples = [
        Sample("tril", lax.tril, (columns,), np.tril),
        Sample("tril", lambda x: lax.tril(x, -1), (stack,), lambda x: np.tril(x, -1)),
        Sample("triu", lax.triu, (columns,), np.triu),
        Sample("triu", lambda x: lax.triu(x, 1), (stack,), lambda x: np.triu(x, 1)),
        Sample("solve", solve, (matrix, vector)),
        Sample("solve", solve, (matrix, columns)),
        Sample("solve", solve, (stack, stacked)),
        Sample("triangular_solve", lower, (matrix, vector), None, "lower"),
        Sample("triangular_solve", upper, (matrix, columns), None, "upper"),
        Sample("triangular_solve", lower_transposed, (stack, stacked), None, "transposed"),
    ]
    for operand in (matrix, stack):
        samples += [
            Sample("inv", lambda x: lax.inv(spread(x)), (operand,)),
            Sample("det", lambda x: lax.det(spread(x)), (operand,)),
            Sample("cofactors", lambda x: cofactors(spread(x)), (operand,)),
            Sample("slogdet", lambda x: lax.slogdet(spread(x))[1], (operand,)),
            Sample("pinv", lambda x: lax.pinv(spread(x)), (operand,)),
            Sample("pinv", lambda x, y: lax.pinv(tall(x, y)), (operand, operand), None),
            Sample("pinv", lambda x, y: lax.pinv(wide(x, y)), (operand, operand), None, "wide"),
            Sample("cholesky", lambda x: lax.cholesky(spread(x)), (operand,)),
            Sample("eigvalsh", lambda x: bind(Eigvalsh(), spread(x)), (operand,)),
            Sample("svdvals", lambda x, y: bind(Svdvals(), tall(x, y)), (operand, operand)),
        ]
        for place, result in enumerate("qr"):
            label = f"{result}-{operand.shape}"
            samples += [
                Sample("qr", _result(lax.qr, place, spread), (operand,), None, label),
                Sample("qr", _result(lax.qr, place, tall), (operand,) * 2, None, f"tall-{label}"),
                Sample("qr", _result(lax.qr, place, wide), (operand,) * 2, None, f"wide-{label}"),
            ]
        for place, result in enumerate("wv"):
            label = f"{result}-{operand.shape}"
            samples.append(
                Sample("eigh", _result(lax.eigh, place, spread), (operand,), None, label)
            )
        for place, result in enumerate(("u", "s", "vh")):
            label = f"{result}-{operand.shape}"
            samples += [
                Sample("svd", _result(lax.svd, place, spread), (operand,), None, label),
                Sample("svd", _result(lax.svd, place, tall), (operand,) * 2, None, f"tall-{label}"),
                Sample("svd", _result(lax.svd, place, wide), (operand,) * 2, None, f"wide-{label}"),
            ]
    samples += [
        Sample("slogdet", lambda x: lax.slogdet(spread(x))[0], (matrix,), None, "sign"),
        Sample("eigh", lambda x: lax.eigh(spread(x), lower=False)[1], (matrix,), None, "v-upper"),
        Sample("lstsq", lambda x, b: lax.lstsq(spread(x), b), (matrix, vector)),
        Sample("lstsq", lambda x, y, b: lax.lstsq(tall(x, y), tall(b, b)), (matrix,) * 3),
        Sample("lstsq", lambda x, y, b: lax.lstsq(wide(x, y), b), (matrix, matrix, columns)),
    ]
    return samples


def _result(
    decompose: Callable[[Value], Sequence[Value]], place: int, matrix: Callable[..., Value]
) -> Callable[..., Value]:
    """One of the results of a decomposition of the matrix that is made of the operands."""
    return lambda *xs: decompose(matrix(*xs))[place]


SAMPLES: list[Sample] = [
    *_unary(),
    *_binary(),
    *_elementwise_with_numbers(),
    *_layout(),
    *_reductions(),
    *_contractions(),
    *_indexing(),
    *_linear_algebra(),
]


def types(sample: Sample, names: dict[int, Any] | None = None) -> list[ShapedArray]:
    """The types of a sample's operands, with names for some sizes."""
    names = names or {}
    return [
        ShapedArray(tuple(names.get(size, size) for size in o.shape), o.dtype)
        for o in sample.operands
    ]
