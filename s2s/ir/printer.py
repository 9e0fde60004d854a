"""Jaxprs as text, in JAX's format."""

from __future__ import annotations

from s2s.ir.jaxpr import Atom, Jaxpr, Literal, Var


def print_jaxpr(jaxpr: Jaxpr) -> str:
    """`{ lambda a:f64[3]; b:f64[3]. let c:f64[3] = mul a b in (c,) }`"""
    names: dict[Var, str] = {}

    def define(var: Var) -> str:
        names[var] = _letters(len(names))
        return f"{names[var]}:{var.aval}"

    def use(atom: Atom) -> str:
        return f"{atom.value}:{atom.aval}" if isinstance(atom, Literal) else names[atom]

    consts = " ".join(define(var) for var in jaxpr.constvars)
    params = " ".join(define(var) for var in jaxpr.invars)
    lines: list[str] = []
    for eqn in jaxpr.eqns:
        operands = " ".join(use(atom) for atom in eqn.invars)
        results = " ".join(define(var) for var in eqn.outvars)
        lines.append(f"    {results} = {eqn.primitive} {operands}".rstrip())
    results = ", ".join(use(atom) for atom in jaxpr.outvars)
    results += "," if len(jaxpr.outvars) == 1 else ""
    body = "\n".join(lines)
    head = f"{{ lambda {consts}; {params}. let" if consts else f"{{ lambda ; {params}. let"
    return f"{head}\n{body}\n  in ({results}) }}"


def _letters(index: int) -> str:
    """a, b, ..., z, ba, bb, ... as JAX names its variables."""
    text = ""
    while True:
        text = chr(ord("a") + index % 26) + text
        index //= 26
        if index == 0:
            return text
