"""jit: a call that stays a call, so that a function of the user's stays one in generated code."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

from s2s.control.batched_loops import body_if_live
from s2s.control.bodies import (
    Flags,
    chosen,
    dce_of,
    inverted,
    jvp_of,
    rearranged,
    split_of,
    transpose_of,
    used_inputs,
    vmap_of,
)
from s2s.control.branch_split import CalleeSplit, split_callee
from s2s.control.higher_order import HigherOrder, fingerprint, per_jaxpr
from s2s.control.user_functions import bound_arguments, trace_body
from s2s.ir.dims import Size, require_same
from s2s.ir.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, ShapedArray, Var
from s2s.passes.dce import dce
from s2s.primitive import BatchAxis, Linear, PartialEval, Primitive, Producer, Value, Zero
from s2s.primitives.core import move_batch_axis
from s2s.trace import aval, bind, evaluate
from s2s.tree import unflatten

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, eq=False)
class Jit(HigherOrder):
    """A call of `jaxpr`, a function that is called `callee`."""

    callee: str
    jaxpr: ClosedJaxpr

    name = "jit"
    is_call = True

    def parameters(self) -> dict[str, Any]:
        return {"name": self.callee, "jaxpr": self.jaxpr}

    @classmethod
    def from_printed(
        cls, printed: Mapping[str, Any], out_avals: Sequence[ShapedArray]
    ) -> Primitive:
        return cls(printed["name"], printed["jaxpr"])

    def renamed(self, what: str, jaxpr: ClosedJaxpr) -> Jit:
        """A call of what is made from the callee: `f_jvp`."""
        return Jit(f"{self.callee}_{what}", jaxpr)

    def abstract(self, *avals: ShapedArray) -> list[ShapedArray]:
        inside = self.jaxpr.in_avals
        fits = len(inside) == len(avals) and all(
            a.dtype == b.dtype and a.ndim == b.ndim and all(map(require_same, a.shape, b.shape))
            for a, b in zip(inside, avals, strict=True)
        )
        if not fits:
            raise TypeError(f"{self.callee} takes {inside}, not {list(avals)}")
        return self.jaxpr.out_avals

    def evaluate(self, *arrays: Any) -> list[Any]:
        return evaluate(self.jaxpr, *arrays)

    # -- derivatives ----------------------------------------------------------------------------

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        active = tuple(not isinstance(t, Zero) for t in tangents)
        both, out_on = jvp_of(self.jaxpr, active, (False,) * len(self.jaxpr.out_avals))
        results = bind(self.renamed("jvp", both), *primals, *chosen(tangents, active))
        values = results[: len(out_on)]
        moved = iter(results[len(out_on) :])
        return values, [
            next(moved) if on else Zero(aval(y)) for y, on in zip(values, out_on, strict=True)
        ]

    def partial_eval(self, eqn: JaxprEqn, unknown: Sequence[bool]) -> PartialEval | None:
        flags = tuple(unknown)
        split, known, rest = _split(self.jaxpr, flags)
        out_unknown = split_of(self.jaxpr, flags, (False,) * len(eqn.outvars)).out_unknown
        operands = chosen(eqn.invars, inverted(flags))
        results = chosen(eqn.outvars, inverted(out_unknown))
        kept = [Var(var.aval.strong(), var.name) for var in split.stored]
        name = self.callee.removesuffix("_jvp")
        known_call = Jit(f"{name}_forward" if kept else name, known)
        read = [
            *[operands[i] for i in split.operands],
            *[results[i] for i in split.results],
            *kept,
        ]
        unknown_vars = chosen(eqn.outvars, out_unknown)
        return PartialEval(
            [JaxprEqn(known_call, operands, [*results, *kept], eqn.source, eqn.phase)],
            [
                JaxprEqn(
                    Jit(f"{name}_jvp", rest),
                    [*read, *chosen(eqn.invars, flags)],
                    unknown_vars,
                    eqn.source,
                    "tangent",
                )
            ],
            unknown_vars,
        )

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        linear = tuple(isinstance(arg, Linear) for arg in args)
        ct_on = tuple(not isinstance(ct, Zero) for ct in cts)
        backward, found = transpose_of(self.jaxpr, linear, ct_on)
        name = f"{self.callee.removesuffix('_jvp')}_backward"
        bars = iter(
            bind(Jit(name, backward), *chosen(args, inverted(linear)), *chosen(cts, ct_on))
        )
        return [
            next(bars) if on else Zero(arg.aval) if is_linear else None
            for arg, is_linear, on in zip(args, linear, found, strict=True)
        ]

    # -- batching -------------------------------------------------------------------------------

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, Any]:
        in_front = [
            value if dim is None else move_batch_axis(value, dim, 0)
            for value, dim in zip(args, dims, strict=True)
        ]
        batched = tuple(dim is not None for dim in dims)
        body, out_on = vmap_of(self.jaxpr, size, batched, (False,) * len(self.jaxpr.out_avals))
        return bind(self.renamed("vmap", body), *in_front), [0 if on else None for on in out_on]

    def bind_if_live(self, live: Value, operands: Sequence[Value]) -> Sequence[Value] | None:
        body = body_if_live(self.jaxpr)
        return None if body is None else bind(Jit(self.callee, body), live, *operands)

    # -- tidying --------------------------------------------------------------------------------

    def dce(self, eqn: JaxprEqn, used: Sequence[bool]) -> JaxprEqn:
        flags = tuple(used)
        body = dce_of(self.jaxpr, flags)
        read = used_inputs(body)
        if all(flags) and all(read) and len(body.eqns) == len(self.jaxpr.eqns):
            return eqn
        return JaxprEqn(
            Jit(self.callee, _with_inputs(body, read)),
            chosen(eqn.invars, read),
            chosen(eqn.outvars, flags),
            eqn.source,
            eqn.phase,
        )

    def tidied(
        self,
        args: Sequence[Value],
        producer: Producer,
        tidy: Callable[[ClosedJaxpr], ClosedJaxpr],
    ) -> Sequence[Value] | None:
        body = tidy(self.jaxpr)
        return None if body is self.jaxpr else bind(Jit(self.callee, body), *args)


@per_jaxpr
def _with_inputs(closed: ClosedJaxpr, wanted: Flags) -> ClosedJaxpr:
    return rearranged(closed, [i for i, on in enumerate(wanted) if on])


@per_jaxpr
def _split(closed: ClosedJaxpr, unknown: Flags) -> tuple[CalleeSplit, ClosedJaxpr, ClosedJaxpr]:
    """A callee in two: known inputs -> known outputs, kept; and what is read of these, unknown
    inputs -> unknown outputs."""
    split = split_callee(split_of(closed, unknown, (False,) * len(closed.out_avals)))
    known = split.known.jaxpr
    body = Jaxpr(known.constvars, known.invars, known.eqns, [*known.outvars, *split.stored])
    read = [*split.operands.values(), *split.results.values(), *split.stored]
    return split, dce(ClosedJaxpr(body, split.known.consts)), split.unknown_of(read)


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
        functools.update_wrapper(self, fun)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = bound_arguments(self.fun, args, kwargs, self.static)
        avals = [aval(leaf) for leaf in given.leaves]
        body = trace_body(given.function, given.structures, avals, names=given.names)
        name = getattr(self.fun, "__name__", "function")
        results = bind(Jit(name, _shared(body.jaxpr)), *body.consts, *given.leaves)
        return unflatten(body.result, results)

    def __repr__(self) -> str:
        return f"<jit of {getattr(self.fun, '__name__', self.fun)}>"


def jit(
    fun: F | None = None,
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
