"""The IR: typed values, equations, jaxprs. See docs/jaxpr.md for the language.

jaxpr ::= { lambda constvars ; invars . let eqns in (outvars) }
eqn   ::= outvars = primitive[parameters] atoms
atom  ::= Var | Literal
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal as OneOf, NamedTuple, TypeAlias, cast

import numpy as np

from s2s.ir.dims import Shape, Size, product, same_shape
from s2s.ir.dtypes import PYTHON_SCALARS, SHORT_NAMES, DType, refused, refused_class

if TYPE_CHECKING:
    from s2s.primitive import Primitive


class ShapedArray:
    """The type of a value: shape, element type, and whether it is a Python scalar (weak)."""

    __slots__ = ("dtype", "shape", "weak_type")

    def __init__(self, shape: Shape, dtype: DType, weak_type: bool = False) -> None:
        self.shape = shape
        self.dtype = dtype
        self.weak_type = weak_type

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> Size:
        return product(self.shape)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ShapedArray)
            and self.dtype == other.dtype
            and same_shape(self.shape, other.shape)
            and self.weak_type == other.weak_type
        )

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype, self.weak_type))

    def __str__(self) -> str:
        return f"{SHORT_NAMES.get(self.dtype, str(self.dtype))}[{','.join(map(str, self.shape))}]"

    __repr__ = __str__

    def strong(self) -> ShapedArray:
        """The same type as a NumPy value rather than a Python scalar."""
        return ShapedArray(self.shape, self.dtype) if self.weak_type else self


class Var:
    """A value defined once: by a jaxpr's parameters or by an equation. Equal only to itself.

    `name` is what the user called it, if anything: a hint for the code generator.
    """

    __slots__ = ("aval", "name")

    def __init__(self, aval: ShapedArray, name: str | None = None) -> None:
        self.aval = aval
        self.name = name

    def __repr__(self) -> str:
        return f"{self.name or '_'}:{self.aval}"


class Literal:
    """A scalar constant, written in place. `value` is a Python or NumPy scalar of `aval`'s type."""

    __slots__ = ("aval", "value")

    def __init__(self, value: Any, aval: ShapedArray) -> None:
        self.value = value
        self.aval = aval

    def __repr__(self) -> str:
        return f"{self.value}:{self.aval}"

    def key(self) -> tuple[str, str, DType]:
        """Equal for literals that are interchangeable (`0.0` and `-0.0` are not, NaN is itself)."""
        return (type(self.value).__name__, repr(self.value), self.aval.dtype)


Atom: TypeAlias = "Var | Literal"


class Source(NamedTuple):
    """A line of the user's file; `caller` is the line that called the function it stands in, whose
    first line is `function`."""

    file: str
    line: int
    text: str
    caller: Source | None = None
    function: int = 0

    def called_from(self, caller: Source | None) -> Source:
        """The same line, in a function that is called from `caller`."""
        if caller is None:
            return self
        outer = caller if self.caller is None else self.caller.called_from(caller)
        return self._replace(caller=outer)


Phase: TypeAlias = OneOf["primal", "tangent", "cotangent"]
"""What an equation computes: the user's own value, a derivative forward, a derivative backward."""


class JaxprEqn:
    """`outvars = primitive invars`, with the line of the user's file that it comes from.

    `types_hold` remembers that the primitive's abstract rule gave these types of results for these
    operands, so that an equation that passes hand on is not checked again.
    """

    __slots__ = ("invars", "outvars", "phase", "primitive", "source", "types_hold")

    def __init__(
        self,
        primitive: Primitive,
        invars: Sequence[Atom],
        outvars: Sequence[Var],
        source: Source | None = None,
        phase: Phase = "primal",
        types_hold: bool = False,
    ) -> None:
        self.types_hold = types_hold
        self.primitive = primitive
        self.invars = invars
        self.outvars = outvars
        self.source = source
        self.phase: Phase = phase

    def __repr__(self) -> str:
        return f"{self.outvars} = {self.primitive} {self.invars}"


class Jaxpr:
    """A function in A-normal form. Passes never change one in place.

    `is_checked` remembers that `check` found it well formed.
    """

    __slots__ = ("constvars", "eqns", "invars", "is_checked", "outvars")

    def __init__(
        self,
        constvars: Sequence[Var],
        invars: Sequence[Var],
        eqns: Sequence[JaxprEqn],
        outvars: Sequence[Atom],
    ) -> None:
        self.constvars = constvars
        self.invars = invars
        self.eqns = eqns
        self.outvars = outvars
        self.is_checked = False

    @property
    def in_avals(self) -> list[ShapedArray]:
        return [var.aval for var in self.invars]

    @property
    def out_avals(self) -> list[ShapedArray]:
        return [atom.aval for atom in self.outvars]

    def __str__(self) -> str:
        from s2s.ir.printer import print_jaxpr

        return print_jaxpr(self)

    __repr__ = __str__


class ClosedJaxpr:
    """A jaxpr with the values of its constvars: NumPy arrays, or tracers of an enclosing trace."""

    __slots__ = ("__weakref__", "consts", "jaxpr")

    def __init__(self, jaxpr: Jaxpr, consts: tuple[Any, ...] = ()) -> None:
        self.jaxpr = jaxpr
        self.consts = consts

    @property
    def in_avals(self) -> list[ShapedArray]:
        return self.jaxpr.in_avals

    @property
    def out_avals(self) -> list[ShapedArray]:
        return self.jaxpr.out_avals

    @property
    def eqns(self) -> Sequence[JaxprEqn]:
        return self.jaxpr.eqns

    def __str__(self) -> str:
        return str(self.jaxpr)

    __repr__ = __str__


def aval_of(value: Any) -> ShapedArray:
    """The type of a concrete value: Python scalars are weak, NumPy values are not.

    Raises TypeError for what is neither a number nor an array of numbers.
    """
    kind = cast("type[Any]", type(value))
    python_scalar = PYTHON_SCALARS.get(kind)
    if python_scalar is not None:
        return ShapedArray((), python_scalar, weak_type=True)
    if isinstance(value, (np.ndarray, np.generic)):
        array = cast("np.ndarray[Any, DType]", value)
        why = refused_class(array) or (None if array.dtype in SHORT_NAMES else refused(array.dtype))
        if why is not None:
            raise TypeError(why)
        return ShapedArray(array.shape, array.dtype)
    raise TypeError(f"a value of type {kind.__name__} is not a number or an array")
