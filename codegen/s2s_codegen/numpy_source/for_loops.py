"""`for` loops: over the numbers of a range, or over the rows of arrays."""

from __future__ import annotations

import re
from collections.abc import Sequence

from s2s.control.bodies import split_at
from s2s.control.scan import Scan
from s2s.ir.dims import same_shape, same_size
from s2s.ir.dtypes import INT64
from s2s.ir.jaxpr import Atom, JaxprEqn, ShapedArray, Var
from s2s.primitives.arithmetic import Add
from s2s.primitives.core import Transpose
from s2s.primitives.layout import Rev, Slice
from s2s_codegen.numpy_source.blocks import outer_expression
from s2s_codegen.numpy_source.expression import (
    Expression,
    index,
)
from s2s_codegen.numpy_source.loops import Loop, only_rows_are_read
from s2s_codegen.numpy_source.statements import Block, Line, Statement, words_of
from s2s_codegen.numpy_source.write import Writer, identifier
from s2s_codegen.numpy_source.written_loop import WrittenLoop

_RANGE = re.compile(r"for (\w+) in range\(")
_UP_TO = re.compile(r"max\((.+) - (\w+|\(.*\)), 0\)")
_AT_LEAST_0 = re.compile(r"max\((.+), 0\)")


class For(Loop):
    """`for i in range(n):`, or over the rows of arrays."""

    bounds_said: tuple[str, str] | None = None
    """Where the numbers of the steps begin and end, if they begin with a value."""
    numbered: tuple[str, Var] | None = None
    """What the user calls these numbers, and the variable that is one."""

    def __init__(self, primitive: WrittenLoop, scan: Scan, eqn: JaxprEqn, writer: Writer) -> None:
        consts, carry, arrays = split_at(eqn.invars, scan.num_consts, scan.num_carry)
        self.arrays = arrays
        self.scan = scan
        by_row = all(
            offset is not None and same_size(offset, 0) for offset in primitive.offsets
        ) and all(same_size(x.aval.shape[0], scan.length) for x in arrays)
        super().__init__(primitive, eqn, writer, consts, carry)
        self._start_with_value()
        self.by_number = not by_row or not arrays or any(not s.is_list for s in self.stacked)

    def is_list(self, var: Var, made: Atom) -> bool:
        scalar = made.aval.weak_type and not made.aval.shape
        return scalar and not self.primitive.reverse and only_rows_are_read(var, self.writer)

    def write(self) -> None:
        """Write the loop."""
        bases = [self._base(array) for array in self.arrays]
        if any(base.shape is not None for base in bases):
            self.by_number = True
        steps = self.steps()
        constants = self.bind_constants()
        self.start_carry([*constants, *[base.text for base in bases], steps])
        if self.by_number:
            number = self._number()
            rows = self._rows_by_number(bases, number)
            header = f"for {number} in {f'reversed({steps})' if self.primitive.reverse else steps}:"
        else:
            number, rows = None, []
            header = self._over_rows(bases)
        body = self.write_body(number, rows)
        if number is not None and not any(number in words_of(s) for s in body):
            header = f"for _ in {steps}:"
        self.writer.statements.append(Block(header, body or [Line("pass")]))
        self.finish()

    def _start_with_value(self) -> None:
        """Let the steps of the user's `for j in range(i + 1, n)` be numbered from `i + 1` on, where
        the body does not need other numbers."""
        if self.arrays or self.stacked or self.primitive.stride != 1:
            return
        for eqn in self.inner.jaxpr.eqns:
            own = _RANGE.match(eqn.source.text) if eqn.source is not None else None
            if own is None or not isinstance(eqn.primitive, Add) or eqn.source != self.eqn.source:
                continue
            for number, start in (eqn.invars, eqn.invars[::-1]):
                if number not in self.row_vars or start not in self.const_vars:
                    continue
                assert isinstance(number, Var) and isinstance(start, Var)
                first = self.scope.whole(self.consts[list(self.const_vars).index(start)]).text
                length = _UP_TO.fullmatch(self.scope.size(self.scan.length).text)
                is_only = self.inner.times_read(number) == self.inner.times_read(start) == 1
                if is_only and length is not None and length[2] in (first, f"({first})"):
                    self.bounds_said = first, length[1]
                    self.numbered = own[1], eqn.outvars[0]
                    self.in_header.add(start)
                    self.inner.left_out.update(eqn.outvars)
                    return

    def _base(self, array: Atom) -> Expression:
        """An array whose rows the loop runs over: a name, or a view of what has one, `xs[::-1]`."""
        definition = self.scope.definition(array)
        if definition is not None and isinstance(definition.primitive, (Rev, Slice, Transpose)):
            (base,) = definition.invars
            if self.scope.definition(base) is None:
                return self.scope.expression(array)
        return outer_expression(array, None, self.writer)

    def steps(self) -> str:
        """What numbers the steps: `range(n)`."""
        if self.bounds_said is not None:
            return f"range({', '.join(self.bounds_said)})"
        first, stride = self.primitive.first, self.primitive.stride
        stop = _without_parentheses(self.scope.size(first + self.scan.length * stride).text)
        if stride != 1:
            return f"range({self.scope.size(first).text}, {stop}, {stride})"
        if not same_size(first, 0):
            text = self.scope.size(first).text
            after = f" + {text}"
            up_to = _UP_TO.fullmatch(stop.removesuffix(after)) if stop.endswith(after) else None
            if up_to is not None and up_to[2] == text:
                stop = up_to[1]  # range() needs no max()
            return f"range({text}, {stop})"
        at_least_0 = _AT_LEAST_0.fullmatch(stop)
        return f"range({stop if at_least_0 is None else at_least_0[1]})"

    def number_of_rows(self, more: int) -> str:
        return self.scope.size(self.scan.length + more).text

    def _number(self) -> str:
        """The variable that numbers the steps: as the user calls it, or i, j, k."""
        own = [
            var.name
            for var, offset in zip(self.row_vars, self.primitive.offsets, strict=True)
            if offset is None and var.name is not None
        ]
        if self.numbered is not None:
            own.insert(0, self.numbered[0])
        var = Var(ShapedArray((), INT64))
        users = {v.name for v in self.inner.definitions}
        free = [letter for letter in "ijklm" if letter not in users]
        hint = own[0] if own else self.scope.names.first_free(free, self.inner.is_dead)
        name = self.inner.introduce(var, hint)
        self.inner.pinned.add(var)
        return name

    def _rows_by_number(self, bases: Sequence[Expression], number: str) -> list[Statement]:
        """Let the body read rows as `x[i]`; what is read more than once has a name."""
        lines: list[Statement] = []
        if self.numbered is not None:
            self.inner.bind(self.numbered[1], Expression(number))
        remaining = iter(zip(self.arrays, bases, strict=True))
        for var, offset in zip(self.row_vars, self.primitive.offsets, strict=True):
            if offset is None:
                self.inner.bind(var, Expression(number))
                continue
            array, base = next(remaining)
            row = _row(base, array, var, self.place(number, offset))
            if self.inner.times_read(var) < 2 or row.text == base.text:
                self.inner.bind(var, row)
                self.inner.scope.hints[var] = self._row_hint(var, array)
                continue
            name = self._name_row(var, array)
            if row.shape is not None:
                self.inner.scope.shapes[var] = row.shape
            lines.append(Line(f"{name} = {row.text}"))
        return lines

    def _name_row(self, var: Var, array: Atom) -> str:
        def is_dead(other: Var) -> bool:
            # A carried value that is kept as the step finds it is read after the row.
            return all(s.made is not other for s in self.stacked) and self.inner.is_dead(other)

        return self.scope.names.give(var, self._row_hint(var, array), is_dead)

    def _row_hint(self, var: Var, array: Atom) -> str:
        names = self.scope.names
        called = names[array] if isinstance(array, Var) and array in names else None
        return identifier(var.name or _one_of(called))

    def _over_rows(self, bases: Sequence[Expression]) -> str:
        names = [
            self._name_row(var, array)
            for var, array in zip(self.row_vars, self.arrays, strict=True)
        ]
        texts = [base.text for base in bases]
        if self.primitive.reverse:
            texts = [f"reversed({text})" for text in texts]
        rows = texts[0] if len(texts) == 1 else f"zip({', '.join(texts)})"
        return f"for {', '.join(names)} in {rows}:"


def _row(base: Expression, array: Atom, var: Var, place: str) -> Expression:
    """A row of an array, whose text may be smaller than its type: it is broadcast."""
    if base.shape is None:
        return index(base, [place])
    if len(base.shape) < array.aval.ndim:
        row, shape = base, base.shape
    else:
        first = same_size(base.shape[0], array.aval.shape[0])
        row, shape = index(base, [place if first else "0"]), base.shape[1:]
    return Expression(
        row.text, row.precedence, None if same_shape(shape, var.aval.shape) else shape
    )


def _without_parentheses(length: str) -> str:
    """The number of steps of a loop of unknown length, `(len(x_steps) - 1)`, as a bound."""
    found = re.fullmatch(r"\((len\(\w+\)) - 1\)( \+ 1)?", length)
    if found is None:
        return length
    return found[1] if found[2] else f"{found[1]} - 1"


def _one_of(name: str | None) -> str:
    """What a row of `xs` is called: `x`."""
    if name is None:
        return "row"
    base = name.removesuffix("_steps")
    if base == name and name.endswith("s") and len(name) > 1:
        base = name[:-1]
    return base if base != name else f"{name}_row"
