"""jvp, vjp, linearize and linear_transpose: derivatives at a point, as JAX gives them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from s2s.api.tracing import argument_types_of, is_traced, trace
from s2s.api.transformed import function_name, signature
from s2s.errors import UserError
from s2s.frontend.traced import Traced
from s2s.ir.dims import same_shape
from s2s.ir.dtypes import is_inexact
from s2s.ir.jaxpr import Literal, ShapedArray
from s2s.passes.dce import dce
from s2s.passes.jvp import jvp as jvp_pass
from s2s.passes.linearize import Linearized, linearize as linearize_pass
from s2s.passes.transpose import transpose
from s2s.primitive import Value, Zero
from s2s.primitives.core import instantiate
from s2s.trace import Tracer, aval, builder_in_force, inline
from s2s.tree import TreeDef, flatten, flatten_up_to, unflatten


def jvp(
    fun: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: bool = False,
) -> tuple[Any, ...]:
    """The value of a function at `primals`, and its derivative along `tangents`.

    Args:
        fun: a function of positional arguments; with `has_aux`, it returns (value, auxiliaries).
        primals: its arguments.
        tangents: a direction for each argument, of the same structure and shapes.

    Returns:
        (value, tangent of the value), and the auxiliary values third with `has_aux`.
    """
    if len(primals) != len(tangents):
        raise UserError(
            f"jvp of `{function_name(fun)}` needs a tangent for each of the {len(primals)} "
            f"arguments, but {len(tangents)} are given."
        )
    traced, leaves = _trace_call(fun, primals)
    directions = _leaves_like(primals, tangents, "tangents")
    active = [is_inexact(a.dtype) for a in traced.closed.in_avals]
    closed, out_active = jvp_pass(traced.closed, active)
    results = inline(closed, *leaves, *_moving(directions, traced, active))
    num_outs = len(out_active)
    y_dots = iter(results[num_outs:])
    dots = [
        next(y_dots) if on else _zeros_like(y)
        for y, on in zip(results[:num_outs], out_active, strict=True)
    ]
    value = unflatten(traced.result, results[:num_outs])
    derivative = unflatten(traced.result, dots)
    if has_aux:
        return value[0], derivative[0], value[1]
    return value, derivative


def _zeros_like(y: Value) -> Value:
    zeros = instantiate(Zero(aval(y)))
    return zeros.value if isinstance(zeros, Literal) and builder_in_force() is None else zeros


def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The value of a function at `primals`, and its derivative there as a linear function.

    Returns:
        (value, f_jvp), where `f_jvp(*tangents)` is the tangent of the value; the auxiliary values
        third with `has_aux`.
    """
    traced, leaves = _trace_call(fun, primals)
    active = [is_inexact(a.dtype) for a in traced.closed.in_avals]
    lin = linearize_pass(traced.closed, active)
    results = inline(lin.known, *leaves)
    values, residuals = _divide(results, lin)

    def f_jvp(*tangents: Any) -> Any:
        directions = _leaves_like(primals, tangents, "tangents")
        y_dots = iter(inline(lin.linear, *residuals, *_moving(directions, traced, active)))
        dots = [
            next(y_dots) if on else instantiate(Zero(aval(y)))
            for y, on in zip(values, lin.out_active, strict=True)
        ]
        derivative = unflatten(traced.result, dots)
        return derivative[0] if has_aux else derivative

    value = unflatten(traced.result, values)
    return (value[0], f_jvp, value[1]) if has_aux else (value, f_jvp)


def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The value of a function at `primals`, and the adjoint of its derivative there.

    Returns:
        (value, f_vjp), where `f_vjp(ct)` takes a cotangent shaped like the value and returns a
        tuple of cotangents, one for each argument (None for values that have no derivative); the
        auxiliary values third with `has_aux`.
    """
    traced, leaves = _trace_call(fun, primals)
    active = [is_inexact(a.dtype) for a in traced.closed.in_avals]
    lin = linearize_pass(traced.closed, active)
    results = inline(lin.known, *leaves)
    values, residuals = _divide(results, lin)
    wanted: TreeDef = traced.result.children[0] if has_aux else traced.result
    num_wanted = wanted.num_leaves
    has_ct = [on and i < num_wanted for i, on in enumerate(lin.out_active)]
    pulled = dce(lin.linear, [keep for keep, on in zip(has_ct, lin.out_active, strict=True) if on])
    backward = transpose(pulled, [False] * len(residuals) + [True] * sum(active))

    def f_vjp(ct: Any) -> tuple[Any, ...]:
        try:
            cts = flatten_up_to(wanted, ct)
        except ValueError:
            raise UserError(
                f"the cotangent for `{function_name(fun)}` must be shaped like its value, {wanted}."
            ) from None
        given: list[Any] = [one for one, on in zip(cts, has_ct, strict=False) if on]
        avals = [a for a, on in zip(traced.closed.out_avals, has_ct, strict=True) if on]
        bars = iter(inline(backward, *residuals, *map(_converted, given, avals)))
        flat = iter([next(bars) if on else None for on in active])
        return tuple(
            unflatten(structure, [next(flat) if is_traced(leaf) else None for leaf in leaves])
            for leaves, structure in map(flatten, primals)
        )

    value = unflatten(traced.result, values)
    return (value[0], f_vjp, value[1]) if has_aux else (value, f_vjp)


def linear_transpose(fun: Callable[..., Any], *primals: Any) -> Callable[[Any], tuple[Any, ...]]:
    """The adjoint of a linear function.

    Args:
        fun: a function that is linear in all its arguments.
        primals: arguments of which only the types matter (arrays, or `ShapedArray`).

    Returns:
        A function from a cotangent shaped like the value to a tuple of cotangents, one for each
        argument.
    """
    traced, _ = _trace_call(fun, primals)
    backward = transpose(traced.closed, [True] * len(traced.closed.in_avals))
    structures = [flatten(primal)[1] for primal in primals]

    def transposed(ct: Any) -> tuple[Any, ...]:
        cts = flatten_up_to(traced.result, ct)
        bars = iter(inline(backward, *map(_converted, cts, traced.closed.out_avals)))
        return tuple(unflatten(s, [next(bars) for _ in range(s.num_leaves)]) for s in structures)

    return transposed


def _trace_call(fun: Callable[..., Any], primals: Sequence[Any]) -> tuple[Traced, list[Value]]:
    arguments, leaves = argument_types_of(signature(fun), primals, {})
    return trace(fun, arguments), leaves


def _leaves_like(primals: Sequence[Any], others: Sequence[Any], what: str) -> list[Any]:
    parts: list[Any] = []
    for primal, other in zip(primals, others, strict=True):
        try:
            leaves, structure = flatten(primal)
            matching = flatten_up_to(structure, other)
            parts.extend(o for leaf, o in zip(leaves, matching, strict=True) if is_traced(leaf))
        except ValueError as error:
            raise UserError(f"the {what} must be shaped like the arguments: {error}.") from None
    return parts


def _moving(directions: Sequence[Any], traced: Traced, active: Sequence[bool]) -> list[Value]:
    """The tangents of the inputs that have one."""
    return [
        _converted(direction, like)
        for direction, like, on in zip(directions, traced.closed.in_avals, active, strict=True)
        if on
    ]


def _converted(value: Any, like: ShapedArray) -> Value:
    """A tangent or cotangent that the user gives, with the dtype of what it belongs to."""
    found = aval(value) if is_traced(value) or type(value) is int else None
    if found is None or not same_shape(found.shape, like.shape):
        raise UserError(
            f"a tangent or cotangent of type {found or type(value).__name__} was given for a value "
            f"of type {like}; their shapes must be the same."
        )
    if found.dtype == like.dtype or isinstance(value, Tracer):
        return value
    return np.asarray(value, like.dtype) if like.shape else like.dtype.type(value)


def _divide(results: list[Value], lin: Linearized) -> tuple[list[Value], list[Value]]:
    split = len(results) - lin.num_residuals
    return results[:split], results[split:]
