"""Branches as users write them: cond and switch, with JAX's signatures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from s2s.control.cond import INDEX, Cond
from s2s.control.user_functions import (
    Body,
    converting,
    fits,
    join,
    place,
    same_kind,
    share_consts,
    trace_body,
)
from s2s.ir.dtypes import BOOL
from s2s.ir.jaxpr import ShapedArray
from s2s.primitive import Value
from s2s.primitives.functions import clamp, convert_element_type, ne
from s2s.trace import aval, bind
from s2s.tree import flatten, leaf_paths, unflatten


def cond(
    pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any
) -> Any:
    """`true_fun(*operands)` if `pred` is true, else `false_fun(*operands)`.

    Args:
        pred: one truth value.
        true_fun, false_fun: functions of the operands, whose results have the same structure and
            types. They may close over traced values.
        operands: arrays, numbers, or containers of them.

    Raises:
        TypeError: if `pred` is not one truth value, or the branches return different types.
    """
    kind = aval(pred)
    if kind.shape or kind.dtype.kind not in "biuf":
        raise TypeError(f"the predicate of cond must be one truth value, not {kind}")
    if kind.dtype != BOOL:
        pred = ne(pred, 0)
    index = convert_element_type(pred, INDEX)
    return _choose(index, [true_fun, false_fun], operands, "cond", slice(None, None, -1))


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """`branches[index](*operands)`, where an index out of range is moved into it.

    Args:
        index: an integer.
        branches: functions of the operands, whose results have the same structure and types.
        operands: arrays, numbers, or containers of them.

    Raises:
        TypeError: if `index` is not one integer, or the branches return different types.
    """
    kind = aval(index)
    if kind.shape or kind.dtype.kind not in "iu":
        raise TypeError(f"the index of switch must be one integer, not {kind}")
    if not branches:
        raise ValueError("switch needs at least one branch")
    if len(branches) == 1:
        return branches[0](*operands)
    index = convert_element_type(index, INDEX)
    index = clamp(INDEX.type(0), index, INDEX.type(len(branches) - 1))
    return _choose(index, branches, operands, "switch")


def _choose(
    index: Value,
    functions: Sequence[Callable[..., Any]],
    operands: Sequence[Any],
    what: str,
    order: slice = slice(None),
) -> Any:
    """The result of one of some functions, which are the branches in the given order."""
    leaves, structure = flatten(tuple(operands))
    avals = [aval(leaf) for leaf in leaves]
    bodies = [trace_body(f, list(structure.children), avals) for f in functions]
    bodies = _with_results_of_one_type(bodies, what)
    branches, consts = share_consts(bodies)
    results = bind(Cond(tuple(branches[order])), index, *consts, *leaves)
    return unflatten(bodies[0].result, results)


def _with_results_of_one_type(bodies: Sequence[Body], what: str) -> list[Body]:
    """The branches, with Python scalars converted where another branch returns another type."""
    first = bodies[0]
    for body in bodies[1:]:
        if body.result != first.result:
            raise TypeError(
                f"the branches of {what} must return results of one structure, but one returns "
                f"{first.result} and another {body.result}"
            )
    wanted: list[ShapedArray] = []
    all_avals = zip(*[body.jaxpr.out_avals for body in bodies], strict=True)
    for avals, path in zip(all_avals, leaf_paths(first.result), strict=True):
        joined = join(avals)
        for a in avals:
            if not fits(joined, a):
                other = next(b for b in avals if not fits(a, b))
                raise TypeError(
                    f"the branches of {what} return different types for "
                    f"{place(path, 'the result')}: {a} and {other}"
                )
        wanted.append(joined)
    return [
        body
        if all(same_kind(a, b) for a, b in zip(body.jaxpr.out_avals, wanted, strict=True))
        else Body(converting(body.jaxpr, wanted), body.consts, body.result)
        for body in bodies
    ]
