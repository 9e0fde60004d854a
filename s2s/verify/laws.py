"""What a transformed function must agree with: one law for each transformation.

Each law compares one transformation with the function inside it, so a composition is verified from
the outside in, one transformation at a time, down to the user's own function.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from s2s.api.batching import Vmap, axis_of_each_leaf
from s2s.api.derivatives import JvpFunction, ValueAndGrad, VjpFunction
from s2s.api.jacobians import Jacobian
from s2s.api.transformed import Argnums, Transformed, signature
from s2s.errors import UserError
from s2s.frontend.argument_types.collect import bind
from s2s.frontend.argument_types.types import type_of_example
from s2s.ir.dtypes import is_inexact
from s2s.tree import flatten, tree_map, unflatten
from s2s.verify.differences import Array, Undefined
from s2s.verify.findings import Findings

Values: TypeAlias = "Mapping[str, Any]"
"""Arguments by parameter."""

Run: TypeAlias = "Callable[[Values], Any]"
"""A function of arguments by parameter."""


def check(fun: Callable[..., Any], run: Run, args: Values, findings: Findings) -> None:
    """Compare `run`, which is said to compute `fun`, with the functions inside of `fun`.

    Raises Disagreement. `args` are arguments at which the user's function can be evaluated.
    """
    if not isinstance(fun, Transformed):
        findings.compare_values("the value", run(args), caller(fun)(args))
        return
    inner = caller(fun.fun)
    law(fun, run, inner, args, findings)
    if isinstance(fun.fun, Transformed):
        check(fun.fun, inner, inner_arguments(fun, args), findings)


def caller(fun: Callable[..., Any]) -> Run:
    """The function as one of arguments by parameter, which does not write to the arguments.

    It raises Undefined where the user's function raises anything.
    """

    def run(args: Values) -> Any:
        positional, by_keyword = bind(signature(fun), tree_map(copied_leaf, dict(args)))
        try:
            return fun(*positional, **by_keyword)
        except UserError as error:
            # A transformed function, called, is one for the values of Python's integers, and may
            # not exist for some: a sum of no terms is an integer, which has no derivative.
            raise Undefined(str(error)) from error
        except Exception as error:
            if isinstance(fun, Transformed):
                list(users_values(fun, args))  # is Undefined if that is what the user's function is
                raise
            raise Undefined(f"raises {type(error).__name__}: {error}") from error

    return run


def users_values(fun: Callable[..., Any], args: Values) -> Iterator[Any]:
    """The values of the user's function in `fun`, for each of a batch."""
    if not isinstance(fun, Transformed):
        yield caller(fun)(args)
    elif isinstance(fun, Vmap):
        axes = axes_of(fun, args)
        for index in range(_size_of_batch(axes, args)):
            yield from users_values(fun.fun, row_of_arguments(axes, args, index))
    else:
        yield from users_values(fun.fun, inner_arguments(fun, args))


def inner_arguments(fun: Transformed, args: Values) -> Values:
    """Arguments of the function inside a transformed one; the first of a batch."""
    if isinstance(fun, Vmap):
        return row_of_arguments(axes_of(fun, args), args, 0)
    return {name: args[name] for name in signature(fun.fun).parameters if name in args}


def copied_leaf(leaf: Any) -> Any:
    """The leaf, or a copy of it if it is an array."""
    return leaf.copy() if _is_array(leaf) else leaf


def _is_array(leaf: object) -> bool:
    return isinstance(leaf, np.ndarray)


@functools.singledispatch
def law(fun: Transformed, run: Run, inner: Run, args: Values, findings: Findings) -> None:
    """Compare a transformed function with the function inside it. Raises Disagreement."""
    raise NotImplementedError(f"no law says what {type(fun).__name__} must agree with")


# -- derivatives ----------------------------------------------------------------------------------


@law.register
def _(fun: ValueAndGrad, run: Run, inner: Run, args: Values, findings: Findings) -> None:
    found, expected = run(args), inner(args)
    if fun.with_value:
        value, gradient = found
        findings.compare_values("the value", value, expected)
    elif fun.has_aux:
        gradient, aux = found
        findings.compare_values("the auxiliary value", aux, expected[1])
    else:
        gradient = found
    by_name = _by_name(fun, gradient)
    findings.compare_types("the gradient", by_name, {name: args[name] for name in by_name})
    for direction in _directions(fun, args, findings):
        line = _line(inner, args, direction, _value_of(fun))
        slope = np.array([_dot(by_name, direction)])
        what = f"the derivative along {_shown(direction)}"
        forward = _forward(fun, args, direction)
        findings.compare_slopes(what, slope, line, _width(gradient), forward)


@law.register
def _(fun: JvpFunction, run: Run, inner: Run, args: Values, findings: Findings) -> None:
    inner_args = inner_arguments(fun, args)
    value, value_dot = _without_auxiliary(fun, run(args), inner(inner_args), findings)
    findings.compare_types("the derivative", value_dot, value)
    direction = {name: args[dot] for name, dot in zip(_wrt(fun), fun.dots, strict=True)}
    line = _line(inner, inner_args, direction, _value_of(fun))
    what = "the derivative along the given direction"
    found = _flat(value_dot)

    def reverse() -> Array:
        """What the cotangents say in place of a random combination of the entries."""
        weights = tree_map(functools.partial(_random_like, findings), value_dot)
        pullback = VjpFunction(fun.fun, fun.argnums, fun.has_aux)
        bars = caller(pullback)({**inner_args, pullback.bar: weights})[1]
        missing = _dot(_by_name(fun, bars), direction) - _dot(weights, value_dot)
        return found + missing

    findings.compare_slopes(what, found, line, _width(value_dot), reverse)


@law.register
def _(fun: VjpFunction, run: Run, inner: Run, args: Values, findings: Findings) -> None:
    inner_args = inner_arguments(fun, args)
    _, bars = _without_auxiliary(fun, run(args), inner(inner_args), findings)
    y_bar, by_name = _flat(args[fun.bar]), _by_name(fun, bars)
    findings.compare_types("the cotangent", by_name, {name: args[name] for name in by_name})

    def weighted(result: Any) -> Any:
        return _flat(_value_of(fun)(result)) @ y_bar

    for direction in _directions(fun, inner_args, findings):
        line = _line(inner, inner_args, direction, weighted)
        slope = np.array([_dot(by_name, direction)])
        what = f"the product of the cotangents with {_shown(direction)}"
        forward = _forward(fun, inner_args, direction, y_bar)
        findings.compare_slopes(what, slope, line, _width(bars), forward)


def _without_auxiliary(fun: Any, found: Any, expected: Any, findings: Findings) -> Any:
    """The value and its derivative. The value and the auxiliary values must be as expected."""
    value, derivative, *auxiliary = found
    findings.compare_values("the value", value, _value_of(fun)(expected))
    if auxiliary:
        findings.compare_values("the auxiliary value", auxiliary[0], expected[1])
    return value, derivative


@law.register
def _(fun: Jacobian, run: Run, inner: Run, args: Values, findings: Findings) -> None:
    found, expected = run(args), inner(args)
    if fun.has_aux:
        found, aux = found
        findings.compare_values("the auxiliary value", aux, expected[1])
    blocks = [np.asarray(block, np.float64) for block in flatten(found)[0]]
    for direction in _directions(fun, args, findings):
        steps = flatten([direction[name] for name in _wrt(fun)])[0]
        products: list[Any] = []
        for start in range(0, len(blocks), len(steps)):
            row = zip(blocks[start : start + len(steps)], steps, strict=True)
            products.append(sum(np.tensordot(block, v, axes=v.ndim) for block, v in row))
        line = _line(inner, args, direction, _value_of(fun))
        what = f"the Jacobian's product with {_shown(direction)}"
        forward = _forward(fun, args, direction)
        findings.compare_slopes(what, _flat(products), line, _width(found), forward)


def _random_like(findings: Findings, leaf: Any) -> Any:
    return findings.rng.standard_normal(np.shape(leaf))


def _forward(
    fun: Any, args: Values, direction: Values, weights: Array | None = None
) -> Callable[[], Array]:
    """The derivative along a direction of the function in `fun`, by forward mode; with `weights`,
    that of the sum of its entries times these."""

    def forward() -> Array:
        pushforward = JvpFunction(fun.fun, fun.argnums, fun.has_aux)
        dots = dict(zip(pushforward.dots, (direction[name] for name in _wrt(fun)), strict=True))
        found = _flat(caller(pushforward)({**args, **dots})[1])
        return found if weights is None else np.array([found @ weights])

    return forward


def _wrt(fun: Any) -> list[str]:
    """The parameters that a transformation differentiates."""
    names = list(signature(fun.fun).parameters)
    argnums: Argnums = fun.argnums
    wanted: Sequence[int | str] = [argnums] if isinstance(argnums, (int, str)) else argnums
    return [one if isinstance(one, str) else names[one] for one in wanted]


def _by_name(fun: Any, derivatives: Any) -> dict[str, Any]:
    """The part of a derivative for each differentiated parameter."""
    is_one = isinstance(fun.argnums, (int, str))
    return dict(zip(_wrt(fun), [derivatives] if is_one else derivatives, strict=True))


def _value_of(fun: Any) -> Callable[[Any], Any]:
    """What is differentiated in a result of the function inside `fun`."""
    return (lambda result: result[0]) if fun.has_aux else (lambda result: result)


def _directions(fun: Any, args: Values, findings: Findings) -> Iterator[dict[str, Any]]:
    """Directions for the differentiated arguments: one for all, then one for each of their parts.

    A part's direction is as large as the part, so that the steps are.
    """
    leaves, structure = flatten({name: args[name] for name in _wrt(fun)})
    drawn = [
        findings.rng.standard_normal(np.shape(leaf)) * (_largest(leaf) or 1.0) for leaf in leaves
    ]
    yield unflatten(structure, drawn)
    for chosen in range(len(leaves) if len(leaves) > 1 else 0):
        if not findings.has_time():
            return
        parts = [v if i == chosen else np.zeros_like(v) for i, v in enumerate(drawn)]
        yield unflatten(structure, parts)


def _largest(leaf: Any) -> float:
    return float(np.max(np.abs(leaf), initial=0.0))


def _shown(direction: Values) -> str:
    names = [name for name, part in direction.items() if any(map(_largest, flatten(part)[0]))]
    return f"a direction of {' and '.join(names)}"


def _line(
    inner: Run, args: Values, direction: Values, value_of: Callable[[Any], Any] | None = None
) -> Callable[[float], Array]:
    """The function `h -> value_of(inner(args + h * direction))`, flat."""

    def at(h: float) -> Array:
        def moved(leaf: Any, step: Any) -> Any:
            return _add(leaf, h * np.asarray(step, np.float64))

        changed = {name: tree_map(moved, args[name], part) for name, part in direction.items()}
        result = inner({**args, **changed})
        return _flat(result if value_of is None else value_of(result))

    return at


def _add(leaf: Any, step: Any) -> Any:
    # In double precision, so that single precision does not spoil the difference quotient.
    if type(leaf) is float:
        return leaf + float(step)
    total = np.asarray(leaf, np.result_type(leaf, np.float64)) + step
    return total if total.shape else total[()]


def _flat(tree: Any) -> Array:
    """The inexact leaves of a tree as one array of real numbers."""
    parts: list[Any] = [
        np.asarray(leaf).reshape(-1)
        for leaf in flatten(tree)[0]
        if is_inexact(np.asarray(leaf).dtype)
    ]
    whole: Any = np.concatenate(parts) if parts else np.zeros(0)
    if whole.dtype.kind == "c":
        whole = np.concatenate([whole.real, whole.imag])
    return np.asarray(whole, np.float64)


def _width(tree: Any) -> int:
    """The bytes of a real number of the least precise leaf."""
    dtypes = [np.asarray(leaf).dtype for leaf in flatten(tree)[0]]
    return min((np.finfo(dtype).bits // 8 for dtype in dtypes if is_inexact(dtype)), default=8)


def _dot(a: Any, b: Any) -> float:
    """The inner product of two trees of real numbers of the same structure."""
    return float(_flat(a) @ _flat(b))


# -- batching -------------------------------------------------------------------------------------


@law.register
def _(fun: Vmap, run: Run, inner: Run, args: Values, findings: Findings) -> None:
    axes = axes_of(fun, args)
    found = run(args)
    leaves, structure = flatten(found)
    out_axes = axis_of_each_leaf(fun.out_axes, found, "out_axes")
    for index in range(min(_size_of_batch(axes, args), 3)):
        ours = [_row(leaf, axis, index) for leaf, axis in zip(leaves, out_axes, strict=True)]
        expected = inner(row_of_arguments(axes, args, index))
        findings.compare_values(f"entry {index} of the batch", unflatten(structure, ours), expected)


def axes_of(fun: Vmap, args: Values) -> dict[str, list[int | None]]:
    """The mapped axis of each leaf of the arguments of a vmap."""
    return fun.axes_of_parameters({name: type_of_example(value) for name, value in args.items()})


def _size_of_batch(axes: Mapping[str, Sequence[int | None]], args: Values) -> int:
    return next(
        leaf.shape[axis]
        for name, argument in args.items()
        for leaf, axis in zip(flatten(argument)[0], axes[name], strict=True)
        if axis is not None and _is_array(leaf)
    )


def row_of_arguments(
    axes: Mapping[str, Sequence[int | None]], args: Values, index: int
) -> dict[str, Any]:
    """The arguments of one example of a batch."""
    rows: dict[str, Any] = {}
    for name, argument in args.items():
        leaves, structure = flatten(argument)
        parts = [_row(leaf, axis, index) for leaf, axis in zip(leaves, axes[name], strict=True)]
        rows[name] = unflatten(structure, parts)
    return rows


def _row(leaf: Any, axis: int | None, index: int) -> Any:
    return np.take(leaf, index, axis) if _is_array(leaf) and axis is not None else leaf
