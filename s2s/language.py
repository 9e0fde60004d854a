"""Reading the jaxpr language: the way back from `print(jaxpr)`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping

import s2s.control
import s2s.primitives
from s2s.ir import parser
from s2s.ir.assumptions import Assumptions, assuming
from s2s.ir.check import check
from s2s.ir.jaxpr import Jaxpr
from s2s.primitive import Primitive, registry


def all_primitives() -> Mapping[str, type[Primitive]]:
    """Every primitive by its name: those of s2s, and those that the user has defined."""
    for package in (s2s.primitives, s2s.control):
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    return registry


def parse_jaxpr(text: str) -> Jaxpr:
    """The jaxpr that a text stands for; docs/jaxpr.md has the grammar.

        parse_jaxpr("{ lambda ; a:f64[3]. let b:f64[3] = sin a in (b,) }")

    `parse_jaxpr(str(jaxpr))` is `jaxpr` up to what the text does not show: the values of constvars,
    the user's names, source lines, and which scalars are Python's.

    Raises:
        JaxprSyntaxError: the text is no jaxpr. It has a `line` and a `column`, and says what was
            expected there.
        JaxprTypeError: an equation's results do not have the types that its primitive gives.
    """
    jaxpr = parser.parse_jaxpr(text, all_primitives())
    with assuming(Assumptions()):  # What sizes must be at least is no part of the text.
        return check(jaxpr)
