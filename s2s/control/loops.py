"""Loops as users write them: scan, map, fori_loop and while_loop, with JAX's signatures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from s2s.control.bodies import avals_without
from s2s.control.scan import Scan
from s2s.control.user_functions import Body, call, is_pair, settle_carry, trace_body
from s2s.control.while_loop import While
from s2s.ir.dims import Dim, Size, require_at_least, require_same
from s2s.ir.dtypes import BOOL
from s2s.ir.jaxpr import ShapedArray
from s2s.primitive import Value
from s2s.primitives.arithmetic import add
from s2s.primitives.creation import dim_as_value
from s2s.primitives.logic import lt
from s2s.trace import aval, bind
from s2s.tree import TreeDef, flatten, unflatten


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: Size | None = None,
    reverse: bool = False,
    unroll: int = 1,
) -> tuple[Any, Any]:
    """Run `carry, y = f(carry, x)` for each element of `xs` along its first axis.

    Args:
        f: a function of what is carried from step to step and an element of `xs`, which returns
            the next carry, of the same structure and types, and a result y.
        init: the carry of the first step: an array, a number, or a container of them.
        xs: an array or a container of arrays with first axes of one size; None for none.
        length: the number of steps, needed if there are no `xs`.
        reverse: whether to begin with the last element; the ys keep the order of the xs.
        unroll: how many steps a turn of the loop makes; a hint that does not change the result.

    Returns:
        (carry, ys): the last carry, and the results of all steps stacked along a first axis.

    Raises:
        TypeError: if the carry would change its type or structure, or the xs differ in length.
    """
    init_leaves, init_structure = flatten(init)
    xs_leaves, xs_structure = flatten(xs)
    steps = _length(xs_leaves, length)
    x_avals = avals_without([aval(x) for x in xs_leaves], 0)

    def trace(carry: list[ShapedArray]) -> Body:
        avals = [*carry, *x_avals]
        return trace_body(f, [init_structure, xs_structure], avals, _pair)

    body, carry = settle_carry(
        trace, init_leaves, init_structure, lambda body: body.result_part(0), "the body of scan"
    )
    primitive = Scan(
        body.jaxpr, steps, len(carry), len(body.consts), bool(reverse), _unroll(unroll, steps)
    )
    results = bind(primitive, *body.consts, *carry, *xs_leaves)
    return (
        unflatten(init_structure, results[: len(carry)]),
        unflatten(body.result_part(1), results[len(carry) :]),
    )


def _pair(result: Any) -> Any:
    if not is_pair(result):
        raise TypeError("the body of scan must return a pair, the next carry and a result y")
    return result


def _length(xs: Sequence[Value], length: Size | None) -> Size:
    found = length
    for x in xs:
        shape = aval(x).shape
        if not shape:
            raise TypeError(f"scan runs over the first axis of arrays, and {aval(x)} has none")
        if found is None:
            found = shape[0]
        elif not require_same(found, shape[0]):
            what = "`length` is" if found is length else "another array has"
            raise TypeError(
                f"scan runs over an array of type {aval(x)}, which has {shape[0]} rows, but "
                f"{what} {found}"
            )
    if found is None:
        raise TypeError("scan needs `length` if there are no `xs`")
    return found


def _unroll(unroll: int | bool, steps: Size) -> int:
    if unroll is True or (unroll == 0 and unroll is not False):
        return max(steps, 1) if isinstance(steps, int) else 1
    return max(int(unroll), 1)


def map(f: Callable[[Any], Any], xs: Any) -> Any:
    """`f` applied to each element of `xs` along its first axis, one after the other; the results
    stacked. `xs` and the result may be containers of arrays."""
    return scan(lambda _, x: ((), call(f, x)), (), xs)[1]


def fori_loop(
    lower: Any, upper: Any, body_fun: Callable[[Any, Any], Any], init_val: Any, unroll: int = 1
) -> Any:
    """Run `val = body_fun(i, val)` for each integer i from `lower` up to, not including, `upper`.

    Args:
        lower, upper: integers; where both are known, or are sizes of arrays, the loop is a scan,
            else a while loop.
        body_fun: a function of i and the carried value, which returns the next one.
        init_val: the carried value to start with.
        unroll: how many steps a turn of the loop makes.

    Returns:
        The last carried value.
    """
    for bound in (lower, upper):
        if not isinstance(bound, Dim) and aval(bound).dtype.kind not in "iu":
            raise TypeError(f"the bounds of fori_loop must be integers, not {aval(bound)}")
    if isinstance(lower, (int, Dim)) and isinstance(upper, (int, Dim)):
        length: Size = upper - lower
        if isinstance(length, int):
            length = max(length, 0)
        elif not require_at_least(length, 0, f"{upper} >= {lower}"):
            length = 0
        start = lower if isinstance(lower, int) else dim_as_value(lower)

        def step(carry: tuple[Any, Any], _: None) -> tuple[Any, None]:
            i, val = carry
            return (add(i, 1), call(body_fun, i, val)), None

        return scan(step, (start, init_val), None, length, unroll=unroll)[0][1]

    def turn(carry: tuple[Any, Any, Any]) -> Any:
        i, end, val = carry
        return add(i, 1), end, call(body_fun, i, val)

    first, last = (dim_as_value(b) if isinstance(b, Dim) else b for b in (lower, upper))
    return while_loop(lambda carry: lt(carry[0], carry[1]), turn, (first, last, init_val))[2]


def while_loop(
    cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any
) -> Any:
    """Run `val = body_fun(val)` as long as `cond_fun(val)` is true.

    It has derivatives in both modes: for reverse mode the loop records what the way back needs.

    Args:
        cond_fun: a function of the carried value which returns one truth value.
        body_fun: a function of the carried value which returns the next one, of the same structure
            and types.
        init_val: the carried value to start with: an array, a number, or a container of them.

    Returns:
        The first carried value for which the condition is false.

    Raises:
        TypeError: if the condition is not one truth value, or the carried value changes its type.
    """
    leaves, structure = flatten(init_val)
    body, carry = settle_carry(
        lambda avals: trace_body(body_fun, [structure], avals),
        leaves,
        structure,
        lambda body: body.result,
        "the body of while_loop",
    )
    condition = trace_body(cond_fun, [structure], body.jaxpr.in_avals[len(body.consts) :])
    found = condition.jaxpr.out_avals
    if not is_leaf(condition.result) or found[0].shape or found[0].dtype != BOOL:
        raise TypeError(
            "the condition of while_loop must return one truth value, not "
            f"{', '.join(str(a) for a in found) or 'nothing'}"
        )
    _hand_on_names(condition, body)
    primitive = While(body.jaxpr, len(body.consts), condition.jaxpr, len(condition.consts))
    return unflatten(structure, bind(primitive, *condition.consts, *body.consts, *carry))


def _hand_on_names(condition: Body, body: Body) -> None:
    """Name the carried values that the body has no names for as the condition names them."""
    inside = body.jaxpr.jaxpr.invars[len(body.consts) :]
    taken = {var.name for var in inside}
    for var, other in zip(
        inside, condition.jaxpr.jaxpr.invars[len(condition.consts) :], strict=True
    ):
        if var.name in (None, "_") and other.name not in taken:
            var.name = other.name


def is_leaf(structure: TreeDef) -> bool:
    """Whether a structure is a single value."""
    return structure.kind is None
