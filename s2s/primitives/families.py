"""The families that primitives belong to, which supply most of their rules.

An elementwise primitive states its derivative and nothing else: `dx(t, z, x)` is the term of the
tangent for the tangent `t` of its operand `x`, `z` being the result. A term is one linear operation
on `t`, so that it reads the same in both directions.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NoReturn, cast

from s2s.ir.dims import Shape, Size, require_same, same_shape
from s2s.ir.dtypes import BOOL, DType, promote
from s2s.ir.jaxpr import JaxprEqn, Literal, ShapedArray
from s2s.primitive import (
    BatchAxis,
    Linear,
    NotLinear,
    Precedence,
    Primitive,
    Producer,
    Value,
    Zero,
    registry,
)
from s2s.primitives.core import (
    PYTHON_TYPE,
    BroadcastInDim,
    broadcast_in_dim,
    convert_element_type,
    defined_by as defined_by,
    fill,
    instantiate as instantiate,
    is_number,
    move_batch_axis as move_batch_axis,
    number,
    operands_of,
    unbroadcast,
)
from s2s.trace import Tracer, aval, bind, phase

Term = Callable[..., Value]


class Elementwise(Primitive):
    """One result element for each element of the operands.

    The operands are arrays of one shape, or of rank 0, and of one element type. The result is a
    Python scalar if all operands are.
    """

    is_cheap = True
    kinds: ClassVar[str] = "fc"
    """The kinds of element type admitted: b(ool), i(nt), u(nsigned), f(loat), c(omplex)."""

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        raise NotLinear(self.name)

    def abstract(self, *avals: ShapedArray) -> ShapedArray:
        shape: Shape = ()
        first = avals[0]
        dtype = first.dtype
        if all(aval_ is first for aval_ in avals) and dtype.kind in self.kinds:
            result = self.result_dtype(dtype)
            return first if result == dtype else ShapedArray(first.shape, result, first.weak_type)
        weak = True
        for aval_ in avals:
            if aval_.dtype != dtype:
                self.refuse(avals, "have different element types")
            if aval_.shape:
                if not shape:
                    shape = aval_.shape
                elif not (
                    len(shape) == len(aval_.shape) and all(map(require_same, shape, aval_.shape))
                ):
                    self.refuse(avals, "have different shapes")
            weak = weak and aval_.weak_type
        if dtype.kind not in self.kinds:
            self.refuse(avals, "have an element type that it does not take")
        return ShapedArray(shape, self.result_dtype(dtype), weak)

    def result_dtype(self, dtype: DType) -> DType:
        """The element type of the result for operands of type `dtype`."""
        return dtype

    def refuse(self, avals: Sequence[ShapedArray], why: str) -> NoReturn:
        """Raise the error for operands that do not fit."""
        raise TypeError(f"the operands of {self.name}, {' and '.join(map(str, avals))}, {why}")

    def terms(self) -> Sequence[Term]:
        """For each operand, its term of the tangent."""
        self.missing("jvp")

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        z = bind(self, *primals)
        z_aval = aval(z)
        if z_aval.dtype.kind == "c":
            raise TypeError(
                f"the derivative of {self.name} of complex numbers is not supported; "
                "write the function on the real and the imaginary part"
            )
        with phase("tangent"):
            tangent = self.tangent(tangents, z, *primals)
            return z, tangent if isinstance(tangent, Zero) else fill(tangent, z_aval.shape)

    def tangent(self, tangents: Sequence[Value], z: Value, *operands: Value) -> Value:
        """The tangent of the result z: the sum of the terms, for primitives that have no better."""
        total: Value = Zero(aval(z))
        for term, t in zip(self.terms(), tangents, strict=True):
            if not isinstance(t, Zero):
                total = add_any(total, term(t, z, *operands))
        return total

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, BatchAxis]:
        ranks = [aval(arg).ndim - (dim is not None) for arg, dim in zip(args, dims, strict=True)]
        rank = max(ranks)
        # The batch axis of the first operand of full rank, so that this one need not be moved.
        axis = next((d for d, r in zip(dims, ranks, strict=True) if d is not None and r == rank), 0)
        shape = self._batched_shape(size, args, dims, ranks, axis)
        batched: list[Value] = []
        for arg, dim, own_rank in zip(args, dims, ranks, strict=True):
            if dim is None and own_rank == 0:
                batched.append(arg)
            elif own_rank == rank:
                batched.append(move_batch_axis(arg, dim, axis, size))
            else:
                batched.append(broadcast_in_dim(arg, shape, (axis,)))
        return bind(self, *batched), axis

    def _batched_shape(
        self,
        size: Size,
        args: Sequence[Value],
        dims: Sequence[BatchAxis],
        ranks: Sequence[int],
        axis: int,
    ) -> Shape:
        rank = max(ranks)
        arg, dim = next((a, d) for a, d, r in zip(args, dims, ranks, strict=True) if r == rank)
        shape = list(aval(arg).shape)
        if dim is not None:
            del shape[dim]
        return (*shape[:axis], size, *shape[axis:])

    def fold_derivative(self, args: Sequence[Value], producer: Producer) -> Value | None:
        """What is repeated is computed once: of operands that are broadcast, those of rank 0 stand
        as they are where another one gives the shape, and where all are broadcast alike the result
        is broadcast instead.

        Not in the user's own values: there, the order in which NumPy later sums the result depends
        on its memory layout, and that on the operands'.
        """
        wide: list[JaxprEqn | None] = []
        for arg in args:
            eqn = producer(arg)
            repeats = eqn is not None and isinstance(eqn.primitive, BroadcastInDim)
            wide.append(eqn if repeats else None)
        if not any(wide):
            return None
        narrow = [
            arg if eqn is None else operands_of(arg, eqn)[0]
            for arg, eqn in zip(args, wide, strict=True)
        ]
        primitives = {cast(BroadcastInDim, eqn.primitive) for eqn in wide if eqn is not None}
        alike = len(primitives) == 1 and all(
            eqn is not None or not aval(arg).shape for arg, eqn in zip(args, wide, strict=True)
        )
        if alike:
            return self._of_repeated(narrow, *primitives)
        scalars = [
            small if not aval(small).shape else arg for arg, small in zip(args, narrow, strict=True)
        ]
        return None if all(map(operator.is_, scalars, args)) else bind(self, *scalars)

    def _of_repeated(self, operands: Sequence[Value], repeat: BroadcastInDim) -> Value | None:
        arrays = [aval(x) for x in operands if aval(x).shape]
        if any(not same_shape(x.shape, arrays[0].shape) for x in arrays[1:]):
            return None
        if arrays and repeat.adds_axes_of_size_1(arrays[0]):
            return None
        known = all(map(is_number, operands))
        value = self.evaluate(*map(number, operands)) if known else bind(self, *operands)
        axes = repeat.broadcast_dimensions if arrays else ()
        return broadcast_in_dim(value, repeat.shape, axes)

    def without(self, neutral: float, args: Sequence[Value]) -> Value | None:
        """The other operand if one is the number `neutral`, as large as the result."""
        x, y = args
        if is_number(y) and number(y) == neutral:
            return x
        return y if is_number(x) and number(x) == neutral else None


class Unary(Elementwise):
    """A function of one number; it states `dx`."""

    precedence = Precedence.ATOM

    def dx(self, t: Value, z: Value, x: Value) -> Value:
        """The tangent of the result z for the tangent t of x."""
        self.missing("dx")

    def terms(self) -> Sequence[Term]:
        return (self.dx,)


class Binary(Elementwise):
    """A function of two numbers; it states `dx` and `dy`."""

    kinds = "iufc"

    def dx(self, t: Value, z: Value, x: Value, y: Value) -> Value:
        """The term of the tangent of the result z for the tangent t of x."""
        self.missing("dx")

    def dy(self, t: Value, z: Value, x: Value, y: Value) -> Value:
        """The term of the tangent of the result z for the tangent t of y."""
        self.missing("dy")

    def terms(self) -> Sequence[Term]:
        return (self.dx, self.dy)


class LocallyConstant(Elementwise):
    """Its derivative is zero wherever it has one: comparisons, rounding, integer arithmetic."""

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        z = bind(self, *primals)
        return z, Zero(aval(z))

    def fold_truth(self, args: Sequence[Value], producer: Producer) -> Value | None:
        """The fold of what has no rounding: known values are known, repeated ones found once."""
        known = self._known_truth(args)
        return Elementwise.fold_derivative(self, args, producer) if known is None else known

    def _known_truth(self, args: Sequence[Value]) -> Value | None:
        if not all(map(is_number, args)):
            return None
        result = self.abstract(*map(aval, args))
        if result.dtype != BOOL:
            return None
        truth = bool(self.evaluate(*map(number, args)))
        return Literal(truth if result.weak_type else BOOL.type(truth), result)


class Predicate(LocallyConstant):
    """Its result is a boolean."""

    kinds = "biufc"

    def result_dtype(self, dtype: DType) -> DType:
        return BOOL

    def fold(self, args: Sequence[Value], producer: Producer) -> Value | None:
        return self.fold_truth(args, producer)


# -- functions of the surface ---------------------------------------------------------------------


def apply(primitive: Primitive, *operands: Value) -> Value:
    """Bind an elementwise primitive; Python scalars take the element type of the other operands.

    A number is computed at once if all operands are numbers.
    """
    if all(isinstance(operand, Tracer) for operand in operands):
        dtype = operands[0].aval.dtype
        if all(operand.aval.dtype == dtype for operand in operands):
            return bind(primitive, *operands)
    if all(is_number(operand) for operand in operands):
        return primitive.evaluate(*map(number, harmonized(operands)))
    return bind(primitive, *harmonized(operands))


def harmonized(operands: Sequence[Value]) -> list[Value]:
    """The operands with one element type: Python scalars adopt that of the others.

    Operands with an element type of their own stay as they are: whether they fit is for the
    abstract rule to say.
    """
    avals = [aval(operand) for operand in operands]
    strong = [(a.dtype, False) for a in avals if not a.weak_type]
    dtype, weak = promote(*(strong[:1] + [(a.dtype, True) for a in avals if a.weak_type]))
    if strong and dtype != strong[0][0]:
        names = " and ".join(map(str, avals))
        raise TypeError(f"operands of types {names} have different element types; convert one")
    return [
        _with_dtype(operand, a, dtype, weak) if a.weak_type else operand
        for operand, a in zip(operands, avals, strict=True)
    ]


def _with_dtype(operand: Value, a: ShapedArray, dtype: DType, weak: bool) -> Value:
    if is_number(operand):
        value = number(operand)
        if weak:
            return PYTHON_TYPE[dtype.kind](value)
        return Literal(dtype.type(value), ShapedArray((), dtype))
    return operand if a.dtype == dtype else convert_element_type(operand, dtype, weak)


def unary(kind: type[Elementwise]) -> Callable[[Value], Value]:
    """The function that applies a primitive without parameters to one operand."""
    primitive = kind()

    def function(x: Value) -> Value:
        return apply(primitive, x)

    return _documented(function, kind)


def binary(kind: type[Elementwise]) -> Callable[[Value, Value], Value]:
    """The function that applies a primitive without parameters to two operands."""
    primitive = kind()

    def function(x: Value, y: Value) -> Value:
        return apply(primitive, x, y)

    return _documented(function, kind)


def _documented(function: Any, kind: type[Primitive]) -> Any:
    function.__name__ = function.__qualname__ = kind.name
    function.__doc__ = kind.__doc__
    function.__module__ = kind.__module__
    return function


# -- the sum of tangents or cotangents ------------------------------------------------------------


class AddAny(Elementwise):
    """The sum of two tangents or of two cotangents."""

    name = "add_any"
    commutative = True
    numpy = "{0} + {1}"
    precedence = Precedence.SUM
    stablehlo = "add"

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        z = add_any(*primals)
        with phase("tangent"):
            return z, add_any(*tangents)

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        return [unbroadcast(cts[0], arg.aval) if isinstance(arg, Linear) else None for arg in args]

    def fold_derivative(self, args: Sequence[Value], producer: Producer) -> Value | None:
        other = self.without(0, args)
        if other is not None:
            return other
        choice = merged_choice(args, producer)
        x, y = args
        for first, second in ((x, y), (y, x)):
            if choice is None:
                choice = choice_of_rest(first, second, True, producer)
        return super().fold_derivative(args, producer) if choice is None else choice

    def fold(self, args: Sequence[Value], producer: Producer) -> Value | None:
        x, y = args
        # By name, for what they are is defined further on.
        negated = defined_by(y, registry["neg"], producer)
        if negated is not None:
            return bind(registry["sub"](), x, *negated[1])
        negated = defined_by(x, registry["neg"], producer)
        if negated is not None:
            return bind(registry["sub"](), y, *negated[1])
        return super().fold(args, producer)


def merged_choice(
    args: Sequence[Value], producer: Producer, of_second: Callable[[Value], Value] = lambda x: x
) -> Value | None:
    """Two choices by one condition, each with a zero where the other has none, as one choice.

    `of_second` is applied to the case of the second one, such as a change of sign.
    """
    choice = registry["select_n"]
    x, y = (defined_by(arg, choice, producer) for arg in args)
    if x is None or y is None or not len(x[1]) == len(y[1]) == 3:
        return None
    (which, *a), (same, *b) = x[1], y[1]
    zeros = [[is_number(case) and number(case) == 0 for case in cases] for cases in (a, b)]
    if which.variable is not same.variable or zeros not in (
        [[True, False], [False, True]],
        [[False, True], [True, False]],
    ):
        return None
    cases = [of_second(q) if zero else p for zero, p, q in zip(zeros[0], a, b, strict=True)]
    return bind(choice(), which, *cases)


def choice_of_rest(x: Value, y: Value, is_sum: bool, producer: Producer) -> Value | None:
    """`x` without what `y` takes away from it where a condition holds: zero there.

    `x + np.where(c, -x, 0.0)` and `x - np.where(c, x, 0.0)` are `np.where(c, 0.0, x)`.
    """
    choice = defined_by(y, registry["select_n"], producer)
    if choice is None or len(choice[1]) != 3 or not isinstance(x, Tracer):
        return None
    which, *cases = choice[1]
    for taken, other in (cases, cases[::-1]):
        if is_sum:
            negated = defined_by(taken, registry["neg"], producer)
            taken = None if negated is None else negated[1][0]
        is_x = isinstance(taken, Tracer) and taken.variable is x.variable
        if is_x and is_number(other) and number(other) == 0:
            rest = [other if case is not other else x for case in cases]
            return bind(registry["select_n"](), which, *rest)
    return None


_ADD_ANY = AddAny()


def add_any(x: Value, y: Value) -> Value:
    """The sum of two tangents or cotangents, either of which may be a symbolic zero."""
    if isinstance(x, Zero):
        return y
    if isinstance(y, Zero):
        return x
    return bind(_ADD_ANY, x, y)
