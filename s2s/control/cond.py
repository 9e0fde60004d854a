"""cond: one of several branches, chosen by a number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2s.control.batched_loops import body_if_live, guarded, inline_if
from s2s.control.bodies import (
    Flags,
    chosen,
    dce_of,
    either,
    inverted,
    jvp_of,
    rearranged,
    split_of,
    transpose_of,
    used_inputs,
    vmap_of,
    with_unused_input,
)
from s2s.control.branch_split import CalleeSplit, split_callee
from s2s.control.higher_order import HigherOrder
from s2s.control.tidy import Operands, Source, identity, rebuilt
from s2s.control.user_functions import Body, converting, fits, join, place, same_kind, share_consts, trace_body
from s2s.ir.dims import Size, require_same, same_shape
from s2s.ir.dtypes import BOOL
from s2s.ir.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, ShapedArray, Var
from s2s.passes.dce import dce
from s2s.primitive import BatchAxis, Linear, PartialEval, Producer, Value, Zero
from s2s.primitives.arithmetic import clamp
from s2s.primitives.core import (
    convert_element_type,
    instantiate,
    is_number,
    move_batch_axis,
    number,
)
from s2s.primitives.creation import Empty
from s2s.primitives.logic import bitwise_not, eq, ne, select_n
from s2s.trace import aval, bind, evaluate, inline, make
from s2s.tree import flatten, leaf_paths, unflatten

INDEX = np.dtype(np.int32)


@dataclass(frozen=True, eq=False)
class Cond(HigherOrder):
    """The branch whose number is the first operand, applied to the others. 0 is the false branch."""

    branches: tuple[ClosedJaxpr, ...]

    name = "cond"

    def abstract(self, *avals: ShapedArray) -> list[ShapedArray]:
        index, *operands = avals
        for branch in self.branches:
            fits = len(branch.in_avals) == len(operands) and all(
                a.dtype == b.dtype and a.ndim == b.ndim and all(map(require_same, a.shape, b.shape))
                for a, b in zip(branch.in_avals, operands, strict=True)
            )
            if not fits or index.shape or index.dtype.kind not in "iu":
                raise TypeError(f"cond over {list(avals)} of a branch that takes {branch.in_avals}")
        return self.branches[0].out_avals

    def evaluate(self, *arrays: Any) -> list[Any]:
        return evaluate(self.branches[int(arrays[0])], *arrays[1:])

    def fold(self, args: Sequence[Value], producer: Producer) -> Value | None:
        if is_number(args[0]):
            return inline(self.branches[int(number(args[0]))], *args[1:])
        return None

    # -- derivatives ----------------------------------------------------------------------------

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        index, *operands = primals
        active = tuple(not isinstance(t, Zero) for t in tangents[1:])
        out_on: Flags = (False,) * len(self.branches[0].out_avals)
        for branch in self.branches:
            out_on = either(out_on, jvp_of(branch, active, out_on)[1])
        both = tuple(jvp_of(branch, active, out_on)[0] for branch in self.branches)
        results = bind(Cond(both), index, *operands, *chosen(tangents[1:], active))
        moved = iter(results[len(out_on) :])
        values = results[: len(out_on)]
        return values, [
            next(moved) if on else Zero(aval(y)) for y, on in zip(values, out_on, strict=True)
        ]

    def partial_eval(self, eqn: JaxprEqn, unknown: Sequence[bool]) -> PartialEval | None:
        if unknown[0]:
            return None
        flags = tuple(unknown[1:])
        out_unknown: Flags = (False,) * len(eqn.outvars)
        for branch in self.branches:
            out_unknown = either(out_unknown, split_of(branch, flags, out_unknown).out_unknown)
        splits = [split_callee(split_of(branch, flags, out_unknown)) for branch in self.branches]
        index, *operands = eqn.invars
        shared = _Shared(splits, chosen(operands, inverted(flags)))
        known_vars = chosen(eqn.outvars, inverted(out_unknown))
        known = JaxprEqn(
            Cond(tuple(map(shared.known, splits))),
            [index, *shared.operands],
            [*known_vars, *shared.slots],
            eqn.source,
            eqn.phase,
        )
        rest = JaxprEqn(
            Cond(tuple(map(shared.unknown, splits))),
            [index, *shared.atoms(known_vars), *chosen(operands, flags)],
            chosen(eqn.outvars, out_unknown),
            eqn.source,
            "tangent",
        )
        return PartialEval([known], [rest], list(rest.outvars))

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        index, *operands = args
        linear = tuple(isinstance(operand, Linear) for operand in operands)
        ct_on = tuple(not isinstance(ct, Zero) for ct in cts)
        found: Flags = (False,) * len(operands)
        for branch in self.branches:
            found = either(found, transpose_of(branch, linear, ct_on)[1])
        backward = tuple(_transposed(branch, linear, ct_on, found) for branch in self.branches)
        given = [*chosen(operands, inverted(linear)), *chosen(cts, ct_on)]
        bars = iter(bind(Cond(backward), index, *given))
        results: list[Value] = [None]
        for operand, is_linear, on in zip(operands, linear, found, strict=True):
            results.append(
                next(bars) if on else Zero(operand.aval) if is_linear else None
            )
        return results

    # -- batching -------------------------------------------------------------------------------

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, Any]:
        in_front = [
            value if dim is None else move_batch_axis(value, dim, 0)
            for value, dim in zip(args, dims, strict=True)
        ]
        batched = tuple(dim is not None for dim in dims)
        out_on: Flags = (False,) * len(self.branches[0].out_avals)
        if batched[0]:
            both, out_on = vmap_of(self._as_choice(), size, batched, out_on)
            results = inline(both, *in_front)
        else:
            for branch in self.branches:
                out_on = either(out_on, vmap_of(branch, size, batched[1:], out_on)[1])
            branches = [vmap_of(branch, size, batched[1:], out_on)[0] for branch in self.branches]
            results = bind(Cond(tuple(branches)), *in_front)
        return results, [0 if on else None for on in out_on]

    def _as_choice(self) -> ClosedJaxpr:
        """The same without branching: all branches run, and the result of one is chosen.

        What the other branches compute must not reach the derivative: their operands are guarded.
        """
        inputs = [Var(ShapedArray((), INDEX)), *self.branches[0].jaxpr.invars]

        def fun(index: Value, *operands: Value) -> list[Value]:
            if len(self.branches) == 2:
                index = convert_element_type(index, BOOL)
                taken = [bitwise_not(index), index]
            else:
                taken = [eq(index, INDEX.type(i)) for i in range(len(self.branches))]
            results = [
                inline_if(live, branch, [guarded(live, operand) for operand in operands])
                for live, branch in zip(taken, self.branches, strict=True)
            ]
            return [select_n(index, *cases) for cases in zip(*results, strict=True)]

        return make(fun, [var.aval for var in inputs], [var.name for var in inputs])

    def bind_if_live(self, live: Value, operands: Sequence[Value]) -> Sequence[Value] | None:
        bodies = [body_if_live(branch) for branch in self.branches]
        if not any(bodies):
            return None
        branches = tuple(
            with_unused_input(branch, aval(live)) if body is None else body
            for branch, body in zip(self.branches, bodies, strict=True)
        )
        return bind(Cond(branches), operands[0], live, *operands[1:])

    # -- tidying --------------------------------------------------------------------------------

    def dce(self, eqn: JaxprEqn, used: Sequence[bool]) -> JaxprEqn:
        flags = tuple(used)
        branches = [dce_of(branch, flags) for branch in self.branches]
        read: Flags = (False,) * (len(eqn.invars) - 1)
        for branch in branches:
            read = either(read, used_inputs(branch))
        smaller = any(
            len(new.eqns) < len(old.eqns) for new, old in zip(branches, self.branches, strict=True)
        )
        if all(flags) and all(read) and not smaller:
            return eqn
        kept = [i for i, on in enumerate(read) if on]
        cond = Cond(tuple(rearranged(branch, kept) for branch in branches))
        operands = [eqn.invars[0], *chosen(eqn.invars[1:], read)]
        return JaxprEqn(cond, operands, chosen(eqn.outvars, flags), eqn.source, eqn.phase)

    def tidied(
        self,
        args: Sequence[Value],
        producer: Producer,
        tidy: Callable[[ClosedJaxpr], ClosedJaxpr],
    ) -> Sequence[Value] | None:
        """Numbers among the operands stand in the branches; what all branches pass on is no
        result."""
        if is_number(args[0]):
            return inline(tidy(self.branches[int(number(args[0]))]), *args[1:])
        branches = [tidy(branch) for branch in self.branches]
        given = Operands(producer)
        rebuilt_branches: list[tuple[ClosedJaxpr, dict[Var, Source]]] = []
        for branch in branches:
            sources = {
                var: given.constant(value, var)
                for var, value in (
                    *zip(branch.jaxpr.constvars, branch.consts, strict=True),
                    *zip(branch.jaxpr.invars, args[1:], strict=True),
                )
            }
            rebuilt_branches.append((branch, sources))
        known = _passed_on(branches, args[1:])
        kept = [i for i in range(len(branches[0].out_avals)) if i not in known]
        if (
            all(new is old for new, old in zip(branches, self.branches, strict=True))
            and len(given.values) == len(args) - 1
            and not known
        ):
            return None
        cond = Cond(
            tuple(
                tidy(rebuilt(branch, given.variables, sources, kept))
                for branch, sources in rebuilt_branches
            )
        )
        results = iter(bind(cond, args[0], *given.values) if kept else ())
        return [known[i] if i in known else next(results) for i in range(len(known) + len(kept))]


def _passed_on(branches: Sequence[ClosedJaxpr], operands: Sequence[Value]) -> dict[int, Value]:
    """The results that are the same operand, or the same number, of all branches."""
    found: dict[int, Value] = {}
    for i, atoms in enumerate(zip(*[b.jaxpr.outvars for b in branches], strict=True)):
        values: list[Value] = []
        for atom, branch in zip(atoms, branches, strict=True):
            if isinstance(atom, Literal):
                values.append(atom)
            elif atom in branch.jaxpr.invars:
                values.append(operands[list(branch.jaxpr.invars).index(atom)])
        if len(values) == len(branches) and len({identity(value) for value in values}) == 1:
            found[i] = values[0]
    return found


def _transposed(
    branch: ClosedJaxpr, linear: Flags, ct_on: Flags, wanted: Flags
) -> ClosedJaxpr:
    """(fixed, y_bars -> wanted x_bars) of one branch, zero where it does not use the operand."""
    backward, found = transpose_of(branch, linear, ct_on)
    if found == wanted:
        return backward
    avals = branch.in_avals

    def fun(*args: Value) -> list[Value]:
        bars = iter(inline(backward, *args))
        return [
            next(bars) if on else instantiate(Zero(aval))
            for aval, on, want in zip(avals, found, wanted, strict=True)
            if want
        ]

    return make(fun, backward.in_avals, [var.name for var in backward.jaxpr.invars])


class _Shared:
    """What the known and the unknown branches share: operands, known results, and kept values.

    A kept value goes through a slot, a further result of the known branches. Values of different
    branches share a slot if they have one type; a branch without a value for it leaves it empty.
    """

    def __init__(self, splits: Sequence[CalleeSplit], operands: Sequence[Atom]) -> None:
        self.operands = operands
        self.slots: list[Var] = []
        self._slot_vars: list[dict[int, Var]] = []
        self._sources: dict[tuple[str, int], ShapedArray] = {}
        self._read: dict[int, dict[tuple[str, int], Var]] = {}
        for split in splits:
            used: dict[int, Var] = {}
            for var in split.stored:
                slot = self._slot(var, used)
                used[slot] = var
            self._slot_vars.append(used)
            read: dict[tuple[str, int], Var] = {("slot", slot): var for slot, var in used.items()}
            read.update({("operand", i): var for i, var in split.operands.items()})
            read.update({("result", i): var for i, var in split.results.items()})
            self._read[id(split)] = read
            self._sources.update({source: var.aval for source, var in read.items()})

    def _slot(self, var: Var, used: dict[int, Var]) -> int:
        for number, slot in enumerate(self.slots):
            same_type = slot.aval.dtype == var.aval.dtype and same_shape(slot.aval.shape, var.aval.shape)
            if number not in used and same_type:
                if slot.name != var.name:
                    slot.name = None
                return number
        self.slots.append(Var(var.aval.strong(), var.name))
        return len(self.slots) - 1

    def known(self, split: CalleeSplit) -> ClosedJaxpr:
        """The known part of a branch, with a result for each slot."""
        read = self._read[id(split)]
        known = split.known.jaxpr
        eqns = list(known.eqns)
        kept: list[Var] = []
        for number, slot in enumerate(self.slots):
            var = read.get(("slot", number))
            if var is None:
                var = Var(slot.aval)
                eqns.append(JaxprEqn(Empty(slot.aval.dtype, slot.aval.shape), [], [var]))
            kept.append(var)
        body = Jaxpr(known.constvars, known.invars, eqns, [*known.outvars, *kept])
        return dce(ClosedJaxpr(body, split.known.consts))

    def unknown(self, split: CalleeSplit) -> ClosedJaxpr:
        """The unknown part of a branch, with an input for all that some branch reads."""
        read = self._read[id(split)]
        return split.unknown_of(
            [read.get(source) or Var(aval) for source, aval in self._sources.items()]
        )

    def atoms(self, known_results: Sequence[Var]) -> list[Atom]:
        """What stands for these inputs where the branches are chosen."""
        places = {"operand": self.operands, "result": known_results, "slot": self.slots}
        return [places[kind][number] for kind, number in self._sources]


# -- the surface ----------------------------------------------------------------------------------


def cond(
    pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any
) -> Any:
    """`true_fun(*operands)` if `pred` is true, else `false_fun(*operands)`.

    Args:
        pred: one truth value.
        true_fun, false_fun: functions of the operands, whose results have the same structure and
            types. They may close over traced values.
        operands: arrays, numbers, or containers of them.

    Raises:
        TypeError: if `pred` is not one truth value, or the branches return different types.
    """
    kind = aval(pred)
    if kind.shape or kind.dtype.kind not in "biuf":
        raise TypeError(f"the predicate of cond must be one truth value, not {kind}")
    if kind.dtype != BOOL:
        pred = ne(pred, 0)
    return _choose(convert_element_type(pred, INDEX), [false_fun, true_fun], operands, "cond")


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """`branches[index](*operands)`, where an index out of range is moved into it.

    Args:
        index: an integer.
        branches: functions of the operands, whose results have the same structure and types.
        operands: arrays, numbers, or containers of them.

    Raises:
        TypeError: if `index` is not one integer, or the branches return different types.
    """
    kind = aval(index)
    if kind.shape or kind.dtype.kind not in "iu":
        raise TypeError(f"the index of switch must be one integer, not {kind}")
    if not branches:
        raise ValueError("switch needs at least one branch")
    if len(branches) == 1:
        return branches[0](*operands)
    index = convert_element_type(index, INDEX)
    index = clamp(INDEX.type(0), index, INDEX.type(len(branches) - 1))
    return _choose(index, branches, operands, "switch")


def _choose(
    index: Value, functions: Sequence[Callable[..., Any]], operands: Sequence[Any], what: str
) -> Any:
    leaves, structure = flatten(tuple(operands))
    avals = [aval(leaf) for leaf in leaves]
    bodies = [trace_body(f, list(structure.children), avals) for f in functions]
    bodies = _with_results_of_one_type(bodies, what)
    branches, consts = share_consts(bodies)
    results = bind(Cond(tuple(branches)), index, *consts, *leaves)
    return unflatten(bodies[0].result, results)


def _with_results_of_one_type(bodies: Sequence[Body], what: str) -> list[Body]:
    """The branches, with Python scalars converted where another branch returns another type."""
    first = bodies[0]
    for body in bodies[1:]:
        if body.result != first.result:
            raise TypeError(
                f"the branches of {what} must return results of one structure, but one returns "
                f"{first.result} and another {body.result}"
            )
    wanted: list[ShapedArray] = []
    all_avals = zip(*[body.jaxpr.out_avals for body in bodies], strict=True)
    for avals, path in zip(all_avals, leaf_paths(first.result), strict=True):
        strong = [a for a in avals if not a.weak_type]
        joined = join(avals)
        for a in avals:
            if joined is None or not fits(joined, a):
                other = next(b for b in (*strong, *avals) if b != a)
                raise TypeError(
                    f"the branches of {what} return different types for "
                    f"{place(path, 'the result')}: {a} and {other}"
                )
        wanted.append(joined)
    return [
        body
        if all(same_kind(a, b) for a, b in zip(body.jaxpr.out_avals, wanted, strict=True))
        else Body(converting(body.jaxpr, wanted), body.consts, body.result)
        for body in bodies
    ]
