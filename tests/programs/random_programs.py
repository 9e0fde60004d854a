"""Random programs of assignments, branches, loops, jumps, updates, views, aliases and calls.

`program_of` gives the text of a module whose last function, `program`, takes a vector of
4 numbers, a matrix of shape (3, 4), a number and a whole number. It returns a number; a loop ends
after a few steps, and what grows is damped, so that differences can be taken.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.programs.random_expressions import Expressions, Known

DEPTH = 3
"""Blocks in blocks, at most."""


def program_of(seed: int) -> str:
    return Program(Random(seed)).text


class Program(Expressions):
    """One program; `text` is its module."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        functions: list[str] = []
        maps: list[str] = []
        helpers: list[str] = []
        for _ in range(self.between(0, 2)):
            is_map = bool(self.between(0, 1))
            name, lines = self.helper(is_map)
            (maps if is_map else functions).append(name)
            helpers += [*lines, "", ""]
        known = Known(
            ["s", "t"], ["k", "c"], ["f"], ["x", "y"], ["a", "b"], [], [], functions, maps
        )
        body = ["t, c, f = 0.5, 0, False", "y = 0.5 * x", "b = a.copy()"]
        body += self.block(known, depth=0, in_loop=False, size=self.between(3, 6))
        body.append(f"return {self.result(known)}")
        lines = ["import numpy as np", "", "", *helpers, "def program(x, a, s, k):"]
        self.text = "\n".join([*lines, *_indented(body), ""])

    def helper(self, is_map: bool) -> tuple[str, list[str]]:
        """A function of a vector and a number, which may return early and change its vector."""
        name = self.new("g" if is_map else "h")
        known = Known(["s"], [], [], ["x"], [], [])
        known.counts, known.matrices = ["2"], ["np.ones((3, 4))"]

        def returned() -> list[str]:
            value = self.vector(known) if is_map else self.number(known)
            return [f"return {value}"]

        body = [f"y = x * {self.one('0.5', 's', '1.0')}", "t = s * 0.5"]
        known.vectors.append("y")
        known.numbers.append("t")
        for _ in range(self.between(1, 3)):
            kind = self.between(0, 3)
            if kind == 0:
                body += [f"if {self.condition(known)}:", *_indented(returned())]
            elif kind == 1:
                body += [f"y[{self.between(0, 3)}] {self.one('=', '+=')} {self.number(known)}"]
            elif kind == 2:
                body += ["for e in x * 1.0:", "    t += e * 0.3"]
                body += [f"    if {self.condition(known)}:", *_indented(_indented(returned()))]
            else:
                body += [f"t = {self.number(known)}", f"x {self.one('*=', '+=')} 0.9"]
        return name, [f"def {name}(x, s):", *_indented([*body, *returned()])]

    # -- blocks ---------------------------------------------------------------------------------

    def block(self, known: Known, depth: int, in_loop: bool, size: int) -> list[str]:
        lines: list[str] = []
        for _ in range(size):
            lines += self.statement(known, depth, in_loop)
        return lines

    def inner(self, known: Known, depth: int, in_loop: bool) -> list[str]:
        size = self.between(1, 3 if depth == 0 else 2)
        return _indented(self.block(known.inside(), depth + 1, in_loop, size))

    def statement(self, known: Known, depth: int, in_loop: bool) -> list[str]:
        simple: list[tuple[int, Callable[[], list[str]]]] = [
            (4, lambda: self.assignment(known)),
            (4, lambda: self.update(known)),
            (3, lambda: self.alias(known)),
            (3, lambda: self.changed_by_another_name(known)),
            (3, lambda: self.part(known)),
            (2, lambda: self.swap(known)),
            (2, lambda: self.jump(known, in_loop)),
            (1, lambda: self.pair(known)),
            (1, lambda: self.collected(known)),
            (1, lambda: self.closure(known)),
        ]
        blocks: list[tuple[int, Callable[[], list[str]]]] = [
            (4, lambda: self.branch(known, depth, in_loop)),
            (4, lambda: self.for_loop(known, depth)),
            (2, lambda: self.while_loop(known, depth)),
        ]
        kinds = simple + (blocks if depth < DEPTH else [])
        weights = [weight for weight, _ in kinds]
        return self.random.choices([kind for _, kind in kinds], weights)[0]()

    # -- statements -----------------------------------------------------------------------------

    def assignment(self, known: Known) -> list[str]:
        """To a new variable, or to one that there is."""
        kinds = [(known.numbers, "t", self.number)] * 3
        kinds += [(known.vectors, "v", self.vector)] * 2
        kinds += [(known.matrices, "m", self.matrix), (known.counts, "c", self.count_of)]
        kinds += [(known.flags, "f", self.condition)]
        names, letter, of = self.random.choice(kinds)
        value = of(known)
        # `k`, and what counts the steps of a loop, stay what they are.
        old = [n for n in names if n != "k" and not n.startswith(("i", "n"))]
        name = self.one(*old) if self.between(0, 2) and old else self.new(letter)
        names += [] if name in names else [name]
        return [f"{name} = {value}"]

    def update(self, known: Known) -> list[str]:
        v, w, m = self.some(known.vectors), self.some(known.vectors), self.some(known.matrices)
        s, u, n = self.some(known.numbers), self.some(known.numbers), self.number(known)
        c = self.one(*[name for name in known.counts if name.startswith("c")])
        put, change = self.one("=", "+=", "-=", "*="), self.one("+=", "-=", "*=")
        i, j, at = self.between(0, 3), self.between(0, 2), self.count_of(known)
        to, source = self.random.choice(
            [("1:", ":-1"), (":-1", "1:"), ("::2", "1::2"), ("1:3", "2:"), ("-2:", ":2")]
        )
        pairs = [f"{p}[{self.between(0, 1)}] {change} {v} * 0.3" for p in known.pairs]
        return self.one(
            f"{s} {change} {n} * 0.5",
            f"{s}, {u} = {u}, {s}",
            f"{s}, *_ = {n}, {u}, 0.1",
            f"{c} {self.one('+=', '-=')} {self.between(1, 3)}",
            f"{v}[{i}] {put} {n} * 0.5",
            f"{v}[{at}] {put} {n} * 0.5",
            f"{v}[{to}] {put} {w}[{source}] * 0.5",
            f"{v} {self.one('+=', '-=')} {w} * 0.5",
            f"{v} *= 0.8",
            f"{v}[...] = {self.vector(known)}",
            f"{v}[{w} > 0.27] {put} {n} * 0.5",
            f"{v}, {w} = {w}, {v}",
            f"{m}[{j}] {put} {w} * 0.5",
            f"{m}[{j}, {i}] {put} {n} * 0.5",
            f"{m}[:, {i}] {put} {n} * 0.5",
            f"{m}[1:, ::2] {put} {m}[:2, 1::2] * 0.5",
            f"{m} *= 0.9",
            f"{m}[{m} > 0.41] = {n}",
            f"{v}[[0, 2]] {put} {w}[1:3] * 0.5",
            f"{v}[[0, 2, 0]] += {w}[1:] * 0.5",
            f"np.add.at({v}, [0, 1, 1], {w}[:3] * 0.5)",
            f"{v}[0], {v}[2] = {v}[2], {v}[0]",
            f"{m}[[0, 1]] = {m}[[1, 0]]",
            f"np.{self.one('add', 'multiply', 'maximum')}({v}, {w} * 0.5, out={v})",
            f"np.tanh({w}, out={v})",
            f"np.copyto({v}, {w})",
            f"{v}.fill({n})",
            *pairs,
        ).splitlines()

    def alias(self, known: Known) -> list[str]:
        """A new name for an array, or a view of one; at times an old name."""
        source, is_vector = self.view(known)
        names = known.vectors if is_vector else known.matrices
        if self.between(0, 3) == 0:
            return [f"{self.some(names)} = {source}"]
        name = self.new("v" if is_vector else "m")
        names.append(name)
        return [f"{name} = {source}"]

    def changed_by_another_name(self, known: Known) -> list[str]:
        """An alias, by which the array is changed; perhaps in a branch or in some steps."""
        first = self.alias(known)
        name = first[0].partition(" ")[0]
        n, at = self.number(known), "1" if name in known.vectors else "1, 2"
        change = self.one(
            *(f"{name} {self.one('+=', '-=')} {n} * 0.5", f"{name} *= 0.8", f"{name}[...] = {n}"),
            *(f"{name}[{at}] {self.one('=', '+=')} {n} * 0.5", f"{name} = {name} * 0.7"),
            *(
                f"{name}[1:] {self.one('=', '-=', '+=')} {name}[:-1] * 0.5",
                f"np.sin({name}, out={name})",
            ),
        )
        block = self.one("", "", f"if {self.condition(known)}:", "for _ in range(k):")
        return [*first, block, *_indented([change])] if block else [*first, change]

    def part(self, known: Known) -> list[str]:
        """A view of a part of an array, or a change through one."""
        if not known.parts or self.between(0, 2) == 0:
            view, name = self.part_of(known), self.new("w")
            known.parts.append(name)
            return [f"{name} = {view}"]
        p, q, v, m = (
            *(self.some(known.parts), self.some(known.parts)),
            *(self.some(known.vectors), self.some(known.matrices)),
        )
        n, i, j = self.number(known), self.between(0, 3), self.between(0, 2)
        put, change = self.one("=", "+=", "-=", "*="), self.one("+=", "-=")
        return self.one(
            *(f"{p}[{j}] {put} {n} * 0.5", f"{p} {change} {q} * 0.5", f"{p} *= 0.8"),
            *(f"{p}[1:] {put} {p}[:-1] * 0.5", f"{p}[:-1] {put} {q}[1:]", f"{p}[...] = {v}[1:]"),
            *(f"{v}[:3] {put} {p}", f"{v}[1:] {put} {p} * 0.5", f"{m}[:, {i}] {put} {p} * 0.5"),
            *(f"{p}[:], {q}[:] = {q} * 1.0, {p} * 1.0", f"{p}[{q} > 0.23] = {n}"),
            *(f"{p} = {self.part_of(known)}", f"{p} = {q} - {v}[:3] * 0.3", f"{p}, {q} = {q}, {p}"),
        ).splitlines()

    def swap(self, known: Known) -> list[str]:
        """Names that change what they are names of."""
        v, w = self.some(known.vectors), self.some(known.vectors)
        m, n = self.some(known.matrices), self.some(known.matrices)
        return self.one(
            *(f"{v}, {w} = {w}, {v}", f"{v}, {w} = {w}, {v} * 0.5", f"{m}, {n} = {n}, {m}"),
            *(f"{v}, {w} = {v} + {w} * 0.3, {v}", f"u = {v}\n{v} = {w}\n{w} = u", f"{v} = {w}"),
            *(f"{m}[0], {m}[2] = {m}[2].copy(), {m}[0].copy()", f"{v}, {w} = {m}[1], {n}[0]"),
            *(f"{m}, {n} = {n} * 0.5, {m}", f"{m} = {n}"),
        ).splitlines()

    def pair(self, known: Known) -> list[str]:
        """A list of two arrays, which may be known by other names too."""
        name = self.new("p")
        v, w = self.some(known.vectors), self.vector(known)
        if self.between(0, 2) == 0:
            known.vectors += [f"{name}a", f"{name}b"]
            return [f"{name}a, {name}b = {v}, {w}"]
        known.pairs.append(name)
        lines = [f"{name} = [{v}, {w}]"]
        if self.between(0, 1):
            lines += [f"for u in {name}:", f"    u {self.one('*= 0.9', '+= 0.1', '[0] = 0.2')}"]
        return lines

    def collected(self, known: Known) -> list[str]:
        """A list to which a loop appends."""
        name, i = self.new("l"), self.new("i")
        inside = known.inside()
        inside.counts.append(i)
        loop = self.one(f"for {i} in range(4):", f"for {i} in range(len(x)):")
        lines = [f"{name} = []", loop]
        if self.between(0, 1):
            lines.append(f"    t = {self.number(inside)}")
        lines.append(f"    {name}.append({self.number(inside)} * 0.5)")
        if self.between(0, 1):
            vector = self.new("v")
            known.vectors.append(vector)
            return [*lines, f"{vector} = np.array({name})"]
        return [*lines, f"t = sum({name}) * 0.4 + {name}[{self.one('0', '-1', '2')}]"]

    def closure(self, known: Known) -> list[str]:
        """A function in the function, which sees its variables."""
        name = self.new("q")
        inside = known.inside()
        inside.vectors.append("u")
        inside.numbers.append("r")
        value = self.number(inside)
        known.functions.append(name)
        if self.between(0, 1):
            return [f"{name} = lambda u, r: {value}"]
        early = [f"    if {self.condition(inside)}:", f"        return {self.number(inside)}"]
        return [f"def {name}(u, r):", *early, f"    return {value}"]

    def jump(self, known: Known, in_loop: bool) -> list[str]:
        if not in_loop and self.between(0, 2):
            return self.update(known)
        lines = ["return " + self.result(known), "break", "continue"]
        line = self.one(*lines) if in_loop else lines[0]
        before = self.update(known.inside()) if self.between(0, 2) == 0 else []
        return [f"if {self.condition(known)}:", *_indented([*before, line])]

    def branch(self, known: Known, depth: int, in_loop: bool) -> list[str]:
        lines = [f"if {self.condition(known)}:", *self.inner(known, depth, in_loop)]
        if self.between(0, 3) == 0:
            lines += [f"elif {self.condition(known)}:", *self.inner(known, depth, in_loop)]
        if self.between(0, 1):
            lines += ["else:", *self.inner(known, depth, in_loop)]
        return lines

    def for_loop(self, known: Known, depth: int) -> list[str]:
        inside = known.inside()
        i, p, q = self.new("i"), self.new("p"), self.new("q")
        v, w, m = self.some(known.vectors), self.some(known.vectors), self.some(known.matrices)
        first: list[str] = []
        kind = self.between(0, 5)
        if kind < 2:
            bounds = ("2", "3", "6", "1, 4", "3, -1, -1", "0, 4, 2", "len(x)", "x.shape[0] - 1")
            header = f"for {i} in range({self.one(*bounds, 'k', 'k', '1, k', 'a.shape[0]')}):"
            inside.counts.append(i)
            updates = f"{v}[{i} % 4] += 0.1", f"t = t * 0.9 + {i} * 0.05", f"c += {i}"
            updates += f"{v} = {m}[{i} % 3]", f"{v}, {w} = {w}, {v}", f"{v} = {v} + {w} * 0.1"
            updates += f"{m}[{i} % 3] += {v}", f"{w}[({i} + 1) % 4] = {v}[{i} % 4] * 0.7"
            first = self.one("", *updates).splitlines()
        elif kind == 2:
            header = f"for {p} in {self.one(m, f'{m}[::-1]', f'{m}.copy()')}:"
            inside.vectors.append(p)
        elif kind == 3:
            header = f"for {p}, {q} in zip({v}.copy(), {w} * 1.0):"
            inside.numbers += [p, q]
        elif kind == 4:
            header = f"for {i}, {p} in enumerate({v} * 1.0):"
            inside.numbers.append(p)
            inside.counts.append(i)
            first = self.one("", f"{w}[{i}] = {p} * 0.5").splitlines()
        else:
            header = f"for {p} in reversed({v} * 1.0):"
            inside.numbers.append(p)
        lines = [header, *_indented(first), *self.inner(inside, depth, True)]
        if self.between(0, 4) == 0:
            lines += ["else:", *self.inner(known, depth, False)]
        return lines

    def while_loop(self, known: Known, depth: int) -> list[str]:
        n, bound = self.new("n"), self.between(2, 5)
        inside = known.inside()
        inside.counts.append(n)
        head = self.one(f"{n} < {bound}", f"{n} < {bound} and {self.condition(known)}", "True")
        stop = [f"    if {n} > {bound}:", "        break"] if head == "True" else []
        lines = [f"{n} = 0", f"while {head}:", f"    {n} += 1", *stop]
        lines += self.inner(inside, depth, True)
        if self.between(0, 4) == 0:
            lines += ["else:", *self.inner(known, depth, False)]
        return lines


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]
