"""Bodies given by users: traced to jaxprs without constants, their pytrees and types seen to."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from s2s.control.bodies import explicit_consts
from s2s.ir.dims import Dim, require_same
from s2s.ir.dtypes import PYTHON_SCALARS, promote
from s2s.ir.jaxpr import ClosedJaxpr, Jaxpr, Literal, ShapedArray, Var
from s2s.primitive import Value
from s2s.primitives.core import convert_element_type
from s2s.trace import Tracer, aval, builder_in_force, inline, make
from s2s.tree import TreeDef, flatten, leaf_paths, unflatten


def _call(fun: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    return fun(*args, **kwargs)


calling: list[Callable[..., Any]] = [_call]
"""How a user's function is called: one entry, which the front end replaces by its own, so that the
function is converted first."""


def call(fun: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """`fun(*args, **kwargs)` for a function that a user gave."""
    return calling[0](fun, *args, **kwargs)


@dataclass(frozen=True, eq=False)
class Body:
    """A user's function, traced: (consts, arguments' leaves -> results' leaves)."""

    jaxpr: ClosedJaxpr
    consts: list[Value]
    result: TreeDef

    def result_part(self, index: int) -> TreeDef:
        """The structure of one of the parts of a result that is a tuple."""
        return self.result.children[index]


def trace_body(
    fun: Callable[..., Any],
    structures: Sequence[TreeDef],
    avals: Sequence[ShapedArray],
    returns: Callable[[Any], Any] | None = None,
    names: Sequence[str] | None = None,
) -> Body:
    """Trace `fun` for arguments of the given structures, whose leaves have the given types.

    What the function closes over becomes leading inputs of the jaxpr. `returns` is applied to the
    result, to check it. `names` are those of the arguments, by default the function's parameters.
    """
    found: list[TreeDef] = []
    sizes = [structure.num_leaves for structure in structures]

    def flat(*leaves: Value) -> Sequence[Value]:
        builder = builder_in_force()
        if builder is not None:
            builder.source = None  # In a body stand the lines of the body, not that of its call.
        remaining = iter(leaves)
        arguments = [
            unflatten(structure, [next(remaining) for _ in range(size)])
            for structure, size in zip(structures, sizes, strict=True)
        ]
        result = call(fun, *arguments)
        results, structure = flatten(returns(result) if returns is not None else result)
        found.append(structure)
        return results

    closed = make(flat, avals, _leaf_names(names or _parameters(fun), structures))
    jaxpr, consts = explicit_consts(closed)
    return Body(jaxpr, consts, found[-1])


def _parameters(fun: Callable[..., Any]) -> list[str]:
    try:
        return list(inspect.signature(fun).parameters)
    except (TypeError, ValueError):
        return []


def _leaf_names(names: Sequence[str], structures: Sequence[TreeDef]) -> list[str | None]:
    """Names for the leaves of arguments: those of the arguments that are one leaf each.

    The parts of others are named where the function takes them out.
    """
    found: list[str | None] = []
    for i, structure in enumerate(structures):
        name = names[i] if i < len(names) else "_"
        single = structure.kind is None and not name.startswith("_")
        found += [name] if single else [None] * structure.num_leaves
    return found


def bound_arguments(
    fun: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    static: Sequence[int | str],
) -> BoundArguments:
    """The arguments of a call, those that are traced apart from those that are fixed: as `static`
    says, and what has no numbers in it, such as a text or an object."""
    try:
        signature = inspect.signature(fun)
    except (TypeError, ValueError):
        kinds = inspect.Parameter
        signature = inspect.Signature([kinds("arguments", kinds.VAR_POSITIONAL)])
    parameters = list(signature.parameters)
    fixed = {parameters[one] if isinstance(one, int) else one for one in static}
    bound = signature.bind(*args, **kwargs)
    flat = {name: flatten(part) for name, part in bound.arguments.items() if name not in fixed}
    flat = {
        name: part for name, part in flat.items() if not part[0] or any(map(_is_value, part[0]))
    }
    names, parts = list(flat), list(flat.values())

    def function(*values: Any) -> Any:
        filled = signature.bind(*args, **kwargs)
        filled.arguments.update(zip(names, values, strict=True))
        return call(fun, *filled.args, **filled.kwargs)

    leaves = [leaf for part, _ in parts for leaf in part]
    return BoundArguments(function, names, [structure for _, structure in parts], leaves)


def _is_value(leaf: Any) -> bool:
    numbers = (Tracer, Literal, Dim, np.ndarray, np.generic)
    return isinstance(leaf, numbers) or type(leaf) in PYTHON_SCALARS


@dataclass(frozen=True, eq=False)
class BoundArguments:
    """`function` of the traced arguments alone, their names, structures and leaves."""

    function: Callable[..., Any]
    names: list[str]
    structures: list[TreeDef]
    leaves: list[Value]


def is_pair(value: Any) -> bool:
    """Whether a function returned two things."""
    return isinstance(value, (tuple, list)) and len(cast("Sequence[Any]", value)) == 2


def place(path: Sequence[Hashable], what: str) -> str:
    """Where a leaf stands, as Python would write it: `carry[0]['h']`."""
    return what + "".join(f"[{key!r}]" for key in path)


def settle_carry(
    trace: Callable[[list[ShapedArray]], Body],
    init: Sequence[Value],
    structure: TreeDef,
    result_of: Callable[[Body], TreeDef],
    what: str,
) -> tuple[Body, list[Value]]:
    """Trace a loop's body for carried values whose types stay as they are.

    Python scalars to start with take the type that the body gives them: 0 becomes 0.0 where a float
    is added to it. Returns the body, whose first results are the carried ones, and the initial
    values converted.

    Raises TypeError if a carried value would change its type, or the carry its structure.
    """
    avals = [aval(value) for value in init]
    while True:
        body = trace(avals)
        found = result_of(body)
        if found != structure:
            raise TypeError(
                f"{what} must return the carried values in the structure in which it gets them: "
                f"it gets {structure} and returns {found}"
            )
        ends = body.jaxpr.out_avals[: len(avals)]
        settled = [_promoted(a, end) for a, end in zip(avals, ends, strict=True)]
        if all(same_kind(a, b) for a, b in zip(avals, settled, strict=True)):
            break
        avals = settled
    for start, end, path in zip(avals, ends, leaf_paths(structure), strict=True):
        if not fits(start, end):
            raise TypeError(
                f"{what} changes the type of {place(path, 'carry')} from {start} to {end}; a value "
                "that is carried from one step to the next keeps its type"
            )
    if not all(same_kind(a, end) for a, end in zip(avals, ends, strict=True)):
        body = Body(converting(body.jaxpr, avals), body.consts, body.result)
    return body, converted_to(init, avals)


def converting(closed: ClosedJaxpr, avals: Sequence[ShapedArray]) -> ClosedJaxpr:
    """The same jaxpr with its first results converted to the given types."""

    def fun(*args: Value) -> list[Value]:
        results = inline(closed, *args)
        return [*converted_to(results[: len(avals)], avals), *results[len(avals) :]]

    return make(fun, closed.in_avals, [var.name for var in closed.jaxpr.invars])


def converted_to(values: Sequence[Value], avals: Sequence[ShapedArray]) -> list[Value]:
    """The values converted to the element types given."""
    return [
        convert_element_type(value, a.dtype, a.weak_type)
        for value, a in zip(values, avals, strict=True)
    ]


def _promoted(start: ShapedArray, end: ShapedArray) -> ShapedArray:
    """The type of a carried Python scalar that a step turns into `end`."""
    if not start.weak_type or end.shape:
        return start
    dtype, weak = promote((start.dtype, True), (end.dtype, end.weak_type))
    return ShapedArray((), dtype, weak)


def same_kind(a: ShapedArray, b: ShapedArray) -> bool:
    """Whether two types have one element type, and are Python scalars both or neither."""
    return a.dtype == b.dtype and a.weak_type == b.weak_type


def fits(start: ShapedArray, end: ShapedArray) -> bool:
    """Whether the end of a step, converted if it is a Python scalar, has the type of its start."""
    if start.ndim != end.ndim or not all(map(require_same, start.shape, end.shape)):
        return False
    if end.weak_type:
        return promote((start.dtype, start.weak_type), (end.dtype, True))[0] == start.dtype
    return start.dtype == end.dtype


def join(avals: Sequence[ShapedArray]) -> ShapedArray:
    """The type of a value that has one of these types: Python scalars take that of the others."""
    strong = [a for a in avals if not a.weak_type]
    if strong:
        return strong[0]
    return ShapedArray((), promote(*[(a.dtype, True) for a in avals])[0], weak_type=True)


def share_consts(bodies: Sequence[Body]) -> tuple[list[ClosedJaxpr], list[Value]]:
    """The jaxprs of several functions, each with an input for each value that one closes over."""
    consts: dict[int, Value] = {}
    for body in bodies:
        consts.update({identity(const): const for const in body.consts})
    return [with_consts(body, list(consts.values())) for body in bodies], list(consts.values())


def with_consts(body: Body, consts: Sequence[Value]) -> ClosedJaxpr:
    """The jaxpr of a function with an input for each of `consts`.

    Arrays that the function closes over beside these are constants of it. Raises TypeError if it
    closes over another traced value.
    """
    jaxpr = body.jaxpr.jaxpr
    own = dict(zip(map(identity, body.consts), jaxpr.invars, strict=False))
    given = [own.pop(identity(const), None) or Var(aval(const)) for const in consts]
    values = {identity(const): const for const in body.consts}
    for key in own:
        if isinstance(values[key], Tracer):
            raise TypeError(
                f"a rule with symbolic zeros closes over a value of type {aval(values[key])}, but "
                "not where no tangent is zero"
            )
    invars = [*given, *jaxpr.invars[len(body.consts) :]]
    rest = tuple(values[key] for key in own)
    return ClosedJaxpr(Jaxpr(list(own.values()), invars, jaxpr.eqns, jaxpr.outvars), rest)


def identity(const: Value) -> int:
    """Equal for what is one value that functions close over."""
    return id(const.variable) if isinstance(const, Tracer) else id(const)
