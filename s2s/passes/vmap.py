"""Vectorisation: from a function of one example to the function of a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from s2s.errors import UserError
from s2s.ir.check import check
from s2s.ir.dims import Size
from s2s.ir.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, ShapedArray, Var
from s2s.passes.bound_dimensions import ragged_results, with_fresh_dimensions
from s2s.passes.names import hand_on_names
from s2s.primitive import BatchAxis, Primitive, Value, registry
from s2s.primitives.core import move_batch_axis
from s2s.primitives.counts import Ragged
from s2s.trace import bind, copy_equation, inline, make, named, walk


class Batched:
    """A value of the whole batch, and the axis that counts the examples."""

    __slots__ = ("axis", "value")

    def __init__(self, value: Value, axis: int) -> None:
        self.value = value
        self.axis = axis


def vmap(
    closed: ClosedJaxpr,
    size: Size,
    in_axes: Sequence[BatchAxis],
    out_axes: Sequence[BatchAxis] | None = None,
) -> tuple[ClosedJaxpr, list[BatchAxis]]:
    """(xs -> ys)  ->  (batches of xs -> batches of ys)

    before:  { lambda ; x:f64[3]. let y:f64[] = reduce_sum[axes=(0,)] x in (y,) }
    after:   { lambda ; x:f64[8,3]. let y:f64[8] = reduce_sum[axes=(1,)] x in (y,) }

    An axis of None means the same value for all examples. The list returned has the batch axis of
    each output: those of `out_axes` where given, else what came out naturally. Raises ValueError
    if an output is to be unbatched but differs between examples. Where arrays would have another
    size for each example, these are computed one by one, in a loop.
    """
    try:
        return _all_at_once(closed, size, in_axes, out_axes)
    except Ragged:
        return _one_by_one(closed, size, in_axes, out_axes)


def _all_at_once(
    closed: ClosedJaxpr,
    size: Size,
    in_axes: Sequence[BatchAxis],
    out_axes: Sequence[BatchAxis] | None,
) -> tuple[ClosedJaxpr, list[BatchAxis]]:
    found_axes: list[BatchAxis] = []

    def fun(*args: Value) -> list[Value]:
        batched = [
            x if axis is None else Batched(x, axis) for x, axis in zip(args, in_axes, strict=True)
        ]
        results = walk(closed, batched, lambda eqn, operands: _step(size, eqn, operands))
        wanted = out_axes or [r.axis if isinstance(r, Batched) else None for r in results]
        found_axes.extend(wanted)
        return [_with_axis(size, r, axis) for r, axis in zip(results, wanted, strict=True)]

    made = _made(fun, closed, size, in_axes)
    return made, found_axes


def _one_by_one(
    closed: ClosedJaxpr,
    size: Size,
    in_axes: Sequence[BatchAxis],
    out_axes: Sequence[BatchAxis] | None,
) -> tuple[ClosedJaxpr, list[BatchAxis]]:
    """A loop over the examples. Raises UserError if the results have a size for each."""
    for atom, eqn in ragged_results(closed):
        raise UserError(
            f"this has another size, {atom.aval}, for each example of the batch, so that the "
            "results of all of them are no array. Return what is computed of it, or fill an array "
            "of a given length.",
            eqn.source,
        )
    wanted = out_axes or [0] * len(closed.jaxpr.outvars)
    is_batched = [axis is not None for axis in in_axes]
    names = [var.name for var in closed.jaxpr.invars]

    def of_one(*args: Value) -> list[Value]:
        shared, own = iter(args[: is_batched.count(False)]), iter(args[is_batched.count(False) :])
        return inline(
            with_fresh_dimensions(closed), *[next(own if b else shared) for b in is_batched]
        )

    def fun(*args: Value) -> list[Value]:
        shared = [x for x, axis in zip(args, in_axes, strict=True) if axis is None]
        own = [
            move_batch_axis(x, axis, 0)
            for x, axis in zip(args, in_axes, strict=True)
            if axis is not None
        ]
        order = sorted(range(len(args)), key=is_batched.__getitem__)
        body = make(of_one, [closed.in_avals[k] for k in order], [names[k] for k in order])
        inside = body.jaxpr
        invars = [*inside.constvars, *inside.invars]
        # By name, for it is defined further on.
        scan: Any = registry["scan"]
        loop: Primitive = scan(
            jaxpr=ClosedJaxpr(Jaxpr([], invars, inside.eqns, inside.outvars)),
            length=size,
            num_carry=0,
            num_consts=len(body.consts) + len(shared),
        )
        results = bind(loop, *body.consts, *shared, *own)
        for result, atom in zip(results, closed.jaxpr.outvars, strict=True):
            if isinstance(atom, Var) and atom.name is not None:
                named(result, atom.name)
        batched = [Batched(result, 0) for result in results]
        return [_with_axis(size, r, axis) for r, axis in zip(batched, wanted, strict=True)]

    return _made(fun, closed, size, in_axes), list(wanted)


def _made(
    fun: Callable[..., list[Value]],
    closed: ClosedJaxpr,
    size: Size,
    in_axes: Sequence[BatchAxis],
) -> ClosedJaxpr:
    avals = [
        aval if axis is None else batched_aval(aval, size, axis)
        for aval, axis in zip(closed.in_avals, in_axes, strict=True)
    ]
    made = make(fun, avals, [var.name for var in closed.jaxpr.invars])
    check(made.jaxpr)
    return made


def batched_aval(aval: ShapedArray, size: Size, axis: int) -> ShapedArray:
    """The type of a batch of values of type `aval`."""
    return ShapedArray((*aval.shape[:axis], size, *aval.shape[axis:]), aval.dtype)


def _step(size: Size, eqn: JaxprEqn, operands: Sequence[Any]) -> Sequence[Any]:
    if not any(isinstance(operand, Batched) for operand in operands):
        return copy_equation(eqn, operands)
    values = [o.value if isinstance(o, Batched) else o for o in operands]
    dims = [o.axis if isinstance(o, Batched) else None for o in operands]
    results, axes = eqn.primitive.batch(size, values, dims)
    if not eqn.primitive.multiple_results:
        results, axes = [results], [axes]
    hand_on_names(results, eqn.outvars)
    return [r if axis is None else Batched(r, axis) for r, axis in zip(results, axes, strict=True)]


def _with_axis(size: Size, result: Any, axis: BatchAxis) -> Value:
    if isinstance(result, Batched):
        if axis is None:
            raise ValueError("out_axes is None for a result that differs between the examples")
        return move_batch_axis(result.value, result.axis, axis)
    return result if axis is None else move_batch_axis(result, None, axis, size)
