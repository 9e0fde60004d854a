"""Matrix products out of loops: one large product is faster than many small ones.

XLA runs the steps of a loop one by one. A product of what the loop runs over, `xs[t] @ w`, need not
wait for the step before; the products of which a step adds one to what is carried, as backward
loops do for weights, need not be added one by one. The module for NumPy keeps the user's loop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from s2s.control.bodies import split_at
from s2s.control.higher_order import per_jaxpr
from s2s.control.scan import Scan
from s2s.ir.check import check
from s2s.ir.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Var
from s2s.passes.dce import dce
from s2s.passes.names import hand_on_names
from s2s.passes.vmap import vmap
from s2s.primitive import Value
from s2s.primitives.arithmetic import Add, Neg
from s2s.primitives.contractions import DotGeneral
from s2s.primitives.core import Transpose
from s2s.primitives.families import AddAny
from s2s.primitives.functions import add
from s2s.trace import bind, copy_equation, inline, make, walk

LARGEST = 1 << 26
"""The size in bytes of the largest array that is made of the operands of all steps."""


@per_jaxpr
def products_apart(closed: ClosedJaxpr) -> ClosedJaxpr:
    """(xs -> ys)  ->  (xs -> ys), with products out of the loops that need not have them

    before:  { lambda ; w h xs. let g = scan[jaxpr={ w h x. let y = dot x w ... }] w h xs in (g,) }
    after:   { lambda ; w h xs. let ys = dot xs w; g = scan[jaxpr={ h y. ... }] h ys in (g,) }
    """
    if not _has_products_in_loops(closed, in_loop=False):
        return closed

    def step(eqn: JaxprEqn, operands: Sequence[Value]) -> Sequence[Value]:
        primitive = eqn.primitive.with_jaxprs(products_apart)
        if isinstance(primitive, Scan):
            results = _split(primitive, operands)
            if results is not None:
                hand_on_names(results, eqn.outvars)
                return results
        same = JaxprEqn(primitive, eqn.invars, eqn.outvars, eqn.source, eqn.phase)
        return copy_equation(same, operands)

    names = [var.name for var in closed.jaxpr.invars]
    made = dce(make(lambda *xs: walk(closed, xs, step), closed.in_avals, names))
    check(made.jaxpr)
    return made


def _has_products_in_loops(closed: ClosedJaxpr, *, in_loop: bool) -> bool:
    return any(
        (in_loop and isinstance(eqn.primitive, DotGeneral))
        or any(
            _has_products_in_loops(jaxpr, in_loop=in_loop or isinstance(eqn.primitive, Scan))
            for jaxpr in eqn.primitive.jaxprs
        )
        for eqn in closed.eqns
    )


@dataclass(frozen=True)
class _Sum:
    """A carried value to which each step adds the product of `operands`, seen through `changes`."""

    position: int
    product: JaxprEqn
    changes: list[JaxprEqn]
    total: JaxprEqn

    @property
    def operands(self) -> list[Var]:
        return [atom for atom in self.product.invars if isinstance(atom, Var)]


class _Body:
    """The body of a scan, and what in it does not depend on what is carried."""

    def __init__(self, scan: Scan) -> None:
        self.scan = scan
        jaxpr = self.jaxpr = scan.jaxpr.jaxpr
        self.consts, self.carry, self.xs = split_at(jaxpr.invars, scan.num_consts, scan.num_carry)
        self.carry_outs, self.ys = split_at(jaxpr.outvars, scan.num_carry)
        self.producers = {var: eqn for eqn in jaxpr.eqns for var in eqn.outvars}
        self.uses = Counter([*(a for e in jaxpr.eqns for a in e.invars), *jaxpr.outvars])
        self.apart: set[Atom] = {*jaxpr.constvars, *self.consts, *self.xs}
        """What is known before the loop runs, of each step."""
        self.varying: set[Atom] = set(self.xs)
        """Of that, what differs from step to step."""
        self.eqns_apart: list[JaxprEqn] = []
        for eqn in jaxpr.eqns:
            variables = [atom for atom in eqn.invars if isinstance(atom, Var)]
            plain = not eqn.primitive.jaxprs and not eqn.primitive.has_effect
            if plain and self.apart.issuperset(variables):
                self.eqns_apart.append(eqn)
                self.apart.update(eqn.outvars)
                if not self.varying.isdisjoint(variables):
                    self.varying.update(eqn.outvars)

    def products(self) -> list[Var]:
        """The products that need no carried value, and are not much larger than their operands."""
        return [
            eqn.outvars[0]
            for eqn in self.eqns_apart
            if isinstance(eqn.primitive, DotGeneral)
            and eqn.outvars[0] in self.varying
            and self._fits([eqn.outvars[0]])
        ]

    def sums(self) -> list[_Sum]:
        """The carried values that are sums of products."""
        found = [self._sum(position) for position in range(len(self.carry))]
        return [one for one in found if one is not None]

    def _sum(self, position: int) -> _Sum | None:
        carried, out = self.carry[position], self.carry_outs[position]
        total = self.producers.get(out) if isinstance(out, Var) else None
        if total is None or not isinstance(total.primitive, (Add, AddAny)):
            return None
        if self.uses[carried] != 1 or self.uses[out] != 1 or carried not in total.invars:
            return None
        (term,) = [atom for atom in total.invars if atom is not carried]
        changes: list[JaxprEqn] = []
        while isinstance(term, Var) and self.uses[term] == 1 and term in self.producers:
            eqn = self.producers[term]
            if isinstance(eqn.primitive, DotGeneral):
                made = _Sum(position, eqn, changes[::-1], total)
                varies = [v not in self.apart or v in self.varying for v in made.operands]
                return (
                    made if len(varies) == 2 and all(varies) and self._fits(made.operands) else None
                )
            if not isinstance(eqn.primitive, (Neg, Transpose)):
                return None
            changes.append(eqn)
            term = eqn.invars[0]
        return None

    def _fits(self, variables: Sequence[Var]) -> bool:
        length = self.scan.length
        return all(
            isinstance(v.aval.size, int)
            and isinstance(length, int)
            and length * v.aval.size * v.aval.dtype.itemsize <= LARGEST
            for v in variables
        )


def _split(scan: Scan, operands: Sequence[Value]) -> Sequence[Value] | None:
    """The results of a scan with its products outside; None if there are no such."""
    if scan.counted or not isinstance(scan.length, int) or scan.length == 0:
        return None
    body = _Body(scan)
    products, sums = body.products(), body.sums()
    if not products and not sums:
        return None
    _, consts, carry, xs = scan.parts(operands)
    factors = list(dict.fromkeys(v for one in sums for v in one.operands))
    before = list(dict.fromkeys([*products, *[v for v in factors if v in body.varying]]))
    stacked = dict(zip(before, _of_all_steps(body, before, consts, xs), strict=True))

    after = [v for v in factors if v not in stacked]
    summed = {one.position for one in sums}
    moved = {id(e) for one in sums for e in (one.product, *one.changes, one.total)}
    moved.update(id(body.producers[var]) for var in products)
    kept = [i for i in range(len(carry)) if i not in summed]
    eqns = [eqn for eqn in body.jaxpr.eqns if id(eqn) not in moved]
    outvars = [*[body.carry_outs[i] for i in kept], *body.ys, *after]
    carried = [body.carry[i] for i in kept]
    invars = [*body.consts, *carried, *body.xs, *products]
    jaxpr = Jaxpr(body.jaxpr.constvars, invars, eqns, outvars)
    rest = dce(ClosedJaxpr(jaxpr, scan.jaxpr.consts))
    read = {atom for eqn in rest.eqns for atom in eqn.invars} | set(rest.jaxpr.outvars)
    rows = [(v, x) for v, x in zip(body.xs, xs, strict=True) if v in read]
    rows += [(v, stacked[v]) for v in products if v in read]
    invars = [*body.consts, *carried, *[v for v, _ in rows]]
    jaxpr = Jaxpr(rest.jaxpr.constvars, invars, rest.eqns, rest.jaxpr.outvars)
    new = scan.like(ClosedJaxpr(jaxpr, rest.consts), len(body.consts), len(kept))
    results = bind(new, *consts, *[carry[i] for i in kept], *[x for _, x in rows])
    finals, ys, found = split_at(results, len(kept), len(body.ys))
    stacked.update(zip(after, found, strict=True))

    ends = dict(zip(kept, finals, strict=True))
    for one in sums:
        ends[one.position] = add(carry[one.position], _sum_of_steps(one, stacked))
    return [*[ends[i] for i in range(len(carry))], *ys]


def _of_all_steps(
    body: _Body, wanted: Sequence[Var], consts: Sequence[Value], xs: Sequence[Value]
) -> list[Value]:
    """Values of the body that need no carried one, of all steps along a first axis."""
    if not wanted:
        return []
    inputs = [*body.consts, *body.xs]
    jaxpr = Jaxpr(body.jaxpr.constvars, inputs, body.eqns_apart, wanted)
    axes = [*[None] * len(consts), *[0] * len(xs)]
    one_step = dce(ClosedJaxpr(jaxpr, body.scan.jaxpr.consts))
    made, _ = vmap(one_step, body.scan.length, axes, [0] * len(wanted))
    return inline(made, *consts, *xs)


def _sum_of_steps(one: _Sum, stacked: dict[Var, Value]) -> Value:
    """The sum of the products of all steps, as a product that contracts the steps too."""
    product = one.product.primitive
    assert isinstance(product, DotGeneral)
    (x_sum, y_sum), (x_batch, y_batch) = product.dimension_numbers

    def behind(axes: Sequence[int]) -> tuple[int, ...]:
        return tuple(axis + 1 for axis in axes)

    numbers = ((0, *behind(x_sum)), (0, *behind(y_sum))), (behind(x_batch), behind(y_batch))
    total = bind(DotGeneral(numbers), *[stacked[v] for v in one.operands])
    for eqn in one.changes:
        total = bind(eqn.primitive, total)
    return total
