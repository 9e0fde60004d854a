"""Random arguments of given types, at which the user's function can be evaluated."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from s2s.frontend.argument_types.types import ArgumentType, Static
from s2s.ir import dims
from s2s.ir.jaxpr import ShapedArray
from s2s.tree import flatten, tree_map

Random = np.random.Generator


def _positive_definite(rng: Random, shape: tuple[int, ...]) -> Any:
    """Square matrices that are positive definite; other arrays as near 1."""
    if len(shape) < 2 or shape[-1] != shape[-2]:
        return rng.uniform(0.5, 1.5, shape)
    x = rng.standard_normal(shape)
    return x @ x.mT / shape[-1] + np.eye(shape[-1])


_RANGES: tuple[Callable[[Random, tuple[int, ...]], Any], ...] = (
    lambda rng, shape: rng.standard_normal(shape),
    lambda rng, shape: rng.uniform(0.5, 1.5, shape),
    lambda rng, shape: rng.uniform(0.1, 0.9, shape),
    lambda rng, shape: rng.uniform(1.1, 2.0, shape),
    _positive_definite,
)
"""Where numbers are drawn from: anywhere, near 1, between 0 and 1, above 1, positive definite.

The logarithm, the square root, arcsin, arccosh and the Cholesky decomposition each have one of
these in their domain.
"""

_TRIES_OF_MIXED_RANGES = 20


def candidates(
    types: Mapping[str, ArgumentType], minimum: Mapping[str, int], rng: Random
) -> Iterator[dict[str, Any]]:
    """Arguments of the given types, by parameter: plain ranges first, then mixtures of them.

    Named dimensions get small sizes that differ from each other, of at least `minimum`.
    """
    for attempt in itertools.count():
        if attempt >= len(_RANGES) + _TRIES_OF_MIXED_RANGES:
            return
        sizes = sizes_of_names(types, minimum, attempt)

        def draw(leaf: Any, attempt: int = attempt, sizes: dict[str, int] = sizes) -> Any:
            if isinstance(leaf, Static):
                return leaf.value
            mixed = attempt >= len(_RANGES)
            chosen = int(rng.integers(len(_RANGES))) if mixed else attempt
            return _random_value(leaf, sizes, chosen, rng)

        yield {name: tree_map(draw, argument) for name, argument in types.items()}


def sizes_of_names(
    types: Mapping[str, ArgumentType], minimum: Mapping[str, int], attempt: int = 0
) -> dict[str, int]:
    """A small size for each named dimension, such that all shapes are possible.

    Of two names, every other attempt gives the first one the larger size.
    """
    shapes = [leaf.shape for leaf in flatten(dict(types))[0] if isinstance(leaf, ShapedArray)]
    names = list(
        dict.fromkeys(
            name for shape in shapes for size in shape for name in sorted(dims.names_of(size))
        )
    )
    if attempt % 2:
        names.reverse()
    symbolic = [size for shape in shapes for size in shape if isinstance(size, dims.Dim)]
    start = 2 + attempt % 3
    while True:
        sizes = {name: max(start + place, minimum.get(name, 1)) for place, name in enumerate(names)}
        if start > 100 or all(_value(size, sizes) >= 1 for size in symbolic):
            return sizes
        start += 1


def _value(size: dims.Size, sizes: Mapping[str, int]) -> int:
    value = dims.substitute(size, sizes)
    assert isinstance(value, int)
    return value


def _random_value(leaf: ShapedArray, sizes: Mapping[str, int], chosen: int, rng: Random) -> Any:
    shape = tuple(_value(size, sizes) for size in leaf.shape)
    match leaf.dtype.kind:
        case "b":
            value = rng.integers(2, size=shape)
        case "i" | "u":
            # Small, so that they can be labels and indices. One may be a number of steps, of which
            # some must be more than one.
            steps = chosen == 1 and not shape
            value = rng.integers(2, 6) if steps else rng.integers(2, size=shape) + (chosen == 1)
        case "c":
            value = _RANGES[chosen](rng, shape) + 1j * _RANGES[chosen](rng, shape)
        case _:
            value = _RANGES[chosen](rng, shape)
    array = np.asarray(value).astype(leaf.dtype)
    if leaf.weak_type:
        return array.item()
    return array if shape else array[()]
