"""The passes as the rules of control flow need them: on bodies, with outputs forced.

A loop's body must give a tangent, a batch axis or an unknown value for each carried value that has
one at its entry; and a branch for each result for which another branch has one. These are the forms
of `jvp`, `vmap`, `partial_eval` and `transpose` that say which outputs must have it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from s2s.control.higher_order import per_jaxpr
from s2s.control.regions import Sizes, given_sizes, size_of, sizes_in
from s2s.ir.dims import Size
from s2s.ir.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, ShapedArray, Var
from s2s.passes.cse import cse
from s2s.passes.dce import dce
from s2s.passes.jvp import jvp
from s2s.passes.partial_eval import partial_eval
from s2s.passes.transpose import transpose
from s2s.passes.vmap import vmap
from s2s.primitive import Value, Zero
from s2s.primitives.core import instantiate
from s2s.trace import inline, make

T = TypeVar("T")
Flags = tuple[bool, ...]


def split_at(values: Sequence[T], *lengths: int) -> list[list[T]]:
    """The values in consecutive parts of the given lengths, and the rest."""
    parts: list[list[T]] = []
    start = 0
    for length in lengths:
        parts.append(list(values[start : start + length]))
        start += length
    parts.append(list(values[start:]))
    return parts


def chosen(values: Sequence[T], flags: Sequence[bool]) -> list[T]:
    """The values whose flag is set."""
    return [value for value, on in zip(values, flags, strict=True) if on]


def inverted(flags: Sequence[bool]) -> Flags:
    """Each flag the other way round."""
    return tuple(not on for on in flags)


def either(a: Sequence[bool], b: Sequence[bool]) -> Flags:
    """Which of the flags are set in one of two lists."""
    return tuple(x or y for x, y in zip(a, b, strict=True))


def fixpoint(step: Callable[[Flags], Sequence[bool]], start: Sequence[bool]) -> Flags:
    """The least flags with `step(flags) <= flags` that include `start`."""
    flags = tuple(start)
    while True:
        more = either(flags, step(flags))
        if more == flags:
            return flags
        flags = more


def explicit_consts(closed: ClosedJaxpr) -> tuple[ClosedJaxpr, list[Value]]:
    """(xs -> ys) with constants  ->  (constants, xs -> ys) without, and the constants

    before:  { lambda a:f64[3]; x:f64[3]. let y:f64[3] = mul a x in (y,) }
    after:   { lambda ; a:f64[3] x:f64[3]. let y:f64[3] = mul a x in (y,) }
    """
    jaxpr = closed.jaxpr
    invars = [*jaxpr.constvars, *jaxpr.invars]
    return ClosedJaxpr(Jaxpr([], invars, jaxpr.eqns, jaxpr.outvars)), list(closed.consts)


def rearranged(
    closed: ClosedJaxpr, inputs: Sequence[int], outputs: Sequence[int] | None = None
) -> ClosedJaxpr:
    """The same jaxpr with its inputs, and its outputs, in another order or fewer of them."""
    jaxpr = closed.jaxpr
    invars = [jaxpr.invars[i] for i in inputs]
    outvars = jaxpr.outvars if outputs is None else [jaxpr.outvars[i] for i in outputs]
    return ClosedJaxpr(Jaxpr(jaxpr.constvars, invars, jaxpr.eqns, outvars), closed.consts)


@per_jaxpr
def with_unused_input(closed: ClosedJaxpr, aval: ShapedArray) -> ClosedJaxpr:
    """The same jaxpr with a first input that it does not read."""
    jaxpr = closed.jaxpr
    body = Jaxpr(jaxpr.constvars, [Var(aval), *jaxpr.invars], jaxpr.eqns, jaxpr.outvars)
    return ClosedJaxpr(body, closed.consts)


def input_names(closed: ClosedJaxpr) -> list[str | None]:
    """What the inputs are called."""
    return [var.name for var in closed.jaxpr.invars]


def used_inputs(closed: ClosedJaxpr) -> Flags:
    """Which inputs an equation or an output reads."""
    jaxpr = closed.jaxpr
    read: set[Any] = {atom for eqn in jaxpr.eqns for atom in eqn.invars}
    read.update(jaxpr.outvars)
    return tuple(var in read for var in jaxpr.invars)


def depends_on(closed: ClosedJaxpr, inputs: Sequence[bool]) -> Flags:
    """Which outputs depend on the flagged inputs."""
    jaxpr = closed.jaxpr
    found = set(chosen(jaxpr.invars, inputs))
    for eqn in jaxpr.eqns:
        if not found.isdisjoint(a for a in eqn.invars if not isinstance(a, Literal)):
            found.update(eqn.outvars)
    return tuple(atom in found for atom in jaxpr.outvars)


dce_of = per_jaxpr(dce)
"""`dce`, remembered."""


@per_jaxpr
def jvp_of(closed: ClosedJaxpr, active: Flags, forced: Flags) -> tuple[ClosedJaxpr, Flags]:
    """`jvp`, with a tangent for each output that is `forced`, zero if need be."""
    made, found = jvp(closed, active)
    wanted = either(found, forced)
    if wanted == tuple(found):
        return made, wanted
    num_outs = len(found)
    avals = closed.out_avals

    def fun(*args: Value) -> list[Value]:
        results = inline(made, *args)
        dots = iter(results[num_outs:])
        return [
            *results[:num_outs],
            *[
                next(dots) if on else instantiate(Zero(aval))
                for aval, on, want in zip(avals, found, wanted, strict=True)
                if want
            ],
        ]

    return make(fun, made.in_avals, input_names(made)), wanted


@per_jaxpr
def vmap_of(
    closed: ClosedJaxpr, size: Size, batched: Flags, forced: Flags
) -> tuple[ClosedJaxpr, Flags]:
    """`vmap` with batch axes in front, and one for each output that is `forced`."""
    in_axes = [0 if on else None for on in batched]
    made, axes = vmap(closed, size, in_axes)
    wanted = either([axis is not None for axis in axes], forced)
    out_axes = [0 if on else None for on in wanted]
    if out_axes != axes:
        made, _ = vmap(closed, size, in_axes, out_axes)
    return made, wanted


@dataclass(frozen=True, eq=False)
class Parts:
    """A body split in two, which share variables.

    `known`: known inputs -> known outputs, residuals. `unknown`: residuals, unknown inputs ->
    unknown outputs. A residual is a variable of the body; one that is an input of `known` is not
    among its outputs.
    """

    known: ClosedJaxpr
    residuals: Sequence[Var]
    unknown_eqns: Sequence[JaxprEqn]
    unknown_inputs: Sequence[Var]
    unknown_outputs: Sequence[Any]
    out_unknown: Flags


_in_loop: ContextVar[bool] = ContextVar("_in_loop", default=False)


def in_loop() -> bool:
    """Whether what is being split is inside of a loop, where keeping a value costs an array."""
    return _in_loop.get()


_fixed: ContextVar[frozenset[Var]] = ContextVar("_fixed", default=frozenset())


def are_fixed(atoms: Sequence[Atom]) -> Flags:
    """Which operands are the same in each step of the loop whose body is being split."""
    fixed = _fixed.get()
    return tuple(atom in fixed for atom in atoms)


_sizes: ContextVar[Sizes | None] = ContextVar("_sizes", default=None)


def sizes_of(atoms: Sequence[Atom]) -> tuple[Size | None, ...]:
    """The sizes that operands are, where the body that is being split says so."""
    return tuple(size_of(atom, _sizes.get() or {}) for atom in atoms)


@per_jaxpr
def split_of(
    closed: ClosedJaxpr,
    unknown: Flags,
    forced: Flags,
    in_loop: bool,
    fixed: Flags = (),
    sizes: tuple[Size | None, ...] = (),
) -> Parts:
    """`partial_eval`, with each output that is `forced` among the unknown ones.

    The `fixed` inputs are the same in each step of the loop that this is in. `sizes` has those that
    inputs are.

    `known` has the known outputs only: what is to be kept for the residuals is chosen later. What
    a derivative computes and the function too is one value, which can be kept.
    """
    inputs = zip(closed.jaxpr.invars, fixed, strict=False)
    whole = cse(closed)
    known_sizes = sizes_in(whole.eqns, given_sizes(closed.jaxpr.invars, sizes))
    tokens = _in_loop.set(in_loop), _fixed.set(frozenset(var for var, on in inputs if on))
    token = _sizes.set(known_sizes)
    try:
        split = partial_eval(whole, unknown)
    finally:
        _in_loop.reset(tokens[0])
        _fixed.reset(tokens[1])
        _sizes.reset(token)
    out_unknown = either(split.out_unknown, forced)
    num_known = len(split.known.out_avals) - split.num_residuals
    known_outs = iter(split.known.jaxpr.outvars[:num_known])
    unknown_outs = iter(split.unknown.jaxpr.outvars)
    rest = split.unknown.jaxpr
    residuals = dict.fromkeys([*rest.constvars, *rest.invars[: split.num_residuals]])
    kept: list[Any] = []
    passed_on: list[Any] = []
    for was_unknown, is_unknown in zip(split.out_unknown, out_unknown, strict=True):
        atom = next(unknown_outs if was_unknown else known_outs)
        (passed_on if is_unknown else kept).append(atom)
        if is_unknown and not was_unknown and isinstance(atom, Var):
            residuals[atom] = None
    known = split.known.jaxpr
    return Parts(
        ClosedJaxpr(Jaxpr(known.constvars, known.invars, known.eqns, kept), split.known.consts),
        list(residuals),
        rest.eqns,
        rest.invars[split.num_residuals :],
        passed_on,
        out_unknown,
    )


@per_jaxpr
def transpose_of(
    closed: ClosedJaxpr, linear: Flags, with_cotangent: Flags
) -> tuple[ClosedJaxpr, Flags]:
    """`transpose`, given cotangents of some outputs only: the others' are zero.

    (xs, ts -> ys)  ->  (xs, y_bars -> t_bars), with a t_bar for each linear input that these
    outputs depend on; the flags returned say which inputs these are.
    """
    live = dce_of(closed, with_cotangent)
    found = tuple(on and used for on, used in zip(linear, used_inputs(live), strict=True))
    kept = [i for i, on in enumerate(linear) if not on or found[i]]
    return transpose(rearranged(live, kept), [linear[i] for i in kept]), found


def avals_without(avals: Sequence[ShapedArray], axis: int) -> list[ShapedArray]:
    """The types of what is left of arrays when one axis is indexed by a number."""
    return [ShapedArray((*a.shape[:axis], *a.shape[axis + 1 :]), a.dtype) for a in avals]
