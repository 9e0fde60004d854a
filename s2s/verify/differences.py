"""Derivatives by differences, with an estimate of their error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

_FIRST_STEP = 0.1
_LEVELS = 10
_LEVELS_OF_PATHS = 7
_NEARBY = 1e-6
_STEP_OF_NOISE = 0.01
_TINY_STEP = 1e-10
_OF_SIXTH_DIFFERENCES = 924.0**0.5
"""How much larger the sixth difference of independent roundings is than these."""
_LAST_DIGITS = 1e3
"""Roundings of up to this many units in the last place are those of any sum."""
_CANCELLED = 1e-13


@dataclass(frozen=True)
class Slope:
    """A derivative, entry by entry, and by how much it may be wrong."""

    value: Array
    error: Array


def slope(function: Callable[[float], Array]) -> Slope:
    """The derivative of `function(h)` at h = 0, where `function` gives a flat array.

    Ridders's method: central differences for steps from 0.1 on, each half of the one before,
    extrapolated to a step of zero; for each entry the extrapolation that changed least is taken,
    and its change is the estimate of the error. Steps at which the function is not finite, or
    raises an error of arithmetic, are left out. C. J. F. Ridders, "Accurate computation of F'(x)
    and F'(x)F''(x)", Advances in Engineering Software 4 (1982).
    """
    best: Array | None = None
    error: Array | None = None
    before: list[Array] = []
    noise = _noise(function)
    for level in range(_LEVELS):
        found = _central_difference(function, _FIRST_STEP * 0.5**level)
        if found is None:
            before = []
            continue
        difference, size, step = *found, _FIRST_STEP * 0.5**level
        rounding = (np.finfo(float).eps * size + noise) / step
        if best is None or error is None:
            best, error = difference.copy(), np.full(difference.shape, np.inf)
        row = [difference]
        for order, coarser in enumerate(before):
            finer = row[-1]
            extrapolated = finer + (finer - coarser) / (4.0 ** (order + 1) - 1.0)
            change = np.maximum(np.abs(extrapolated - finer), np.abs(extrapolated - coarser))
            change += rounding
            better = change < error
            np.copyto(best, extrapolated, where=better)
            np.copyto(error, change, where=better)
            row.append(extrapolated)
        before = row
    if best is None or error is None:
        return Slope(np.array([np.nan]), np.array([np.inf]))
    return Slope(best, error)


class Undefined(Exception):
    """The user's own function raises at some arguments, as the message says."""


def slope_nearby(function: Callable[[float], Array]) -> Slope:
    """The derivative of `function(h)` at h = 0, from steps that are too small to extrapolate.

    For a function that jumps a little every now and then, as one that chooses its steps by itself:
    few of these steps are across a jump.
    """
    coarse = _central_difference(function, 2.0 * _NEARBY)
    fine = _central_difference(function, _NEARBY)
    if coarse is None or fine is None:
        return Slope(np.array([np.nan]), np.array([np.inf]))
    rounding = 8.0 * np.finfo(float).eps * fine[1] / _NEARBY
    return Slope(fine[0], np.abs(fine[0] - coarse[0]) + rounding)


def slope_along_path(
    function: Callable[[float], Array], path_of: Callable[[Callable[[], Any]], int | None]
) -> Slope | None:
    """The derivative of `function(h)` at h = 0, from steps on both sides that take the branches
    taken at 0; None if there are no two such steps."""
    # Twice: Python may leave out some of what it runs for the first time while it is followed.
    here = [path_of(lambda: function(0.0)) for _ in range(2)][-1]
    best: Slope | None = None
    for level in range(_LEVELS_OF_PATHS):
        step = _FIRST_STEP * 0.1**level
        same = here is not None and all(
            path_of(lambda h=h: function(h)) == here for h in (step, -step, step / 2.0, -step / 2.0)
        )
        if not same:
            continue
        coarse = _central_difference(function, step)
        fine = _central_difference(function, step / 2.0)
        if coarse is None or fine is None:
            continue
        value = fine[0] + (fine[0] - coarse[0]) / 3.0
        error = np.abs(value - fine[0]) + 8.0 * np.finfo(float).eps * fine[1] / step
        if best is None:
            best = Slope(value, error)
        else:
            better = error < best.error
            best = Slope(np.where(better, value, best.value), np.where(better, error, best.error))
    return best


def _central_difference(
    function: Callable[[float], Array], step: float
) -> tuple[Array, Array] | None:
    """The difference quotient, and how large the two values are."""
    try:
        above, below = function(step), function(-step)
    except (ArithmeticError, Undefined, ValueError):
        return None
    if not (np.isfinite(above).all() and np.isfinite(below).all()):
        return None
    return (above - below) / (2.0 * step), np.maximum(np.abs(above), np.abs(below))


def _noise(function: Callable[[float], Array]) -> Array:
    """The rounding of values, where it is more than their last digits: their sixth differences.

    These are next to nothing for a smooth function. They are taken over tiny steps; for values that
    are small because they cancel, over larger ones, whose roundings differ.
    """
    here = function(0.0)
    cancels = np.max(np.abs(here), initial=0.0) <= _CANCELLED
    step = _STEP_OF_NOISE if cancels else _TINY_STEP
    try:
        values = np.array([here, *[function(k * step) for k in range(1, 7)]])
    except (ArithmeticError, Undefined, ValueError):
        return np.zeros_like(here)
    found = np.abs(np.diff(values, n=6, axis=0)[0])
    if not cancels:
        found /= _OF_SIXTH_DIFFERENCES
        found[found <= _LAST_DIGITS * np.finfo(float).eps * np.abs(here)] = 0.0
    return np.nan_to_num(found, posinf=0.0)
