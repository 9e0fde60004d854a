"""docs/jaxpr.md: its examples are jaxprs, and its list of primitives is complete and current."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from s2s.ir.assumptions import Assumptions, assuming
from s2s.ir.jaxpr import ClosedJaxpr, ShapedArray
from s2s.language import all_primitives, parse_jaxpr
from s2s.passes.bound_dimensions import counts_of
from s2s.primitive import jaxpr_with_sizes
from s2s.trace import evaluate
from scripts import jaxpr_reference

TEXT = jaxpr_reference.DOCUMENT.read_text(encoding="utf-8")
BLOCKS: list[str] = re.findall(r"```jaxpr\n(.*?)\n```", TEXT, re.DOTALL)
JAXPRS = [text for block in BLOCKS for text in re.split(r"(?<! in)\n(?=\{ lambda|let )", block)]


def test_the_list_of_primitives_is_current() -> None:
    assert jaxpr_reference.updated(TEXT) == TEXT, "run scripts/jaxpr_reference.py"


def test_every_primitive_has_an_example() -> None:
    used = set(re.findall(r" = ([\w-]+)", "\n".join(JAXPRS)))
    used.update(re.findall(r"^ +([a-z]+)\[", "\n".join(JAXPRS), re.MULTILINE))
    own = {name for name, cls in all_primitives().items() if cls.__module__.startswith("s2s.")}
    assert used >= own


@pytest.mark.parametrize("text", JAXPRS)
def test_examples_are_jaxprs_as_they_are_printed(text: str) -> None:
    lines = [line.rstrip() for line in str(parse_jaxpr(text)).splitlines()]
    assert lines == text.splitlines()


@pytest.mark.parametrize("text", [text for text in JAXPRS if "raise[" not in text])
def test_examples_compute_what_their_types_say(text: str) -> None:
    jaxpr = parse_jaxpr(text)
    if jaxpr.constvars or "custom_lin" in text:
        pytest.skip("has constants, or is there only to be transposed")
    sizes = {"n": 3, "m": 4, "k": 5}
    sizes |= {name: 3 for name in counts_of(jaxpr.eqns)}  # of as many ones
    with assuming(Assumptions()):
        closed = jaxpr_with_sizes(ClosedJaxpr(jaxpr), sizes)
    with np.errstate(all="ignore"):
        results = evaluate(closed, *map(_an_array, closed.in_avals))
    for result, aval in zip(results, closed.out_avals, strict=True):
        assert np.asarray(result).dtype == aval.dtype
        assert np.shape(result) == aval.shape


def _an_array(aval: ShapedArray) -> Any:
    """Ones, and identity matrices, which have an inverse and all decompositions."""
    ones = np.ones(aval.shape, aval.dtype)[()]
    is_square = aval.ndim > 1 and aval.shape[-1] == aval.shape[-2]
    return ones * np.eye(*aval.shape[-2:], dtype=aval.dtype) if is_square else ones


def test_the_program_prints_the_jaxpr_below_it(tmp_path: Path) -> None:
    ((program, expected),) = re.findall(
        r"```python\n(.*?)\n```\n\n```jaxpr\n(.*?)\n```", TEXT, re.DOTALL
    )
    file = tmp_path / "program.py"
    file.write_text(program, encoding="utf-8")
    found = subprocess.run(
        [sys.executable, file],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout == expected + "\n"
