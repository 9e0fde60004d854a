"""jacfwd, jacrev and hessian.

How they are traced is in `s2s.api.jacobian_blocks`, which imports much.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from s2s.api.parameters import and_list, by_position, selected
from s2s.api.transformed import Argnums, Arguments, Transformed, function_name

if TYPE_CHECKING:
    from s2s.frontend.traced import Traced


class Jacobian(Transformed):
    """See `jacfwd` and `jacrev`."""

    is_forward: ClassVar[bool]
    """Whether it is computed one input at a time, or else one output at a time."""

    def __init__(self, fun: Callable[..., Any], argnums: Argnums, has_aux: bool = False) -> None:
        super().__init__(fun)
        self.argnums = argnums
        self.has_aux = has_aux

    def trace(self, arguments: Arguments) -> Traced:
        from s2s.api.jacobian_blocks import trace_jacobian

        return trace_jacobian(self, arguments)

    def describe(self, traced: Traced) -> str:
        parameters = by_position(traced, self.argnums).parameters
        positions = selected(parameters, self.argnums, "jacobian")
        names = and_list([parameters[position].name for position in positions])
        of = f"`{function_name(self.fun)}`"
        return f"Jacobian of {of} with respect to {names}."


class JacFwd(Jacobian):
    """See `jacfwd`."""

    suffix = "jacfwd"
    is_forward = True


class JacRev(Jacobian):
    """See `jacrev`."""

    suffix = "jacrev"
    is_forward = False


class Hessian(JacFwd):
    """See `hessian`."""

    suffix = "hessian"

    def __init__(self, fun: Callable[..., Any], argnums: Argnums, has_aux: bool = False) -> None:
        super().__init__(JacRev(fun, argnums, has_aux), argnums, has_aux)
        self.__name__ = f"{function_name(fun)}_{self.suffix}"
        self.original = fun

    def describe(self, traced: Traced) -> str:
        parameters = by_position(traced, self.argnums).parameters
        positions = selected(parameters, self.argnums, "hessian")
        names = and_list([parameters[position].name for position in positions])
        return f"Hessian of `{function_name(self.original)}` with respect to {names}."


def jacfwd(fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Transformed:
    """All derivatives of a function, computed forward, one input at a time.

    Best where there are fewer inputs than outputs.

    Args:
        fun: a function of floating-point arguments and results.
        argnums: with respect to which parameters, by position or name; one or several.
        has_aux: whether `fun` returns a pair (value, auxiliary values).

    Returns:
        A function of the same arguments. For a result of shape [*y] and an argument of shape [*x]
        it returns an array of shape [*y, *x], in the containers of the result, and within them
        those of the argument.
    """
    return JacFwd(fun, argnums, has_aux)


def jacrev(fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Transformed:
    """All derivatives of a function, computed backward, one output at a time.

    Best where there are fewer outputs than inputs. Arguments and results as for `jacfwd`.
    """
    return JacRev(fun, argnums, has_aux)


def hessian(fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Transformed:
    """All second derivatives of a function: forward over reverse.

    For a number as result and an argument of shape [*x], an array of shape [*x, *x]. Arguments and
    results as for `jacfwd` of `jacrev`.
    """
    return Hessian(fun, argnums, has_aux)
