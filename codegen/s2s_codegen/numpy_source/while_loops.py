"""Loops whose number of steps nobody knows before: `while`, and `for` over a range of values."""

from __future__ import annotations

from collections.abc import Sequence

from s2s.control.bodies import split_at
from s2s.control.scan import Scan
from s2s.control.while_loop import While
from s2s.ir.dtypes import INT64
from s2s.ir.jaxpr import Atom, JaxprEqn, Literal, ShapedArray, Var
from s2s.primitives.arithmetic import Max
from s2s.primitives.counts import BindDimension
from s2s.primitives.creation import DimAsValue
from s2s_codegen.numpy_source.blocks import InnerWriter, outer_expression
from s2s_codegen.numpy_source.breaks import with_break
from s2s_codegen.numpy_source.expression import Expression, dtype_name
from s2s_codegen.numpy_source.for_loops import For
from s2s_codegen.numpy_source.loops import Loop, Stacked, only_rows_are_read, words_in
from s2s_codegen.numpy_source.memory import is_zero
from s2s_codegen.numpy_source.statements import Block, Line, Statement
from s2s_codegen.numpy_source.write import Writer, write
from s2s_codegen.numpy_source.written_loop import WrittenLoop


@write.register
def write_loop(primitive: WrittenLoop, eqn: JaxprEqn, writer: Writer) -> None:
    if isinstance(primitive.loop, Scan):
        For(primitive, primitive.loop, eqn, writer).write()
    elif primitive.step is not None:
        _CountingFor(primitive, primitive.loop, eqn, writer).write()
    else:
        _While(primitive, primitive.loop, eqn, writer).write()


@write.register
def write_bound_dimension(primitive: BindDimension, eqn: JaxprEqn, writer: Writer) -> None:
    """Let a size be called what its value is called."""
    (number,) = eqn.invars
    made = writer.scope.definition(number)
    if made is not None and isinstance(made.primitive, Max) and is_zero(made.invars[1]):
        length = writer.scope.whole(writer.scope.plain_number(made.invars[0]))
        count = Expression(f"max({length.text}, 0)")
        of = writer.scope.definition(made.invars[0])
        if of is not None and isinstance(of.primitive, DimAsValue):
            writer.scope.positive_parts[str(primitive.steps)] = of.primitive.dim
    else:
        count = outer_expression(number, None if primitive.exact else "steps", writer)
        if primitive.exact and not count.text.isalnum() and not count.text.isidentifier():
            name = writer.introduce(Var(number.aval), "size")
            writer.line(f"{name} = {count.text}")
            count = Expression(name)
    writer.scope.names.alias(eqn.outvars[0], count.text)
    if isinstance(number, Literal) or count.text != writer.scope.names.called(number):
        for word in words_in([count.text]):
            writer.scope.names.hold(None, word)
    writer.scope.size_names[str(primitive.steps)] = count.text


class _OfUnknownLength(Loop):
    """A loop whose results of all steps are in lists, since nobody knows how many there will be."""

    def is_list(self, var: Var, made: Atom) -> bool:
        return True

    @property
    def while_loop(self) -> While:
        """The loop itself."""
        loop = self.primitive.loop
        assert isinstance(loop, While)
        return loop

    counter: str | None = None
    """The variable that counts the steps, if there is one."""

    def start_count(self) -> None:
        """Name and set the variable that counts the steps, if no list is as long as these."""
        if self.while_loop.steps is None or self.stacked:
            return
        self.counter = self.writer.introduce(Var(ShapedArray((), INT64)), "steps")
        self.writer.line(f"{self.counter} = 0")

    def write_body(self, number: str | None, rows: Sequence[Statement]) -> list[Statement]:
        body = super().write_body(number, rows)
        if self.counter is not None:
            body.insert(0, Line(f"{self.counter} += 1"))
        flags = self.primitive.flags
        if not flags:
            return body
        names = [self.names[flag] for flag in flags]
        is_read_after = not all(self.writer.is_dead(self.finals[flag]) for flag in flags)
        body, is_needed = with_break(body, names, is_read_after)
        if not is_needed:
            # An earlier loop may have set a flag of the same name.
            before, start = self.writer.statements, Line(f"{names[0]} = False")
            del before[len(before) - 1 - before[::-1].index(start)]
        return body

    def finish(self) -> None:
        super().finish()
        for stacked in self.stacked:
            if not only_rows_are_read(stacked.var, self.writer):
                self._make_array(stacked)

    def finish_count(self) -> None:
        """Let the number of steps be known, by its own variable or the length of a list."""
        steps = self.while_loop.steps
        if steps is None:
            return
        count = self.eqn.outvars[0]
        text = self.counter or self.number_of_steps()
        if count in self.scope.plan.last_use:
            name = self.scope.names.give(count, "steps", self.writer.is_dead)
            if name != text:
                self.writer.line(f"{name} = {text}")
            text = name
        self.keep_names(text)
        self.scope.size_names[str(steps)] = text

    def number_of_steps(self) -> str:
        """How many steps there were: kept under a name where the list becomes another array."""
        lists = sorted(self.stacked, key=lambda s: s.start is not None)
        kept = [s for s in lists if only_rows_are_read(s.var, self.writer)]
        name = kept[0].name if kept else lists[0].name
        one_more = (kept or lists)[0].start is not None
        length = f"(len({name}) - 1)" if one_more else f"len({name})"
        if kept:
            return length
        steps = self.scope.names.reserve("steps")
        self.writer.line(f"{steps} = {length}")
        return steps

    def keep_names(self, text: str) -> None:
        """Give the names in a text to no other variable."""
        for word in words_in([text]):
            self.scope.names.hold(None, word)

    def _make_array(self, stacked: Stacked) -> None:
        """Make an array of a list of which more than the rows is read."""
        self.scope.lists.discard(stacked.var)
        aval = stacked.made.aval
        sizes = ", ".join(self.scope.size(size).text for size in aval.shape)
        array = f"np.array({stacked.name}, dtype={dtype_name(aval.dtype)})"
        if aval.shape:
            array += f".reshape(-1, {sizes})"
        self.writer.line(f"{stacked.name} = {array}")
        self.writer.owned.add(stacked.var)


class _While(_OfUnknownLength):
    """`while condition:`"""

    def __init__(self, primitive: WrittenLoop, loop: While, eqn: JaxprEqn, writer: Writer) -> None:
        self.cond_consts, consts, carry = loop.parts(eqn.invars)
        super().__init__(primitive, eqn, writer, consts, carry)

    def write(self) -> None:
        """Write the loop."""
        cond_jaxpr = self.while_loop.cond_jaxpr
        condition = InnerWriter(cond_jaxpr, self.writer)
        invars = cond_jaxpr.jaxpr.invars
        texts = self.bind_constants()
        for var, atom in zip(invars, self.cond_consts, strict=False):
            expression = outer_expression(atom, var.name, self.writer)
            condition.bind(var, expression)
            texts.append(expression.text)
        self.start_carry(texts)
        self.start_count()
        for var, name in zip(invars[len(self.cond_consts) :], self.names, strict=True):
            condition.bind(var, Expression(name))
        before, test = condition.write_test(cond_jaxpr.jaxpr.outvars[0])
        body = self.write_body(None, [])
        if before:
            stop = Block(f"if not {test.within_not}:", [Line("break")])
            body = [*before, stop, *body]
            test = Expression("True")
        self.writer.statements.append(Block(f"while {test.text}:", body or [Line("pass")]))
        self.finish_count()
        self.finish()


class _CountingFor(_OfUnknownLength, For):
    """`for i in range(start, stop, step):`, of a while loop that counts."""

    def __init__(self, primitive: WrittenLoop, loop: While, eqn: JaxprEqn, writer: Writer) -> None:
        num_carry = loop.num_carry - 1
        consts, carry, self.bounds = split_at(eqn.invars, loop.body_nconsts, num_carry)
        self.arrays, self.by_number, self.count = [], True, ""
        Loop.__init__(self, primitive, eqn, writer, consts, carry)

    def write(self) -> None:
        """Write the loop."""
        if self.primitive.flags:
            self.start_count()
        super().write()
        self.finish_count()

    def steps(self) -> str:
        is_read_once = self.while_loop.steps is None or self.stacked or self.counter
        start, stop = (
            self.scope.whole(atom).text
            if is_read_once
            else outer_expression(atom, None, self.writer).text
            for atom in self.bounds
        )
        step = self.primitive.step
        if step != 1:
            steps = f"range({start}, {stop}, {step})"
            self.count = f"len({steps})"
            return steps
        self.count = f"max({stop}, 0)" if start == "0" else f"max({stop} - {start}, 0)"
        return f"range({stop})" if start == "0" else f"range({start}, {stop})"

    def number_of_steps(self) -> str:
        if self.stacked:
            return super().number_of_steps()
        return self.count
