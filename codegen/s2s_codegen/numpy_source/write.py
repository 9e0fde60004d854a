"""From planned equations to the statements of a function's body."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from s2s.control.cond import Cond
from s2s.ir.dims import names_of, same_shape
from s2s.ir.jaxpr import Atom, Jaxpr, JaxprEqn, Literal, Source, Var
from s2s.primitive import Primitive
from s2s.primitives.core import BroadcastInDim, ConvertElementType, Reshape
from s2s.primitives.dynamic import DynamicUpdateSlice
from s2s.primitives.families import Unary
from s2s.primitives.indexing import Gather, Scatter
from s2s.primitives.layout import Pad, Slice, Squeeze
from s2s.primitives.updates import UpdateSlice
from s2s_codegen.numpy_source.elements import element
from s2s_codegen.numpy_source.expression import (
    Expression,
    call,
    dtype_name,
    is_python_s,
    method,
)
from s2s_codegen.numpy_source.loop_forms import with_written_loops
from s2s_codegen.numpy_source.masks import with_masks
from s2s_codegen.numpy_source.memory import is_basic_view, is_owned
from s2s_codegen.numpy_source.name import FLAGS, Names, describe, own_name, result_name
from s2s_codegen.numpy_source.numbers import arrays_without_axes
from s2s_codegen.numpy_source.overwriting import (
    overwritten_base,
    with_old_values_first,
    with_reads_first,
)
from s2s_codegen.numpy_source.placing import new_array, placement
from s2s_codegen.numpy_source.plan import plan
from s2s_codegen.numpy_source.schedule import Placed, schedule
from s2s_codegen.numpy_source.scope import Scope
from s2s_codegen.numpy_source.sharing import origins
from s2s_codegen.numpy_source.statements import BLANK, Comment, Line, Statement

_COMPOSITE = re.compile(r"np\.(?:linalg\.)?(mean|norm|std)\((?:([a-z]\w{,9})\))?")
BACKWARD = "Backward, from the return value to the arguments."


class Writer:
    """Writes one jaxpr as a run of statements. Its inputs have names in the scope already."""

    is_inner: ClassVar[bool] = False
    """Whether it stands inside of a loop or a branch."""

    def __init__(
        self,
        jaxpr: Jaxpr,
        scope: Scope,
        changed: Sequence[Var] = (),
        old_values: Mapping[Var, Var] | None = None,
    ) -> None:
        """`changed` are the inputs that the function is to change in place. `old_values` has the
        input of a body whose name a result of it takes."""
        if not self.is_inner:
            scope.without_axes = arrays_without_axes(jaxpr)
        jaxpr = with_written_loops(with_masks(jaxpr))
        self.jaxpr = jaxpr
        self.scope = scope
        self.statements: list[Statement] = []
        self.position = 0
        self.copied: set[Var] = set()
        self.results = {atom for atom in jaxpr.outvars if not isinstance(atom, Literal)}
        self.terms = {atom for e in jaxpr.eqns if e.phase == "primal" for atom in e.invars}
        """What the user's function computes something else of."""
        self.definitions = {var: eqn for eqn in jaxpr.eqns for var in eqn.outvars}
        self.user_s = {
            var.name: eqn
            for var, eqn in self.definitions.items()
            if var.name is not None and eqn.phase == "primal"
        }
        self.linear = _linear(jaxpr)
        self.line_above: Source | None = None
        """The line that a comment before the statements says."""
        self.current_line: Source | None = None
        """The line of the statement that is being written."""
        self.left_out: set[Atom] = set()
        """Results without a value, which nothing reads."""
        self.changed: dict[Var, Var] = {var: var for var in changed}
        """For each value whose array surely is one that is to be changed, the input that has it."""
        self.stacked: set[Var] = set()
        """What loops have stacked, a row for each step."""
        self.owned: set[Var] = set(changed)
        """Inputs, and results of loops and branches, whose arrays the function may write into."""
        own = jaxpr.invars if self.is_inner else changed
        placed = with_old_values_first(schedule(jaxpr, scope.lines), old_values or {})
        placed = with_reads_first(placed, jaxpr.outvars, own)
        scope.plan = plan(jaxpr, placed, own)

    def write(self) -> list[Statement]:
        """The statements that compute the results."""
        previous: Placed | None = None
        above = self.line_above
        taken = 0
        for position, placed in enumerate(self.scope.plan.statements):
            self.position = position
            enters = placed.backward and not (previous and previous.backward)
            if self.is_inner:
                enters = False  # The loop is backward as a whole.
            if enters and previous is not None:
                self.statements += [BLANK, Comment(BACKWARD)]
            if not self.left_out.isdisjoint(placed.eqn.outvars):
                continue
            comment: Comment | None = None
            if placed.line is not None and (enters or placed.line != above):
                comment = Comment(line_comment(placed.line))
                self.statements.append(comment)
            before, above = above, placed.line
            self.current_line = placed.line
            previous = placed
            count = self.scope.plan.taken_apart.get(position)
            if count is not None and self._take_apart(position, count):
                taken = position + count
            if position >= taken:
                write(placed.eqn.primitive, placed.eqn, self)
            if comment is not None and self.statements[-1] is comment:
                # The result has its name already.
                self.statements.pop()
                above = None if enters else before
        return self.statements

    def _take_apart(self, position: int, count: int) -> bool:
        """Write `a, b = x` for the statements from `position` on, if that is right."""
        statements = self.scope.plan.statements
        eqns = [p.eqn for p in statements[position : position + count]]
        variables = [eqn.outvars[0] for eqn in eqns]
        found = element(eqns[0], self.scope.plan.inlined)
        assert found is not None
        array = self.scope.expression(found.array)
        if found.array in self.scope.shapes or not array.text.isidentifier():
            return False
        if not self.scope.plan.copied.isdisjoint(variables) or not self.left_out.isdisjoint(
            variables
        ):
            return False
        give = self.scope.names.give
        names = [give(eqn.outvars[0], self.hint(eqn, eqn.outvars[0]), self.is_dead) for eqn in eqns]
        self.line(f"{', '.join(names)} = {array.text}{'.T' if found.axis else ''}")
        return True

    def line(self, text: str) -> None:
        """Append a simple statement."""
        self.statements.append(Line(text))

    # -- variables ------------------------------------------------------------------------------

    def is_dead(self, var: Var) -> bool:
        """Whether no statement after the one being written reads `var`."""
        return self.scope.plan.last_use.get(var, -1) <= self.position

    def was_dead(self, var: Var) -> bool:
        """Whether the one being written does not read `var` either."""
        return self.scope.plan.last_use.get(var, -1) < self.position

    def is_step(self, name: str) -> bool:
        """Whether a name is that of the number of a step, of a loop that this is in."""
        return False

    def introduce(self, var: Var, hint: str) -> str:
        """Name a variable that is no equation's, and is needed while this one is written."""
        self.need(var)
        return self.scope.names.give(var, identifier(hint), self.was_dead)

    def need(self, var: Var) -> None:
        """Say that a variable that is no equation's is needed while this one is written."""
        self.scope.plan.last_use[var] = self.position

    def hint(self, eqn: JaxprEqn, var: Var) -> str:
        """What a result would be called if no other variable were."""
        name = own_name(eqn, var)
        if name is not None:
            return identifier(name)
        of_several = result_name(eqn, var)
        if of_several is not None:
            return of_several
        if var in self.results and var not in self.terms:
            return "value_dot" if var in self.linear else "value"
        return self.described(eqn, var)

    def described(self, eqn: JaxprEqn, var: Var) -> str:
        """What a result is called after what computes it."""
        if isinstance(eqn.primitive, ConvertElementType) and self.scope.is_identity_matrix(eqn):
            return "identity"
        place = self._place_taken(eqn)
        if place is not None:
            return place
        if isinstance(eqn.primitive, ConvertElementType) and eqn.phase != "primal":
            converted = self.scope.definition(eqn.invars[0])
            if converted is not None:
                return self.described(converted, var)
        base = overwritten_base(eqn)
        if base is not None and base in self.scope.names:
            return self.scope.names[base]
        function = self._nonlinear(eqn)
        return identifier(describe(eqn, var in self.linear, self._names(eqn), function))

    def _place_taken(self, eqn: JaxprEqn) -> str | None:
        """`x_0`, `x_bar_i` or `x_0_1`, for an element or a row of `x` at places of known names."""
        names, indices = self.scope.names, list[str | None]()
        match eqn.primitive, eqn.invars:
            case Squeeze(), [row] if (part := self.scope.definition(row)) is not None:
                if not isinstance(part.primitive, Slice):
                    return None
                (array,), starts = part.invars, part.primitive.start_indices
                taken = [starts[axis] for axis in eqn.primitive.dimensions]
                leading = [*eqn.primitive.dimensions] == [*range(len(taken))]
                is_row = leading and same_shape(
                    row.aval.shape[len(taken) :], array.aval.shape[len(taken) :]
                )
                indices = [str(i) if isinstance(i, int) else None for i in taken] if is_row else []
            case Gather(), [array, *places] if not any(place.aval.shape for place in places):
                indices = self._names(eqn)[1:]
            case _:
                return None
        known = [index for index in indices if index is not None]
        if isinstance(array, Literal) or array.name is None or array not in names:
            return None
        return (
            identifier("_".join([array.name, *known]))
            if known and len(known) == len(indices)
            else None
        )

    def _names(self, eqn: JaxprEqn) -> list[str | None]:
        names = self.scope.names
        return [
            names[atom] if not isinstance(atom, Literal) and atom in names else None
            for atom in eqn.invars
        ]

    def _nonlinear(self, eqn: JaxprEqn) -> str | None:
        """The function of one number whose derivative an equation multiplies with, if it does.

        It is known by its result: `x_bar * (1.0 - x**2)` is the tanh that `x` comes from.
        """
        if eqn.phase != "cotangent":
            return None
        for name in self._names(eqn):
            if name is not None and name.endswith("_bar"):
                definition = self.user_s.get(name.removesuffix("_bar"))
                if definition is not None and isinstance(definition.primitive, Unary):
                    return definition.primitive.name
        return None

    def assign(self, eqn: JaxprEqn, expression: Expression) -> None:
        """Write `name = expression` for the one result of an equation."""
        (var,) = eqn.outvars
        if self.is_inner and var in self.results:
            # What a branch or a step leaves is a Python number as often as one of NumPy's.
            expression = self.scope.plain_conversion(eqn) or expression
        hint = self.hint(eqn, var)
        if var.name is None and eqn.phase == "primal" and hint not in ("value", "value_dot"):
            # What NumPy has a word for is several equations: `np.mean(x)`, `np.linalg.norm(x)`.
            composite = _COMPOSITE.match(expression.text)
            hint = "_".join(filter(None, composite.groups())) if composite else hint
        if isinstance(eqn.primitive, BroadcastInDim) and not expression.shape:
            # A statement of its own: it is a result, or the user gave it a name.
            like = self.scope.like(var, hint)
            expression = (
                self.scope.filled(expression, var.aval, like) if var.aval.shape else expression
            )
        elif var in self.results:
            expression = self.scope.broadcast(expression, var)
            if expression.text.startswith("np.broadcast_to("):
                expression = method(expression, "copy")
                self.copied.add(var)
        elif expression.shape is not None and not same_shape(expression.shape, var.aval.shape):
            self.scope.shapes[var] = expression.shape
        if var in self.scope.plan.copied:
            expression = method(expression, "copy")
        name = self.scope.names.give(var, hint, self.is_dead)
        if expression.text != name:
            self.line(f"{name} = {expression.text}")

    def may_be_overwritten(self, atom: Atom, var: Var) -> bool:
        """Whether the array of an operand can become that of the result, with the same name."""
        if not self.can_become(atom, var):
            return False
        assert isinstance(atom, Var)
        name, hint = self.scope.names[atom], self.hint(self.definitions[var], var)
        made = self.definitions.get(atom)
        called = atom.name if made is None else own_name(made, atom)
        alike = called is not None and called == var.name
        if name != hint and not (alike and (var.aval.shape or self._is_needed(hint))):
            return False
        # Else the name is that of a variable around this body, which is needed there.
        holder = self.scope.names.holder(name)
        return holder is not None and (holder is atom or self.is_dead(holder))

    def _is_needed(self, name: str) -> bool:
        """Whether a value that is called so is needed after the statement being written."""
        holder = self.scope.names.holder(name)
        return holder is not None and not self.is_dead(holder)

    def can_become(self, atom: Atom, var: Var) -> bool:
        """Whether the array of an operand can become that of the result.

        It must be an array of this function's own, in full, that nothing reads afterwards.
        """
        plan = self.scope.plan
        if isinstance(atom, Literal) or atom in plan.inlined or self.scope.is_smaller(atom):
            return False
        if atom not in self.scope.names or not self.is_dead(atom):
            return False
        is_number = not atom.aval.shape and atom not in self.scope.without_axes
        if is_number and not var.aval.shape:
            return True  # numbers are not changed but replaced
        if atom.aval != var.aval:
            return False
        return self.owns(atom) and plan.needed_until(atom) <= self.position

    def hand_on(self, old: Var, new: Var) -> None:
        """Say that a new value has the array of an old one."""
        if old in self.changed:
            self.changed[new] = self.changed[old]

    def owns(self, atom: Atom) -> bool:
        """Whether a value has an array of this function's own, or is a number of the program."""
        if isinstance(atom, Literal) or atom in self.owned:
            return True
        definition = self.definitions.get(atom)
        if definition is None:
            return False
        if isinstance(definition.primitive, Reshape) or is_basic_view(definition):
            return self.owns(definition.invars[0])
        return is_owned(definition)

    def is_handed_over(self, atom: Atom, operands: Sequence[Atom]) -> bool:
        """Whether the body of the equation being written may write into the array of an operand:
        nothing else refers to it, and it is one of the operands only once."""
        plan = self.scope.plan
        if isinstance(atom, Literal):
            return True
        if atom in plan.inlined:
            return is_owned(plan.inlined[atom])
        others = list(operands)
        others.remove(atom)
        return (
            self.owns(atom)
            and plan.needed_until(atom, but_for=self.position) <= self.position
            and not plan.may_read(others, plan.root(atom))
        )

    # -- results --------------------------------------------------------------------------------

    def result_texts(self, count: int | None = None) -> list[str]:
        """The expressions to return: arrays of the function's own, each once. With `count`, the
        results after so many others are not returned but left in arguments."""
        outvars = self.jaxpr.outvars
        left: Sequence[Atom] = [] if count is None else outvars[count:]
        inputs = {*self.jaxpr.invars, *self.jaxpr.constvars}
        inputs |= {self.scope.plan.root(atom) for atom in left if isinstance(atom, Var)}
        alike = origins(self.jaxpr)
        returned: set[Var] = set()
        maybe_returned: set[Var] = set()
        texts: list[str] = []
        for atom in outvars[: len(outvars) - len(left)]:
            expression = self.scope.whole(atom)
            if self._is_plain_number(atom) and not is_python_s(atom.aval.dtype):
                expression = call(dtype_name(atom.aval.dtype), expression)
            if not isinstance(atom, Literal) and atom.aval.shape:
                root = atom if atom in self.copied else self.scope.plan.root(atom)
                # What a branch or a loop gives may be one of several arrays.
                is_sure = self.owns(atom) or atom in self.copied
                several = frozenset([root]) if is_sure else alike[atom]
                others = returned | maybe_returned
                if not is_sure:
                    others |= inputs
                if root in inputs or not several.isdisjoint(others):
                    expression = method(expression, "copy")
                returned.update((root, self.scope.plan.root(atom)))
                if not is_sure:
                    maybe_returned.update(several)
            texts.append(expression.text)
        return texts

    def _is_plain_number(self, atom: Atom) -> bool:
        """Whether a result is a number, or may be one, that has no element type as it is written,
        but has one."""
        if isinstance(atom, Literal):
            return not atom.aval.weak_type
        eqn = self.definitions.get(atom)
        if eqn is None or not isinstance(eqn.primitive, Cond):
            return False
        outs = [b.jaxpr.outvars[eqn.outvars.index(atom)] for b in eqn.primitive.branches]
        return any(isinstance(out, Literal) and not out.aval.weak_type for out in outs)


def line_comment(line: Source) -> str:
    """`mlp.py:8: hidden = np.tanh(x @ w + b)`"""
    return f"{os.path.basename(line.file)}:{line.line}: {line.text}"


@functools.singledispatch
def write(primitive: Primitive, eqn: JaxprEqn, writer: Writer) -> None:
    """Write the statement or statements of an equation; by default, one assignment."""
    if primitive.multiple_results:
        _write_results(eqn, writer)
        return
    writer.assign(eqn, writer.scope.spell(eqn))


def _write_results(eqn: JaxprEqn, writer: Writer) -> None:
    """Write the assignment of several results, of which only those that are read have names."""
    read = [var for var in eqn.outvars if var in writer.scope.plan.last_use]
    text = writer.scope.spell(eqn).text
    give = writer.scope.names.give
    if len(read) == 1 and len(eqn.outvars) > 1:
        (var,) = read
        position = eqn.outvars.index(var)
        writer.line(f"{give(var, writer.hint(eqn, var), writer.is_dead)} = {text}[{position}]")
        return
    names = [
        give(var, writer.hint(eqn, var), writer.is_dead) if var in read else "_"
        for var in eqn.outvars
    ]
    writer.line(f"{', '.join(names)} = {text}")


@write.register(DynamicUpdateSlice)
@write.register(Pad)
@write.register(Scatter)
@write.register(UpdateSlice)
def write_placed(
    primitive: DynamicUpdateSlice | Pad | Scatter | UpdateSlice, eqn: JaxprEqn, writer: Writer
) -> None:
    """Write an assignment to a part of an array, a new one or one that nothing else needs."""
    (var,) = eqn.outvars
    placed = placement(eqn, writer.scope)
    names = writer.scope.names
    operator = "+" if placed.adds and placed.base is not None else ""
    if placed.base is not None and writer.may_be_overwritten(placed.base, var):
        assert isinstance(placed.base, Var)
        name = names[placed.base]
        names.hold(var, name)
        writer.hand_on(placed.base, var)
    else:
        hint = writer.hint(eqn, var)
        if placed.base is None:
            array = new_array(placed, var, hint, writer.scope)
            operator = "+" if placed.repeats or (placed.adds and eqn.phase == "primal") else ""
        elif writer.can_become(placed.base, var):
            array = writer.scope.expression(placed.base).text
        else:
            array = _as_new_array(placed.base, writer.scope).text
        name = names.give(var, hint, writer.was_dead)
        writer.line(f"{name} = {array}")
    writer.line(placed.put(name, operator))


def _as_new_array(atom: Atom, scope: Scope) -> Expression:
    """The expression of an operand as an array that nothing else refers to."""
    definition, found = scope.definition(atom), scope.expression(atom)
    complete = found.shape is None or same_shape(found.shape, atom.aval.shape)
    if definition is not None and is_owned(definition) and complete:
        return found
    whole = scope.whole(atom)
    return method(whole, "copy") if complete or found.shape else whole


def _linear(jaxpr: Jaxpr) -> set[Var]:
    """The variables that are tangents: those called `x_dot`, and those that depend on one."""
    found = {var for var in jaxpr.invars if var.name is not None and var.name.endswith("_dot")}
    for eqn in jaxpr.eqns:
        found.update(
            var for var in eqn.outvars if var.name is not None and var.name.endswith("_dot")
        )
        if eqn.phase == "tangent" and not found.isdisjoint(
            atom for atom in eqn.invars if not isinstance(atom, Literal)
        ):
            found.update(eqn.outvars)
    return found


def identifier(name: str) -> str:
    """A name that Python takes, near to the given one."""
    if name.isidentifier():
        base, mark, rest = name.partition("_steps")
        return FLAGS.get(base, base) + mark + rest
    text = re.sub(r"\W+", "_", name).strip("_") or "value"
    return f"value_{text}" if text[0].isdigit() else text


def _names_given(jaxpr: Jaxpr) -> Iterator[str]:
    """The names of the variables of a jaxpr, and of the bodies in it."""
    for eqn in jaxpr.eqns:
        yield from (var.name for var in eqn.outvars if var.name is not None)
        for body in eqn.primitive.jaxprs:
            yield from (var.name for var in body.jaxpr.invars if var.name is not None)
            yield from _names_given(body.jaxpr)


def name_sizes(jaxpr: Jaxpr, names: Names) -> dict[str, str]:
    """What each named dimension of the inputs is called, in the order in which shapes have them.

    The user's variables keep their names: a dimension of the same name is called `n_size`.
    """
    user_s = set(map(identifier, _names_given(jaxpr)))
    ordered: list[str] = []
    for var in jaxpr.invars:
        place = len(ordered)
        for name in reversed([name for size in var.aval.shape for name in sorted(names_of(size))]):
            if name in ordered:
                place = ordered.index(name)
            else:
                ordered.insert(place, name)
    return {n: names.reserve(f"{n}_size" if n in user_s else n) for n in ordered}
