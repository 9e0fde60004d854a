"""Random numbers under tracing: refused, unless from a generator that the function itself seeds."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from s2s.frontend.control_flow.state import is_recording
from s2s.frontend.library import public_name
from s2s.numpy.registry import mistake

_GENERATORS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, random.Random)
_SEEDED: tuple[Callable[..., Any], ...] = (
    np.random.default_rng,
    np.random.RandomState,
    np.random.PCG64,
    np.random.PCG64DXSM,
    np.random.MT19937,
    np.random.Philox,
    np.random.SFC64,
    np.random.SeedSequence,
    random.Random,
)


class Generators:
    """The generators that were seeded during a trace; their numbers are the same at each call."""

    def __init__(self) -> None:
        self._known: list[Any] = []

    def call(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The result of a function for which `is_random` holds. Raises UserError if it would be
        another one at each call."""
        if is_recording():
            raise mistake(
                f"{public_name(function)} draws random numbers where it depends on the values of "
                "the arguments whether, or how often, it does. Draw them before, as one array."
            )
        if any(function is seeded for seeded in _SEEDED):
            if any(arg is not None for arg in (*args, *kwargs.values())):
                self._known.append(function(*args, **kwargs))
                return self._known[-1]
        elif function is np.random.Generator and args and self._knows(args[0]):
            self._known.append(function(*args))
            return self._known[-1]
        elif self._knows(getattr(function, "__self__", None)):
            return function(*args, **kwargs)
        raise mistake(
            f"{public_name(function)} gives other numbers at each call, which the generated "
            "function could not repeat. Draw them outside of the function, and pass them in as an "
            "argument."
        )

    def _knows(self, generator: Any) -> bool:
        return any(generator is known for known in self._known)


def is_random(function: Any) -> bool:
    """Whether a function draws random numbers, or makes a generator of them."""
    if isinstance(getattr(function, "__self__", None), _GENERATORS):
        return True
    module: str = getattr(function, "__module__", None) or ""
    return module.startswith("numpy.random") or function is random.Random
