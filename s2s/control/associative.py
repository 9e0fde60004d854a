"""associative_scan: running results of an associative operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from s2s.control.loops import scan
from s2s.control.user_functions import call
from s2s.ir.dims import Size, require_same
from s2s.primitive import Value
from s2s.primitives.functions import concatenate, reshape, rev, slice, stack, transpose
from s2s.trace import aval
from s2s.tree import flatten, unflatten


def associative_scan(
    fn: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0
) -> Any:
    """The running results of an associative operation: a, fn(a, b), fn(fn(a, b), c), ...

    In a number of calls of `fn` that grows as the logarithm of the length (Ladner and Fischer
    1980), or one after the other where the length has a name instead of a number.

    Args:
        fn: an associative operation on arrays of elements along `axis`, or containers of them.
        elems: an array, or a container of arrays with an equal number of elements.
        reverse: whether to run from the last element to the first.
        axis: the axis that counts the elements.

    Returns:
        The results, in the structure of `elems`.
    """
    leaves, structure = flatten(elems)
    axes = [axis + aval(leaf).ndim if axis < 0 else axis for leaf in leaves]
    front = [_moved(leaf, a, 0) for leaf, a in zip(leaves, axes, strict=True)]
    length = aval(front[0]).shape[0]
    for leaf in front:
        if not require_same(length, aval(leaf).shape[0]):
            raise TypeError(
                f"associative_scan over arrays with {length} and {aval(leaf).shape[0]} elements"
            )
    if reverse:
        front = [rev(leaf, [0]) for leaf in front]

    def combine(a: Sequence[Value], b: Sequence[Value]) -> list[Value]:
        pairs = [
            unflatten(structure, [_moved(v, 0, ax) for v, ax in zip(values, axes, strict=True)])
            for values in (a, b)
        ]
        results = flatten(call(fn, *pairs))[0]
        return [_moved(v, ax, 0) for v, ax in zip(results, axes, strict=True)]

    running = (
        _running(combine, front, length) if isinstance(length, int) else _in_turn(combine, front)
    )
    if reverse:
        running = [rev(leaf, [0]) for leaf in running]
    return unflatten(structure, [_moved(v, 0, a) for v, a in zip(running, axes, strict=True)])


Combine = Callable[[Sequence[Value], Sequence[Value]], list[Value]]


def _running(combine: Combine, elems: Sequence[Value], length: int) -> list[Value]:
    if length < 2:
        return list(elems)
    # Pairs of neighbours, then their running results: these are the results at odd positions.
    pairs = combine(
        [_part(e, 0, length - 1, 2) for e in elems], [_part(e, 1, length, 2) for e in elems]
    )
    odd = _running(combine, pairs, length // 2)
    before = odd if length % 2 else [_part(e, 0, length // 2 - 1) for e in odd]
    first = [_part(e, 0, 1) for e in elems]
    if length > 2:
        even = combine(before, [_part(e, 2, length, 2) for e in elems])
        even = [concatenate([a, b], 0) for a, b in zip(first, even, strict=True)]
    else:
        even = first
    return [_interleaved(a, b) for a, b in zip(even, odd, strict=True)]


def _in_turn(combine: Combine, elems: Sequence[Value]) -> list[Value]:
    def step(carry: list[Value], x: list[Value]) -> tuple[list[Value], list[Value]]:
        rows = [reshape(row, (1, *aval(row).shape)) for row in x]
        result = combine(carry, rows)
        return result, [reshape(r, aval(r).shape[1:]) for r in result]

    first = [_part(e, 0, 1) for e in elems]
    rest = [_part(e, 1, aval(e).shape[0]) for e in elems]
    _, running = scan(step, first, rest)
    return [concatenate([a, b], 0) for a, b in zip(first, running, strict=True)]


def _part(array: Value, start: Size, stop: Size, step: int = 1) -> Value:
    rest = aval(array).shape[1:]
    zeros, ones = [0] * len(rest), [1] * len(rest)
    return slice(array, (start, *zeros), (stop, *rest), (step, *ones))


def _interleaved(even: Value, odd: Value) -> Value:
    """even[0], odd[0], even[1], ..., where `even` has as many elements or one more."""
    size, rest = aval(odd).shape[0], aval(odd).shape[1:]
    pairs = reshape(stack([_part(even, 0, size), odd], 1), (2 * size, *rest))
    extra = aval(even).shape[0]
    return pairs if extra == size else concatenate([pairs, _part(even, size, extra)], 0)


def _moved(value: Value, source: int, destination: int) -> Value:
    if source == destination:
        return value
    axes = [axis for axis in range(aval(value).ndim) if axis != source]
    axes.insert(destination, source)
    return transpose(value, axes)
