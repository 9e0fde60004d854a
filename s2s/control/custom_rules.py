"""custom_jvp and custom_vjp: functions with derivative rules of the user's, as JAX has them.

A function may have rules for both modes: forward mode then uses its jvp rule, and reverse mode its
vjp rule.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Generic, TypeVar

from s2s.control.applications import Application, apply
from s2s.control.user_functions import call
from s2s.primitive import Value, Zero
from s2s.primitives.core import instantiate
from s2s.primitives.families import add_any
from s2s.trace import aval
from s2s.tree import tree_map

F = TypeVar("F", bound=Callable[..., Any])


class CustomFunction(Generic[F]):
    """A function with derivative rules; see `custom_jvp` and `custom_vjp`."""

    def __init__(self, fun: F, nondiff_argnums: Sequence[int]) -> None:
        self.fun = fun
        self.nondiff_argnums = tuple(nondiff_argnums)
        self.jvp_rule: Callable[..., Any] | None = None
        self.fwd_rule: Callable[..., Any] | None = None
        self.bwd_rule: Callable[..., Any] | None = None
        self.jvp_symbolic = False
        self.vjp_symbolic = False
        self.applications: dict[Hashable, Application] = {}
        functools.update_wrapper(self, fun, updated=())

    @property
    def name(self) -> str:
        """What the function is called in messages and jaxprs."""
        return getattr(self.fun, "__name__", "function")

    def defjvp(self, jvp: Callable[..., Any], symbolic_zeros: bool = False) -> Callable[..., Any]:
        """Say how the function is differentiated in forward mode; may be used as a decorator.

        Args:
            jvp: a function of the arguments in `nondiff_argnums`, then the tuple of the others and
                the tuple of their tangents, which returns the result and its tangent. It must be
                linear in the tangents. An integer argument has a tangent of zeros.
            symbolic_zeros: whether tangents that are known to be zero come as `SymbolicZero`.
        """
        self.jvp_rule, self.jvp_symbolic = jvp, symbolic_zeros
        self.applications.clear()
        return jvp

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Say it by one function for each argument: of its tangent, the result and the arguments,
        which returns its part of the result's tangent. None where that is zero."""
        if self.nondiff_argnums:
            raise TypeError("defjvps does not go with nondiff_argnums; use defjvp")

        def jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
            result = self(*primals)
            total = tree_map(_zero, result)
            for rule, tangent in zip(jvps, tangents, strict=True):
                if rule is not None:
                    total = tree_map(add_any, total, call(rule, tangent, result, *primals))
            return result, tree_map(instantiate, total)

        self.defjvp(jvp)

    def defvjp(
        self,
        fwd: Callable[..., Any],
        bwd: Callable[..., Any],
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
    ) -> None:
        """Say how the function is differentiated in reverse mode.

        Args:
            fwd: a function of all arguments, which returns the result and what `bwd` needs.
            bwd: a function of the arguments in `nondiff_argnums`, then what `fwd` handed on and the
                cotangent of the result, which returns a tuple with a cotangent for each of the
                other arguments. None stands for zero.
            symbolic_zeros: whether `fwd` gets its arguments as `CustomVJPPrimal`, and `bwd`
                cotangents that are known to be zero as `SymbolicZero`.
            optimize_remat: accepted for JAX's sake; it makes no difference.
        """
        self.fwd_rule, self.bwd_rule, self.vjp_symbolic = fwd, bwd, symbolic_zeros
        self.applications.clear()

    def parameter_names(self, positions: Sequence[int]) -> list[str]:
        """What the parameters at these positions are called."""
        try:
            names = list(inspect.signature(self.fun).parameters)
        except ValueError:
            names = []
        return [names[i] if i < len(names) else "_" for i in positions]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.jvp_rule is None and self.fwd_rule is None:
            raise TypeError(
                f"{self.name} has no derivative rule yet: give it one with defjvp or defvjp"
            )
        return apply(self, self._positional(args, kwargs))

    def _positional(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
        try:
            bound = inspect.signature(self.fun).bind(*args, **kwargs)
        except ValueError:
            return list(args)
        if bound.kwargs:
            raise TypeError(
                f"{self.name} has derivative rules, so it cannot have keyword arguments"
            )
        bound.apply_defaults()
        return list(bound.args)

    def __repr__(self) -> str:
        return f"<{self.name}, with derivative rules>"


def _zero(leaf: Value) -> Zero:
    return Zero(aval(leaf))


def custom_jvp(fun: Callable[..., Any] | None = None, nondiff_argnums: Sequence[int] = ()) -> Any:
    """Give a function a derivative rule of its own, for forward and, through it, reverse mode.

        @s2s.custom_jvp
        def f(x): ...

        @f.defjvp
        def f_jvp(primals, tangents): ...

    Args:
        fun: a function of arrays, numbers and containers of them; without it, `custom_jvp` is a
            decorator with parameters.
        nondiff_argnums: positions of arguments that are passed to the rules as they are.

    Returns:
        The function, with the methods `defjvp`, `defjvps` and `defvjp`.
    """
    if fun is None:
        return functools.partial(CustomFunction, nondiff_argnums=nondiff_argnums)
    return CustomFunction(fun, nondiff_argnums)


def custom_vjp(fun: Callable[..., Any] | None = None, nondiff_argnums: Sequence[int] = ()) -> Any:
    """Give a function a derivative rule of its own for reverse mode.

        @s2s.custom_vjp
        def f(x): ...

        f.defvjp(f_fwd, f_bwd)

    Its tangents, if they are wanted, come from a jvp rule if it has one too, else from the
    transpose of the backward rule.

    Args:
        fun: a function of arrays, numbers and containers of them; without it, `custom_vjp` is a
            decorator with parameters.
        nondiff_argnums: positions of arguments that are passed to the rules as they are.

    Returns:
        The function, with the methods `defvjp`, `defjvp` and `defjvps`.
    """
    return custom_jvp(fun, nondiff_argnums)
