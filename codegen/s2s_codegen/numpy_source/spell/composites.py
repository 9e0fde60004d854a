"""Functions that are several equations of a jaxpr, said as themselves where they are all there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from s2s.ir.dims import Size, product, same_shape
from s2s.ir.jaxpr import Atom, JaxprEqn, Literal
from s2s.primitives.arithmetic import Div, Sub
from s2s.primitives.contractions import DotGeneral
from s2s.primitives.core import (
    AxesReduction,
    BroadcastInDim,
    ConvertElementType,
    ReduceSum,
    Reshape,
)
from s2s.primitives.creation import DimAsValue
from s2s.primitives.powers import Sqrt, Square
from s2s_codegen.numpy_source.expression import Expression, call
from s2s_codegen.numpy_source.scope import Scope
from s2s_codegen.numpy_source.spell.reductions import spell_over_axes


def is_said(eqn: JaxprEqn, function: str) -> bool:
    """Whether the user's line that an equation comes from calls `function`."""
    text = "" if eqn.source is None else eqn.source.text
    return eqn.phase == "primal" and re.search(rf"\b{function}\(", text) is not None


@dataclass(frozen=True)
class _Statistic:
    """A call such as `np.std(x, axis=0, ddof=1)`."""

    function: str
    x: Atom
    axes: tuple[int, ...]
    arguments: tuple[str, ...] = ()

    def spell(self, eqn: JaxprEqn, scope: Scope, *more: str) -> Expression:
        x = scope.whole(self.x)
        arguments = (*self.arguments, *more)
        return spell_over_axes(self.function, eqn, x, self.axes, self.x.aval.ndim, *arguments)


def spell_statistic(eqn: JaxprEqn, scope: Scope) -> Expression | None:
    """`np.mean(x, axis=...)`, `np.var(...)` or `np.std(...)` for what computes it."""
    found = _statistic(eqn, scope)
    return None if found is None else found.spell(eqn, scope)


def _statistic(eqn: JaxprEqn, scope: Scope) -> _Statistic | None:
    if isinstance(eqn.primitive, Sqrt) and is_said(eqn, "std"):
        quotient = scope.definition(eqn.invars[0])
        variance = None if quotient is None else _variance(quotient, scope)
        return None if variance is None else replace(variance, function="np.std")
    if is_said(eqn, "var"):
        variance = _variance(eqn, scope)
        if variance is not None:
            return variance
    return _mean(eqn, scope) if is_said(eqn, "(?:mean|var|std)") else None


def _mean(eqn: JaxprEqn, scope: Scope) -> _Statistic | None:
    """The quotient of a sum and the number of its terms."""
    found = _quotient_of_sum(eqn, scope)
    if found is None:
        return None
    (x,), axes, taken = found
    return _Statistic("np.mean", x, axes) if taken == 0 else None


def _variance(eqn: JaxprEqn, scope: Scope) -> _Statistic | None:
    """The sum of the squares of the deviations from the mean, over their number minus ddof."""
    found = _quotient_of_sum(eqn, scope)
    square = None if found is None else scope.definition(found[0][0])
    if found is None or square is None or not isinstance(square.primitive, Square):
        return None
    deviation = scope.definition(square.invars[0])
    if deviation is None or not isinstance(deviation.primitive, Sub):
        return None
    x, centre = deviation.invars
    step = scope.definition(centre)
    while step is not None and isinstance(step.primitive, BroadcastInDim):
        step = scope.definition(step.invars[0])
    mean = None if step is None else _mean(step, scope)
    _, axes, taken = found
    if mean is None or mean.x is not x or mean.axes != axes:
        return None
    return _Statistic("np.var", x, axes, (f"ddof={taken}",) if taken else ())


def _quotient_of_sum(
    eqn: JaxprEqn, scope: Scope
) -> tuple[Sequence[Atom], tuple[int, ...], int] | None:
    """The operand and the axes of a sum that is divided by the number of its terms, minus an
    integer, which comes third."""
    if not isinstance(eqn.primitive, Div):
        return None
    total = scope.definition(eqn.invars[0])
    if total is None or not isinstance(total.primitive, ReduceSum):
        return None
    axes, (x,) = total.primitive.axes, total.invars
    divisor = _size_of(eqn.invars[1], scope)
    if divisor is None:
        return None
    taken = product([x.aval.shape[axis] for axis in axes]) - divisor
    return (total.invars, axes, taken) if isinstance(taken, int) else None


def _size_of(atom: Atom, scope: Scope) -> Size | None:
    """The size whose value an operand is, if it is one."""
    if isinstance(atom, Literal):
        return int(atom.value) if atom.value == int(atom.value) else None
    eqn = scope.definition(atom)
    if eqn is not None and isinstance(eqn.primitive, ConvertElementType):
        eqn = scope.definition(eqn.invars[0])
    if eqn is None or not isinstance(eqn.primitive, DimAsValue):
        return None
    return eqn.primitive.dim


def spell_keeping_axes(primitive: BroadcastInDim, eqn: JaxprEqn, scope: Scope) -> Expression | None:
    """`np.sum(x, axis=1, keepdims=True)` for a reduction whose axes are put in again, of size 1."""
    reduction = scope.definition(eqn.invars[0])
    if reduction is None:
        return None
    rank, kept_axes = len(primitive.shape), primitive.broadcast_dimensions
    new = tuple(axis for axis in range(rank) if axis not in kept_axes)
    kept = [primitive.shape[axis] for axis in kept_axes]
    if not same_shape(kept, eqn.invars[0].aval.shape):
        return None
    in_front = new == tuple(range(len(new)))
    if in_front and not same_shape(primitive.shape[: len(new)], [1] * len(new)):
        # NumPy puts these axes in by itself.
        return None
    statistic = _statistic(reduction, scope)
    if statistic is None and isinstance(reduction.primitive, AxesReduction):
        function, axes = reduction.primitive.numpy, reduction.primitive.axes
        statistic = _Statistic(function, reduction.invars[0], axes)
    if statistic is None or statistic.axes != new:
        return None
    shape = tuple(primitive.shape[axis] if axis in kept_axes else 1 for axis in range(rank))
    return Expression(statistic.spell(reduction, scope, "keepdims=True").text, shape=shape)


def spell_norm(eqn: JaxprEqn, scope: Scope) -> Expression | None:
    """`np.linalg.norm(x)` for the root of the sum of all squares."""
    square = scope.definition(eqn.invars[0])
    if square is None or not isinstance(square.primitive, DotGeneral) or not is_said(eqn, "norm"):
        return None
    x, y = square.invars
    if x is not y or square.outvars[0].aval.shape:
        return None
    flat = scope.definition(x)
    if flat is not None and isinstance(flat.primitive, Reshape):
        x = flat.invars[0]
    return call("np.linalg.norm", scope.whole(x))
