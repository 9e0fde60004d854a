"""What an array is to another apart from indices, which blocks compute.

for i in range(n):          y is a row of A, whatever i is: what is given to the outside is the
    y = A[i]                row's index, besides y itself
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from s2s.ir.jaxpr import Atom, Literal, ShapedArray, Var
from s2s.numpy import twins
from s2s.numpy.twins import Has, Of, Relation, Test
from s2s.numpy.views import Step
from s2s.primitives import functions as lax
from s2s.trace import Builder, Tracer, builder_in_force, tracer_of


class Hole(Var):
    """In place of an index of a step from an array to a part of it."""

    __slots__ = ()


@dataclass(frozen=True)
class Where:
    """Where something holds, and the indices of the part that is meant there."""

    test: Test
    indices: tuple[Any, ...] = ()


@functools.cache
def _hole(number: int, kind: ShapedArray) -> Hole:
    return Hole(kind)


def without_indices(relation: Relation, block: Builder) -> tuple[Relation, tuple[Any, ...]]:
    """A relation with holes in place of the indices that belong to a block, and these indices."""
    if relation is None:
        return None, ()
    indices: list[Any] = []

    def hole(atom: Atom) -> Hole:
        indices.append(atom.value if isinstance(atom, Literal) else tracer_of(block, atom))
        return _hole(len(indices), atom.aval)

    def freed(step: Step) -> Step:
        if not step.reads or step.builder is not block:
            return step
        return Step(step.primitive, tuple(map(hole, step.indices)), step.operand, block)

    return type(relation)(tuple(map(freed, relation.steps))), tuple(indices)


def with_indices(relation: Relation, indices: Sequence[Any]) -> Relation:
    """A relation with indices, which are values of the builder in force, in its holes."""
    builder = builder_in_force()
    if relation is None or builder is None:
        return relation
    given = iter(indices)

    def filled(step: Step) -> Step:
        if not any(isinstance(index, Hole) for index in step.indices):
            return step
        atoms = tuple(builder.atom(next(given)) for _ in step.indices)
        return Step(step.primitive, atoms, step.operand, builder)

    return type(relation)(tuple(map(filled, relation.steps)))


def holes(relation: Relation) -> Iterator[Hole]:
    """The holes of a relation, in order."""
    for step in relation.steps if isinstance(relation, (Of, Has)) else ():
        yield from (index for index in step.indices if isinstance(index, Hole))


def either(first: Where, second: Where) -> Where:
    """Where one of two things holds; where both do, they mean the same part."""
    test = twins.either(first.test, second.test)
    if first.test is False or second.test is True:
        return Where(test, second.indices)
    if not isinstance(second.test, Tracer):
        return Where(test, first.indices)
    pairs = zip(first.indices, second.indices, strict=True)
    return Where(test, tuple(lax.select_n(second.test, old, new) for old, new in pairs))
