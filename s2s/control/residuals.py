"""What the backward part keeps of the forward part, and what it computes again.

The values that the backward part reads can be computed from others that are cheaper to keep: from
the carried values of a loop, whose history is one array, or from operands, which are there anyway.
Which values to keep is a minimum cut of the graph of dependences, each value weighing its size.

    1 - h**2 and 2 * (h - y) are read  ->  h is kept, both are computed again
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from s2s.ir.dims import Dim, Size, names_of, substitute
from s2s.ir.jaxpr import JaxprEqn, ShapedArray, Var
from s2s.passes.bound_dimensions import binding, counts_of, names_in, reads_of

UNBOUNDED = 1 << 60
TYPICAL_SIZE = 100
"""What a named dimension counts when the sizes of values are compared."""


@dataclass(frozen=True)
class Kept:
    """`variables` are read by `recomputed` or by the backward part itself, in order of definition.

    `recomputed` are the equations that the backward part runs again, in their order.
    """

    variables: list[Var]
    recomputed: list[JaxprEqn]


def choose(
    eqns: Sequence[JaxprEqn],
    residuals: Sequence[Var],
    free: Collection[Var],
    live: Collection[int],
    may_recompute: Callable[[JaxprEqn], bool],
    preferred: Collection[Var] = (),
    may_keep: Callable[[JaxprEqn], bool] = lambda eqn: True,
) -> Kept:
    """The variables to keep so that `residuals` can be had again, of the least total size.

    Args:
        eqns: the forward part.
        residuals: what the backward part reads.
        free: variables that are at hand in the backward part anyway.
        live: the identities of the equations that run in the forward part in any case. The others
            may run in the backward part instead.
        may_recompute: whether a live equation may run in the backward part again.
        preferred: variables to keep rather than others that are not much smaller.
        may_keep: whether the results of an equation may be kept.
    """
    counts = counts_of(eqns)
    reads = reads_of(eqns)
    producers = {var: eqn for eqn in eqns for var in eqn.outvars}

    def movable(var: Var) -> JaxprEqn | None:
        """The equation to compute `var` again, if that is allowed or inevitable."""
        eqn = producers.get(var)
        if eqn is not None and eqn.primitive.has_effect:
            return None
        if eqn is None or id(eqn) not in live or _mentions(eqn.outvars, counts):
            return eqn
        return eqn if may_recompute(eqn) else None

    at_hand = set(free)
    for eqn in eqns:
        is_movable = bool(eqn.outvars) and movable(eqn.outvars[0]) is not None
        if is_movable and at_hand.issuperset(reads(eqn)):
            at_hand.update(eqn.outvars)

    def weight(var: Var) -> int:
        eqn = producers.get(var)
        if _mentions([var], counts) or (eqn is not None and not may_keep(eqn)):
            return UNBOUNDED
        size = byte_size(var.aval)
        if var in preferred:
            return size * 3 // 4
        # Of values of one size, one that is computed anyway leaves more to the backward part.
        return size - int(id(eqn) in live)

    wanted = [r for r in residuals if r not in at_hand]
    cut = _minimum_cut(wanted, movable, reads, at_hand, weight)
    needed: dict[Var, None] = {}
    again: set[int] = set()
    stack = list(residuals)
    while stack:
        var = stack.pop()
        if var in needed:
            continue
        needed[var] = None
        eqn = None if var in free or var in cut else movable(var)
        if eqn is not None:
            again.add(id(eqn))
            stack.extend(reads(eqn))
    recomputed = [eqn for eqn in eqns if id(eqn) in again]
    computed = {var for eqn in recomputed for var in eqn.outvars}
    kept = {var: None for var in needed if var not in computed or var in cut}
    order = {var: i for i, var in enumerate(producers)}
    recomputed = _without(recomputed, set(kept))
    # Sizes whose values are kept.
    mentioned = {name for eqn in recomputed for name in names_in(eqn)}
    mentioned -= counts_of(recomputed).keys()
    bindings = [binding(name, counts[name]) for name in counts if name in mentioned]
    return Kept(sorted(kept, key=lambda var: order.get(var, -1)), [*bindings, *recomputed])


def _without(eqns: Sequence[JaxprEqn], kept: set[Var]) -> list[JaxprEqn]:
    """Equations of which some results are kept define these under other names."""
    return [
        eqn
        if kept.isdisjoint(eqn.outvars)
        else JaxprEqn(
            eqn.primitive,
            eqn.invars,
            [Var(var.aval, var.name) if var in kept else var for var in eqn.outvars],
            eqn.source,
            eqn.phase,
        )
        for eqn in eqns
    ]


def _mentions(variables: Iterable[Var], names: Collection[str]) -> bool:
    sizes = [size for var in variables for size in var.aval.shape] if names else []
    return any(name in names for size in sizes for name in names_of(size))


def byte_size(aval: ShapedArray) -> int:
    """How much a value weighs in the choice, in hundredths of a byte."""
    size: Size = aval.size
    if isinstance(size, Dim):
        size = substitute(size, dict.fromkeys(size.names(), TYPICAL_SIZE))
    assert isinstance(size, int)
    return 100 * max(size, 1) * aval.dtype.itemsize


class _Network:
    """A flow network: `edges` are (target, capacity left) in pairs of an edge and its reverse."""

    def __init__(self) -> None:
        self.target: list[int] = []
        self.capacity: list[int] = []
        self.leaving: list[list[int]] = [[], []]

    def node(self) -> int:
        self.leaving.append([])
        return len(self.leaving) - 1

    def edge(self, source: int, target: int, capacity: int) -> None:
        for node, other, room in ((source, target, capacity), (target, source, 0)):
            self.leaving[node].append(len(self.target))
            self.target.append(other)
            self.capacity.append(room)

    def saturate(self, source: int, sink: int) -> None:
        """Push flow along shortest paths until none is left (Edmonds and Karp 1972)."""
        while True:
            reached: dict[int, int] = {source: -1}
            queue = deque([source])
            while queue and sink not in reached:
                node = queue.popleft()
                for edge in self.leaving[node]:
                    if self.capacity[edge] and self.target[edge] not in reached:
                        reached[self.target[edge]] = edge
                        queue.append(self.target[edge])
            if sink not in reached:
                return
            path: list[int] = []
            node = sink
            while node != source:
                path.append(reached[node])
                node = self.target[reached[node] ^ 1]
            amount = min(self.capacity[edge] for edge in path)
            for edge in path:
                self.capacity[edge] -= amount
                self.capacity[edge ^ 1] += amount

    def reaching(self, sink: int) -> set[int]:
        """The nodes from which there is a path with room to the sink."""
        found = {sink}
        queue = deque([sink])
        while queue:
            node = queue.popleft()
            for edge in self.leaving[node]:
                before = self.target[edge]
                if self.capacity[edge ^ 1] and before not in found:
                    found.add(before)
                    queue.append(before)
        return found


def _minimum_cut(
    residuals: Sequence[Var],
    movable: Callable[[Var], JaxprEqn | None],
    reads: Callable[[JaxprEqn], Sequence[Var]],
    at_hand: Collection[Var],
    weight: Callable[[Var], int],
) -> set[Var]:
    """The variables of least total weight from which the residuals can be computed.

    Each variable is a pair of nodes; the edge between them has its weight. Of several minimum cuts
    it is the one nearest to the residuals, so that least is computed again.
    """
    source, sink = 0, 1
    network = _Network()
    inside: dict[Var, int] = {}
    outside: dict[Var, int] = {}
    stack = list(residuals)
    while stack:
        var = stack.pop()
        if var in inside:
            continue
        inside[var], outside[var] = network.node(), network.node()
        network.edge(inside[var], outside[var], weight(var))
        eqn = movable(var)
        stack.extend(read for read in (reads(eqn) if eqn else ()) if read not in at_hand)
    for var in inside:
        eqn = movable(var)
        if eqn is None:
            network.edge(source, inside[var], UNBOUNDED)
            continue
        for read in reads(eqn):
            if read not in at_hand:
                network.edge(outside[read], inside[var], UNBOUNDED)
    for var in residuals:
        network.edge(outside[var], sink, UNBOUNDED)
    network.saturate(source, sink)
    sink_side = network.reaching(sink)
    return {var for var in inside if outside[var] in sink_side and inside[var] not in sink_side}
