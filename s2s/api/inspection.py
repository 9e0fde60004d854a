"""make_jaxpr and eval_shape: what a call would compute, without computing it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from s2s.api.tracing import argument_types_of, trace
from s2s.api.transformed import signature
from s2s.frontend.argument_types.types import Static
from s2s.ir.jaxpr import aval_of
from s2s.tree import flatten, unflatten


def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: int | Sequence[int] = (),
    return_shape: bool = False,
) -> Callable[..., Any]:
    """A function that returns the jaxpr of `fun` for the types of its arguments.

    Args:
        fun: a user's or a transformed function.
        static_argnums: positions of arguments that are fixed to their values.
        return_shape: whether to return also the types of the results, in their containers.

    Returns:
        A function of the arguments of `fun` (values, or `ShapedArray` for their types), returning
        a `ClosedJaxpr`; with `return_shape`, (jaxpr, types of the results).
    """
    static = {static_argnums} if isinstance(static_argnums, int) else set(static_argnums)

    def jaxpr_of(*args: Any, **kwargs: Any) -> Any:
        bound = signature(fun).bind(*args, **kwargs)
        bound.apply_defaults()
        fixed = {
            name for i, name in enumerate(bound.arguments) if i in static or i - len(args) in static
        }
        types, _ = argument_types_of(signature(fun), args, kwargs)
        arguments = {
            name: Static(bound.arguments[name]) if name in fixed else _traced_ints(argument)
            for name, argument in types.items()
        }
        traced = trace(fun, arguments)
        if return_shape:
            return traced.closed, unflatten(traced.result, traced.closed.out_avals)
        return traced.closed

    return jaxpr_of


def _traced_ints(argument: Any) -> Any:
    """Integers and booleans that are not static are traced, as JAX does here."""
    leaves, structure = flatten(argument)
    return unflatten(
        structure,
        [
            aval_of(leaf.value)
            if isinstance(leaf, Static) and type(leaf.value) in (int, bool)
            else leaf
            for leaf in leaves
        ],
    )


def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The types of the results of a call, without computing them.

    Arguments may be values or `ShapedArray`. The result has the containers of the function's
    result with `ShapedArray` in them.
    """
    _, shapes = make_jaxpr(fun, return_shape=True)(*args, **kwargs)
    return shapes
