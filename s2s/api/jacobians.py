"""jacfwd, jacrev and hessian."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from s2s import lax
from s2s.api.differentiation import active_inputs, structure_of, tuple_of, value_and_auxiliary
from s2s.api.parameters import and_list, by_position, selected
from s2s.api.tracing import definition, trace
from s2s.api.transformed import Argnums, Arguments, Transformed, function_name
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


class Jacobian(Transformed):
    """See `jacfwd` and `jacrev`."""

    def __init__(self, fun: Callable[..., Any], argnums: Argnums, has_aux: bool = False) -> None:
        super().__init__(fun)
        self.argnums = argnums
        self.has_aux = has_aux

    def trace(self, arguments: Arguments) -> Traced:
        traced = trace(self.fun, arguments)
        what = f"the Jacobian of `{function_name(self.fun)}`"
        view = by_position(traced, self.argnums)
        positions = selected(view.parameters, self.argnums, what)
        active_inputs(view, positions, what)
        slices = view.parameter_slices()
        wanted = [i for p in positions for i in range(slices[p].start, slices[p].stop)]
        result, auxiliary = value_and_auxiliary(traced, self.fun, self.has_aux)
        for a in traced.closed.out_avals[: result.num_leaves]:
            if not is_inexact(a.dtype):
                raise UserError(
                    f"{what} needs floating-point values, but the function returns {a}.",
                    definition(traced),
                )
        closed = self._jacobian(traced.closed, wanted, result.num_leaves)
        one = isinstance(self.argnums, (int, str))
        blocks = _nested(result, structure_of(view.parameters, positions, one))
        if auxiliary is not None:
            blocks = tuple_of(blocks, auxiliary)
        return dataclasses.replace(traced, closed=closed, result=blocks)

    def _jacobian(self, closed: ClosedJaxpr, wanted: Sequence[int], num_outs: int) -> ClosedJaxpr:
        """(xs -> ys, auxiliaries) -> (xs -> blocks dy/dx for each y and wanted x, auxiliaries)"""
        raise NotImplementedError

    def describe(self, traced: Traced) -> str:
        parameters = by_position(traced, self.argnums).parameters
        positions = selected(parameters, self.argnums, "jacobian")
        names = and_list([parameters[position].name for position in positions])
        of = f"`{function_name(self.fun)}`"
        return f"Jacobian of {of} with respect to {names}."


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


class JacFwd(Jacobian):
    """See `jacfwd`."""

    suffix = "jacfwd"

    def _jacobian(self, closed: ClosedJaxpr, wanted: Sequence[int], num_outs: int) -> ClosedJaxpr:
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
                tangents = self._push(lin.linear, results[split:], x)
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

    def _push(
        self, linear: ClosedJaxpr, residuals: Sequence[Value], x: ShapedArray
    ) -> Sequence[Value]:
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


class JacRev(Jacobian):
    """See `jacrev`."""

    suffix = "jacrev"

    def _jacobian(self, closed: ClosedJaxpr, wanted: Sequence[int], num_outs: int) -> ClosedJaxpr:
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
                bars = self._pull(lin.linear, linear_out, results[split:], sum(active), y)
                xs_avals = [closed.in_avals[i] for i in sorted(set(wanted))]
                rows = [_first_axes(bar, y, x) for bar, x in zip(bars, xs_avals, strict=True)]
                blocks.extend(rows[place] for place in order)
            return [*blocks, *results[num_outs:split]]

        return make(fun, closed.in_avals, [var.name for var in closed.jaxpr.invars])

    def _pull(
        self,
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


class Hessian(JacFwd):
    """See `hessian`."""

    suffix = "hessian"

    def __init__(self, fun: Callable[..., Any], argnums: Argnums, has_aux: bool = False) -> None:
        super().__init__(JacRev(fun, argnums, has_aux), argnums, has_aux)
        self.__name__ = f"{function_name(fun)}_{self.suffix}"
        self.original = fun

    def describe(self, traced: Traced) -> str:
        parameters = by_position(traced, self.argnums).parameters
        positions = selected(parameters, self.argnums, "hessian")
        names = and_list([parameters[position].name for position in positions])
        return f"Hessian of `{function_name(self.original)}` with respect to {names}."


def jacfwd(fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Transformed:
    """All derivatives of a function, computed forward, one input at a time.

    Best where there are fewer inputs than outputs.

    Args:
        fun: a function of floating-point arguments and results.
        argnums: with respect to which parameters, by position or name; one or several.
        has_aux: whether `fun` returns a pair (value, auxiliary values).

    Returns:
        A function of the same arguments. For a result of shape [*y] and an argument of shape [*x]
        it returns an array of shape [*y, *x], in the containers of the result, and within them
        those of the argument.
    """
    return JacFwd(fun, argnums, has_aux)


def jacrev(fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Transformed:
    """All derivatives of a function, computed backward, one output at a time.

    Best where there are fewer outputs than inputs. Arguments and results as for `jacfwd`.
    """
    return JacRev(fun, argnums, has_aux)


def hessian(fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Transformed:
    """All second derivatives of a function: forward over reverse.

    For a number as result and an argument of shape [*x], an array of shape [*x, *x]. Arguments and
    results as for `jacfwd` of `jacrev`.
    """
    return Hessian(fun, argnums, has_aux)
