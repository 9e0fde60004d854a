"""Tidying of primitives that hold jaxprs: fewer operands, carried values and results.

What is the same in each step is no carried value; a number stands in the body itself; an array that
repeats one number is repeated inside, where it folds into what uses it; an equation of a derivative
that does not change from step to step is computed once, before the loop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from s2s.control.bodies import explicit_consts
from s2s.control.higher_order import per_jaxpr
from s2s.ir.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from s2s.passes.bound_dimensions import reads_of
from s2s.primitive import Producer, Value
from s2s.primitives.core import BroadcastInDim, broadcast_in_dim
from s2s.primitives.families import AddAny
from s2s.primitives.indexing import ScatterAdd
from s2s.primitives.layout import Pad
from s2s.primitives.structural import defined_by, is_number
from s2s.trace import Tracer, aval, copy_equation, make, walk

Source = Callable[[Sequence[Value]], Value]
"""Gives the value of an input of the old body, from the inputs of the new one."""


class Operands:
    """The operands of one kind of a new body. `offset` is the position of the first input."""

    def __init__(self, producer: Producer) -> None:
        self.producer = producer
        self.offset = 0
        self.values: list[Value] = []
        self.variables: list[Var] = []
        self._sources: dict[object, Source] = {}

    def append(self, value: Value, like: Var) -> Source:
        """An input like a variable of the old body, for `value` to start with."""
        position = len(self.values)
        self.values.append(value)
        self.variables.append(Var(like.aval, like.name))
        return lambda inputs: inputs[self.offset + position]

    def shared(self, value: Value, like: Var) -> Source:
        """The same input each time for one value."""
        key = identity(value)
        if key not in self._sources:
            self._sources[key] = self.append(value, like)
        return self._sources[key]

    def constant(self, value: Value, like: Var) -> Source:
        """Where an input of the old body that does not change comes from: inside, if it can."""
        if is_number(value) and not like.aval.shape:
            return lambda _: value
        repeated = defined_by(value, BroadcastInDim, self.producer)
        if repeated is not None and not repeated[0].broadcast_dimensions:
            number = self.constant(repeated[1][0], Var(aval(repeated[1][0])))
            shape = like.aval.shape
            return lambda inputs: broadcast_in_dim(number(inputs), shape, ())
        called = value.variable.name if isinstance(value, Tracer) else None
        return self.shared(value, Var(like.aval, like.name or called))


def identity(value: Value) -> object:
    """Equal for operands that are one value."""
    if isinstance(value, Tracer):
        return value.variable
    return value.key() if isinstance(value, Literal) else id(value)


def rebuilt(
    body: ClosedJaxpr,
    variables: Sequence[Var],
    sources: dict[Var, Source],
    outputs: Sequence[int],
) -> ClosedJaxpr:
    """A body with new inputs, like `variables`.

    `sources` gives the old inputs and constants, and the results of equations that are computed
    outside now. `outputs` are the positions of the results that stay.
    """

    def fun(*inputs: Value) -> list[Value]:
        def step(eqn: JaxprEqn, operands: Sequence[Value]) -> Sequence[Value]:
            if eqn.outvars and eqn.outvars[0] in sources:
                return [sources[var](inputs) for var in eqn.outvars]
            return copy_equation(eqn, operands)

        jaxpr = body.jaxpr
        open_body, _ = explicit_consts(body)
        given = [sources[var](inputs) for var in (*jaxpr.constvars, *jaxpr.invars)]
        results = walk(open_body, given, step)
        return [results[i] for i in outputs]

    return make(fun, [var.aval for var in variables], [var.name for var in variables])


def hoisted(body: ClosedJaxpr, constants: dict[Var, Value]) -> dict[Var, Value]:
    """The derivative's equations in a body that do not change from step to step, computed now.

    `constants` has the inputs that do not change. Returns the values that the rest of the body
    reads.
    """
    values: dict[Var, Value] = dict(constants)
    moved: list[JaxprEqn] = []
    read: set[Any] = set(body.jaxpr.outvars)
    reads = reads_of(body.eqns)
    for eqn in body.eqns:
        operands = reads(eqn)
        fixed = operands and all(atom in values for atom in operands)
        if fixed and eqn.phase != "primal" and not eqn.primitive.has_effect:
            given = [a if isinstance(a, Literal) else values[a] for a in eqn.invars]
            values.update(zip(eqn.outvars, copy_equation(eqn, given), strict=True))
            moved.append(eqn)
        else:
            read.update(operands)
    return {
        var: values[var] for eqn in moved if not read.isdisjoint(eqn.outvars) for var in eqn.outvars
    }


@per_jaxpr
def with_sums_placed(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The same jaxpr, in which what is added to an input is added where it is computed.

    The terms of a sum of cotangents then stand under the line that they come from, and the sum has
    the name alone. A term that enters the body is added where the body reads it first; terms that
    are zero but for a part are added one by one, each to its part of the array. The same object if
    all that is so already.
    """
    jaxpr = closed.jaxpr
    inputs = set(jaxpr.invars)
    producers = {var: eqn for eqn in jaxpr.eqns for var in eqn.outvars}
    places = {id(eqn): place for place, eqn in enumerate(jaxpr.eqns)}
    readers: dict[Atom, JaxprEqn] = {}
    uses = Counter(atom for eqn in jaxpr.eqns for atom in eqn.invars)
    uses.update(jaxpr.outvars)
    in_front: dict[int, list[JaxprEqn]] = {}
    behind: dict[int, list[JaxprEqn]] = {}
    moved: set[int] = set()
    for eqn in jaxpr.eqns:
        if not isinstance(eqn.primitive, AddAny) or eqn.invars[0] not in inputs:
            for atom in eqn.invars:
                readers.setdefault(atom, eqn)
            continue
        total, term = eqn.invars
        if isinstance(term, Literal) or uses[total] > 1:
            continue
        made = producers.get(term)
        if made is None or (made.primitive.jaxprs and term in readers):
            # It comes from elsewhere, and belongs to the line that reads it.
            reader = readers.get(term)
            if reader is not None:
                new = JaxprEqn(eqn.primitive, eqn.invars, eqn.outvars, reader.source, eqn.phase)
                in_front.setdefault(id(reader), []).append(new)
                moved.add(id(eqn))
            continue
        sums, terms = _terms(term, producers, uses)
        computed = {var: producers[var] for var in terms if var in producers}
        if len(computed) < len(terms):
            continue
        terms.sort(key=lambda var: places[id(computed[var])])
        (end,) = eqn.outvars
        for group in _on_one_line(terms, computed):
            where = computed[group[-1]]
            source = where.source
            added = behind.setdefault(id(where), [])
            term = group[0]
            for other in group[1:]:
                both = Var(end.aval)
                added.append(JaxprEqn(eqn.primitive, [term, other], [both], source, eqn.phase))
                term = both
            after = end if group[-1] is terms[-1] else Var(end.aval, end.name)
            added.append(JaxprEqn(eqn.primitive, [total, term], [after], source, eqn.phase))
            for var in group:
                var.name = None
            total = after
        moved.update(map(id, (eqn, *sums)))
    eqns: list[JaxprEqn] = []
    for eqn in jaxpr.eqns:
        eqns.extend(in_front.get(id(eqn), ()))
        if id(eqn) not in moved:
            eqns.append(eqn)
        eqns.extend(behind.get(id(eqn), ()))
    alike = zip(eqns, jaxpr.eqns, strict=True)
    if all(a is b or (a.outvars == b.outvars and a.source == b.source) for a, b in alike):
        return closed
    return ClosedJaxpr(Jaxpr(jaxpr.constvars, jaxpr.invars, eqns, jaxpr.outvars), closed.consts)


def _terms(
    var: Var, producers: Mapping[Var, JaxprEqn], uses: Mapping[Atom, int]
) -> tuple[list[JaxprEqn], list[Var]]:
    """The sums that a term is, of which terms come from several lines or are zero but for some
    elements, and their terms."""
    sums: list[JaxprEqn] = []
    terms: list[Var] = []
    pending: list[Atom] = [var]
    while pending:
        atom = pending.pop()
        eqn = producers.get(atom) if isinstance(atom, Var) else None
        if eqn is not None and isinstance(eqn.primitive, AddAny) and uses[atom] == 1:
            sums.append(eqn)
            pending += eqn.invars
        elif isinstance(atom, Literal):
            return [], [var]
        else:
            terms.append(atom)
    made = [producers[term] for term in terms if term in producers]
    if any(map(_is_part, made)) or len({eqn.source for eqn in made}) > 1:
        return sums, terms
    return [], [var]


def _is_part(eqn: JaxprEqn) -> bool:
    """Whether the result is zero but for some elements."""
    return isinstance(eqn.primitive, (Pad, ScatterAdd))


def _on_one_line(terms: Sequence[Var], computed: Mapping[Var, JaxprEqn]) -> list[list[Var]]:
    """The terms that are added at once: whole arrays or numbers of one line."""
    groups: list[list[Var]] = []
    for var in terms:
        eqn = computed[var]
        last = computed[groups[-1][-1]] if groups else None
        if last is None or _is_part(last) or _is_part(eqn) or last.source != eqn.source:
            groups.append([])
        groups[-1].append(var)
    return groups


def repeated(value: Value, length: Any) -> Value:
    """A value that is the same in each step, stacked."""
    shape = aval(value).shape
    return broadcast_in_dim(value, (length, *shape), range(1, len(shape) + 1))
