"""A primitive: one frozen class that holds every fact about one operation.

Static parameters are dataclass fields with JAX's names, so a primitive is hashable, comparable and
printable. The rules are methods. The families in `s2s/primitives/` supply most of them.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import importlib
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NoReturn, TypeAlias, cast

import numpy as np

from s2s.ir.dims import Dim, Size, substitute
from s2s.ir.jaxpr import (
    Atom,
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Literal,
    ShapedArray,
    Var,
    aval_of,
)
from s2s.ir.reading import field_types

Value: TypeAlias = Any
"""An operand or result under tracing: a Tracer, a Literal, a NumPy array, a number."""


class Zero:
    """A tangent or cotangent that is zero throughout, without an equation to compute it."""

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray) -> None:
        self.aval = aval

    def __repr__(self) -> str:
        return f"Zero({self.aval})"


class Linear:
    """Stands in `transpose` for an operand of unknown value that the primitive is linear in."""

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray) -> None:
        self.aval = aval

    def __repr__(self) -> str:
        return f"Linear({self.aval})"


class NotLinear(TypeError):
    """An equation that is transposed is not linear in the operands that it should be linear in."""


NOT_BATCHED: None = None
"""In `batch`, the batch axis of an operand that is the same for the whole batch."""

BatchAxis: TypeAlias = "int | None"


@dataclasses.dataclass(frozen=True, eq=False)
class PartialEval:
    """An equation split in two: `unknown` reads variables that `known` defines.

    `unknown_vars` are the results of the original equation that only `unknown` defines.
    """

    known: Sequence[JaxprEqn]
    unknown: Sequence[JaxprEqn]
    unknown_vars: Sequence[Var]


class Precedence(enum.IntEnum):
    """How tightly a Python expression binds, from a conditional expression to a name or a call."""

    CONDITIONAL = 0
    DISJUNCTION = 1
    CONJUNCTION = 2
    NEGATION = 3
    COMPARISON = 4
    OR = 5
    XOR = 6
    AND = 7
    SHIFT = 8
    SUM = 9
    PRODUCT = 10
    UNARY = 11
    POWER = 12
    ATOM = 13


Producer: TypeAlias = "Callable[[Value], JaxprEqn | None]"
"""Gives the equation that defines a traced operand; None for inputs, constants and literals."""

registry: dict[str, type[Primitive]] = {}
"""Every primitive whose module has been imported, by its name."""


class Primitive:
    """One operation: its types, its derivatives, its batching, and what targets call it.

    A subclass sets `name` (JAX's), `numpy` (a template such as `np.sin({0})`, with the fields as
    further keys) and `stablehlo`, and has the rules as methods. A rule that is missing raises
    NotImplementedError, which names the primitive, the rule, and the file to write it in.
    """

    name: ClassVar[str]
    numpy: ClassVar[str] = ""
    math: ClassVar[str] = ""
    """The call that does the same for Python floats, where there is one: `math.sin({0})`."""

    def is_of_numbers(self, result: ShapedArray) -> bool:
        """Whether a result of this type is written by `math`."""
        return result.weak_type and bool(self.math)

    precedence: ClassVar[Precedence] = Precedence.ATOM
    """How tightly the expression of `spell` binds."""
    imports: ClassVar[tuple[str, ...]] = ()
    """The modules that `numpy` needs beside NumPy."""
    stablehlo: ClassVar[str] = ""
    multiple_results: ClassVar[bool] = False
    commutative: ClassVar[bool] = False
    """Whether exchanging the two operands gives the same bits."""
    is_cheap: ClassVar[bool] = False
    """Whether computing it again costs about as much as reading a kept result (elementwise, views).
    Loops recompute such values in their backward part rather than keep them for each step."""
    is_loop: ClassVar[bool] = False
    """Whether it runs its jaxprs any number of times."""
    is_call: ClassVar[bool] = False
    """Whether it does no more than call its `jaxpr` parameter, which has a `name` (jit). Jaxprs
    then print the callee with the variable names of the operands and results."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        name: str | None = cls.__dict__.get("name")
        if name is not None:
            found = registry.setdefault(name, cls)
            # A class is made anew by dataclass(slots=True) and when its module is loaded again.
            if (found.__module__, found.__qualname__) != (cls.__module__, cls.__qualname__):
                raise TypeError(f"two primitives are called {name!r}: {found} and {cls}")
            registry[name] = cls

    def __eq__(self, other: object) -> bool:
        """Primitives without parameters; a dataclass compares its fields as well."""
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    # -- types ----------------------------------------------------------------------------------

    def abstract(self, *args: Any, **kwargs: Any) -> Any:
        """The type of the result, given those of the operands; a list with `multiple_results`.

        Raises TypeError, in the user's words, if the operands do not fit. (Written like this, a
        subclass may name its operands.)
        """
        self.missing("abstract")

    def result_avals(self, avals: Sequence[ShapedArray]) -> Sequence[ShapedArray]:
        """The types of the results, always as a sequence."""
        result = self.abstract(*avals)
        return result if self.multiple_results else (result,)

    # -- derivatives ----------------------------------------------------------------------------

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        """The results and their tangents. A tangent is `Zero` where it is known to be zero."""
        self.missing("jvp")

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        """A cotangent for each operand that is `Linear`, and None for each that is not.

        `cts` has one entry for each result, `Zero` where it is known to be zero (not all are).
        """
        self.missing("transpose")

    # -- batching -------------------------------------------------------------------------------

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, Any]:
        """The results and their batch axes, for operands of which some have a batch axis.

        With `multiple_results`, both are sequences. At least one operand is batched.
        """
        self.missing("batch")

    # -- partial evaluation (control flow only; the rest is known if all its operands are) -------

    def partial_eval(self, eqn: JaxprEqn, unknown: Sequence[bool]) -> PartialEval | None:
        """How to split an equation with some unknown operands; None if it is unknown as a whole."""
        return None

    def dce(self, eqn: JaxprEqn, used: Sequence[bool]) -> JaxprEqn:
        """The equation without what only its unused results need; itself where there is no such."""
        return eqn

    @property
    def has_effect(self) -> bool:
        """Whether the equation must stay even if nobody uses its results (raise, print)."""
        return False

    # -- jaxprs in parameters -------------------------------------------------------------------

    @property
    def jaxprs(self) -> Sequence[ClosedJaxpr]:
        """The jaxprs in the parameters."""
        return ()

    def with_jaxprs(self, transform: Callable[[ClosedJaxpr], ClosedJaxpr]) -> Primitive:
        """The same primitive with each jaxpr in its parameters replaced by an equivalent one."""
        return self

    @property
    def bound_dimension(self) -> str | None:
        """The named dimension that the equation defines, whose value is its first result.

        Only a loop of unknown length has one: the types of its other results mention it.
        """
        return None

    def finish(self, args: Sequence[Value]) -> Sequence[Value] | None:
        """The results by other equations, once all derivatives are taken; None to stay.

        For what only says how to differentiate: a user's own rules, stop_gradient.
        """
        return None

    def unpack(self, args: Sequence[Value]) -> Sequence[Value] | None:
        """As `finish`, but only when all else is tidied: for what is computed again on purpose."""
        return None

    def tidied(
        self,
        args: Sequence[Value],
        producer: Producer,
        tidy: Callable[[ClosedJaxpr], ClosedJaxpr],
    ) -> Sequence[Value] | None:
        """The results by a primitive whose jaxprs are tidied, and that has no more operands,
        results and carried values than it needs; None to stay as it is."""
        return None

    def adding_to(
        self,
        start: Atom,
        place: int,
        eqn: JaxprEqn,
        total: JaxprEqn,
        producers: Mapping[Var, JaxprEqn],
    ) -> JaxprEqn | None:
        """The equation that adds a result of `eqn`, which is of this primitive, to `start` itself,
        as the sum `total` does; None if there is none."""
        return None

    def absorbed(self, eqn: JaxprEqn, reader: JaxprEqn) -> JaxprEqn | None:
        """An equation of this primitive with another one, which alone reads some of its results,
        done in its jaxprs; None unless that is simpler."""
        return None

    # -- meaning --------------------------------------------------------------------------------

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        """The NumPy expression for operands of given texts and types.

        Each text binds at least as tightly as `operand_precedence` says for its position.
        """
        if not self.numpy:
            self.missing("spell")
        return self.numpy.format(*operands, **self.parameters())

    def operand_precedence(self, position: int) -> Precedence:
        """How tightly the text of an operand must bind to stand in `spell` without parentheses."""
        own = self.precedence
        leads = position == 0 and not self.numpy.startswith(("-", "~"))
        if own is Precedence.ATOM:
            return Precedence.ATOM if self.numpy.startswith(f"{{{position}}}") else Precedence(0)
        if own is Precedence.UNARY:
            return own
        if own in (Precedence.POWER, Precedence.COMPARISON, Precedence.CONDITIONAL):
            return Precedence(own + 1) if leads or own is not Precedence.POWER else Precedence.UNARY
        return own if leads else Precedence(own + 1)

    @property
    def copied_function(self) -> Callable[..., Any] | None:
        """A function of the user's that `spell` calls by its name, to be copied into modules."""
        return None

    def composition(self, *operands: Value) -> Any:
        """The result by other primitives, for targets that have no word of their own for it."""
        self.missing("composition")

    def evaluate(self, *arrays: Any) -> Any:
        """The result on plain NumPy arrays and Python scalars: what `spell` says, executed."""
        return _compiled(self, tuple(map(aval_of, arrays)))(*arrays)

    def fold(self, args: Sequence[Value], producer: Producer) -> Value | None:
        """A simpler value for the same operands (`x * 1` is `x`), or None.

        It must be the same value to the last bit (but for the bits of a NaN).
        """
        return None

    def fold_derivative(self, args: Sequence[Value], producer: Producer) -> Value | None:
        """A simpler value that real arithmetic gives (`x + 0` is `x`), or None.

        For derivative equations only, after `fold`: signed zeros, overflow and the last bits may
        differ.
        """
        return None

    # -- parameters -----------------------------------------------------------------------------

    def parameters(self) -> dict[str, Any]:
        """The static parameters, the fields, in alphabetical order."""
        if not dataclasses.is_dataclass(self):
            return {}
        names = sorted(field.name for field in dataclasses.fields(self))
        return {name: getattr(self, name) for name in names}

    def printed_parameters(self) -> Mapping[str, Any]:
        """The parameters as jaxprs print them: without those that the types of the results say,
        and without those that are trivial (which must be the fields' defaults)."""
        return self.parameters()

    @classmethod
    def printed_types(cls) -> dict[str, Any]:
        """The types of the parameters that jaxprs print, by which their text is read.

        No field can be called `name`, as the class is: that parameter is the name of a callee.
        """
        fields = field_types(cls) if dataclasses.is_dataclass(cls) else {}
        return {"name": str, **fields}

    @classmethod
    def from_printed(
        cls, printed: Mapping[str, Any], out_avals: Sequence[ShapedArray]
    ) -> Primitive:
        """The primitive whose `printed_parameters` are these, in an equation with such results."""
        return cls(**printed)

    def with_sizes(self, sizes: Mapping[str, Size]) -> Primitive:
        """The same primitive with named dimensions in its parameters replaced."""
        if not dataclasses.is_dataclass(self):
            return self
        old = self.parameters()
        new = {name: substitute_in(value, sizes) for name, value in old.items()}
        if all(new[name] is old[name] for name in old):
            return self
        return dataclasses.replace(self, **new)

    def missing(self, rule: str) -> NoReturn:
        """Raise the error for a rule that this primitive does not have."""
        cls = type(self)
        try:
            where = inspect.getsourcefile(cls) or cls.__module__
        except TypeError:
            where = cls.__module__
        raise NotImplementedError(
            f"primitive {self.name!r} has no {rule!r} rule; "
            f"it would be a method of {cls.__name__} in {where}"
        )

    def __str__(self) -> str:
        shown = " ".join(f"{name}={value}" for name, value in self.parameters().items())
        return f"{self.name}[{shown}]" if shown else self.name


def substitute_in(value: Any, sizes: Mapping[str, Size]) -> Any:
    """A parameter with the named dimensions in it replaced; the same object if there are none."""
    if isinstance(value, Dim):
        return substitute(value, sizes)
    if isinstance(value, tuple):
        items = cast("tuple[Any, ...]", value)
        new = tuple(substitute_in(item, sizes) for item in items)
        if all(a is b for a, b in zip(new, items, strict=True)):
            return items
        return new
    if isinstance(value, ClosedJaxpr):
        return jaxpr_with_sizes(value, sizes)
    return value


def jaxpr_with_sizes(closed: ClosedJaxpr, sizes: Mapping[str, Size]) -> ClosedJaxpr:
    """A jaxpr with named dimensions replaced throughout; the same object if it has none of them."""
    variables: dict[Var, Var] = {}
    changed = False

    def define(var: Var) -> Var:
        nonlocal changed
        shape = substitute_in(var.aval.shape, sizes)
        if shape is var.aval.shape:
            return var
        changed = True
        aval = ShapedArray(shape, var.aval.dtype, var.aval.weak_type)
        variables[var] = Var(aval, var.name)
        return variables[var]

    def use(atom: Atom) -> Atom:
        return atom if isinstance(atom, Literal) else variables.get(atom, atom)

    jaxpr = closed.jaxpr
    constvars = [define(var) for var in jaxpr.constvars]
    invars = [define(var) for var in jaxpr.invars]
    eqns: list[JaxprEqn] = []
    for eqn in jaxpr.eqns:
        primitive = eqn.primitive.with_sizes(sizes)
        changed = changed or primitive is not eqn.primitive
        operands = [use(atom) for atom in eqn.invars]
        outvars = [define(var) for var in eqn.outvars]
        eqns.append(JaxprEqn(primitive, operands, outvars, eqn.source, eqn.phase))
    if not changed:
        return closed
    outvars = [use(atom) for atom in jaxpr.outvars]
    return ClosedJaxpr(Jaxpr(constvars, invars, eqns, outvars), closed.consts)


@functools.lru_cache(maxsize=4096)
def _compiled(primitive: Primitive, avals: tuple[ShapedArray, ...]) -> Callable[..., Any]:
    operands = [f"x{i}" for i in range(len(avals))]
    text = f"lambda {', '.join(operands)}: {primitive.spell(operands, avals)}"
    names: dict[str, Any] = {"np": np, "math": math}
    for module in primitive.imports:
        package = module.partition(".")[0]
        importlib.import_module(module)
        names[package] = importlib.import_module(package)
    return eval(text, names)
