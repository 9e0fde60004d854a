"""Comparing numbers: what may differ by how much, and the largest error found."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2s.ir.dtypes import is_inexact
from s2s.tree import TreeDef, flatten
from s2s.verify.differences import Array, slope, slope_along_path, slope_nearby
from s2s.verify.paths import path_of

_OF_SLOPES = {2: 1e-1, 4: 1e-3, 8: 1e-6}
"""By how much of it a derivative may differ, by the bytes of a real number of its type."""

_OF_VALUES = {2: 1e-2, 4: 1e-4, 8: 1e-9}
"""By how much a value may differ: what another order of summation changes, and some more."""

_OF_ORDERS = 1e-8
"""By how much of it the same derivative may differ between forward and reverse mode."""

_ROUNDINGS = 50
"""How many errors of rounding of numbers near 1 may add up in a value that should be zero."""

_UNDECIDED = 1e-2
"""A difference quotient that may be wrong by more than this part of it decides nothing."""


_NOTHING = 1e-8
"""A derivative that is known to be less than this may be taken for zero."""


class Disagreement(Exception):
    """A generated value that is not what the law says."""


@dataclass
class Findings:
    """What has been compared so far. No direction is begun after the deadline, in seconds of
    `time.monotonic`."""

    deadline: float = float("inf")
    largest_error: float = 0.0
    """The largest relative error of a value or a derivative."""
    between_jumps: bool = False
    """Whether a derivative was not compared with differences, which are across jumps."""
    compared: int = 0
    """Numbers compared. A derivative at a kink is not."""
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def has_time(self) -> bool:
        return time.monotonic() < self.deadline

    def compare_types(self, what: str, found: Any, expected: Any) -> list[tuple[Any, Any]]:
        """Compare the structures, shapes and dtypes of results; return pairs of their arrays."""
        (ours, structure), (theirs, expected_structure) = flatten(found), flatten(expected)
        structure, expected_structure = _plain(structure), _plain(expected_structure)
        if structure != expected_structure:
            raise Disagreement(f"{what} has the structure {structure}, not {expected_structure}")
        pairs: list[tuple[Any, Any]] = []
        for our, their in zip(ours, theirs, strict=True):
            a, b = np.asarray(our), np.asarray(their)
            if type(their) is int and a.dtype.kind == "f":
                # What stayed a Python number on this path, `total = 0`, is a float on others.
                b = b.astype(a.dtype)
            pairs.append((a, b))
            if a.shape != b.shape or a.dtype != b.dtype:
                is_not = f"{b.dtype}{list(b.shape)}"
                raise Disagreement(f"{what} is {a.dtype}{list(a.shape)}, not {is_not}")
        return pairs

    def compare_values(self, what: str, found: Any, expected: Any) -> None:
        """Compare results that must be the same, in structure, shapes, dtypes and values."""
        for a, b in self.compare_types(what, found, expected):
            self._compare_arrays(what, a, b)

    def _compare_arrays(self, what: str, a: Any, b: Any) -> None:
        if not is_inexact(b.dtype):
            self._take(what, (a != b).astype(float), a == b, a, b)
            return
        information = np.finfo(b.dtype)
        scale = float(np.max(np.abs(b), initial=0.0, where=np.isfinite(b)))
        # Entries of a batch may lie outside of the function's domain.
        difference = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
        # What cancels to nothing, such as `np.sum(x - np.mean(x))`, is all rounding.
        difference = np.where(difference <= _ROUNDINGS * information.eps, 0.0, difference)
        error = difference / (scale or 1.0)
        error = np.where(np.isfinite(error), error, np.inf)
        self._take(what, error, error <= _OF_VALUES[information.bits // 8], a, b)

    def compare_slopes(
        self,
        what: str,
        found: Array,
        line: Callable[[float], Array],
        width: int,
        otherwise: Callable[[], Array] | None = None,
    ) -> None:
        """Compare derivatives with the slopes of `line` at 0.

        `width` is the number of bytes of a real number of the type that they were computed in.
        `otherwise` computes them in another way: they are compared with that where the function
        takes other branches at every step of a difference, so that its slope is unknown.
        """
        expected = slope(line)
        if expected.value.shape != found.shape:
            return
        size = np.maximum(np.abs(found), np.abs(expected.value))
        noise = 1e-9 * float(np.max(np.abs(line(0.0)), initial=0.0))
        doubt = 30.0 * expected.error
        decided = doubt <= _UNDECIDED * np.maximum(size, max(noise, _NOTHING))
        difference = np.abs(found - expected.value)
        fine = difference <= _OF_SLOPES[width] * size + doubt + noise
        if not np.all(fine[decided]):
            # The function may jump within the larger steps, all too evenly for the estimate.
            nearby = slope_nearby(line)
            closer = np.abs(found - nearby.value)
            agrees = closer <= _OF_SLOPES[width] * size + nearby.error
            agrees &= nearby.error <= _OF_SLOPES[width] * size
            fine, difference = fine | agrees, np.where(agrees, closer, difference)
        if not np.all(fine[decided]):
            along = slope_along_path(line, path_of)
            if along is None and otherwise is not None:
                self.between_jumps = True
                return self._take_alike(f"{what}, forward and in reverse,", found, otherwise())
            if along is not None:
                closer = np.abs(found - along.value)
                agrees = closer <= _OF_SLOPES[width] * size + along.error
                agrees &= along.error <= _UNDECIDED * np.maximum(size, _NOTHING)
                fine, difference = fine | agrees, np.where(agrees, closer, difference)
        error = difference / np.maximum(size, noise + np.finfo(float).tiny)
        self._take(what, error[decided], fine[decided], found[decided], expected.value[decided])

    def _take_alike(self, what: str, found: Array, other: Array) -> None:
        size = np.maximum(np.abs(found), np.abs(other))
        difference = np.abs(found - other)
        error = difference / np.maximum(size, np.finfo(float).tiny)
        self._take(what, error, error <= _OF_ORDERS, found, other)

    def _take(self, what: str, error: Any, fine: Any, found: Any, expected: Any) -> None:
        self.compared += int(np.size(error))
        if not np.all(fine):
            worst = np.unravel_index(np.argmax(np.where(fine, -1.0, error)), np.shape(error))
            ours, theirs = (_shown(array[worst]) for array in (found, expected))
            raise Disagreement(f"{what} is {ours}, not {theirs}")
        self.largest_error = max(self.largest_error, float(np.max(error, initial=0.0)))


def _plain(structure: TreeDef) -> TreeDef:
    """The structure without classes of the user's, which a generated module cannot make."""
    kind = structure.kind
    if kind is None or kind is type(None):
        return structure
    children = tuple(map(_plain, structure.children))
    if issubclass(kind, tuple):
        return TreeDef(tuple, tuple(range(len(children))), children)
    return TreeDef(list if kind is list else dict, structure.keys, children)


def _shown(number: Any) -> str:
    return f"{number:.10g}" if number.dtype.kind == "f" else str(number)
