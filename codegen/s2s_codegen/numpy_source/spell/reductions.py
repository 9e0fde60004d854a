"""Sums and other reductions over axes."""

from __future__ import annotations

import re

from s2s.ir.jaxpr import JaxprEqn
from s2s.primitives.core import AxesReduction
from s2s_codegen.numpy_source.expression import Expression, call, method
from s2s_codegen.numpy_source.scope import Scope
from s2s_codegen.numpy_source.spell.dispatch import spell

_METHODS = {
    "np.sum": "sum",
    "np.prod": "prod",
    "np.max": "max",
    "np.min": "min",
    "np.mean": "mean",
    "np.any": "any",
    "np.all": "all",
}


@spell.register
def spell_reduction(primitive: AxesReduction, eqn: JaxprEqn, scope: Scope) -> Expression:
    x = scope.whole(eqn.invars[0])
    return spell_over_axes(primitive.numpy, eqn, x, primitive.axes, eqn.invars[0].aval.ndim)


def spell_over_axes(
    function: str,
    eqn: JaxprEqn,
    x: Expression,
    axes: tuple[int, ...],
    rank: int,
    *arguments: str,
) -> Expression:
    """`np.sum(x, axis=0)`, or `x.sum(axis=0)` where that reads better."""
    all_arguments = [*_axis_argument(axes, rank), *arguments]
    name = _METHODS.get(function)
    if name is not None and re.fullmatch(r"\w+", x.text) and _as_method(eqn, name):
        return method(x, name, *all_arguments)
    return call(function, x, *all_arguments)


def _axis_argument(axes: tuple[int, ...], rank: int) -> list[str]:
    """`axis=...` for a reduction over `axes`, or nothing if these are all."""
    if len(axes) == rank:
        return []
    return [f"axis={axes[0] if len(axes) == 1 else axes}"]


def _as_method(eqn: JaxprEqn, name: str) -> bool:
    """Whether the reduction is said as `x.sum()`: in derivatives, and where the user says so."""
    if eqn.phase != "primal":
        return True
    text = "" if eqn.source is None else eqn.source.text
    return f".{name}(" in text and f"np.{name}(" not in text
