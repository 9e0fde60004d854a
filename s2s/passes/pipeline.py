"""In which order the passes tidy a jaxpr before code is generated from it."""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

from s2s.ir.jaxpr import ClosedJaxpr, JaxprEqn
from s2s.passes.absorb import absorb_sums
from s2s.passes.bound_dimensions import with_plain_dimensions
from s2s.passes.choices import merge_choices
from s2s.passes.cse import cse
from s2s.passes.dce import dce
from s2s.passes.factors import collect_factors
from s2s.passes.finish import finish, unpack
from s2s.passes.names import hand_on_names
from s2s.passes.parts import stack_parts
from s2s.passes.rewrite import rewrite
from s2s.passes.sums import add_inside
from s2s.primitive import Value
from s2s.trace import builder_in_force, copy_equation


def optimise(closed: ClosedJaxpr, *, keep_checkpoints: bool = False) -> ClosedJaxpr:
    """(xs -> ys)  ->  (xs -> ys), the same values with fewer equations

    before:  { lambda ; x:f64[]. let a = sin x; b = sin x; c = mul b 1.0; d = cos x in (c,) }
    after:   { lambda ; x:f64[]. let a:f64[] = sin x in (a,) }

    This is for when all derivatives are taken: the rules for them go. With `keep_checkpoints`, what
    is computed again on purpose stays apart, for a compiler that would find it to be there already.
    """
    tidied = tidy(finish(dce(closed)))
    return with_plain_dimensions(dce(tidied if keep_checkpoints else unpack(tidied)))


_tidied: WeakKeyDictionary[ClosedJaxpr, ClosedJaxpr] = WeakKeyDictionary()
"""What each jaxpr became, so that a body that several equations have is tidied once."""


def tidy(closed: ClosedJaxpr) -> ClosedJaxpr:
    """(xs -> ys)  ->  (xs -> ys), the same values with fewer equations, here and in all bodies"""
    found = _tidied.get(closed)
    if found is None:
        found = _tidied_here(closed)
        while any(eqn.primitive.jaxprs for eqn in found.eqns):
            inside = tidy_bodies(found)
            if inside is found:
                break
            found = _tidied_here(inside)
        # A tidy jaxpr is its own tidied form.
        _tidied[closed] = _tidied[found] = found
    return found


def _tidied_here(closed: ClosedJaxpr) -> ClosedJaxpr:
    # What was folded away is no value to make others of.
    placed = add_inside(closed, in_branches=False)
    found = collect_factors(merge_choices(cse(dce(placed))))
    return dce(cse(dce(absorb_sums(stack_parts(found)))))


def tidy_bodies(closed: ClosedJaxpr) -> ClosedJaxpr:
    """(xs -> ys)  ->  (xs -> ys), with loops and branches tidied; the same object if they are"""
    changed = False

    def step(eqn: JaxprEqn, operands: Sequence[Value]) -> Sequence[Value]:
        nonlocal changed
        builder = builder_in_force()
        assert builder is not None
        results = eqn.primitive.tidied(operands, builder.producer, tidy)
        if results is None:
            return copy_equation(eqn, operands)
        changed = True
        hand_on_names(results, eqn.outvars)
        return results

    made = rewrite(closed, step)
    return made if changed else closed
