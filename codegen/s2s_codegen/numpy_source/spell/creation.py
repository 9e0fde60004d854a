"""Values made of sizes alone."""

from __future__ import annotations

import numpy as np

from s2s.ir.jaxpr import JaxprEqn, Literal, ShapedArray
from s2s.primitives.creation import DimAsValue, Empty, Iota
from s2s.primitives.spacing import Linspace
from s2s_codegen.numpy_source.expression import Expression, call, dtype_name, index
from s2s_codegen.numpy_source.scope import Scope, literal
from s2s_codegen.numpy_source.spell.dispatch import spell


@spell.register
def spell_iota(primitive: Iota, eqn: JaxprEqn, scope: Scope) -> Expression:
    """`np.arange(n)`, which broadcasts along the axes before its own."""
    dtype = [] if primitive.dtype == np.int64 else [f"dtype={dtype_name(primitive.dtype)}"]
    size = primitive.shape[primitive.dimension]
    row = call("np.arange", scope.size(size), *dtype)
    behind = len(primitive.shape) - 1 - primitive.dimension
    if behind:
        row = index(row, [":", *["None"] * behind])
    return Expression(row.text, row.precedence, (size, *[1] * behind))


@spell.register
def spell_empty(primitive: Empty, eqn: JaxprEqn, scope: Scope) -> Expression:
    """Zeros: a value that nothing reads must be there where another branch gives one."""
    aval = eqn.outvars[0].aval
    number = literal(Literal(aval.dtype.type(0), ShapedArray((), aval.dtype)))
    return scope.filled(number, aval) if aval.shape else number


@spell.register
def spell_linspace(primitive: Linspace, eqn: JaxprEqn, scope: Scope) -> Expression:
    """`np.linspace(start, stop, n)`."""
    start, stop = scope.operands(eqn)
    endpoint = [] if primitive.endpoint else ["endpoint=False"]
    dtype = eqn.outvars[0].aval.dtype
    typed = [] if dtype == np.float64 else [f"dtype={dtype_name(dtype)}"]
    return call("np.linspace", start, stop, scope.size(primitive.num), *endpoint, *typed)


@spell.register
def spell_dimension(primitive: DimAsValue, eqn: JaxprEqn, scope: Scope) -> Expression:
    size = scope.size(primitive.dim)
    return Expression(size.text, size.precedence, ())
