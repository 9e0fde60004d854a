"""Tracing: there is one tracer, and it appends equations to the builder in force.

    make(lambda x: [mul(x, x)], [f64[]])  ->  { lambda ; a:f64[]. let b:f64[] = mul a a in (b,) }

Values of an enclosing trace that are met inside become constvars of the inner jaxpr, so nested
transformations need no stack of interpreters: an inner function is traced to a jaxpr, transformed,
and inlined.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Hashable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from s2s.errors import UserError
from s2s.in_force import builder_in_force as builder_in_force, builders as _builders
from s2s.ir.assumptions import UndecidedDimension
from s2s.ir.dims import Dim, Size
from s2s.ir.dtypes import PYTHON_SCALARS
from s2s.ir.jaxpr import (
    Atom,
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Literal,
    Phase,
    ShapedArray,
    Source,
    Var,
    aval_of,
)
from s2s.primitive import Linear, NotLinear, Primitive, Value, Zero

Array: TypeAlias = "np.ndarray[Any, Any]"


class Tracer:
    """A value that stands for a variable of the jaxpr being built.

    The subclass that users meet, with operators and methods, is `s2s.numpy.TracedArray`; it is
    what builders make once `s2s.numpy` has registered it in `tracer_type`.
    """

    __slots__ = ("__weakref__", "builder", "variable")

    def __init__(self, builder: Builder, var: Var) -> None:
        self.builder = builder
        self.variable = var

    @property
    def aval(self) -> ShapedArray:
        return self.variable.aval

    def __copy__(self) -> Tracer:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Tracer:
        return self

    def __repr__(self) -> str:
        return f"<traced {self.variable.name or 'value'}: {self.variable.aval}>"


tracer_type: list[type[Tracer]] = [Tracer]
"""The class of new tracers: one entry, replaced by `s2s.numpy` when it is imported."""


class Builder:
    """A jaxpr in the making. `source` and `phase` are given to each equation appended.

    With `folding`, each equation is first offered to its primitive's `fold` rule. `array_names`
    has the user's names for arrays that are not traced, by identity, and `copies` those of them
    that are constants, as they were when they were met: the builders of nested traces share both.
    """

    __slots__ = (
        "_captured",
        "_producers",
        "_scanned",
        "array_names",
        "axes",
        "constvars",
        "consts",
        "copies",
        "eqns",
        "folding",
        "forgotten",
        "phase",
        "ranges",
        "sizes",
        "source",
    )

    def __init__(
        self, source: Source | None = None, phase: Phase = "primal", folding: bool = False
    ) -> None:
        self.eqns: list[JaxprEqn] = []
        self.constvars: list[Var] = []
        self.consts: list[Any] = []
        self.source = source
        self.phase: Phase = phase
        self.folding = folding
        self.forgotten = 0
        """How often equations were taken back."""
        self.array_names: dict[int, tuple[Array, str]] = {}
        self.copies: dict[int, tuple[Array, Array]] = {}
        self.ranges: dict[Var, Callable[[], tuple[Sequence[Size], Sequence[Size]]]] = {}
        """What integers that are inputs are at least, and what they are at most."""
        self.axes: dict[str, Size] = {}
        """For ends of slices that are clipped, by their text, the size of the axis."""
        self.sizes: dict[Hashable, tuple[Size, Var]] = {}
        """Integers of the trace as sizes, with the results of the equations that bind these."""
        self._captured: dict[int, tuple[Any, Any, Var]] = {}
        self._producers: dict[Var, JaxprEqn] = {}
        self._scanned = 0

    def forget(self, number: int) -> None:
        """Take back all equations but the first `number`; nothing may refer to them any more."""
        for eqn in self.eqns[number:]:
            for var in eqn.outvars:
                self._producers.pop(var, None)
        del self.eqns[number:]
        self.forgotten += 1
        self._scanned = min(self._scanned, number)

    def producer(self, value: Value) -> JaxprEqn | None:
        """The equation of this builder that defines a value, or None."""
        if not isinstance(value, Tracer):
            return None
        if self._scanned < len(self.eqns):
            for eqn in self.eqns[self._scanned :]:
                for var in eqn.outvars:
                    self._producers[var] = eqn
            self._scanned = len(self.eqns)
        return self._producers.get(value.variable)

    def atom(self, value: Value) -> Atom:
        """The variable or literal for an operand; arrays and outer tracers become constvars."""
        if isinstance(value, Tracer):
            return value.variable if value.builder is self else self._capture(value, value.aval)
        if isinstance(value, Literal):
            return value
        if isinstance(value, np.ndarray):
            return self._capture(value, aval_of(value))
        if isinstance(value, Linear):
            raise NotLinear(value)
        return Literal(value, aval_of(value))

    def _capture(self, value: Any, aval: ShapedArray) -> Var:
        """The constvar for an array or a value of another builder: the same as the last time,
        unless the array was changed since."""
        # A mutable traced array is another value after each update, hence the variable's identity.
        identity = id(value.variable) if isinstance(value, Tracer) else id(value)
        captured = self._captured.get(identity)
        if captured is not None:
            original, const, var = captured
            if const is original or _same(const, original):
                return var
        if isinstance(value, Tracer):
            if not any(value.builder is builder for builder in _builders):
                raise TypeError(
                    f"{value} was computed inside of a function whose trace has ended; "
                    "it must be returned from that function to be used outside of it"
                )
            const, name = tracer_of(value.builder, value.variable), value.variable.name
            original = const
        else:
            original, const = value, self._copy(value)
            name = self.array_names.get(identity, (None, None))[1]
            captured = self._captured.get(id(const))
            if captured is not None:
                return captured[2]
        var = Var(aval, name)
        self._captured[identity] = self._captured[id(const)] = (original, const, var)
        self.constvars.append(var)
        self.consts.append(const)
        return var

    def _copy(self, array: Array) -> Array:
        """The array as it is now: one copy for all traces, until its owner changes it."""
        original, copy = self.copies.get(id(array), (None, array))
        if original is not array or not _same(copy, array):
            copy = unchanging(array)
            self.copies[id(array)] = array, copy
            if id(array) in self.array_names:
                self.array_names[id(copy)] = copy, self.array_names[id(array)][1]
        return copy

    def append(
        self, primitive: Primitive, atoms: Sequence[Atom], avals: Sequence[ShapedArray]
    ) -> list[Var]:
        """Append an equation whose results have the types `avals`, as the primitive's abstract
        rule gave them, and return its result variables."""
        outvars = [Var(aval) for aval in avals]
        self.eqns.append(JaxprEqn(primitive, atoms, outvars, self.source, self.phase, True))
        return outvars


def builders_in_force() -> tuple[Builder, ...]:
    """The builders of the traces that are going on, the innermost last."""
    return tuple(_builders)


def unchanging(array: Array) -> Array:
    """The array as it is now, whatever its owner does to it later."""
    if array.flags.owndata and not array.flags.writeable:
        return array
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def _same(copy: Array, array: Array) -> bool:
    return copy.shape == array.shape and copy.tobytes() == array.tobytes()


def tracer_of(builder: Builder, var: Var) -> Tracer:
    """A tracer for a variable of `builder`."""
    return tracer_type[0](builder, var)


@contextlib.contextmanager
def appending_to(builder: Builder) -> Generator[None]:
    """Put a builder in force for the duration of a `with` block."""
    _builders.append(builder)
    try:
        yield
    finally:
        _builders.pop()


@contextlib.contextmanager
def phase(name: Phase) -> Generator[None]:
    """Mark the equations appended inside the block as primal, tangent or cotangent ones."""
    builder = builder_in_force()
    if builder is None:
        yield
        return
    before, builder.phase = builder.phase, name
    try:
        yield
    finally:
        builder.phase = before


def bind(primitive: Primitive, *args: Value) -> Any:
    """Apply a primitive: append its equation to the builder in force, or evaluate it if none is.

    Returns one value, or a list of them if the primitive has multiple results. Operands must
    already have the dtypes and shapes that the primitive's abstract rule wants.
    """
    if not _builders:
        return primitive.evaluate(*[a.value if isinstance(a, Literal) else a for a in args])
    builder = _builders[-1]
    if builder.folding:
        folded = primitive.fold(args, builder.producer)
        if folded is None and builder.phase != "primal":
            folded = primitive.fold_derivative(args, builder.producer)
        if folded is not None:
            return folded
    atoms = [builder.atom(arg) for arg in args]
    avals = primitive.result_avals([atom.aval for atom in atoms])
    outvars = builder.append(primitive, atoms, avals)
    make_tracer = tracer_type[0]
    if primitive.multiple_results:
        return [make_tracer(builder, var) for var in outvars]
    return make_tracer(builder, outvars[0])


def aval(value: Value) -> ShapedArray:
    """The type of any operand: a tracer, a literal, a symbolic zero, an array or a number."""
    if isinstance(value, (Tracer, Literal, Zero, Linear)):
        return value.aval
    return aval_of(value)


def is_concrete(value: Value) -> bool:
    """Whether the value is known now: an array, a number or a literal."""
    return isinstance(value, (Literal, np.ndarray, np.generic)) or type(value) in PYTHON_SCALARS


def scalar(number: Any, like: ShapedArray) -> Literal:
    """The literal `number` with the element type of `like`, not weak."""
    return Literal(like.dtype.type(number), ShapedArray((), like.dtype))


def make(
    fun: Callable[..., Sequence[Value]],
    avals: Sequence[ShapedArray],
    names: Sequence[str | None] | None = None,
    source: Source | None = None,
    folding: bool = False,
) -> ClosedJaxpr:
    """Trace a function of flat values: called with one tracer for each type, it returns a sequence
    of values. `names` are hints for the code generator; with `folding`, equations are simplified
    as they are built. Without `source`, the line in force in the enclosing trace is taken."""
    outer = builder_in_force()
    builder = Builder(source, folding=folding)
    if outer is not None:
        builder.source = source if source is not None else outer.source
        builder.array_names, builder.copies = outer.array_names, outer.copies
    invars = [Var(a, n) for a, n in zip(avals, names or [None] * len(avals), strict=True)]
    with appending_to(builder):
        results = fun(*[tracer_of(builder, var) for var in invars])
        outvars = [builder.atom(result) for result in results]
    return ClosedJaxpr(
        Jaxpr(builder.constvars, invars, builder.eqns, outvars), tuple(builder.consts)
    )


Step = Callable[[JaxprEqn, Sequence[Any]], Sequence[Any]]


def walk(closed: ClosedJaxpr, args: Sequence[Any], step: Step) -> list[Any]:
    """The forward walk that the passes share.

    `step` gets each equation with what the environment holds for its operands (literals stand for
    themselves) and returns what it shall hold for its results. Constvars hold their values. In the
    builder in force, the equations that `step` appends carry the walked equation's source.
    """
    jaxpr = closed.jaxpr
    env: dict[Var, Any] = dict(zip(jaxpr.constvars, closed.consts, strict=True))
    env.update(zip(jaxpr.invars, args, strict=True))
    for var, const in zip(jaxpr.constvars, closed.consts, strict=True):
        if var.name is not None:
            named(const, var.name)
    builder = builder_in_force()
    outer = (builder.source, builder.phase) if builder is not None else None
    for eqn in jaxpr.eqns:
        if builder is not None:
            builder.source = _within(eqn.source, outer[0]) if outer is not None else eqn.source
            builder.phase = eqn.phase
        operands = [atom if isinstance(atom, Literal) else env[atom] for atom in eqn.invars]
        try:
            results = step(eqn, operands)
        except UndecidedDimension as error:
            raise UserError(f"{error}.", eqn.source) from error
        for var, result in zip(eqn.outvars, results, strict=True):
            env[var] = result
    if builder is not None and outer is not None:
        builder.source, builder.phase = outer
    return [atom if isinstance(atom, Literal) else env[atom] for atom in jaxpr.outvars]


def _within(source: Source | None, caller: Source | None) -> Source | None:
    return caller if source is None else source


def copy_equation(eqn: JaxprEqn, operands: Sequence[Value]) -> list[Tracer]:
    """Append a copy of an equation with other operands of the same types; names are handed on."""
    builder = _builders[-1]
    atoms = [builder.atom(operand) for operand in operands]
    outvars = [Var(var.aval, var.name) for var in eqn.outvars]
    types_hold = eqn.types_hold
    for new, old in zip(atoms, eqn.invars, strict=True):
        if new.aval is not old.aval and new.aval != old.aval:
            types_hold = False
    builder.eqns.append(
        JaxprEqn(eqn.primitive, atoms, outvars, builder.source, builder.phase, types_hold)
    )
    make_tracer = tracer_type[0]
    return [make_tracer(builder, var) for var in outvars]


def inline(closed: ClosedJaxpr, *args: Value) -> list[Value]:
    """The results of a jaxpr on given values: copied into the builder in force, or evaluated."""
    if not _builders:
        return evaluate(closed, *args)
    results = walk(closed, args, copy_equation)
    return [r.value if isinstance(r, Literal) else r for r in results]


def inline_call(closed: ClosedJaxpr, *args: Value, as_phase: Phase | None = None) -> list[Value]:
    """`inline` for a function that the line in force calls, which its own lines then say.

    With `as_phase`, its equations are of that phase.
    """
    builder = builder_in_force()
    if builder is None:
        return evaluate(closed, *args)
    caller = builder.source

    def step(eqn: JaxprEqn, operands: Sequence[Any]) -> Sequence[Any]:
        if eqn.source is not None:
            builder.source = eqn.source.called_from(caller)
        if as_phase is not None:
            builder.phase = as_phase
        return copy_equation(eqn, operands)

    results = walk(closed, args, step)
    return [r.value if isinstance(r, Literal) else r for r in results]


def evaluate(closed: ClosedJaxpr, *args: Any) -> list[Any]:
    """The results of a jaxpr without named inputs' dimensions on NumPy arrays and Python scalars.

    Dimensions that equations of the jaxpr bind get their values as these are evaluated.
    """
    sizes: dict[str, Size] = {}

    def step(eqn: JaxprEqn, operands: Sequence[Any]) -> Sequence[Any]:
        values = [o.value if isinstance(o, Literal) else o for o in operands]
        primitive = eqn.primitive.with_sizes(sizes) if sizes else eqn.primitive
        result = primitive.evaluate(*values)
        if eqn.primitive.bound_dimension is not None:
            sizes[eqn.primitive.bound_dimension] = int(result[0])
        return result if eqn.primitive.multiple_results else (result,)

    results = walk(closed, args, step)
    return [r.value if isinstance(r, Literal) else r for r in results]


def known_value(value: Value) -> Any:
    """The value of what depends on constants only; None if it depends on inputs or named sizes.

    For questions that must be answered while tracing, such as which elements a mask selects.
    """
    if not isinstance(value, Tracer):
        return value.value if isinstance(value, Literal) else value
    builder = value.builder
    constants = dict(zip(builder.constvars, builder.consts, strict=True))
    found: dict[Var, Any] = {}
    needed: set[int] = set()
    stack: list[Atom] = [value.variable]
    while stack:
        atom = stack.pop()
        if isinstance(atom, Literal) or atom in found:
            continue
        eqn = builder.producer(tracer_of(builder, atom))
        if eqn is not None:
            if eqn.primitive.has_effect or _has_named_sizes(eqn):
                return None
            if id(eqn) not in needed:
                needed.add(id(eqn))
                stack.extend(eqn.invars)
        elif atom in constants and (known := known_value(constants[atom])) is not None:
            found[atom] = known
        else:
            return None
    eqns = [eqn for eqn in builder.eqns if id(eqn) in needed]
    jaxpr = Jaxpr(list(found), [], eqns, [value.variable])
    return evaluate(ClosedJaxpr(jaxpr, tuple(found.values())))[0]


def _has_named_sizes(eqn: JaxprEqn) -> bool:
    sizes = [size for var in eqn.outvars for size in var.aval.shape]
    sizes.extend(eqn.primitive.parameters().values())
    return any(isinstance(size, Dim) for size in sizes)


def named(value: Value, name: str) -> Value:
    """Give a value the user's name for it, unless it has one already.

    Of a NumPy array, the name is that of the constvar that it becomes where it is used.
    """
    if isinstance(value, Tracer):
        if value.variable.name is None:
            value.variable.name = name
    elif _builders and type(value) is np.ndarray:
        _builders[-1].array_names.setdefault(id(value), (cast(Array, value), name))
    return cast(Value, value)
