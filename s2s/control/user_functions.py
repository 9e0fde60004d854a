"""Bodies given by users: traced to jaxprs without constants, their pytrees and types seen to."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from s2s.control.bodies import explicit_consts
from s2s.ir.dims import require_same
from s2s.ir.dtypes import promote
from s2s.ir.jaxpr import ClosedJaxpr, ShapedArray
from s2s.primitive import Value
from s2s.primitives.core import convert_element_type
from s2s.trace import aval, builder_in_force, inline, make
from s2s.tree import TreeDef, flatten, leaf_paths, unflatten


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
) -> Body:
    """Trace `fun` for arguments of the given structures, whose leaves have the given types.

    What the function closes over becomes leading inputs of the jaxpr. `returns` is applied to the
    result, to check it.
    """
    found: list[TreeDef] = []
    sizes = [structure.num_leaves for structure in structures]

    def flat(*leaves: Value) -> Sequence[Value]:
        remaining = iter(leaves)
        arguments = [
            unflatten(structure, [next(remaining) for _ in range(size)])
            for structure, size in zip(structures, sizes, strict=True)
        ]
        result = fun(*arguments)
        results, structure = flatten(returns(result) if returns is not None else result)
        found.append(structure)
        return results

    builder = builder_in_force()
    closed = make(
        flat, avals, _names(fun, structures), builder.source if builder is not None else None
    )
    jaxpr, consts = explicit_consts(closed)
    return Body(jaxpr, consts, found[-1])


def _names(fun: Callable[..., Any], structures: Sequence[TreeDef]) -> list[str | None]:
    """The names of the parameters, for arguments that are one leaf each."""
    try:
        parameters = list(inspect.signature(fun).parameters)
    except (TypeError, ValueError):
        parameters = []
    parameters += [""] * (len(structures) - len(parameters))
    names: list[str | None] = []
    for name, structure in zip(parameters, structures, strict=False):
        single = structure.kind is None and name.isidentifier() and not name.startswith("_")
        names += [name] if single else [None] * structure.num_leaves
    return names


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
