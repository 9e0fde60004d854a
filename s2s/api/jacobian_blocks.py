"""How the functions are traced that `s2s.api.jacobians` makes."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from s2s import lax
from s2s.api.differentiation import active_inputs, structure_of, tuple_of, value_and_auxiliary
from s2s.api.jacobians import Jacobian
from s2s.api.parameters import by_position, selected
from s2s.api.tracing import definition, trace
from s2s.api.transformed import Arguments, function_name
from s2s.errors import UserError
from s2s.frontend.traced import Traced
from s2s.ir.dims import Size
from s2s.ir.dtypes import is_inexact
from s2s.ir.jaxpr import ClosedJaxpr, ShapedArray
from s2s.passes.dce import dce
from s2s.passes.linearize import linearize
from s2s.passes.transpose import transpose
from s2s.passes.vmap import vmap
from s2s.primitive import Value, Zero
from s2s.primitives.core import instantiate
from s2s.trace import inline, make
from s2s.tree import TreeDef


def trace_jacobian(of: Jacobian, arguments: Arguments) -> Traced:
    """See `Jacobian`."""
    traced = trace(of.fun, arguments)
    what = f"the Jacobian of `{function_name(of.fun)}`"
    view = by_position(traced, of.argnums)
    positions = selected(view.parameters, of.argnums, what)
    active_inputs(view, positions, what)
    slices = view.parameter_slices()
    wanted = [i for p in positions for i in range(slices[p].start, slices[p].stop)]
    result, auxiliary = value_and_auxiliary(traced, of.fun, of.has_aux)
    for a in traced.closed.out_avals[: result.num_leaves]:
        if not is_inexact(a.dtype):
            raise UserError(
                f"{what} needs floating-point values, but the function returns {a}.",
                definition(traced),
            )
    blocks_of = _forward if of.is_forward else _backward
    closed = blocks_of(traced.closed, wanted, result.num_leaves)
    one = isinstance(of.argnums, (int, str))
    blocks = _nested(result, structure_of(view.parameters, positions, one))
    if auxiliary is not None:
        blocks = tuple_of(blocks, auxiliary)
    return dataclasses.replace(traced, closed=closed, result=blocks)


def _nested(outer: TreeDef, inner: TreeDef) -> TreeDef:
    """The structure of a container of `outer` whose every leaf is an `inner`."""
    if outer.kind is None:
        return inner
    return TreeDef(outer.kind, outer.keys, tuple(_nested(child, inner) for child in outer.children))


def _basis(aval: ShapedArray) -> Value:
    """All unit values of a type, along a new first axis."""
    size = aval.size
    rows = lax.broadcasted_iota(lax.INDEX, (size, size), 0)
    columns = lax.broadcasted_iota(lax.INDEX, (size, size), 1)
    identity = lax.convert_element_type(lax.eq(rows, columns), aval.dtype)
    return identity if aval.ndim == 1 else lax.reshape(identity, (size, *aval.shape))


def _forward(closed: ClosedJaxpr, wanted: Sequence[int], num_outs: int) -> ClosedJaxpr:
    """(xs -> ys, auxiliaries) -> (xs -> blocks dy/dx for each y and wanted x, auxiliaries)"""
    num_inputs = len(closed.in_avals)

    def fun(*xs: Value) -> list[Value]:
        auxiliaries: list[Value] = []
        columns: list[list[Value]] = []
        for index in wanted:
            lin = linearize(closed, [i == index for i in range(num_inputs)])
            results = inline(lin.known, *xs)
            split = len(results) - lin.num_residuals
            auxiliaries = results[num_outs:split]
            x = closed.in_avals[index]
            tangents = _push(lin.linear, results[split:], x)
            y_dots = iter(tangents)
            columns.append(
                [
                    _last_axes(next(y_dots), y, x) if on else _zero_block(y, x)
                    for y, on in zip(closed.out_avals, lin.out_active, strict=True)
                ][:num_outs]
            )
        blocks = [column[out] for out in range(num_outs) for column in columns]
        return [*blocks, *auxiliaries]

    return make(fun, closed.in_avals, [var.name for var in closed.jaxpr.invars])


def _push(linear: ClosedJaxpr, residuals: Sequence[Value], x: ShapedArray) -> Sequence[Value]:
    if not linear.out_avals:
        return []
    if x.shape == ():
        return inline(linear, *residuals, lax.full((), 1, x.dtype))
    axes: list[int | None] = [*[None] * len(residuals), 0]
    out_axes: list[int | None] = [a.ndim for a in linear.out_avals]
    batched, _ = vmap(linear, x.size, axes, out_axes)
    return inline(batched, *residuals, _basis(x))


def _last_axes(block: Value, y: ShapedArray, x: ShapedArray) -> Value:
    """From [*y, size of x] to [*y, *x]."""
    return block if x.ndim < 2 else lax.reshape(block, (*y.shape, *x.shape))


def _zero_block(y: ShapedArray, x: ShapedArray) -> Value:
    return instantiate(Zero(ShapedArray((*y.shape, *x.shape), y.dtype)))


def _backward(closed: ClosedJaxpr, wanted: Sequence[int], num_outs: int) -> ClosedJaxpr:
    """(xs -> ys, auxiliaries) -> (xs -> blocks dy/dx for each y and wanted x, auxiliaries)"""
    num_inputs = len(closed.in_avals)
    active = [i in wanted for i in range(num_inputs)]
    order = [sorted(set(wanted)).index(index) for index in wanted]
    lin = linearize(closed, active)
    dependent = iter(range(len(lin.linear.out_avals)))
    position = [next(dependent) if on else None for on in lin.out_active]

    def fun(*xs: Value) -> list[Value]:
        results = inline(lin.known, *xs)
        split = len(results) - lin.num_residuals
        blocks: list[Value] = []
        for out in range(num_outs):
            y = closed.out_avals[out]
            linear_out = position[out]
            if linear_out is None:
                blocks.extend(_zero_block(y, closed.in_avals[i]) for i in wanted)
                continue
            bars = _pull(lin.linear, linear_out, results[split:], sum(active), y)
            xs_avals = [closed.in_avals[i] for i in sorted(set(wanted))]
            rows = [_first_axes(bar, y, x) for bar, x in zip(bars, xs_avals, strict=True)]
            blocks.extend(rows[place] for place in order)
        return [*blocks, *results[num_outs:split]]

    return make(fun, closed.in_avals, [var.name for var in closed.jaxpr.invars])


def _pull(
    linear: ClosedJaxpr,
    out: int,
    residuals: Sequence[Value],
    num_active: int,
    y: ShapedArray,
) -> Sequence[Value]:
    only = dce(linear, [i == out for i in range(len(linear.out_avals))])
    backward = transpose(only, [False] * len(residuals) + [True] * num_active)
    if y.shape == ():
        return inline(backward, *residuals, lax.full((), 1, y.dtype))
    axes: list[int | None] = [*[None] * len(residuals), 0]
    out_axes: list[int | None] = [0] * num_active
    size: Size = y.size
    batched, _ = vmap(backward, size, axes, out_axes)
    return inline(batched, *residuals, _basis(y))


def _first_axes(block: Value, y: ShapedArray, x: ShapedArray) -> Value:
    """From [size of y, *x] to [*y, *x]."""
    return block if y.ndim < 2 else lax.reshape(block, (*y.shape, *x.shape))
