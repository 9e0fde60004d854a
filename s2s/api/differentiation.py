"""How functions are traced that `s2s.api.derivatives` makes."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from s2s.api.derivatives import JvpFunction, ValueAndGrad, VjpFunction
from s2s.api.parameters import by_position, selected
from s2s.api.tracing import definition, trace
from s2s.api.transformed import Arguments, function_name
from s2s.errors import UserError
from s2s.frontend.argument_types.types import Static
from s2s.frontend.traced import NO_DEFAULT, Parameter, Traced
from s2s.ir.dtypes import is_inexact
from s2s.ir.jaxpr import ClosedJaxpr, Literal, ShapedArray
from s2s.passes.jvp import jvp as jvp_pass
from s2s.passes.linearize import fix_inputs, vjp as vjp_pass
from s2s.passes.names import tangent_name
from s2s.primitive import Value, Zero
from s2s.primitives.core import instantiate
from s2s.trace import aval, inline, make
from s2s.tree import TreeDef, flatten, unflatten


def active_inputs(traced: Traced, positions: Sequence[int], what: str) -> list[bool]:
    """Which inputs of the jaxpr belong to the parameters at `positions`.

    Raises UserError if one of these is not a number or an array of floating type.
    """
    active = [False] * len(traced.closed.in_avals)
    slices = traced.parameter_slices()
    for position in positions:
        parameter = traced.parameters[position]
        for leaf in flatten(parameter.type)[0]:
            kind = (
                f"{leaf.value!r}, which is fixed" if isinstance(leaf, Static)
                else None if is_inexact(leaf.dtype)
                else f"a value of type {leaf}"
            )  # fmt: skip
            if kind is not None:
                raise UserError(
                    f"{what} with respect to `{parameter.name}` needs floating-point values, but "
                    f"the argument is, or contains, {kind}. Give it a floating type such as "
                    f"`f64[...]` or `float`, or leave it out of --wrt (argnums).",
                    definition(traced),
                )
        for index in range(*slices[position].indices(len(active))):
            active[index] = True
    return active


def value_and_auxiliary(
    traced: Traced, fun: Callable[..., Any], has_aux: bool
) -> tuple[TreeDef, TreeDef | None]:
    """The structures of what is differentiated and, with `has_aux`, of what comes beside it.

    Raises UserError if, with `has_aux`, the function does not return a pair.
    """
    result = traced.result
    if not has_aux:
        return result, None
    if result.kind is not tuple or len(result.children) != 2:
        raise UserError(
            f"with has_aux, `{function_name(fun)}` must return a pair (value, auxiliary values), "
            f"but it returns {result}.",
            definition(traced),
        )
    value, auxiliary = result.children
    return value, auxiliary


def tuple_of(*trees: TreeDef | None) -> TreeDef:
    """The structure of a tuple of these, without those that are None."""
    there = tuple(tree for tree in trees if tree is not None)
    return TreeDef(tuple, tuple(range(len(there))), there)


def structure_of(parameters: Sequence[Parameter], positions: Sequence[int], one: bool) -> TreeDef:
    """The structure of values that belong to parameters: one's own, or a tuple of several's."""
    trees = tuple(flatten(parameters[position].type)[1] for position in positions)
    return trees[0] if one else tuple_of(*trees)


def reordered(closed: ClosedJaxpr, order: Sequence[int]) -> ClosedJaxpr:
    """The same jaxpr with its outputs picked in another order."""
    jaxpr = closed.jaxpr
    outvars = [jaxpr.outvars[index] for index in order]
    return ClosedJaxpr(
        type(jaxpr)(jaxpr.constvars, jaxpr.invars, jaxpr.eqns, outvars), closed.consts
    )


def trace_gradient(of: ValueAndGrad, arguments: Arguments) -> Traced:
    """See `ValueAndGrad`."""
    traced = trace(of.fun, arguments)
    what = f"the gradient of `{function_name(of.fun)}`"
    view = by_position(traced, of.argnums)
    positions = selected(view.parameters, of.argnums, what)
    active = active_inputs(view, positions, what)
    result = traced.result
    value, aux = value_and_auxiliary(traced, of.fun, of.has_aux)
    out_avals = traced.closed.out_avals
    if value.kind is not None or out_avals[0].shape != ():
        found = str(out_avals[0]) if value.kind is None else f"the structure {value}"
        raise UserError(
            f"{what} needs a single number as its value, but it returns {found}. "
            f"Reduce it to a number (np.sum, np.mean), or use jacrev for all derivatives.",
            definition(traced),
        )
    if not is_inexact(out_avals[0].dtype):
        raise UserError(
            f"{what} needs a floating-point value, but it returns {out_avals[0]}.",
            definition(traced),
        )
    num_results = result.num_leaves
    with_cotangent = [index == 0 for index in range(len(out_avals))]
    closed, _ = vjp_pass(traced.closed, active, with_cotangent)
    one = Literal(out_avals[0].dtype.type(1), ShapedArray((), out_avals[0].dtype))
    closed = fix_inputs(closed, [one])
    grads = list(range(len(out_avals), len(closed.out_avals)))
    auxes = list(range(1, num_results))
    gradient = structure_of(view.parameters, positions, isinstance(of.argnums, (int, str)))
    grads = _in_order(view, positions, grads)
    parts: list[tuple[TreeDef, list[int]]] = [(gradient, grads)]
    if of.with_value:
        head = (value, [0]) if aux is None else (result, [0, *auxes])
        parts = [head, *parts]
    elif aux is not None:
        parts = [*parts, (aux, auxes)]
    trees = tuple(tree for tree, _ in parts)
    order = [index for _, indices in parts for index in indices]
    return dataclasses.replace(
        traced,
        closed=reordered(closed, [*order, *range(num_results, len(out_avals))]),
        result=trees[0] if len(trees) == 1 else tuple_of(*trees),
    )


def _in_order(traced: Traced, positions: Sequence[int], outputs: Sequence[int]) -> list[int]:
    """Outputs for the active inputs in the jaxpr's order, put in the order of `positions`."""
    slices = traced.parameter_slices()
    by_input: dict[int, int] = {}
    remaining = iter(outputs)
    for position in sorted(set(positions)):
        for index in range(slices[position].start, slices[position].stop):
            by_input[index] = next(remaining)
    return [
        by_input[index]
        for position in positions
        for index in range(slices[position].start, slices[position].stop)
    ]


def trace_jvp(of: JvpFunction, arguments: Arguments) -> Traced:
    """See `JvpFunction`."""
    dots = of.dots
    traced = trace(of.fun, {k: v for k, v in arguments.items() if k not in dots})
    what = f"the directional derivative of `{function_name(of.fun)}`"
    positions = selected(traced.parameters, of.argnums, what)
    active = active_inputs(traced, positions, what)
    value, auxiliary = value_and_auxiliary(traced, of.fun, of.has_aux)
    closed, out_active = jvp_pass(traced.closed, active)
    num_outs, num_values = len(out_active), value.num_leaves
    directions = [
        Parameter(dot, traced.parameters[p].type) for dot, p in zip(dots, positions, strict=True)
    ]
    parameters = _insert(traced.parameters, directions)
    slices = traced.parameter_slices()

    def fun(*args: Value) -> list[Value]:
        by_parameter = dict(
            zip([p.name for p in parameters], _split(args, parameters), strict=True)
        )
        primals = [x for p in traced.parameters for x in by_parameter[p.name]]
        tangents: dict[int, Value] = {}
        for position, direction in zip(positions, directions, strict=True):
            indices = range(slices[position].start, slices[position].stop)
            tangents.update(zip(indices, by_parameter[direction.name], strict=True))
        results = inline(closed, *primals, *[tangents[i] for i in sorted(tangents)])
        y_dots = iter(results[num_outs:])
        tangents_out = [
            next(y_dots) if on else instantiate(Zero(aval(y)))
            for y, on in zip(results[:num_outs], out_active, strict=True)
        ]
        return [
            *results[:num_values],
            *tangents_out[:num_values],
            *results[num_values:num_outs],
        ]

    named_inputs = _input_names(traced, directions, positions)
    made = make(
        fun,
        [leaf for parameter in parameters for leaf in parameter.leaves],
        [name for parameter in parameters for name in named_inputs[parameter.name]],
    )
    return dataclasses.replace(
        traced,
        closed=made,
        parameters=tuple(parameters),
        result=tuple_of(value, value, auxiliary),
    )


def trace_vjp(of: VjpFunction, arguments: Arguments) -> Traced:
    """See `VjpFunction`."""
    bar = of.bar
    traced = trace(of.fun, {k: v for k, v in arguments.items() if k != bar})
    what = f"the pullback of `{function_name(of.fun)}`"
    positions = selected(traced.parameters, of.argnums, what)
    active = active_inputs(traced, positions, what)
    value, auxiliary = value_and_auxiliary(traced, of.fun, of.has_aux)
    num_outs, num_values = len(traced.closed.out_avals), value.num_leaves
    y_avals = traced.closed.out_avals[:num_values]
    inexact = [is_inexact(a.dtype) for a in y_avals]
    with_cotangent = [*inexact, *[False] * (num_outs - num_values)]
    closed, _ = vjp_pass(traced.closed, active, with_cotangent)
    leaves = [a if on else Static(None) for a, on in zip(y_avals, inexact, strict=True)]
    y_bar = Parameter(bar, unflatten(value, leaves))
    parameters = _insert(traced.parameters, [y_bar])
    num_inputs = len(traced.closed.in_avals)

    def fun(*args: Value) -> list[Value]:
        by_parameter = dict(
            zip([p.name for p in parameters], _split(args, parameters), strict=True)
        )
        primals = [x for p in traced.parameters for x in by_parameter[p.name]]
        return inline(closed, *primals, *by_parameter[bar])

    names = [var.name for var in closed.jaxpr.invars]
    inputs = dict(
        zip([p.name for p in traced.parameters], _split(names, traced.parameters), strict=True)
    )
    inputs[bar] = [name or bar for name in names[num_inputs:]]
    if len(inputs[bar]) == 1:
        inputs[bar] = [bar]
    made = make(
        fun,
        [leaf for parameter in parameters for leaf in parameter.leaves],
        [name for parameter in parameters for name in inputs[parameter.name]],
    )
    grads = _in_order(traced, positions, range(num_outs, len(made.out_avals)))
    bars = structure_of(traced.parameters, positions, isinstance(of.argnums, (int, str)))
    return dataclasses.replace(
        traced,
        closed=reordered(made, [*range(num_values), *grads, *range(num_values, num_outs)]),
        parameters=tuple(parameters),
        result=tuple_of(value, bars, auxiliary),
    )


def _insert(parameters: Sequence[Parameter], new: Sequence[Parameter]) -> list[Parameter]:
    """New parameters without a default go before the first that has one."""
    place = next(
        (
            index
            for index, p in enumerate(parameters)
            if p.default is not NO_DEFAULT or p.kind is not inspect.Parameter.POSITIONAL_OR_KEYWORD
        ),
        len(parameters),
    )
    return [*parameters[:place], *new, *parameters[place:]]


def _split(values: Sequence[Any], parameters: Sequence[Parameter]) -> list[list[Any]]:
    """Flat values grouped by the parameter that they belong to."""
    groups: list[list[Any]] = []
    start = 0
    for parameter in parameters:
        stop = start + len(parameter.leaves)
        groups.append(list(values[start:stop]))
        start = stop
    return groups


def _input_names(
    traced: Traced, directions: Sequence[Parameter], positions: Sequence[int]
) -> dict[str, list[str | None]]:
    names = [var.name for var in traced.closed.jaxpr.invars]
    groups = _split(names, traced.parameters)
    found = {p.name: group for p, group in zip(traced.parameters, groups, strict=True)}
    for direction, position in zip(directions, positions, strict=True):
        found[direction.name] = [tangent_name(name) for name in groups[position]]
    return found
