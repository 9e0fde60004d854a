"""What is read of an array is read before a part of the array is overwritten.

    item_bar = out_bar[i]
    out_bar[i] = 0.0
    out_bar[i - 1] += rate * item_bar

Written the other way round, the second line would have to be on a copy of `out_bar`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from s2s.ir.jaxpr import Atom, JaxprEqn, Literal, Var
from s2s.passes.bound_dimensions import reads_of
from s2s.primitives.arithmetic import Sub
from s2s.primitives.families import AddAny
from s2s.primitives.layout import Pad
from s2s_codegen.numpy_source.memory import is_new_each_time, may_alias, writes_into
from s2s_codegen.numpy_source.schedule import Placed
from s2s_codegen.numpy_source.sharing import is_written, may_own_result

Reads = Callable[[JaxprEqn], list[Var]]


def overwritten_base(eqn: JaxprEqn) -> Var | None:
    """The array that an equation would write into, if it is not needed any more."""
    if not writes_into(eqn.primitive) or isinstance(eqn.primitive, Pad):
        return None
    base = eqn.invars[0]
    return None if isinstance(base, Literal) else base


class Views:
    """Which arrays are views of others, among the results of some equations."""

    def __init__(self, eqns: Iterable[JaxprEqn]) -> None:
        self._base: dict[Var, Var] = {}
        for eqn in eqns:
            arrays = [a for a in eqn.invars if not isinstance(a, Literal) and a.aval.shape]
            if len(arrays) == 1 and len(eqn.outvars) == 1 and may_alias(eqn):
                if eqn.outvars[0].aval.shape:
                    self._base[eqn.outvars[0]] = self.base(arrays[0])

    def base(self, var: Var) -> Var:
        """The array that `var` is a view of, or `var` itself."""
        return self._base.get(var, var)

    def bases(self, atoms: Iterable[Atom]) -> set[Var]:
        """The arrays whose elements some operands have."""
        return {self.base(atom) for atom in atoms if not isinstance(atom, Literal)}


def overwritable(
    eqns: Sequence[JaxprEqn], results: Iterable[Atom], inputs: Iterable[Var]
) -> dict[Var, JaxprEqn]:
    """For each array that can be overwritten, the last equation that would write into it.

    Neither the results can be, nor the inputs unless they are among `inputs`.
    """
    writing = [eqn for eqn in eqns if eqn.primitive.jaxprs or writes_into(eqn.primitive)]
    if not writing:
        return {}
    kept = {atom for atom in results if not isinstance(atom, Literal)}
    made = [eqn for eqn in eqns if not is_new_each_time(eqn)]
    own = {*inputs, *[var for eqn in made for var in eqn.outvars if may_own_result(eqn, var)]}
    found: dict[Var, JaxprEqn] = {}
    for eqn in writing:
        for var in _arrays_of(eqn.invars):
            if var in own and var not in kept and is_written(eqn, var):
                found[var] = eqn
    return found


def with_reads_first(
    placed: Sequence[Placed], results: Iterable[Atom], inputs: Iterable[Var]
) -> list[Placed]:
    """The equations in an order in which an array is read before another one overwrites a part of
    it, where there is such an order. Otherwise they stay where they are."""
    found = list(placed)
    eqns = [p.eqn for p in placed]
    writers = overwritable(eqns, results, inputs)
    if writers:
        views, reads = Views(eqns), reads_of(eqns)
        for base, writer in writers.items():
            _read_before(found, writer, base, views, reads)
    return found


def with_old_values_first(placed: Sequence[Placed], old: Mapping[Var, Var]) -> list[Placed]:
    """The equations of a body in an order in which an input is read before the result that takes
    its name is computed, which then needs no name of its own.

    `old` has that input of each result. Only what stands under one line changes places.
    """
    found = list(placed)
    reads = reads_of([p.eqn for p in placed])
    old_values = {
        p.eqn: old[p.eqn.outvars[0]]
        for p in placed
        if len(p.eqn.outvars) == 1 and p.eqn.outvars[0] in old
    }
    for writer in old_values:
        _compute_after_reads(found, writer, old_values, reads)
    return found


def _compute_after_reads(
    found: list[Placed], writer: JaxprEqn, old_values: Mapping[JaxprEqn, Var], reads: Reads
) -> None:
    start = next(number for number, p in enumerate(found) if p.eqn is writer)
    old = _with_added(old_values[writer], writer.outvars[0].name, found[:start])
    later, others = set(writer.outvars), set[Var]()
    risen: list[Placed] = []
    for p in found[start + 1 :]:
        needed = reads(p.eqn)
        if not later.isdisjoint(needed):
            later.update(p.eqn.outvars)
            if not old.isdisjoint(needed):
                return
        elif p.line != found[start].line or not others.isdisjoint(needed):
            others.update(p.eqn.outvars)
            if not old.isdisjoint(needed):
                return
        elif p.eqn.primitive.has_effect or writes_into(p.eqn.primitive):
            return
        else:
            risen.append(p)
    # Of two that each read the other's old value, one needs a further name in any case.
    line = found[start].line
    before = {var for p in found[: start + 1] if p.line == line for var in reads(p.eqn)}
    swapped = any(old_values.get(p.eqn) in before for p in risen)
    if not swapped and any(not old.isdisjoint(reads(p.eqn)) for p in risen):
        found[start:] = [*risen, *[p for p in found[start:] if p not in risen]]


def _with_added(old: Var, name: str | None, placed: Sequence[Placed]) -> set[Var]:
    """A cotangent, and the sums of it and further terms that are called so too."""
    found = {old}
    for p in placed:
        eqn = p.eqn
        is_sum = isinstance(eqn.primitive, (AddAny, Sub)) and eqn.phase != "primal"
        if is_sum and eqn.outvars[0].name in (name, old.name) and eqn.invars[0] in found:
            found.update(eqn.outvars)
    return found


def _read_before(
    found: list[Placed], writer: JaxprEqn, base: Var, views: Views, reads: Reads
) -> None:
    start = next(number for number, p in enumerate(found) if p.eqn is writer)
    later, sunk, readers, stop = set(writer.outvars), {writer}, set[JaxprEqn](), start
    for position in range(start + 1, len(found)):
        eqn = found[position].eqn
        is_later = not later.isdisjoint(reads(eqn))
        if is_later:
            later.update(eqn.outvars)
            sunk.add(eqn)
        if any(atom is base for atom in eqn.invars) and is_later:
            return  # It needs a copy in any case.
        # A view is read under the same line before it changes; elsewhere it is a copy of its own.
        is_near = found[position].line == found[start].line and base in views.bases(eqn.invars)
        if not is_later and (is_near or any(atom is base for atom in eqn.invars)):
            readers.add(eqn)
            stop = position + 1
    segment = found[start:stop]
    # A copy of the whole is shorter to say than several parts kept for the backward part.
    crossing = sum(p.eqn in readers and p.backward > segment[0].backward for p in segment)
    if not readers or crossing > 1:
        return
    risen = _needed_for(readers, segment, reads)
    behind = [p for p in segment if p.eqn in sunk]
    orders = [
        [
            *[replace(p, backward=segment[0].backward) for p in segment if p.eqn in risen],
            *[p for p in segment if p.eqn not in risen],
        ],
        [*[p for p in segment if p.eqn not in sunk], *behind],
    ]
    if len(behind) < len(risen):
        orders.reverse()
    for order in orders:
        if not _is_worse(segment, order, views):
            found[start:stop] = order
            return


def _needed_for(readers: set[JaxprEqn], segment: Sequence[Placed], reads: Reads) -> set[JaxprEqn]:
    """The equations of a segment that compute what the readers read, and these."""
    needed: set[Var] = set()
    kept: set[JaxprEqn] = set()
    for p in reversed(segment):
        if p.eqn in readers or not needed.isdisjoint(p.eqn.outvars):
            kept.add(p.eqn)
            needed.update(reads(p.eqn))
    return kept


def _is_worse(before: Sequence[Placed], after: Sequence[Placed], views: Views) -> bool:
    """Whether an order puts an effect elsewhere, mixes the forward part with the backward one, or
    has a read behind an overwriting that it was in front of."""
    effects = [p.eqn for p in before if p.eqn.primitive.has_effect]
    if effects != [p.eqn for p in after if p.eqn.primitive.has_effect]:
        return True
    flags = [p.backward for p in after]
    if flags != sorted(flags) or any(p.eqn.phase == "cotangent" and not p.backward for p in after):
        return True
    places = {p.eqn: number for number, p in enumerate(after)}
    for number, p in enumerate(before):
        base = overwritten_base(p.eqn)
        if base is not None:
            earlier = [q.eqn for q in before[:number] if base in views.bases(q.eqn.invars)]
            if any(places[eqn] > places[p.eqn] for eqn in earlier):
                return True
    return False


def _arrays_of(atoms: Iterable[Atom]) -> list[Var]:
    return [atom for atom in atoms if not isinstance(atom, Literal) and atom.aval.shape]
