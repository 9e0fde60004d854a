"""Loops: `for` and `while`, with the results of all steps in arrays made once, or in lists."""

from __future__ import annotations

from collections.abc import Sequence

from s2s.control.bodies import split_at
from s2s.control.scan import Scan
from s2s.ir.dims import Size, same_shape, same_size
from s2s.ir.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from s2s_codegen.numpy_source.blocks import InnerWriter, assignments, outer_expression
from s2s_codegen.numpy_source.expression import (
    dtype_name,
    is_negative,
    without_sign,
)
from s2s_codegen.numpy_source.nested import in_place
from s2s_codegen.numpy_source.sharing import may_own_result, origins, takes_over
from s2s_codegen.numpy_source.statements import Line, Statement, words_of
from s2s_codegen.numpy_source.write import Writer, identifier
from s2s_codegen.numpy_source.written_loop import WrittenLoop


class Stacked:
    """A result of all steps: `var` outside, `made` in the body."""

    def __init__(self, var: Var, made: Atom, start: int | None, is_list: bool) -> None:
        self.var = var
        self.made = made
        self.start = start
        self.is_list = is_list
        self.name = ""


class Loop:
    """A loop while it is written: what `for` and `while` have in common."""

    def __init__(
        self,
        primitive: WrittenLoop,
        eqn: JaxprEqn,
        writer: Writer,
        consts: Sequence[Atom],
        carry: Sequence[Atom],
    ) -> None:
        self.primitive = primitive
        self.eqn = eqn
        self.writer = writer
        self.scope = writer.scope
        self.consts, self.carry = consts, carry
        num_counts = primitive.num_counts
        body = primitive.body.jaxpr
        num_consts, num_carry = len(self.consts), len(self.carry)
        entering = body.invars[num_consts : num_consts + num_carry]
        # What is kept of a carried value at the entry of a step is not needed until its end.
        carried, made = split_at(body.outvars, num_carry)
        at_end = [*carried, *[atom for atom in made if atom not in entering]]
        kept = Jaxpr(body.constvars, body.invars, body.eqns, at_end)
        old_values = {
            new: old for new, old in zip(carried, entering, strict=True) if isinstance(new, Var)
        }
        self.inner = InnerWriter(ClosedJaxpr(kept, primitive.body.consts), writer, old_values)
        self.const_vars = body.invars[:num_consts]
        self.carry_vars = body.invars[num_consts : num_consts + num_carry]
        self.row_vars = body.invars[num_consts + num_carry :]
        self.carry_outs = body.outvars[:num_carry]
        self.finals = eqn.outvars[num_counts : num_counts + num_carry]
        self.stacked = [
            Stacked(var, made, start, self.is_list(var, made))
            for var, made, start in zip(
                eqn.outvars[num_counts + num_carry :],
                body.outvars[num_carry:],
                primitive.starts,
                strict=True,
            )
        ]
        self.origins = origins(body)
        """The arrays that each variable of the body may be."""
        self.names: list[str] = []
        """What the carried values are called."""
        self.in_header: set[Var] = set()
        """Constants of which only the header reads the expression."""

    def is_list(self, var: Var, made: Atom) -> bool:
        """Whether a stacked result is a list of Python's."""
        raise NotImplementedError

    # -- before the loop ------------------------------------------------------------------------

    def bind_constants(self) -> list[str]:
        """Let the body read what does not change; returns the expressions."""
        texts: list[str] = []
        for var, atom in zip(self.const_vars, self.consts, strict=True):
            if not self.inner.times_read(var) or var in self.in_header:
                continue
            expression = outer_expression(atom, var.name, self.writer)
            self.inner.bind(var, expression)
            texts.append(expression.text)
        return texts

    def start_carry(self, read: Sequence[str]) -> None:
        """Name the carried values and give them their initial values. `read` are expressions that
        the loop evaluates beside the body, or that the body reads."""
        initial = [self.scope.whole(self.scope.plain_number(atom)).text for atom in self.carry]
        for position, (var, text) in enumerate(zip(self.carry_vars, initial, strict=True)):
            needed = words_in([*read, *initial[position + 1 :], *self.names])

            def is_dead(other: Var, needed: set[str] = needed) -> bool:
                return self.scope.names[other] not in needed and self.writer.is_dead(other)

            atom = self.carry[position]
            free = self.writer.is_handed_over(atom, self.eqn.invars) and text not in needed
            takes_over = self._takes_over(position) and (free or bool(var.aval.shape))
            if takes_over and free and isinstance(atom, Var) and atom in self.writer.changed:
                name = self.scope.names[atom]
                self.scope.names.hold(var, name)
                self.inner.changed[var] = self.writer.changed[atom]
            else:
                name = self.scope.names.give(var, self.carry_hint(position), is_dead)
            self.writer.need(var)
            self.names.append(name)
            if takes_over:
                self.inner.owned.add(var)
                is_writable = free and not text.startswith("np.broadcast_to(")
                text = text if is_writable else f"{text}.copy()"
            if text != name:
                self.writer.line(f"{name} = {text}")
        for name, out in zip(self.names, self.carry_outs, strict=True):
            if isinstance(out, Var) and out in self.inner.definitions and _may_be(name, out):
                self.inner.result_hints.setdefault(out, name)

    def carry_hint(self, position: int) -> str:
        """What a carried value is called."""
        out, initial = self.carry_outs[position], self.carry[position]
        candidates = [self.carry_vars[position], self.finals[position], initial]
        if out not in self.carry_vars:  # else it is the name of another one
            candidates.insert(1, out)
        named = [c.name for c in candidates if isinstance(c, Var) and c.name not in (None, "_")]
        if named:
            return identifier(named[0] or "value")
        return "value" if self.eqn.phase == "primal" else "value_bar"

    def _takes_over(self, position: int) -> bool:
        """Whether the body may write into the array of a carried value."""
        return takes_over(
            position, self.carry_vars, self.carry_outs, self._is_own, self.inner.writes_into
        )

    def _is_own(self, out: Atom) -> bool:
        """Whether a step makes, of what it has taken over, an array that nothing else refers to."""
        definition = self.inner.definitions.get(out) if isinstance(out, Var) else None
        if definition is None or not may_own_result(definition, out):
            return False
        # A number need not be an array, which could be copied.
        var = self.carry_vars[list(self.carry_outs).index(out)]
        kept = any(s.is_list and (s.made is var or s.made is out) for s in self.stacked)
        return bool(out.aval.shape) or not kept

    def _filled_by_inner_loops(self, number: str | None) -> list[Stacked]:
        """The results of all steps whose rows loops in the body fill by themselves."""
        filled: list[Stacked] = []
        before = {word for s in self.writer.statements for word in words_of(s)}
        for stacked in self.stacked:
            made = stacked.made
            if number is None or stacked.is_list or stacked.start is not None:
                continue
            if not isinstance(made, Var) or made not in self.inner.stacked:
                continue
            results = [*self.carry_outs, *[s.made for s in self.stacked]]
            name = self.scope.names[made]
            is_read = self.inner.times_read(made) > 1 or results.count(made) > 1
            if is_read or name in before:
                continue
            statements = in_place(name, self.place(number, 0), self.inner.statements)
            if statements is not None:
                self.inner.statements = statements
                stacked.name = name
                filled.append(stacked)
        return filled

    def make_arrays(self, filled: Sequence[Stacked]) -> None:
        """Make the arrays and lists for the results of all steps. Those that are `filled` already
        have their names."""
        in_body = {word for s in self.inner.statements for word in words_of(s)}

        def is_dead(var: Var) -> bool:
            return self.scope.names[var] not in in_body and self.writer.was_dead(var)

        for stacked in self.stacked:
            if stacked in filled:
                self.scope.names.hold(stacked.var, stacked.name)
            else:
                hint = self._stacked_hint(stacked)
                stacked.name = self.scope.names.give(stacked.var, hint, is_dead)
            start = None if stacked.start is None else self.names[stacked.start]
            if stacked.is_list:
                self.scope.lists.add(stacked.var)
                first = "" if start is None else self._kept(start, stacked)
                self.writer.line(f"{stacked.name} = [{first}]")
                continue
            size = self.number_of_rows(0 if start is None else 1)
            self.writer.line(f"{stacked.name} = {self._empty(size, stacked.made)}")
            if start is not None:
                place = "-1" if self.primitive.reverse else "0"
                self.writer.line(f"{stacked.name}[{place}] = {start}")

    def number_of_rows(self, more: int) -> str:
        """How many rows an array for the results of all steps has, and `more`."""
        raise NotImplementedError

    def _stacked_hint(self, stacked: Stacked) -> str:
        if stacked.var.name is not None:
            return identifier(stacked.var.name)
        text = self.inner.scope.expression(stacked.made).text
        return f"{text}_steps" if text.isidentifier() else "steps"

    def _empty(self, size: str, made: Atom) -> str:
        """`np.empty((t + 1, *h.shape))`"""
        aval = made.aval
        dtype = "" if aval.dtype.name == "float64" else f", dtype={dtype_name(aval.dtype)}"
        if not aval.shape:
            return f"np.empty({size}{dtype})"
        like = next(
            (
                name
                for name, var in zip(self.names, self.carry_vars, strict=True)
                if same_shape(var.aval.shape, aval.shape)
            ),
            None,
        )
        if like is None or all(isinstance(s, int) for s in aval.shape):
            rest = ", ".join(self.scope.size(s).text for s in aval.shape)
        else:
            rest = f"*{like}.shape"
        return f"np.empty(({size}, {rest}){dtype})"

    # -- the body -------------------------------------------------------------------------------

    def write_body(self, number: str | None, rows: Sequence[Statement]) -> list[Statement]:
        """The statements of a step. `number` is the variable that numbers the steps."""
        inner = self.inner
        entering = [s for s in self.stacked if s.made in self.carry_vars]
        texts = [inner.scope.whole(s.made).text for s in entering]
        inner.write()
        filled = self._filled_by_inner_loops(number)
        self.make_arrays(filled)
        for stacked in self.stacked:
            if stacked in entering or stacked in filled:
                continue
            results = (*self.carry_outs, *[s.made for s in self.stacked if s is not stacked])
            if any(stacked.made is out for out in results):
                text = inner.scope.whole(stacked.made).text
                inner.statements.append(self._store(stacked, text, number))
            else:
                inner.put(stacked.made, lambda text, s=stacked: self._store(s, text, number))
        pairs = [(name, self._left(k)) for k, name in enumerate(self.names)]
        first = [self._store(s, text, number) for s, text in zip(entering, texts, strict=True)]
        return [*rows, *first, *inner.statements, *assignments(pairs)]

    def _left(self, position: int) -> str:
        """What a step leaves of a carried value: an array of its own if the next one writes there,
        and none that another one writes into."""
        inner, out = self.inner, self.carry_outs[position]
        text = inner.scope.whole(out).text
        if isinstance(out, Literal) or not out.aval.shape:
            return text
        others = [
            other
            for other, var in zip(self.carry_outs, self.carry_vars, strict=True)
            if other is not out and var in inner.owned
        ]
        is_shared = any(self._may_share(out, other) for other in others)
        is_written = self.carry_vars[position] in inner.owned
        if is_shared or (is_written and (not inner.owns(out) or "np.broadcast_to(" in text)):
            return f"{text}.copy()"
        return text

    def _may_share(self, a: Atom, b: Atom) -> bool:
        """Whether two results of a step may be the same array, or views of it."""
        if isinstance(a, Literal) or isinstance(b, Literal) or a in self.inner.scope.plan.copied:
            return False
        return not self.origins[a].isdisjoint(self.origins[b])

    def _hand_on(self, entering: Var, final: Var) -> None:
        """Say that the final value has the array of an argument, if each step leaves it there."""
        inner, out = self.inner, self.carry_outs[self.carry_vars.index(entering)]
        argument = inner.changed.get(entering)
        if argument is not None and isinstance(out, Var) and inner.changed.get(out) is argument:
            self.writer.changed[final] = argument

    def _store(self, stacked: Stacked, text: str, number: str | None) -> Statement:
        """Keep a step's result."""
        if stacked.is_list:
            return Line(f"{stacked.name}.append({self._kept(text, stacked)})")
        assert number is not None
        in_front = stacked.start is not None and not self.primitive.reverse
        place = self.place(number, int(in_front))
        return Line(f"{stacked.name}[{place}] = {text}")

    def place(self, number: str, offset: Size) -> str:
        """The row of an array that a step reads or fills, of which the first step has `offset`."""
        distance = offset - self.primitive.first
        if same_size(distance, 0):
            return number
        size = self.scope.size(distance)
        if is_negative(size):
            return f"{number} - {without_sign(size).text}"
        return f"{number} + {size.text}"

    def _kept(self, text: str, stacked: Stacked) -> str:
        """A value to keep in a list: a copy if its array is written into later."""
        changes = bool(stacked.made.aval.shape) and any(
            self._may_share(stacked.made, var) or self._may_share(stacked.made, out)
            for out, var in zip(self.carry_outs, self.carry_vars, strict=True)
            if var in self.inner.owned
        )
        return f"{text}.copy()" if changes else text

    def finish(self) -> None:
        """Let the results outside of the loop be called what they are called at its end."""
        self.inner.leave()
        carried = zip(self.names, self.finals, self.carry_vars, strict=True)
        for name, var, entering in carried:
            self.scope.names.hold(var, name)
            if entering in self.inner.owned:
                self.writer.owned.add(var)
                self._hand_on(entering, var)
        self.writer.owned.update(s.var for s in self.stacked if not s.is_list)
        self.writer.stacked.update(s.var for s in self.stacked)


def _may_be(name: str, out: Var) -> bool:
    """Whether a step's result is called like the carried value at once: not if the user calls it
    something else, and then assigns it."""
    return out.name in (None, name) or out.name.endswith(("_bar", "_dot"))


def only_rows_are_read(var: Var, writer: Writer) -> bool:
    """Whether an array is read by loops alone, row by row."""
    if var in writer.results:
        return False
    for eqn in writer.jaxpr.eqns:
        if var not in eqn.invars:
            continue
        if isinstance(eqn.primitive, WrittenLoop) and isinstance(eqn.primitive.loop, Scan):
            scan = eqn.primitive.loop
            others = eqn.invars[: scan.num_consts + scan.num_carry]
            if var not in others:
                continue
        return False
    return True


def words_in(texts: Sequence[str]) -> set[str]:
    return {word for text in texts for word in words_of(Line(text))}
