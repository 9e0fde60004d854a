"""Jaxprs as text, in JAX's format: see docs/jaxpr.md for the grammar."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any, cast

from s2s.ir.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from s2s.ir.layout import Block, Break, Doc, Group, Nest, Words, join, render
from s2s.ir.spelling import spell_literal, spell_type, spell_value

SHARED_FROM = 11
"""A jaxpr in a parameter with at least so many equations is printed in front, under a name."""


def print_jaxpr(jaxpr: Jaxpr) -> str:
    """`{ lambda a:f64[3]; b:f64[3]. let c:f64[3] = mul a b in (c,) }`

    Jaxprs in parameters that are long or used more than once are defined in front:
    `let name = { lambda ... } in { lambda ... }`.
    """
    printer = _Printer(jaxpr)
    docs: list[Doc] = []
    for shared, name in printer.shared.items():
        docs += [f"let {name} = ", printer.definition(shared, {}), " in", Break()]
    docs.append(printer.definition(jaxpr, dict.fromkeys(_unused(jaxpr), "_")))
    return render(docs)


def print_equation(jaxpr: Jaxpr, eqn: JaxprEqn) -> str:
    """An equation of a jaxpr, which need not be well formed: unused results have names too."""
    printer = _Printer(jaxpr)
    printer.binders([*jaxpr.constvars, *jaxpr.invars])
    texts = {other: printer.equation(other) for other in jaxpr.eqns}
    return render(texts[eqn])


class _Printer:
    """The variables' names in the jaxpr at hand. All jaxprs share one supply of names."""

    def __init__(self, jaxpr: Jaxpr) -> None:
        self.names: dict[Var, str] = {}
        self.shared = _shared_jaxprs(jaxpr)
        taken = set(self.shared.values())
        self.fresh = (name for name in map(_letters, itertools.count()) if name not in taken)

    def definition(self, jaxpr: Jaxpr, names: dict[Var, str]) -> Doc:
        """`{ lambda constvars; invars. let eqns in (outvars) }`, with some variables named."""
        outside, self.names = self.names, names
        constvars = self.binders(jaxpr.constvars)
        invars = self.binders(jaxpr.invars)
        eqns = join(Break("; "), [self.equation(eqn) for eqn in jaxpr.eqns])
        results = [self.atom(atom) for atom in jaxpr.outvars]
        commas = [*(f"{result}," for result in results[:-1]), *results[-1:]]
        end = ",)" if len(results) == 1 else ")"
        self.names = outside
        inside: Doc = [
            "{ lambda ",
            constvars,
            "; ",
            invars,
            ". let",
            Nest(2, [Break(), eqns]),
            Break(),
            "in (",
            Words(commas),
            end,
        ]
        return Group([Nest(2, inside), " }"])

    def equation(self, eqn: JaxprEqn) -> Doc:
        """`outvars = primitive[parameters] atoms`"""
        primitive = eqn.primitive
        parameters = primitive.printed_parameters()
        names: dict[Var, str] = {}
        if primitive.is_call:
            callee = _jaxprs_in(parameters["jaxpr"])[0]
            if callee not in self.shared:
                self.suggest(names, callee.invars, eqn.invars)
                self.suggest(names, callee.outvars, eqn.outvars)
        left = self.binders(eqn.outvars)
        equals = " = " if eqn.outvars else ""
        if not parameters:
            return [left, f"{equals}{primitive.name} ", Words([*map(self.atom, eqn.invars)])]
        pairs = [self.parameter(name, value, names) for name, value in parameters.items()]
        operands = Words([*map(self.atom, eqn.invars)])
        return [left, equals + primitive.name, Block("[", pairs, "]"), " ", operands]

    def parameter(self, name: str, value: Any, names: dict[Var, str]) -> Doc:
        jaxprs = _jaxprs_in(value)
        if not jaxprs:
            return f"{name}={spell_value(value)}"
        docs = [self.shared.get(jaxpr) or self.definition(jaxpr, dict(names)) for jaxpr in jaxprs]
        if not isinstance(value, tuple):
            return [f"{name}=", docs[0]]
        return [f"{name}=", Block("(", docs, ")")]

    def binders(self, variables: Sequence[Var]) -> Words:
        return Words([f"{self.variable(var)}:{spell_type(var.aval)}" for var in variables])

    def atom(self, atom: Atom) -> str:
        return spell_literal(atom) if isinstance(atom, Literal) else self.variable(atom)

    def variable(self, var: Var) -> str:
        name = self.names.get(var)
        if name is None:
            name = self.names[var] = next(self.fresh)
        return name

    def suggest(self, names: dict[Var, str], atoms: Sequence[Atom], like: Sequence[Atom]) -> None:
        """Name variables of a callee as the caller names what stands for them."""
        given: set[Var] = set()
        for atom, other in zip(atoms, like, strict=True):
            if isinstance(atom, Literal) or isinstance(other, Literal):
                continue
            if atom not in names and other not in given and self.variable(other) != "_":
                given.add(other)
                names[atom] = self.variable(other)


def _unused(jaxpr: Jaxpr) -> list[Var]:
    """The results that neither a later equation nor the jaxpr's results read."""
    used = set(jaxpr.outvars)
    unused: list[Var] = []
    for eqn in reversed(jaxpr.eqns):
        unused.extend(var for var in eqn.outvars if var not in used)
        used.update(eqn.invars)
    return unused


def _jaxprs_in(value: Any) -> list[Jaxpr]:
    """The jaxprs that a parameter is or is a tuple of; none if it is anything else."""
    if isinstance(value, (Jaxpr, ClosedJaxpr)):
        values: tuple[Any, ...] = (value,)
    elif type(value) is tuple:
        values = cast("tuple[Any, ...]", value)
    else:
        return []
    if not all(isinstance(item, (Jaxpr, ClosedJaxpr)) for item in values):
        return []
    return [item.jaxpr if isinstance(item, ClosedJaxpr) else item for item in values]


def _shared_jaxprs(top: Jaxpr) -> dict[Jaxpr, str]:
    """The jaxprs that are printed in front, outer ones first, and their names."""
    uses: dict[Jaxpr, int] = {}
    wanted: dict[Jaxpr, str] = {}
    level = [top]
    while level:
        inner: list[Jaxpr] = []
        for jaxpr in level:
            uses[jaxpr] = uses.get(jaxpr, 0) + 1
            if uses[jaxpr] > 2:
                continue  # All that is inside is known to be used more than once.
            for eqn in jaxpr.eqns:
                parameters = eqn.primitive.printed_parameters()
                values = eqn.primitive.jaxprs or parameters.values()
                found = [jaxpr for value in values for jaxpr in _jaxprs_in(value)]
                inner.extend(found)
                if eqn.primitive.is_call:
                    wanted.update((callee, parameters["name"]) for callee in found)
        level = inner
    shared: dict[Jaxpr, str] = {}
    numbers: dict[str, int] = {}
    taken: set[str] = set()
    for jaxpr, count in uses.items():
        if count > 1 or (jaxpr is not top and len(jaxpr.eqns) >= SHARED_FROM):
            name = re.sub(r"\W", "_", wanted.get(jaxpr, "jaxpr").strip("<>"))
            number = numbers.get(name, 0)
            while (numbered := f"{name}{number}" if number else name) in taken:
                number += 1
            numbers[name] = number + 1
            taken.add(numbered)
            shared[jaxpr] = numbered
    return shared


def _letters(index: int) -> str:
    """a, b, ..., z, ba, bb, ... as JAX names its variables."""
    text = ""
    while not text or index:
        index, letter = divmod(index, 26)
        text = chr(ord("a") + letter) + text
    return text
