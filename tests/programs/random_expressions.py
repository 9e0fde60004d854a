"""Random expressions over the variables that a random program knows at a place."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random


@dataclass
class Known:
    """The variables that have a value at a place in the program, by their kinds."""

    numbers: list[str] = field(default_factory=lambda: ["s"])
    counts: list[str] = field(default_factory=lambda: ["k"])
    flags: list[str] = field(default_factory=list[str])
    vectors: list[str] = field(default_factory=lambda: ["x"])
    """Of 4 numbers."""
    matrices: list[str] = field(default_factory=lambda: ["a"])
    """Of shape (3, 4)."""
    parts: list[str] = field(default_factory=list[str])
    """Of 3 numbers: views of vectors and of matrices, unless bound anew."""
    pairs: list[str] = field(default_factory=list[str])
    """Lists of two vectors."""
    functions: list[str] = field(default_factory=list[str])
    """Functions of a vector and a number that return a number."""
    maps: list[str] = field(default_factory=list[str])
    """Functions of a vector and a number that return a vector."""

    def inside(self) -> Known:
        """What is known in a block, which may not run."""
        return Known(**{kind: [*names] for kind, names in vars(self).items()})


class Expressions:
    """Random expressions, as texts."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.count = 0

    # -- choices --------------------------------------------------------------------------------

    def between(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def one(self, *texts: str) -> str:
        return self.random.choice(texts)

    def some(self, names: list[str]) -> str:
        """Often one of the newest, so that what is changed is read, by this name or another."""
        return self.one(*(names[-3:] if self.between(0, 1) else names))

    def new(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    # -- expressions ----------------------------------------------------------------------------

    def result(self, known: Known) -> str:
        v, w, m = self.some(known.vectors), self.one(*known.vectors), self.some(known.matrices)
        n, s = self.one(*known.matrices), self.some(known.numbers)
        return f"np.sum({v} * x + {w}) + np.sum(np.sin({m}) * {n}) + {s} * s"

    def count_of(self, known: Known) -> str:
        """A whole number from 0 to 3."""
        c = self.one(*known.counts)
        return self.one(f"{c} % 4", f"({c} + 1) % 4", str(self.between(0, 3)))

    def number(self, known: Known) -> str:
        s, t, c = self.some(known.numbers), self.some(known.numbers), self.one(*known.counts)
        v, w, m = self.some(known.vectors), self.some(known.vectors), self.some(known.matrices)
        i, j = self.between(0, 3), self.between(0, 2)
        called = [f"{f}({v}, {s})" for f in known.functions]
        kept = [f"np.sum({p}[{self.between(0, 1)}]) * 0.2" for p in known.pairs]
        kept += [self.one(f"{p}[{j}]", f"np.sum({p}) * 0.3") for p in known.parts[-2:]]
        return self.one(
            *(s, f"0.5 * {s} + {t}", f"np.tanh({s} * {t})", f"{s} * 0.7 - 0.2", f"abs({s}) + 0.1"),
            *(f"{v}[{i}]", f"{v}[{i}] * {s}", f"{m}[{j}, {i}]", f"np.sum({v}) * 0.3"),
            *(f"max({s}, {t})", f"min({s}, 0.4)"),
            f"({s} if {self.condition(known)} else {v}[{i}])",
            *(f"np.max({v})", f"{v} @ {w} * 0.2", "0.3", f"{s} + {c} * 0.05", f"-{s} / 3"),
            *(f"np.mean({v} * {w})", f"np.dot({v}, {w}) * 0.3", f"({m} @ {v})[{j}] * 0.2"),
            *(f"{v}[{self.count_of(known)}]", f"float({s}) * 0.9", f"{s} ** 2 * 0.3"),
            *(f"sum(e * 0.2 for e in {v})", f"{v}[np.argmax({w})]", f"{m}.mean()", f"{v}.max()"),
            *(f"np.sqrt(1.0 + {s} ** 2)", f"{v}[-1]", f"np.clip({s}, -0.5, 0.9)"),
            *(f"({s}, {t})[{self.one('0', '1')}]", *called, *called, *kept),
        )

    def vector(self, known: Known) -> str:
        v, w, m = self.some(known.vectors), self.some(known.vectors), self.some(known.matrices)
        s, j, i = self.some(known.numbers), self.between(0, 2), self.between(0, 3)
        called = [f"{f}({v}, {s})" for f in known.maps]
        kept = [f"{p}[0] - 0.3 * {p}[1]" for p in known.pairs]
        kept += [f"np.append({p}, {s})" for p in known.parts[-2:]]
        return self.one(
            *(f"{v} * 0.5", f"{v} - 0.3 * {w}", f"np.tanh({v} * {w})", f"{v} * {s} * 0.5"),
            *(f"{m}[{j}] + {v}", f"{m}.sum(axis=0) * 0.3", f"np.where({v} > 0.2, {w}, {s})"),
            *(f"{v}[::-1] * 1.0", f"{v}.copy()", f"{v}[[1, 0, 3, 3]]", f"np.maximum({v}, {w})"),
            *(f"np.sin({v})", f"{m}.mean(axis=0)", f"({m}.T @ ({m} @ {v})) * 0.1", f"-{v}"),
            *(f"np.array([e * {s} for e in {v}])", f"np.concatenate([{v}[2:], {w}[:2]])"),
            *(f"{m}[:, {i}].sum() * 0.2 + {v}", f"np.zeros(4) + {s}", f"np.cumsum({v}) * 0.3"),
            *(f"np.array([{s}, 0.5, {v}[0], {w}[{i}]])", f"{v} / (1.0 + {w} ** 2)"),
            *(f"({v} if {self.condition(known)} else {w}) * 0.9", f"np.roll({v}, 1)"),
            *(f"np.zeros_like({v})", f"np.sort({v})", *called, *called, *kept),
        )

    def matrix(self, known: Known) -> str:
        m, n, v = self.some(known.matrices), self.some(known.matrices), self.some(known.vectors)
        w, s = self.some(known.vectors), self.some(known.numbers)
        return self.one(
            *(f"{m} * {v} * 0.5", f"{m} - 0.2 * {n}", f"np.tanh({m})", f"{m}.copy()"),
            *(f"np.outer({v}[:3], {w}) * 0.4", f"{m}[[2, 0, 0]]", f"np.stack([{v}, {w}, {v}])"),
            *(f"np.where({m} > {s}, {n}, 0.1)", f"{m}[::-1] + 0.0", f"{m} - {m}.mean(axis=0)"),
            *(f"{m}.reshape(4, 3).T * 0.7", f"np.array([{v}, {w} * 0.5, {m}[1]])"),
        )

    def view(self, known: Known) -> tuple[str, bool]:
        """A view of an array, and whether it is a vector."""
        v, m, j = self.some(known.vectors), self.some(known.matrices), self.between(0, 2)
        if self.between(0, 3):
            vectors = (v, f"{v}[::-1]", f"{m}[{j}]", f"{v}[:]", f"{m}[1:][{j % 2}]", f"{m}[{j}, :]")
            flat = (f"{m}.reshape(-1)[2:6]", f"{m}.ravel()[::3]", f"{m}.T[:, {j}]", f"{v}.T")
            rows = (
                v,
                f"{m}[{self.count_of(known)} % 3]",
                f"({v} if {self.condition(known)} else {m}[{j}])",
            )
            pairs = [f"{p}[{self.between(0, 1)}]" for p in known.pairs]
            return self.one(*vectors, *flat, *rows, *pairs), True
        return self.one(m, f"{m}[::-1]", f"{m}[:, ::-1]", f"{m}.T.T", f"{m}.reshape(3, 4)"), False

    def part_of(self, known: Known) -> str:
        """A view of three elements of an array."""
        v, m, w = (
            self.some(known.vectors),
            self.some(known.matrices),
            self.some(known.parts or ["x[1:]"]),
        )
        i, j, c = self.between(0, 3), self.between(0, 2), self.count_of(known)
        return self.one(
            *(f"{v}[1:]", f"{v}[:3]", f"{v}[:-1]", f"{v}[2::-1]", w, f"{w}[::-1]", f"{w}[:]"),
            *(f"{m}[:, {i}]", f"{m}[{j}][1:]", f"{m}[{j}, :3]", f"{m}.T[{i}]", f"{m}[:, {c}]"),
        )

    def condition(self, known: Known) -> str:
        s, t, v = self.some(known.numbers), self.some(known.numbers), self.some(known.vectors)
        m, c, i = self.some(known.matrices), self.one(*known.counts), self.between(0, 3)
        flags = [f"not {flag}" for flag in known.flags] + known.flags
        return self.one(
            *(f"{s} > 0.21", f"{s} < {t} + 0.13", f"{v}[{i}] > 0.17", f"np.sum({v}) > 0.37"),
            *(f"{s} > 0.11 and {t} < 0.93", f"({s} < 0.07 or {v}[{i}] > {t})"),
            *(f"not {s} > 0.43", f"-0.41 < {s} < 0.77", f"np.any({v} > 0.61)", f"{c} > 2"),
            *(f"{c} % 2 == 0", f"np.all({m}[1] < 0.83)", f"{s} <= {t} < 0.69", f"{v}[-1] >= {s}"),
            *flags,
        )
