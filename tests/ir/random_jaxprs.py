"""Random jaxprs of all registered primitives: well formed, but with types that need not fit."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable
from enum import Enum
from typing import Any, Union, get_args, get_origin

import numpy as np
from hypothesis import strategies as st

from s2s.ir.dims import Dim, dimension
from s2s.ir.dtypes import SHORT_NAMES
from s2s.ir.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, ShapedArray, Var
from s2s.ir.reading import field_types
from s2s.language import all_primitives
from s2s.primitive import Primitive
from s2s.primitives.core import BroadcastInDim

N, M, IN = dimension("n"), dimension("m_1"), dimension("in")
DIMS = [N, M, IN + 1, 2 * N * M - 3, N**2, (N + 1) // 2, 3 - N, N // M * M, 2 * (N // 3) ** 2]

HOLD_FUNCTIONS = {"custom_jvp_call", "custom_vjp_call", "custom_lin"}
"""Primitives with functions of the user's for parameters, of which jaxprs print the names."""

dtypes = st.sampled_from(list(SHORT_NAMES))
sizes = st.integers(0, 20) | st.sampled_from(DIMS)
shapes = st.lists(sizes, max_size=3).map(tuple)
avals = st.builds(ShapedArray, shapes, dtypes)
words = st.sampled_from(["f", "<lambda>", "in", "let", "jaxpr", "float64", "two words", "None", ""])


@st.composite
def literals(draw: st.DrawFn) -> Literal:
    """Numbers of all types, with the awkward ones."""
    dtype = draw(dtypes)
    if dtype.kind == "b":
        number: Any = draw(st.booleans())
    elif dtype.kind in "iu":
        info = np.iinfo(dtype)
        number = draw(st.integers(info.min, info.max))
    elif dtype.kind == "f":
        width = {2: 16, 4: 32, 8: 64}[dtype.itemsize]
        number = draw(st.floats(width=width))  # pyright: ignore[reportArgumentType]
    else:
        number = draw(st.complex_numbers(width={8: 64, 16: 128}[dtype.itemsize]))  # pyright: ignore
    weak = dtype in (np.float64, np.int64) and draw(st.booleans())
    return Literal(number if weak else dtype.type(number), ShapedArray((), dtype, weak))


@st.composite
def values(draw: st.DrawFn, kind: Any, depth: int) -> Any:
    """A value of a parameter, given the type of the field."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        readable = [argument for argument in arguments if get_origin(argument) is not Callable]
        return draw(values(draw(st.sampled_from(readable)), depth))
    if origin is tuple and arguments[-1] is Ellipsis:
        return tuple(draw(st.lists(values(arguments[0], depth), max_size=3)))
    if origin is tuple:
        return tuple(draw(values(argument, depth)) for argument in arguments)
    if origin is np.dtype:
        return draw(dtypes)
    if kind is ClosedJaxpr:
        return ClosedJaxpr(draw(jaxprs(depth - 1)))
    if kind is Dim:
        return draw(st.sampled_from(DIMS))
    if issubclass(kind, Enum):
        return draw(st.sampled_from(list(kind)))
    if dataclasses.is_dataclass(kind) or hasattr(kind, "_fields"):
        fields = field_types(kind).items()
        return kind(**{name: draw(values(field, depth)) for name, field in fields})
    simple = {
        int: st.integers(-9, 9),
        bool: st.booleans(),
        float: st.floats(),
        str: words,
        type(None): st.none(),
    }
    return draw(simple[kind])


@st.composite
def primitives(draw: st.DrawFn, depth: int, outvars: list[Var]) -> Primitive:
    """Any primitive, with any parameters that the types of its results do not fix."""
    usable = [
        cls
        for name, cls in sorted(all_primitives().items())
        if cls.__module__.startswith("s2s.")
        and name not in HOLD_FUNCTIONS
        and (depth or not any(map(_holds_jaxprs, _kinds(cls))))
    ]
    cls = draw(st.sampled_from(usable))
    given = cls(**{name: draw(values(kind, depth)) for name, kind in _fields(cls).items()})
    if isinstance(given, BroadcastInDim):
        given = dataclasses.replace(given, shape=outvars[0].aval.shape)
    return given


def _fields(cls: type[Primitive]) -> dict[str, Any]:
    return field_types(cls) if dataclasses.is_dataclass(cls) else {}


def _kinds(cls: type[Primitive]) -> list[Any]:
    return list(_fields(cls).values())


def _holds_jaxprs(kind: Any) -> bool:
    return kind is ClosedJaxpr or any(map(_holds_jaxprs, get_args(kind)))


@st.composite
def jaxprs(draw: st.DrawFn, depth: int = 2) -> Jaxpr:
    """Jaxprs with at most `depth` jaxprs inside each other in parameters."""
    few = st.integers(0, 3)
    constvars = [Var(draw(avals)) for _ in range(draw(few))]
    invars = [Var(draw(avals)) for _ in range(draw(few))]
    known: list[Var] = [*constvars, *invars]

    def atom() -> Atom:
        if not known or draw(st.integers(0, 3)) == 0:
            return draw(literals())
        return draw(st.sampled_from(known))

    eqns: list[JaxprEqn] = []
    for _ in range(draw(few)):
        outvars = [Var(draw(avals)) for _ in range(draw(st.integers(1, 3)))]
        primitive = draw(primitives(depth, outvars))
        operands = [atom() for _ in range(draw(few))]
        if primitive.is_call:
            (callee,) = (v for v in primitive.parameters().values() if isinstance(v, ClosedJaxpr))
            operands = [atom() for _ in callee.in_avals]
            outvars = [Var(aval) for aval in callee.out_avals]
        eqns.append(JaxprEqn(primitive, operands, outvars))
        known.extend(outvars)
    return Jaxpr(constvars, invars, eqns, [atom() for _ in range(draw(few))])
