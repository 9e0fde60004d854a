"""jit: a call that stays a call, so that a function of the user's stays one in generated code."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

from s2s.control.bodies import Flags, in_loop, split_of
from s2s.control.branch_split import CalleeSplit, split_callee
from s2s.control.call import Call
from s2s.control.higher_order import fingerprint, per_jaxpr
from s2s.control.user_functions import bound_arguments, trace_body, with_consts
from s2s.ir.jaxpr import ClosedJaxpr, ShapedArray
from s2s.primitive import Primitive
from s2s.trace import Tracer, aval, bind
from s2s.tree import unflatten

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, eq=False)
class Jit(Call):
    """A call of `jaxpr`, a function that is called `callee`."""

    callee: str

    name = "jit"
    is_call = True

    def parameters(self) -> dict[str, Any]:
        return {"name": self.callee, "jaxpr": self.jaxpr}

    @classmethod
    def from_printed(
        cls, printed: Mapping[str, Any], out_avals: Sequence[ShapedArray]
    ) -> Primitive:
        return cls(printed["jaxpr"], printed["name"])

    def made(self, what: str, jaxpr: ClosedJaxpr) -> Jit:
        name = self.callee
        if what in ("", "forward", "backward"):
            name = name.removesuffix("_jvp")
        if what == "linear":
            return Jit(jaxpr, name)
        return Jit(jaxpr, f"{name}_{what}" if what else self.callee)

    def split(self, unknown: Flags) -> tuple[CalleeSplit, Flags]:
        return _split(self.jaxpr, unknown, in_loop())


@per_jaxpr
def _split(closed: ClosedJaxpr, unknown: Flags, in_loop: bool) -> tuple[CalleeSplit, Flags]:
    parts = split_of(closed, unknown, (False,) * len(closed.out_avals), in_loop)
    return split_callee(parts, in_loop), parts.out_unknown


# -- the surface ----------------------------------------------------------------------------------

_jaxprs: WeakValueDictionary[Hashable, ClosedJaxpr] = WeakValueDictionary()


def _shared(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The same object for equal jaxprs, so that two calls of a function have one derivative."""
    return _jaxprs.setdefault(fingerprint(closed), closed)


class Jitted(Generic[F]):
    """A function whose calls stay calls; see `jit`."""

    def __init__(self, fun: F, static: Sequence[int | str]) -> None:
        self.fun = fun
        self.static = static
        functools.update_wrapper(self, fun, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = bound_arguments(self.fun, args, kwargs, self.static)
        avals = [aval(leaf) for leaf in given.leaves]
        body = trace_body(given.function, given.structures, avals, names=given.names)
        name = getattr(self.fun, "__name__", "function")
        captured = [const for const in body.consts if isinstance(const, Tracer)]
        callee = _shared(with_consts(body, captured))
        results = bind(Jit(callee, name), *captured, *given.leaves)
        return unflatten(body.result, results)

    def __repr__(self) -> str:
        return f"<jit of {getattr(self.fun, '__name__', self.fun)}>"


def jit(
    fun: Callable[..., Any] | None = None,
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
) -> Any:
    """Let the calls of `fun` stay calls.

    A function that is called twice or more comes out as a function of the generated module, with
    derivative functions of its own; one that is called once is written where it is called.

    Args:
        fun: a function of arrays, numbers and containers of them; without it, `jit` is a decorator
            with parameters.
        static_argnums, static_argnames: arguments, by position or name, that are not traced: their
            values are fixed at each call.
    """
    if fun is None:
        return functools.partial(
            jit, static_argnums=static_argnums, static_argnames=static_argnames
        )
    numbers = [static_argnums] if isinstance(static_argnums, int) else list(static_argnums)
    names = [static_argnames] if isinstance(static_argnames, str) else list(static_argnames)
    return Jitted(fun, [*numbers, *names])
