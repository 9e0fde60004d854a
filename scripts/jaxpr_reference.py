"""Writes the list of primitives in docs/jaxpr.md anew, from the primitives and tests/samples.py.

python scripts/jaxpr_reference.py
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path[:0] = [str(ROOT), str(ROOT / "codegen")]

from s2s.ir.assumptions import Assumptions, assuming  # noqa: E402
from s2s.ir.dims import dimension  # noqa: E402
from s2s.ir.jaxpr import Jaxpr, JaxprEqn, Literal, ShapedArray, Var  # noqa: E402
from s2s.language import all_primitives  # noqa: E402
from s2s.primitive import Primitive  # noqa: E402
from s2s.primitives.effects import Print, Raise  # noqa: E402
from s2s.trace import make  # noqa: E402
from tests.samples import SAMPLES, Sample, types  # noqa: E402

DOCUMENT = ROOT / "docs" / "jaxpr.md"
BEGIN = "<!-- Written by scripts/jaxpr_reference.py, from here -->\n"
END = "<!-- to here. -->\n"
COLUMN = 24
"""Where descriptions begin, behind the names."""
SIZES = {3: dimension("n"), 4: dimension("m"), 5: dimension("k")}

HEADINGS = {
    "arithmetic": "Arithmetic",
    "powers": "Powers, exponentials and logarithms",
    "trigonometric": "Circular and hyperbolic functions",
    "special": "Special functions",
    "logic": "Comparison, logic and choice",
    "conversion": "Element types",
    "identity": "The identity",
    "families": "Sums of derivatives",
    "creation": "Values made from sizes",
    "counts": "Sizes made from values",
    "spacing": "Evenly spaced numbers",
    "core": "Broadcasting and sums, axes and shapes",
    "layout": "Slices and padding",
    "updates": "Assignments to slices",
    "joining": "Joining",
    "reductions": "Reductions",
    "cumulative": "Running reductions",
    "contractions": "Products of matrices",
    "indexing": "Indexing by arrays",
    "dynamic": "Slices at computed places",
}
"""The modules of `s2s.primitives` in the order of the document. Others follow, each under the first
words of its description."""

EFFECTS: dict[str, Primitive] = {
    "print": Print(("x is {0:.3f}",)),
    "raise": Raise("ValueError", ("{0} is negative",)),
}
"""Primitives without results, which have no samples."""


def reference() -> str:
    """A section for each family: what its primitives mean, and an example of each."""
    by_family: dict[str, list[type[Primitive]]] = {family: [] for family in HEADINGS}
    for _, cls in sorted(all_primitives().items(), key=lambda item: item[1].__module__):
        package, family = cls.__module__.rsplit(".", 1)
        if package == "s2s.primitives":
            by_family.setdefault(family, []).append(cls)
    sections: list[str] = []
    for family, classes in by_family.items():
        heading = HEADINGS.get(family) or _first_words(classes[0].__module__)
        meanings = "\n".join(map(_meaning, classes))
        examples = _stripped("\n".join(str(example(cls.name)) for cls in classes))
        sections.append(f"### {heading}\n\n```text\n{meanings}\n```\n\n```jaxpr\n{examples}\n```\n")
    return "\n".join(sections)


def _first_words(module: str) -> str:
    return re.split("[.:;]", sys.modules[module].__doc__ or module)[0]


def _meaning(cls: type[Primitive]) -> str:
    """The name, and the first paragraph of the class's description."""
    paragraph = inspect.cleandoc(cls.__doc__ or "").split("\n\n")[0]
    name = f"{cls.name:<{COLUMN - 2}}  "
    return textwrap.fill(paragraph, 100, initial_indent=name, subsequent_indent=" " * COLUMN)


def example(name: str) -> Jaxpr:
    """The first sample of a primitive, with named sizes, and nothing in it but that primitive."""
    if name in EFFECTS:
        var = Var(ShapedArray((), np.dtype(np.float64)))
        return Jaxpr([], [var], [JaxprEqn(EFFECTS[name], [var], [])], [])
    sample = next(sample for sample in SAMPLES if sample.primitive == name)
    eqn = next(eqn for eqn in _traced(sample).eqns if eqn.primitive.name == name)
    variables = list(dict.fromkeys(atom for atom in eqn.invars if not isinstance(atom, Literal)))
    renamed = {var: Var(var.aval) for var in variables}
    operands = [atom if isinstance(atom, Literal) else renamed[atom] for atom in eqn.invars]
    alone = JaxprEqn(eqn.primitive, operands, eqn.outvars)
    return Jaxpr([], list(renamed.values()), [alone], eqn.outvars)


def _traced(sample: Sample) -> Jaxpr:
    with assuming(Assumptions()):
        return make(lambda *args: [sample.fun(*args)], types(sample, SIZES)).jaxpr


def _stripped(text: str) -> str:
    """Without spaces at the ends of lines, which an equation without operands has."""
    return re.sub(" +$", "", text, flags=re.MULTILINE)


def updated(document: str) -> str:
    """The document with the list of primitives as it is now."""
    before, rest = document.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{reference()}\n{END}{after}"


if __name__ == "__main__":
    DOCUMENT.write_text(updated(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
