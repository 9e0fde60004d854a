"""What spelling an equation may look at: names, sizes, and the expressions of operands."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from s2s.ir.dims import Dim, FloorDiv, Monomial, Shape, Size, same_shape, same_size
from s2s.ir.dtypes import INT64, PYTHON_SCALARS, DType, promote
from s2s.ir.jaxpr import Atom, ClosedJaxpr, JaxprEqn, Literal, ShapedArray, Var
from s2s.primitive import Precedence, Primitive
from s2s.primitives.core import BroadcastInDim, ConvertElementType
from s2s.primitives.creation import Iota
from s2s.primitives.joining import Stack
from s2s.primitives.logic import Eq
from s2s_codegen.numpy_source.constants import Constants
from s2s_codegen.numpy_source.expression import (
    ATOM,
    Expression,
    binary,
    call,
    dtype_name,
    is_python_s,
    negative,
    tuple_of,
)
from s2s_codegen.numpy_source.name import Names
from s2s_codegen.numpy_source.plan import Plan
from s2s_codegen.numpy_source.schedule import Lines


class Callees:
    """The functions of a module that its functions call, and what all of them are called."""

    def __init__(self) -> None:
        self.functions: dict[Primitive, str] = {}
        self.argument_hints: dict[Primitive, list[str | None]] = {}
        """What the first call of each function calls the arguments."""
        self.constants = Constants()
        self.copied: dict[Callable[..., Any], str] = {}
        """The functions of the user's that are copied into the module."""
        self.names_taken: set[str] = set()

    def name(self, primitive: Primitive, hint: str, names: Names) -> str:
        """What the function that a call is of is called; no variable in `names` is."""
        if primitive not in self.functions:
            self.functions[primitive] = self._new_name(hint, names)
        name = self.functions[primitive]
        names.hold(None, name)
        return name

    def copy(self, function: Callable[..., Any], names: Names) -> str:
        """What a copied function is called; no variable in `names` is."""
        if function not in self.copied:
            self.copied[function] = self._new_name(function.__name__, names)
        name = self.copied[function]
        names.hold(None, name)
        return name

    def name_constants(self, closed: ClosedJaxpr, names: Names) -> None:
        """Name the constants of a jaxpr; nothing else in the module is called so."""
        self.constants.name(closed, names)
        self.names_taken.update(self.constants.arrays)

    def _new_name(self, hint: str, names: Names) -> str:
        name, number = hint, 0
        while name in self.names_taken or names.is_taken(name):
            number += 1
            name = f"{hint}_{number}"
        self.names_taken.add(name)
        return name


class Scope:
    """One generated function while it is spelled."""

    def __init__(self, names: Names, sizes: dict[str, str], lines: Lines) -> None:
        self.names = names
        self.lines = lines
        self.plan = Plan()
        self.size_names = sizes
        """What each named dimension is called in the generated function."""
        self.positive_parts: dict[str, Size] = {}
        """The sizes that are what others are where these are not negative, and else 0."""
        self.sizes_read: set[str] = set()
        """The named dimensions that its text mentions."""
        self.counted: set[str] = set()
        """The names of what is only set in case that a size is mentioned."""
        self.shapes: dict[Var, Shape] = {}
        """The shapes of variables that are smaller than their types say, to be broadcast."""
        self.lists: set[Var] = set()
        """The stacked values that are lists of Python's, not arrays."""
        self.without_axes: set[Var] = set()
        """The values of rank 0 that may be arrays, not numbers."""
        self.hints: dict[Var, str] = {}
        """What variables without a name of the user's may be called."""
        self.undefined: set[Var] = set()
        """Variables that may have no value: of a branch, or of a loop that may run no step."""
        self.callees = Callees()
        """The functions beside this one."""

    # -- operands -------------------------------------------------------------------------------

    def expression(self, atom: Atom) -> Expression:
        """The expression of an operand: a number, a name, or what computes it."""
        if isinstance(atom, Literal):
            return literal(atom)
        eqn = self.plan.inlined.get(atom)
        if eqn is not None:
            return self.spell(eqn)
        return Expression(self.names[atom], ATOM, self.shapes.get(atom))

    def spell(self, eqn: JaxprEqn) -> Expression:
        """The expression of an equation's result."""
        from s2s_codegen.numpy_source.spell.dispatch import spell

        return spell(eqn.primitive, eqn, self)

    def operands(self, eqn: JaxprEqn) -> list[Expression]:
        """The expressions of the operands of an elementwise operation, or of numbers stacked.

        They may be smaller than their types say, and of another element type where NumPy's
        promotion gives the result the right one.
        """
        atoms = eqn.invars
        if any(self._is_conversion(atom) for atom in atoms):
            bare = [self._without_conversion(atom) for atom in atoms]
            taken = getattr(eqn.primitive, "kinds", "")
            if len(bare) == 1 and bare[0].aval.dtype.kind == "i" and "i" not in taken:
                # A function of real numbers takes integers for float64, but for those that round.
                said = getattr(eqn.primitive, "numpy", "")
                if atoms[0].aval.dtype == np.float64 and _makes_floats(said):
                    atoms = bare
            elif len(bare) > 1 or bare[0].aval.dtype == atoms[0].aval.dtype:
                kinds = [self._kind_as_written(atom) for atom in bare]
                # What a loop begins with may be a number of Python's, where NumPy's follow.
                perhaps = [
                    (kind, weak or (not atom.aval.shape and is_python_s(kind)))
                    for atom, (kind, weak) in zip(bare, kinds, strict=True)
                ]
                dtypes = {promote(*kinds)[0], promote(*perhaps)[0]}
                # Python's quotients and powers of floats raise where NumPy's give inf or nan.
                floats = all(weak and kind.kind == "f" for kind, weak in kinds)
                may_raise = floats and len(bare) > 1 and not isinstance(eqn.primitive, Stack)
                if dtypes == {atoms[-1].aval.dtype} and not may_raise:
                    atoms = bare
        return [self.expression(atom) for atom in atoms]

    def _kind_as_written(self, atom: Atom) -> tuple[DType, bool]:
        """The element type of an operand, and whether it is that of a number of Python's."""
        dtype = atom.aval.dtype
        if self.is_plain_number(atom):
            return PYTHON_SCALARS[type(dtype.type(0).item())], True
        return dtype, atom.aval.weak_type

    def is_plain_number(self, atom: Atom) -> bool:
        """Whether an operand of an elementwise operation is written as a number of Python's."""
        eqn = self.definition(atom)
        while eqn is not None and isinstance(eqn.primitive, BroadcastInDim):
            (atom,) = eqn.invars
            eqn = self.definition(atom)
        return isinstance(atom, Literal)

    def _is_conversion(self, atom: Atom) -> bool:
        eqn = self.definition(atom)
        return eqn is not None and isinstance(eqn.primitive, ConvertElementType)

    def _without_conversion(self, atom: Atom) -> Atom:
        """The operand of a conversion that is written in place, or the atom itself."""
        eqn = self.definition(atom)
        if eqn is None or not isinstance(eqn.primitive, ConvertElementType):
            return atom
        return atom if self.is_identity_matrix(eqn) else eqn.invars[0]

    def plain_number(self, atom: Atom) -> Atom:
        """The Python number that is converted to a NumPy one of the same kind, or the atom."""
        bare = self._without_conversion(atom)
        same = bare.aval.dtype == atom.aval.dtype and not atom.aval.shape
        return bare if same and bare.aval.weak_type else atom

    def plain_conversion(self, eqn: JaxprEqn) -> Expression | None:
        """The number that an equation makes Python's of NumPy's, or NumPy's of Python's, if so."""
        if not isinstance(eqn.primitive, ConvertElementType):
            return None
        (number,), (var,) = eqn.invars, eqn.outvars
        same = number.aval.dtype == var.aval.dtype == np.float64
        is_number = not number.aval.shape and number not in self.without_axes
        return self.expression(number) if same and is_number else None

    def is_identity_matrix(self, eqn: JaxprEqn) -> bool:
        """Whether an equation converts the comparison of the numbers of rows and of columns."""
        comparison = self.definition(eqn.invars[0])
        if comparison is None or not isinstance(comparison.primitive, Eq):
            return False
        counted = [self.definition(atom) for atom in comparison.invars]
        axes = [
            found.primitive.dimension
            for found in counted
            if found is not None and isinstance(found.primitive, Iota)
        ]
        shape = comparison.outvars[0].aval.shape
        return axes == [0, 1] and len(shape) == 2 and same_size(*shape)

    def whole(self, atom: Atom) -> Expression:
        """The expression of an operand in the shape that its type says."""
        return self.broadcast(self.expression(atom), atom)

    def broadcast(self, expression: Expression, atom: Atom) -> Expression:
        """An expression for `atom`, brought to the shape that its type says."""
        shape = atom.aval.shape
        if expression.shape is None or same_shape(expression.shape, shape):
            return expression
        added = len(shape) - len(expression.shape)
        if expression.shape and all(same_size(size, 1) for size in shape[:added]):
            if same_shape(expression.shape, shape[added:]):
                return Expression(f"{expression.atom}[{', '.join(['None'] * added)}]")
        if expression.shape:
            return call("np.broadcast_to", expression, self.shape(shape))
        return self.filled(expression, atom.aval)

    def filled(self, number: Expression, aval: ShapedArray, like: str | None = None) -> Expression:
        """A new array of the given type with the same number everywhere.

        `like` is the name of an array of that shape, if there is one.
        """
        shape = self.shape(aval.shape) if like is None else f"{like}.shape"
        dtype = [] if aval.dtype == np.float64 else [f"dtype={dtype_name(aval.dtype)}"]
        for text, function in (("0", "np.zeros"), ("1", "np.ones")):
            if number.text in (text, f"{text}.0"):
                return call(function, shape, *dtype)
        if aval.dtype.kind == "b" and number.text == "False":
            return call("np.zeros", shape, *dtype)
        same = number.text.isdecimal() or number.text in ("True", "False")
        exact = same and aval.dtype.name in ("int64", "bool")
        return call("np.full", shape, number, *([] if exact else dtype))

    def like(self, var: Var, hint: str) -> str | None:
        """The name of the array whose tangent or cotangent `var` is, if it can be named here."""
        base = hint.removesuffix("_bar").removesuffix("_dot")
        holder = self.names.holder(base)
        if base == hint or holder is None or holder in self.undefined or self.is_smaller(holder):
            return None
        if holder in self.lists:
            return None
        return base if same_shape(holder.aval.shape, var.aval.shape) else None

    def is_smaller(self, var: Var) -> bool:
        """Whether what a variable is called is smaller than its type says, to be broadcast."""
        return var in self.shapes

    def definition(self, atom: Atom) -> JaxprEqn | None:
        """The equation of an operand that is written in place, so that it may be written better."""
        return None if isinstance(atom, Literal) else self.plan.inlined.get(atom)

    # -- sizes ----------------------------------------------------------------------------------

    def size(self, size: Size) -> Expression:
        """A size in the names of the generated function: `n`, `2 * n - 1`."""
        if not isinstance(size, Dim):
            return Expression(str(size), ATOM if size >= 0 else Precedence.UNARY)
        total: Expression | None = None
        ordered = sorted(
            size.terms, key=lambda term: (-sum(p for _, p in term[0]), term[1] < 0, str(term[0]))
        )
        for monomial, coefficient in ordered:
            monomial = tuple(sorted(monomial, key=lambda item: self._order(item[0])))
            term = self._term(monomial, abs(coefficient))
            if total is None:
                total = term if coefficient > 0 else negative(term)
            else:
                total = binary("+" if coefficient > 0 else "-", total, term)
        assert total is not None
        return total

    def _term(self, monomial: Monomial, coefficient: int) -> Expression:
        term = Expression(str(coefficient)) if coefficient != 1 or not monomial else None
        for atom, power in monomial:
            factor = self._divided(atom) if isinstance(atom, FloorDiv) else self._named(atom)
            if power != 1:
                factor = binary("**", factor, Expression(str(power)))
            term = factor if term is None else binary("*", term, factor)
        assert term is not None
        return term

    def positive_part_of(self, size: Size) -> Size | None:
        """The size that `size` is where that is not negative, and else 0; None if it is no such
        part."""
        return self.positive_parts.get(str(size))

    def _order(self, atom: str | FloorDiv) -> int:
        """Sizes are multiplied in the order in which they stand in shapes: `n * k`."""
        places = list(self.size_names)
        return places.index(atom) if isinstance(atom, str) else len(places)

    def _named(self, name: str) -> Expression:
        self.sizes_read.add(name)
        return Expression(self.size_names[name])

    def _divided(self, atom: FloorDiv) -> Expression:
        return binary("//", self.size(atom.numerator), self.size(atom.denominator))

    def shape(self, shape: Sequence[Size]) -> str:
        """A shape as NumPy functions take it: `n` or `(n, 3)`."""
        sizes = [self.size(size).text for size in shape]
        return sizes[0] if len(sizes) == 1 else tuple_of(sizes)


@functools.cache
def _makes_floats(said: str) -> bool:
    """Whether what an operation of one operand is written as makes float64 of integers."""
    functions = [getattr(np, name) for name in re.findall(r"\bnp\.(\w+)", said)]
    return all(
        isinstance(function, np.ufunc)
        and function.nin == 1
        and function.resolve_dtypes((INT64, None))[-1] == np.float64
        for function in functions
    )


def literal(atom: Literal) -> Expression:
    """A number as Python writes it: what it meets gives it its element type."""
    value: Any = atom.value
    number: Any = value.item() if hasattr(value, "item") else value
    if isinstance(number, float):
        if not math.isfinite(number):
            return _not_finite(number, "math" if atom.aval.weak_type else "np")
        # The shortest text that gives the same number in the element type that it has.
        text = repr(number) if atom.aval.dtype.itemsize == 8 else str(value)
        text = text if "." in text or "e" in text else f"{text}.0"
    else:
        text = str(number)
    sign = text.startswith("-")
    return Expression(text, Precedence.UNARY if sign else ATOM, ())


def _not_finite(number: float, module: str) -> Expression:
    if number != number:
        return Expression(f"{module}.nan", ATOM, ())
    if number > 0:
        return Expression(f"{module}.inf", ATOM, ())
    return Expression(f"-{module}.inf", Precedence.UNARY, ())
