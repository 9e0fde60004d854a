"""Functions that are several equations of a jaxpr, said as themselves where they are all there."""

from __future__ import annotations

import re

from s2s.ir.dims import Size, product, same_shape, same_size
from s2s.ir.jaxpr import Atom, JaxprEqn, Literal
from s2s.primitives.contractions import DotGeneral
from s2s.primitives.core import (
    AxesReduction,
    BroadcastInDim,
    ConvertElementType,
    ReduceSum,
    Reshape,
)
from s2s.primitives.creation import DimAsValue
from s2s_codegen.numpy_source.expression import Expression, call
from s2s_codegen.numpy_source.scope import Scope
from s2s_codegen.numpy_source.spell.reductions import spell_over_axes


def is_said(eqn: JaxprEqn, function: str) -> bool:
    """Whether the user's line that an equation comes from calls `function`."""
    text = "" if eqn.source is None else eqn.source.text
    return eqn.phase == "primal" and re.search(rf"\b{function}\(", text) is not None


def spell_mean(eqn: JaxprEqn, scope: Scope) -> Expression | None:
    """`np.mean(x, axis=...)` for the quotient of a sum and the number of its terms."""
    total = scope.definition(eqn.invars[0])
    if total is None or not isinstance(total.primitive, ReduceSum) or not is_said(eqn, "mean"):
        return None
    axes, x = total.primitive.axes, total.invars[0]
    count = product([x.aval.shape[axis] for axis in axes])
    if not _is_size(eqn.invars[1], count, scope):
        return None
    return spell_over_axes("np.mean", eqn, scope.whole(x), axes, x.aval.ndim)


def _is_size(atom: Atom, size: Size, scope: Scope) -> bool:
    if isinstance(atom, Literal):
        return isinstance(size, int) and bool(atom.value == size)
    eqn = scope.definition(atom)
    if eqn is not None and isinstance(eqn.primitive, ConvertElementType):
        eqn = scope.definition(eqn.invars[0])
    return (
        eqn is not None
        and isinstance(eqn.primitive, DimAsValue)
        and same_size(eqn.primitive.dim, size)
    )


def spell_keeping_axes(primitive: BroadcastInDim, eqn: JaxprEqn, scope: Scope) -> Expression | None:
    """`np.sum(x, axis=1, keepdims=True)` for a reduction whose axes are put in again, of size 1."""
    reduction = scope.definition(eqn.invars[0])
    if reduction is None:
        return None
    new = tuple(a for a in range(len(primitive.shape)) if a not in primitive.broadcast_dimensions)
    kept = [primitive.shape[axis] for axis in primitive.broadcast_dimensions]
    if not all(same_size(primitive.shape[axis], 1) for axis in new):
        return None
    if not same_shape(kept, eqn.invars[0].aval.shape):
        return None
    total = reduction
    if not isinstance(total.primitive, AxesReduction):
        found = scope.definition(reduction.invars[0]) if reduction.invars else None
        if found is None or spell_mean(reduction, scope) is None:
            return None
        total = found
    if not isinstance(total.primitive, AxesReduction) or total.primitive.axes != new:
        return None
    x = total.invars[0]
    function = total.primitive.numpy if total is reduction else "np.mean"
    text = spell_over_axes(function, reduction, scope.whole(x), new, x.aval.ndim, "keepdims=True")
    return Expression(text.text, shape=primitive.shape)


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
