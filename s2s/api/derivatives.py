"""grad and value_and_grad, and the functions that `s2s jvp` and `s2s vjp` write.

How they are traced is in `s2s.api.differentiation`, which imports much.
"""

from __future__ import annotations

import dataclasses
import inspect
import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from s2s.api.parameters import by_position, positions, selected, with_respect_to
from s2s.api.transformed import Argnums, Arguments, Transformed, function_name, signature

if TYPE_CHECKING:
    from s2s.frontend.traced import Traced


class ValueAndGrad(Transformed):
    """See `value_and_grad`; with `with_value` False, see `grad`."""

    suffix = "value_and_grad"
    with_value = True

    def __init__(self, fun: Callable[..., Any], argnums: Argnums, has_aux: bool) -> None:
        super().__init__(fun)
        self.argnums = argnums
        self.has_aux = has_aux

    def trace(self, arguments: Arguments) -> Traced:
        from s2s.api.differentiation import trace_gradient

        return trace_gradient(self, arguments)

    def describe(self, traced: Traced) -> str:
        view = by_position(traced, self.argnums)
        wrt = with_respect_to(view, selected(view.parameters, self.argnums, "grad"))
        if self.with_value:
            return f"Value of `{function_name(self.fun)}`, and its gradient with respect to {wrt}."
        return f"Gradient of `{function_name(self.fun)}` with respect to {wrt}."


class Grad(ValueAndGrad):
    """See `grad`."""

    suffix = "grad"
    with_value = False


def grad(fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Transformed:
    """The gradient of a function of scalar value.

    Args:
        fun: a function that returns a number, or with `has_aux` a pair (number, anything).
        argnums: with respect to which parameters, by position or name; one or several.
        has_aux: whether `fun` returns auxiliary values beside the one that is differentiated.

    Returns:
        A function of the same arguments that returns the gradient, shaped like the argument (a
        tuple of them if `argnums` is a sequence); with `has_aux`, (gradient, auxiliary values).
    """
    return Grad(fun, argnums, has_aux)


def value_and_grad(
    fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Transformed:
    """The value and the gradient of a function of scalar value.

    As `grad`, but the function returns (value, gradient); with `has_aux`,
    ((value, auxiliary values), gradient).
    """
    return ValueAndGrad(fun, argnums, has_aux)


class JvpFunction(Transformed):
    """`f_jvp(x, x_dot) -> (y, y_dot)`: values and directional derivatives as one function.

    With `has_aux`, the function returns (y, auxiliary values), and this one (y, y_dot, auxiliary
    values).
    """

    suffix = "jvp"

    def __init__(self, fun: Callable[..., Any], argnums: Argnums, has_aux: bool = False) -> None:
        super().__init__(fun)
        self.argnums = argnums
        self.has_aux = has_aux

    @property
    def signature(self) -> inspect.Signature:
        return _with_parameters(signature(self.fun), self.dots)

    @property
    def dots(self) -> list[str]:
        """The parameters that are directions."""
        inner = signature(self.fun)
        names = list(inner.parameters)
        return [
            _free(f"{names[position]}_dot", inner)
            for position in positions(names, self.argnums, "jvp")
        ]

    def trace(self, arguments: Arguments) -> Traced:
        from s2s.api.differentiation import trace_jvp

        return trace_jvp(self, arguments)

    def describe(self, traced: Traced) -> str:
        dots = [f"`{name}`" for name in self.dots]
        along = dots[0] if len(dots) == 1 else f"({', '.join(dots)})"
        return f"Value of `{function_name(self.fun)}`, and its derivative along {along}."


class VjpFunction(Transformed):
    """`f_vjp(x, y_bar) -> (y, x_bar)`: values and cotangents pulled back, as one function.

    With `has_aux`, the function returns (y, auxiliary values), and this one (y, x_bar, auxiliary
    values).
    """

    suffix = "vjp"

    def __init__(self, fun: Callable[..., Any], argnums: Argnums, has_aux: bool = False) -> None:
        super().__init__(fun)
        self.argnums = argnums
        self.has_aux = has_aux

    @property
    def signature(self) -> inspect.Signature:
        return _with_parameters(signature(self.fun), [self.bar])

    @property
    def bar(self) -> str:
        """The parameter that is the cotangent of the value."""
        return _free("y_bar", signature(self.fun))

    def trace(self, arguments: Arguments) -> Traced:
        from s2s.api.differentiation import trace_vjp

        return trace_vjp(self, arguments)

    def describe(self, traced: Traced) -> str:
        inner = tuple(p for p in traced.parameters if p.name != self.bar)
        own = dataclasses.replace(traced, parameters=inner)
        wrt = with_respect_to(own, selected(inner, self.argnums, "vjp"))
        return (
            f"Value of `{function_name(self.fun)}`, "
            f"and the cotangent `{self.bar}` of it pulled back to {wrt}."
        )


def _free(name: str, inner: inspect.Signature) -> str:
    """The name, or the first of those numbered after it that no parameter has."""
    candidates = itertools.chain([name], (f"{name}_{number}" for number in itertools.count(1)))
    return next(free for free in candidates if free not in inner.parameters)


def _with_parameters(inner: inspect.Signature, names: Sequence[str]) -> inspect.Signature:
    old = list(inner.parameters.values())
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    place = next(
        (
            i
            for i, p in enumerate(old)
            if p.default is not inspect.Parameter.empty or p.kind is not kind
        ),
        len(old),
    )
    new = [inspect.Parameter(name, kind) for name in names]
    return inner.replace(parameters=[*old[:place], *new, *old[place:]])
