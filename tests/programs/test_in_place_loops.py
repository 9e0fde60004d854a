"""Loops that fill arrays do work in proportion to their steps, as do their derivatives."""

from __future__ import annotations

import re
import time
from pathlib import Path

import numpy as np
import pytest

from tests.programs import checks

PROGRAMS = {
    p.name: p for p in checks.programs(Path(checks.__file__).with_name("in_place_loops.py"))
}
BRANCHES = ("chosen", "corrected", "until_small")
"""A batch of these takes both branches, and chooses between whole arrays."""
WHOLE_ARRAY = re.compile(r"\b\w+\.copy\(\)|np\.(zeros|ones|full|empty)\((?!\(\))|np\.where\(")
"""A new array in a step of a loop, of which the step changes an element. A copied row is none."""


def statements_in_loops(text: str) -> list[str]:
    """The lines in the innermost loops, and in loops around these that come after them."""
    found: list[str] = []
    loops: list[int] = []
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        while line.strip() and loops and indent <= loops[-1]:
            loops.pop()
        if loops:
            found.append(line.strip())
        if re.match(r"\s*(for|while) .*:$", line):
            loops.append(indent)
    return found


def texts_of(program: checks.Program, scratch: Path) -> dict[str, str]:
    """The modules of the function and of its derivatives, and of those for a batch."""
    names = ",".join(program.parameters)
    file, name, argnums = program.file.name, program.name, program.argnums
    commands = {
        "trace": ["trace", program.target],
        "grad": ["grad", program.target, "--wrt", names],
        "jvp": ["jvp", program.target, "--wrt", names],
        "second": ["compile", file, f"vjp(grad({name}, {argnums}), {argnums})"],
    }
    if name not in BRANCHES:
        commands["vmap"] = ["compile", file, f"vmap({name})"]
        commands["gradients"] = ["compile", file, f"vmap(grad({name}, {argnums}))"]
    found: dict[str, str] = {}
    for kind, command in commands.items():
        target = scratch / f"{name}_{kind}.py"
        checks.generate(program, target, *command, "--no-verify")
        found[kind] = target.read_text(encoding="utf-8")
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_step_makes_a_whole_array(name: str, tmp_path: Path) -> None:
    for kind, text in texts_of(PROGRAMS[name], tmp_path).items():
        lines = statements_in_loops(text)
        assert lines or "for " not in text
        made = [line for line in lines if WHOLE_ARRAY.search(line) and "_steps = " not in line]
        assert made == [], f"{kind}:\n{text}"


@pytest.mark.parametrize("name", ["recurrence", "corrected"])
def test_four_times_the_steps_take_about_four_times_as_long(name: str, tmp_path: Path) -> None:
    """With a copy in each step it would be sixteen times."""
    program = PROGRAMS[name]
    command = ["grad", program.target, "--wrt", ",".join(program.parameters)]
    gradient = checks.generate(program, tmp_path / "gradient.py", *command)

    def seconds(steps: int) -> float:
        x = np.linspace(0.5, 1.0, steps)
        taken: list[float] = []
        for _ in range(5):
            start = time.thread_time()
            gradient(x, 0.5)
            taken.append(time.thread_time() - start)
        return min(taken)

    assert seconds(24_000) < 9.0 * seconds(6_000)
