"""Whether traced NumPy expressions, evaluated, agree with NumPy to the last bit."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import s2s.numpy as s2s_numpy
from s2s.ir.check import check
from s2s.ir.jaxpr import ClosedJaxpr, aval_of
from s2s.numpy.promotion import is_traced
from s2s.trace import builder_in_force, evaluate, make
from s2s.tree import flatten


class DispatchingNumPy:
    """NumPy's namespace whose functions are, under tracing, called as in converted code."""

    def __init__(self, module: Any) -> None:
        self.module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.module, name)
        if isinstance(found, type(np)):
            return DispatchingNumPy(found)
        counterpart = s2s_numpy.COUNTERPARTS.get(found) if callable(found) else None
        if counterpart is None or builder_in_force() is None or isinstance(found, (np.ufunc, type)):
            return found

        def dispatched(*args: Any, **kwargs: Any) -> Any:
            traced = is_traced(args) or any(map(is_traced, kwargs.values()))
            function = counterpart if traced or found in s2s_numpy.CREATION else found
            return function(*args, **kwargs)

        return dispatched


_random = np.random.default_rng(7)


def _awkward(shape: tuple[int, ...]) -> np.ndarray:
    """Ordinary numbers, with zeros of both signs, halves and equal elements among them."""
    values = _random.standard_normal(shape) * 3
    flat = values.ravel()
    flat[::5] = np.round(flat[::5] * 2) / 2
    if flat.size > 6:
        flat[[1, 4, 6]] = -0.0, 0.0, flat[2]
    return values


VALUES: dict[str, Any] = {
    "v": _awkward((4,)),
    "u": _awkward((4,)),
    "c": _awkward((3,)),
    "m": _awkward((3, 4)),
    "q": _awkward((4, 4)),
    "o": _awkward((1, 4)),
    "t": _awkward((2, 3, 4)),
    "l": _awkward((2000,)),
    "big": _awkward((37, 53)),
    "p": np.abs(_awkward((3, 4))) + 0.1,
    "z": np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5]),
    "f": _awkward((3, 4)).astype(np.float32),
    "fv": _awkward((4,)).astype(np.float32),
    "h": _awkward((3, 4)).astype(np.float16),
    "i": _random.integers(-5, 6, (3, 4)),
    "j": _random.integers(-5, 6, (4,)).astype(np.int32),
    "g": _random.integers(-5, 6, (3, 4)).astype(np.int8),
    "n": np.array([2, 0, -1]),
    "nn": np.array([[0, 2], [1, -3]]),
    "b": _random.integers(0, 2, (3, 4)).astype(bool),
    "bv": np.array([True, False, True, True]),
    "s": np.float64(1.375),
    "sf": np.float32(0.3),
    "si": np.int64(2),
    "w": 0.7,
    "w2": -2.5,
    "k": 3,
    "k2": 2,
    "yes": True,
}
"""The arguments of the expressions, by name. `w` and `k` are a Python float and int."""


def assert_expression_agrees(text: str, relative: float = 0.0, **others: Any) -> None:
    """Fails unless the expression, traced with its variables and evaluated, is NumPy's value."""
    values = {**VALUES, **others}
    used = compile(text, text, "eval").co_names + _nested_names(text)
    names = [name for name in values if name in used]
    fun = eval(f"lambda {', '.join(names)}: {text}", {"np": DispatchingNumPy(np)})
    assert_agrees(fun, *[values[name] for name in names], relative=relative)


def _nested_names(text: str) -> tuple[str, ...]:
    code = compile(text, text, "eval")
    return tuple(
        name for const in code.co_consts if hasattr(const, "co_names") for name in const.co_names
    )


def traced(fun: Callable[..., Any], *args: Any) -> ClosedJaxpr:
    """The jaxpr of a function of arrays and numbers that returns one, or nested lists of them."""
    closed = make(lambda *xs: flatten(fun(*xs))[0], [aval_of(arg) for arg in args])
    check(closed.jaxpr)
    return closed


def assert_agrees(fun: Callable[..., Any], *args: Any, relative: float = 0.0) -> None:
    """Fails unless the traced function, evaluated, gives the function's own values and types."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected, _ = flatten(fun(*args))
        closed = traced(fun, *args)
        found = evaluate(closed, *args)
    assert len(found) == len(expected)
    for want, got, atom in zip(expected, found, closed.jaxpr.outvars, strict=True):
        kind = aval_of(want)
        assert (kind.dtype, kind.shape) == (atom.aval.dtype, atom.aval.shape), closed
        assert kind.weak_type == atom.aval.weak_type, closed
        assert same_bits(want, got, relative), f"{got!r} instead of {want!r}\n{closed}"


def same_bits(want: Any, got: Any, relative: float = 0.0) -> bool:
    """Whether two values are the same to the last bit, or to a relative error; NaN is NaN."""
    a, b = np.asarray(want), np.asarray(got)
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind != "f":
        return bool(np.array_equal(a, b))
    if relative:
        scale = np.max(np.abs(a), initial=0.0, where=np.isfinite(a))
        return bool(np.allclose(a, b, rtol=relative, atol=relative * scale, equal_nan=True))
    known = ~np.isnan(a)
    return bool(
        np.array_equal(a, b, equal_nan=True)
        and np.array_equal(np.signbit(a[known]), np.signbit(b[known]))
    )


Arguments = Mapping[str, Any]
