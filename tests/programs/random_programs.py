"""Random programs of assignments, branches, loops, jumps, updates, views and aliases.

`programs()` is a Hypothesis strategy for the text of a function of a vector of 4 numbers, a matrix
of shape (3, 4) and a number. It returns a number; a loop ends after a few steps, and what grows is
damped, so that differences can be taken.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

import hypothesis.strategies as st


def programs() -> st.SearchStrategy[str]:
    return st.integers(0, 2**32 - 1).map(lambda seed: Program(Random(seed)).text)


@dataclass
class Known:
    """The variables that have a value at a place in the program."""

    numbers: list[str] = field(default_factory=lambda: ["s"])
    vectors: list[str] = field(default_factory=lambda: ["x"])
    matrices: list[str] = field(default_factory=lambda: ["a"])

    def inside(self) -> Known:
        return Known([*self.numbers], [*self.vectors], [*self.matrices])


class Program:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.count = 0
        known = Known(["s", "t"], ["x", "y"], ["a", "b"])
        body = ["t = 0.5", "y = 0.5 * x", "b = a.copy()"]
        body += self.block(known, depth=0, in_loop=False, size=self.between(3, 7))
        body.append(f"return {self.result(known)}")
        lines = ["import numpy as np", "", "", "def program(x, a, s):"]
        self.text = "\n".join([*lines, *[f"    {line}" for line in body], ""])

    # -- choices --------------------------------------------------------------------------------

    def between(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def one(self, *texts: str) -> str:
        return texts[self.between(0, len(texts) - 1)]

    def of(self, names: list[str]) -> str:
        return names[self.between(0, len(names) - 1)]

    def new(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    # -- expressions ----------------------------------------------------------------------------

    def result(self, known: Known) -> str:
        v, m, s = self.of(known.vectors), self.of(known.matrices), self.of(known.numbers)
        return f"np.sum({v} * x) + np.sum(np.sin({m})) + {s} * s"

    def number(self, known: Known) -> str:
        s, t = self.of(known.numbers), self.of(known.numbers)
        v, m = self.of(known.vectors), self.of(known.matrices)
        i, j = self.between(0, 3), self.between(0, 2)
        return self.one(
            *(s, f"0.5 * {s} + {t}", f"np.tanh({s} * {t})", f"{s} * 0.7 - 0.2", f"abs({s}) + 0.1"),
            *(f"{v}[{i}]", f"{v}[{i}] * {s}", f"{m}[{j}, {i}]", f"np.sum({v}) * 0.3"),
            *(f"max({s}, {t})", f"min({s}, 0.4)", f"({s} if {t} > 0.1 else {v}[{i}])"),
            *(f"np.max({v})", f"{v} @ {self.of(known.vectors)} * 0.2", "0.3"),
        )

    def vector(self, known: Known) -> str:
        v, w, m = self.of(known.vectors), self.of(known.vectors), self.of(known.matrices)
        s, j = self.of(known.numbers), self.between(0, 2)
        return self.one(
            *(f"{v} * 0.5", f"{v} - 0.3 * {w}", f"np.tanh({v} * {w})", f"{v} * {s} * 0.5"),
            *(f"{m}[{j}] + {v}", f"{m}.sum(axis=0) * 0.3", f"np.where({v} > 0.2, {w}, {s})"),
            *(f"{v}[::-1] * 1.0", f"{v}.copy()", f"{v}[[1, 0, 3, 3]]", f"np.maximum({v}, {w})"),
        )

    def matrix(self, known: Known) -> str:
        m, n, v = self.of(known.matrices), self.of(known.matrices), self.of(known.vectors)
        return self.one(f"{m} * {v} * 0.5", f"{m} - 0.2 * {n}", f"np.tanh({m})", f"{m}.copy()")

    def condition(self, known: Known) -> str:
        s, t, v = self.of(known.numbers), self.of(known.numbers), self.of(known.vectors)
        i = self.between(0, 3)
        return self.one(
            *(f"{s} > 0.21", f"{s} < {t} + 0.13", f"{v}[{i}] > 0.17", f"np.sum({v}) > 0.37"),
            *(f"{s} > 0.11 and {t} < 0.93", f"{s} < 0.07 or {v}[{i}] > {t}"),
            *(f"not {s} > 0.43", f"-0.41 < {s} < 0.77", f"np.any({v} > 0.61)"),
        )

    # -- statements -----------------------------------------------------------------------------

    def block(self, known: Known, depth: int, in_loop: bool, size: int) -> list[str]:
        lines: list[str] = []
        for _ in range(size):
            lines += self.statement(known, depth, in_loop)
        return lines

    def inner(self, known: Known, depth: int, in_loop: bool) -> list[str]:
        lines = self.block(known.inside(), depth + 1, in_loop, self.between(1, 3))
        return [f"    {line}" for line in lines]

    def statement(self, known: Known, depth: int, in_loop: bool) -> list[str]:
        kind = self.between(0, 11 if depth < 2 else 6)
        if kind in (0, 1):
            return self.assignment(known, depth)
        if kind in (2, 3, 4):
            return self.update(known)
        if kind == 5:
            return self.alias(known)
        if kind == 6:
            return self.jump(known, in_loop)
        if kind in (7, 8):
            return self.branch(known, depth, in_loop)
        if kind in (9, 10):
            return self.for_loop(known, depth)
        return self.while_loop(known, depth)

    def assignment(self, known: Known, depth: int) -> list[str]:
        """To a new variable, or to one that there is."""
        old = self.between(0, 2) > 0
        kind = self.between(0, 3)
        if kind < 2:
            value = self.number(known)
            name = self.of(known.numbers) if old else self.new("t")
            known.numbers += [] if name in known.numbers else [name]
        elif kind == 2:
            value = self.vector(known)
            name = self.of(known.vectors) if old else self.new("v")
            known.vectors += [] if name in known.vectors else [name]
        else:
            value = self.matrix(known)
            name = self.of(known.matrices) if old else self.new("m")
            known.matrices += [] if name in known.matrices else [name]
        return [f"{name} = {value}"]

    def update(self, known: Known) -> list[str]:
        v, w, m = self.of(known.vectors), self.of(known.vectors), self.of(known.matrices)
        s, n = self.of(known.numbers), self.number(known)
        put = self.one("=", "+=", "-=", "*=")
        i, j = self.between(0, 3), self.between(0, 2)
        to, source = [("1:", ":-1"), (":-1", "1:"), ("::2", "1::2"), ("1:3", "2:"), ("-2:", ":2")][
            self.between(0, 4)
        ]
        return [
            self.one(
                f"{s} {self.one('+=', '-=', '*=')} {n} * 0.5",
                f"{v}[{i}] {put} {n} * 0.5",
                f"{v}[{to}] {put} {w}[{source}] * 0.5",
                f"{v} {self.one('+=', '-=')} {w} * 0.5",
                f"{v} *= 0.8",
                f"{v}[{w} > 0.27] = {n}",
                f"{m}[{j}] {put} {w} * 0.5",
                f"{m}[{j}, {i}] {put} {n} * 0.5",
                f"{m}[:, {i}] {put} {n} * 0.5",
                f"{m} *= 0.9",
                f"{v}[[0, 2]] {put} {w}[1:3] * 0.5",
                f"{v}[0], {v}[2] = {v}[2], {v}[0]",
                f"{m}[[0, 1]] = {m}[[1, 0]]",
            )
        ]

    def alias(self, known: Known) -> list[str]:
        v, m = self.of(known.vectors), self.of(known.matrices)
        name = self.new("v")
        source = self.one(v, f"{v}[::-1]", f"{m}[{self.between(0, 2)}]", f"{v}[:]", f"{m}.T[:, 1]")
        known.vectors.append(name)
        return [f"{name} = {source}"]

    def jump(self, known: Known, in_loop: bool) -> list[str]:
        kind = self.between(0, 2) if in_loop else 0
        line = ["return " + self.result(known), "break", "continue"][kind]
        return [f"if {self.condition(known)}:", f"    {line}"]

    def branch(self, known: Known, depth: int, in_loop: bool) -> list[str]:
        lines = [f"if {self.condition(known)}:", *self.inner(known, depth, in_loop)]
        if self.between(0, 3) == 0:
            lines += [f"elif {self.condition(known)}:", *self.inner(known, depth, in_loop)]
        if self.between(0, 1):
            lines += ["else:", *self.inner(known, depth, in_loop)]
        return lines

    def for_loop(self, known: Known, depth: int) -> list[str]:
        inside = known.inside()
        kind = self.between(0, 4)
        i, p, q = self.new("i"), self.new("p"), self.new("q")
        v, w, m = self.of(known.vectors), self.of(known.vectors), self.of(known.matrices)
        first: list[str] = []
        if kind == 0:
            header = f"for {i} in range({self.one('2', '3', '6', '1, 4', '3, -1, -1', '0, 4, 2')}):"
            first = self.one("", f"{v}[{i} % 4] += 0.1", f"t = t * 0.9 + {i} * 0.05").splitlines()
        elif kind == 1:
            header = f"for {p} in {m}:"
            inside.vectors.append(p)
        elif kind == 2:
            header = f"for {p}, {q} in zip({v}.copy(), {w} * 1.0):"
            inside.numbers += [p, q]
        elif kind == 3:
            header = f"for {i}, {p} in enumerate({v} * 1.0):"
            inside.numbers.append(p)
            first = self.one("", f"{w}[{i}] = {p} * 0.5").splitlines()
        else:
            header = f"for {p} in reversed({v} * 1.0):"
            inside.numbers.append(p)
        lines = [header, *[f"    {line}" for line in first], *self.inner(inside, depth, True)]
        if self.between(0, 4) == 0:
            lines += ["else:", *self.inner(known, depth, False)]
        return lines

    def while_loop(self, known: Known, depth: int) -> list[str]:
        n = self.new("n")
        bound = self.between(2, 5)
        test = self.one(f"{n} < {bound}", f"{n} < {bound} and {self.condition(known)}")
        body = [f"    {n} += 1", *self.inner(known, depth, True)]
        return [f"{n} = 0", f"while {test}:", *body]
